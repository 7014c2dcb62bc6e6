// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver with input that is wrong, extreme or nothing at all: a sane result or a sentence, and never a
// wait without end.
#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "meniscus/vec.h"
#include "support/node_stage.h"

static const mn_hooks calm = {.max_workers = 1};

// A ball of lattice points, eight to a cell of 1 mm, with mass and sigma to spoil.
static mn_geo *make_ball(mn_context *ctx, double radius, mn_vec3 centre)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    const double h = 0.5e-3;
    const int reach = (int)(radius / h) + 1;
    for (int i = -reach; i < reach; i++)
        for (int j = -reach; j < reach; j++)
            for (int k = -reach; k < reach; k++) {
                const mn_vec3 x = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(x) > radius) continue;
                int64_t point;
                check_ok(ctx, mn_geo_add_points(geo, 1, &point));
                float *p = mn_geo_write_positions(geo) + 3 * point;
                p[0] = (float)(x.x + centre.x), p[1] = (float)(x.y + centre.y),
                p[2] = (float)(x.z + centre.z);
            }
    return geo;
}

static float *add_column(mn_context *ctx, mn_geo *geo, const char *name, int32_t size, float value)
{
    mn_attribute *column;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, name, MN_F32, size, MN_HINT_NONE, &column));
    float *values = mn_attribute_write(geo, column);
    for (int64_t i = 0; i < size * mn_geo_point_count(geo); i++) values[i] = value;
    return values;
}

// File a into a solver of 1 mm without gravity.
static int32_t build(node_stage *s, const mn_hooks *hooks, double radius)
{
    stage_open(s, hooks);
    s->files[0] = make_ball(s->ctx, radius, mn_v3(0, 0, 0));
    const int32_t file = stage_node(s, "file", "ball"), solver = stage_node(s, "mpm_solver", "drop");
    stage_set(s, file, "path", "a");
    stage_connect(s, solver, 0, file);
    stage_set(s, solver, "gravity", "0 0 0");
    stage_set(s, solver, "time_scale", "0.1");
    return solver;
}

// Frames up to the third cook, or say why not; what moves, moves at less than `speed`.
static void check_sane(node_stage *s, int32_t solver, double speed)
{
    const mn_geo *geo = stage_cook(s, solver, 3);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const mn_vec3 v = stage_vec3(geo, "v", i);
        assert_true(mn_is_finite3(v) && mn_is_finite3(mn_geo_position(geo, i)));
        assert_true(mn_norm(v) < speed);
    }
}

static void values_that_cannot_be_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t size;
        float good, bad;
    } cases[] = {{"mass", 1, 1e-7f, 0},         {"mass", 1, 1e-7f, -1},
                 {"mass", 1, 1e-7f, NAN},       {"density", 1, 1000, 0},
                 {"density", 1, 1000, NAN},     {"sigma", 1, 0.07f, -1},
                 {"sigma", 1, 0.07f, INFINITY}, {"viscosity", 1, 0, -1},
                 {"viscosity", 1, 0, NAN},      {"v", 3, 0, NAN}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        node_stage s;
        const int32_t solver = build(&s, &calm, 2e-3);
        add_column(s.ctx, s.files[0], cases[k].name, cases[k].size, cases[k].good)[7] = cases[k].bad;
        const mn_geo *geo = NULL;
        check_fails(s.ctx, mn_network_cook(s.network, solver, 0, 1, &geo), MN_ERROR_INPUT, cases[k].name);
        stage_close(&s);
    }
    node_stage s;
    const int32_t solver = build(&s, &calm, 2e-3);
    mn_geo_write_positions(s.files[0])[4] = NAN;
    const mn_geo *geo = NULL;
    check_fails(s.ctx, mn_network_cook(s.network, solver, 0, 1, &geo), MN_ERROR_INPUT, "position");
    stage_close(&s);
}

static void one_particle_falls(void **state)
{
    (void)state;
    node_stage s;
    const int32_t solver = build(&s, &calm, 0);
    assert_int_equal(mn_geo_point_count(s.files[0]), 0);
    check_ok(s.ctx, mn_geo_add_points(s.files[0], 1, NULL));
    stage_set(&s, solver, "gravity", "0 -9.81 0");
    const mn_geo *geo = stage_cook(&s, solver, 3);
    assert_int_equal(mn_geo_point_count(geo), 1);
    const double t = 2 * 0.1 / 24;
    check_close(stage_vec3(geo, "v", 0).y, -9.81 * t, 1e-6);
    stage_close(&s);
}

static void a_grid_too_coarse_is_said_and_runs(void **state)
{
    (void)state;
    node_stage s;
    const int32_t solver = build(&s, &calm, 2e-3);
    stage_set(&s, solver, "dx", "0.01");
    check_sane(&s, solver, 1);
    assert_true(mn_network_warning_count(s.network, solver) > 0);
    assert_non_null(strstr(mn_network_warning(s.network, solver, 0), "dx below"));
    stage_close(&s);
}

static void sources_that_overlap_are_said_and_stay_together(void **state)
{
    (void)state;
    node_stage s;
    const int32_t solver = build(&s, &calm, 3e-3), merge = stage_node(&s, "merge", "twice");
    const int32_t file = mn_network_find(s.network, "ball");
    stage_connect(&s, merge, 0, file);
    stage_connect(&s, merge, 1, file);
    stage_connect(&s, solver, 0, merge);
    // Capillary waves of this drop run at 0.15 m/s.
    check_sane(&s, solver, 1);
    bool said = false;
    for (int32_t i = 0; i < mn_network_warning_count(s.network, solver); i++)
        said = said || strstr(mn_network_warning(s.network, solver, i), "overlap");
    assert_true(said);
    stage_close(&s);
}

