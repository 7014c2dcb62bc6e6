// SPDX-License-Identifier: Apache-2.0
//
// One context for all tests of a program: cmocka_run_group_tests(tests, setup, teardown). At the end nothing
// may be held any more.
#ifndef MENISCUS_TESTS_SUPPORT_ONE_CONTEXT_H
#define MENISCUS_TESTS_SUPPORT_ONE_CONTEXT_H

#include "support/check.h"

static mn_context *ctx;

static inline int setup(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    return ctx ? 0 : 1;
}

static inline int teardown(void **state)
{
    (void)state;
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
    return 0;
}

#endif
