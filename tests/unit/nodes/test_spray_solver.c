// SPDX-License-Identifier: Apache-2.0
//
// spray_solver in a network: attributes in and out, moving sources, colliders, time scale, threads, and the
// sentences for what is wrong.
#include "meniscus/spray.h"
#include "support/analytic_volume.h"
#include "support/node_stage.h"

// A nozzle that travels, and a spray from it; returns the spray.
static int32_t build_fountain(node_stage *s)
{
    const int32_t nozzle = stage_node(s, "shape", "nozzle"), spray = stage_node(s, "spray_solver", "spray");
    stage_set(s, nozzle, "kind", "grid");
    const mn_key keys[] = {{1, {-0.5, 0.3, 0}}, {25, {0.5, 0.3, 0}}};
    check_ok(s->ctx, mn_network_set_keys(s->network, nozzle, "center", 2, keys));
    stage_connect(s, spray, 0, nozzle);
    stage_set(s, spray, "rate", "2400");
    stage_set(s, spray, "life", "0.6");
    return spray;
}

static void the_output_carries_every_attribute(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t spray = build_fountain(&s);
    const struct {
        const char *name;
        mn_type type;
        int32_t size;
    } rows[] = {{"P", MN_F32, 3},    {"v", MN_F32, 3},       {"id", MN_I32, 1},
                {"age", MN_F32, 1},  {"life", MN_F32, 1},    {"pscale", MN_F32, 1},
                {"mass", MN_F32, 1}, {"density", MN_F32, 1}, {"stuck", MN_I32, 1}};
    for (int frame = 1; frame <= 24; frame += 23) { // at the start frame there are no points, but attributes
        const mn_geo *geo = stage_cook(&s, spray, frame);
        assert_int_equal(mn_geo_attribute_count(geo, MN_POINT), 9);
        for (int i = 0; i < 9; i++) {
            const mn_attribute *a = mn_geo_find(geo, MN_POINT, rows[i].name);
            assert_non_null(a);
            assert_int_equal(mn_attribute_type(a), rows[i].type);
            assert_int_equal(mn_attribute_size(a), rows[i].size);
        }
    }
    const mn_geo *geo = stage_cook(&s, spray, 24);
    const int64_t count = mn_geo_point_count(geo);
    // 2400 a second for 23 frames, of which those live that are younger than 0.48 to 0.72 s.
    check_close((double)count, 2400 * 0.6, 60);
    for (int64_t i = 0; i < count; i++) {
        const double r = stage_number(geo, "pscale", i);
        check_close(stage_number(geo, "mass", i), mn_drop_mass(r, 1000), 1e-6 * mn_drop_mass(r, 1000));
        check_close(stage_number(geo, "density", i), 1000, 1e-3);
        assert_true(stage_number(geo, "age", i) < stage_number(geo, "life", i));
        assert_true(i == 0 || stage_number(geo, "id", i) > stage_number(geo, "id", i - 1));
        // The nozzle travels at 1 m/s; the air has slowed that down a little.
        assert_true(stage_vec3(geo, "v", i).x > 0.4 && stage_vec3(geo, "v", i).x < 1.4);
    }
    const mn_report *report = mn_network_report(s.network, spray);
    assert_true(report && report->set[MN_REPORT_mass] && report->set[MN_REPORT_max_speed]);
    check_close(report->value[MN_REPORT_particles][0], (double)count, 0);
    stage_close(&s);
}

// Ten times slow motion: after 240 frames what 24 frames gave, for a source that stands still.
static void slow_motion_is_the_same_motion(void **state)
{
    (void)state;
    mn_vec3 center[2];
    for (int k = 0; k < 2; k++) {
        node_stage s;
        stage_open(&s, NULL);
        const int32_t spray = build_fountain(&s);
        check_ok(s.ctx, mn_network_reset_parm(s.network, mn_network_find(s.network, "nozzle"), "center"));
        stage_set(&s, spray, "time_scale", k == 0 ? "1" : "0.1");
        stage_cook(&s, spray, k == 0 ? 25 : 241);
        const mn_report *report = mn_network_report(s.network, spray);
        center[k] = mn_v3(report->value[MN_REPORT_center][0], report->value[MN_REPORT_center][1],
                          report->value[MN_REPORT_center][2]);
        stage_close(&s);
    }
    // Arcs are cut at frames, so the tenfold steps differ by what an arc is good to.
    check_close(mn_distance(center[0], center[1]), 0, 1e-3);
}

