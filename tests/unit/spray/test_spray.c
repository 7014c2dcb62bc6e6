// SPDX-License-Identifier: Apache-2.0
//
// The spray as a whole: births, conservation and the same bits whatever the threads.
#include "base/random.h"
#include "spray_stage.h"
#include "support/thread_scheduler.h"

// ---- births ----

static void births_follow_the_rate(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = shower();
    def.life = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    nozzle n;
    for (int frame = 1; frame <= 48; frame++) {
        // The rate rises from frame to frame; births keep to its integral, to one drop.
        def.rate = 100.0 * frame;
        check_ok(ctx, mn_spray_set_def(spray, &def));
        const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, frame)};
        check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
        int64_t count;
        const mn_drop *drops = mn_spray_drops(spray, &count);
        check_close((double)count, 100.0 * frame * (frame + 1) / 2 * frame_time, 1.0);
        for (int64_t i = 0; i < count; i++) {
            assert_int_equal(drops[i].id, i);
            assert_true(drops[i].age >= 0 && (i == 0 || drops[i].age <= drops[i - 1].age));
        }
    }
    mn_spray_free(spray);
    mn_context_free(ctx);
}

// A point that runs along x at 24 m/s and drops beads at rest: they lie on its path, evenly but for the
// jitter of a birth, not in heaps at the frames.
static void a_fast_source_leaves_a_trail_without_gaps(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.rate = 2400;
    def.speed = 0;
    def.inherit_velocity = 0;
    def.gravity = mn_v3(0, 0, 0);
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_vec3 x = {0, 0, 0};
    const mn_emitter source = {.point_count = 1, .positions = &x};
    check_ok(ctx, mn_spray_set_source(spray, &source));
    for (int frame = 1; frame <= 4; frame++) {
        x.x = frame;
        const mn_solver_inputs inputs = {.emitter = &source};
        check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    }
    int64_t count;
    const mn_drop *drops = mn_spray_drops(spray, &count);
    check_close((double)count, 400, 1);
    for (int64_t i = 0; i < count; i++) {
        check_close(drops[i].position.x, ((double)i + 0.5) / 100, 0.5 / 100 + 1e-12);
        check_close(drops[i].position.x, 4 - 24 * drops[i].age, 1e-12);
        assert_true(mn_norm(drops[i].velocity) == 0);
    }
    mn_spray_free(spray);
    mn_context_free(ctx);
}

static void drops_inherit_the_motion_of_their_source(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.speed = 2, def.speed_variation = 0, def.spread = 0;
    def.inherit_velocity = 0.5;
    def.drag = 0;
    def.gravity = mn_v3(0, 0, 0);
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_vec3 x = {0, 0, 0};
    const mn_vec3 v = {0, 0, 3};
    mn_emitter source = {.point_count = 1, .positions = &x};
    check_ok(ctx, mn_spray_set_source(spray, &source));
    x.x = 1; // 24 m/s
    const mn_solver_inputs inputs = {.emitter = &source};
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    int64_t count, before;
    const mn_drop *drops = mn_spray_drops(spray, &before);
    for (int64_t i = 0; i < before; i++)
        check_close(mn_distance(drops[i].velocity, mn_v3(12, 2, 0)), 0, 1e-12);
    // A velocity of its own goes before the motion.
    source.velocities = &v;
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    drops = mn_spray_drops(spray, &count);
    assert_true(count > before);
    for (int64_t i = before; i < count; i++)
        check_close(mn_distance(drops[i].velocity, mn_v3(0, 2, 1.5)), 0, 1e-12);
    mn_spray_free(spray);
    mn_context_free(ctx);
}

// Shares of births on two triangles go by area; directions fill the cone and no more, radii their range.
static void births_are_spread_as_asked(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = shower();
    def.rate = 24 * 40000;
    def.life = 0;
    def.drag = 0;
    def.gravity = mn_v3(0, 0, 0);
    def.speed_variation = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    // Both face y; the second has three times the area.
    const mn_vec3 x[6] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {10, 0, 0}, {10, 0, 3}, {11, 0, 0}};
    const int64_t triangles[2][3] = {{0, 1, 2}, {3, 4, 5}};
    const mn_emitter source = {.point_count = 6, .positions = x, .triangle_count = 2, .triangles = triangles};
    const mn_solver_inputs inputs = {.emitter = &source};
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    int64_t count, second = 0;
    const mn_drop *drops = mn_spray_drops(spray, &count);
    double cosine = 0, radius = 0;
    const double edge = cos(20 * 3.14159265358979323846 / 180);
    for (int64_t i = 0; i < count; i++) {
        const double c = drops[i].velocity.y / mn_norm(drops[i].velocity);
        assert_true(c >= edge - 1e-12);
        assert_true(drops[i].radius >= 0.5e-3 && drops[i].radius <= 1.5e-3);
        check_close(drops[i].mass, 1000 * 4.0 / 3 * 3.14159265358979323846 * pow(drops[i].radius, 3), 1e-18);
        cosine += c, radius += drops[i].radius;
        second += drops[i].position.x > 5;
    }
    // Four standard deviations of a mean of 40000.
    const double n = (double)count, four = 4 / sqrt(n);
    check_close((double)second / n, 0.75, four * sqrt(0.75 * 0.25));
    check_close(cosine / n, 0.5 * (1 + edge), four * (1 - edge) / sqrt(12));
    check_close(radius / n, 1e-3, four * 1e-3 / sqrt(12));
    mn_spray_free(spray);
    mn_context_free(ctx);
}

