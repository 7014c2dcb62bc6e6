// SPDX-License-Identifier: Apache-2.0
//
// Smoke: bounds, viscosity, the same bits for any number of workers and after loading, and bad input.
#include "support/check.h"
#include "support/saved_state.h"

#include "base/parallel.h"
#include "meniscus/flow.h"

static const double pi = 3.14159265358979323846;

static mn_flow_def small_box(void)
{
    mn_flow_def def = mn_flow_default_def();
    def.dx = 1.0 / 12, def.domain_center = mn_v3(0.5, 0.5, 0.5);
    return def;
}

static void ball_of_smoke(void *user, mn_vec3 x, double *density, double *temperature, mn_vec3 *color)
{
    (void)user;
    *density = mn_distance(x, mn_v3(0.45, 0.3, 0.5)) < 0.2 ? 1 : 0;
    *temperature = 3 * *density;
    *color = mn_v3(1, x.y, 0);
}

static mn_flow *rising(mn_context *ctx, int32_t frames)
{
    const mn_flow_def def = small_box();
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_smoke(flow, ball_of_smoke, NULL));
    for (int32_t f = 0; f < frames; f++) check_ok(ctx, mn_flow_advance(flow, NULL, 1.0 / 24));
    return flow;
}

static void smoke_rises_and_stays_between_its_bounds(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow *flow = rising(ctx, 8);
    mn_flow_view view;
    check_ok(ctx, mn_flow_get(flow, &view));
    double sum = 0, height = 0, momentum = 0;
    for (int64_t at = 0; at < view.block_count * 64; at++) {
        const int32_t y = 4 * view.blocks[at / 64][1] + (int32_t)(at % 64 >> 2 & 3);
        if (!(view.fraction[at] > 0)) continue;
        const double d = view.density[at];
        assert_true(d >= 0 && d <= 1);
        assert_true(view.color[0][at] <= 1);
        sum += d, height += d * (y - 0.5) / 12.0, momentum += d * view.velocity[at][1];
    }
    assert_true(height / sum > 0.31); // began at 0.3
    assert_true(momentum / sum > 0.02);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void bytes_of(mn_context *ctx, mn_flow *flow, saved_state *saved)
{
    mn_writer out = {ctx, saved, saved_put};
    check_ok(ctx, mn_flow_save(flow, &out));
}

static void any_number_of_workers_gives_the_same_bits(void **state)
{
    (void)state;
    static saved_state saved[3];
    memset(saved, 0, sizeof saved);
    for (int32_t k = 0; k < 3; k++) {
        const int32_t workers[3] = {1, 2, 8};
        mn_scheduler scheduler = mn_thread_scheduler(&workers[k]);
        const mn_hooks hooks = {.scheduler = &scheduler};
        mn_context *ctx = mn_context_create(&hooks);
        mn_flow *flow = rising(ctx, 2);
        bytes_of(ctx, flow, &saved[k]);
        mn_flow_free(flow);
        mn_context_free(ctx);
    }
    for (int32_t k = 1; k < 3; k++) {
        assert_int_equal(saved[k].size, saved[0].size);
        assert_memory_equal(saved[k].bytes, saved[0].bytes, saved[0].size);
    }
}

static void a_loaded_flow_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow *flow = rising(ctx, 2), *other = NULL;
    const mn_flow_def def = small_box();
    static saved_state middle, end, again;
    middle.size = middle.read = end.size = again.size = 0;
    bytes_of(ctx, flow, &middle);
    mn_reader in = {ctx, &middle, saved_get};
    check_ok(ctx, mn_flow_load(ctx, &def, &in, &other));
    check_ok(ctx, mn_flow_advance(flow, NULL, 1.0 / 24));
    check_ok(ctx, mn_flow_advance(other, NULL, 1.0 / 24));
    bytes_of(ctx, flow, &end);
    bytes_of(ctx, other, &again);
    assert_int_equal(end.size, again.size);
    assert_memory_equal(end.bytes, again.bytes, end.size);
    mn_flow_free(flow);
    mn_flow_free(other);
    mn_context_free(ctx);
}