static mn_geo *plane(mn_context *ctx, mn_vec3 velocity)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_plane(0.01)));
    if (mn_norm(velocity) > 0)
        check_ok(ctx, analytic_add(geo, analytic_motion(velocity, mn_v3(0, 0, 0), mn_v3(0, 0, 0))));
    return geo;
}

static mn_geo *one_drop(mn_context *ctx)
{
    mn_geo *geo;
    mn_attribute *v, *pscale, *life;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 1, NULL));
    mn_geo_write_positions(geo)[1] = 0.5f;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    check_ok(ctx, mn_attribute_set(geo, v, 0, 1, (const double[]){1, 0, 0}));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "pscale", MN_F64, 1, MN_HINT_NONE, &pscale));
    check_ok(ctx, mn_attribute_set(geo, pscale, 0, 1, (const double[]){0.002}));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "life", MN_I32, 1, MN_HINT_NONE, &life));
    check_ok(ctx, mn_attribute_set(geo, life, 0, 1, (const double[]){2}));
    return geo;
}

static void drops_that_come_in_meet_the_collider(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = one_drop(s.ctx);
    s.files[1] = plane(s.ctx, mn_v3(0, 0, 0));
    const int32_t drops = stage_node(&s, "file", "drops"), floor = stage_node(&s, "file", "floor"),
                  spray = stage_node(&s, "spray_solver", "spray");
    stage_set(&s, drops, "path", "a");
    stage_set(&s, floor, "path", "b");
    stage_connect(&s, spray, 1, drops);
    stage_connect(&s, spray, 2, floor);
    stage_set(&s, spray, "drag", "0");
    const mn_geo *geo = stage_cook(&s, spray, 1);
    assert_int_equal(mn_geo_point_count(geo), 1);
    check_close(stage_number(geo, "pscale", 0), 0.002, 1e-9);
    check_close(stage_number(geo, "life", 0), 2, 0);
    // It falls 0.498 m in 0.3186 s and comes back up with 0.3 of its speed.
    geo = stage_cook(&s, spray, 9);
    const double fall = sqrt(2 * 0.498 / 9.81), t = 8.0 / 24 - fall, up = 0.3 * 9.81 * fall;
    check_close(mn_geo_position(geo, 0).y, 0.002 + up * t - 0.5 * 9.81 * t * t, 1e-6);
    check_close(stage_number(geo, "age", 0), 8.0 / 24, 1e-6);
    // Past its life it is gone.
    assert_int_equal(mn_geo_point_count(stage_cook(&s, spray, 51)), 0);
    stage_set(&s, spray, "impact", "stick");
    geo = stage_cook(&s, spray, 20);
    check_close(stage_number(geo, "stuck", 0), 1, 0);
    check_close(mn_geo_position(geo, 0).y, 0.002, 1e-6);
    check_close(mn_norm(stage_vec3(geo, "v", 0)), 0, 1e-9);
    stage_set(&s, spray, "impact", "die");
    assert_int_equal(mn_geo_point_count(stage_cook(&s, spray, 20)), 0);
    stage_close(&s);
}

// A floor that rises by 0.5 m/s on screen is five times as fast for a simulation in fivefold slow motion.
static void a_moving_collider_is_faster_in_slow_motion(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = one_drop(s.ctx);
    s.files[1] = plane(s.ctx, mn_v3(0, 0.5, 0));
    const int32_t drops = stage_node(&s, "file", "drops"), floor = stage_node(&s, "file", "floor"),
                  spray = stage_node(&s, "spray_solver", "spray");
    stage_set(&s, drops, "path", "a");
    stage_set(&s, floor, "path", "b");
    stage_connect(&s, spray, 1, drops);
    stage_connect(&s, spray, 2, floor);
    stage_set(&s, spray, "impact", "stick");
    stage_set(&s, spray, "time_scale", "0.2");
    // The level set does not really move, so look right after the drop has met it, 0.32 s or 38 frames on.
    int frame = 35;
    while (frame < 45 && stage_number(stage_cook(&s, spray, frame), "stuck", 0) == 0) frame++;
    assert_true(frame < 45);
    check_close(stage_vec3(stage_cook(&s, spray, frame), "v", 0).y, 2.5, 1e-6);
    stage_close(&s);
}

