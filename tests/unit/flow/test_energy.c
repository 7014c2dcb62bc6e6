// SPDX-License-Identifier: Apache-2.0
//
// The guard on energy: steps far beyond the capillary limit, which let ripples explode without it, leave a
// drop with less motion than its whole surface could give; water that falls into water gains nothing, and
// smoke that forces push gets what they give.
#include "meniscus/flow.h"
#include "support/check.h"

static const double radius = 2e-3, sigma = 0.072;

static double ellipse(void *user, mn_vec3 x)
{
    (void)user;
    return sqrt(x.x * x.x / 1.2 + x.y * x.y * 1.2) - radius;
}

static double value_of(const mn_flow *flow, mn_report_key item)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[item][0];
}

static void a_step_too_long_does_not_explode(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = radius / 8, def.density = 998, def.sigma = sigma;
    def.gravity = mn_v3(0, 0, 0), def.use_level = false, def.surface_tension_limit = 6, def.cfl = 4;
    def.domain_size = mn_v3(4 * radius, 4 * radius, def.dx), def.domain_center = mn_v3(0, 0, 0);
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, ellipse, NULL));
    // all that the surface could give: its circumference, one cell deep
    const double all = sigma * 2 * MN_PI * 1.1 * radius * def.dx;
    double most = 0;
    for (int32_t k = 0; k < 14; k++) {
        check_ok(ctx, mn_flow_advance(flow, NULL, 2e-3));
        most = fmax(most, value_of(flow, MN_REPORT_kinetic_energy));
    }
    assert_true(most < all);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void warm_ball(void *user, mn_vec3 x, double *density, double *temperature, mn_vec3 *color)
{
    (void)user, (void)temperature, (void)color;
    *density = mn_distance(x, mn_v3(0.5, 0.3, 0)) < 0.2;
}

// d(K)/dt = int a . u: smoke that rises has the energy that its buoyancy gave, within what the solver loses.
static void smoke_keeps_what_buoyancy_gives(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = mn_flow_default_def();
    def.flat = true, def.dx = 1.0 / 32, def.domain_center = mn_v3(0.5, 0.5, 0), def.cfl = 1, def.density = 1;
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_smoke(flow, warm_ball, NULL));
    double last = 0, given = 0;
    for (int32_t k = 0; k < 20; k++) {
        mn_flow_view view;
        double power[2];
        for (int32_t end = 0; end < 2; end++) {
            check_ok(ctx, mn_flow_get(flow, &view));
            power[end] = 0;
            for (int64_t at = 0; at < view.block_count * 64; at++)
                if (!view.fraction || view.fraction[at] > 0)
                    power[end] += view.density[at] * view.velocity[at][1];
            if (end == 0) check_ok(ctx, mn_flow_advance(flow, NULL, 0.05));
        }
        given += 0.05 * 0.5 * (power[0] + power[1]) * def.dx * def.dx * def.dx * def.buoyancy;
        last = value_of(flow, MN_REPORT_kinetic_energy);
    }
    assert_true(given > 0);
    check_close(last, given, 0.05 * given);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static double ball_over_tank(void *user, mn_vec3 x)
{
    (void)user;
    return fmin(x.y - 0.06, mn_distance(x, mn_v3(0, 0.115, 0)) - 0.035);
}

static mn_vec3 falling(void *user, mn_vec3 x)
{
    (void)user;
    return mn_v3(0, mn_distance(x, mn_v3(0, 0.115, 0)) < 0.045 ? -0.8 : 0, 0);
}

static void count_warnings(void *user, mn_log_level level, const char *message)
{
    (void)message;
    *(int32_t *)user += level == MN_LOG_WARNING;
}

// Where water hits water its velocity changes from cell to cell, and lumped masses would see more energy than
// the liquid has.
static void an_impact_gains_nothing(void **state)
{
    (void)state;
    int32_t warnings = 0;
    const mn_hooks hooks = {.user = &warnings, .log = count_warnings};
    mn_context *ctx = mn_context_create(&hooks);
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.dx = 0.01, def.sigma = 0.072, def.use_level = false;
    def.cfl = 1, def.domain_size = mn_v3(0.16, 0.16, 0.16), def.domain_center = mn_v3(0, 0.08, 0);
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, ball_over_tank, NULL));
    check_ok(ctx, mn_flow_set_velocity(flow, falling, NULL));
    warnings = 0; // that the box began without liquid
    for (int32_t k = 0; k < 10; k++) check_ok(ctx, mn_flow_advance(flow, NULL, 0.01));
    assert_int_equal(warnings, 0);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_too_long_does_not_explode),
        cmocka_unit_test(an_impact_gains_nothing),
        cmocka_unit_test(smoke_keeps_what_buoyancy_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
