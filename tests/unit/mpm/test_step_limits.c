// SPDX-License-Identifier: Apache-2.0
//
// The automatic bulk modulus: it rises with what presses on the liquid, comes down again when that is long
// over, leaves the pressures alone on the way, and keeps the volume within what was asked for.
#include "support/check.h"

#include <stdlib.h>

#include "mpm/pressure.h"
#include "mpm/step.h"

static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_mpm *make_drop(mn_context *ctx, mn_mpm_def def, double radius, mn_vec3 centre, mn_vec3 velocity)
{
    enum { MAX = 4000 };
    static mn_vec3 x[MAX], v[MAX];
    const double h = 0.5 * def.dx;
    const int reach = (int)(radius / h) + 1;
    int64_t count = 0;
    for (int i = -reach; i < reach; i++)
        for (int j = -reach; j < reach; j++)
            for (int k = -reach; k < reach; k++) {
                const mn_vec3 r = mn_v3((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h);
                if (mn_norm(r) > radius || count == MAX) continue;
                x[count] = mn_add(centre, r), v[count++] = velocity;
            }
    mn_mpm *mpm;
    const mn_mpm_source source = {.count = count, .position = x, .velocity = v};
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &source));
    return mpm;
}

// Eight particles a cell in the part of the box below y = 0.
static void add_pool(mn_mpm *mpm, mn_box box)
{
    const double h = 0.5 * mpm->def.dx;
    const int side = (int)((box.max.x - box.min.x) / h + 0.5), deep = (int)(-box.min.y / h + 0.5);
    mn_vec3 *x = malloc(sizeof *x * (size_t)(side * side * deep));
    int64_t count = 0;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < deep; j++)
            for (int k = 0; k < side; k++) x[count++] = mn_axpy(box.min, h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
    check_ok(mpm->solver.ctx, mn_mpm_add(mpm, &(mn_mpm_source){.count = count, .position = x}));
    free(x);
}

static mn_mpm_def water(void)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.sigma = 0.07, def.viscosity = 1e-3;
    return def;
}

static void set_speed(mn_mpm *mpm, double speed)
{
    for (int64_t i = 0; i < mpm->particles.count; i++) mpm->particles.data[i].v = mn_v3(speed, 0, 0);
    check_ok(mpm->solver.ctx, mn_mpm_find_extremes(mpm));
}

static double wanted(const mn_mpm *mpm, double radius, double speed)
{
    const mn_pressure_scales scales = {
        .capillary = 2 * 0.07 / radius, .density = mpm->def.density, .speed = speed};
    return mn_pressure_bulk_modulus(scales, mpm->def.compression);
}