static void wind_carries_small_drops(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = one_drop(s.ctx);
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[1]));
    check_ok(s.ctx,
             analytic_add(s.files[1], analytic_motion(mn_v3(0, 0, 3), mn_v3(0, 0, 0), mn_v3(0, 0, 0))));
    const int32_t drops = stage_node(&s, "file", "drops"), wind = stage_node(&s, "file", "wind"),
                  spray = stage_node(&s, "spray_solver", "spray");
    stage_set(&s, drops, "path", "a");
    stage_set(&s, wind, "path", "b");
    stage_connect(&s, spray, 1, drops);
    stage_connect(&s, spray, 3, wind);
    stage_set(&s, spray, "wind", "4 0 0");
    stage_set(&s, spray, "gravity", "0 0 0");
    stage_set(&s, spray, "drag", "1e6");
    const mn_geo *geo = stage_cook(&s, spray, 12);
    check_close(mn_distance(stage_vec3(geo, "v", 0), mn_v3(4, 0, 3)), 0, 1e-4);
    s.files[2] = plane(s.ctx, mn_v3(0, 0, 0));
    stage_set(&s, wind, "path", "c");
    check_fails(s.ctx, mn_network_cook(s.network, spray, 0, 12, &geo), MN_ERROR_INPUT,
                "no vector volume named vel");
    stage_close(&s);
}

static void threads_and_paths_to_a_frame_do_not_change_a_bit(void **state)
{
    (void)state;
    uint64_t first = 0;
    const int32_t workers[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        const mn_hooks hooks = {.max_workers = workers[k]};
        node_stage s;
        stage_open(&s, &hooks);
        const int32_t spray = build_fountain(&s);
        stage_set(&s, spray, "rate", "20000");
        // Straight there, or back and forth.
        if (k % 2 == 1) stage_cook(&s, spray, 25), stage_cook(&s, spray, 3);
        const uint64_t hash = mn_geo_hash(stage_cook(&s, spray, 20));
        if (k == 0) first = hash;
        assert_true(hash == first);
        stage_close(&s);
    }
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t spray = stage_node(&s, "spray_solver", "spray"), file = stage_node(&s, "file", "file1");
    const mn_geo *geo;
    check_fails(s.ctx, mn_network_cook(s.network, spray, 0, 1, &geo), MN_ERROR_INPUT,
                "spray_solver 'spray': nothing to fly");
    s.files[0] = one_drop(s.ctx);
    mn_geo_write_positions(s.files[0])[2] = NAN;
    stage_set(&s, file, "path", "a");
    stage_connect(&s, spray, 0, file);
    check_fails(s.ctx, mn_network_cook(s.network, spray, 0, 2, &geo), MN_ERROR_INPUT,
                "Point 0 of the source");
    s.files[1] = one_drop(s.ctx);
    stage_set(&s, file, "path", "b");
    stage_connect(&s, spray, 2, file);
    check_fails(s.ctx, mn_network_cook(s.network, spray, 0, 2, &geo), MN_ERROR_INPUT, "holds no level set");
    stage_connect(&s, spray, 2, -1);
    stage_set(&s, spray, "rate", "1e12");
    check_fails(s.ctx, mn_network_cook(s.network, spray, 0, 2, &geo), MN_ERROR_ARGUMENT, "max_drops allows");
    // A source without points, a time scale of 0 and one of 1000 are nothing special.
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[2]));
    stage_set(&s, file, "path", "c");
    assert_int_equal(mn_geo_point_count(stage_cook(&s, spray, 10)), 0);
    stage_set(&s, file, "path", "b");
    stage_set(&s, spray, "rate", "100");
    stage_set(&s, spray, "time_scale", "0");
    assert_int_equal(mn_geo_point_count(stage_cook(&s, spray, 10)), 0);
    stage_set(&s, spray, "time_scale", "1000");
    assert_true(mn_geo_point_count(stage_cook(&s, spray, 10)) > 30000);
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_carries_every_attribute),
        cmocka_unit_test(slow_motion_is_the_same_motion),
        cmocka_unit_test(drops_that_come_in_meet_the_collider),
        cmocka_unit_test(a_moving_collider_is_faster_in_slow_motion),
        cmocka_unit_test(wind_carries_small_drops),
        cmocka_unit_test(threads_and_paths_to_a_frame_do_not_change_a_bit),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
