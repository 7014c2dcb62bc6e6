// SPDX-License-Identifier: Apache-2.0
//
// The levels of smoothed aggregation [vanek1996]. From A on one level to the next:
//
//   T     1 where a row belongs to an aggregate
//   P     (I - w D^-1 A) T,   w = 4/(3 top)        one step of Jacobi takes the corners off
//   A_c   P^T A P
//
// until a level is small enough to be factored. top is the largest eigenvalue of D^-1 A, by the power method.
#include "linear/multigrid_state.h"

#include "base/random.h"
#include "linear/vectors.h"

#include <math.h>
#include <string.h>

enum { COARSE_ENOUGH = 200, DIRECT_MOST = 3000, POWER_ROUNDS = 8 };

mn_multigrid_def mn_multigrid_default_def(void)
{
    return (mn_multigrid_def){.strong = 0.08};
}

static void free_grid(mn_context *ctx, mn_grid *g)
{
    mn_sparse_free(ctx, &g->matrix);
    mn_sparse_free(ctx, &g->tentative);
    mn_sparse_free(ctx, &g->smooth);
    mn_sparse_free(ctx, &g->restricted);
    mn_sparse_free(ctx, &g->image);
    mn_sweep_free(ctx, &g->sweep);
    mn_array_free(ctx, &g->image_value);
    mn_array_free(ctx, &g->inverse);
    mn_array_free(ctx, &g->x);
    mn_array_free(ctx, &g->r);
    mn_array_free(ctx, &g->change);
}

mn_status mn_multigrid_create(mn_context *ctx, mn_multigrid **multigrid)
{
    *multigrid = mn_allocate_zero(ctx, sizeof **multigrid);
    if (!*multigrid) return MN_ERROR_MEMORY;
    (*multigrid)->ctx = ctx;
    return MN_OK;
}

void mn_multigrid_free(mn_multigrid *m)
{
    if (!m) return;
    for (int k = 0; k < MN_MULTIGRID_LEVELS; k++) free_grid(m->ctx, &m->grid[k]);
    mn_cholesky_free(m->cholesky);
    mn_array_free(m->ctx, &m->krylov);
    mn_release(m->ctx, m, sizeof *m);
}

// ---- numbers of one level ----

static mn_status invert_diagonal(mn_context *ctx, mn_grid *g, const mn_sparse *a)
{
    g->rows = a->rows;
    MN_TRY(mn_array_resize(ctx, &g->inverse, a->rows));
    MN_TRY(mn_array_resize(ctx, &g->x, a->rows));
    MN_TRY(mn_array_resize(ctx, &g->r, a->rows));
    MN_TRY(mn_array_resize(ctx, &g->change, a->rows));
    for (int32_t i = 0; i < a->rows; i++) {
        double diagonal = 0, sum = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            if (a->column[e] == i) diagonal = a->value[e];
            sum += a->value[e];
        }
        if (!(diagonal > 0) || !isfinite(sum))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Multigrid needs finite numbers and a positive diagonal; row %d is not so.",
                           (int)i);
        g->inverse.data[i] = 1 / diagonal;
    }
    return MN_OK;
}

// x <- D^-1 A x, some rounds from a random start; what comes back is the last growth.
static mn_status power_method(mn_context *ctx, mn_grid *g, const mn_sparse *a, double *top)
{
    double *x = g->x.data, *y = g->r.data, before = 0, after = 0;
    for (int32_t i = 0; i < a->rows; i++) x[i] = mn_random_unit(11, (uint64_t)i, 0) - 0.5;
    for (int k = 0; k < POWER_ROUNDS; k++) {
        MN_TRY(mn_vector_dot(ctx, a->rows, x, x, &before));
        MN_TRY(mn_sparse_apply(ctx, a, x, y));
        for (int32_t i = 0; i < a->rows; i++) x[i] = g->inverse.data[i] * y[i] / sqrt(before);
    }
    MN_TRY(mn_vector_dot(ctx, a->rows, x, x, &after));
    *top = sqrt(after);
    return MN_OK;
}

// P = T - w D^-1 A T in the pattern of A T, unless it is T; and its transpose.
static mn_status fill_prolongation(mn_context *ctx, mn_grid *g, const mn_sparse *a)
{
    mn_sparse *p = &g->smooth;
    const mn_sparse *t = &g->tentative;
    double top;
    if (!g->plain) {
        MN_TRY(power_method(ctx, g, a, &top));
        MN_TRY(mn_sparse_product(ctx, a, t, p));
        for (int32_t i = 0; i < p->rows; i++) {
            const int32_t own = t->start[i] < t->start[i + 1] ? t->column[t->start[i]] : -1;
            const double w = 4 / (3 * top) * g->inverse.data[i];
            for (int64_t e = p->start[i]; e < p->start[i + 1]; e++)
                p->value[e] = (p->column[e] == own) - w * p->value[e];
        }
    }
    mn_sparse_free(ctx, &g->restricted);
    return mn_sparse_transpose(ctx, mn_grid_prolong(g), &g->restricted);
}

static mn_status fill_coarse(mn_context *ctx, mn_grid *g, const mn_sparse *a, mn_sparse *coarse)
{
    MN_TRY(mn_sparse_product(ctx, a, mn_grid_prolong(g), &g->image));
    MN_TRY(mn_array_resize(ctx, &g->image_value, mn_sparse_entries(&g->image)));
    for (int64_t e = 0; e < g->image_value.count; e++) g->image_value.data[e] = (float)g->image.value[e];
    return mn_sparse_product(ctx, &g->restricted, &g->image, coarse);
}

// ---- patterns of one level ----