static void stiffness_follows_what_presses_up_and_down(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, water(), 3e-3, mn_v3(0, 0, 0), mn_v3(0.5, 0, 0));
    const double radius = cbrt(0.75 / 3.14159265358979323846 * mpm->extremes.volume);
    mn_mpm_update_bulk_modulus(mpm, 0);
    const double fast = mpm->bulk_modulus;
    assert_true(fast >= wanted(mpm, radius, 0.5));
    for (int64_t i = 0; i < mpm->materials.count; i++) mpm->materials.data[i].j = 0.999;
    mpm->materials.data[0].j = 0.8; // noise
    const double pressure = mn_pressure(fast, 0.999);
    set_speed(mpm, 0);
    mn_mpm_update_bulk_modulus(mpm, 0);
    assert_true(mpm->bulk_modulus == fast); // not at once
    double last = fast;
    for (int k = 0; k < 400; k++) {
        mn_mpm_update_bulk_modulus(mpm, 1e-3);
        // In a few steps, each keeping a reserve.
        assert_true(mpm->bulk_modulus == last || mpm->bulk_modulus < last / 1.5);
        last = mpm->bulk_modulus;
    }
    assert_true(last >= wanted(mpm, radius, 0) && last <= 2 * wanted(mpm, radius, 0));
    check_close(mn_pressure(last, mpm->materials.data[1].j), pressure, 1e-9 * pressure);
    assert_true(mpm->materials.data[0].j >= 0.8);
    set_speed(mpm, 0.5);
    mn_mpm_update_bulk_modulus(mpm, 0);
    assert_true(mpm->bulk_modulus >= wanted(mpm, radius, 0.5)); // up again at once
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_demand_that_swings_by_less_than_two_changes_nothing(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, water(), 3e-3, mn_v3(0, 0, 0), mn_v3(0.2, 0, 0));
    mn_mpm_update_bulk_modulus(mpm, 0);
    const double stiff = mpm->bulk_modulus;
    for (int k = 0; k < 20; k++) {
        set_speed(mpm, k % 2 ? 0.2 : 0.14);
        mn_mpm_update_bulk_modulus(mpm, 0.05);
        assert_true(mpm->bulk_modulus == stiff);
    }
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_drop_that_has_come_to_rest_is_soft_and_whole(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = water();
    def.viscosity = 0.05; // comes to rest soon
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    def.wall[2] = MN_MPM_SLIP;
    mn_mpm *mpm = make_drop(ctx, def, 2.5e-3, mn_v3(0, 2.7e-3, 0), mn_v3(0, -0.5, 0));
    double most = 0, worst = 0;
    for (int k = 0; k < 40; k++) {
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 1.5e-3));
        mn_report report;
        mn_mpm_report(mpm, &report);
        most = fmax(most, mpm->bulk_modulus);
        worst = fmax(worst, fabs(report.value[MN_REPORT_volume][0] / mpm->extremes.volume - 1));
    }
    assert_true(mpm->bulk_modulus < 0.5 * most);
    assert_true(worst < def.compression);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// A drop of 3 dx falls at 2 m/s into a pool of fourteen times its volume, which is at rest.
static void a_fast_drop_stays_whole_in_a_calm_pool(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = water();
    const double half_width = 10e-3, depth = 4e-3, radius = 3e-3;
    def.domain = (mn_box){{-half_width, -depth, -half_width}, {half_width, 1, half_width}};
    for (int i = 0; i < 6; i++) def.wall[i] = i == 3 ? MN_MPM_OPEN : MN_MPM_SLIP;
    mn_mpm *mpm = make_drop(ctx, def, radius, mn_v3(0.1e-3, radius + 1e-3, 0.2e-3), mn_v3(0, -2, 0));
    const int64_t drop_count = mpm->particles.count;
    add_pool(mpm, def.domain);
    const int64_t count = mpm->particles.count;
    assert_true(count > 14 * drop_count);
    mn_mpm_point *points = malloc(sizeof *points * (size_t)count);
    double worst = 0;
    for (int k = 0; k < 6; k++) {
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.1 * 2 * radius / 2));
        check_ok(ctx, mn_mpm_get_points(mpm, points)); // by rising id: the drop is first
        double sum = 0;
        for (int64_t i = 0; i < drop_count; i++) sum += points[i].j;
        worst = fmax(worst, fabs(sum / (double)drop_count - 1));
    }
    assert_true(worst < def.compression);
    free(points);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// One particle a hundred times as fast as the flow is no flow.
static void a_thrown_particle_stiffens_nothing(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, water(), 3e-3, mn_v3(0, 0, 0), mn_v3(0.05, 0, 0));
    mn_mpm_update_bulk_modulus(mpm, 0);
    const double stiff = mpm->bulk_modulus;
    mpm->particles.data[0].v = mn_v3(1, 0, 0);
    check_ok(ctx, mn_mpm_find_extremes(mpm));
    mn_mpm_update_bulk_modulus(mpm, 0);
    assert_true(mpm->bulk_modulus == stiff);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiffness_follows_what_presses_up_and_down),
        cmocka_unit_test(a_demand_that_swings_by_less_than_two_changes_nothing),
        cmocka_unit_test(a_drop_that_has_come_to_rest_is_soft_and_whole),
        cmocka_unit_test(a_fast_drop_stays_whole_in_a_calm_pool),
        cmocka_unit_test(a_thrown_particle_stiffens_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
