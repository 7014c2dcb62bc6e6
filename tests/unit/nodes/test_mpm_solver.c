// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver in a network: attributes in and out, both outputs, new points, and the sentences for what is
// wrong.
#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "meniscus/report.h"
#include "meniscus/vec.h"
#include "support/node_stage.h"

static const mn_hooks calm = {.max_workers = 1};

// A ball of lattice points, eight to a cell of dx, moving along x.
static mn_geo *make_ball(mn_context *ctx, double radius, double dx)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    const double h = 0.5 * dx;
    const int reach = (int)(radius / h) + 1;
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            for (int k = -reach; k <= reach; k++) {
                const mn_vec3 x = mn_v3((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h);
                if (mn_norm(x) > radius) continue;
                int64_t point;
                check_ok(ctx, mn_geo_add_points(geo, 1, &point));
                float *p = mn_geo_write_positions(geo) + 3 * point;
                p[0] = (float)x.x, p[1] = (float)x.y, p[2] = (float)x.z;
            }
    mn_attribute *v;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    float *values = mn_attribute_write(geo, v);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) values[3 * i] = 0.1f;
    return geo;
}

static int32_t build_drop(node_stage *s)
{
    s->files[0] = make_ball(s->ctx, 0.003, 0.001);
    const int32_t file = stage_node(s, "file", "ball"), solver = stage_node(s, "mpm_solver", "drop");
    stage_set(s, file, "path", "a");
    stage_connect(s, solver, 0, file);
    stage_set(s, solver, "dx", "0.001");
    stage_set(s, solver, "gravity", "0 0 0");
    stage_set(s, solver, "time_scale", "0.1");
    return solver;
}

static void particles_carry_every_attribute_and_move(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const char *const names[] = {"v",        "id",     "mass",  "density",   "J",
                                 "pressure", "pscale", "sigma", "viscosity", "age"};
    const int64_t count = mn_geo_point_count(s.files[0]);
    for (int frame = 1; frame <= 2; frame++) {
        const mn_geo *geo = stage_cook(&s, solver, frame);
        assert_int_equal(mn_geo_point_count(geo), count);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            assert_non_null(mn_geo_find(geo, MN_POINT, names[i]));
        double mean = 0;
        for (int64_t i = 0; i < count; i++) mean += stage_vec3(geo, "P", i).x / (double)count;
        // 0.1 m/s for (frame - 1)/24 s, ten times slow; positions are floats.
        check_close(mean, 0.1 * 0.1 * (frame - 1) / 24, 1e-7);
    }
    const mn_report *report = mn_network_report(s.network, solver);
    assert_true(report && report->set[MN_REPORT_surface_energy]);
    // The surface's energy is sigma times the area of a ball, within what 6 cells across resolve.
    const double area = 4 * 3.14159265 * 0.003 * 0.003;
    check_close(report->value[MN_REPORT_area][0], area, 0.05 * area);
    stage_close(&s);
}

static void the_surface_is_a_closed_mesh_of_the_liquids_volume(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const mn_geo *mesh = NULL;
    for (int k = 0; k < 2; k++) {
        stage_set(&s, solver, "surface_scale", k == 0 ? "1" : "0.5");
        check_ok(s.ctx, mn_network_cook(s.network, solver, 1, 1, &mesh));
        assert_true(mn_geo_kind_count(mesh, MN_POLYGON) > 100);
        const int64_t *points = mn_geo_vertex_points(mesh);
        double volume = 0;
        for (int64_t t = 0; t < mn_geo_primitive_count(mesh); t++)
            volume += mn_dot(mn_geo_position(mesh, points[3 * t]),
                             mn_cross(mn_geo_position(mesh, points[3 * t + 1]),
                                      mn_geo_position(mesh, points[3 * t + 2]))) /
                      6;
        const double expected = (double)mn_geo_point_count(s.files[0]) * 1e-9 / 8;
        check_close(volume, expected, 0.03 * expected); // marching cubes cut off a little of a ball
        for (int64_t i = 0; i < mn_geo_point_count(mesh); i++)
            check_close(stage_vec3(mesh, "v", i).x, 0.1, 1e-6);
    }
    stage_set(&s, solver, "output_surface", "0");
    check_ok(s.ctx, mn_network_cook(s.network, solver, 1, 1, &mesh));
    assert_int_equal(mn_geo_point_count(mesh), 0);
    stage_close(&s);
}

