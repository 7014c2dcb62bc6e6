// SPDX-License-Identifier: Apache-2.0
//
// Walls and solids: what they leave of a velocity, and liquids that rest on them or are pushed by them.
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/painted_floor.h"

#include "mpm/boundary.h"
#include "mpm/walls.h"

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
    mn_mpm_report(mpm, &report);
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

// Nodes inside a solid feel what is painted nearest to them; where nothing is painted, the solver's.
static void paint_on_solids_is_felt(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    const mn_vec3 in = {0.3, -0.2, 0.4}, left = {-0.1, -1e-3, 0}, right = {0.1, -1e-3, 0};
    def.friction = 0.25;
    painted_floor f = painted_floor_open(ctx, MN_PAINT_FRICTION, 1, -1);
    // Speed 0.5 along the wall loses 1 or 0.25 of the 0.2 into it.
    check_close(mn_norm(mn_mpm_apply_collider(&def, f.collider, 0, left, in)), 0.3, 1e-12);
    check_close(mn_norm(mn_mpm_apply_collider(&def, f.collider, 0, right, in)), 0.45, 1e-12);
    mn_mpm_touch touches[MN_MPM_TOUCH_MAX];
    assert_int_equal(mn_mpm_find_touches(&def, f.collider, 0, left, touches), 1);
    check_close(touches[0].friction, 1, 0); // implicit steps see it too
    painted_floor_close(&f);
    f = painted_floor_open(ctx, MN_PAINT_SLIP, 0, 1);
    check_close(mn_norm(mn_mpm_apply_collider(&def, f.collider, 0, left, in)), 0, 0);
    check_close(mn_norm(mn_mpm_apply_collider(&def, f.collider, 0, right, in)), 0.45, 1e-12);
    def.collider = MN_MPM_STICK;
    check_close(mn_norm(mn_mpm_apply_collider(&def, f.collider, 0, right, in)), 0.5, 1e-12);
    painted_floor_close(&f);
    mn_context_free(ctx);
}

// Two blocks slide along one floor: the one on the rough side loses mu times what the floor has pushed up,
// g t + v_y, the other nothing.
static void a_painted_floor_slows_what_slides_on_it(void **state)
{
    (void)state;
    const double g = 9.81, mu = 0.4, t = 0.02, speed = 0.3;
    for (int implicit = 0; implicit < 2; implicit++) {
        mn_context *ctx = calm_context();
        mn_mpm_def def = mn_mpm_default_def();
        def.sigma = 0, def.gravity = mn_v3(0, -g, 0), def.dx = 2e-3, def.hydrostatic = true,
        def.viscosity = 0.5;
        if (implicit) def.integrator = MN_MPM_IMPLICIT, def.max_dt = 1e-3;
        painted_floor f = painted_floor_open(ctx, MN_PAINT_FRICTION, mu, 0);
        mn_mpm *mpm;
        mn_vec3 x[1024], v[1024];
        for (int i = 0; i < 1024; i++) {
            const int k = i % 512;
            x[i] = mn_v3((i < 512 ? -0.1 : 0.1) + (k / 64) * 1e-3, (k / 8 % 8 + 0.5) * 1e-3, (k % 8) * 1e-3);
            v[i] = mn_v3(0, 0, speed);
        }
        check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
        check_ok(ctx, mn_mpm_add(mpm, &(mn_mpm_source){1024, .position = x, .velocity = v}));
        check_ok(ctx, mn_mpm_advance(mpm, &(mn_solver_inputs){.collider = f.collider}, t));
        mn_vec3 mean[2] = {0};
        for (int64_t i = 0; i < mpm->particles.count; i++) {
            mn_vec3 *sum = &mean[mpm->materials.data[i].id >= 512];
            *sum = mn_axpy(*sum, 1.0 / 512, mpm->particles.data[i].v);
        }
        const double lost = mu * (g * t + mean[0].y);
        assert_true(lost > 0.5 * mu * g * t);
        // In implicit steps of a twentieth of the time friction acts on the solved velocity.
        check_close(mean[0].z, speed - lost, (implicit ? 0.08 : 0.03) * lost);
        check_close(mean[1].z, speed, 1e-3 * speed);
        mn_mpm_free(mpm);
        painted_floor_close(&f);
        mn_context_free(ctx);
    }
}

static void sides_have_their_own_friction_and_angle(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    for (int i = 0; i < 6; i++) def.wall[i] = MN_MPM_SEPARATE;
    def.friction = 0.25, def.contact_angle = 60;
    def.friction_min.y = 1, def.contact_angle_max.x = 120;
    const mn_vec3 in = {0.3, -0.2, 0.4};
    check_close(mn_norm(mn_mpm_apply_walls(&def, mn_v3(0, 0, 0), in)), 0.3, 1e-12);
    check_close(mn_norm(mn_mpm_apply_walls(&def, mn_v3(0, 1, 0), mn_v3(0.3, 0.2, 0.4))), 0.45, 1e-12);
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    const double degree = 3.14159265358979323846 / 180;
    check_close(mn_mpm_contact_angle(mpm, mn_v3(0.999, 0.5, 0)), 120 * degree, 1e-14);
    check_close(mn_mpm_contact_angle(mpm, mn_v3(-0.999, 0.5, 0)), 60 * degree, 1e-14);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
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
        cmocka_unit_test(paint_on_solids_is_felt),
        cmocka_unit_test(a_painted_floor_slows_what_slides_on_it),
        cmocka_unit_test(sides_have_their_own_friction_and_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
