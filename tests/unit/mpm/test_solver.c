// SPDX-License-Identifier: Apache-2.0
//
// The solver as a whole: what it refuses, what it conserves, that threads and a save in the middle do not
// change a bit, that a warm solver does not allocate, and that it survives running out of memory.
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/stream_buffer.h"

#include "mpm/state.h"

// One worker: these tests are small, and others run beside them.
static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

// A ball of lattice particles, `cells` across, moving along x.
static mn_status add_ball(mn_mpm *mpm, double radius, mn_vec3 centre, mn_vec3 velocity)
{
    enum { MAX = 20000 };
    static mn_vec3 x[MAX], v[MAX];
    const double h = 0.5 * mpm->def.dx;
    const int reach = (int)(radius / h) + 1;
    int64_t count = 0;
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            for (int k = -reach; k <= reach; k++) {
                const mn_vec3 r = mn_v3((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h);
                if (mn_norm(r) > radius || count == MAX) continue;
                x[count] = mn_add(centre, r), v[count++] = velocity;
            }
    const mn_mpm_source source = {.count = count, .position = x, .velocity = v};
    return mn_mpm_add(mpm, &source);
}

static mn_mpm_def small_def(void)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.sigma = 0.07, def.viscosity = 1e-3;
    return def;
}

static mn_mpm *make_drop(mn_context *ctx, mn_mpm_def def)
{
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, add_ball(mpm, 3e-3, mn_v3(0, 0, 0), mn_v3(0.1, 0, 0)));
    return mpm;
}

static uint64_t hash_state(const mn_mpm *mpm)
{
    uint64_t h = 1469598103934665603u;
    const unsigned char *bytes = (const void *)mpm->particles.data;
    for (size_t i = 0; i < sizeof(mn_mpm_particle) * (size_t)mpm->particles.count; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    for (int64_t i = 0; i < mpm->materials.count; i++) {
        uint64_t bits;
        memcpy(&bits, &mpm->materials.data[i].j, sizeof bits);
        h = (h ^ bits ^ (uint64_t)mpm->materials.data[i].id) * 1099511628211u;
    }
    return h;
}

static void bad_parameters_are_refused_by_name(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm;
    mn_mpm_def def = small_def();
    def.dx = 0;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "dx");
    def = small_def(), def.dx = NAN;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "dx");
    def = small_def(), def.sigma = -1;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "sigma");
    def = small_def(), def.density = 0;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "density");
    def = small_def(), def.cfl = 20;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "cfl");
    def = small_def(), def.gravity.y = INFINITY;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "gravity");
    def = small_def(), def.wall[2] = MN_MPM_SLIP;
    check_fails(ctx, mn_mpm_create(ctx, &def, &mpm), MN_ERROR_ARGUMENT, "domain");
    assert_null(mpm);
    mpm = make_drop(ctx, small_def());
    def = small_def(), def.dx = 2e-3;
    check_fails(ctx, mn_mpm_set_def(mpm, &def), MN_ERROR_ARGUMENT, "dx");
    check_fails(ctx, mn_mpm_advance(mpm, NULL, -1), MN_ERROR_ARGUMENT, "advance");
    check_fails(ctx, mn_mpm_advance(mpm, NULL, NAN), MN_ERROR_ARGUMENT, "advance");
    check_fails(ctx, mn_mpm_advance(mpm, NULL, 1e6), MN_ERROR_DIVERGED, "max_substeps");
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void bad_particles_are_refused_and_change_nothing(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, small_def());
    const uint64_t before = hash_state(mpm);
    mn_vec3 x[2] = {{0, 0, 0}, {NAN, 0, 0}}, v[2] = {{0, 0, 0}, {0, INFINITY, 0}};
    double number[2] = {1, 0};
    int64_t id[2] = {1, -4};
    mn_mpm_source source = {.count = 2, .position = x};
    check_fails(ctx, mn_mpm_add(mpm, &source), MN_ERROR_INPUT, "Particle 1");
    x[1].x = 1e-3;
    source.velocity = v;
    check_fails(ctx, mn_mpm_add(mpm, &source), MN_ERROR_INPUT, "velocity");
    source.velocity = NULL, source.mass = number;
    check_fails(ctx, mn_mpm_add(mpm, &source), MN_ERROR_INPUT, "mass");
    source.mass = NULL, source.density = number;
    check_fails(ctx, mn_mpm_add(mpm, &source), MN_ERROR_INPUT, "density");
    source.density = NULL, source.id = id;
    check_fails(ctx, mn_mpm_add(mpm, &source), MN_ERROR_INPUT, "id");
    source.id = NULL, x[1].x = 1e12; // too far for the grid: refused by it
    assert_int_not_equal(mn_mpm_add(mpm, &source), MN_OK);
    assert_true(hash_state(mpm) == before);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-4));
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void no_particles_and_one_particle_are_fine(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm;
    const mn_mpm_def def = small_def();
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.1));
    check_close(((mn_solver *)mpm)->time, 0.1, 0);
    mn_report report;
    mn_mpm_report(mpm, &report);
    check_close(report.value[MN_REPORT_particles][0], 0, 0);
    const mn_vec3 x = {1e-3, 2e-3, 3e-3}, v = {0.1, 0.2, -0.3};
    const mn_mpm_source source = {.count = 1, .position = &x, .velocity = &v};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.01));
    mn_mpm_point point;
    check_ok(ctx, mn_mpm_get_points(mpm, &point));
    check_close(mn_distance(point.position, mn_axpy(x, 0.01, v)), 0, 1e-12); // flies on
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void momenta_and_mass_stay_over_many_steps(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, small_def());
    for (int64_t i = 0; i < mpm->particles.count; i++) { // spin it
        mn_mpm_particle *p = &mpm->particles.data[i];
        p->v = mn_add(p->v, mn_cross(mn_v3(5, 3, -20), mn_mpm_position(p)));
    }
    mn_report before, after;
    mn_mpm_report(mpm, &before);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 2e-3));
    mn_mpm_report(mpm, &after);
    assert_true(after.value[MN_REPORT_substeps][0] >= 8);
    const double mass = before.value[MN_REPORT_mass][0], momentum = 0.1 * mass, angular = momentum * 4e-3;
    check_close(after.value[MN_REPORT_mass][0], mass, 0);
    for (int a = 0; a < 3; a++) {
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a],
                    1e-11 * momentum);
        check_close(after.value[MN_REPORT_angular_momentum][a], before.value[MN_REPORT_angular_momentum][a],
                    1e-11 * angular);
    }
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// The grid goes with a drop that nothing holds: what it does is what it does at rest, to rounding.
static void a_drop_that_flies_is_a_drop_at_rest(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = small_def();
    def.bulk_modulus = 4e3, def.max_dt = 2e-5;
    const mn_vec3 velocity = mn_v3(0.17, -0.06, 0.11);
    mn_mpm *drops[2];
    for (int k = 0; k < 2; k++) {
        check_ok(ctx, mn_mpm_create(ctx, &def, &drops[k]));
        check_ok(ctx, add_ball(drops[k], 2.2e-3, mn_v3(0, 0, 0), mn_scale(k, velocity)));
        check_ok(ctx, mn_mpm_advance(drops[k], NULL, 4e-4));
    }
    static mn_mpm_point points[2][20000];
    for (int k = 0; k < 2; k++) check_ok(ctx, mn_mpm_get_points(drops[k], points[k]));
    double most = 0, fastest = 0;
    for (int64_t i = 0; i < drops[0]->particles.count; i++) {
        const mn_vec3 own = mn_sub(points[1][i].velocity, velocity);
        most = fmax(most, mn_norm(mn_sub(own, points[0][i].velocity)));
        fastest = fmax(fastest, mn_norm(points[0][i].velocity));
    }
    assert_true(fastest > 1e-4);
    assert_true(most <= 1e-8 * fastest); // rounding, and what of it decides where a sample belongs
    for (int k = 0; k < 2; k++) mn_mpm_free(drops[k]);
    mn_context_free(ctx);
}