static void points_come_in_when_asked_for(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const int64_t count = mn_geo_point_count(s.files[0]);
    const mn_geo *geo = NULL;
    stage_set(&s, solver, "source", "new_ids");
    const mn_status status = mn_network_cook(s.network, solver, 0, 1, &geo);
    check_fails(s.ctx, status, MN_ERROR_INPUT, "id");
    stage_set(&s, solver, "source", "every_frame");
    stage_set(&s, solver, "time_scale", "0");
    geo = stage_cook(&s, solver, 2);
    // Nothing has moved, so there is no room for more.
    assert_int_equal(mn_geo_point_count(geo), count);
    stage_set(&s, solver, "time_scale", "1");
    geo = stage_cook(&s, solver, 2);
    assert_int_equal(mn_geo_point_count(geo), count);
    geo = stage_cook(&s, solver, 3);
    // It moves by 4.2 mm in a frame; every point is a sixth of its way through the ball of 6 mm.
    assert_true(mn_geo_point_count(geo) > count + count / 2);
    stage_close(&s);
}

static void write_ids(mn_context *ctx, mn_geo *geo, int32_t first)
{
    mn_attribute *id;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "id", MN_I32, 1, MN_HINT_NONE, &id));
    int32_t *values = mn_attribute_write(geo, id);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) values[i] = first + (int32_t)i;
}

static void points_with_ids_come_in_once(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s), first = mn_network_find(s.network, "ball");
    const int64_t count = mn_geo_point_count(s.files[0]);
    write_ids(s.ctx, s.files[0], 5000);
    s.files[1] = make_ball(s.ctx, 0.002, 0.001);
    const int64_t more = mn_geo_point_count(s.files[1]);
    write_ids(s.ctx, s.files[1], 100);
    const int32_t file = stage_node(&s, "file", "late"), move = stage_node(&s, "transform", "away");
    const int32_t merge = stage_node(&s, "merge", "both");
    stage_set(&s, file, "path", "b");
    stage_set(&s, move, "translate", "0.02 0 0");
    stage_connect(&s, move, 0, file);
    stage_connect(&s, merge, 0, first);
    stage_connect(&s, merge, 1, move);
    stage_set(&s, solver, "source", "new_ids");
    stage_set(&s, solver, "time_scale", "0");
    stage_connect(&s, solver, 0, merge);
    for (int frame = 1; frame <= 3; frame++) {
        const mn_geo *geo = stage_cook(&s, solver, frame);
        assert_int_equal(mn_geo_point_count(geo), count + more); // once, not at every frame
    }
    stage_close(&s);
}

static void an_emitter_gives_its_flow_rate(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        node_stage s;
        stage_open(&s, &calm);
        const int32_t disc = stage_node(&s, "shape", "disc"), solver = stage_node(&s, "mpm_solver", "tap");
        stage_set(&s, disc, "kind", "grid");
        stage_set(&s, disc, "size", "0.004 0 0.004");
        stage_set(&s, disc, "rotate", "180 0 0");
        int32_t emitter = disc;
        if (kind == 1) { // points instead
            mn_attribute *v;
            check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
            check_ok(s.ctx, mn_geo_add_points(s.files[0], 1, NULL));
            check_ok(s.ctx, mn_geo_add_attribute(s.files[0], MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
            ((float *)mn_attribute_write(s.files[0], v))[0] = 0.25f;
            emitter = stage_node(&s, "file", "points");
            stage_set(&s, emitter, "path", "a");
        }
        stage_connect(&s, solver, 2, emitter);
        stage_set(&s, solver, "emit", kind == 0 ? "normal" : "v");
        stage_set(&s, solver, "flow_rate", "4e-6");
        stage_set(&s, solver, "gravity", "0 0 0");
        stage_set(&s, solver, "sigma", "0");
        stage_set(&s, solver, "time_scale", "0.5");
        // Half a frame of 1/24 s at 4 cm^3/s between one frame and the next, within a layer of 0.5 mm.
        const double first = (double)mn_geo_point_count(stage_cook(&s, solver, 1));
        const double third = (double)mn_geo_point_count(stage_cook(&s, solver, 3));
        const double area = kind == 0 ? 16e-6 : 3.14159e-6;
        assert_true(first > 0);
        check_close((third - first) * 1e-9 / 8, 4e-6 / 24, area * 0.6e-3);
        stage_close(&s);
    }
}

static void what_comes_into_a_sink_is_gone(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const int32_t box = stage_node(&s, "shape", "box"), sink = stage_node(&s, "collider", "sink");
    stage_set(&s, box, "kind", "box");
    stage_set(&s, box, "size", "0.02 0.02 0.02");
    stage_set(&s, box, "center", "0.01 0 0"); // the right half of the drop, which drifts into it
    stage_set(&s, sink, "dx", "0.001");
    stage_connect(&s, sink, 0, box);
    stage_connect(&s, solver, 3, sink);
    const int64_t before = mn_geo_point_count(stage_cook(&s, solver, 1));
    const mn_geo *geo = stage_cook(&s, solver, 2);
    assert_true(mn_geo_point_count(geo) < before * 6 / 10 && mn_geo_point_count(geo) > before / 4);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) assert_true(stage_vec3(geo, "P", i).x < 1e-4);
    stage_close(&s);
}

