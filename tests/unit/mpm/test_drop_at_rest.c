// SPDX-License-Identifier: Apache-2.0
//
// A drop at rest under steps five times shorter than its capillary time, for fifteen of them: its outermost
// layer of particles stays at the surface, and both momenta stay nothing. When particles there moved with the
// mean velocity of their group, a third of the layer had receded by then, and the drop burst a little later.
#include "support/check.h"

#include "mpm/state.h"

enum { COUNT_MAX = 4000, STEPS = 80 };

typedef struct stage {
    mn_context *ctx;
    mn_mpm *mpm;
    mn_vec3 x[COUNT_MAX];
    mn_mpm_point points[COUNT_MAX];
    int64_t count;
} stage;

// On the lattice of eight particles a cell.
static void lay_ball(stage *s, double radius, double dx)
{
    const double h = 0.5 * dx;
    const int most = (int)ceil(radius / h);
    s->count = 0;
    for (int i = -most; i < most; i++)
        for (int j = -most; j < most; j++)
            for (int k = -most; k < most; k++) {
                const mn_vec3 r = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(r) < radius) s->x[s->count++] = r;
            }
}

static int64_t count_outside_of(stage *s, double radius)
{
    int64_t count = 0;
    check_ok(s->ctx, mn_mpm_get_points(s->mpm, s->points));
    for (int64_t i = 0; i < s->count; i++) count += mn_norm(s->points[i].position) > radius;
    return count;
}

static void keeps_its_outermost_layer(void **state)
{
    (void)state;
    static const mn_hooks hooks = {.max_workers = 1};
    static stage s;
    const double radius = 2.6e-3, dx = radius / 4, sigma = 0.0728, density = 998, step = 2.9e-3;
    const double speed = sqrt(sigma / (density * radius));
    s.ctx = mn_context_create(&hooks);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0), def.dx = dx, def.sigma = sigma, def.density = density, def.viscosity = 0;
    def.integrator = MN_MPM_IMPLICIT, def.max_dt = step;
    lay_ball(&s, radius, dx);
    check_ok(s.ctx, mn_mpm_create(s.ctx, &def, &s.mpm));
    check_ok(s.ctx, mn_mpm_add(s.mpm, &(mn_mpm_source){.count = s.count, .position = s.x}));
    const int64_t before = count_outside_of(&s, radius - 0.25 * dx);
    for (int k = 0; k < STEPS; k++) check_ok(s.ctx, mn_mpm_advance(s.mpm, NULL, step));
    assert_true((double)count_outside_of(&s, radius - 0.25 * dx) > 0.9 * (double)before);
    mn_report report;
    mn_mpm_report(s.mpm, &report);
    const double mass = report.value[MN_REPORT_mass][0];
    for (int a = 0; a < 3; a++) {
        assert_true(fabs(report.value[MN_REPORT_momentum][a]) <= 1e-12 * mass * speed);
        assert_true(fabs(report.value[MN_REPORT_angular_momentum][a]) <= 1e-4 * mass * speed * radius);
    }
    mn_mpm_free(s.mpm);
    mn_context_free(s.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_its_outermost_layer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
