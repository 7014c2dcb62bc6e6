// SPDX-License-Identifier: Apache-2.0
//
// An allocator that fails on its n-th call, to walk through every out-of-memory path, and counts what is
// still held.
//
//   for (int64_t n = 0;; n++) {
//       failing_allocator memory = {.fail_at = n};
//       mn_hooks hooks = failing_hooks(&memory);
//       mn_context *ctx = mn_context_create(&hooks);
//       ... run; every failure must be MN_ERROR_MEMORY ...
//       mn_context_free(ctx);
//       assert_int_equal(memory.held, 0);
//       if (!memory.failed) break;      // n was past the last allocation
//   }
#ifndef MENISCUS_TESTS_SUPPORT_FAILING_ALLOCATOR_H
#define MENISCUS_TESTS_SUPPORT_FAILING_ALLOCATOR_H

#include <stdlib.h>

#include "meniscus/context.h"

typedef struct failing_allocator {
    int64_t fail_at; ///< the call that fails, counted from 0; -1 for none
    int64_t calls;
    int64_t left; ///< for failing_begin
    int64_t held; ///< allocations not yet released
    bool failed;
} failing_allocator;

/// From here on `left` allocations succeed and the next one fails.
static inline void failing_begin(failing_allocator *memory)
{
    memory->fail_at = memory->calls + memory->left;
}

/// From here on there is enough memory.
static inline void failing_end(failing_allocator *memory)
{
    memory->fail_at = -1;
}

static inline void *failing_allocate(void *user, size_t size)
{
    failing_allocator *memory = (failing_allocator *)user;
    if (memory->calls++ == memory->fail_at) {
        memory->failed = true;
        return NULL;
    }
    memory->held++;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static inline void failing_release(void *user, void *bytes, size_t size)
{
    (void)size;
    ((failing_allocator *)user)->held--;
    free(bytes);
}

/// Single-threaded, since the counter is plain.
static inline mn_hooks failing_hooks(failing_allocator *memory)
{
    mn_hooks hooks = {0};
    hooks.user = memory;
    hooks.allocate = failing_allocate;
    hooks.release = failing_release;
    hooks.max_workers = 1;
    return hooks;
}

#endif