static void flip_conserves_linear_momentum(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = small_def();
    def.transfer = MN_MPM_APIC_FLIP;
    mn_mpm *mpm = make_drop(ctx, def);
    mn_report before, after;
    mn_mpm_report(mpm, &before);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
    mn_mpm_report(mpm, &after);
    for (int a = 0; a < 3; a++)
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a],
                    1e-11 * 0.1 * before.value[MN_REPORT_mass][0]);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static uint64_t hash_after_run(int32_t workers)
{
    mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    mn_mpm *mpm = make_drop(ctx, small_def());
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
    const uint64_t hash = hash_state(mpm);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
    return hash;
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    const uint64_t one = hash_after_run(1);
    assert_true(hash_after_run(2) == one);
    assert_true(hash_after_run(8) == one);
}

// ---- saving ----

static void a_loaded_solver_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_mpm_def def = small_def();
    mn_mpm *mpm = make_drop(ctx, def), *copy;
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 5e-4));
    buffer b = {.ctx = ctx};
    mn_writer out = {ctx, &b, buffer_write};
    check_ok(ctx, mn_mpm_save(mpm, &out));
    mn_reader in = {ctx, &b, buffer_read};
    check_ok(ctx, mn_mpm_load(ctx, &def, &in, &copy));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 5e-4));
    check_ok(ctx, mn_mpm_advance(copy, NULL, 5e-4));
    assert_true(hash_state(mpm) == hash_state(copy));
    mn_mpm_free(copy);
    // A stream that ends early, and one for another grid, are errors.
    const size_t whole = b.size;
    b.at = 0, b.size /= 2;
    assert_int_not_equal(mn_mpm_load(ctx, &def, &in, &copy), MN_OK);
    assert_null(copy);
    b.size = whole;
    mn_mpm_def other = def;
    other.dx *= 2, b.at = 0;
    check_fails(ctx, mn_mpm_load(ctx, &other, &in, &copy), MN_ERROR_ARGUMENT, "dx");
    free(b.bytes);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_loaded_solver_shows_the_same_surface(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_mpm_def def = small_def();
    mn_mpm *mpm = make_drop(ctx, def), *copy;
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 5e-4));
    buffer b = {.ctx = ctx};
    mn_writer out = {ctx, &b, buffer_write};
    check_ok(ctx, mn_mpm_save(mpm, &out));
    mn_reader in = {ctx, &b, buffer_read};
    check_ok(ctx, mn_mpm_load(ctx, &def, &in, &copy));
    mn_mpm_mesh one, two;
    check_ok(ctx, mn_mpm_get_surface(mpm, NULL, def.dx, &one));
    check_ok(ctx, mn_mpm_get_surface(copy, NULL, def.dx, &two));
    assert_true(one.vertex_count > 0);
    assert_int_equal(one.vertex_count, two.vertex_count);
    assert_memory_equal(one.positions, two.positions, (size_t)one.vertex_count * sizeof *one.positions);
    assert_memory_equal(one.velocities, two.velocities, (size_t)one.vertex_count * sizeof *one.velocities);
    free(b.bytes);
    mn_mpm_free(copy);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_warm_solver_hardly_allocates(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, small_def());
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 2e-3));
    const int64_t calls = mn_context_allocation_count(ctx);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
    // Buffers may reach a new high-water mark once or twice, not at every step.
    mn_report report;
    mn_mpm_report(mpm, &report);
    const double steps = report.value[MN_REPORT_substeps][0];
    assert_true(steps >= 4);
    assert_true((double)(mn_context_allocation_count(ctx) - calls) <= 2);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void out_of_memory_is_reported_and_leaves_the_last_good_state(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        hooks.max_workers = 1;
        mn_context *ctx = mn_context_create(&hooks);
        if (!ctx) continue;
        mn_mpm_def def = small_def();
        mn_mpm *mpm = NULL;
        mn_status status = mn_mpm_create(ctx, &def, &mpm);
        if (status == MN_OK) status = add_ball(mpm, 1.5e-3, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
        if (status == MN_OK) status = mn_mpm_advance(mpm, NULL, 2e-5);
        assert_true(status == MN_OK || status == MN_ERROR_MEMORY);
        assert_true(status != MN_OK || !memory.failed);
        // After a failure the solver still works: memory is there again.
        if (mpm && status != MN_OK) check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-5));
        mn_mpm_free(mpm);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