static void tension_of_nothing_and_of_a_million(void **state)
{
    (void)state;
    node_stage s;
    int32_t solver = build(&s, &calm, 2e-3);
    stage_set(&s, solver, "sigma", "0");
    check_sane(&s, solver, 1e-9);
    // A million newton a metre swings in a microsecond: two frames at once are refused with their number of
    // steps.
    stage_set(&s, solver, "sigma", "1e6");
    stage_set(&s, solver, "time_scale", "2");
    const mn_geo *geo = NULL;
    check_fails(s.ctx, mn_network_cook(s.network, solver, 0, 2, &geo), MN_ERROR_DIVERGED, "steps");
    // With less to do it can be run.
    stage_set(&s, solver, "time_scale", "1e-5");
    const mn_geo *done = stage_cook(&s, solver, 2);
    assert_int_equal(mn_geo_point_count(done), mn_geo_point_count(s.files[0]));
    stage_close(&s);
}

// A frame that takes long is said at the first frame, before anybody waits for it; and a quick one is not.
static void many_steps_are_said_at_the_first_frame(void **state)
{
    (void)state;
    node_stage s;
    const int32_t solver = build(&s, &calm, 2e-3);
    for (int k = 0; k < 2; k++) {
        stage_set(&s, solver, "sigma", k ? "1e6" : "0.072");
        stage_cook(&s, solver, 1);
        bool said = false;
        for (int32_t i = 0; i < mn_network_warning_count(s.network, solver); i++)
            said = said || strstr(mn_network_warning(s.network, solver, i), "steps");
        assert_int_equal(said, k);
    }
    stage_close(&s);
}

static void a_million_seconds_in_a_frame_are_refused_at_once(void **state)
{
    (void)state;
    node_stage s;
    const int32_t solver = build(&s, &calm, 2e-3);
    stage_set(&s, solver, "time_scale", "1000");
    mn_network_set_fps(s.network, 1e-3);
    const mn_geo *geo = NULL;
    check_fails(s.ctx, mn_network_cook(s.network, solver, 0, 2, &geo), MN_ERROR_DIVERGED, "max_substeps");
    stage_close(&s);
}

static void all_may_leave_and_frames_go_on(void **state)
{
    (void)state;
    node_stage s;
    const int32_t solver = build(&s, &calm, 2e-3);
    float *v = add_column(s.ctx, s.files[0], "v", 3, 0);
    for (int64_t i = 0; i < mn_geo_point_count(s.files[0]); i++) v[3 * i] = 5;
    stage_set(&s, solver, "use_domain", "1");
    stage_set(&s, solver, "domain_size", "0.02 0.02 0.02");
    stage_set(&s, solver, "boundary", "sink");
    assert_true(mn_geo_point_count(stage_cook(&s, solver, 1)) > 0);
    for (int frame = 2; frame <= 4; frame++)
        assert_int_equal(mn_geo_point_count(stage_cook(&s, solver, frame)), 0);
    const mn_geo *mesh = NULL;
    check_ok(s.ctx, mn_network_cook(s.network, solver, 1, 4, &mesh));
    assert_int_equal(mn_geo_point_count(mesh), 0);
    stage_close(&s);
}

static int32_t asked;
static bool cancel_after_a_while(void *user)
{
    (void)user;
    return ++asked > 200;
}

static void a_long_frame_can_be_cancelled(void **state)
{
    (void)state;
    node_stage s;
    const mn_hooks hooks = {.max_workers = 1, .cancelled = cancel_after_a_while};
    asked = -1000000;
    const int32_t solver = build(&s, &hooks, 2e-3);
    stage_cook(&s, solver, 1);
    stage_set(&s, solver, "time_scale", "10"); // thousands of steps
    asked = 0;
    const mn_geo *geo = NULL;
    assert_int_equal(mn_network_cook(s.network, solver, 0, 2, &geo), MN_ERROR_CANCELLED);
    stage_close(&s);
}

// A plate under the drop that was not there a frame ago, and liquid that begins inside it.
static void colliders_may_jump_and_hold_liquid(void **state)
{
    (void)state;
    const mn_key jump[2] = {{1, {0, -0.023, 0}}, {2, {0, -0.003, 0}}};
    for (int k = 0; k < 2; k++) {
        node_stage s;
        const int32_t solver = build(&s, &calm, 2e-3);
        const int32_t box = stage_node(&s, "shape", "box"), solid = stage_node(&s, "collider", "solid");
        stage_set(&s, box, "kind", "box");
        stage_set(&s, box, "size", "0.02 0.004 0.02");
        if (k == 0)
            stage_set(&s, box, "center", "0 -0.002 0"); // the lower half of the drop
        else
            check_ok(s.ctx, mn_network_set_keys(s.network, box, "center", 2, jump));
        stage_set(&s, solid, "dx", "0.001");
        stage_connect(&s, solid, 0, box);
        stage_connect(&s, solver, 1, solid);
        stage_set(&s, solver, "time_scale", "1");
        // Five times its thickness in a frame is 0.5 m/s: nothing may be thrown much faster than twice that.
        check_sane(&s, solver, 2);
        stage_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_cannot_be_are_named),
        cmocka_unit_test(one_particle_falls),
        cmocka_unit_test(a_grid_too_coarse_is_said_and_runs),
        cmocka_unit_test(sources_that_overlap_are_said_and_stay_together),
        cmocka_unit_test(tension_of_nothing_and_of_a_million),
        cmocka_unit_test(many_steps_are_said_at_the_first_frame),
        cmocka_unit_test(a_million_seconds_in_a_frame_are_refused_at_once),
        cmocka_unit_test(all_may_leave_and_frames_go_on),
        cmocka_unit_test(a_long_frame_can_be_cancelled),
        cmocka_unit_test(colliders_may_jump_and_hold_liquid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
