// SPDX-License-Identifier: Apache-2.0
//
// A level set in a context of its own, and balls to fill it with.
#ifndef MENISCUS_TESTS_UNIT_LEVELSET_LEVEL_SET_STAGE_H
#define MENISCUS_TESTS_UNIT_LEVELSET_LEVEL_SET_STAGE_H

#include "base/random.h"
#include "levelset/level_set.h"
#include "support/check.h"

typedef struct fixture {
    mn_context *ctx;
    mn_level_set *set;
} fixture;

static inline fixture open_set(int32_t workers)
{
    fixture f;
    mn_hooks hooks = {.max_workers = workers};
    f.ctx = mn_context_create(&hooks);
    check_ok(f.ctx, mn_level_set_create(f.ctx, &f.set));
    return f;
}

static inline void close_set(fixture f)
{
    mn_level_set_free(f.set);
    assert_int_equal(mn_context_bytes(f.ctx), 0);
    mn_context_free(f.ctx);
}

/// Points of a ball around `center`, one in each of n1^3 parts of every unit cell, anywhere in its part.
static inline int64_t add_ball(mn_vec3 **x, int64_t count, mn_vec3 center, double radius, int32_t n1,
                               uint64_t seed)
{
    const int32_t n = (int32_t)ceil(radius + 1) * n1;
    uint64_t id = 0;
    for (int32_t i = -n; i < n; i++)
        for (int32_t j = -n; j < n; j++)
            for (int32_t k = -n; k < n; k++) {
                const mn_vec3 u = mn_random_unit3(seed, id++, 0);
                const mn_vec3 p = mn_v3((i + u.x) / n1, (j + u.y) / n1, (k + u.z) / n1);
                if (mn_norm(p) >= radius) continue;
                if ((count & (count - 1)) == 0)
                    *x = realloc(*x, sizeof **x * (size_t)(count ? 2 * count : 1));
                (*x)[count++] = mn_add(p, center);
            }
    return count;
}

static inline double distance_to_ball(void *user, mn_vec3 x)
{
    return mn_norm(x) - *(double *)user;
}

static inline void fill_ball(fixture f, double radius, double dx, mn_field_fn *fn)
{
    mn_ivec3 coords[8000];
    int64_t count = 0;
    const int32_t n = (int32_t)ceil((radius + 4 * dx) / (4 * dx));
    for (int32_t x = -n; x < n; x++)
        for (int32_t y = -n; y < n; y++)
            for (int32_t z = -n; z < n; z++) coords[count++] = mn_iv3(x, y, z);
    check_ok(f.ctx,
             mn_level_set_fill(f.set, mn_v3(0.011, 0.017, 0.005), dx, 3.0, count, coords, fn, &radius));
}

#endif
