// SPDX-License-Identifier: Apache-2.0
//
// The floor y < 0 with paint on a square of 2 m: one value on its left, x < 0, and another on its right.
#ifndef MENISCUS_TESTS_SUPPORT_PAINTED_FLOOR_H
#define MENISCUS_TESTS_SUPPORT_PAINTED_FLOOR_H

#include "support/analytic_volume.h"
#include "support/check.h"

typedef struct painted_floor {
    mn_geo *geo;
    mn_collider *collider;
} painted_floor;

static inline void painted_floor_quad(mn_context *ctx, mn_geo *geo, double x0, double x1)
{
    const double corner[4][2] = {{x0, -1}, {x0, 1}, {x1, 1}, {x1, -1}};
    int64_t first;
    check_ok(ctx, mn_geo_add_points(geo, 4, &first));
    float *p = mn_geo_write_positions(geo) + 3 * first;
    for (int i = 0; i < 4; i++) p[3 * i] = (float)corner[i][0], p[3 * i + 2] = (float)corner[i][1];
    const int64_t points[4] = {first, first + 1, first + 2, first + 3};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 4, points, NULL));
}

static inline painted_floor painted_floor_open(mn_context *ctx, mn_paint paint, double left, double right)
{
    painted_floor f;
    mn_attribute *column;
    check_ok(ctx, mn_geo_create(ctx, &f.geo));
    painted_floor_quad(ctx, f.geo, -1, 0);
    painted_floor_quad(ctx, f.geo, 0, 1);
    check_ok(ctx,
             mn_geo_add_attribute(f.geo, MN_POINT, mn_paint_name(paint), MN_F32, 1, MN_HINT_NONE, &column));
    for (int64_t i = 0; i < 8; i++)
        check_ok(ctx, mn_attribute_set(f.geo, column, i, 1, i < 4 ? &left : &right));
    check_ok(ctx, analytic_add(f.geo, analytic_plane(0.01)));
    const mn_collider_def def = {.geo = f.geo, .velocity_scale = 1, .paint = true};
    check_ok(ctx, mn_collider_create(ctx, &def, &f.collider));
    return f;
}

static inline void painted_floor_close(painted_floor *f)
{
    mn_collider_free(f->collider);
    mn_geo_free(f->geo);
}

#endif
