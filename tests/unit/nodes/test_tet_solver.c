// SPDX-License-Identifier: Apache-2.0
//
// tet_solver in a network: attributes in and out, its outputs, and the sentences for what is wrong.
#include "meniscus/report.h"
#include "meniscus/tetmesh.h"
#include "mesh/polygon_checks.h"
#include "support/node_stage.h"
#include "support/tet_shapes.h"
#include "tetmesh/geo.h"

static const mn_hooks calm = {.max_workers = 1};

// A ball of tetrahedra of 2 mm across, moving along x.
static mn_geo *make_ball(mn_context *ctx)
{
    mn_tet_mesh *mesh = tet_ball(ctx, 4);
    mn_tet_field *v;
    mn_geo *geo;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        mn_tet_mesh_move_vertex(mesh, i, mn_scale(2e-3, mesh->position[i]));
        v->data[3 * i] = 0.1;
    }
    check_ok(ctx, mn_tet_mesh_to_geo(mesh, NULL, &geo));
    mn_tet_mesh_free(mesh);
    return geo;
}

static int32_t build_drop(node_stage *s)
{
    s->files[0] = make_ball(s->ctx);
    const int32_t file = stage_node(s, "file", "ball"), solver = stage_node(s, "tet_solver", "drop");
    stage_set(s, file, "path", "a");
    stage_connect(s, solver, 0, file);
    stage_set(s, solver, "gravity", "0 0 0");
    stage_set(s, solver, "time_scale", "0.01");
    return solver;
}

static void tetrahedra_carry_every_attribute_and_move(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    double volume = 0;
    for (int frame = 1; frame <= 2; frame++) {
        const mn_geo *geo = stage_cook(&s, solver, frame);
        assert_true(mn_geo_kind_count(geo, MN_TETRAHEDRON) > 100);
        assert_int_equal(mn_geo_kind_count(geo, MN_TETRAHEDRON), mn_geo_primitive_count(geo));
        assert_non_null(mn_geo_find_numeric(geo, MN_POINT, "v", 3));
        assert_non_null(mn_geo_find_numeric(geo, MN_POINT, "pressure", 1));
        assert_non_null(mn_geo_find_numeric(geo, MN_POINT, "id", 1));
        assert_int_equal(mn_geo_attribute_count(geo, MN_POINT), 4); // nothing of the solver's own
        const mn_attribute *rest = mn_geo_find_numeric(geo, MN_PRIMITIVE, "rest_volume", 1);
        assert_non_null(rest);
        double sum = 0;
        for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
            double value;
            mn_attribute_get(rest, i, 1, &value);
            sum += value;
        }
        if (frame == 1) volume = sum;
        check_close(sum, volume, 1e-12 * volume);
    }
    const mn_report *report = mn_network_report(s.network, solver);
    assert_true(report && report->set[MN_REPORT_surface_energy]);
    // 0.1 m/s for 1/24 s, a hundred times slow; the input's velocities are floats.
    check_close(report->value[MN_REPORT_center][0], 0.1 * 0.01 / 24, 1e-9);
    check_close(report->value[MN_REPORT_volume][0], volume, 1e-7 * volume);
    stage_close(&s);
}

static void the_surface_is_closed_and_its_normals_point_out(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const mn_geo *surface = NULL, *tets = stage_cook(&s, solver, 2);
    check_ok(s.ctx, mn_network_cook(s.network, solver, 1, 2, &surface));
    int64_t open;
    check_ok(s.ctx, mn_polygons_open_edges(surface, &open, NULL));
    assert_int_equal(open, 0);
    assert_true(mn_geo_point_count(surface) < mn_geo_point_count(tets));
    const mn_report *report = mn_network_report(s.network, solver);
    const mn_vec3 center = mn_v3(report->value[MN_REPORT_center][0], 0, 0);
    for (int64_t i = 0; i < mn_geo_point_count(surface); i++) {
        const mn_vec3 n = stage_vec3(surface, "N", i), x = mn_sub(stage_vec3(surface, "P", i), center);
        check_close(mn_norm(n), 1, 1e-6);
        assert_true(mn_dot(n, mn_normalize(x)) > 0.8);
    }
    stage_close(&s);
}

// The numbers of the tetrahedra of a ball within a part of its radius.
static void list_core(const mn_geo *ball, char *names, size_t room)
{
    const int64_t *starts = mn_geo_primitive_starts(ball), *points = mn_geo_vertex_points(ball);
    size_t used = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(ball); p++) {
        mn_vec3 centre = {0};
        for (int k = 0; k < 4; k++)
            centre = mn_axpy(centre, 0.25, mn_geo_position(ball, points[starts[p] + k]));
        if (mn_norm(centre) > 0.6e-3) continue;
        used += (size_t)snprintf(names + used, room - used, "%lld ", (long long)p);
        assert_true(used < room);
    }
}

