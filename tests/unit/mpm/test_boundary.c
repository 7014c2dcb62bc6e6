// SPDX-License-Identifier: Apache-2.0
//
// Walls and solids: what they leave of a velocity, and liquids that rest on them or are pushed by them.
#include "support/analytic_volume.h"
#include "support/check.h"

#include "mpm/boundary.h"
#include "mpm/state.h"

static void every_kind_leaves_what_it_should(void **state)
{
    (void)state;
    const mn_vec3 n = {0, 1, 0}, in = {3, -2, 4}, out = {3, 2, 4};
    check_close(mn_distance(mn_mpm_bound_velocity(MN_MPM_OPEN, 0, n, in), in), 0, 0);
    check_close(mn_distance(mn_mpm_bound_velocity(MN_MPM_SLIP, 0, n, in), mn_v3(3, 0, 4)), 0, 0);
    check_close(mn_distance(mn_mpm_bound_velocity(MN_MPM_SLIP, 0, n, out), mn_v3(3, 0, 4)), 0, 0);
    check_close(mn_norm(mn_mpm_bound_velocity(MN_MPM_STICK, 0, n, in)), 0, 0);
    check_close(mn_distance(mn_mpm_bound_velocity(MN_MPM_SEPARATE, 0, n, out), out), 0, 0);
    check_close(mn_distance(mn_mpm_bound_velocity(MN_MPM_SEPARATE, 0, n, in), mn_v3(3, 0, 4)), 0, 1e-15);
    // Coulomb: 0.5 of the normal speed 2 is taken off the tangential speed 5.
    const mn_vec3 rubbed = mn_mpm_bound_velocity(MN_MPM_SEPARATE, 0.5, n, in);
    check_close(mn_norm(rubbed), 4, 1e-14);
    check_close(rubbed.x / rubbed.z, 0.75, 1e-14);
    check_close(mn_norm(mn_mpm_bound_velocity(MN_MPM_SEPARATE, 10, n, in)), 0, 0);
}

static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_mpm *make_block(mn_context *ctx, mn_mpm_def def, double bottom)
{
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    mn_vec3 x[512];
    for (int i = 0; i < 512; i++)
        x[i] = mn_v3((i / 64 - 3.5) * 0.5e-3, bottom + (i / 8 % 8 + 0.5) * 0.5e-3, (i % 8 - 3.5) * 0.5e-3);
    const mn_mpm_source source = {.count = 512, .position = x};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    return mpm;
}

static mn_geo *make_floor(mn_context *ctx, mn_vec3 velocity)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_plane(0.01)));
    check_ok(ctx, analytic_add(geo, analytic_motion(velocity, mn_v3(0, 0, 0), mn_v3(0, 0, 0))));
    return geo;
}

static void a_solid_floor_holds_what_falls_on_it(void **state)
{
    (void)state;
    const mn_mpm_wall kinds[] = {MN_MPM_SLIP, MN_MPM_STICK, MN_MPM_SEPARATE};
    for (int k = 0; k < 3; k++) {
        mn_context *ctx = calm_context();
        mn_mpm_def def = mn_mpm_default_def();
        def.gravity = mn_v3(0, 0, 0);
        def.sigma = 0, def.gravity = mn_v3(0, -50, 0), def.collider = kinds[k];
        mn_mpm *mpm = make_block(ctx, def, 1e-3);
        mn_geo *geo = make_floor(ctx, mn_v3(0, 0, 0));
        mn_collider_def solid = mn_collider_default_def();
        solid.geo = geo;
        mn_collider *collider;
        check_ok(ctx, mn_collider_create(ctx, &solid, &collider));
        check_ok(ctx,
                 mn_mpm_advance(mpm, &(mn_solver_inputs){.collider = collider}, 0.015)); // would fall 5.6 mm
        double lowest = INFINITY;
        for (int64_t i = 0; i < mpm->particles.count; i++)
            lowest = fmin(lowest, mpm->particles.data[i].axis[1].x);
        assert_true(lowest > -0.3e-3); // a third of a cell
        assert_true(lowest < 1e-3);
        mn_collider_free(collider);
        mn_geo_free(geo);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

static void a_solid_that_rises_lifts_what_lies_on_it(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.sigma = 0;
    mn_mpm *mpm = make_block(ctx, def, -1e-3); // the floor rises from there to 0
    mn_geo *geo = make_floor(ctx, mn_v3(0, 0.2, 0));
    mn_collider_def solid = mn_collider_default_def();
    solid.geo = geo;
    mn_collider *collider;
    check_ok(ctx, mn_collider_create(ctx, &solid, &collider));
    check_ok(ctx, mn_mpm_advance(mpm, &(mn_solver_inputs){.collider = collider}, 5e-3));
    mn_report report;
    mn_mpm_get_report(mpm, &report);
    // The block leaves with at least a good part of the floor's speed.
    assert_true(report.value[MN_REPORT_momentum][1] > 0.3 * 0.2 * report.value[MN_REPORT_mass][0]);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_sink_takes_out_what_passes(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.sigma = 0, def.gravity = mn_v3(0, -1000, 0);
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    def.wall[2] = MN_MPM_SINK;
    mn_mpm *mpm = make_block(ctx, def, 1e-3);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 5e-3)); // falls 12.5 mm
    assert_int_equal(mn_mpm_count(mpm), 0);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 5e-3));
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

