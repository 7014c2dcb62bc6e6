// SPDX-License-Identifier: Apache-2.0
//
// Polygons of one surface that pass through each other: an edge of one triangle through the inside of another
// with which it shares no corner, by exact orientations.
#include "base/predicates.h"
#include "meniscus/array.h"
#include "mesh/polygon_checks.h"

#include "mesh/box_grid.h"

typedef struct corner_triangle {
    int64_t v[3], polygon;
} corner_triangle;

/// Segment p-q passes through the inside of triangle (a, b, c).
static bool passes(mn_vec3 p, mn_vec3 q, const mn_vec3 x[3])
{
    const double at_p = mn_orient3d(x[0], x[1], x[2], p), at_q = mn_orient3d(x[0], x[1], x[2], q);
    if (!((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0))) return false;
    const double a = mn_orient3d(p, q, x[0], x[1]), b = mn_orient3d(p, q, x[1], x[2]),
                 c = mn_orient3d(p, q, x[2], x[0]);
    return (a > 0 && b > 0 && c > 0) || (a < 0 && b < 0 && c < 0);
}

static bool triangles_cross(const mn_geo *geo, const corner_triangle *s, const corner_triangle *t)
{
    mn_vec3 x[3], y[3];
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++)
            if (s->v[i] == t->v[j]) return false;
    for (int32_t i = 0; i < 3; i++)
        x[i] = mn_geo_position(geo, s->v[i]), y[i] = mn_geo_position(geo, t->v[i]);
    for (int32_t i = 0; i < 3; i++)
        if (passes(x[i], x[(i + 1) % 3], y) || passes(y[i], y[(i + 1) % 3], x)) return true;
    return false;
}

mn_status mn_polygons_crossing(const mn_geo *geo, int64_t *count, int64_t polygons[2])
{
    mn_context *ctx = mn_geo_context(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    MN_ARRAY(corner_triangle) triangles = {0};
    mn_box_grid grid = {.ctx = ctx};
    mn_tet_list found = {0};
    mn_status status = MN_OK;
    *count = 0;
    polygons[0] = polygons[1] = -1;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        for (int64_t i = 2; mn_geo_primitive_kinds(geo)[p] == MN_POLYGON && i < starts[p + 1] - starts[p];
             i++) {
            const corner_triangle t = {{points[starts[p]], points[starts[p] + i - 1], points[starts[p] + i]},
                                       p};
            mn_box box = mn_box_empty();
            for (int32_t c = 0; c < 3; c++) box = mn_box_add(box, mn_geo_position(geo, t.v[c]));
            MN_TRY_TO(done, status, mn_array_push(ctx, &triangles, &t));
            MN_TRY_TO(done, status, mn_array_push(ctx, &grid.boxes, &box));
        }
    if (triangles.count > INT32_MAX / 4) goto done;
    MN_TRY_TO(done, status, mn_box_grid_build(&grid));
    for (int64_t i = 0; i < triangles.count; i++) {
        if (i % 4096 == 0) MN_TRY_TO(done, status, mn_check_cancelled(ctx));
        MN_TRY_TO(done, status, mn_box_grid_find(&grid, grid.boxes.data[i], &found));
        for (int64_t j = 0; j < found.count; j++) {
            const corner_triangle *s = &triangles.data[i], *t = &triangles.data[found.data[j]];
            if (found.data[j] <= i || s->polygon == t->polygon || !triangles_cross(geo, s, t)) continue;
            if (++*count == 1) polygons[0] = s->polygon, polygons[1] = t->polygon;
        }
    }
done:
    mn_array_free(ctx, &triangles);
    mn_box_grid_free(&grid);
    mn_array_free(ctx, &found);
    return status;
}
