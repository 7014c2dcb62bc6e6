// SPDX-License-Identifier: Apache-2.0
//
// Supernodal left-looking Cholesky [ng1993]. For each supernode s: scatter its columns of A into a dense
// panel, subtract
//
//   L_d[rows from s on] L_d[rows in s]^T
//
// for every earlier supernode d that reaches it (one dense product each), then factor the panel densely.
#include "base/simd.h"

#include "linear/cholesky_state.h"
#include "linear/dense.h"

#include <string.h>

mn_status mn_cholesky_create(mn_context *ctx, mn_cholesky **cholesky)
{
    *cholesky = mn_allocate_zero(ctx, sizeof **cholesky);
    if (!*cholesky) return MN_ERROR_MEMORY;
    (*cholesky)->ctx = ctx;
    return MN_OK;
}

void mn_cholesky_free(mn_cholesky *c)
{
    if (!c) return;
    mn_array_free(c->ctx, &c->order);
    mn_array_free(c->ctx, &c->inverse);
    mn_array_free(c->ctx, &c->super_of);
    mn_array_free(c->ctx, &c->first);
    mn_array_free(c->ctx, &c->row_start);
    mn_array_free(c->ctx, &c->rows);
    mn_array_free(c->ctx, &c->value_start);
    mn_array_free(c->ctx, &c->values);
    mn_array_free(c->ctx, &c->head);
    mn_array_free(c->ctx, &c->next);
    mn_array_free(c->ctx, &c->progress);
    mn_array_free(c->ctx, &c->local);
    mn_array_free(c->ctx, &c->update);
    mn_array_free(c->ctx, &c->dissection.side);
    mn_array_free(c->ctx, &c->dissection.keys);
    mn_array_free(c->ctx, &c->dissection.pieces);
    mn_array_free(c->ctx, &c->tree.parent);
    mn_array_free(c->ctx, &c->tree.ancestor);
    mn_array_free(c->ctx, &c->tree.counts);
    mn_array_free(c->ctx, &c->tree.mark);
    mn_array_free(c->ctx, &c->tree.rows);
    mn_array_free(c->ctx, &c->tree.zeros);
    mn_release(c->ctx, c, sizeof *c);
}

int64_t mn_cholesky_entries(const mn_cholesky *c)
{
    return c->super_count ? c->value_start.data[c->super_count] : 0;
}

static int64_t row_count(const mn_cholesky *c, int32_t s)
{
    return c->row_start.data[s + 1] - c->row_start.data[s];
}

static int32_t column_count(const mn_cholesky *c, int32_t s)
{
    return c->first.data[s + 1] - c->first.data[s];
}

// A's lower triangle in the columns of s, and the map from rows to places in its panel.
static void scatter_matrix(mn_cholesky *c, const mn_sparse *matrix, int32_t s)
{
    const int64_t m = row_count(c, s);
    const int32_t *rows = c->rows.data + c->row_start.data[s];
    double *panel = c->values.data + c->value_start.data[s];
    memset(panel, 0, mn_bytes(m * column_count(c, s), sizeof *panel));
    for (int64_t k = 0; k < m; k++) c->local.data[rows[k]] = (int32_t)k;
    for (int32_t j = c->first.data[s]; j < c->first.data[s + 1]; j++) {
        double *column = panel + (j - c->first.data[s]) * m;
        const int32_t row = c->order.data[j];
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++) {
            const int32_t i = c->inverse.data[matrix->column[e]];
            if (i >= j) column[c->local.data[i]] += matrix->value[e];
        }
    }
}

// Hands supernode d on to the next one that its rows reach.
static void pass_on(mn_cholesky *c, int32_t d, int64_t place)
{
    c->progress.data[d] = place;
    if (place == row_count(c, d)) return;
    const int32_t s = c->super_of.data[c->rows.data[c->row_start.data[d] + place]];
    c->next.data[d] = c->head.data[s];
    c->head.data[s] = d;
}

static mn_status update_from(mn_cholesky *c, int32_t s, int32_t d)
{
    const int32_t *rows = c->rows.data + c->row_start.data[d];
    const int64_t all = row_count(c, d), begin = c->progress.data[d], m = row_count(c, s);
    int64_t end = begin;
    while (end < all && rows[end] < c->first.data[s + 1]) end++;
    const int64_t tall = all - begin, wide = end - begin;
    MN_TRY(mn_array_reserve(c->ctx, &c->update, tall * wide));
    MN_TRY(mn_dense_outer(c->ctx, tall, wide, column_count(c, d),
                          c->values.data + c->value_start.data[d] + begin, all, c->update.data));
    double *panel = c->values.data + c->value_start.data[s];
    for (int64_t j = 0; j < wide; j++) {
        double *column = panel + (rows[begin + j] - c->first.data[s]) * m;
        const double *product = c->update.data + j * tall;
        for (int64_t i = j; i < tall; i++) column[c->local.data[rows[begin + i]]] -= product[i];
    }
    pass_on(c, d, end);
    return MN_OK;
}

