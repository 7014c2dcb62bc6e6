// SPDX-License-Identifier: Apache-2.0
//
// film_source, mls_solver and film_skin in a network: attributes, moving rings, polygons as films, bad input.
#include "meniscus/codim.h"
#include "support/node_stage.h"
#include "trimesh/triangles.h"

typedef struct film_nodes {
    int32_t source, solver, skin;
} film_nodes;

static film_nodes build(node_stage *s, const char *kind)
{
    const film_nodes n = {stage_node(s, "film_source", "source"), stage_node(s, "mls_solver", "film"),
                          stage_node(s, "film_skin", "skin")};
    stage_connect(s, n.solver, 0, n.source);
    stage_connect(s, n.skin, 0, n.solver);
    stage_set(s, n.source, "kind", kind);
    stage_set(s, n.source, "spacing", "0.004");
    stage_set(s, n.solver, "gravity", "0 0 0");
    stage_set(s, n.solver, "time_scale", "0.1");
    return n;
}

static void bubble_holds_its_pressure(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const film_nodes n = build(&s, "bubble");
    const mn_geo *geo = stage_cook(&s, n.solver, 24);
    assert_true(mn_geo_point_count(geo) > 200);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 2 * mn_geo_point_count(geo) - 4);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        check_close(stage_number(geo, "codim", i), 1, 0);
        check_close(stage_number(geo, "pressure", i), 4 * 0.025 / 0.02, 0.3); // coarse: 15 points across
        check_close(stage_number(geo, "thickness", i), 1e-5, 4e-6);
        assert_true(mn_dot(stage_vec3(geo, "N", i), stage_vec3(geo, "P", i)) > 0);
    }
    const mn_geo *skin = stage_cook(&s, n.skin, 24);
    assert_int_equal(mn_geo_kind_count(skin, MN_POLYGON),
                     4 * 2 * mn_geo_kind_count(geo, MN_POLYGON)); // divided once
    assert_true(stage_number(skin, "thickness", 0) > 0);
    stage_vec3(skin, "v", 0), stage_vec3(skin, "N", 0);
    mn_triangles *triangles = NULL;
    check_ok(s.ctx, mn_triangles_create_from_geo(s.ctx, skin, &triangles));
    assert_true(mn_triangles_is_closed(triangles));
    mn_triangles_free(triangles);
    stage_close(&s);
}

static void rings_move_the_film(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const film_nodes n = build(&s, "cylinder");
    const mn_key keys[2] = {{1, {0.02}}, {5, {0.024}}};
    check_ok(s.ctx, mn_network_set_keys(s.network, n.source, "height", 2, keys));
    const mn_geo *geo = stage_cook(&s, n.solver, 5);
    double lowest = 0, highest = 0;
    int held = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const double y = stage_vec3(geo, "P", i).y;
        lowest = fmin(lowest, y), highest = fmax(highest, y);
        held += stage_number(geo, "pinned", i) != 0;
    }
    check_close(lowest, -0.012, 1e-8);
    check_close(highest, 0.012, 1e-8);
    assert_int_equal(held, 2 * 31); // 2 pi 0.02 / 0.004 points on either ring
    stage_close(&s);
}

// Any polygons become a film with even points; a closed one is a bubble.
static void polygons_become_films(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const film_nodes n = build(&s, "polygons");
    const int32_t shape = stage_node(&s, "shape", "shape");
    stage_connect(&s, n.source, 0, shape);
    stage_set(&s, shape, "kind", "box");
    const mn_geo *points = stage_cook(&s, n.source, 1);
    for (int64_t i = 0; i < mn_geo_point_count(points); i++)
        for (int64_t j = 0; j < i; j++)
            assert_true(mn_distance(stage_vec3(points, "P", i), stage_vec3(points, "P", j)) > 0.74 * 0.004);
    const mn_geo *box = stage_cook(&s, n.solver, 1);
    assert_int_equal(mn_geo_kind_count(box, MN_POLYGON), 2 * mn_geo_point_count(box) - 4);
    stage_set(&s, shape, "kind", "grid");
    const mn_geo *grid = stage_cook(&s, n.solver, 3);
    int held = 0;
    for (int64_t i = 0; i < mn_geo_point_count(grid); i++) held += stage_number(grid, "pinned", i) != 0;
    assert_int_equal(held, 20); // five on each side of 0.02 m
    stage_close(&s);
}

