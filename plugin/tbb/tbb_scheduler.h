// SPDX-License-Identifier: Apache-2.0
//
// mn_parallel_for on TBB, for hosts that run on TBB themselves (Houdini, Blender).
#ifndef MENISCUS_PLUGIN_TBB_TBB_SCHEDULER_H
#define MENISCUS_PLUGIN_TBB_TBB_SCHEDULER_H

#include "meniscus/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs in a task arena of its own of at most `max_workers` threads (0: all). NULL only when memory is out.
/// Must outlive the contexts that use it.
mn_scheduler *mn_tbb_scheduler_create(int32_t max_workers);
void mn_tbb_scheduler_free(mn_scheduler *scheduler);

#ifdef __cplusplus
}
#endif
#endif