typedef struct heard {
    int warnings;
} heard;

static void hear(void *user, mn_log_level level, const char *sentence)
{
    (void)sentence;
    if (level == MN_LOG_WARNING) ((heard *)user)->warnings++;
}

static mn_collider *make_collider(mn_context *ctx, mn_geo *geo)
{
    mn_collider_def solid = mn_collider_default_def();
    solid.geo = geo;
    mn_collider *collider;
    check_ok(ctx, mn_collider_create(ctx, &solid, &collider));
    return collider;
}

/// A block of 4 mm half sunk into the floor: what is within the floor's band comes out of it, what lies
/// deeper is taken out, and says so; then it rests.
static void particles_inside_solids_come_out_or_go(void **state)
{
    (void)state;
    heard h = {0};
    const mn_hooks hooks = {.max_workers = 1, .user = &h, .log = hear};
    mn_context *ctx = mn_context_create(&hooks);
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_mpm *mpm = make_block(ctx, def, -3e-3);
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_plane(0.5e-3))); // its band is 1.5 mm wide
    mn_collider *collider = make_collider(ctx, geo);
    check_ok(ctx, mn_mpm_advance(mpm, &(mn_solver_inputs){.collider = collider}, 2e-4));
    assert_int_equal(h.warnings, 1);
    // Layers of 64 every half a millimetre: those at -2.75, -2.25 and -1.75 mm are gone.
    assert_int_equal(mn_mpm_count(mpm), 512 - 3 * 64);
    for (int64_t i = 0; i < mpm->particles.count; i++) assert_true(mpm->particles.data[i].axis[1].x > -1e-8);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void thin_plate_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = fabs(x.y) - v->r;
}

/// A plate a quarter of a cell thick, between two planes of nodes, under a block that falls on it at 1 m/s.
static void thin_solids_do_not_leak(void **state)
{
    (void)state;
    const mn_mpm_wall kinds[] = {MN_MPM_SLIP, MN_MPM_SEPARATE};
    for (int k = 0; k < 2; k++) {
        mn_context *ctx = calm_context();
        mn_mpm_def def = mn_mpm_default_def();
        def.gravity = mn_v3(0, 0, 0);
        def.collider = kinds[k], def.gravity = mn_v3(0, -500, 0);
        mn_mpm *mpm = make_block(ctx, def, 1e-3);
        mn_geo *geo;
        check_ok(ctx, mn_geo_create(ctx, &geo));
        const mn_volume plate = analytic_make("surface", 1, 0.1e-3, 0.4e-3);
        analytic_volume *v = plate.handle;
        v->r = 0.125e-3, v->value = thin_plate_value;
        check_ok(ctx, analytic_add(geo, plate));
        mn_collider *collider = make_collider(ctx, geo);
        check_ok(ctx,
                 mn_mpm_advance(mpm, &(mn_solver_inputs){.collider = collider}, 5e-3)); // would fall 6 mm
        for (int64_t i = 0; i < mpm->particles.count; i++)
            assert_true(mpm->particles.data[i].axis[1].x > 0.12e-3);
        mn_collider_free(collider);
        mn_geo_free(geo);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_leaves_what_it_should),
        cmocka_unit_test(a_solid_floor_holds_what_falls_on_it),
        cmocka_unit_test(a_solid_that_rises_lifts_what_lies_on_it),
        cmocka_unit_test(a_sink_takes_out_what_passes),
        cmocka_unit_test(particles_inside_solids_come_out_or_go),
        cmocka_unit_test(thin_solids_do_not_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
