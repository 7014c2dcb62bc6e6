// SPDX-License-Identifier: Apache-2.0
//
// Node types without memory as verbs, so that they work in compiled blocks and in Invoke. A verb sees the
// parameters of one time only: in a compiled block an animated shape or transform has no velocity of its own.
#ifndef MENISCUS_PLUGIN_HOUDINI_VERB_HPP
#define MENISCUS_PLUGIN_HOUDINI_VERB_HPP

#include <SOP/SOP_NodeVerb.h>

#include "nodes/node.h"

class PRM_Template;

namespace mn_houdini
{

/// Registers the verb of a node type without memory under its operator's name. It stays for good, as the
/// operator does.
void register_verb(const mn_node_type &type, const char *operator_name, PRM_Template *templates);

} // namespace mn_houdini

#endif
