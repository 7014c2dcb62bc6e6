// SPDX-License-Identifier: Apache-2.0
//
// shape, transform, merge and file.
#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "meniscus/vec.h"
#include "support/mesh_facts.h"
#include "support/node_stage.h"

static void a_shape_is_what_it_says(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "shape1");
    const char *const kinds[] = {"sphere", "ellipsoid", "box", "tube", "torus", "grid", "ring"};
    for (int k = 0; k < 7; k++) {
        stage_set(&s, shape, "kind", kinds[k]);
        const mn_geo *geo = stage_cook(&s, shape, 1);
        const mesh_facts facts = mesh_facts_of(geo);
        assert_true(facts.faces > 0);
        assert_true((facts.bad_edges == 0) == (k != 5)); // the grid is open
        assert_null(mn_geo_find(geo, MN_POINT, "v"));    // nothing moves
        assert_int_equal(mn_network_warning_count(s.network, shape), 0);
    }
    stage_set(&s, shape, "kind", "sphere");
    stage_set(&s, shape, "radius", "0.02 0.03 0.02");
    stage_cook(&s, shape, 1);
    assert_int_equal(mn_network_warning_count(s.network, shape), 1);
    stage_set(&s, shape, "radius", "0 0 0");
    const mn_geo *geo;
    check_fails(s.ctx, mn_network_cook(s.network, shape, 0, 1, &geo), MN_ERROR_ARGUMENT, "shape 'shape1'");
    stage_close(&s);
}

static void an_animated_shape_has_the_velocity_of_its_motion(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "shape1");
    const mn_key center[] = {{1, {0, 0, 0}}, {13, {1, 2, 0}}}, turn[] = {{1, {0, 0, 0}}, {25, {0, 90, 0}}};
    check_ok(s.ctx, mn_network_set_keys(s.network, shape, "center", 2, center));
    const mn_geo *geo = stage_cook(&s, shape, 7);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i += 100)
        // 12 frames are half a second; positions are floats of size 1, differenced over 1/24 s.
        check_close(mn_distance(stage_vec3(geo, "v", i), mn_v3(2, 4, 0)), 0, 1e-5);
    // What begins to move has all of its speed, so that a simulation which starts there throws it.
    geo = stage_cook(&s, shape, 1);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i += 100)
        check_close(mn_distance(stage_vec3(geo, "v", i), mn_v3(2, 4, 0)), 0, 2e-5);
    // After the last key nothing moves.
    assert_null(mn_geo_find(stage_cook(&s, shape, 20), MN_POINT, "v"));
    // A turn about y of 90 degrees a second: v = omega x r.
    check_ok(s.ctx, mn_network_reset_parm(s.network, shape, "center"));
    check_ok(s.ctx, mn_network_set_keys(s.network, shape, "rotate", 2, turn));
    geo = stage_cook(&s, shape, 13);
    const mn_vec3 omega = {0, 3.14159265358979323846 / 2, 0};
    for (int64_t i = 0; i < mn_geo_point_count(geo); i += 100) {
        const mn_vec3 expected = mn_cross(omega, mn_geo_position(geo, i));
        // The chord of an arc of 3.75 degrees is 0.02 % short.
        check_close(mn_distance(stage_vec3(geo, "v", i), expected), 0, 2e-4 * mn_norm(expected) + 1e-7);
    }
    stage_set(&s, shape, "motion_velocity", "0");
    assert_null(mn_geo_find(stage_cook(&s, shape, 13), MN_POINT, "v"));
    stage_set(&s, shape, "velocity", "0 2 0"); // its own, on top of which comes the motion's
    geo = stage_cook(&s, shape, 13);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        check_close(mn_distance(stage_vec3(geo, "v", i), mn_v3(0, 2, 0)), 0, 0);
    assert_null(mn_geo_find(geo, MN_POINT, "density")); // is left to the solver
    stage_set(&s, shape, "density", "2500");
    geo = stage_cook(&s, shape, 13);
    double density = 0;
    mn_attribute_get(mn_geo_find_numeric(geo, MN_POINT, "density", 1), 0, 1, &density);
    check_close(density, 2500, 0);
    stage_close(&s);
}

