// SPDX-License-Identifier: Apache-2.0
//
// Impacts: how high a drop bounces, how far it slides, what rides and what dies, and that nothing gets
// through.
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/painted_floor.h"

#include "base/random.h"
#include "spray/march.h"

typedef struct stage {
    mn_context *ctx;
    mn_geo *geo;
    mn_collider *collider;
    mn_spray_def def;
} stage;

static void add_solid(stage *s, mn_volume surface, mn_volume velocity)
{
    check_ok(s->ctx, analytic_add(s->geo, surface));
    if (velocity.ops) check_ok(s->ctx, analytic_add(s->geo, velocity));
}

static stage open_stage(mn_volume surface, mn_volume velocity)
{
    stage s = {.ctx = mn_context_create(NULL), .def = mn_spray_default_def()};
    s.def.drag = 0;
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.geo));
    add_solid(&s, surface, velocity);
    return s;
}

static mn_march prepare(stage *s)
{
    mn_collider_def def = mn_collider_default_def();
    def.geo = s->geo;
    if (!s->collider) check_ok(s->ctx, mn_collider_create(s->ctx, &def, &s->collider));
    const mn_solver_inputs inputs = {.collider = s->collider};
    return mn_march_prepare(&s->def, &inputs);
}

static void close_stage(stage *s)
{
    mn_collider_free(s->collider);
    mn_geo_free(s->geo);
    mn_context_free(s->ctx);
}

static const mn_volume still = {0};

static mn_drop drop_at(mn_vec3 x, mn_vec3 v)
{
    return (mn_drop){.position = x, .velocity = v, .radius = 1e-3, .mass = 4e-6, .life = -1};
}

static void a_bounce_rises_by_the_square_of_the_restitution(void **state)
{
    (void)state;
    const double g = 9.81, height = 1.0, r = 1e-3;
    for (double e = 0.2; e <= 1.0; e += 0.2) {
        stage s = open_stage(analytic_plane(0.01), still);
        s.def.restitution = e;
        const mn_march march = prepare(&s);
        mn_drop drop = drop_at(mn_v3(0, height + r, 0), mn_v3(0.3, 0, 0));
        s.def.friction = 0;
        const double fall = sqrt(2 * height / g), rise = e * fall;
        assert_true(mn_march_drop(&march, fall + rise, 0, &drop));
        // The impact is found to 1e-6 of the gap of 1e-5 m.
        check_close(drop.position.y - r, e * e * height, 1e-9);
        check_close(drop.velocity.y, 0, 1e-8);
        close_stage(&s);
    }
}

static void a_glancing_impact_rubs_by_coulombs_law(void **state)
{
    (void)state;
    stage s = open_stage(analytic_plane(0.01), still);
    s.def.gravity = mn_v3(0, 0, 0);
    s.def.restitution = 0.5;
    s.def.friction = 0.25;
    const mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_v3(0, 0.1, 0), mn_v3(3, -2, 4));
    assert_true(mn_march_drop(&march, 0.2, 0, &drop));
    // u_t = (3, 4), |u_t| = 5, loses 0.25 * 1.5 * 2 = 0.75.
    check_close(mn_distance(drop.velocity, mn_v3(3 * 0.85, 1, 4 * 0.85)), 0, 1e-12);
    // Steep enough, it loses all of it.
    drop = drop_at(mn_v3(0, 0.1, 0), mn_v3(0.3, -2, 0.4));
    assert_true(mn_march_drop(&march, 0.2, 0, &drop));
    check_close(mn_distance(drop.velocity, mn_v3(0, 1, 0)), 0, 1e-12);
    close_stage(&s);
}

