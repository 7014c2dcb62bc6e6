// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices and their factors, on Laplacians of random points in space and on random patterns, against
// dense twins.
#include "linear/sparse.h"

#include "base/random.h"
#include "linear/krylov.h"
#include "support/check.h"
#include "support/failing_allocator.h"

typedef struct problem {
    int32_t n;
    int64_t count;
    mn_vec3 *positions;
    int32_t *row, *column;
    double *value;
} problem;

// A graph Laplacian of random points in a cube, each joined to those nearer than a fixed distance, plus a
// small diagonal.
static problem cloud(int32_t n, uint64_t seed, double diagonal)
{
    problem p = {.n = n};
    const int64_t most = 4 * (int64_t)n * 40;
    p.positions = malloc((size_t)n * sizeof *p.positions);
    p.row = malloc((size_t)most * sizeof *p.row), p.column = malloc((size_t)most * sizeof *p.column);
    p.value = malloc((size_t)most * sizeof *p.value);
    const double reach = 1.5 / cbrt(n);
    for (int32_t i = 0; i < n; i++) p.positions[i] = mn_random_unit3(seed, (uint64_t)i, 0);
#define ADD(r, c, v) (p.row[p.count] = (r), p.column[p.count] = (c), p.value[p.count] = (v), p.count++)
    for (int32_t i = 0; i < n; i++) {
        ADD(i, i, diagonal);
        for (int32_t j = 0; j < i; j++) {
            if (mn_distance(p.positions[i], p.positions[j]) > reach || p.count + 4 > most) continue;
            const double w = 0.5 + mn_random_unit(seed, (uint64_t)i, (uint32_t)j + 1);
            ADD(i, i, w), ADD(j, j, w), ADD(i, j, -w), ADD(j, i, -w);
        }
    }
#undef ADD
    return p;
}

static void free_problem(problem *p)
{
    free(p->positions), free(p->row), free(p->column), free(p->value);
}

static mn_status assemble(mn_context *ctx, const problem *p, mn_sparse *matrix)
{
    return mn_sparse_from_triplets(ctx, p->n, p->n, p->count, p->row, p->column, p->value, NULL, matrix);
}

static double residual(mn_context *ctx, const mn_sparse *a, const double *x, const double *b)
{
    double *ax = malloc((size_t)a->rows * sizeof *ax), sum = 0, scale = 0;
    check_ok(ctx, mn_sparse_apply(ctx, a, x, ax));
    for (int32_t i = 0; i < a->rows; i++) sum += (ax[i] - b[i]) * (ax[i] - b[i]), scale += b[i] * b[i];
    free(ax);
    return sqrt(sum / scale);
}

static void triplets_add_up_and_slots_fill_again(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const int32_t row[] = {2, 0, 2, 1, 2}, column[] = {1, 3, 0, 1, 1};
    const double value[] = {1, 2, 3, 4, 10};
    int64_t slots[5];
    mn_sparse a = {0}, t = {0};
    check_ok(ctx, mn_sparse_from_triplets(ctx, 3, 4, 5, row, column, value, slots, &a));
    assert_int_equal(mn_sparse_entries(&a), 4);
    const int32_t columns[] = {3, 1, 0, 1};
    const double values[] = {2, 4, 3, 11};
    assert_memory_equal(a.column, columns, sizeof columns);
    assert_memory_equal(a.value, values, sizeof values);
    for (int k = 0; k < 5; k++) assert_int_equal(a.column[slots[k]], column[k]);
    assert_int_equal(slots[0], slots[4]);
    check_ok(ctx, mn_sparse_transpose(ctx, &a, &t));
    double x[] = {1, 10, 100}, y[4];
    check_ok(ctx, mn_sparse_apply(ctx, &t, x, y));
    const double expected[] = {300, 1140, 0, 2};
    for (int i = 0; i < 4; i++) check_close(y[i], expected[i], 0);
    mn_sparse_free(ctx, &a);
    mn_sparse_free(ctx, &t);
    check_fails(ctx, mn_sparse_from_triplets(ctx, 2, 4, 5, row, column, value, NULL, &a), MN_ERROR_ARGUMENT,
                "(2, 1)");
    check_ok(ctx, mn_sparse_from_triplets(ctx, 2, 2, 0, NULL, NULL, NULL, NULL, &a));
    assert_int_equal(mn_sparse_entries(&a), 0);
    mn_sparse_free(ctx, &a);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void cholesky_solves_to_rounding(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 2, 7, 50, 300, 1500};
    for (int k = 0; k < 6; k++) {
        mn_context *ctx = mn_context_create(NULL);
        problem p = cloud(sizes[k], 7, 0.1);
        mn_sparse a = {0};
        check_ok(ctx, assemble(ctx, &p, &a));
        int32_t *order = malloc((size_t)p.n * sizeof *order);
        double *b = malloc((size_t)p.n * sizeof *b), *x = malloc((size_t)p.n * sizeof *x);
        for (int32_t i = 0; i < p.n; i++) b[i] = mn_random_normal(3, (uint64_t)i, 0);
        mn_cholesky *c;
        check_ok(ctx, mn_cholesky_create(ctx, &c));
        int64_t entries[2];
        check_fails(ctx, mn_cholesky_solve(c, b, x), MN_ERROR_ARGUMENT, "no factor");
        for (int ordered = 0; ordered < 2; ordered++) {
            check_ok(ctx, mn_cholesky_order(c, &a, p.positions, order));
            check_ok(ctx, mn_cholesky_analyze(c, &a, ordered ? order : NULL));
            check_ok(ctx, mn_cholesky_factor(c, &a));
            check_ok(ctx, mn_cholesky_solve(c, b, x));
            assert_true(residual(ctx, &a, x, b) < 1e-13);
            entries[ordered] = mn_cholesky_entries(c);
            // New values on the old pattern: factor only.
            for (int64_t e = 0; e < mn_sparse_entries(&a); e++) a.value[e] *= 2;
            check_ok(ctx, mn_cholesky_factor(c, &a));
            check_ok(ctx, mn_cholesky_solve(c, b, x));
            assert_true(residual(ctx, &a, x, b) < 1e-13);
        }
        if (p.n == 1500) assert_true(2 * entries[1] < entries[0]); // the order is worth having
        mn_cholesky_free(c);
        mn_sparse_free(ctx, &a);
        assert_int_equal(mn_context_bytes(ctx), 0);
        mn_context_free(ctx);
        free(order), free(b), free(x);
        free_problem(&p);
    }
}

