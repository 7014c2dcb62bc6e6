// SPDX-License-Identifier: Apache-2.0
//
// Multigrid on the seven-point Laplacian of a cube and on products of it: the cycle is a symmetric positive
// definite operator, iterations do not grow with the size, bits do not depend on the workers, and what cannot
// be solved is said.
#include "linear/multigrid.h"

#include "base/random.h"
#include "linear/krylov.h"
#include "linear/multigrid_state.h"
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/poisson.h"

static double *random_vector(int32_t n, uint64_t seed)
{
    double *x = malloc((size_t)n * sizeof *x);
    for (int32_t i = 0; i < n; i++) x[i] = mn_random_normal(seed, (uint64_t)i, 0);
    return x;
}

static double dot(int32_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static mn_status apply_matrix(void *user, const double *x, double *y)
{
    void **pair = user;
    return mn_sparse_apply(pair[0], pair[1], x, y);
}

static void a_product_is_what_two_products_do(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_sparse a = {0}, b = {0}, c = {0};
    check_ok(ctx, poisson(ctx, 5, 1, 0, &a));
    check_ok(ctx, poisson(ctx, 5, 3, 1, &b));
    check_ok(ctx, mn_sparse_product_pattern(ctx, &a, &b, &c));
    double *x = random_vector(125, 1), y[125], z[125], w[125];
    for (int round = 0; round < 2; round++) {
        check_ok(ctx, mn_sparse_product(ctx, &a, &b, &c));
        check_ok(ctx, mn_sparse_apply(ctx, &b, x, y));
        check_ok(ctx, mn_sparse_apply(ctx, &a, y, z));
        check_ok(ctx, mn_sparse_apply(ctx, &c, x, w));
        for (int i = 0; i < 125; i++) check_close(w[i], z[i], 1e-12);
        for (int64_t e = 0; e < mn_sparse_entries(&a); e++) a.value[e] *= 2; // new numbers, old pattern
    }
    for (int32_t i = 0; i < c.rows; i++)
        for (int64_t e = c.start[i] + 1; e < c.start[i + 1]; e++) assert_true(c.column[e - 1] < c.column[e]);
    mn_sparse_free(ctx, &b);
    mn_sparse_free(ctx, &c);
    check_ok(ctx, poisson(ctx, 4, 1, 0, &b));
    check_fails(ctx, mn_sparse_product_pattern(ctx, &a, &b, &c), MN_ERROR_ARGUMENT, "125 columns");
    mn_sparse_free(ctx, &a);
    mn_sparse_free(ctx, &b);
    free(x);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void aggregates_hold_what_is_strongly_connected(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_sparse a = {0};
    check_ok(ctx, poisson(ctx, 8, 1e-3, 0, &a)); // planes of constant x hang together
    int32_t aggregate[512];
    double inverse[512];
    for (int i = 0; i < 512; i++) inverse[i] = 1 / 4.002;
    const int32_t count = mn_aggregate(&a, inverse, 0.08, aggregate);
    assert_in_range(count, 512 / 10, 512 / 3);
    int32_t plane[512];
    for (int i = 0; i < count; i++) plane[i] = -1;
    for (int i = 0; i < 512; i++) {
        assert_in_range(aggregate[i], 0, count - 1);
        if (plane[aggregate[i]] < 0) plane[aggregate[i]] = i % 8;
        assert_int_equal(plane[aggregate[i]], i % 8);
    }
    for (int i = 0; i < count; i++) assert_true(plane[i] >= 0);
    assert_int_equal(mn_aggregate(&a, inverse, 0.9, aggregate), 0); // nothing is that strong
    for (int i = 0; i < 512; i++) assert_int_equal(aggregate[i], -1);
    mn_sparse_free(ctx, &a);
    mn_context_free(ctx);
}

// x.M^-1 y = y.M^-1 x to the rounding of single precision, x.M^-1 x > 0.
static void a_cycle_is_symmetric_and_positive(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_multigrid_def def = mn_multigrid_default_def();
        def.plain = plain;
        const int32_t n = 20 * 20 * 20;
        mn_sparse a = {0};
        mn_multigrid *m;
        check_ok(ctx, poisson(ctx, 20, 1, 0, &a));
        check_ok(ctx, mn_multigrid_create(ctx, &m));
        check_ok(ctx, mn_multigrid_build(m, &def, &a));
        assert_true(mn_multigrid_levels(m) > 1);
        assert_true(mn_multigrid_complexity(m) < 2); // a coarse row is wide, but there are few
        double *z = malloc((size_t)n * sizeof *z);
        for (uint64_t seed = 1; seed < 6; seed++) {
            double *x = random_vector(n, seed), *y = random_vector(n, seed + 100);
            check_ok(ctx, mn_multigrid_apply(m, x, z));
            const double yx = dot(n, y, z), xx = dot(n, x, z);
            check_ok(ctx, mn_multigrid_apply(m, y, z));
            assert_true(xx > 0);
            check_close(dot(n, x, z), yx, 1e-6 * sqrt(xx * dot(n, y, z)));
            free(x), free(y);
        }
        free(z);
        mn_multigrid_free(m);
        mn_sparse_free(ctx, &a);
        mn_context_free(ctx);
    }
}

static int32_t iterations_for(int32_t side, double weight)
{
    mn_context *ctx = mn_context_create(NULL);
    const mn_multigrid_def def = mn_multigrid_default_def();
    const mn_krylov_def krylov_def = mn_krylov_default_def();
    const int32_t n = side * side * side;
    mn_sparse a = {0};
    mn_multigrid *m;
    mn_krylov *krylov;
    mn_krylov_result result;
    check_ok(ctx, poisson(ctx, side, weight, 0, &a));
    check_ok(ctx, mn_multigrid_create(ctx, &m));
    check_ok(ctx, mn_multigrid_build(m, &def, &a));
    check_ok(ctx, mn_krylov_create(ctx, &krylov));
    double *b = random_vector(n, 3), *x = calloc((size_t)n, sizeof *x);
    void *pair[] = {ctx, &a};
    const mn_linear_problem problem = {n, apply_matrix, pair, mn_multigrid_apply, m};
    check_ok(ctx, mn_conjugate_gradients(krylov, &problem, &krylov_def, b, x, &result));
    assert_int_equal(result.end, MN_KRYLOV_CONVERGED);
    free(b), free(x);
    mn_krylov_free(krylov);
    mn_multigrid_free(m);
    mn_sparse_free(ctx, &a);
    mn_context_free(ctx);
    return result.iterations;
}

static void iterations_do_not_grow_with_the_size(void **state)
{
    (void)state;
    // Plain CG takes 40, 80 and 160; a method of bounded work a row may add a few for another level.
    const int32_t small = iterations_for(12, 1), middle = iterations_for(24, 1),
                  large = iterations_for(48, 1);
    assert_in_range(small, 1, 20);
    assert_in_range(middle, 1, small + 4);
    assert_in_range(large, 1, small + 6);
    // Links that are 100 times weaker one way: aggregates go along the strong ones.
    assert_in_range(iterations_for(24, 0.01), 1, small + 6);
}

static double residual(mn_context *ctx, const mn_sparse *a, const double *x, const double *b)
{
    double *r = malloc((size_t)a->rows * sizeof *r), sum = 0;
    check_ok(ctx, mn_sparse_apply(ctx, a, x, r));
    for (int32_t i = 0; i < a->rows; i++) sum += (b[i] - r[i]) * (b[i] - r[i]);
    free(r);
    return sqrt(sum / dot(a->rows, b, b));
}

static void solving_reaches_its_tolerance(void **state)
{
    (void)state;
    for (int32_t side = 6; side <= 24; side += 18) { // one level and more
        mn_context *ctx = mn_context_create(NULL);
        mn_multigrid_def def = mn_multigrid_default_def();
        def.plain = true;
        const int32_t n = side * side * side;
        mn_sparse a = {0};
        mn_multigrid *m;
        int32_t iterations;
        check_ok(ctx, poisson(ctx, side, 1, 0, &a));
        check_ok(ctx, mn_multigrid_create(ctx, &m));
        double *b = random_vector(n, 4), *x = random_vector(n, 5);
        check_fails(ctx, mn_multigrid_solve(m, 0.1, 10, b, x, NULL), MN_ERROR_ARGUMENT, "no multigrid");
        check_fails(ctx, mn_multigrid_refresh(m, &a), MN_ERROR_ARGUMENT, "pattern");
        check_ok(ctx, mn_multigrid_build(m, &def, &a));
        for (double tolerance = 0.3; tolerance > 1e-4; tolerance *= 0.1) {
            check_ok(ctx, mn_multigrid_solve(m, tolerance, 100, b, x, &iterations));
            // D is the same in all rows; A is held in single precision.
            assert_true(residual(ctx, &a, x, b) < 1.001 * tolerance);
            assert_in_range(iterations, 1, 30);
        }
        // New numbers on the old aggregates.
        for (int64_t e = 0; e < mn_sparse_entries(&a); e++) a.value[e] *= 4;
        check_ok(ctx, mn_multigrid_refresh(m, &a));
        check_ok(ctx, mn_multigrid_solve(m, 1e-3, 100, b, x, &iterations));
        assert_true(residual(ctx, &a, x, b) < 1.001e-3);
        check_ok(ctx, mn_multigrid_solve(m, 1e-3, 1, b, x, &iterations));
        assert_int_equal(iterations, 1);
        memset(b, 0, (size_t)n * sizeof *b);
        check_ok(ctx, mn_multigrid_solve(m, 1e-3, 100, b, x, &iterations));
        assert_int_equal(iterations, 0);
        for (int32_t i = 0; i < n; i++) assert_true(x[i] == 0);
        free(b), free(x);
        mn_multigrid_free(m);
        mn_sparse_free(ctx, &a);
        mn_context_free(ctx);
    }
}

static void the_bits_do_not_depend_on_the_workers(void **state)
{
    (void)state;
    enum { SIDE = 22, N = SIDE * SIDE * SIDE };
    static double reference[2 * N], z[2 * N];
    double *b = random_vector(N, 6);
    for (int32_t workers = 1; workers <= 8; workers *= 2) {
        mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = workers});
        const mn_multigrid_def def = mn_multigrid_default_def();
        mn_sparse a = {0};
        mn_multigrid *m;
        check_ok(ctx, poisson(ctx, SIDE, 0.5, 0, &a));
        check_ok(ctx, mn_multigrid_create(ctx, &m));
        check_ok(ctx, mn_multigrid_build(m, &def, &a));
        check_ok(ctx, mn_multigrid_apply(m, b, z));
        check_ok(ctx, mn_multigrid_solve(m, 1e-3, 20, b, z + N, NULL));
        if (workers == 1) memcpy(reference, z, sizeof z);
        assert_memory_equal(z, reference, sizeof z);
        mn_multigrid_free(m);
        mn_sparse_free(ctx, &a);
        mn_context_free(ctx);
    }
    free(b);
}