static void painted_friction_comes_first(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.drag = 0, def.gravity = mn_v3(0, 0, 0), def.restitution = 0.5, def.friction = 0.25;
    painted_floor f = painted_floor_open(ctx, MN_PAINT_FRICTION, 0, -1);
    const mn_march march = mn_march_prepare(&def, &(mn_solver_inputs){.collider = f.collider});
    for (int right = 0; right < 2; right++) {
        mn_drop drop = drop_at(mn_v3(right ? 0.1 : -0.9, 0.1, 0), mn_v3(3, -2, 4));
        assert_true(mn_march_drop(&march, 0.1, 0, &drop));
        const double kept = right ? 0.85 : 1;
        check_close(mn_distance(drop.velocity, mn_v3(3 * kept, 1, 4 * kept)), 0, 1e-9);
    }
    painted_floor_close(&f);
    mn_context_free(ctx);
}

// On a slope of angle a a block slides with g (sin a - mu cos a).
static void a_drop_slides_down_a_slope(void **state)
{
    (void)state;
    const double a = 30 * 3.14159265358979323846 / 180, mu = 0.2, t = 0.5;
    const mn_vec3 normal = {sin(a), cos(a), 0};
    stage s = open_stage(analytic_half_space(mn_v3(0, 0, 0), normal, 0.01), still);
    s.def.friction = mu;
    s.def.restitution = 0.3;
    const mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_scale(1e-3, normal), mn_v3(0, 0, 0));
    assert_true(mn_march_drop(&march, t, 0, &drop));
    const double acceleration = 9.81 * (sin(a) - mu * cos(a));
    const mn_vec3 down = {cos(a), -sin(a), 0};
    check_close(mn_dot(drop.velocity, down), acceleration * t, 1e-6);
    // Positions take the arc's velocity before the rub of each stride, first order in its duration.
    check_close(mn_dot(drop.position, down), 0.5 * acceleration * t * t, 0.03 * 0.5 * acceleration * t * t);
    check_close(mn_dot(drop.position, normal), 1e-3, 1e-9);
    close_stage(&s);
}

static void a_drop_comes_to_rest_and_stays(void **state)
{
    (void)state;
    stage s = open_stage(analytic_plane(0.01), still);
    s.def.restitution = 0.6;
    const mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_v3(0, 0.3, 0), mn_v3(0.5, 0, 0));
    for (int frame = 0; frame < 96; frame++) assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
    check_close(drop.position.y, 1e-3, 1e-5);
    check_close(mn_norm(drop.velocity), 0, 1e-2);
    const mn_vec3 x = drop.position;
    for (int frame = 0; frame < 24; frame++) assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
    check_close(mn_distance(drop.position, x), 0, 1e-6);
    close_stage(&s);
}

static int questions;

static void counted_plane(const analytic_volume *v, mn_vec3 x, double *out)
{
    (void)v;
    questions++;
    out[0] = x.y;
}

static void a_drop_at_rest_sleeps_until_something_changes(void **state)
{
    (void)state;
    mn_volume plane = analytic_plane(0.01);
    ((analytic_volume *)plane.handle)->value = counted_plane;
    stage s = open_stage(plane, still);
    s.def.friction = 0.3;
    s.def.drag = 1;
    mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_v3(0, 0.1, 0), mn_v3(0.2, 0, 0));
    for (int frame = 0; frame < 72; frame++) assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
    const mn_drop asleep = drop;
    assert_true(mn_norm(drop.velocity) == 0);
    questions = 0;
    for (int frame = 0; frame < 100; frame++) assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
    assert_memory_equal(&drop, &asleep, sizeof drop);
    // The gap, and a probe of distance and gradient.
    assert_true(questions <= 10 * 100);
    // A slope less steep than the friction holds it, a steeper one does not; nor does a wind, or no ground.
    const mn_vec3 gravity[3] = {{9.81 * 0.29, -9.81, 0}, {9.81 * 0.31, -9.81, 0}, {0, 9.81, 0}};
    for (int k = 0; k < 3; k++) {
        s.def.gravity = gravity[k];
        march = prepare(&s);
        drop = asleep;
        assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
        assert_int_equal(mn_distance(drop.position, asleep.position) > 0, k > 0);
    }
    s.def.gravity = mn_v3(0, -9.81, 0);
    s.def.wind = mn_v3(20, 0, 0);
    march = prepare(&s);
    drop = asleep;
    assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
    assert_true(drop.position.x > asleep.position.x + 1e-3);
    close_stage(&s);
}