static void a_solid_in_liquid_shows_its_surface(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s);
    const int32_t water = stage_node(&s, "tet_material", "water"),
                  core = stage_node(&s, "tet_material", "core"); // build_drop's file is the first node
    char names[8192];
    list_core(s.files[0], names, sizeof names);
    stage_connect(&s, water, 0, 0);
    stage_connect(&s, core, 0, water);
    stage_connect(&s, solver, 0, core);
    stage_set(&s, water, "preset", "water");
    stage_set(&s, core, "preset", "jelly");
    stage_set(&s, core, "group", names);
    int64_t faces[4] = {0}, open;
    for (int32_t output = 1; output < 4; output++) {
        const mn_geo *surface = NULL;
        check_ok(s.ctx, mn_network_cook(s.network, solver, output, 2, &surface));
        faces[output] = mn_geo_primitive_count(surface);
        check_ok(s.ctx, mn_polygons_open_edges(surface, &open, NULL));
        assert_int_equal(open, 0);
    }
    // The solid is all inside: the surface is the liquid's.
    assert_true(faces[2] > 20 && faces[2] < faces[1]);
    assert_int_equal(faces[3], faces[1]);
    stage_close(&s);
}

static void going_back_and_forth_gives_the_same(void **state)
{
    (void)state;
    uint64_t expected = 0;
    for (int run = 0; run < 2; run++) {
        node_stage s;
        stage_open(&s, &calm);
        const int32_t solver = build_drop(&s);
        // Going back to the start and forward again, or straight on.
        if (run == 1) stage_cook(&s, solver, 2), stage_cook(&s, solver, 1);
        const uint64_t hash = mn_geo_hash(stage_cook(&s, solver, 3));
        if (run == 0) expected = hash;
        assert_true(hash == expected);
        stage_close(&s);
    }
}

/// What comes out of an emitter alone in the second frame, kg; its points have a velocity, or the node.
static double mass_from_mouth(bool with_velocity)
{
    node_stage s;
    stage_open(&s, &calm);
    mn_tet_mesh *mouth = tet_block(s.ctx, 3);
    mn_tet_field *v;
    if (with_velocity) check_ok(s.ctx, mn_tet_mesh_add_field(mouth, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mouth->vertex_slots; i++) {
        mn_tet_mesh_move_vertex(mouth, i, mn_scale(2e-3, mouth->position[i]));
        if (with_velocity) v->data[3 * i + 1] = -1;
    }
    check_ok(s.ctx, mn_tet_mesh_to_geo(mouth, NULL, &s.files[0]));
    mn_tet_mesh_free(mouth);
    const int32_t file = stage_node(&s, "file", "mouth"), solver = stage_node(&s, "tet_solver", "stream");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, solver, 2, file);
    stage_set(&s, solver, "gravity", "0 0 0");
    stage_set(&s, solver, "time_scale", "0.1");
    stage_set(&s, solver, "flow_rate", "2e-6");
    if (!with_velocity) stage_set(&s, solver, "inflow_velocity", "0 -3 0");
    double mass[3] = {0};
    for (int frame = 1; frame <= 2; frame++) {
        stage_cook(&s, solver, frame);
        mass[frame] = mn_network_report(s.network, solver)->value[MN_REPORT_mass][0];
    }
    stage_close(&s);
    return mass[2] - mass[1];
}

/// Liquid that comes out of an emitter alone, at the flow rate; a mouth that is not flat is named.
static void an_emitter_gives_its_flow_rate(void **state)
{
    (void)state;
    node_stage s;
    const mn_geo *geo;
    // A tenth of 1/24 s; layers are one edge of 0.84 mm long.
    const double due = 2e-6 * 0.1 / 24, came = mass_from_mouth(true) / 1000;
    assert_true(came <= due * (1 + 1e-6) && came > due - 0.9e-3 * 4e-6);
    check_close(mass_from_mouth(false) / 1000, came, 1e-12 * came);
    stage_open(&s, &calm);
    s.files[0] = make_ball(s.ctx);
    const int32_t ball = stage_node(&s, "file", "ball"), round = stage_node(&s, "tet_solver", "stream");
    stage_set(&s, ball, "path", "a");
    stage_connect(&s, round, 2, ball);
    stage_cook(&s, round, 1);
    check_fails(s.ctx, mn_network_cook(s.network, round, 0, 2, &geo), MN_ERROR_INPUT, "flat end");
    stage_close(&s);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    node_stage s;
    const mn_geo *geo;
    stage_open(&s, &calm);
    const int32_t solver = build_drop(&s), box = stage_node(&s, "shape", "box");
    stage_connect(&s, solver, 0, box);
    check_fails(s.ctx, mn_network_cook(s.network, solver, 0, 1, &geo), MN_ERROR_INPUT,
                "tetrahedralize first");
    stage_close(&s);
    stage_open(&s, &calm);
    const int32_t limits = build_drop(&s);
    stage_set(&s, limits, "min_size", "0.001");
    stage_set(&s, limits, "max_size", "0.002");
    check_fails(s.ctx, mn_network_cook(s.network, limits, 0, 1, &geo), MN_ERROR_ARGUMENT, "2.5 times");
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tetrahedra_carry_every_attribute_and_move),
        cmocka_unit_test(the_surface_is_closed_and_its_normals_point_out),
        cmocka_unit_test(a_solid_in_liquid_shows_its_surface),
        cmocka_unit_test(going_back_and_forth_gives_the_same),
        cmocka_unit_test(an_emitter_gives_its_flow_rate),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