static void merged_sources_are_numbered_anew(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    mn_attribute *id; // all zero
    check_ok(s.ctx, mn_geo_add_attribute(s.files[0], MN_POINT, "id", MN_I32, 1, MN_HINT_NONE, &id));
    const mn_geo *geo = stage_cook(&s, solver, 1);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        check_close(stage_number(geo, "id", i), (double)i, 0);
    stage_close(&s);
}

static void bad_input_is_named(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    mn_attribute *mass;
    check_ok(s.ctx, mn_geo_add_attribute(s.files[0], MN_POINT, "mass", MN_F32, 1, MN_HINT_NONE, &mass));
    float *values = mn_attribute_write(s.files[0], mass);
    for (int64_t i = 0; i < mn_geo_point_count(s.files[0]); i++) values[i] = 1e-7f;
    values[5] = -1;
    const mn_geo *geo = NULL;
    const mn_status status = mn_network_cook(s.network, solver, 0, 1, &geo);
    check_fails(s.ctx, status, MN_ERROR_INPUT, "mass");
    stage_close(&s);
}

static void an_empty_input_gives_empty_outputs(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    const int32_t file = stage_node(&s, "file", "none"), solver = stage_node(&s, "mpm_solver", "drop");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, solver, 0, file);
    const mn_geo *geo = stage_cook(&s, solver, 3);
    assert_int_equal(mn_geo_point_count(geo), 0);
    stage_close(&s);
}

static double number_of(const mn_geo *geo, const char *name, int64_t point)
{
    double value = NAN;
    const mn_attribute *column = mn_geo_find_numeric(geo, MN_POINT, name, 1);
    assert_non_null(column);
    mn_attribute_get(column, point, 1, &value);
    return value;
}

static void keyed_materials_act_on_liquid_that_is_there(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const mn_key keys[2] = {{1, {0.07}}, {3, {0.05}}}, thick[2] = {{1, {0.001}}, {3, {0.101}}};
    check_ok(s.ctx, mn_network_set_keys(s.network, solver, "sigma", 2, keys));
    check_ok(s.ctx, mn_network_set_keys(s.network, solver, "viscosity", 2, thick));
    check_close(number_of(stage_cook(&s, solver, 1), "sigma", 5), 0.07, 1e-6);
    check_close(number_of(stage_cook(&s, solver, 2), "sigma", 5), 0.06, 1e-6);
    check_close(number_of(stage_cook(&s, solver, 3), "sigma", 5), 0.05, 1e-6);
    check_close(number_of(stage_cook(&s, solver, 3), "viscosity", 5), 0.101, 1e-6);
    stage_close(&s);
}

static void a_material_stands_in_for_its_numbers(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    stage_set(&s, solver, "sigma", "0.1");
    stage_set(&s, solver, "material", "mercury");
    const mn_geo *geo = stage_cook(&s, solver, 1);
    check_close(stage_number(geo, "sigma", 0), 0.4855, 1e-6);
    check_close(stage_number(geo, "density", 0), 13534, 1e-2);
    check_close(stage_number(geo, "viscosity", 0), 0.001526, 1e-8);
    stage_set(&s, solver, "material", "custom");
    check_close(stage_number(stage_cook(&s, solver, 1), "sigma", 0), 0.1, 1e-6);
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_carry_every_attribute_and_move),
        cmocka_unit_test(the_surface_is_a_closed_mesh_of_the_liquids_volume),
        cmocka_unit_test(points_come_in_when_asked_for),
        cmocka_unit_test(points_with_ids_come_in_once),
        cmocka_unit_test(an_emitter_gives_its_flow_rate),
        cmocka_unit_test(what_comes_into_a_sink_is_gone),
        cmocka_unit_test(merged_sources_are_numbered_anew),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(an_empty_input_gives_empty_outputs),
        cmocka_unit_test(keyed_materials_act_on_liquid_that_is_there),
        cmocka_unit_test(a_material_stands_in_for_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
