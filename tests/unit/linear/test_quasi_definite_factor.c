// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner of the coupled solve: exact where nothing is dropped, and bounded where much is.
#include "base/random.h"
#include "codim/volume/state.h"
#include "support/check.h"

#include <stdlib.h>

static mn_context *ctx;

static double chance(uint64_t a, uint32_t b)
{
    return 2 * mn_random_unit(5, a, b) - 1;
}

static mn_sparse matrix_of(int32_t size, int64_t count, const int32_t *rows, const int32_t *columns,
                           const double *values)
{
    mn_sparse m = {0};
    check_ok(ctx, mn_sparse_from_triplets(ctx, size, size, count, rows, columns, values, NULL, &m));
    return m;
}

// A chain of unknowns has no fill: the first half negative definite, the other positive.
static void a_chain_is_factored_exactly_but_for_the_signs(void **state)
{
    (void)state;
    enum { N = 40, HALF = N / 2 };
    int32_t rows[3 * N], columns[3 * N];
    double values[3 * N], x[N], y[N], z[N];
    int64_t count = 0;
    for (int32_t i = 0; i < N; i++) {
        rows[count] = columns[count] = i, values[count++] = (i < HALF ? -1 : 1) * (2.5 + chance(i, 0));
        if (i == 0) continue;
        const double link = chance((uint64_t)i, 1);
        rows[count] = i, columns[count] = i - 1, values[count++] = link;
        rows[count] = i - 1, columns[count] = i, values[count++] = link;
    }
    mn_sparse m = matrix_of(N, count, rows, columns, values);
    mn_quasi_definite_factor f = {0};
    check_ok(ctx, mn_quasi_definite_factor_build(ctx, &m, HALF, NULL, &f));
    // (P^-1 A)^2 = I, since P = L |D| L^T and A = L D L^T
    for (int32_t i = 0; i < N; i++) x[i] = chance((uint64_t)i, 2);
    check_ok(ctx, mn_sparse_apply(ctx, &m, x, y));
    check_ok(ctx, mn_quasi_definite_factor_apply(&f, y, z));
    check_ok(ctx, mn_sparse_apply(ctx, &m, z, y));
    check_ok(ctx, mn_quasi_definite_factor_apply(&f, y, z));
    for (int32_t i = 0; i < N; i++) check_close(z[i], x[i], 1e-12);
    // and with the signs P^-1 A = I, x.A x the squares with them
    double square[2], product = 0;
    check_ok(ctx, mn_sparse_apply(ctx, &m, x, y));
    check_ok(ctx, mn_quasi_definite_factor_split(&f, y, z, square));
    for (int32_t i = 0; i < N; i++) check_close(z[i], x[i], 1e-12), product += x[i] * y[i];
    check_close(square[0] - square[1], product, 1e-12 * (square[0] + square[1]));
    mn_quasi_definite_factor_free(ctx, &f);
    mn_sparse_free(ctx, &m);
}

enum { SIZE = 2000, WINDOW = 60 };

// An unknown of the t-th term: its terms overlap those before and after it.
static int32_t unknown(uint64_t t, uint32_t a)
{
    return (int32_t)((double)(t) * (SIZE - WINDOW) / SIZE + WINDOW * mn_random_unit(6, t, a));
}

// -B^T B with random B of some entries a row is negative definite, but without fill its factors grow.
static void factors_stay_bounded_where_pivots_come_out_wrong(void **state)
{
    (void)state;
    enum { N = SIZE, PER_ROW = 8, TERMS = N };
    const int64_t most = TERMS * PER_ROW * PER_ROW + N;
    int32_t *rows = malloc((size_t)most * sizeof *rows), *columns = malloc((size_t)most * sizeof *columns);
    double *values = malloc((size_t)most * sizeof *values), *r = malloc(N * sizeof *r),
           *z = malloc(N * sizeof *z);
    int64_t count = 0;
    for (uint64_t t = 0; t < TERMS; t++)
        for (uint32_t a = 0; a < PER_ROW; a++)
            for (uint32_t b = 0; b < PER_ROW; b++) {
                rows[count] = unknown(t, a);
                columns[count] = unknown(t, b);
                values[count++] = -chance(t, a) * chance(t, b);
            }
    for (int32_t i = 0; i < N; i++) rows[count] = columns[count] = i, values[count++] = -1e-3;
    mn_sparse m = matrix_of(N, count, rows, columns, values);
    mn_quasi_definite_factor f = {0};
    check_ok(ctx, mn_quasi_definite_factor_build(ctx, &m, N, NULL, &f));
    for (uint32_t k = 0; k < 4; k++) {
        double product = 0;
        for (int32_t i = 0; i < N; i++) r[i] = chance((uint64_t)i, 10 + k);
        check_ok(ctx, mn_quasi_definite_factor_apply(&f, r, z));
        for (int32_t i = 0; i < N; i++) product += r[i] * z[i];
        assert_true(product > 0 && product < 1e9);
    }
    mn_quasi_definite_factor_free(ctx, &f);
    mn_sparse_free(ctx, &m);
    free(rows), free(columns), free(values), free(r), free(z);
}

