// SPDX-License-Identifier: Apache-2.0
//
// A liquid of the MPM solver in a validation program, with its points: advance it, read them, or end with the
// solver's sentence.
#ifndef MENISCUS_TESTS_SUPPORT_MPM_LIQUID_H
#define MENISCUS_TESTS_SUPPORT_MPM_LIQUID_H

#include <stdio.h>
#include <stdlib.h>

#include "meniscus/meniscus.h"

typedef struct liquid {
    mn_context *ctx;
    mn_mpm *mpm;
    mn_mpm_point *points;
    int64_t count;
} liquid;

static inline void fail(const liquid *f, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, mn_context_message(f->ctx));
    exit(1);
}

static inline void advance(liquid *f, const mn_solver_inputs *inputs, double seconds)
{
    if (mn_mpm_advance(f->mpm, inputs, seconds) != MN_OK) fail(f, "advance");
    mn_mpm_get_points(f->mpm, f->points);
}

static inline void let_go(liquid *f)
{
    mn_mpm_free(f->mpm);
    mn_context_free(f->ctx);
    free(f->points);
}

#endif