static void bad_matrices_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_multigrid_def def = mn_multigrid_default_def();
    mn_sparse a = {0};
    mn_multigrid *m;
    check_ok(ctx, mn_multigrid_create(ctx, &m));
    check_ok(ctx,
             mn_sparse_from_triplets(ctx, 2, 3, 1, (int32_t[]){0}, (int32_t[]){0}, (double[]){1}, NULL, &a));
    check_fails(ctx, mn_multigrid_build(m, &def, &a), MN_ERROR_ARGUMENT, "2 by 3");
    mn_sparse_free(ctx, &a);
    check_ok(ctx, poisson(ctx, 14, 1, -6, &a)); // nothing on the diagonal
    check_fails(ctx, mn_multigrid_build(m, &def, &a), MN_ERROR_INPUT, "row 0");
    mn_sparse_free(ctx, &a);
    check_ok(ctx, poisson(ctx, 14, 1, -3, &a)); // not definite, which the coarsest level shows
    check_fails(ctx, mn_multigrid_build(m, &def, &a), MN_ERROR_INPUT, "positive");
    a.value[5] = NAN;
    check_fails(ctx, mn_multigrid_build(m, &def, &a), MN_ERROR_INPUT, "row");
    double b[1] = {1}, x[1];
    check_fails(ctx, mn_multigrid_apply(m, b, x), MN_ERROR_ARGUMENT, "no multigrid");
    mn_sparse_free(ctx, &a);
    // Rows without connections, more than are factored: one sweep solves them.
    enum { N = 4000 };
    static int32_t row[N];
    static double value[N], side[N], z[N];
    for (int32_t i = 0; i < N; i++) row[i] = i, value[i] = i + 1, side[i] = 1;
    check_ok(ctx, mn_sparse_from_triplets(ctx, N, N, N, row, row, value, NULL, &a));
    check_ok(ctx, mn_multigrid_build(m, &def, &a));
    check_ok(ctx, mn_multigrid_apply(m, side, z));
    for (int32_t i = 0; i < N; i++) check_close(z[i], 1.0 / (i + 1), 1e-15);
    mn_multigrid_free(m);
    mn_sparse_free(ctx, &a);
    mn_context_free(ctx);
}