// ---- parts ----

enum { POINTS = 18000, CELLS = 3000, ROWS = 3 * POINTS + CELLS };

// Points along a line, each tied to the next one on every axis, and to a cell beside it.
static mn_sparse line_of_points(mn_vec3 *at)
{
    const int64_t most = 3 * (int64_t)POINTS * 5 + 3 * CELLS;
    int32_t *rows = malloc((size_t)most * sizeof *rows), *columns = malloc((size_t)most * sizeof *columns);
    double *values = malloc((size_t)most * sizeof *values);
    int64_t count = 0;
    for (int32_t p = 0; p < POINTS; p++) {
        at[p] = mn_v3(p, 0.1 * chance((uint64_t)p, 0), 0);
        for (int32_t axis = 0; axis < 3; axis++) {
            const int32_t row = 3 * p + axis, cell = 3 * POINTS + p * CELLS / POINTS;
            rows[count] = columns[count] = row, values[count++] = -2.5 - chance((uint64_t)row, 1);
            if (p + 1 < POINTS)
                for (int32_t k = 0; k < 2; k++)
                    rows[count] = row + 3 * k, columns[count] = row + 3 * (1 - k), values[count++] = 0.5;
            for (int32_t k = 0; k < 2; k++)
                rows[count] = k ? row : cell, columns[count] = k ? cell : row, values[count++] = 0.3;
        }
    }
    for (int32_t i = 0; i < CELLS; i++) {
        at[POINTS + i] = mn_v3((double)i * POINTS / CELLS, 1, 0);
        rows[count] = columns[count] = 3 * POINTS + i, values[count++] = 4;
    }
    mn_sparse m = matrix_of(ROWS, count, rows, columns, values);
    free(rows), free(columns), free(values);
    return m;
}

static mn_status apply_matrix(void *user, const double *x, double *y)
{
    return mn_sparse_apply(ctx, user, x, y);
}

static void solve_in_parts(const mn_sparse *m, const mn_vec3 *at, int32_t workers, double *x,
                           mn_krylov_result *result)
{
    mn_context *own = mn_context_create(&(mn_hooks){.max_workers = workers});
    mn_krylov *krylov;
    mn_quasi_definite_factor f = {0};
    double *b = malloc(ROWS * sizeof *b);
    check_ok(own, mn_krylov_create(own, &krylov));
    check_ok(own, mn_quasi_definite_factor_build(own, m, 3 * POINTS, at, &f));
    for (int32_t i = 0; i < ROWS; i++) b[i] = chance((uint64_t)i, 3), x[i] = 0;
    const mn_linear_problem problem = {ROWS, apply_matrix, (void *)m, NULL, NULL};
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = 1e-10;
    check_ok(own, mn_quasi_definite_factor_solve(&f, krylov, &problem, &def, b, x, result));
    assert_int_equal(f.part_start.count - 1, at ? 2 : 1);
    free(b);
    mn_quasi_definite_factor_free(own, &f);
    mn_krylov_free(krylov);
    mn_context_free(own);
}

// Parts leave out what ties them: the solution is the same, and so are its bits on any number of workers.
static void parts_solve_what_the_whole_does(void **state)
{
    (void)state;
    mn_vec3 *at = malloc((POINTS + CELLS) * sizeof *at);
    double *whole = malloc(ROWS * sizeof *whole), *x = malloc(ROWS * sizeof *x),
           *y = malloc(ROWS * sizeof *y);
    mn_sparse m = line_of_points(at);
    mn_krylov_result one, two;
    solve_in_parts(&m, NULL, 1, whole, &one);
    solve_in_parts(&m, at, 1, x, &two);
    assert_int_equal(one.end, MN_KRYLOV_CONVERGED);
    assert_int_equal(two.end, MN_KRYLOV_CONVERGED);
    // The smallest eigenvalue is above 0.2 in size and the right-hand side below sqrt(ROWS): 1e-10 of that.
    for (int32_t i = 0; i < ROWS; i++) check_close(x[i], whole[i], 1e-7);
    for (int32_t workers = 2; workers <= 8; workers *= 2) {
        solve_in_parts(&m, at, workers, y, &two);
        assert_memory_equal(x, y, ROWS * sizeof *x);
    }
    mn_sparse_free(ctx, &m);
    free(at), free(whole), free(x), free(y);
}

int main(void)
{
    ctx = mn_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_factored_exactly_but_for_the_signs),
        cmocka_unit_test(factors_stay_bounded_where_pivots_come_out_wrong),
        cmocka_unit_test(parts_solve_what_the_whole_does),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
