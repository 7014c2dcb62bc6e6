// SPDX-License-Identifier: Apache-2.0
//
// collider: distances and velocities of meshes, shells and VDBs, and drops that meet them.
#include "base/random.h"
#include "meniscus/collider.h"
#include "support/analytic_volume.h"
#include "support/mesh_facts.h"
#include "support/node_stage.h"

static mn_collider *open_collider(node_stage *s, const mn_geo *geo)
{
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    mn_collider *collider = NULL;
    check_ok(s->ctx, mn_collider_create(s->ctx, &def, &collider));
    return collider;
}

static void a_ball_becomes_its_distance(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), collider = stage_node(&s, "collider", "collider");
    stage_set(&s, shape, "radius", "0.1 0.1 0.1");
    stage_set(&s, shape, "center", "0.3 0 0");
    stage_connect(&s, collider, 0, shape);
    const mn_geo *geo = stage_cook(&s, collider, 1);
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 1); // still: no vel
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), mn_geo_primitive_count(stage_cook(&s, shape, 1)));
    mn_collider *c = open_collider(&s, geo);
    check_close(mn_collider_voxel_size(c), 0.002, 1e-6); // a hundredth of its diameter
    for (int i = 0; i < 200; i++) {
        const mn_vec3 direction = mn_random_direction(1, (uint64_t)i, 0);
        const double d = 0.008 * (mn_random_unit(1, (uint64_t)i, 1) - 0.5);
        const mn_contact contact = mn_collider_probe(c, 0, mn_axpy(mn_v3(0.3, 0, 0), 0.1 + d, direction));
        // Facets of the sphere lie up to 0.15 mm inside, the level set is good to a tenth of a voxel.
        check_close(contact.distance, d, 3.5e-4);
        check_close(mn_distance(contact.normal, direction), 0, 0.1);
    }
    mn_collider_free(c);
    stage_set(&s, collider, "keep_mesh", "0");
    assert_int_equal(mn_geo_kind_count(stage_cook(&s, collider, 1), MN_POLYGON), 0);
    stage_close(&s);
}

// A ball that travels at 1 m/s and spins at 10 rad/s has that velocity on its surface.
static void a_moving_mesh_becomes_its_velocity(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "box"), collider = stage_node(&s, "collider", "collider");
    stage_set(&s, shape, "kind", "box");
    stage_set(&s, shape, "size", "0.2 0.2 0.2");
    const double degrees = 10 * 180 / 3.14159265358979323846;
    const mn_key center[] = {{1, {0, 0, 0}}, {25, {1, 0, 0}}},
                 turn[] = {{1, {0, 0, 0}}, {25, {0, degrees, 0}}};
    check_ok(s.ctx, mn_network_set_keys(s.network, shape, "center", 2, center));
    check_ok(s.ctx, mn_network_set_keys(s.network, shape, "rotate", 2, turn));
    stage_connect(&s, collider, 0, shape);
    stage_set(&s, collider, "velocity", "0 0.5 0");
    const mn_geo *geo = stage_cook(&s, collider, 13);
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 2);
    mn_collider *c = open_collider(&s, geo);
    const mn_vec3 middle = {0.5, 0, 0}, omega = {0, 10, 0};
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    for (int64_t p = 0; p < 6; p++) {
        // Off the middle of a side of the box, away from corners, which a voxel rounds.
        mn_vec3 x = {0, 0, 0};
        for (int k = 0; k < 4; k++)
            x = mn_axpy(x, 0.1 * (k + 1), mn_geo_position(geo, points[starts[p] + k]));
        const mn_vec3 expected = mn_add(mn_v3(1, 0.5, 0), mn_cross(omega, mn_sub(x, middle)));
        // Chords of an arc of 24 degrees a frame are 0.7 % short.
        check_close(mn_distance(mn_collider_probe(c, 0, x).velocity, expected), 0, 0.02);
    }
    mn_collider_free(c);
    stage_close(&s);
}

static void an_open_mesh_is_refused_or_made_a_shell(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "grid"), collider = stage_node(&s, "collider", "collider");
    stage_set(&s, shape, "kind", "grid");
    stage_set(&s, shape, "size", "0.2 0 0.2");
    stage_connect(&s, collider, 0, shape);
    const mn_geo *geo;
    stage_set(&s, collider, "kind", "solid");
    check_fails(s.ctx, mn_network_cook(s.network, collider, 0, 1, &geo), MN_ERROR_INPUT,
                "the mesh is not closed: 40 open edges");
    stage_set(&s, collider, "kind", "shell");
    stage_set(&s, collider, "thickness", "0.001");
    check_fails(s.ctx, mn_network_cook(s.network, collider, 0, 1, &geo), MN_ERROR_ARGUMENT,
                "thinner than two voxels");
    stage_set(&s, collider, "thickness", "0.01");
    mn_collider *c = open_collider(&s, stage_cook(&s, collider, 1));
    for (int i = -4; i <= 4; i++) {
        const mn_vec3 x = {0.03, 0.0025 * i, -0.02};
        double d;
        mn_collider_distance(c, 0, 1, &x, &d);
        check_close(d, fabs(x.y) - 0.005, 1.1e-3); // the middle of the wall is half a voxel blunt
    }
    mn_collider_free(c);
    stage_close(&s);
}

