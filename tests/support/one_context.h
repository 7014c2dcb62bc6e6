// SPDX-License-Identifier: Apache-2.0
//
// One context for all tests of a program: cmocka_run_group_tests(tests, setup, teardown). At the end nothing
// may be held any more.
#ifndef MENISCUS_TESTS_SUPPORT_ONE_CONTEXT_H
#define MENISCUS_TESTS_SUPPORT_ONE_CONTEXT_H

#include <stdatomic.h>
#include <stdlib.h>

#include "meniscus/context.h"
#include "support/check.h"

static mn_context *ctx;

static inline void *counted_allocate(void *held, size_t size)
{
    atomic_fetch_add((atomic_llong *)held, 1);
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static inline void counted_release(void *held, void *memory, size_t size)
{
    (void)size;
    atomic_fetch_sub((atomic_llong *)held, 1);
    free(memory);
}

static inline atomic_llong *allocations_held(void)
{
    static atomic_llong held;
    return &held;
}

static inline int setup(void **state)
{
    (void)state;
    const mn_hooks hooks = {
        .user = allocations_held(), .allocate = counted_allocate, .release = counted_release};
    ctx = mn_context_create(&hooks);
    return ctx ? 0 : 1;
}

// cmocka prints that a group's teardown failed and calls the program passed: so it ends here.
static inline int teardown(void **state)
{
    (void)state;
    mn_context_free(ctx);
    const long long held = atomic_load(allocations_held());
    if (held == 0) return 0;
    print_error("%lld allocations are still held at the end.\n", held);
    exit(EXIT_FAILURE);
}

#endif
