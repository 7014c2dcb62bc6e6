// SPDX-License-Identifier: Apache-2.0
//
// Implicit steps: derivatives of the incremental potential against differences, symmetry and sign of its
// second derivative, Newton's convergence, what is conserved, small steps against explicit ones, walls, the
// same bits from any number of threads and through a save, and no allocation once warm.
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/stream_buffer.h"

#include "base/random.h"
#include "mpm/step.h"
#include "mpm/surface.h"

static const mn_mpm_node zero_node;

static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_mpm_def drop_def(mn_mpm_integrator integrator, double max_dt)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.sigma = 0.07, def.viscosity = 1e-3;
    def.integrator = integrator, def.max_dt = max_dt, def.cfl = 1;
    return def;
}

// An ellipsoid on a shaken lattice, spinning and drifting.
static mn_mpm *make_drop(mn_context *ctx, mn_mpm_def def)
{
    enum { MAX = 4000 };
    static mn_vec3 x[MAX], v[MAX];
    const double h = 0.5 * def.dx, a = 4 * def.dx, b = 3 * def.dx;
    int64_t count = 0;
    for (int i = -8; i < 8; i++)
        for (int j = -8; j < 8; j++)
            for (int k = -8; k < 8; k++) {
                const uint64_t id = (uint64_t)(((i + 8) * 16 + j + 8) * 16 + k + 8);
                const mn_vec3 r = mn_scale(h, mn_add(mn_v3(i, j, k), mn_random_unit3(3, id, 0)));
                if (r.x * r.x / (a * a) + (r.y * r.y + r.z * r.z) / (b * b) >= 1) continue;
                x[count] = r;
                v[count++] = mn_add(mn_v3(0.05, 0.02, 0), mn_cross(mn_v3(0, 10, 20), r));
            }
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    const mn_mpm_source source = {.count = count, .position = x, .velocity = v};
    check_ok(ctx, mn_mpm_add(mpm, &source));
    return mpm;
}

// A solver in the middle of an implicit step: everything built, nothing solved.
static mn_mpm *make_problem(mn_context *ctx, double dt, double viscosity, mn_surface_curvature curvature)
{
    mn_mpm_def def = drop_def(MN_MPM_IMPLICIT, dt);
    def.viscosity = viscosity;
    mn_mpm *mpm = make_drop(ctx, def);
    check_ok(ctx, mn_mpm_advance(mpm, NULL, dt));
    check_ok(ctx, mn_mpm_sample_surface(mpm));
    bool solved;
    check_ok(ctx, mn_mpm_solve_grid(mpm, dt, &solved));
    mpm->implicit.curvature = curvature;
    return mpm;
}

static void random_vector(const mn_mpm *mpm, double size, uint64_t seed, mn_mpm_node *x)
{
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++) {
        x[i] = zero_node;
        if (mpm->grid.before.data[i].mass > 0)
            x[i].v = mn_scale(size, mn_random_direction(seed, (uint64_t)i, 0));
    }
}

static double dot(const mn_mpm *mpm, const mn_mpm_node *a, const mn_mpm_node *b)
{
    double sum = 0;
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++) sum += mn_dot(a[i].v, b[i].v);
    return sum;
}

static void move_along(const mn_mpm *mpm, const mn_mpm_node *from, double length, const mn_mpm_node *way,
                       mn_mpm_node *to)
{
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++)
        to[i] = (mn_mpm_node){mpm->grid.before.data[i].mass, mn_axpy(from[i].v, length, way[i].v)};
}

typedef struct vectors {
    mn_mpm_node *v, *w, *x, *y, *hx, *hy;
} vectors;

static vectors make_vectors(mn_context *ctx, const mn_mpm *mpm)
{
    const size_t bytes = sizeof(mn_mpm_node) * (size_t)mpm->grid.nodes.count;
    return (vectors){mn_allocate_zero(ctx, bytes), mn_allocate_zero(ctx, bytes),
                     mn_allocate_zero(ctx, bytes), mn_allocate_zero(ctx, bytes),
                     mn_allocate_zero(ctx, bytes), mn_allocate_zero(ctx, bytes)};
}

static void free_vectors(mn_context *ctx, const mn_mpm *mpm, vectors *u)
{
    const size_t bytes = sizeof(mn_mpm_node) * (size_t)mpm->grid.nodes.count;
    mn_mpm_node *all[] = {u->v, u->w, u->x, u->y, u->hx, u->hy};
    for (int i = 0; i < 6; i++) mn_release(ctx, all[i], bytes);
}

