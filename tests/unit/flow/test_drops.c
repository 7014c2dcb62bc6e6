// SPDX-License-Identifier: Apache-2.0
//
// Drops that fall in bring their mass and momentum; small bodies fly as drops with theirs, and come back.
#include "support/check.h"
#include "support/saved_state.h"

#include "meniscus/flow.h"

static const double dx = 0.01;

static mn_flow_def box(void)
{
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.dx = dx, def.density = 1000, def.sigma = 0, def.use_level = false;
    def.domain_size = mn_v3(0.2, 0.2, 0.2), def.domain_center = mn_v3(0.1, 0.1, 0.1);
    def.gravity = mn_v3(0, 0, 0), def.tolerance = 1e-10;
    return def;
}

static double blob(void *user, mn_vec3 x)
{
    (void)user;
    return mn_distance(x, mn_v3(0.1, 0.1, 0.1)) - 0.06;
}

/// A pool to 0.05 and a ball of 0.015 over it.
static double pool_and_ball(void *user, mn_vec3 x)
{
    (void)user;
    return fmin(x.y - 0.05, mn_distance(x, mn_v3(0.101, 0.123, 0.098)) - 0.015);
}

static mn_vec3 thrown(void *user, mn_vec3 x)
{
    (void)user;
    return x.y > 0.075 ? mn_v3(0.2, -0.4, 0.1) : mn_v3(0, 0, 0);
}

static mn_report look(const mn_flow *flow)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report;
}

// Liquid at rest that floats freely has the momentum of what fell into it, and its mass.
static void a_drop_brings_its_mass_and_momentum(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_flow_def def = box();
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, blob, NULL));
    const double mass = look(flow).value[MN_REPORT_mass][0];
    const mn_flow_drop drop = {
        .position = {0.1, 0.157, 0.1}, .velocity = {0.3, -2, 0.5}, .radius = 0.004, .mass = 3e-4};
    const mn_flow_inputs own = {.drop_count = 1, .drops = &drop};
    const mn_solver_inputs inputs = {.own = &own};
    check_ok(ctx, mn_flow_advance(flow, &inputs, 0.002));
    const mn_report after = look(flow);
    const double v[3] = {drop.velocity.x, drop.velocity.y, drop.velocity.z};
    // masses of splines are sums of single-precision stencils' parts, and the cycle ends at 1e-10
    for (int32_t a = 0; a < 3; a++)
        check_close(after.value[MN_REPORT_momentum][a], drop.mass * v[a], 1e-6 * drop.mass * 2);
    check_close(after.value[MN_REPORT_mass][0] - mass, drop.mass,
                0.02 * drop.mass); // the surface takes it within steps
    for (int32_t k = 0; k < 3; k++) check_ok(ctx, mn_flow_advance(flow, NULL, 0.001));
    check_close(look(flow).value[MN_REPORT_mass][0] - mass, drop.mass, 1e-5 * mass); // volume of all of it
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void small_bodies_fly_and_fall_in_again(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = box();
    mn_flow *flow = NULL, *other = NULL;
    int64_t count;
    def.spray_radius = 2, def.gravity = mn_v3(0, -9.81, 0);
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, pool_and_ball, NULL));
    check_ok(ctx, mn_flow_set_velocity(flow, thrown, NULL));
    const double mass = look(flow).value[MN_REPORT_mass][0];
    mn_flow_drops(flow, &count);
    assert_int_equal(count, 0);
    check_ok(ctx, mn_flow_advance(flow, NULL, 0.001));
    const mn_flow_drop *drop = mn_flow_drops(flow, &count);
    assert_int_equal(count, 1);
    assert_true(drop->mass < 1000 * 4.18879 * 0.015 * 0.015 * 0.015); // splines round a ball of 1.5 cells
    assert_true(drop->mass > 700 * 4.18879 * 0.015 * 0.015 * 0.015);
    check_close(drop->velocity.x, 0.2, 2e-5); // splines carry a little of the still air below
    check_close(drop->velocity.y, -0.4, 4e-5);
    check_close(drop->velocity.z, 0.1, 1e-5);
    const double falls = drop->velocity.y;
    check_close(drop->position.x, 0.101 + 0.2 * 0.001, 0.02 * dx);
    check_close(look(flow).value[MN_REPORT_mass][0], mass, 2e-5 * mass);
    const double before = drop->mass * falls;
    check_close(look(flow).value[MN_REPORT_momentum][1], before, 1e-4 * fabs(before)); // the pool is at rest

    // saved in flight, it goes on with the same bits
    static saved_state middle, end, again;
    mn_writer out = {ctx, &middle, saved_put};
    check_ok(ctx, mn_flow_save(flow, &out));
    mn_reader in = {ctx, &middle, saved_get};
    check_ok(ctx, mn_flow_load(ctx, &def, &in, &other));
    check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
    check_ok(ctx, mn_flow_advance(other, NULL, 0.02));
    out.user = &end;
    check_ok(ctx, mn_flow_save(flow, &out));
    out.user = &again;
    check_ok(ctx, mn_flow_save(other, &out));
    assert_int_equal(end.size, again.size);
    assert_memory_equal(end.bytes, again.bytes, end.size);

    drop = mn_flow_drops(flow, &count);
    assert_int_equal(count, 1);
    check_close(drop->velocity.y, falls - 9.81 * 0.02, 1e-9);
    for (int32_t k = 0; k < 12; k++) check_ok(ctx, mn_flow_advance(flow, NULL, 0.01));
    mn_flow_drops(flow, &count);
    assert_int_equal(count, 0);
    check_close(look(flow).value[MN_REPORT_mass][0], mass, 2e-5 * mass);
    mn_flow_free(flow);
    mn_flow_free(other);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drop_brings_its_mass_and_momentum),
        cmocka_unit_test(small_bodies_fly_and_fall_in_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
