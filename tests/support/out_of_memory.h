// SPDX-License-Identifier: Apache-2.0
//
// Runs a life of some object again and again, with memory running out one allocation later each time: it must
// end with MN_ERROR_MEMORY and hold nothing, until there is enough and it ends well.
#ifndef MENISCUS_TESTS_SUPPORT_OUT_OF_MEMORY_H
#define MENISCUS_TESTS_SUPPORT_OUT_OF_MEMORY_H

#include "meniscus/context.h"
#include "support/check.h"
#include "support/failing_allocator.h"

static inline void check_memory_may_run_out(mn_status (*life)(mn_context *ctx))
{
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        if (ctx) {
            const mn_status status = life(ctx);
            assert_true(status == (memory.failed ? MN_ERROR_MEMORY : MN_OK));
            mn_context_free(ctx);
        }
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

/// The same for a part of a life: `life` sets up, calls failing_begin(memory), and failing_end(memory) where
/// what is left must work. After the first `dense` allocations the steps from one run to the next grow by
/// 1/dense.
static inline void
check_memory_may_run_out_inside(mn_status (*life)(mn_context *ctx, failing_allocator *memory), int64_t dense)
{
    for (int64_t n = 0;; n += 1 + n / dense) {
        failing_allocator memory = {.fail_at = -1, .left = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        const mn_status status = life(ctx, &memory);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

#endif
