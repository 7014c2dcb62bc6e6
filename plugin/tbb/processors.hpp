// SPDX-License-Identifier: Apache-2.0
//
// How many threads TBB may run at a time, as the host has limited them (Houdini's -j). tbb::info says how
// many the machine has, and TBB 2020, which Houdini 20.5 brings, does not know it.
#ifndef MENISCUS_PLUGIN_TBB_PROCESSORS_HPP
#define MENISCUS_PLUGIN_TBB_PROCESSORS_HPP

#include <tbb/global_control.h>

namespace mn_tbb
{

inline int processors()
{
    return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

} // namespace mn_tbb

#endif