// A plane, a plate of a third of a voxel and a box, as artists have them: the first two are walls of two
// voxels, the box is solid to its middle.
static void planes_and_plates_are_walls_beside_solids(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t plane = stage_node(&s, "shape", "plane"), plate = stage_node(&s, "shape", "plate"),
                  box = stage_node(&s, "shape", "box"), all = stage_node(&s, "merge", "all"),
                  collider = stage_node(&s, "collider", "collider");
    stage_set(&s, plane, "kind", "grid");
    stage_set(&s, plane, "size", "0.2 0 0.2");
    stage_set(&s, plate, "kind", "box");
    stage_set(&s, plate, "size", "0.2 0.001 0.2");
    stage_set(&s, plate, "center", "0 0.1 0");
    stage_set(&s, box, "kind", "box");
    stage_set(&s, box, "size", "0.1 0.1 0.1");
    stage_set(&s, box, "center", "0.3 0.05 0");
    stage_set(&s, collider, "dx", "0.003");
    const double dx = 0.003;
    for (int mixed = 0; mixed < 2; mixed++) {
        stage_connect(&s, all, 0, plane);
        stage_connect(&s, all, 1, plate);
        stage_connect(&s, all, 2, mixed ? box : -1);
        stage_connect(&s, collider, 0, all);
        mn_collider *c = open_collider(&s, stage_cook(&s, collider, 1));
        const mn_vec3 places[] = {
            {0.02, 0.006, 0.01}, {0.02, 0, 0.01}, {-0.03, 0.106, 0}, {0.3, 0.106, 0.02}, {0.3, 0.05, 0}};
        const double expected[] = {0.006 - dx, -dx, 0.0055 - dx, 0.006, -0.02};
        for (int i = 0; i < (mixed ? 5 : 3); i++) {
            double d;
            mn_collider_distance(c, 0, 1, &places[i], &d);
            if (i < 4)
                check_close(d, expected[i], 0.6 * dx);
            else
                assert_true(d < -2 * dx); // deep inside, beyond the band
        }
        mn_collider_free(c);
    }
    // Alone and thick, it is what kind solid makes of it.
    stage_connect(&s, collider, 0, box);
    const uint64_t automatic = mn_geo_hash(stage_cook(&s, collider, 1));
    stage_set(&s, collider, "kind", "solid");
    assert_true(mn_geo_hash(stage_cook(&s, collider, 1)) == automatic);
    stage_close(&s);
}

static double paint_at(const mn_geo *geo, const char *name, double x)
{
    const mn_attribute *paint = mn_geo_find_numeric(geo, MN_POINT, name, 1);
    assert_non_null(paint);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        double value;
        mn_attribute_get(paint, i, 1, &value);
        if (fabs(mn_geo_position(geo, i).x - x) < 0.6 && mn_norm(mn_geo_position(geo, i)) > 0) return value;
    }
    return NAN;
}

// Two colliders are merged: one has its own friction, the other none, and keeps the solver's.
static void each_collider_has_its_own_surface(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    int32_t colliders[2];
    const int32_t merge = stage_node(&s, "merge", "both");
    for (int i = 0; i < 2; i++) {
        const int32_t box = stage_node(&s, "shape", i == 0 ? "box0" : "box1");
        colliders[i] = stage_node(&s, "collider", i == 0 ? "rough" : "plain");
        stage_set(&s, box, "kind", "box");
        stage_set(&s, box, "center", i == 0 ? "-2 0 0" : "2 0 0");
        stage_connect(&s, colliders[i], 0, box);
        stage_connect(&s, merge, i, colliders[i]);
    }
    stage_set(&s, colliders[0], "friction", "0.7");
    stage_set(&s, colliders[1], "contact_angle", "120");
    const mn_geo *geo = stage_cook(&s, merge, 1);
    check_close(paint_at(geo, "friction", -2), 0.7, 1e-6);
    check_close(paint_at(geo, "friction", 2), -1, 0);
    check_close(paint_at(geo, "contact_angle", -2), -1, 0);
    check_close(paint_at(geo, "contact_angle", 2), 120, 0);
    stage_set(&s, colliders[0], "keep_mesh", "0");
    assert_int_equal(mn_network_cook(s.network, merge, 0, 1, &geo), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(s.ctx), "keep_mesh"));
    stage_close(&s);
}

