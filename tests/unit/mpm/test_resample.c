// SPDX-License-Identifier: Apache-2.0
//
// Surface samples that borrow mass: a step with arbitrary pieces of surface conserves mass and both momenta
// to rounding, and a group in affine motion comes back from the grid as it went.
#include "support/check.h"

#include "base/random.h"
#include "mpm/resample.h"
#include "mpm/step.h"
#include "mpm/surface.h"

// One worker: these tests are small, and others run beside them.
static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

enum { PARTICLES = 400, PATCHES = 500 };

static mn_vec3 random_vec(uint64_t id, uint32_t draw, double size)
{
    return mn_scale(2 * size, mn_sub(mn_random_unit3(11, id, draw), mn_v3(0.5, 0.5, 0.5)));
}

static mn_mpm *make_liquid(mn_context *ctx, mn_mpm_def def)
{
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    mn_vec3 x[PARTICLES], v[PARTICLES];
    double mass[PARTICLES];
    for (uint64_t i = 0; i < PARTICLES; i++) {
        x[i] = random_vec(i, 0, 2.0), v[i] = random_vec(i, 1, 1.0);
        mass[i] = 0.5 + mn_random_unit(11, i, 2);
    }
    const mn_mpm_source source = {.count = PARTICLES, .position = x, .velocity = v, .mass = mass};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    for (int64_t i = 0; i < PARTICLES; i++) {
        const uint64_t id = (uint64_t)mpm->materials.data[i].id;
        for (uint32_t a = 0; a < 3; a++) mpm->particles.data[i].axis[a].slope = random_vec(id, 5 + a, 1.0);
        mpm->materials.data[i].j = 0.95 + 0.1 * mn_random_unit(11, id, 9);
    }
    mpm->bulk_modulus = 10;
    // Pieces of surface within a cell of some particle, of any direction.
    void *memory;
    check_ok(ctx, mn_mpm_borrow(mpm, PATCHES, sizeof *mpm->surface.loose_patches, &memory));
    mpm->surface.loose_patches = memory, mpm->surface.loose_count = PATCHES;
    for (uint64_t k = 0; k < PATCHES; k++) {
        const mn_vec3 near = mn_mpm_position(&mpm->particles.data[k % (PARTICLES / 2)]);
        mpm->surface.loose_patches[k] = (mn_mpm_patch){.x = mn_add(near, random_vec(k, 20, 0.45 * def.dx)),
                                                       .area = random_vec(k, 21, 0.1)};
    }
    check_ok(ctx, mn_mpm_assign_patches(mpm));
    return mpm;
}

static void step(mn_mpm *mpm, double dt)
{
    mn_context *ctx = mpm->solver.ctx;
    const bool massless = mpm->def.surface_particles == MN_MPM_MASSLESS;
    const mn_mpm_cells cells = {mpm->particles.data, mpm->materials.data, mpm->grid.cell_start,
                                massless ? NULL : mpm->split.group_of.data};
    check_ok(ctx, mn_mpm_split(mpm, dt, dt));
    const mn_sorted_points sorted = mn_point_sort_result(mpm->split.sort);
    const mn_mpm_splats splats = {mpm->split.splats.data, mpm->split.pushes, sorted.order, sorted.cell_start};
    check_ok(ctx, mn_mpm_scatter(ctx, &mpm->grid.table, &cells, &splats,
                                 (mn_mpm_impulse){mpm->bulk_modulus, dt, dt}, mpm->grid.nodes.data));
    check_ok(ctx, mn_mpm_update_grid(mpm, mpm->grid.nodes.data, dt, true));
    mn_mpm_step_stats stats;
    check_ok(ctx, mn_mpm_move(mpm, dt, &stats));
    assert_true(stats.finite);
    check_ok(ctx, mn_mpm_sort_next(mpm));
}