static void a_transform_moves_points_and_velocities(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    mn_attribute *v;
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    check_ok(s.ctx, mn_geo_add_points(s.files[0], 1, NULL));
    check_ok(s.ctx, mn_geo_add_attribute(s.files[0], MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    mn_geo_write_positions(s.files[0])[0] = 2;
    check_ok(s.ctx, mn_attribute_set(s.files[0], v, 0, 1, (const double[]){1, 0, 0}));
    const int32_t file = stage_node(&s, "file", "file1"), move = stage_node(&s, "transform", "move");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, move, 0, file);
    stage_set(&s, move, "pivot", "1 0 0");
    stage_set(&s, move, "rotate", "0 0 90");
    stage_set(&s, move, "scale", "3 1 1");
    stage_set(&s, move, "uniform_scale", "2");
    stage_set(&s, move, "translate", "10 0 0");
    const mn_geo *geo = stage_cook(&s, move, 1);
    // (2,0,0) - pivot = (1,0,0) -> scaled (6,0,0) -> turned (0,6,0) -> + pivot + (10,0,0)
    check_close(mn_distance(mn_geo_position(geo, 0), mn_v3(11, 6, 0)), 0, 1e-6);
    check_close(mn_distance(stage_vec3(geo, "v", 0), mn_v3(0, 6, 0)), 0, 1e-6);
    // Moving, the velocity of the motion is added.
    const mn_key keys[] = {{1, {0, 0, 0}}, {25, {0, 0, 5}}};
    check_ok(s.ctx, mn_network_set_keys(s.network, move, "translate", 2, keys));
    geo = stage_cook(&s, move, 12);
    check_close(mn_distance(stage_vec3(geo, "v", 0), mn_v3(0, 6, 5)), 0, 1e-5);
    stage_set(&s, move, "scale", "1 0 1");
    check_fails(s.ctx, mn_network_cook(s.network, move, 0, 12, &geo), MN_ERROR_ARGUMENT, "flattens");
    stage_close(&s);
}

/// Two boxes side by side, the second in a group: nodes take the one and leave the other.
static void a_group_is_all_that_nodes_touch(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t box = stage_node(&s, "shape", "box"), aside = stage_node(&s, "transform", "aside"),
                  both = stage_node(&s, "merge", "both");
    stage_set(&s, box, "kind", "box");
    stage_set(&s, box, "size", "0.01 0.01 0.01");
    stage_set(&s, aside, "translate", "1 0 0");
    stage_connect(&s, aside, 0, box);
    stage_connect(&s, both, 0, box);
    stage_connect(&s, both, 1, aside);
    mn_group *group;
    check_ok(s.ctx, mn_geo_copy(stage_cook(&s, both, 1), &s.files[0]));
    const int64_t faces = mn_geo_primitive_count(s.files[0]), points = mn_geo_point_count(s.files[0]);
    check_ok(s.ctx, mn_geo_add_group(s.files[0], MN_PRIMITIVE, "right", &group));
    memset(mn_group_write(s.files[0], group) + faces / 2, 1, (size_t)(faces / 2));
    const int32_t file = stage_node(&s, "file", "file1");
    stage_set(&s, file, "path", "a");
    static const char *const types[] = {"fill", "tetrahedralize", "transform"};
    for (int k = 0; k < 3; k++) {
        const int32_t node = stage_node(&s, types[k], types[k]);
        stage_connect(&s, node, 0, file);
        if (k == 1) stage_set(&s, node, "size", "0.003");
        if (k == 2) stage_set(&s, node, "translate", "0 2 0");
        stage_set(&s, node, "group", "right");
        const mn_geo *geo = stage_cook(&s, node, 1);
        const mn_box bounds = mn_geo_bounds(geo);
        if (k < 2) {
            assert_true(mn_geo_point_count(geo) > 0 && bounds.min.x > 0.9 && bounds.max.x < 1.1);
        } else {
            assert_int_equal(mn_geo_point_count(geo), points); // both are there, one is higher
            for (int64_t i = 0; i < points; i++)
                assert_true((mn_geo_position(geo, i).y > 1) == (mn_geo_position(geo, i).x > 0.5));
            const mn_key keys[] = {{1, {0, 0, 0}}, {25, {0, 0, 5}}}; // and only it has a velocity
            check_ok(s.ctx, mn_network_set_keys(s.network, node, "translate", 2, keys));
            geo = stage_cook(&s, node, 12);
            for (int64_t i = 0; i < points; i++)
                check_close(stage_vec3(geo, "v", i).z, mn_geo_position(geo, i).x > 0.5 ? 5 : 0, 1e-5);
        }
        stage_set(&s, node, "group", "wrong");
        check_fails(s.ctx, mn_network_cook(s.network, node, 0, 1, &geo), MN_ERROR_INPUT,
                    "there is no group 'wrong'; the input has right.");
    }
    stage_close(&s);
}

static void a_merge_holds_all_of_its_inputs(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t merge = stage_node(&s, "merge", "all");
    int64_t points = 0;
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "part%d", i);
        const int32_t shape = stage_node(&s, "shape", name);
        stage_set(&s, shape, "kind", i == 1 ? "box" : "sphere");
        stage_connect(&s, merge, i, shape);
        points += mn_geo_point_count(stage_cook(&s, shape, 1));
    }
    const mesh_facts facts = mesh_facts_of(stage_cook(&s, merge, 1));
    assert_int_equal(facts.points, points);
    assert_int_equal(facts.bad_edges, 0);
    assert_int_equal(mesh_euler(&facts), 6); // three balls
    stage_close(&s);
}

