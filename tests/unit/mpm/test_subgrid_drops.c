// SPDX-License-Identifier: Apache-2.0
//
// Bodies too small for the grid: they fly, stay whole, are not pressed, and do not gain speed beside a drop
// at rest.
#include "support/check.h"

#include "base/random.h"
#include "mpm/state.h"

static mn_mpm *make_solver(mn_context *ctx)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.sigma = 0.07;
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    return mpm;
}

static void add_one(mn_mpm *mpm, mn_vec3 x, mn_vec3 v)
{
    const mn_mpm_source one = {.count = 1, .position = &x, .velocity = &v};
    check_ok(mpm->solver.ctx, mn_mpm_add(mpm, &one));
}

static void a_single_particle_flies_straight(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&calm);
    mn_mpm *mpm = make_solver(ctx);
    add_one(mpm, mn_v3(0.3e-3, 0, 0), mn_v3(1, 2, 3));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.01));
    mn_mpm_point p;
    check_ok(ctx, mn_mpm_get_points(mpm, &p));
    check_close(p.position.x, 0.3e-3 + 0.01, 1e-12);
    check_close(p.position.z, 0.03, 1e-12);
    check_close(p.j, 1, 1e-12);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_particle_beside_a_drop_stays_slow(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    const double radius = 4e-3, h = 0.5e-3, speed = sqrt(0.07 / (1000 * radius));
    static mn_vec3 x[8000];
    int64_t count = 0;
    for (int i = -9; i < 9; i++)
        for (int j = -9; j < 9; j++)
            for (int k = -9; k < 9; k++) {
                const mn_vec3 r = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(r) < radius) x[count++] = r;
            }
    // Up to 2.5 cells from the surface its forces are felt by the drop's nodes, and the drop's by it. It used
    // to reach three times the speed at which a drop swings, and draws near at less than that.
    for (int k = 0; k < 3; k++) {
        mn_context *ctx = mn_context_create(&calm);
        mn_mpm *mpm = make_solver(ctx);
        const mn_mpm_source ball = {.count = count, .position = x};
        check_ok(ctx, mn_mpm_add(mpm, &ball));
        add_one(mpm, mn_v3(radius + 1.8e-3 + k * 0.2e-3, 0.3e-3, 0.1e-3), mn_v3(0, 0, 0));
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.3 * radius / speed));
        mn_mpm_point *points = malloc(sizeof *points * (size_t)mn_mpm_count(mpm));
        check_ok(ctx, mn_mpm_get_points(mpm, points));
        assert_true(mn_norm(points[count].velocity) < 0.8 * speed);
        mn_report report;
        mn_mpm_report(mpm, &report);
        for (int a = 0; a < 3; a++)
            check_close(report.value[MN_REPORT_momentum][a], 0,
                        1e-12 * report.value[MN_REPORT_mass][0] * speed);
        free(points);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

// Ellipsoids of 1.5 : 1 that the grid sees no shape in: they used to fly apart at twice the speed at which a
// drop swings. They turn and move on as rigid bodies do, and keep both momenta.
static void a_droplet_of_less_than_a_cell_stays_whole(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    const double dx = 1e-3, h = 0.5e-3, radius = 0.75e-3, speed = sqrt(0.07 / (1000 * radius));
    const mn_vec3 spin = mn_scale(0.2 * speed / radius, mn_v3(0.3, 0.5, 0.8)), drift = mn_v3(0.1, 0, 0.2);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        mn_context *ctx = mn_context_create(&calm);
        mn_mpm *mpm = make_solver(ctx);
        mn_vec3 x[100], v[100];
        int64_t count = 0;
        for (int i = 0; i < 512; i++) {
            const mn_vec3 at = mn_v3(i / 64 - 4, i / 8 % 8 - 4, i % 8 - 4);
            const mn_vec3 r = mn_scale(h, mn_add(at, mn_random_unit3(seed, (uint64_t)i, 0)));
            if (r.x * r.x / 2.25 + 1.5 * (r.y * r.y + r.z * r.z) > radius * radius) continue;
            x[count] = r, v[count++] = mn_add(drift, mn_cross(spin, r));
        }
        const mn_mpm_source source = {.count = count, .position = x, .velocity = v};
        check_ok(ctx, mn_mpm_add(mpm, &source));
        mn_report before, after;
        mn_mpm_report(mpm, &before);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 4 * radius / speed));
        mn_mpm_report(mpm, &after);
        const double mass = before.value[MN_REPORT_mass][0];
        const mn_vec3 centre = mn_v3(after.value[MN_REPORT_center][0], after.value[MN_REPORT_center][1],
                                     after.value[MN_REPORT_center][2]);
        for (int64_t i = 0; i < count; i++)
            assert_true(mn_distance(mn_mpm_position(&mpm->particles.data[i]), centre) < 1.5 * radius + h);
        for (int a = 0; a < 3; a++) {
            check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a],
                        1e-12 * mass * speed);
            check_close(after.value[MN_REPORT_angular_momentum][a],
                        before.value[MN_REPORT_angular_momentum][a], 1e-12 * mass * speed * dx);
        }
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_droplet_of_less_than_a_cell_stays_whole),
        cmocka_unit_test(a_single_particle_flies_straight),
        cmocka_unit_test(a_particle_beside_a_drop_stays_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
