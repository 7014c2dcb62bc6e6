// SPDX-License-Identifier: Apache-2.0
//
// Numbers of doctor against their formulas, worked out here by hand.
#include "meniscus/codim.h"
#include "meniscus/film.h"
#include "meniscus/flow.h"
#include "support/check.h"

static void films_threads_and_jets(void **state)
{
    (void)state;
    mn_codim_def def = mn_codim_default_def();
    def.sigma = 0.02, def.density = 1000, def.spacing = 1e-3, def.max_dt = 1;
    const double thickness[3] = {1e-5, 3e-5, 1e-3};
    const uint8_t codim[3] = {MN_CODIM_FILM, MN_CODIM_FILM, MN_CODIM_THREAD};
    const mn_vec3 curve[2] = {{0, 0, 0}, {0.01, 0, 0}}, velocity[2] = {{0, 0, 2}, {0, 0, 2}};
    const double jet_thickness[2] = {1e-3, 1e-3};
    const mn_codim_inlet inlet = {
        .count = 2, .position = curve, .velocity = velocity, .thickness = jet_thickness};
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &inlet};
    mn_codim_numbers n;
    mn_codim_diagnose(&def, &(mn_codim_source){.count = 3, .thickness = thickness, .codim = codim}, &inputs,
                      0.04, &n);
    check_close(n.points, 3, 0);
    check_close(n.film_speed, sqrt(2 * 0.02 / (1000 * 2e-5)), 1e-12); // 1.41 m/s
    check_close(n.film_step, 0.35e-3 / n.film_speed, 1e-15);
    check_close(n.film_steps, ceil(0.04 / n.film_step), 0);
    check_close(n.thread_speed, 0.2, 1e-12);
    check_close(n.thread_time, sqrt(1000 * 1.25e-10 / 0.02) / 0.343, 1e-12);
    check_close(n.points_per_wave, 4.508, 1e-12);
    check_close(n.jet_flow, 0.01 * 1e-3 * 2, 1e-15);
    check_close(n.jet_reach, 1000 * 2e-5 * 2 / (4 * MN_PI * 0.02), 1e-12);
    check_close(n.jet_outlet, 0.01 / (2 * MN_PI), 1e-15);

    mn_codim_diagnose(&def, NULL, NULL, 0.04, &n);
    check_close(n.points + n.film_step + n.jet_flow + n.points_per_wave, 0, 0);
}

static void films_on_a_mesh(void **state)
{
    (void)state;
    mn_film_def def = mn_film_default_def();
    mn_film_numbers n;
    def.sigma = 0.025, def.density = 1000, def.thickness = 5e-6, def.max_dt = 1e-3;
    mn_film_diagnose(&def, &n);
    check_close(n.speed, sqrt(10), 1e-12);
    check_close(n.shortest, 6e-3 * sqrt(10), 1e-14);
}

// Ripples of a centimetre on water run at 0.2467 m/s.
static void ripples(void **state)
{
    (void)state;
    mn_flow_def def = mn_flow_default_def();
    mn_flow_numbers n;
    def.dx = 1e-3, def.domain_size = mn_v3(0.1, 0.05, 0.1), def.flat = false;
    def.sigma = 0.072, def.density = 1000, def.gravity = mn_v3(0, -9.81, 0);
    mn_flow_diagnose(&def, 1.0 / 24, &n);
    check_close(n.cells, 500000, 1e-6);
    check_close(n.ripple, 0.01, 1e-15);
    check_close(n.ripple_speed, 0.24668205, 1e-8);
    assert_true(n.step > 0 && n.steps == ceil(1.0 / 24 / n.step));
    def.sigma = 0;
    mn_flow_diagnose(&def, 1.0 / 24, &n);
    assert_true(isinf(n.step) && n.steps == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(films_threads_and_jets),
        cmocka_unit_test(films_on_a_mesh),
        cmocka_unit_test(ripples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
