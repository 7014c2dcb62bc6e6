// SPDX-License-Identifier: Apache-2.0
//
// A particle outside of its drop's surface comes back to it, and a drop that spins keeps both momenta.
#include "support/check.h"

#include "mpm/resample.h"
#include "mpm/step.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

static void an_outlier_comes_back_and_momenta_stay(void **state)
{
    (void)state;
    const mn_hooks calm = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&calm);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.sigma = 0.07;
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    static mn_vec3 x[8000], v[8000];
    const double radius = 4e-3, h = 0.5e-3, speed = sqrt(0.07 / (1000 * radius));
    const mn_vec3 spin = mn_scale(speed / radius, mn_v3(0.1, 0.2, 0.4));
    int64_t count = 1;
    x[0] = mn_v3(radius + 0.6e-3, 0.1e-3, 0.2e-3); // more than half a cell outside
    for (int i = -9; i < 9; i++)
        for (int j = -9; j < 9; j++)
            for (int k = -9; k < 9; k++) {
                const mn_vec3 r = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(r) < radius) x[count++] = r;
            }
    for (int64_t i = 0; i < count; i++) v[i] = mn_add(mn_cross(spin, x[i]), mn_v3(speed, 0, 0));
    const mn_mpm_source ball = {.count = count, .position = x, .velocity = v};
    check_ok(ctx, mn_mpm_add(mpm, &ball));
    mn_report before, after;
    mn_mpm_report(mpm, &before);
    const double seconds = 0.3 * radius / speed;
    check_ok(ctx, mn_mpm_advance(mpm, NULL, seconds));
    mn_mpm_report(mpm, &after);
    const double mass = before.value[MN_REPORT_mass][0];
    for (int a = 0; a < 3; a++) {
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a],
                    1e-12 * mass * speed);
        check_close(after.value[MN_REPORT_angular_momentum][a], before.value[MN_REPORT_angular_momentum][a],
                    1e-12 * mass * speed * radius);
    }
    static mn_mpm_point points[8000];
    check_ok(ctx, mn_mpm_get_points(mpm, points));
    const mn_vec3 centre = mn_v3(after.value[MN_REPORT_center][0], after.value[MN_REPORT_center][1],
                                 after.value[MN_REPORT_center][2]);
    assert_true(mn_distance(points[0].position, centre) < radius + 0.25e-3);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// A drop that spreads at 30 degrees and draws back: how dense it lies within an eighth of a cell of its
// plate. Liquid that is at rest has a density of one everywhere; what is left of the lattice it begins with
// leaves some room there. Before the edge of a wedge was let be, it was 1.8 here, and rising.
static void a_wetting_drop_does_not_crowd_onto_its_plate(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    const double radius = 3.5 * def.dx, h = 0.5 * def.dx;
    def.contact_angle = 30, def.viscosity = 1e-2;
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}}, def.wall[2] = MN_MPM_SLIP;
    mn_mpm *mpm;
    static mn_vec3 x[2000];
    int64_t count = 0, near = 0;
    for (int i = -7; i < 7; i++)
        for (int j = -7; j < 7; j++)
            for (int k = -7; k < 7; k++) {
                const mn_vec3 r = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(r) < radius) x[count++] = mn_add(r, mn_v3(0, radius, 0));
            }
    const mn_mpm_source ball = {.count = count, .position = x};
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &ball));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 3 * sqrt(def.density * pow(radius, 3) / def.sigma)));
    for (int64_t i = 0; i < count; i++) near += mpm->particles.data[i].axis[1].x < 0.125 * def.dx;
    const double wetted = mn_level_set_get(mpm->surface.level_set).bodies[0].wetted;
    assert_true(wetted > radius * radius);
    assert_true((double)near * pow(h, 3) < wetted * 0.125 * def.dx);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// A sheet of one layer that stands on a pool lies outside of a surface smoothed over a cell, all of it,
// unless sheets are put back: it is left alone, but for a particle that stands out of it.
static void a_sheet_is_not_drawn_together(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    const double h = 0.5 * def.dx;
    def.sheets = false;
    mn_mpm *mpm;
    static mn_vec3 x[4000];
    int64_t count = 0;
    for (int i = -8; i < 8; i++)
        for (int j = -6; j < 12; j++)
            for (int k = -8; k < 8; k++)
                if (j < 0 || k == 0) x[count++] = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
    const mn_mpm_source liquid = {.count = count, .position = x};
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &liquid));
    check_ok(ctx, mn_mpm_sort_again(mpm));
    check_ok(ctx, mn_mpm_find_extremes(mpm));
    check_ok(ctx, mn_mpm_sample_surface(mpm));
    check_ok(ctx, mn_mpm_find_contacts(mpm));
    check_ok(ctx, mn_mpm_split(mpm, 0, 0));
    check_ok(ctx, mn_mpm_copy_to_next(mpm, count));
    check_ok(ctx, mn_mpm_settle_surface(mpm, 0.5));
    double outside = 0, moved = 0;
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 from = mn_mpm_position(&mpm->particles.data[i]);
        if (from.y < 2 * def.dx || from.y > 5 * def.dx || fabs(from.x) > 3 * def.dx) continue;
        outside = fmax(outside, mpm->settling.outside.data[i]);
        moved = fmax(moved, mn_distance(from, mn_mpm_position(&mpm->next.data[i])));
    }
    assert_true(outside > 0.1 * def.dx);
    assert_true(moved < 0.01 * def.dx);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_outlier_comes_back_and_momenta_stay),
                                       cmocka_unit_test(a_sheet_is_not_drawn_together),
                                       cmocka_unit_test(a_wetting_drop_does_not_crowd_onto_its_plate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
