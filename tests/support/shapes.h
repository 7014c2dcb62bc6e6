// SPDX-License-Identifier: Apache-2.0
//
// Meshes and level sets with known answers, for tests.
#ifndef MENISCUS_TESTS_SUPPORT_SHAPES_H
#define MENISCUS_TESTS_SUPPORT_SHAPES_H

#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "meniscus/vec.h"
#include "support/check.h"

/// A closed sphere of quads with fans of triangles at the poles, outward: `rows` bands of 2 * rows faces.
static inline mn_geo *sphere_mesh(mn_context *ctx, mn_vec3 center, double radius, int rows)
{
    const int columns = 2 * rows;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 2 + (int64_t)(rows - 1) * columns, NULL));
    float *p = mn_geo_write_positions(geo);
    assert_non_null(p);
    int64_t n = 0;
    const double pi = 3.14159265358979323846;
    for (int row = 0; row <= rows; row++) {
        const double theta = pi * row / rows; // from +y down
        for (int column = 0; column < (row == 0 || row == rows ? 1 : columns); column++, n++) {
            const double phi = 2 * pi * column / columns;
            p[3 * n] = (float)(center.x + radius * sin(theta) * cos(phi));
            p[3 * n + 1] = (float)(center.y + radius * cos(theta));
            p[3 * n + 2] = (float)(center.z - radius * sin(theta) * sin(phi));
        }
    }
    const int64_t south = n - 1;
#define RING(row, column) (1 + (int64_t)((row)-1) * columns + (column) % columns)
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            if (row == 0) {
                const int64_t t[3] = {0, RING(1, column), RING(1, column + 1)};
                check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 3, t, NULL));
            } else if (row == rows - 1) {
                const int64_t t[3] = {RING(row, column), south, RING(row, column + 1)};
                check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 3, t, NULL));
            } else {
                const int64_t q[4] = {RING(row, column), RING(row + 1, column), RING(row + 1, column + 1),
                                      RING(row, column + 1)};
                check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 4, q, NULL));
            }
        }
#undef RING
    return geo;
}

/// Enclosed by polygons that are counter-clockwise seen from outside: the divergence theorem on fans.
static inline double enclosed_volume(const mn_geo *geo)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    double volume = 0;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        for (int64_t j = starts[i] + 2; j < starts[i + 1]; j++) {
            const mn_vec3 a = mn_geo_position(geo, points[starts[i]]),
                          b = mn_geo_position(geo, points[j - 1]), c = mn_geo_position(geo, points[j]);
            volume += mn_dot(a, mn_cross(b, c)) / 6;
        }
    return volume;
}

#endif