// Volumes are closed already: film_skin takes them apart from films, and says so when they come together.
static void skins_of_volumes_are_drawn_as_they_are(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t ball = stage_node(&s, "shape", "ball"), solver = stage_node(&s, "mls_solver", "drop");
    const int32_t skin = stage_node(&s, "film_skin", "skin");
    const mn_geo *geo, *own;
    stage_set(&s, ball, "radius", "0.01 0.01 0.01");
    stage_set(&s, solver, "dx", "0.004");
    stage_set(&s, solver, "spacing", "0.002");
    stage_connect(&s, solver, 4, ball);
    stage_connect(&s, skin, 0, solver);
    check_fails(s.ctx, mn_network_cook(s.network, skin, 0, 1, &geo), MN_ERROR_INPUT, "Films and Threads");
    check_ok(s.ctx, mn_network_connect(s.network, skin, 0, solver, MN_CODIM_OUTPUT_SHEETS));
    check_ok(s.ctx, mn_network_connect(s.network, skin, 1, solver, MN_CODIM_OUTPUT_SKIN));
    geo = stage_cook(&s, skin, 2);
    check_ok(s.ctx, mn_network_cook(s.network, solver, MN_CODIM_OUTPUT_SKIN, 2, &own));
    assert_true(mn_geo_point_count(geo) > 100);
    assert_int_equal(mn_geo_point_count(geo), mn_geo_point_count(own));
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), mn_geo_kind_count(own, MN_POLYGON));
    check_close(mn_distance(stage_vec3(geo, "P", 7), stage_vec3(own, "P", 7)), 0, 0);
    check_close(mn_distance(stage_vec3(geo, "N", 7), stage_vec3(own, "N", 7)), 0, 0);
    assert_null(mn_geo_find(geo, MN_POINT, "codim"));
    check_ok(s.ctx, mn_network_cook(s.network, solver, MN_CODIM_OUTPUT_SHEETS, 2, &own));
    assert_int_equal(mn_geo_point_count(own), 0);
    stage_close(&s);
}

// A jet alone feeds a sheet; shut, there is none and that is fine; its skin is closed.
static void jets_feed_sheets(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t jet = stage_node(&s, "jet_source", "jet"), solver = stage_node(&s, "mls_solver", "sheet");
    const int32_t skin = stage_node(&s, "film_skin", "skin");
    const mn_geo *geo;
    check_fails(s.ctx, mn_network_cook(s.network, solver, 0, 1, &geo), MN_ERROR_INPUT, "jet_source");
    stage_connect(&s, solver, 3, jet);
    stage_connect(&s, skin, 0, solver);
    stage_set(&s, jet, "spacing", "0.0015");
    stage_set(&s, solver, "time_scale", "0.02");
    geo = stage_cook(&s, solver, 1);
    assert_int_equal(mn_geo_point_count(geo), 0);
    geo = stage_cook(&s, solver, 7);
    double mass = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) mass += stage_number(geo, "mass", i);
    check_close(mass / (1000 * 0.25 * 3.14159265358979 * 9e-6 * 2 * 6 * 0.02 / 24), 1, 1e-5); // floats
    geo = stage_cook(&s, skin, 7);
    mn_triangles *triangles = NULL;
    check_ok(s.ctx, mn_triangles_create_from_geo(s.ctx, geo, &triangles));
    assert_true(mn_triangles_is_closed(triangles));
    mn_triangles_free(triangles);
    stage_set(&s, jet, "speed", "0");
    geo = stage_cook(&s, skin, 7);
    assert_int_equal(mn_geo_point_count(geo), 0);
    stage_set(&s, jet, "kind", "curves");
    check_fails(s.ctx, mn_network_cook(s.network, jet, 0, 1, &geo), MN_ERROR_INPUT, "connect curves");
    stage_close(&s);
}

