// SPDX-License-Identifier: Apache-2.0
//
// Fields that act on the liquid: a force accelerates it, sigma and viscosity are what the field says where it
// reaches, and the air pushes a ball with the drag of a ball.
#include "support/analytic_volume.h"
#include "support/check.h"

#include "mpm/state.h"

static const double dx = 1e-3;

// A ball of lattice points, eight to a cell.
static mn_mpm *make_ball(mn_context *ctx, const mn_mpm_def *def, double radius)
{
    static mn_vec3 x[20000];
    int64_t count = 0;
    const int reach = (int)(2 * radius / dx) + 1;
    for (int i = -reach; i < reach; i++)
        for (int j = -reach; j < reach; j++)
            for (int k = -reach; k < reach; k++) {
                const mn_vec3 at = mn_scale(0.5 * dx, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(at) < radius) x[count++] = at;
            }
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &(mn_mpm_source){count, .position = x}));
    return mpm;
}

static mn_vec3 mean_velocity(const mn_mpm *mpm)
{
    mn_report report;
    mn_mpm_report(mpm, &report);
    const double *p = report.value[MN_REPORT_momentum];
    return mn_scale(1 / report.value[MN_REPORT_mass][0], mn_v3(p[0], p[1], p[2]));
}

static mn_mpm_def calm_def(void)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = dx, def.gravity = mn_v3(0, 0, 0);
    return def;
}

static void a_force_field_accelerates(void **state)
{
    (void)state;
    const mn_mpm_integrator kinds[] = {MN_MPM_EXPLICIT, MN_MPM_IMPLICIT};
    for (int k = 0; k < 2; k++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_mpm_def def = calm_def();
        def.integrator = kinds[k], def.max_dt = 2e-4;
        mn_mpm *mpm = make_ball(ctx, &def, 4e-3);
        mn_volume force = analytic_motion(mn_v3(2, -1, 0.5), mn_v3(0, 0, 0), mn_v3(0, 0, 0));
        check_ok(ctx, mn_mpm_advance(mpm, &(mn_solver_inputs){.force = force}, 2e-3));
        // Implicit steps conserve momentum as far as Newton's method is run.
        check_close(mn_distance(mean_velocity(mpm), mn_scale(2e-3, mn_v3(2, -1, 0.5))), 0,
                    k == 0 ? 1e-9 : 5e-5);
        mn_volume_release(&force);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

static void sigma_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = v->r + v->a.x * x.x;
}

static void fields_set_the_material_where_they_reach(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_mpm_def def = calm_def();
    mn_mpm *mpm = make_ball(ctx, &def, 4e-3);
    mn_volume sigma = analytic_make("sigma", 1, 1e-4, 1);
    analytic_volume *v = sigma.handle;
    v->r = 0.05, v->a = mn_v3(2, 0, 0), v->value = sigma_value;
    v->bounds = (mn_box){{-1, -1, -1}, {1, 0, 1}}; // the lower half
    check_ok(ctx, mn_mpm_advance(mpm, &(mn_solver_inputs){.sigma = sigma}, 1e-4));
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
        check_close(mpm->materials.data[i].sigma, x.y > 0 ? 0.072 : 0.05 + 2 * x.x, 1e-12);
    }
    v->r = -1;
    assert_int_equal(mn_mpm_advance(mpm, &(mn_solver_inputs){.sigma = sigma}, 1e-4), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "The field sigma is -1"));
    mn_volume_release(&sigma);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// F = 0.5 c rho_air u^2 pi R^2 with c = 0.5: the surface is sampled, hence a few percent.
static void the_air_pushes_a_ball(void **state)
{
    (void)state;
    const double R = 6e-3, u = 10, rho = 1.2, t = 1e-3, pi = 3.14159265358979323846;
    mn_context *ctx = mn_context_create(NULL);
    mn_mpm_def def = calm_def();
    def.air_density = rho, def.wind = mn_v3(0, 0.5 * u, 0);
    mn_mpm *mpm = make_ball(ctx, &def, R);
    mn_volume wind = analytic_motion(mn_v3(0, 0.5 * u, 0), mn_v3(0, 0, 0), mn_v3(0, 0, 0)); // the other half
    check_ok(ctx, mn_mpm_advance(mpm, &(mn_solver_inputs){.wind = wind}, t));
    const double force = 0.5 * 0.5 * rho * u * u * pi * R * R, mass = 1000 * 4.0 / 3 * pi * R * R * R;
    const mn_vec3 v = mean_velocity(mpm);
    check_close(v.y, force / mass * t, 0.05 * force / mass * t);
    check_close(hypot(v.x, v.z), 0, 0.01 * v.y);
    mn_volume_release(&wind);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_field_accelerates),
        cmocka_unit_test(fields_set_the_material_where_they_reach),
        cmocka_unit_test(the_air_pushes_a_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