static void a_file_follows_the_frame(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    const int32_t file = stage_node(&s, "file", "water");
    const struct {
        const char *path;
        double frame;
        const char *read;
    } rows[] = {{"x/$F4.y/a", 7, "x/0007.y/a"}, {"x$F/a", 12, "x12/a"},      {"x${F3}4/a", 5, "x0054/a"},
                {"$F2-$F/a", 123, "123-123/a"}, {"x.$F4/a", -3, "x.-003/a"}, {"$FF/a", 3, "3F/a"},
                {"${F4/$x/a", 3, "${F4/$x/a"},  {"x$F/a", 1.4, "x1/a"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        stage_set(&s, file, "path", rows[i].path);
        stage_cook(&s, file, rows[i].frame);
        const char *read = strstr(s.last_path, rows[i].read);
        assert_true(read && strlen(read) == strlen(rows[i].read));
    }
    // One file is read once, a sequence at every frame.
    stage_set(&s, file, "path", "a");
    for (int frame = 1; frame < 5; frame++) stage_cook(&s, file, frame);
    const int64_t single = mn_network_cook_count(s.network, file);
    for (int frame = 5; frame < 9; frame++) stage_cook(&s, file, frame);
    assert_int_equal(mn_network_cook_count(s.network, file), single);
    stage_set(&s, file, "path", "$F/a");
    for (int frame = 1; frame < 5; frame++) stage_cook(&s, file, frame);
    assert_int_equal(mn_network_cook_count(s.network, file), single + 4);
    stage_close(&s);
}

static void a_missing_file_is_said_so(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t file = stage_node(&s, "file", "water");
    const mn_geo *geo;
    check_fails(s.ctx, mn_network_cook(s.network, file, 0, 1, &geo), MN_ERROR_ARGUMENT, "no file is chosen");
    stage_set(&s, file, "path", "drop.$F4.bgeo");
    check_fails(s.ctx, mn_network_cook(s.network, file, 0, 9, &geo), MN_ERROR_NOT_FOUND,
                "file 'water': there is no file");
    assert_non_null(strstr(mn_context_message(s.ctx), "drop.0009.bgeo"));
    stage_set(&s, file, "missing", "empty");
    assert_int_equal(mn_geo_point_count(stage_cook(&s, file, 9)), 0);
    char path[5000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    stage_set(&s, file, "path", path);
    check_fails(s.ctx, mn_network_cook(s.network, file, 0, 1, &geo), MN_ERROR_ARGUMENT, "longer than 4095");
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shape_is_what_it_says),
        cmocka_unit_test(an_animated_shape_has_the_velocity_of_its_motion),
        cmocka_unit_test(a_transform_moves_points_and_velocities),
        cmocka_unit_test(a_group_is_all_that_nodes_touch),
        cmocka_unit_test(a_merge_holds_all_of_its_inputs),
        cmocka_unit_test(a_file_follows_the_frame),
        cmocka_unit_test(a_missing_file_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
