// SPDX-License-Identifier: Apache-2.0
//
// Points of films, threads and drops that a solver of films starts with, set down one by one.
#ifndef MENISCUS_TESTS_POINT_CAST_H
#define MENISCUS_TESTS_POINT_CAST_H

#include "meniscus/codim.h"
#include "support/check.h"

enum { CAST_MOST = 6000 };

typedef struct cast {
    int64_t count;
    mn_vec3 x[CAST_MOST], v[CAST_MOST], n[CAST_MOST];
    double thickness[CAST_MOST];
    uint8_t codim[CAST_MOST], pinned[CAST_MOST];
} cast;

/// Free to move; the caller may pin it afterwards.
static inline void cast_add(cast *c, uint8_t codim, mn_vec3 x, mn_vec3 n, mn_vec3 v, double thickness)
{
    assert_true(c->count < CAST_MOST);
    const int64_t i = c->count++;
    c->x[i] = x, c->n[i] = n, c->v[i] = v, c->thickness[i] = thickness;
    c->codim[i] = codim, c->pinned[i] = 0;
}

/// Reads the cast for as long as it lives.
static inline mn_codim_source cast_source(const cast *c)
{
    return (mn_codim_source){c->count, c->x, c->v, c->n, c->thickness, c->pinned, c->codim};
}

#endif
