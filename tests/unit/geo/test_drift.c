// SPDX-License-Identifier: Apache-2.0
//
// Points a moment later, and smooth normals of polygons.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "geo/drift.h"
#include "geo/point_normals.h"

static void points_go_by_their_velocity(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    mn_attribute *v;
    assert_int_equal(mn_geo_create(ctx, &geo), MN_OK);
    assert_int_equal(mn_geo_add_points(geo, 2, NULL), MN_OK);
    assert_int_equal(mn_geo_drift(geo, 1), MN_OK); // nothing to go by
    assert_int_equal(mn_geo_add_attribute(geo, MN_POINT, "v", MN_F64, 3, MN_HINT_VECTOR, &v), MN_OK);
    const double values[6] = {1, -2, 4, 0, 0, 8};
    assert_int_equal(mn_attribute_set(geo, v, 0, 2, values), MN_OK);
    assert_int_equal(mn_geo_drift(geo, 0.25), MN_OK);
    const float *p = mn_geo_positions(geo);
    for (int i = 0; i < 6; i++) assert_true(p[i] == (float)(0.25 * values[i]));
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void normals_are_the_mean_of_area_vectors(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    assert_int_equal(mn_geo_create(ctx, &geo), MN_OK);
    assert_int_equal(mn_geo_add_points(geo, 7, NULL),
                     MN_OK); // a square on the floor, a wall of twice its area
    const float places[7][3] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, 0}, {1, 2, 0}, {0, 2, 0}, {5, 5, 5}};
    float *p = mn_geo_write_positions(geo);
    for (int i = 0; i < 21; i++) p[i] = places[i / 3][i % 3];
    const int64_t corners[8] = {0, 1, 2, 3, 0, 3, 4, 5};
    assert_int_equal(mn_geo_add_primitives(geo, MN_POLYGON, 2, NULL, 4, corners, NULL), MN_OK);
    assert_int_equal(mn_geo_add_point_normals(geo), MN_OK);
    const float *n = mn_attribute_data(mn_geo_find(geo, MN_POINT, "N"));
    assert_float_equal(n[3 * 1 + 1], 1, 1e-6);        // up from the floor
    assert_float_equal(n[3 * 4 + 2], 1, 1e-6);        // out of the wall
    assert_float_equal(n[1], 1 / 2.2360679775, 1e-6); // (0, 1, 2) / sqrt(5) between them
    assert_float_equal(n[2], 2 / 2.2360679775, 1e-6);
    assert_true(n[18] == 0 && n[19] == 0 && n[20] == 0); // a point of its own has none
    mn_geo_free(geo);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_go_by_their_velocity),
        cmocka_unit_test(normals_are_the_mean_of_area_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