static mn_status fill_tentative(mn_context *ctx, const int32_t *aggregate, int32_t rows, int32_t count,
                                mn_sparse *t)
{
    int64_t entries = 0;
    for (int32_t i = 0; i < rows; i++) entries += aggregate[i] >= 0;
    MN_TRY(mn_sparse_set_size(ctx, t, rows, count));
    MN_TRY(mn_sparse_set_entries(ctx, t, entries));
    for (int32_t i = 0; i < rows; i++) {
        int64_t at = t->start[i];
        if (aggregate[i] >= 0) t->column[at] = aggregate[i], t->value[at++] = 1;
        t->start[i + 1] = at;
    }
    return MN_OK;
}

static mn_status find_patterns(mn_context *ctx, mn_grid *g, const mn_sparse *a, mn_sparse *coarse)
{
    if (!g->plain) MN_TRY(mn_sparse_product_pattern(ctx, a, &g->tentative, &g->smooth));
    MN_TRY(mn_sparse_product_pattern(ctx, a, mn_grid_prolong(g), &g->image));
    MN_TRY(fill_prolongation(ctx, g, a));
    return mn_sparse_product_pattern(ctx, &g->restricted, &g->image, coarse);
}

// Aggregates and the order of the sweeps; *count is 0 where there are too many aggregates to be of use.
static mn_status coarsen(mn_context *ctx, mn_grid *g, const mn_sparse *a, double threshold, int32_t *count)
{
    const size_t bytes = mn_bytes(a->rows, sizeof(int32_t));
    int32_t *aggregate = mn_allocate(ctx, bytes);
    if (!aggregate) return MN_ERROR_MEMORY;
    *count = mn_aggregate(a, g->inverse.data, threshold, aggregate);
    mn_status status = mn_sweep_order(ctx, a, aggregate, *count, &g->sweep);
    if (*count > a->rows / 2) *count = 0;
    if (status == MN_OK && *count > 0)
        status = fill_tentative(ctx, aggregate, a->rows, *count, &g->tentative);
    mn_release(ctx, aggregate, bytes);
    if (status == MN_OK) mn_sweep_fill(a, &g->sweep);
    return status;
}

// ---- all levels ----

static mn_status factor_coarsest(mn_multigrid *m, const mn_sparse *a, bool anew)
{
    m->direct = a->rows <= DIRECT_MOST;
    if (!m->direct) return MN_OK;
    if (!m->cholesky) MN_TRY(mn_cholesky_create(m->ctx, &m->cholesky));
    if (anew) MN_TRY(mn_cholesky_analyze(m->cholesky, a, NULL));
    return mn_cholesky_factor(m->cholesky, a);
}

mn_status mn_multigrid_build(mn_multigrid *m, const mn_multigrid_def *def, const mn_sparse *matrix)
{
    const mn_sparse *a = matrix;
    m->ready = false;
    if (matrix->rows != matrix->columns)
        return mn_fail(m->ctx, MN_ERROR_ARGUMENT, "Multigrid needs a square matrix, not %d by %d.",
                       (int)matrix->rows, (int)matrix->columns);
    for (int k = 0; k < MN_MULTIGRID_LEVELS; k++) free_grid(m->ctx, &m->grid[k]);
    m->count = 1;
    m->entries = mn_sparse_entries(matrix);
    MN_TRY(invert_diagonal(m->ctx, &m->grid[0], a));
    double threshold = def->strong;
    while (a->rows > COARSE_ENOUGH) {
        mn_grid *g = &m->grid[m->count - 1];
        int32_t count;
        g->plain = def->plain && m->count == 1;
        MN_TRY(coarsen(m->ctx, g, a, threshold, &count));
        if (count == 0 || m->count == MN_MULTIGRID_LEVELS) break;
        mn_grid *next = g + 1;
        MN_TRY(find_patterns(m->ctx, g, a, &next->matrix));
        MN_TRY(fill_coarse(m->ctx, g, a, &next->matrix));
        MN_TRY(invert_diagonal(m->ctx, next, &next->matrix));
        a = &next->matrix;
        threshold *= 0.5;
        m->count++;
    }
    MN_TRY(factor_coarsest(m, a, true));
    m->ready = true;
    return MN_OK;
}

mn_status mn_multigrid_refresh(mn_multigrid *m, const mn_sparse *matrix)
{
    const mn_sparse *a = matrix;
    m->ready = false;
    if (m->count == 0 || matrix->rows != m->grid[0].rows || mn_sparse_entries(matrix) != m->entries)
        return mn_fail(m->ctx, MN_ERROR_ARGUMENT,
                       "The matrix is not of the pattern that multigrid was built for.");
    for (int32_t k = 0; k < m->count; k++) {
        mn_grid *g = &m->grid[k], *next = g + 1;
        MN_TRY(invert_diagonal(m->ctx, g, a));
        if (g->sweep.row.count > 0) mn_sweep_fill(a, &g->sweep);
        if (k + 1 == m->count) break;
        MN_TRY(fill_prolongation(m->ctx, g, a));
        MN_TRY(fill_coarse(m->ctx, g, a, &next->matrix));
        a = &next->matrix;
    }
    MN_TRY(factor_coarsest(m, a, false));
    m->ready = true;
    return MN_OK;
}

int32_t mn_multigrid_levels(const mn_multigrid *m)
{
    return m->count;
}

double mn_multigrid_complexity(const mn_multigrid *m)
{
    double sum = (double)m->entries;
    for (int32_t k = 1; k < m->count; k++) sum += (double)mn_sparse_entries(&m->grid[k].matrix);
    return m->entries > 0 ? sum / (double)m->entries : 0;
}