static void derivatives_match_differences(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_surface_curvature kinds[] = {MN_SURFACE_EXACT, MN_SURFACE_MAJORANT};
    const double dt = 1e-3;
    for (int k = 0; k < 2; k++) {
        mn_mpm *mpm = make_problem(ctx, dt, k == 0 ? 1e-3 : 0, kinds[k]);
        vectors u = make_vectors(ctx, mpm);
        random_vector(mpm, 0.02, 1, u.x);
        random_vector(mpm, 1, 2, u.y);
        move_along(mpm, mpm->grid.before.data, 1, u.x, u.v);
        double energy, up, down;
        const double h = 1e-5;
        check_ok(ctx, mn_mpm_potential(mpm, u.v, &energy));
        const double slope = dot(mpm, mpm->implicit.gradient.data, u.y);
        check_ok(ctx, mn_mpm_potential_apply(mpm, u.y, u.hy));
        const double curvature = dot(mpm, u.y, u.hy);
        move_along(mpm, u.v, h, u.y, u.w);
        check_ok(ctx, mn_mpm_potential(mpm, u.w, &up));
        const double slope_up = dot(mpm, mpm->implicit.gradient.data, u.y);
        move_along(mpm, u.v, -h, u.y, u.w);
        check_ok(ctx, mn_mpm_potential(mpm, u.w, &down));
        const double slope_down = dot(mpm, mpm->implicit.gradient.data, u.y);
        // Central differences: third derivatives leave h^2, rounding 1e-16 E / h.
        assert_true(fabs((up - down) / (2 * h) - slope) <= 1e-6 * fabs(slope) + 1e-9 * energy / h);
        assert_true(fabs((slope_up - slope_down) / (2 * h) - curvature) <= 1e-6 * fabs(curvature));
        free_vectors(ctx, mpm, &u);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

static void operator_is_symmetric_and_at_least_the_mass(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_surface_curvature kinds[] = {MN_SURFACE_EXACT, MN_SURFACE_PROJECTED, MN_SURFACE_MAJORANT};
    for (int k = 0; k < 3; k++) {
        mn_mpm *mpm = make_problem(ctx, 5e-3, k == 0 ? 1e-3 : 0, kinds[k]);
        vectors u = make_vectors(ctx, mpm);
        double energy;
        random_vector(mpm, 0.05, 7, u.x);
        move_along(mpm, mpm->grid.before.data, 1, u.x, u.v);
        check_ok(ctx, mn_mpm_potential(mpm, u.v, &energy));
        for (uint64_t seed = 0; seed < 2; seed++) {
            random_vector(mpm, 1, 10 + seed, u.x);
            random_vector(mpm, 1, 20 + seed, u.y);
            check_ok(ctx, mn_mpm_potential_apply(mpm, u.x, u.hx));
            check_ok(ctx, mn_mpm_potential_apply(mpm, u.y, u.hy));
            const double xhy = dot(mpm, u.x, u.hy), yhx = dot(mpm, u.y, u.hx), xhx = dot(mpm, u.x, u.hx);
            assert_true(fabs(xhy - yhx) <= 1e-12 * xhx);
            double mass = 0;
            for (int64_t i = 0; i < mpm->grid.nodes.count; i++)
                mass += mpm->grid.before.data[i].mass * mn_norm2(u.x[i].v);
            if (kinds[k] != MN_SURFACE_EXACT) assert_true(xhx >= mass);
        }
        free_vectors(ctx, mpm, &u);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

// The residual after each Newton step, as a velocity, of a step of one capillary time of a cell and less.
static void newton_converges_faster_than_linearly(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const double dt = 2e-3; // half the capillary time of a cell
    mn_mpm *mpm = make_problem(ctx, dt, 0, MN_SURFACE_EXACT);
    vectors u = make_vectors(ctx, mpm);
    double energy, before = INFINITY, ratio = 1;
    int64_t iterations = 0;
    bool solved;
    random_vector(mpm, 0.02, 3, u.x);
    move_along(mpm, mpm->grid.before.data, 1, u.x, u.v);
    for (int k = 0; k < 4; k++) {
        check_ok(ctx, mn_mpm_potential(mpm, u.v, &energy));
        double residual = 0;
        for (int64_t i = 0; i < mpm->grid.nodes.count; i++)
            if (mpm->grid.before.data[i].mass > 0)
                residual += mn_norm2(mpm->implicit.gradient.data[i].v) / mpm->grid.before.data[i].mass;
        residual = sqrt(residual);
        // Each factor is smaller than the one before until rounding.
        if (k > 0 && residual > 1e-9 * before && before < INFINITY) {
            assert_true(residual / before < 0.5 * ratio);
            ratio = residual / before;
        }
        before = residual;
        check_ok(ctx, mn_mpm_implicit_solve(mpm, 1e-10, 0, 0, &iterations, &solved));
        assert_true(solved);
        move_along(mpm, u.v, 1, mpm->implicit.change.data, u.w);
        mn_mpm_node *swap = u.v;
        u.v = u.w, u.w = swap;
    }
    free_vectors(ctx, mpm, &u);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static mn_vec3 momentum_of(const mn_mpm *mpm)
{
    mn_report report;
    mn_mpm_report(mpm, &report);
    const double *p = report.value[MN_REPORT_momentum];
    return mn_v3(p[0], p[1], p[2]);
}

static void linear_momentum_is_exact_at_any_tolerance(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    for (int kind = MN_MPM_SEMI_IMPLICIT; kind <= MN_MPM_IMPLICIT; kind++) {
        mn_mpm_def def = drop_def((mn_mpm_integrator)kind, 4e-3);
        def.newton_tolerance = 0.1;
        mn_mpm *mpm = make_drop(ctx, def);
        const mn_vec3 before = momentum_of(mpm);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.012));
        const double scale = mpm->extremes.mass * 0.1;
        assert_true(mn_norm(mn_sub(momentum_of(mpm), before)) <= 1e-12 * scale);
        assert_true(mpm->solver.counts.linear_iterations > 0);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

// A drop in free fall beside a wall that holds nothing along it, and before none at all.
static void liquid_that_falls_gains_all_of_its_weight(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    for (int walled = 0; walled < 2; walled++) {
        mn_mpm_def def = drop_def(MN_MPM_IMPLICIT, 4e-3);
        def.newton_tolerance = 0.1, def.gravity = mn_v3(0, -9.81, 3);
        def.domain = (mn_box){{-3.2e-3, -1, -1}, {1, 1, 1}};
        if (walled) def.wall[0] = MN_MPM_SLIP;
        mn_mpm *mpm = make_drop(ctx, def);
        const mn_vec3 before = momentum_of(mpm);
        const double mass = mpm->extremes.mass, time = 0.012;
        check_ok(ctx, mn_mpm_advance(mpm, NULL, time));
        const mn_vec3 gained = mn_scale(1 / mass, mn_sub(momentum_of(mpm), before));
        check_close(gained.y, def.gravity.y * time, 1e-12);
        check_close(gained.z, def.gravity.z * time, 1e-12);
        assert_true(mpm->solver.counts.linear_iterations > 0);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

// The largest difference of two runs' velocities after one step of dt.
static double difference_after_one_step(mn_context *ctx, double dt)
{
    mn_mpm_def def = drop_def(MN_MPM_EXPLICIT, dt);
    def.viscosity = 0; // implicit viscosity acts on another gradient
    mn_mpm *a = make_drop(ctx, def);
    def.integrator = MN_MPM_IMPLICIT, def.newton_tolerance = 1e-9;
    mn_mpm *b = make_drop(ctx, def);
    check_ok(ctx, mn_mpm_advance(a, NULL, dt));
    check_ok(ctx, mn_mpm_advance(b, NULL, dt));
    double most = 0;
    for (int64_t i = 0; i < a->particles.count; i++)
        most = fmax(most, mn_norm(mn_sub(a->particles.data[i].v, b->particles.data[i].v)));
    mn_mpm_free(a);
    mn_mpm_free(b);
    return most;
}

static void short_steps_are_the_explicit_ones(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const double coarse = difference_after_one_step(ctx, 2e-5), fine = difference_after_one_step(ctx, 1e-5);
    assert_true(coarse > 0);
    assert_in_range(100 * coarse / fine, 350, 1000); // dt^2 or better
    mn_context_free(ctx);
}

static uint64_t hash_state(const mn_mpm *mpm)
{
    uint64_t h = 1469598103934665603u;
    const unsigned char *bytes = (const void *)mpm->particles.data;
    for (size_t i = 0; i < sizeof(mn_mpm_particle) * (size_t)mpm->particles.count; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    const int32_t workers[] = {1, 2, 8};
    uint64_t first = 0;
    for (int k = 0; k < 3; k++) {
        const mn_hooks hooks = {.max_workers = workers[k]};
        mn_context *ctx = mn_context_create(&hooks);
        mn_mpm *mpm = make_drop(ctx, drop_def(MN_MPM_IMPLICIT, 2e-3));
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.004));
        if (k == 0) first = hash_state(mpm);
        assert_true(hash_state(mpm) == first);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

static void a_box_of_liquid_stays_in_its_walls(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_mpm_wall walls[] = {MN_MPM_SLIP, MN_MPM_STICK, MN_MPM_SEPARATE};
    for (int k = 0; k < 3; k++) {
        mn_mpm_def def = drop_def(MN_MPM_IMPLICIT, 4e-3);
        def.gravity = mn_v3(0, -9.81, 0);
        def.friction = 0.3;
        def.domain = (mn_box){mn_v3(-6e-3, -6e-3, -6e-3), mn_v3(6e-3, 6e-3, 6e-3)};
        for (int side = 0; side < 6; side++) def.wall[side] = walls[k];
        mn_mpm *mpm = make_drop(ctx, def);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.03));
        double lowest = 0;
        for (int64_t i = 0; i < mpm->particles.count; i++)
            lowest = fmin(lowest, mpm->particles.data[i].axis[1].x);
        assert_true(lowest >= -6e-3 - 0.5e-3); // half a cell: walls act on nodes
        assert_true(mpm->extremes.max_speed < 1.0);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

/// Samples without mass pull at nodes that hardly have any: a drop must stay whole and calm all the same, at
/// steps far above the capillary time of a cell (4 ms).
static void massless_samples_go_with_long_steps(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    for (int kind = MN_MPM_SEMI_IMPLICIT; kind <= MN_MPM_IMPLICIT; kind++) {
        mn_mpm_def def = drop_def((mn_mpm_integrator)kind, 1e-2);
        def.surface_particles = MN_MPM_MASSLESS;
        mn_mpm *mpm = make_drop(ctx, def);
        const mn_vec3 before = momentum_of(mpm);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.1));
        const mn_vec3 center = mn_scale(0.1 / mpm->extremes.mass, before);
        double far = 0;
        for (int64_t i = 0; i < mpm->particles.count; i++)
            far = fmax(far, mn_distance(mn_mpm_position(&mpm->particles.data[i]), center));
        assert_true(far < 6e-3); // it was 4 mm long from its middle
        assert_true(mpm->extremes.max_speed < 1.0);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

static void a_warm_solver_hardly_allocates(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_mpm *mpm = make_drop(ctx, drop_def(MN_MPM_IMPLICIT, 1e-3));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 4e-3));
    // Buffers may reach a new high-water mark in one step or another, not in every one.
    int quiet = 0;
    for (int step = 0; step < 6; step++) {
        const int64_t calls = mn_context_allocation_count(ctx);
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 1e-3));
        quiet += mn_context_allocation_count(ctx) == calls;
    }
    assert_true(quiet >= 3);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_saved_solver_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_mpm_def def = drop_def(MN_MPM_IMPLICIT, 2e-3);
    mn_mpm *mpm = make_drop(ctx, def), *copy;
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 2e-3));
    buffer b = {.ctx = ctx};
    mn_writer out = {ctx, &b, buffer_write};
    check_ok(ctx, mn_mpm_save(mpm, &out));
    mn_reader in = {ctx, &b, buffer_read};
    check_ok(ctx, mn_mpm_load(ctx, &def, &in, &copy));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 4e-3));
    check_ok(ctx, mn_mpm_advance(copy, NULL, 4e-3));
    assert_true(hash_state(mpm) == hash_state(copy));
    free(b.bytes);
    mn_mpm_free(mpm);
    mn_mpm_free(copy);
    mn_context_free(ctx);
}