// Two nozzles in one mesh pour their own ways, and the solver's velocity comes on top of both.
static void nozzles_pour_with_their_own_velocities(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t merge = stage_node(&s, "merge", "nozzles"), solver = stage_node(&s, "mls_solver", "water");
    for (int32_t i = 0; i < 2; i++) {
        const int32_t nozzle = stage_node(&s, "shape", i == 0 ? "left" : "right");
        stage_set(&s, nozzle, "kind", "box");
        stage_set(&s, nozzle, "size", "0.004 0.008 0.008");
        stage_set(&s, nozzle, "center", i == 0 ? "-0.02 0 0" : "0.02 0 0");
        stage_set(&s, nozzle, "velocity", i == 0 ? "0.4 0 0" : "-0.4 0 0");
        stage_connect(&s, merge, i, nozzle);
    }
    stage_connect(&s, solver, 5, merge);
    stage_set(&s, solver, "dx", "0.002");
    stage_set(&s, solver, "spacing", "0.001");
    stage_set(&s, solver, "gravity", "0 0 0");
    stage_set(&s, solver, "inflow_velocity", "0 0.1 0");
    stage_set(&s, solver, "time_scale", "0.05");
    const mn_geo *geo = stage_cook(&s, solver, 3);
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const mn_vec3 x = stage_vec3(geo, "P", i), v = stage_vec3(geo, "v", i);
        if (stage_number(geo, "codim", i) != 0 || fabs(fabs(x.x) - 0.02) > 0.001) continue;
        check_close(v.x, x.x < 0 ? 0.4 : -0.4, 0.05); // the grid's, blended with what has left
        check_close(v.y, 0.1, 0.05);
        left += x.x<0, right += x.x> 0;
    }
    assert_true(left > 20 && right > 20);
    stage_close(&s);
}

static void bad_input_is_a_sentence(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const film_nodes n = build(&s, "polygons");
    const mn_geo *geo;
    check_fails(s.ctx, mn_network_cook(s.network, n.solver, 0, 1, &geo), MN_ERROR_INPUT, "connect polygons");
    const int32_t file = stage_node(&s, "file", "file"), alone = stage_node(&s, "mls_solver", "alone");
    stage_set(&s, file, "path", "a");
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    check_ok(s.ctx, mn_geo_add_points(s.files[0], 3, NULL));
    stage_connect(&s, alone, 0, file);
    check_fails(s.ctx, mn_network_cook(s.network, alone, 0, 1, &geo), MN_ERROR_INPUT, "normals");
    stage_set(&s, n.source, "kind", "disc");
    stage_set(&s, n.source, "hole", "0.03");
    check_fails(s.ctx, mn_network_cook(s.network, n.solver, 0, 1, &geo), MN_ERROR_ARGUMENT, "hole");
    stage_set(&s, n.source, "hole", "0");
    stage_set(&s, n.source, "spacing", "1e-8");
    check_fails(s.ctx, mn_network_cook(s.network, n.solver, 0, 1, &geo), MN_ERROR_ARGUMENT, "spacing");
    stage_set(&s, n.source, "spacing", "0.004");
    stage_set(&s, n.solver, "spacing", "0.0001");
    check_fails(s.ctx, mn_network_cook(s.network, n.solver, 0, 1, &geo), MN_ERROR_INPUT, "too far apart");
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bubble_holds_its_pressure), cmocka_unit_test(rings_move_the_film),
        cmocka_unit_test(polygons_become_films),     cmocka_unit_test(skins_of_volumes_are_drawn_as_they_are),
        cmocka_unit_test(jets_feed_sheets),          cmocka_unit_test(nozzles_pour_with_their_own_velocities),
        cmocka_unit_test(bad_input_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
