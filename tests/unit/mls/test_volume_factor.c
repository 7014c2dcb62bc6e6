// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner of the coupled solve: exact where nothing is dropped, and bounded where much is.
#include "meniscus/random.h"
#include "mls/volume_state.h"
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
    volume_factor f = {0};
    check_ok(ctx, volume_factor_build(ctx, &m, HALF, &f));
    // (P^-1 A)^2 = I, since P = L |D| L^T and A = L D L^T
    for (int32_t i = 0; i < N; i++) x[i] = chance((uint64_t)i, 2);
    check_ok(ctx, mn_sparse_apply(ctx, &m, x, y));
    check_ok(ctx, volume_factor_apply(&f, y, z));
    check_ok(ctx, mn_sparse_apply(ctx, &m, z, y));
    check_ok(ctx, volume_factor_apply(&f, y, z));
    for (int32_t i = 0; i < N; i++) check_close(z[i], x[i], 1e-12);
    volume_factor_free(ctx, &f);
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
    volume_factor f = {0};
    check_ok(ctx, volume_factor_build(ctx, &m, N, &f));
    for (uint32_t k = 0; k < 4; k++) {
        double product = 0;
        for (int32_t i = 0; i < N; i++) r[i] = chance((uint64_t)i, 10 + k);
        check_ok(ctx, volume_factor_apply(&f, r, z));
        for (int32_t i = 0; i < N; i++) product += r[i] * z[i];
        assert_true(product > 0 && product < 1e9);
    }
    volume_factor_free(ctx, &f);
    mn_sparse_free(ctx, &m);
    free(rows), free(columns), free(values), free(r), free(z);
}

int main(void)
{
    ctx = mn_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_factored_exactly_but_for_the_signs),
        cmocka_unit_test(factors_stay_bounded_where_pivots_come_out_wrong),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