static void a_level_set_passes_through(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    const mn_volume ball = analytic_ball(mn_v3(0, 0, 0), 0.1, 0.005);
    strcpy(((analytic_volume *)ball.handle)->name, "other");
    check_ok(s.ctx, analytic_add(s.files[0], ball));
    const int32_t file = stage_node(&s, "file", "vdb"), collider = stage_node(&s, "collider", "collider");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, collider, 0, file);
    stage_set(&s, collider, "velocity", "0 2 0");
    const mn_geo *geo = stage_cook(&s, collider, 1);
    assert_true(mn_geo_find_volume(geo, "surface").ops && mn_geo_find_volume(geo, "vel").ops);
    mn_collider *c = open_collider(&s, geo);
    const mn_contact contact = mn_collider_probe(c, 0, mn_v3(0, 0.105, 0));
    check_close(contact.distance, 0.005, 1e-9);
    check_close(mn_distance(contact.velocity, mn_v3(0, 2, 0)), 0, 1e-5);
    mn_collider_free(c);
    stage_close(&s);
}

static void bad_sizes_are_said(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), collider = stage_node(&s, "collider", "collider");
    stage_connect(&s, collider, 0, shape);
    const mn_geo *geo;
    stage_set(&s, collider, "dx", "0.05");
    check_fails(s.ctx, mn_network_cook(s.network, collider, 0, 1, &geo), MN_ERROR_ARGUMENT,
                "spans only 0.02 m");
    stage_set(&s, collider, "dx", "1e-7");
    check_fails(s.ctx, mn_network_cook(s.network, collider, 0, 1, &geo), MN_ERROR_ARGUMENT,
                "GB; use dx above");
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    const int32_t file = stage_node(&s, "file", "none");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, collider, 0, file);
    check_fails(s.ctx, mn_network_cook(s.network, collider, 0, 1, &geo), MN_ERROR_INPUT,
                "no polygons and no level set");
    stage_close(&s);
}

// The whole way: a mesh, its collider, drops on it, and both volumes of the surface node.
static void drops_land_on_a_mesh(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t source = stage_node(&s, "shape", "cloud"), ball = stage_node(&s, "shape", "ball"),
                  collider = stage_node(&s, "collider", "collider"),
                  spray = stage_node(&s, "spray_solver", "rain"), skin = stage_node(&s, "surface", "skin");
    stage_set(&s, source, "kind", "grid");
    stage_set(&s, source, "center", "0 0.3 0");
    stage_set(&s, source, "size", "0.05 0 0.05");
    stage_set(&s, ball, "radius", "0.1 0.1 0.1");
    stage_connect(&s, collider, 0, ball);
    stage_connect(&s, spray, 0, source);
    stage_connect(&s, spray, 2, collider);
    stage_set(&s, spray, "along", "axis");
    stage_set(&s, spray, "direction", "0 -1 0");
    stage_set(&s, spray, "impact", "stick");
    stage_set(&s, spray, "rate", "500");
    const mn_geo *geo = stage_cook(&s, spray, 20);
    int64_t stuck = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const double r = mn_norm(mn_geo_position(geo, i)), drop = stage_number(geo, "pscale", i);
        assert_true(r > 0.0995);
        if (stage_number(geo, "stuck", i) == 0) continue;
        check_close(r, 0.1 + drop, 4e-4);
        stuck++;
    }
    assert_true(stuck > 100);
    stage_connect(&s, skin, 0, spray);
    stage_set(&s, skin, "output", "both");
    stage_set(&s, skin, "radius_scale", "1");
    geo = stage_cook(&s, skin, 20);
    assert_true(mn_geo_find_volume(geo, "surface").ops && mn_geo_find_volume(geo, "vel").ops);
    assert_int_equal(mesh_facts_of(geo).bad_edges, 0);
    const mn_vec3 vertex = mn_geo_position(geo, mn_geo_vertex_points(geo)[0]);
    check_close(mn_volume_sample(mn_geo_find_volume(geo, "surface"), vertex), 0, 1e-4);
    stage_set(&s, skin, "output", "polygons");
    const int64_t even = mn_geo_primitive_count(stage_cook(&s, skin, 20));
    stage_set(&s, skin, "adaptivity", "0.5");
    geo = stage_cook(&s, skin, 20);
    assert_true(mn_geo_primitive_count(geo) > 0 && mn_geo_primitive_count(geo) < even);
    assert_non_null(mn_geo_find(geo, MN_POINT, "v"));
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_becomes_its_distance),
        cmocka_unit_test(a_moving_mesh_becomes_its_velocity),
        cmocka_unit_test(an_open_mesh_is_refused_or_made_a_shell),
        cmocka_unit_test(planes_and_plates_are_walls_beside_solids),
        cmocka_unit_test(each_collider_has_its_own_surface),
        cmocka_unit_test(a_level_set_passes_through),
        cmocka_unit_test(bad_sizes_are_said),
        cmocka_unit_test(drops_land_on_a_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
