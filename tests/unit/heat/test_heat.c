// SPDX-License-Identifier: Apache-2.0
//
// Heat: energy against temperature and back, what flows in is what is kept, and what melts waits at its
// melting point.
#include "meniscus/context.h"
#include "support/check.h"
#include "support/heat_bar.h"

static const mn_heat_substance ice = {
    .capacity = {2100, 4186}, .conductivity = {2.2, 0.6}, .latent_heat = 334e3, .melting_point = 273.15};
static const mn_heat_substance wax = {.capacity = {2100, 2400},
                                      .conductivity = {0.25, 0.2},
                                      .latent_heat = 200e3,
                                      .melting_point = 330,
                                      .melting_range = 10};

// T(E(T)) = T to rounding of energies near 1e6 J, and slopes agree with differences.
static void energies_and_temperatures_agree(void **state)
{
    (void)state;
    mn_heat_share shares[2] = {{.substance = &ice, .mass = 0.3}, {.substance = &wax, .mass = 0.7}};
    for (int count = 1; count <= 2; count++)
        for (double t = 1; t < 500; t += 0.77) {
            double slope, ignored;
            const double e = mn_heat_energy(count, shares, t, 0);
            check_close(mn_heat_temperature(count, shares, e, &slope), t, 1e-10);
            const double up = mn_heat_temperature(count, shares, e + 1e-2, &ignored),
                         down = mn_heat_temperature(count, shares, e - 1e-2, &ignored);
            check_close((up - down) / 2e-2 / slope, 1, 1e-4);
        }
}

static void latent_heat_waits_at_the_melting_point(void **state)
{
    (void)state;
    mn_heat_share share = {.substance = &ice, .mass = 2};
    const double before = mn_heat_energy(1, &share, ice.melting_point, 0);
    for (double part = 0; part <= 1; part += 0.25) {
        double slope;
        const double t = mn_heat_temperature(1, &share, before + part * 2 * ice.latent_heat, &slope);
        check_close(t, ice.melting_point, 1e-10);
        check_close(share.melted, part, 1e-10);
        assert_true(part == 1 || slope == 0);
    }
    // The range is centred on the melting point, and half of it is melted there.
    double slope;
    share = (mn_heat_share){.substance = &wax, .mass = 1};
    mn_heat_temperature(1, &share, mn_heat_energy(1, &share, 330, 0), &slope);
    check_close(share.melted, 0.5, 1e-12);
}

// Everything that comes in is kept, with sources, convection, radiation and melting at once, in one long
// step or many.
static void what_flows_in_is_kept(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const double steps[3] = {1e4, 30, 0.1};
    for (int s = 0; s < 3; s++) {
        heat_bar bar = heat_bar_make(ctx, 6, wax, 320);
        heat_bar_start(&bar);
        heat_bar_heat(&bar, 0, 500, 400);
        double *emissivity = calloc((size_t)bar.view.face_count, sizeof(double)),
               *source = calloc((size_t)bar.view.node_count, sizeof(double));
        for (int32_t f = 0; f < bar.view.face_count; f++)
            emissivity[f] = 0.9, bar.outside[f] = bar.outside[f] > 0 ? bar.outside[f] : 300;
        for (int32_t i = 0; i < bar.view.node_count; i++) source[i] = 0.01 * (i % 5);
        bar.view.emissivity = emissivity, bar.view.source = source;
        for (int i = 0; i < 4; i++) {
            mn_heat_flow flow;
            const double before = heat_bar_energy(&bar);
            check_ok(ctx, mn_heat_advance(bar.heat, &bar.view, steps[s], bar.energy, &flow));
            const double after = heat_bar_energy(&bar);
            check_close(after - before, flow.surface + flow.sources, 1e-12 * after);
        }
        free(emissivity), free(source);
        heat_bar_free(&bar);
    }
    mn_context_free(ctx);
}

// A bar that has come to rest in the air is solved however short or long the step: what is left is rounding.
static void rest_is_solved(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_heat_substance unit = {
        .capacity = {1, 1}, .conductivity = {5, 5}, .latent_heat = 50, .melting_point = 300};
    for (double dt = 1e-6; dt < 10; dt *= 7) {
        heat_bar bar = heat_bar_make(ctx, 6, unit, 320);
        heat_bar_start(&bar);
        heat_bar_heat(&bar, 0, 0.5, 320);
        mn_heat_flow flow;
        for (int i = 0; i < 20; i++) {
            bar.energy[i % bar.view.node_count] += 1e-12 * i;
            check_ok(ctx, mn_heat_advance(bar.heat, &bar.view, dt, bar.energy, &flow));
        }
        heat_bar_free(&bar);
    }
    mn_context_free(ctx);
}

// The same bits for any number of workers.
static void threads_do_not_matter(void **state)
{
    (void)state;
    double first[4000];
    for (int workers = 1; workers <= 8; workers *= 2) {
        mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = workers});
        heat_bar bar = heat_bar_make(ctx, 40, ice, 263.15);
        heat_bar_start(&bar);
        heat_bar_heat(&bar, 0, 1e4, 330);
        mn_heat_flow flow;
        for (int i = 0; i < 5; i++)
            check_ok(ctx, mn_heat_advance(bar.heat, &bar.view, 0.5, bar.energy, &flow));
        const size_t bytes = sizeof(double) * (size_t)bar.view.node_count;
        assert_true(bytes <= sizeof first);
        if (workers == 1) memcpy(first, bar.energy, bytes);
        assert_memory_equal(first, bar.energy, bytes);
        heat_bar_free(&bar);
        mn_context_free(ctx);
    }
}

static void bad_substances_are_sentences(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_heat_substance s = ice;
    check_ok(ctx, mn_heat_check_substance(ctx, "ice", &s));
    s.melting_range = -1;
    check_fails(ctx, mn_heat_check_substance(ctx, "ice", &s), MN_ERROR_ARGUMENT, "melting range of ice");
    s = ice, s.capacity[1] = 0;
    check_fails(ctx, mn_heat_check_substance(ctx, "ice", &s), MN_ERROR_ARGUMENT, "molten ice");
    s = ice, s.melting_point = NAN;
    check_fails(ctx, mn_heat_check_substance(ctx, "ice", &s), MN_ERROR_ARGUMENT, "kelvin");
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_and_temperatures_agree),
        cmocka_unit_test(latent_heat_waits_at_the_melting_point),
        cmocka_unit_test(what_flows_in_is_kept),
        cmocka_unit_test(rest_is_solved),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(bad_substances_are_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