// ---- the whole ----

// In vacuum momentum grows by m g t and the centre falls by the parabola; with drag the same in free fall is
// slower.
static void momentum_and_energy_are_those_of_the_forces(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.drag = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_drop drops[1000];
    memset(drops, 0, sizeof drops);
    for (int i = 0; i < 1000; i++) {
        drops[i].position = mn_random_unit3(1, (uint64_t)i, 0);
        drops[i].velocity = mn_random_direction(1, (uint64_t)i, 1);
        drops[i].radius = 1e-3;
        drops[i].mass = 1e-6 * (1 + i % 7);
        drops[i].life = -1;
    }
    check_ok(ctx, mn_spray_add(spray, 1000, drops));
    mn_report first = {0}, last = {0};
    mn_spray_report(spray, &first);
    const mn_solver_inputs none = {0};
    for (int frame = 0; frame < 24; frame++) check_ok(ctx, mn_spray_advance(spray, &none, frame_time));
    mn_spray_report(spray, &last);
    const double mass = first.value[MN_REPORT_mass][0];
    check_close(last.value[MN_REPORT_mass][0], mass, 0);
    for (int k = 0; k < 3; k++) {
        const double force = k == 1 ? -9.81 * mass : 0;
        check_close(last.value[MN_REPORT_momentum][k], first.value[MN_REPORT_momentum][k] + force, 1e-13);
        const double fall = k == 1 ? -0.5 * 9.81 : 0;
        check_close(last.value[MN_REPORT_center][k],
                    first.value[MN_REPORT_center][k] + first.value[MN_REPORT_momentum][k] / mass + fall,
                    1e-12);
    }
    const double drop_height = first.value[MN_REPORT_center][1] - last.value[MN_REPORT_center][1];
    check_close(last.value[MN_REPORT_kinetic_energy][0] - first.value[MN_REPORT_kinetic_energy][0],
                mass * 9.81 * drop_height, 1e-12);
    mn_spray_free(spray);
    mn_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    uint64_t hash[6];
    const int32_t workers[6] = {1, 2, 3, 8, 2, 5};
    for (int i = 0; i < 6; i++) {
        const mn_scheduler threads = mn_thread_scheduler(&workers[i]);
        mn_hooks hooks = {.max_workers = workers[i], .scheduler = i < 4 ? NULL : &threads};
        mn_context *ctx = mn_context_create(&hooks);
        mn_geo *geo;
        mn_collider *collider = floor_collider(ctx, &geo);
        mn_spray *spray = run(ctx, collider, 0, 24, NULL);
        hash[i] = hash_of(spray);
        int64_t count;
        mn_spray_drops(spray, &count);
        assert_true(count > 1500);
        assert_true(hash[i] == hash[0]);
        mn_spray_free(spray);
        mn_collider_free(collider);
        mn_geo_free(geo);
        mn_context_free(ctx);
    }
}

static void more_substeps_give_the_same_births(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray *spray[2];
    for (int k = 0; k < 2; k++) {
        mn_spray_def def = shower();
        def.min_substeps = k == 0 ? 1 : 7;
        def.drag = 0;
        check_ok(ctx, mn_spray_create(ctx, &def, &spray[k]));
        nozzle n;
        check_ok(ctx, mn_spray_set_source(spray[k], nozzle_at(&n, 0)));
        for (int frame = 1; frame <= 8; frame++) {
            const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, frame)};
            check_ok(ctx, mn_spray_advance(spray[k], &inputs, frame_time));
        }
    }
    int64_t a_count, b_count;
    const mn_drop *a = mn_spray_drops(spray[0], &a_count), *b = mn_spray_drops(spray[1], &b_count);
    assert_int_equal(a_count, b_count);
    for (int64_t i = 0; i < a_count; i++) {
        assert_int_equal(a[i].id, b[i].id);
        check_close(mn_distance(a[i].position, b[i].position), 0, 1e-12);
    }
    mn_spray_free(spray[0]);
    mn_spray_free(spray[1]);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(births_follow_the_rate),
        cmocka_unit_test(a_fast_source_leaves_a_trail_without_gaps),
        cmocka_unit_test(drops_inherit_the_motion_of_their_source),
        cmocka_unit_test(births_are_spread_as_asked),
        cmocka_unit_test(momentum_and_energy_are_those_of_the_forces),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(more_substeps_give_the_same_births),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
