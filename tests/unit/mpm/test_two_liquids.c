// SPDX-License-Identifier: Apache-2.0
//
// Two liquids: how tensions are shared out, the energy of what two drops have between them and against air,
// momenta, what is refused, and the same bits through a save.
#include "support/check.h"
#include "support/stream_buffer.h"

#include "base/random.h"
#include "mpm/step.h"
#include "mpm/surface.h"

static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_mpm_def pair_def(void)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.viscosity = 1e-2, def.interfacial_tension = 0.05;
    return def;
}

enum { REACH = 13, MAX = 8 * REACH * REACH * REACH };

// A ball of 6 cells, one half of it of each liquid.
static mn_mpm *make_pair(mn_context *ctx, mn_mpm_def def, double sigma_a, double sigma_b)
{
    static mn_vec3 x[MAX];
    static double sigma[MAX];
    static int32_t which[MAX];
    const double h = 0.5 * def.dx, radius = 6 * def.dx;
    int64_t count = 0;
    for (int i = -REACH; i < REACH; i++)
        for (int j = -REACH; j < REACH; j++)
            for (int k = -REACH; k < REACH; k++) {
                const mn_vec3 r = mn_v3((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h);
                if (mn_norm(r) > radius) continue;
                which[count] = r.x > 0, sigma[count] = r.x > 0 ? sigma_b : sigma_a, x[count++] = r;
            }
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    const mn_mpm_source source = {.count = count, .position = x, .sigma = sigma, .liquid = which};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    return mpm;
}

static void tensions_are_shared_out(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const double a = 0.07, b = 0.04, between = 0.05, pi = 3.14159265358979323846, R = 6e-3;
    mn_mpm *mpm = make_pair(ctx, pair_def(), a, b);
    assert_true(mpm->liquids.two);
    const double *share = mpm->liquids.share, all = 0.5 * (a + b - between);
    check_close(share[0] + share[1], between, 1e-14);
    check_close(share[0] + all, a, 1e-14);
    check_close(share[1] + all, b, 1e-14);
    check_ok(ctx, mn_mpm_sample_surface(mpm));
    // Half a ball against air each, and a disc between them. Smoothing rounds the edge of each half.
    const double known = 2 * pi * R * R * (a + b) + pi * R * R * between;
    check_close(mpm->surface_energy, known, 0.06 * known);
    mpm->def.interfacial_tension = 0;
    check_ok(ctx, mn_mpm_find_extremes(mpm));
    assert_false(mpm->liquids.two);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void momenta_stay(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_pair(ctx, pair_def(), 0.07, 0.04);
    mn_report before, after;
    mn_mpm_report(mpm, &before);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
    mn_mpm_report(mpm, &after);
    const double scale = before.value[MN_REPORT_mass][0] * after.value[MN_REPORT_max_speed][0];
    assert_true(after.value[MN_REPORT_max_speed][0] > 1e-3); // the line draws in
    for (int i = 0; i < 3; i++) {
        check_close(after.value[MN_REPORT_momentum][i], 0, 1e-12 * scale);
        check_close(after.value[MN_REPORT_angular_momentum][i], 0, 1e-12 * scale * 6e-3);
    }
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void tensions_that_cannot_balance_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const double cases[2][2] = {{0.072, 0.02}, {0.02, 0.02}}; // one spreads; they would part
    for (int k = 0; k < 2; k++) {
        mn_mpm *mpm = make_pair(ctx, pair_def(), cases[k][0], cases[k][1]);
        assert_int_equal(mn_mpm_advance(mpm, NULL, 1e-4), MN_ERROR_ARGUMENT);
        assert_non_null(strstr(mn_context_message(ctx), "interfacial_tension"));
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

static void relaxing_keeps_their_pressures_apart(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_pair(ctx, pair_def(), 0.07, 0.04);
    for (int64_t i = 0; i < mpm->materials.count; i++)
        mpm->materials.data[i].j = mn_mpm_liquid_of(&mpm->materials.data[i]) ? 0.98 : 1.01;
    check_ok(ctx, mn_mpm_relax_volumes(mpm, 0.2));
    for (int64_t i = 0; i < mpm->materials.count; i++)
        check_close(mpm->materials.data[i].j, mn_mpm_liquid_of(&mpm->materials.data[i]) ? 0.98 : 1.01, 1e-14);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_saved_pair_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_pair(ctx, pair_def(), 0.07, 0.04), *loaded;
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 2e-4));
    buffer b = {.ctx = ctx};
    mn_writer out = {ctx, &b, buffer_write};
    check_ok(ctx, mn_mpm_save(mpm, &out));
    const mn_mpm_def def = pair_def();
    mn_reader in = {ctx, &b, buffer_read};
    check_ok(ctx, mn_mpm_load(ctx, &def, &in, &loaded));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 2e-4));
    check_ok(ctx, mn_mpm_advance(loaded, NULL, 2e-4));
    assert_int_equal(mpm->particles.count, loaded->particles.count);
    const size_t bytes = sizeof(mn_mpm_particle) * (size_t)mpm->particles.count;
    assert_memory_equal(mpm->particles.data, loaded->particles.data, bytes);
    // Looking at the samples changes nothing either.
    check_ok(ctx, mn_mpm_show_samples(loaded, NULL));
    assert_true(loaded->shown.samples.count > 0);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-4));
    check_ok(ctx, mn_mpm_advance(loaded, NULL, 1e-4));
    assert_memory_equal(mpm->particles.data, loaded->particles.data, bytes);
    mn_mpm_free(mpm);
    mn_mpm_free(loaded);
    free(b.bytes);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensions_are_shared_out),
        cmocka_unit_test(momenta_stay),
        cmocka_unit_test(tensions_that_cannot_balance_are_refused),
        cmocka_unit_test(relaxing_keeps_their_pressures_apart),
        cmocka_unit_test(a_saved_pair_goes_on_with_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
