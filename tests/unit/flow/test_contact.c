// SPDX-License-Identifier: Apache-2.0
//
// Contact angles: a surface that meets a solid or a side of the box at its angle stays, one that does not
// moves the way it should; sides that the surface does not meet leave it alone; a force volume acts.
#include "support/check.h"

#include "meniscus/flow.h"
#include "support/analytic_volume.h"

static const double dx = 0.0005;

static mn_flow_def dish(double level)
{
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = dx, def.density = 1000, def.sigma = 0.072;
    def.domain_size = mn_v3(24 * dx, 20 * dx, dx), def.domain_center = mn_v3(12 * dx, 10 * dx, 0.5 * dx);
    def.level = level, def.gravity = mn_v3(0, 0, 0);
    return def;
}

// Within six cells of the middle: away from the sides of the box, which have the same angle.
static double fastest(const mn_flow *flow)
{
    double most = 0;
    for (int32_t i = 12; i < 36; i++)
        for (int32_t j = 1; j < 40; j++) {
            const mn_vec3 x = mn_v3(0.5 * i * dx, 0.5 * j * dx, 0.5 * dx);
            if (mn_flow_distance_at(flow, x) < 0) most = fmax(most, mn_norm(mn_flow_velocity_at(flow, x)));
        }
    return most;
}

// Height of the water at x, from below.
static double height(const mn_flow *flow, double x)
{
    double low = 2 * dx, high = 19 * dx;
    for (int32_t k = 0; k < 40; k++) {
        const double middle = 0.5 * (low + high);
        if (mn_flow_distance_at(flow, mn_v3(x, middle, 0.5 * dx)) < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Flat water that meets a ball of radius R at h above its centre does so at acos(h / R) through the water.
static double speed_at_ball(double angle)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = NULL;
    mn_collider *collider = NULL;
    mn_flow *flow = NULL;
    const double radius = 6 * dx, centre = 8 * dx;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    mn_volume ball = analytic_ball(mn_v3(12 * dx, centre, 0.5 * dx), radius, dx);
    check_ok(ctx, mn_geo_add_volume(geo, ball, -1, NULL));
    mn_volume_release(&ball);
    mn_collider_def solid = mn_collider_default_def();
    solid.geo = geo;
    check_ok(ctx, mn_collider_create(ctx, &solid, &collider));
    const mn_solver_inputs inputs = {.collider = collider};
    mn_flow_def def = dish(centre + 0.5 * radius);
    def.contact_angle = angle;
    check_ok(ctx, mn_flow_create(ctx, &def, &inputs, &flow));
    for (int32_t k = 0; k < 4; k++) check_ok(ctx, mn_flow_advance(flow, &inputs, 2e-4));
    const double speed = fastest(flow);
    mn_flow_free(flow);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
    return speed;
}

static void water_that_meets_a_ball_at_its_angle_stays(void **state)
{
    (void)state;
    const double right = speed_at_ball(60), upright = speed_at_ball(90), wrong = speed_at_ball(120);
    assert_true(right < 0.25 * upright);
    assert_true(upright < wrong);
}

// 2 sigma cos(angle) / width is the pressure that a plate of liquid between walls takes off: it rises at
// them.
static void water_rises_at_wetting_walls_and_sinks_at_others(void **state)
{
    (void)state;
    for (int32_t wets = 0; wets < 2; wets++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_flow_def def = dish(8.3 * dx);
        mn_flow *flow = NULL;
        def.contact_angle = wets ? 60 : 120;
        check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
        const double before = height(flow, 0.25 * dx);
        for (int32_t k = 0; k < 5; k++) check_ok(ctx, mn_flow_advance(flow, NULL, 5e-4));
        const double rise = height(flow, 0.25 * dx) - before;
        assert_true(wets ? rise > 0.2 * dx : rise < -0.2 * dx);
        check_close(height(flow, 23.75 * dx) - before, rise, 1e-3 * dx); // both alike, to tolerance
        mn_flow_free(flow);
        mn_context_free(ctx);
    }
}

// A lid or a floor that the water does not touch does not bend its distance: phi stays y - level, to
// rounding.
static void a_lid_leaves_the_distance_alone(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = dish(15.3 * dx);
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    for (int32_t k = 0; k < 3; k++) check_ok(ctx, mn_flow_advance(flow, NULL, 2e-4));
    for (int32_t j = 24; j < 39; j++) {
        const double y = 0.5 * j * dx;
        check_close(mn_flow_distance_at(flow, mn_v3(5.2 * dx, y, 0.5 * dx)), y - 15.3 * dx, 1e-9 * dx);
    }
    mn_flow_free(flow);
    mn_context_free(ctx);
}

// Water that nothing but a force volume pulls along x piles up there; uniform force is the same as gravity.
static void a_force_volume_is_an_acceleration(void **state)
{
    (void)state;
    double rise[2];
    for (int32_t by_volume = 0; by_volume < 2; by_volume++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_flow_def def = dish(8.3 * dx);
        mn_flow *flow = NULL;
        mn_volume pull = analytic_motion(mn_v3(3, 0, 0), mn_v3(0, 0, 0), mn_v3(0, 0, 0));
        def.gravity = mn_v3(by_volume ? 0 : 3, -9.81, 0), def.sigma = 0, def.tolerance = 1e-9;
        check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
        const mn_solver_inputs inputs = {.force = by_volume ? pull : (mn_volume){0}};
        for (int32_t k = 0; k < 6; k++) check_ok(ctx, mn_flow_advance(flow, &inputs, 0.002));
        rise[by_volume] = height(flow, 23 * dx) - height(flow, dx);
        mn_volume_release(&pull);
        mn_flow_free(flow);
        mn_context_free(ctx);
    }
    assert_true(rise[0] > 0.5 * dx);
    check_close(rise[1], rise[0], 0.02 * rise[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_that_meets_a_ball_at_its_angle_stays),
        cmocka_unit_test(water_rises_at_wetting_walls_and_sinks_at_others),
        cmocka_unit_test(a_lid_leaves_the_distance_alone),
        cmocka_unit_test(a_force_volume_is_an_acceleration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
