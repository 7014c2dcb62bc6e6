// SPDX-License-Identifier: Apache-2.0
//
// Pools that start at rest: Gauss points stay there to rounding, particles anywhere nearly.
#include "support/check.h"

#include "base/random.h"
#include "mpm/state.h"

static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

/// A pool of 4 x 3 x 4 cells in walls that stand on half nodes, `offset` dx from there: eight Gauss points a
/// cell, or eight particles anywhere in their octants.
static mn_mpm *make_pool(mn_context *ctx, mn_mpm_def def, double offset, mn_mpm_wall kind, bool gauss)
{
    const double dx = def.dx, shift = (0.5 + offset) * dx;
    def.gravity = mn_v3(0, -9.81, 0);
    def.domain = (mn_box){{shift, shift, shift}, {shift + 4 * dx, shift + 20 * dx, shift + 4 * dx}};
    for (int i = 0; i < 6; i++) def.wall[i] = kind;
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    mn_vec3 x[8 * 6 * 8];
    int64_t count = 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 8; k++, count++) {
                const double low = 0.5 - 0.5 / sqrt(3), g[2] = {2 * low, 1 - 2 * low};
                const mn_vec3 place =
                    gauss ? mn_v3(g[i % 2], g[j % 2], g[k % 2]) : mn_random_unit3(5, (uint64_t)count, 0);
                x[count] =
                    mn_add(mn_scale(0.5 * dx, mn_add(mn_v3(i, j, k), place)), mn_v3(shift, shift, shift));
            }
    const mn_mpm_source source = {.count = count, .position = x};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    return mpm;
}

static double largest_speed(mn_mpm *mpm, int steps)
{
    double most = 0;
    for (int k = 0; k < steps; k++) {
        check_ok(mpm->solver.ctx, mn_mpm_advance(mpm, NULL, 1e-4));
        most = fmax(most, mpm->extremes.max_speed);
    }
    return most;
}

static double speed_of_pool(bool balanced, double offset, mn_mpm_wall kind, bool gauss)
{
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.sigma = 0, def.hydrostatic = balanced;
    mn_mpm *mpm = make_pool(ctx, def, offset, kind, gauss);
    const double speed = largest_speed(mpm, 30);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
    return speed;
}

/// Forces cancel to rounding, 1e-16 of what they are, over 3 ms.
static void gauss_points_stay_at_rest(void **state)
{
    (void)state;
    const mn_mpm_wall kinds[] = {MN_MPM_SLIP, MN_MPM_SEPARATE, MN_MPM_STICK};
    for (int k = 0; k < 3; k++) {
        const double rest = speed_of_pool(true, 0, kinds[k], true);
        assert_true(rest < 1e-12);
        assert_true(speed_of_pool(false, 0, kinds[k], true) > 1e-3);
    }
}

/// Particles anywhere, walls anywhere: the pressures found leave less than half of the speed.
static void any_pool_starts_calmer(void **state)
{
    (void)state;
    const double offsets[] = {0.5, 0.13, -0.3};
    for (int k = 0; k < 3; k++) {
        const double rest = speed_of_pool(true, offsets[k], MN_MPM_SLIP, false);
        const double restless = speed_of_pool(false, offsets[k], MN_MPM_SLIP, false);
        assert_true(rest < 0.5 * restless);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauss_points_stay_at_rest),
        cmocka_unit_test(any_pool_starts_calmer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
