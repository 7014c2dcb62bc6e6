// SPDX-License-Identifier: Apache-2.0
//
// What is said about a simulation before it runs: dimensionless numbers of a known drop, and memory against
// what the allocator has counted after it has run.
#include "support/check.h"

#include "mpm/state.h"

#include <string.h>

static mn_mpm *make_ball(mn_context *ctx, double cells, const mn_mpm_def *def, double speed)
{
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, def, &mpm));
    const double h = 0.5 * def->dx, radius = cells * def->dx;
    const int reach = (int)(2 * cells) + 1;
    mn_vec3 *x = malloc(sizeof *x * (size_t)(8 * reach * reach * reach)),
            *v = malloc(sizeof *v * (size_t)(8 * reach * reach * reach));
    int64_t count = 0;
    for (int i = -reach; i < reach; i++)
        for (int j = -reach; j < reach; j++)
            for (int k = -reach; k < reach; k++) {
                const mn_vec3 r = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(r) >= radius) continue;
                v[count] = mn_v3(speed, 0, 0);
                x[count++] = r;
            }
    const mn_mpm_source source = {.count = count, .position = x, .velocity = v};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    free(x), free(v);
    return mpm;
}

static void numbers_of_a_drop_are_its_own(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&calm);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 2.5e-4, def.sigma = 0.05, def.density = 900, def.viscosity = 0.01,
    def.gravity = mn_v3(0, -10, 0);
    mn_mpm *mpm = make_ball(ctx, 8, &def, 0.5);
    mn_mpm_numbers n;
    check_ok(ctx, mn_mpm_diagnose(mpm, 0.01, &n));
    const double r = 2e-3, off = 0.02; // a lattice ball has its volume within that
    check_close(n.bodies, 1, 0);
    check_close(n.cells_across, 16, 16 * off);
    check_close(n.capillary_time, sqrt(900 * r * r * r / 0.05), 2 * off * n.capillary_time);
    check_close(n.ohnesorge, 0.01 / sqrt(900 * 0.05 * r), off * n.ohnesorge);
    check_close(n.bond, 900 * 10 * r * r / 0.05, 2 * off * n.bond);
    check_close(n.weber, 900 * 0.25 * r / 0.05, off * n.weber);
    check_close(n.steps, ceil(0.01 / n.step), 0);
    // The steps that it takes are the steps that were said.
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 10 * n.step));
    mn_report report;
    mn_mpm_report(mpm, &report);
    check_close(report.value[MN_REPORT_substeps][0], 10, 2);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// A frame of liquid at rest is not one step: its own tension will move it, by a radius in a capillary time.
static void steps_of_liquid_at_rest_are_those_of_its_motion(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&calm);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.integrator = MN_MPM_IMPLICIT;
    def.dx = 2.5e-4, def.sigma = 0.05, def.density = 900;
    mn_mpm *mpm = make_ball(ctx, 8, &def, 0);
    mn_mpm_numbers n;
    check_ok(ctx, mn_mpm_diagnose(mpm, 0.04, &n));
    const double off = 0.02; // a lattice ball has its volume within that
    const double steps = 0.04 * sqrt(0.05 / (900 * 2e-3)) / (def.cfl * def.dx);
    check_close(n.steps, steps, off * steps + 1);
    assert_non_null(strstr(n.binding, "surface tension"));
    // Faster liquid takes shorter steps than that, which are told as they are.
    mn_mpm_free(mpm);
    mpm = make_ball(ctx, 8, &def, 10);
    check_ok(ctx, mn_mpm_diagnose(mpm, 0.04, &n));
    check_close(n.step, def.cfl * def.dx / 10, 1e-12 * n.step);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void memory_is_what_is_taken(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    for (int k = 0; k < 6; k++) {
        mn_context *ctx = mn_context_create(&calm);
        mn_mpm_def def = mn_mpm_default_def();
        def.gravity = mn_v3(0, 0, 0);
        def.transfer = k % 3 == 1 ? MN_MPM_APIC_FLIP : MN_MPM_APIC;
        def.integrator = k % 3 == 2 ? MN_MPM_SEMI_IMPLICIT : MN_MPM_EXPLICIT;
        mn_mpm *mpm = make_ball(ctx, k < 3 ? 6 : 12, &def, 0);
        mn_mpm_numbers n;
        check_ok(ctx, mn_mpm_diagnose(mpm, 0.01, &n));
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 5 * fmin(n.step, 1e-4)));
        const double taken = (double)mn_context_bytes(ctx);
        check_close(n.bytes, taken, 0.2 * taken);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

// Looking ahead changes nothing: liquid that comes afterwards finds the solver as if nobody had asked.
static void asking_for_steps_changes_nothing(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    static mn_mpm_point points[2][4000];
    for (int k = 0; k < 2; k++) {
        mn_context *ctx = mn_context_create(&calm);
        mn_mpm_def def = mn_mpm_default_def();
        def.gravity = mn_v3(0, 0, 0);
        mn_mpm *mpm = make_ball(ctx, 3, &def, 0.1);
        mn_mpm_numbers n;
        if (k) check_ok(ctx, mn_mpm_expect_steps(mpm, 0.01, &n));
        const mn_vec3 x = {0.005, 0, 0}, v = {-2, 0, 0};
        const mn_mpm_source more = {.count = 1, .position = &x, .velocity = &v};
        check_ok(ctx, mn_mpm_add(mpm, &more));
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
        assert_true(mn_mpm_count(mpm) < 4000);
        check_ok(ctx, mn_mpm_get_points(mpm, points[k]));
        if (k)
            for (int64_t i = 0; i < mn_mpm_count(mpm); i++)
                assert_true(mn_distance(points[0][i].position, points[1][i].position) == 0);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

static void nothing_has_no_numbers(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_mpm *mpm;
    mn_mpm_numbers n;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_diagnose(mpm, 0.01, &n));
    assert_true(n.bodies == 0 && n.steps == 0 && n.flow_rate == 0);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_drop_are_its_own),
        cmocka_unit_test(steps_of_liquid_at_rest_are_those_of_its_motion),
        cmocka_unit_test(memory_is_what_is_taken),
        cmocka_unit_test(asking_for_steps_changes_nothing),
        cmocka_unit_test(nothing_has_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