static mn_vec3 shear(void *user, mn_vec3 x)
{
    (void)user;
    return mn_v3(0.01 * cos(pi * x.y), 0, 0);
}

// u = cos(pi y) along x between open ends decays by exp(-nu pi^2 t); implicit Euler in 10 steps of dt nu pi^2
// = 0.05 leaves 1.05^-10, and the cells' second differences are 0.6 % short.
static void a_shear_wave_decays_by_viscosity(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = small_box();
    def.flat = true, def.domain_center.z = 0, def.boundary = MN_FLOW_OPEN, def.buoyancy = 0;
    def.viscosity = def.density * 0.05 / (pi * pi), def.min_substeps = 10;
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_velocity(flow, shear, NULL));
    const double before = mn_flow_velocity_at(flow, mn_v3(0.5, 0.2, 0)).x;
    check_ok(ctx, mn_flow_advance(flow, NULL, 10));
    const double after = mn_flow_velocity_at(flow, mn_v3(0.5, 0.2, 0)).x;
    check_close(after / before, pow(1.05, -10), 0.03);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void bad_input_is_a_sentence(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow *flow = NULL;
    mn_flow_def def = small_box();
    def.dx = 0;
    check_fails(ctx, mn_flow_create(ctx, &def, NULL, &flow), MN_ERROR_ARGUMENT, "dx");
    def.dx = 1e-6;
    check_fails(ctx, mn_flow_create(ctx, &def, NULL, &flow), MN_ERROR_ARGUMENT, "billion cells");
    def.dx = 0.4;
    check_fails(ctx, mn_flow_create(ctx, &def, NULL, &flow), MN_ERROR_ARGUMENT, "cells wide");
    def = small_box(), def.cfl = 50;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_smoke(flow, ball_of_smoke, NULL));
    check_ok(ctx, mn_flow_advance(flow, NULL, 1.0 / 24));
    check_fails(ctx, mn_flow_advance(flow, NULL, NAN), MN_ERROR_ARGUMENT, "time to advance");
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static mn_vec3 eddies(void *user, mn_vec3 x)
{
    (void)user;
    return mn_v3(sin(2 * MN_PI * x.x) * cos(2 * MN_PI * x.y), -cos(2 * MN_PI * x.x) * sin(2 * MN_PI * x.y),
                 0);
}

static double energy_of_eddies(double confinement, double seconds)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = mn_flow_default_def();
    mn_flow *flow = NULL;
    mn_report report = {0};
    def.flat = true, def.dx = 1.0 / 24, def.domain_center = mn_v3(0.5, 0.5, 0), def.confinement = confinement;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    if (seconds > 0) check_ok(ctx, mn_flow_set_velocity(flow, eddies, NULL));
    check_ok(ctx, mn_flow_advance(flow, NULL, fmax(seconds, 0.1)));
    mn_flow_report(flow, &report);
    mn_flow_free(flow);
    mn_context_free(ctx);
    return report.value[MN_REPORT_kinetic_energy][0];
}

// Four eddies about the corners of a square, which keep their energy by themselves; what is at rest stays so.
static void confinement_turns_eddies_and_leaves_rest(void **state)
{
    (void)state;
    const double free = energy_of_eddies(0, 0.3), weak = energy_of_eddies(1, 0.3),
                 strong = energy_of_eddies(2, 0.3);
    print_message("energy %g, with confinement %g, twice that %g\n", free, weak, strong);
    assert_true(weak > 1.005 * free);
    assert_true(strong > weak + 0.5 * (weak - free));
    assert_true(energy_of_eddies(5, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smoke_rises_and_stays_between_its_bounds),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(a_loaded_flow_goes_on_with_the_same_bits),
        cmocka_unit_test(a_shear_wave_decays_by_viscosity),
        cmocka_unit_test(bad_input_is_a_sentence),
        cmocka_unit_test(confinement_turns_eddies_and_leaves_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