static mn_status factor_supernode(mn_cholesky *c, const mn_sparse *matrix, int32_t s)
{
    scatter_matrix(c, matrix, s);
    for (int32_t d = c->head.data[s], after; d != -1; d = after) {
        after = c->next.data[d];
        MN_TRY(update_from(c, s, d));
    }
    int64_t bad;
    const int64_t m = row_count(c, s);
    MN_TRY(mn_array_reserve(c->ctx, &c->update, m * MN_DENSE_BLOCK));
    MN_TRY(mn_dense_cholesky(c->ctx, m, column_count(c, s), c->values.data + c->value_start.data[s],
                             c->update.data, &bad));
    if (bad >= 0)
        return mn_fail(c->ctx, MN_ERROR_INPUT,
                       "The matrix is not positive definite: the pivot of row %d is not positive.",
                       (int)c->order.data[c->first.data[s] + bad]);
    pass_on(c, s, column_count(c, s));
    return MN_OK;
}

mn_status mn_cholesky_factor(mn_cholesky *c, const mn_sparse *matrix)
{
    c->factored = false;
    if (matrix->rows != c->n || mn_sparse_entries(matrix) != c->pattern_entries)
        return mn_fail(c->ctx, MN_ERROR_ARGUMENT,
                       "The matrix to factor is not of the pattern that was analysed.");
    MN_TRY(mn_array_resize(c->ctx, &c->values, mn_cholesky_entries(c)));
    MN_TRY(mn_array_resize(c->ctx, &c->head, c->super_count));
    MN_TRY(mn_array_resize(c->ctx, &c->next, c->super_count));
    MN_TRY(mn_array_resize(c->ctx, &c->progress, c->super_count));
    MN_TRY(mn_array_resize(c->ctx, &c->local, c->n));
    for (int32_t s = 0; s < c->super_count; s++) c->head.data[s] = -1;
    for (int32_t s = 0; s < c->super_count; s++) {
        if (s % 256 == 0) MN_TRY(mn_check_cancelled(c->ctx));
        MN_TRY(factor_supernode(c, matrix, s));
    }
    MN_TRY(mn_array_reserve(c->ctx, &c->update, 2 * (int64_t)c->n)); // for the solves
    c->factored = true;
    return MN_OK;
}

// L y = b: the triangle of each supernode, then what it takes from the rows below, gathered in `below`.
MN_MULTIVERSION
static void solve_forward(const mn_cholesky *c, double *x, double *below)
{
    for (int32_t s = 0; s < c->super_count; s++) {
        const int64_t m = row_count(c, s), w = column_count(c, s);
        const int32_t *rows = c->rows.data + c->row_start.data[s];
        const double *panel = c->values.data + c->value_start.data[s];
        double *top = x + c->first.data[s];
        for (int64_t i = w; i < m; i++) below[i] = 0;
        for (int64_t j = 0; j < w; j++) {
            const double *column = panel + j * m, value = top[j] /= column[j];
            for (int64_t i = j + 1; i < w; i++) top[i] -= column[i] * value;
            for (int64_t i = w; i < m; i++) below[i] += column[i] * value;
        }
        for (int64_t i = w; i < m; i++) x[rows[i]] -= below[i];
    }
}

// L^T x = y
MN_MULTIVERSION
static void solve_backward(const mn_cholesky *c, double *x, double *below)
{
    for (int32_t s = c->super_count - 1; s >= 0; s--) {
        const int64_t m = row_count(c, s), w = column_count(c, s);
        const int32_t *rows = c->rows.data + c->row_start.data[s];
        const double *panel = c->values.data + c->value_start.data[s];
        double *top = x + c->first.data[s];
        for (int64_t i = w; i < m; i++) below[i] = x[rows[i]];
        for (int64_t j = w - 1; j >= 0; j--) {
            const double *column = panel + j * m;
            double sum[4] = {top[j]}; // four chains hide the latency of the addition
            for (int64_t i = j + 1; i < w; i++) sum[0] -= column[i] * top[i];
            int64_t i = w;
            for (; i + 4 <= m; i += 4)
                for (int k = 0; k < 4; k++) sum[k] -= column[i + k] * below[i + k];
            for (; i < m; i++) sum[0] -= column[i] * below[i];
            top[j] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / column[j];
        }
    }
}

mn_status mn_cholesky_solve(mn_cholesky *c, const double *b, double *x)
{
    if (!c->factored) return mn_fail(c->ctx, MN_ERROR_ARGUMENT, "There is no factor to solve with.");
    double *permuted = c->update.data;
    for (int32_t k = 0; k < c->n; k++) permuted[k] = b[c->order.data[k]];
    solve_forward(c, permuted, permuted + c->n);
    solve_backward(c, permuted, permuted + c->n);
    for (int32_t k = 0; k < c->n; k++) x[c->order.data[k]] = permuted[k];
    return MN_OK;
}