// Whatever the length of a step, it ended the simulation: one particle is no reason to.
static void a_crushed_particle_is_left_what_it_has(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm_def def = small_def();
    def.bulk_modulus = 1e4; // volumes follow where it changes by itself
    mn_mpm *mpm = make_drop(ctx, def);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-5)); // volumes are set at first
    int64_t inner = 0;
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        mn_mpm_particle *p = &mpm->particles.data[i];
        const mn_vec3 x = mn_mpm_position(p);
        p->v = mn_scale(-50, x); // 1/s, together
        if (mn_norm2(x) < mn_norm2(mn_mpm_position(&mpm->particles.data[inner]))) inner = i;
    }
    mpm->materials.data[inner].j = 0.04;
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
    double least = INFINITY;
    for (int64_t i = 0; i < mpm->materials.count; i++) least = fmin(least, mpm->materials.data[i].j);
    assert_true(least >= 0.1);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void walls_hold_the_liquid(void **state)
{
    (void)state;
    const mn_mpm_wall kinds[] = {MN_MPM_SLIP, MN_MPM_STICK, MN_MPM_SEPARATE};
    for (size_t k = 0; k < 3; k++) {
        mn_context *ctx = calm_context();
        mn_mpm_def def = small_def();
        def.domain = (mn_box){{-5e-3, -5e-3, -5e-3}, {5e-3, 5e-3, 5e-3}};
        for (int i = 0; i < 6; i++) def.wall[i] = kinds[k];
        def.gravity = mn_v3(0, -200, 0);
        mn_mpm *mpm = make_drop(ctx, def);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.01));
        for (int64_t i = 0; i < mpm->particles.count; i++) {
            const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
            // Nodes on the plane stop; a particle comes as near as a small part of a cell.
            assert_true(fabs(x.x) < 5.2e-3 && fabs(x.y) < 5.2e-3 && fabs(x.z) < 5.2e-3);
        }
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_parameters_are_refused_by_name),
        cmocka_unit_test(bad_particles_are_refused_and_change_nothing),
        cmocka_unit_test(no_particles_and_one_particle_are_fine),
        cmocka_unit_test(momenta_and_mass_stay_over_many_steps),
        cmocka_unit_test(a_drop_that_flies_is_a_drop_at_rest),
        cmocka_unit_test(flip_conserves_linear_momentum),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_loaded_solver_goes_on_with_the_same_bits),
        cmocka_unit_test(a_loaded_solver_shows_the_same_surface),
        cmocka_unit_test(a_warm_solver_hardly_allocates),
        cmocka_unit_test(out_of_memory_is_reported_and_leaves_the_last_good_state),
        cmocka_unit_test(a_crushed_particle_is_left_what_it_has),
        cmocka_unit_test(walls_hold_the_liquid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