static void what_moves_wakes_a_drop(void **state)
{
    (void)state;
    stage s = open_stage(analytic_plane(0.01), still);
    // A ball comes rolling along; it is at x = 0.02 at the end of the frame.
    add_solid(&s, analytic_ball(mn_v3(0.02, 1e-3, 0), 0.02, 0.01),
              analytic_motion(mn_v3(-0.5, 0, 0), mn_v3(0, 0, 0), mn_v3(0, 0, 0)));
    const mn_march march = prepare(&s);
    mn_drop near = drop_at(mn_v3(0.005, 1e-3, 0), mn_v3(0, 0, 0)),
            far = drop_at(mn_v3(-0.3, 1e-3, 0), mn_v3(0, 0, 0));
    assert_true(mn_march_drop(&march, 1.0 / 24, 0, &near));
    assert_true(mn_march_drop(&march, 1.0 / 24, 0, &far));
    assert_true(near.velocity.x < -0.1);
    check_close(mn_distance(far.position, mn_v3(-0.3, 1e-3, 0)), 0, 1e-12);
    close_stage(&s);
}

// A shell of a hundredth of what a drop moves in the step: by its distance it is seen.
static void a_shell_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = fabs(x.y) - v->r;
}

static void nothing_gets_through_a_thin_wall(void **state)
{
    (void)state;
    const mn_volume shell = analytic_make("surface", 1, 0.002, 0.006);
    ((analytic_volume *)shell.handle)->r = 0.002;
    ((analytic_volume *)shell.handle)->value = a_shell_value;
    stage s = open_stage(shell, still);
    s.def.restitution = 1;
    s.def.gravity = mn_v3(0, 0, 0);
    const mn_march march = prepare(&s);
    for (int i = 0; i < 100; i++) {
        mn_drop drop = drop_at(mn_v3(0, 0.5 + 0.001 * i, 0), mn_v3(0, -100, 0));
        assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
        assert_true(drop.position.y > 0);
        check_close(drop.velocity.y, 100, 1e-9);
    }
    close_stage(&s);
}

static void a_moving_wall_pushes(void **state)
{
    (void)state;
    // A racket that comes up at 10 m/s; at the end of the frame it stands at y = 0.
    const double before = 1.0 / 24;
    stage s =
        open_stage(analytic_plane(0.002), analytic_motion(mn_v3(0, 10, 0), mn_v3(0, 0, 0), mn_v3(0, 0, 0)));
    s.def.gravity = mn_v3(0, 0, 0);
    s.def.restitution = 1;
    const mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_v3(0, -0.1, 0), mn_v3(0, 0, 0));
    assert_true(mn_march_drop(&march, before, 0, &drop));
    check_close(drop.velocity.y, 20, 1e-9);
    // It is met when the wall is at -0.101: 0.0101 s before the end, and flies on with 20 m/s.
    check_close(drop.position.y, -0.1 + 20 * 0.0101, 1e-8);
    close_stage(&s);
}

static void a_stuck_drop_rides(void **state)
{
    (void)state;
    const mn_vec3 center = {0, 0, 0}, angular = {0, 0, 10};
    stage s = open_stage(analytic_ball(center, 0.1, 0.005), analytic_motion(mn_v3(0, 0, 0), angular, center));
    s.def.impact = MN_IMPACT_STICK;
    s.def.gravity = mn_v3(0, 0, 0);
    const mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_v3(0.2, 0, 0), mn_v3(-5, 0, 0));
    // Flies 0.099 m, then turns with the ball.
    const double flight = 0.099 / 5, frame = 0.1;
    assert_true(mn_march_drop(&march, frame, 0, &drop));
    assert_true(drop.flags & MN_DROP_STUCK);
    const double angle = 10 * (frame - flight);
    check_close(drop.position.x, 0.101 * cos(angle), 1e-6);
    check_close(drop.position.y, 0.101 * sin(angle), 1e-6);
    check_close(mn_norm(drop.velocity), 1.01, 1e-6);
    // Without the solid it is free again.
    mn_march empty = march;
    empty.collider = NULL;
    assert_true(mn_march_drop(&empty, 0.1, 0, &drop));
    assert_false(drop.flags & MN_DROP_STUCK);
    close_stage(&s);
}

