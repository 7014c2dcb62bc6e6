// SPDX-License-Identifier: Apache-2.0
//
// What a cook is made of, whether Houdini asks a node or a verb for it: parameters, inputs, one call.
#ifndef MENISCUS_PLUGIN_HOUDINI_COOKING_HPP
#define MENISCUS_PLUGIN_HOUDINI_COOKING_HPP

#include <string>
#include <vector>

#include <UT/UT_String.h>

#include "plugin/host/network/cooked.h"
#include "plugin/host/network/parms.h"

namespace mn_houdini
{

/// A parameter by whoever evaluates it (a node or a verb's cache); `text` keeps a string alive.
template <typename Evaluator>
void evaluate_parm(const Evaluator &from, const mn_parm_def &def, double time, std::string &text,
                   mn_parm_value *value)
{
    if (mn_parm_is_text(&def)) {
        UT_String found;
        from.evalString(found, def.name, 0, time);
        text = found.isstring() ? found.c_str() : "";
        value->string = text.c_str();
        return;
    }
    for (int32_t i = 0; i < def.size; i++)
        value->number[i] = def.kind == MN_PARM_FLOAT ? from.evalFloat(def.name, i, time)
                                                     : static_cast<double>(from.evalInt(def.name, i, time));
}

/// Every number is in its hard range.
mn_status check_parms(mn_context *ctx, const mn_node_type &type, const char *node,
                      const std::vector<mn_parm_value> &parms);
/// Every required input is there.
mn_status check_inputs(mn_context *ctx, const mn_node_type &type, const char *node,
                       const std::vector<mn_geo *> &inputs);
/// Calls a node type without memory. The cook has everything but services and frames a second.
mn_status cook_stateless(mn_cook &cook, mn_cooked **cooked);
/// The sentence of a failure, for a node.
const char *sentence_of(const mn_context *ctx, mn_status status);

} // namespace mn_houdini

#endif