static void an_indefinite_matrix_is_refused_by_row(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const int32_t row[] = {0, 1, 2}, column[] = {0, 1, 2};
    mn_sparse a = {0};
    check_ok(ctx, mn_sparse_from_triplets(ctx, 3, 3, 3, row, column, (double[]){1, -1, 1}, NULL, &a));
    mn_cholesky *c;
    check_ok(ctx, mn_cholesky_create(ctx, &c));
    check_ok(ctx, mn_cholesky_analyze(c, &a, NULL));
    check_fails(ctx, mn_cholesky_factor(c, &a), MN_ERROR_INPUT, "row 1");
    check_fails(ctx, mn_cholesky_analyze(c, &a, (int32_t[]){0, 0, 1}), MN_ERROR_ARGUMENT, "permutation");
    mn_cholesky_free(c);
    mn_sparse_free(ctx, &a);
    mn_context_free(ctx);
}

static void the_bits_do_not_depend_on_the_workers(void **state)
{
    (void)state;
    problem p = cloud(1500, 11, 0.1);
    double *b = malloc((size_t)p.n * sizeof *b), *x = malloc((size_t)p.n * sizeof *x),
           *first = malloc((size_t)p.n * sizeof *x);
    int32_t *order = malloc((size_t)p.n * sizeof *order);
    for (int32_t i = 0; i < p.n; i++) b[i] = mn_random_normal(3, (uint64_t)i, 0);
    for (int32_t workers = 1; workers <= 8; workers *= 2) {
        mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = workers});
        mn_sparse a = {0};
        mn_cholesky *c;
        check_ok(ctx, assemble(ctx, &p, &a));
        check_ok(ctx, mn_cholesky_create(ctx, &c));
        check_ok(ctx, mn_cholesky_order(c, &a, p.positions, order));
        check_ok(ctx, mn_cholesky_analyze(c, &a, order));
        check_ok(ctx, mn_cholesky_factor(c, &a));
        check_ok(ctx, mn_cholesky_solve(c, b, x));
        if (workers == 1) memcpy(first, x, (size_t)p.n * sizeof *x);
        assert_memory_equal(x, first, (size_t)p.n * sizeof *x);
        mn_cholesky_free(c);
        mn_sparse_free(ctx, &a);
        mn_context_free(ctx);
    }
    free(b), free(x), free(first), free(order);
    free_problem(&p);
}

static mn_status factor_everything(mn_context *ctx, const problem *p, int32_t *order, double *x)
{
    mn_sparse a = {0};
    mn_cholesky *c = NULL;
    mn_status status;
    MN_TRY_TO(done, status, assemble(ctx, p, &a));
    MN_TRY_TO(done, status, mn_cholesky_create(ctx, &c));
    MN_TRY_TO(done, status, mn_cholesky_order(c, &a, p->positions, order));
    MN_TRY_TO(done, status, mn_cholesky_analyze(c, &a, order));
    MN_TRY_TO(done, status, mn_cholesky_factor(c, &a));
    MN_TRY_TO(done, status, mn_cholesky_solve(c, x, x));
done:
    mn_cholesky_free(c);
    mn_sparse_free(ctx, &a);
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    problem p = cloud(120, 2, 0.1);
    int32_t order[120];
    double x[120];
    for (int64_t n = 1;; n++) {
        for (int i = 0; i < 120; i++) x[i] = i;
        failing_allocator memory = {.fail_at = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        const mn_status status = factor_everything(ctx, &p, order, x);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triplets_add_up_and_slots_fill_again),
        cmocka_unit_test(cholesky_solves_to_rounding),
        cmocka_unit_test(an_indefinite_matrix_is_refused_by_row),
        cmocka_unit_test(the_bits_do_not_depend_on_the_workers),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
