// SPDX-License-Identifier: Apache-2.0
//
// Meshes as regions: the inside is negative whichever way the triangles face, holes are covered, sheets are
// refused, and paint is that of the nearest triangle.
#include "mesh/shape.h"
#include "support/one_context.h"
#include "trimesh/mesh_region.h"

static mn_geo *ball(double radius)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = MN_SHAPE_SPHERE;
    def.radius = mn_v3(radius, radius, radius);
    mn_geo *geo;
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    return geo;
}

static mn_triangles *mesh_of(const mn_geo *geo)
{
    mn_triangles *mesh;
    check_ok(ctx, mn_triangles_create_from_geo(ctx, geo, &mesh));
    return mesh;
}

static double distance(const mn_mesh_region *body, mn_vec3 x)
{
    double d;
    body->region.distance(body->region.user, 1, &x, &d);
    return d;
}

static void both_ways_round(void **state)
{
    (void)state;
    double volume[2];
    for (int turned = 0; turned < 2; turned++) {
        mn_geo *geo = ball(2);
        if (turned) check_ok(ctx, mn_geo_reverse_polygons(geo));
        mn_mesh_region body = {0};
        mn_mesh_region_take(&body, mesh_of(geo));
        assert_true(distance(&body, mn_v3(0.1, 0, 0)) < -1.8);
        check_close(distance(&body, mn_v3(5, 0, 0)), 3, 0.02);
        volume[turned] = body.volume;
        check_close(body.region.bounds.max.x, 2, 0.05);
        mn_mesh_region_free(&body);
        assert_null(body.mesh);
        mn_geo_free(geo);
    }
    check_close(volume[0], volume[1], 1e-12 * volume[0]);
    check_close(volume[0], mn_ball_volume(2), 0.05 * mn_ball_volume(2)); // a coarse ball
}

static void holes_are_covered_and_sheets_are_not(void **state)
{
    (void)state;
    mn_geo *geo = ball(1);
    const int64_t count = mn_geo_primitive_count(geo);
    uint8_t *keep = mn_allocate(ctx, mn_bytes(count, 1));
    for (int64_t i = 0; i < count; i++) keep[i] = i % 40 != 0;
    check_ok(ctx, mn_geo_compact(geo, NULL, keep));
    mn_release(ctx, keep, mn_bytes(count, 1));
    mn_triangles *mesh = mesh_of(geo);
    assert_false(mn_triangles_is_closed(mesh));
    mn_mesh_region body = {0};
    assert_true(mn_mesh_region_take_open(&body, mesh));
    assert_true(distance(&body, mn_v3(0, 0, 0)) < -0.9);
    assert_true(distance(&body, mn_v3(1.5, 0, 0)) > 0.4);
    assert_true(body.volume < 0);
    mn_mesh_region_free(&body);
    mn_geo_free(geo);

    const mn_vec3 x[4] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {0, 1, 0}}; // flat, aslant in its box
    const int32_t t[2][3] = {{0, 1, 2}, {0, 2, 3}};
    check_ok(ctx, mn_triangles_create(ctx, 4, x, 2, t, &mesh));
    assert_false(mn_mesh_region_take_open(&body, mesh));
    mn_triangles_free(mesh);
}

// A field that is linear over a triangle is painted as it is there.
static void paint_is_linear(void **state)
{
    (void)state;
    mn_geo *geo;
    mn_attribute *v;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 3, NULL));
    memcpy(mn_geo_write_positions(geo), (float[9]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 9 * sizeof(float));
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 3, (int64_t[]){0, 1, 2}, NULL));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "v", MN_F64, 3, MN_HINT_VECTOR, &v));
    check_ok(ctx, mn_attribute_set(geo, v, 0, 3, (double[9]){1, 0, 0, 3, 0, 2, 1, 5, 0}));
    mn_triangles *mesh = mesh_of(geo);
    const mn_vec3 at[2] = {{0.25, 0.5, 7}, {9, -1, 0}};
    mn_vec3 painted[2];
    mn_mesh_paint_vec3(mesh, v, 2, at, painted);
    check_close(mn_distance(painted[0], mn_v3(1.5, 2.5, 0.5)), 0, 1e-14);
    check_close(mn_distance(painted[1], mn_v3(3, 0, 2)), 0, 1e-14); // the nearest corner
    mn_triangles_free(mesh);
    mn_geo_free(geo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_round),
        cmocka_unit_test(holes_are_covered_and_sheets_are_not),
        cmocka_unit_test(paint_is_linear),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
