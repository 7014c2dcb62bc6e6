// SPDX-License-Identifier: Apache-2.0
//
// Relaxing volume ratios: the sum of V J stays, a constant J stays, and scatter goes down.
#include "support/check.h"

#include "base/random.h"
#include "mpm/step.h"

// One worker: these tests are small, and others run beside them.
static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

enum { PARTICLES = 500 };

static mn_mpm *make_liquid(mn_context *ctx)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 0.5;
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    mn_vec3 x[PARTICLES];
    double mass[PARTICLES];
    for (uint64_t i = 0; i < PARTICLES; i++) {
        x[i] = mn_scale(2, mn_random_unit3(21, i, 0));
        mass[i] = 0.5 + mn_random_unit(21, i, 1);
    }
    const mn_mpm_source source = {.count = PARTICLES, .position = x, .mass = mass};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    return mpm;
}

static void scatter_falls_and_the_volume_stays(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_liquid(ctx);
    double before = 0, after = 0, spread_before = 0, spread_after = 0, total = 0;
    for (int64_t i = 0; i < PARTICLES; i++) {
        mn_mpm_material *q = &mpm->materials.data[i];
        q->j = 1 + 0.2 * (mn_random_unit(21, (uint64_t)q->id, 2) - 0.5);
        before += q->volume * q->j, total += q->volume;
        spread_before += q->volume * (q->j - 1) * (q->j - 1);
    }
    check_ok(ctx, mn_mpm_relax_volumes(mpm, 0.5));
    for (int64_t i = 0; i < PARTICLES; i++) {
        const mn_mpm_material *q = &mpm->materials.data[i];
        after += q->volume * q->j;
        spread_after += q->volume * (q->j - 1) * (q->j - 1);
    }
    check_close(after, before, 1e-13 * total);
    assert_true(spread_after < 0.5 * spread_before);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_constant_ratio_stays(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_liquid(ctx);
    for (int64_t i = 0; i < PARTICLES; i++) mpm->materials.data[i].j = 0.93;
    check_ok(ctx, mn_mpm_relax_volumes(mpm, 1.0));
    for (int64_t i = 0; i < PARTICLES; i++) check_close(mpm->materials.data[i].j, 0.93, 1e-14);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_falls_and_the_volume_stays),
        cmocka_unit_test(a_constant_ratio_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
