// SPDX-License-Identifier: Apache-2.0
//
// cmocka with what it needs before it, and the few checks that nearly every test uses.
#ifndef MENISCUS_TESTS_SUPPORT_CHECK_H
#define MENISCUS_TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above before it.
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meniscus/meniscus.h"
#include "support/thread_scheduler.h"

/// |value - expected| <= tolerance, with the numbers in the message; NaN fails.
static inline void check_close_at(double value, double expected, double tolerance, const char *file, int line)
{
    if (fabs(value - expected) <= tolerance) return;
    print_error("%.17g is not within %g of %.17g (off by %g)\n", value, tolerance, expected,
                value - expected);
    _fail(file, line);
}
#define check_close(value, expected, tolerance)                                                              \
    check_close_at((value), (expected), (tolerance), __FILE__, __LINE__)

/// The call gives MN_OK; otherwise the context's sentence is printed.
static inline void check_ok_at(mn_context *ctx, mn_status status, const char *file, int line)
{
    if (status == MN_OK) return;
    print_error("%s: %s\n", mn_status_name(status), ctx ? mn_context_message(ctx) : "");
    _fail(file, line);
}
#define check_ok(ctx, call) check_ok_at((ctx), (call), __FILE__, __LINE__)

/// The call fails with this status, and its sentence holds `part`.
static inline void check_fails_at(mn_context *ctx, mn_status status, mn_status expected, const char *part,
                                  const char *file, int line)
{
    if (status == expected && strstr(mn_context_message(ctx), part)) return;
    print_error("got %s \"%s\", expected %s with \"%s\"\n", mn_status_name(status), mn_context_message(ctx),
                mn_status_name(expected), part);
    _fail(file, line);
}
#define check_fails(ctx, call, expected, part)                                                               \
    check_fails_at((ctx), (call), (expected), (part), __FILE__, __LINE__)

#endif
