// SPDX-License-Identifier: Apache-2.0
//
// What a context holds; for core/base only.
#ifndef MENISCUS_BASE_CONTEXT_STATE_H
#define MENISCUS_BASE_CONTEXT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/thread_pool.h"
#include "meniscus/context.h"

enum { MN_MESSAGE_SIZE = 2048 };

struct mn_context {
    mn_hooks hooks;
    mn_progress_part progress;
    bool deaf; ///< a cancel is not heeded
    int64_t memory_limit;
    bool memory_given; ///< the limit, by hand
    atomic_int_fast64_t bytes, peak_bytes, allocation_count;
    atomic_flag message_lock;
    char message[MN_MESSAGE_SIZE];
    double *chunk_values; ///< what each chunk of a reduction gave; grows to a high-water mark
    int64_t chunk_capacity;
    int32_t default_workers; ///< of the pool, when the hooks ask for no number
    mn_thread_pool pool;     ///< for hosts without a scheduler of their own
};

/// From the hooks, the environment or the machine.
void mn_context_set_memory_limit(mn_context *ctx);
/// MN_ERROR_MEMORY with its sentence; `allowed`: the system said no, not the limit.
mn_status mn_fail_memory(mn_context *ctx, double bytes, bool allowed);

#endif
