// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of all our nodes in Houdini: the program's own TBB, so that threads are not taken twice.
#ifndef MENISCUS_PLUGIN_HOUDINI_SCHEDULER_HPP
#define MENISCUS_PLUGIN_HOUDINI_SCHEDULER_HPP

#include "meniscus/context.h"

namespace mn_houdini
{

/// One for the process; NULL (OpenMP) only when memory was out.
const mn_scheduler *scheduler();

} // namespace mn_houdini

#endif
