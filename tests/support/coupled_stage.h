// SPDX-License-Identifier: Apache-2.0
//
// Liquid and bodies in one solve, for tests: a box or a ball of particles, and bodies from elastic_shapes.h.
#ifndef MENISCUS_TESTS_SUPPORT_COUPLED_STAGE_H
#define MENISCUS_TESTS_SUPPORT_COUPLED_STAGE_H

#include "meniscus/mpm.h"
#include "support/elastic_shapes.h"

#include <stdio.h>

enum { PARTICLES_MAX = 400000 };

static mn_context *ctx;
static elastic_shape *shape;

static inline void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

/// Whether liquid may be at x.
typedef bool wet_fn(const void *user, mn_vec3 x);

/// Liquid in the part of a box where `wet` says so.
static inline mn_mpm *make_liquid_in(const mn_mpm_def *def, mn_box box, wet_fn *wet, const void *user,
                                     mn_vec3 velocity)
{
    static mn_vec3 x[PARTICLES_MAX], v[PARTICLES_MAX];
    const double step = 0.5 * def->dx;
    const mn_vec3 size = mn_sub(box.max, box.min);
    int64_t count = 0;
    for (int i = 0; i < (int)round(size.x / step); i++)
        for (int j = 0; j < (int)round(size.y / step); j++)
            for (int k = 0; k < (int)round(size.z / step); k++) {
                const mn_vec3 at = mn_add(box.min, mn_scale(step, mn_v3(i + 0.5, j + 0.5, k + 0.5)));
                if ((wet && !wet(user, at)) || count == PARTICLES_MAX) continue;
                x[count] = at, v[count++] = velocity;
            }
    mn_mpm *mpm;
    must(mn_mpm_create(ctx, def, &mpm));
    must(mn_mpm_add(mpm, &(mn_mpm_source){.count = count, .position = x, .velocity = v}));
    return mpm;
}

static inline bool is_in_ball(const void *user, mn_vec3 x)
{
    const mn_box *box = user;
    return mn_distance(x, mn_lerp(box->min, box->max, 0.5)) <= 0.5 * (box->max.x - box->min.x);
}

/// Liquid that fills a box, or the ball in it.
static inline mn_mpm *make_liquid(const mn_mpm_def *def, mn_box box, bool ball, mn_vec3 velocity)
{
    return make_liquid_in(def, box, ball ? is_in_ball : NULL, &box, velocity);
}

static inline mn_elastic *make_body(const mn_elastic_def *def, mn_elastic_kind kind, const uint8_t *pinned)
{
    mn_elastic *s;
    must(mn_elastic_create(ctx, def, &s));
    mn_elastic_body body = shape_body(shape, kind);
    body.pinned = pinned;
    must(mn_elastic_add(s, &body));
    return s;
}

static inline mn_mpm_def liquid_def(double dx)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = dx;
    def.gravity = mn_v3(0, 0, 0);
    def.integrator = MN_MPM_IMPLICIT;
    return def;
}

#endif