static void every_piece_goes_to_its_nearest_particle(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 0.5, def.sigma = 1;
    mn_mpm *mpm = make_liquid(ctx, def);
    assert_int_equal(mpm->surface.patches.count, PATCHES); // none is farther than a cell from all
    int64_t members = 0;
    for (int64_t g = 0; g < mpm->split.groups.count; g++) {
        const mn_mpm_group *group = &mpm->split.groups.data[g];
        assert_int_equal(mpm->split.group_of.data[group->owner], g);
        assert_int_equal(group->first_splat, group->first_patch + 2 * g);
        members += group->patch_count;
        for (int32_t r = 0; r < group->patch_count; r++) {
            const mn_mpm_patch *patch = &mpm->surface.patches.data[group->first_patch + r];
            double least = INFINITY;
            for (int64_t i = 0; i < PARTICLES; i++)
                least = fmin(least, mn_distance(patch->x, mn_mpm_position(&mpm->particles.data[i])));
            check_close(mn_distance(patch->x, mn_mpm_position(&mpm->particles.data[group->owner])), least, 0);
        }
    }
    assert_int_equal(members, PATCHES);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_piece_far_from_all_particles_is_dropped(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 0.5;
    mn_mpm *mpm = make_liquid(ctx, def);
    mpm->surface.loose_patches[0].x = mn_v3(100, 0, 0);
    mpm->surface.loose_patches[1].x = mn_v3(2.0 + 3 * 0.5, 0, 0);
    check_ok(ctx, mn_mpm_assign_patches(mpm));
    assert_int_equal(mpm->surface.patches.count, PATCHES - 2);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void mass_and_momenta_are_conserved(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 0.5, def.sigma = 3, def.viscosity = 0.2;
    mn_mpm *mpm = make_liquid(ctx, def);
    mn_report before, after;
    mn_mpm_report(mpm, &before);
    step(mpm, 0.02);
    mn_mpm_report(mpm, &after);
    const double scale = before.value[MN_REPORT_mass][0] * 3.0; // speeds of 1, arms of 3
    check_close(after.value[MN_REPORT_mass][0], before.value[MN_REPORT_mass][0], 1e-13 * scale);
    for (int a = 0; a < 3; a++) {
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-13 * scale);
        check_close(after.value[MN_REPORT_angular_momentum][a], before.value[MN_REPORT_angular_momentum][a],
                    1e-13 * scale);
    }
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void affine_motion_survives_splitting_and_merging(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 0.5, def.sigma = 0, def.viscosity = 0;
    mn_mpm *mpm = make_liquid(ctx, def);
    mn_mat3 a;
    for (uint32_t i = 0; i < 9; i++) a.m[i / 3][i % 3] = mn_random_unit(12, 0, i) - 0.5;
    for (int64_t i = 0; i < PARTICLES; i++) {
        mn_mpm_particle *p = &mpm->particles.data[i];
        p->v = mn_m3_apply(a, mn_mpm_position(p));
        mn_mat3 c = a;
        if (mpm->split.group_of.data[i] >= 0) {
            // The first moment of a group that moves with A: C = A (I + 4 S/dx^2).
            const mn_mpm_group *g = &mpm->split.groups.data[mpm->split.group_of.data[i]];
            mn_mat3 spread = mn_m3_identity();
            mn_vec3 mean = {0, 0, 0};
            const double w = 4 / (2.0 * g->patch_count + 1) / (def.dx * def.dx);
            for (int32_t r = 0; r < g->patch_count; r++) {
                const mn_vec3 d = mn_sub(mpm->surface.patches.data[g->first_patch + r].x, mn_mpm_position(p));
                spread = mn_m3_add(spread, mn_m3_scale(w, mn_outer(d, d)));
                mean = mn_axpy(mean, 1.0 / g->patch_count, d);
            }
            spread = mn_m3_add(spread, mn_m3_scale(w * g->patch_count, mn_outer(mean, mean)));
            c = mn_m3_mul(a, spread);
        }
        mn_mpm_set_affine(p, c);
        mpm->materials.data[i].j = 1;
    }
    mn_vec3 v[PARTICLES];
    for (int64_t i = 0; i < PARTICLES; i++) v[mpm->materials.data[i].id] = mpm->particles.data[i].v;
    step(mpm, 1e-9); // no forces, hardly any motion
    for (int64_t i = 0; i < PARTICLES; i++)
        check_close(mn_distance(mpm->particles.data[i].v, v[mpm->materials.data[i].id]), 0, 1e-7);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// Massless samples put their force on whatever nodes have mass; on particles all around, momentum stays.
static void massless_samples_push_without_mass(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 0.5, def.sigma = 3, def.surface_particles = MN_MPM_MASSLESS;
    mn_mpm *mpm = make_liquid(ctx, def);
    assert_int_equal(mpm->split.groups.count, 0);
    mn_report before, after;
    mn_mpm_report(mpm, &before);
    step(mpm, 0.02);
    mn_mpm_report(mpm, &after);
    check_close(after.value[MN_REPORT_mass][0], before.value[MN_REPORT_mass][0], 1e-12);
    assert_true(after.value[MN_REPORT_kinetic_energy][0] != before.value[MN_REPORT_kinetic_energy][0]);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_goes_to_its_nearest_particle),
        cmocka_unit_test(a_piece_far_from_all_particles_is_dropped),
        cmocka_unit_test(mass_and_momenta_are_conserved),
        cmocka_unit_test(affine_motion_survives_splitting_and_merging),
        cmocka_unit_test(massless_samples_push_without_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