static mn_status four_particles(mn_context *ctx, failing_allocator *memory)
{
    const mn_mpm_def def = drop_def(MN_MPM_IMPLICIT, 1e-4);
    const mn_vec3 x[] = {{0, 0, 0}, {5e-4, 0, 0}, {0, 5e-4, 0}, {5e-4, 5e-4, 0}};
    const mn_mpm_source source = {.count = 4, .position = x};
    mn_mpm *mpm = NULL;
    failing_begin(memory);
    mn_status status = mn_mpm_create(ctx, &def, &mpm);
    if (status == MN_OK) status = mn_mpm_add(mpm, &source);
    if (status == MN_OK) status = mn_mpm_advance(mpm, NULL, 1e-4);
    mn_mpm_free(mpm);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(four_particles, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(operator_is_symmetric_and_at_least_the_mass),
        cmocka_unit_test(newton_converges_faster_than_linearly),
        cmocka_unit_test(linear_momentum_is_exact_at_any_tolerance),
        cmocka_unit_test(liquid_that_falls_gains_all_of_its_weight),
        cmocka_unit_test(short_steps_are_the_explicit_ones),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_box_of_liquid_stays_in_its_walls),
        cmocka_unit_test(massless_samples_go_with_long_steps),
        cmocka_unit_test(a_saved_solver_goes_on_with_the_same_bits),
        cmocka_unit_test(a_warm_solver_hardly_allocates),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