static void drops_die_where_they_should(void **state)
{
    (void)state;
    stage s = open_stage(analytic_plane(0.01), still);
    s.def.impact = MN_IMPACT_DIE;
    mn_march march = prepare(&s);
    mn_drop drop = drop_at(mn_v3(0, 0.1, 0), mn_v3(0, -5, 0));
    assert_true(mn_march_drop(&march, 0.015, 0, &drop));
    assert_false(mn_march_drop(&march, 0.015, 0, &drop));
    // Deep inside, where no way out is known, a bouncing drop is gone as well; in the band it is pushed out.
    s.def.impact = MN_IMPACT_BOUNCE;
    march = prepare(&s);
    drop = drop_at(mn_v3(0, -0.5, 0), mn_v3(0, 0, 0));
    assert_false(mn_march_drop(&march, 0.01, 0, &drop));
    drop = drop_at(mn_v3(0, -0.015, 0), mn_v3(0, 0, 0));
    assert_true(mn_march_drop(&march, 0.001, 0, &drop));
    check_close(drop.position.y, 1e-3, 1e-4);
    close_stage(&s);
}

// In a corner of three walls, at any angle, with any restitution: no drop gets out, none gains energy.
static void a_box_holds_its_drops(void **state)
{
    (void)state;
    stage s = open_stage(analytic_half_space(mn_v3(0, 0, 0), mn_v3(0, 1, 0), 0.01), still);
    add_solid(&s, analytic_half_space(mn_v3(-0.2, 0, 0), mn_v3(1, 0.3, 0), 0.01), still);
    add_solid(&s, analytic_half_space(mn_v3(0.2, 0, 0), mn_v3(-1, 0.1, 0.1), 0.01), still);
    const mn_march march = prepare(&s);
    for (int i = 0; i < 200; i++) {
        const mn_vec3 u = mn_random_unit3(3, (uint64_t)i, 0);
        mn_drop drop = drop_at(mn_v3(0.2 * u.x - 0.1, 0.05 + 0.1 * u.y, 0),
                               mn_scale(6, mn_random_direction(3, (uint64_t)i, 0)));
        double energy = 0.5 * mn_norm2(drop.velocity) + 9.81 * drop.position.y;
        for (int frame = 0; frame < 24; frame++) {
            assert_true(mn_march_drop(&march, 1.0 / 24, 0, &drop));
            const double now = 0.5 * mn_norm2(drop.velocity) + 9.81 * drop.position.y;
            // What a push out of a wall lifts: up to a tenth of the radius in each of a few strides.
            assert_true(now <= energy + 9.81 * 1e-3);
            energy = now;
            double gap;
            mn_collider_distance(s.collider, 0, 1, &drop.position, &gap);
            assert_true(gap > 0);
        }
    }
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bounce_rises_by_the_square_of_the_restitution),
        cmocka_unit_test(a_glancing_impact_rubs_by_coulombs_law),
        cmocka_unit_test(painted_friction_comes_first),
        cmocka_unit_test(a_drop_slides_down_a_slope),
        cmocka_unit_test(a_drop_comes_to_rest_and_stays),
        cmocka_unit_test(a_drop_at_rest_sleeps_until_something_changes),
        cmocka_unit_test(what_moves_wakes_a_drop),
        cmocka_unit_test(nothing_gets_through_a_thin_wall),
        cmocka_unit_test(a_moving_wall_pushes),
        cmocka_unit_test(a_stuck_drop_rides),
        cmocka_unit_test(drops_die_where_they_should),
        cmocka_unit_test(a_box_holds_its_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