static mn_status live(mn_context *ctx)
{
    mn_multigrid *m = NULL;
    const mn_multigrid_def def = mn_multigrid_default_def();
    mn_sparse a = {0};
    mn_status status = poisson(ctx, 14, 1, 0, &a);
    if (status == MN_OK) status = mn_multigrid_create(ctx, &m);
    if (status == MN_OK) status = mn_multigrid_build(m, &def, &a);
    if (status == MN_OK) status = mn_multigrid_refresh(m, &a);
    double *b = random_vector(14 * 14 * 14, 1), *x = random_vector(14 * 14 * 14, 2);
    if (status == MN_OK) status = mn_multigrid_solve(m, 0.1, 10, b, x, NULL);
    free(b), free(x);
    mn_multigrid_free(m);
    mn_sparse_free(ctx, &a);
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    check_memory_may_run_out(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_is_what_two_products_do),
        cmocka_unit_test(aggregates_hold_what_is_strongly_connected),
        cmocka_unit_test(a_cycle_is_symmetric_and_positive),
        cmocka_unit_test(iterations_do_not_grow_with_the_size),
        cmocka_unit_test(solving_reaches_its_tolerance),
        cmocka_unit_test(the_bits_do_not_depend_on_the_workers),
        cmocka_unit_test(bad_matrices_are_refused),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
