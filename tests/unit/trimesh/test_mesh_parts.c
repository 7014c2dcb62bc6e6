// SPDX-License-Identifier: Apache-2.0
//
// Connected parts of polygons: a ball and a thick box are solid, a sheet and a plate are walls, and each can
// be had as a mesh of its own.
#include "mesh/shape.h"
#include "support/one_context.h"
#include "trimesh/mesh_parts.h"

enum { BALL, SHEET, PLATE, BOX, KINDS };

static void add(mn_geo *all, mn_shape_def def)
{
    mn_geo *geo;
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    check_ok(ctx, mn_geo_append(all, geo));
    mn_geo_free(geo);
}

static mn_geo *four_parts(void)
{
    mn_geo *all;
    check_ok(ctx, mn_geo_create(ctx, &all));
    mn_shape_def def = mn_shape_default_def();
    def.kind = MN_SHAPE_SPHERE, def.radius = mn_v3(1, 1, 1), def.center = mn_v3(0, 0, 0);
    add(all, def);
    def.kind = MN_SHAPE_GRID, def.size = mn_v3(2, 0, 2), def.center = mn_v3(5, 0, 0);
    add(all, def);
    def.kind = MN_SHAPE_BOX, def.size = mn_v3(2, 0.1, 2), def.center = mn_v3(10, 0, 0);
    add(all, def);
    def.size = mn_v3(2, 1, 2), def.center = mn_v3(15, 0, 0);
    add(all, def);
    return all;
}

static void parts_are_told_apart(void **state)
{
    (void)state;
    mn_geo *geo = four_parts();
    mn_triangles *mesh, *one;
    mn_mesh_parts parts = {0};
    int32_t wall[KINDS], own[KINDS] = {0, 1, 2, 3};
    check_ok(ctx, mn_triangles_create_from_geo(ctx, geo, &mesh));
    check_ok(ctx, mn_mesh_parts_find(ctx, geo, mesh, &parts));
    assert_int_equal(parts.count, KINDS);
    check_ok(ctx, mn_mesh_parts_walls(ctx, &parts, 0.1, wall));
    assert_true(!wall[BALL] && wall[SHEET] && wall[PLATE] && !wall[BOX]);
    check_ok(ctx, mn_mesh_parts_walls(ctx, &parts, 0.02, wall)); // the plate is five voxels thick
    assert_true(!wall[BALL] && wall[SHEET] && !wall[PLATE] && !wall[BOX]);
    const double areas[KINDS] = {4 * MN_PI, 4, 8.8, 16};
    for (int32_t i = 0; i < KINDS; i++) {
        check_ok(ctx, mn_mesh_parts_pick(ctx, &parts, own, i, &one));
        check_close(mn_triangles_area(one), areas[i], i == BALL ? 0.5 : 1e-6);
        check_close(mn_triangles_bounds(one).min.x, 5 * i - 1, 1e-6);
        assert_int_equal(mn_triangles_is_closed(one), i != SHEET);
        mn_triangles_free(one);
    }
    check_ok(ctx, mn_mesh_parts_pick(ctx, &parts, wall, 0, &one));
    assert_true(mn_triangles_is_closed(one));
    mn_triangles_free(one);
    mn_mesh_parts_free(ctx, &parts);
    mn_triangles_free(mesh);
    mn_geo_free(geo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_told_apart)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
