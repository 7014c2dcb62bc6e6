// SPDX-License-Identifier: Apache-2.0
//
// A preconditioner for a symmetric quasi-definite matrix: its incomplete factors N S N^T without fill, S the
// signs of the pivots. With complete factors all eigenvalues of (N S N^T)^-1 A would be 1, and with the signs
// dropped, as MINRES wants them, 1 and -1 [vanderbei1995]. The first `negative` rows have negative pivots,
// the others positive ones; a pivot that comes out wrong, which only the dropping of fill can do, is set to a
// part of the diagonal. Several such pivots after each other can make the rows below them grow without bound;
// then the factors are those of a matrix with a larger diagonal [manteuffel1980].
//
// Row i of N, from those above, with y_k = N_ik S_k:
//
//   y_k = (a_ik - sum_j N_kj y_j) / N_kk,    S_i N_ii^2 = a_ii - sum_k S_k y_k^2
//
// The unknowns lie in parts of space (partition.c), and entries between two parts are left out: so parts
// are factored and solved with at the same time, each in memory that is near together. Parts of 20,000 to
// 40,000 rows cost about a sixth more iterations than one.
#include "linear/quasi_definite_factor.h"
#include "linear/partition.h"

#include "base/parallel.h"

#include <string.h>

enum { QUICK = 4 }; // the part of all iterations that symmetric QMR may take: more are a sign of trouble
static const int64_t PART_ROWS = 40000;                   // at most
static const double LEAST_PIVOT = 0.01;                   // of the diagonal
static const double FIRST_SHIFT = 0.01, MOST_SHIFT = 1e3; // of the diagonal
static const double MOST_GROWTH =
    1e3; // of an entry of N beside its row's pivot; 1 / sqrt(LEAST_PIVOT) is usual

// ---- parts ----

// Three rows for each of the first sites, then one for each.
static int64_t site_of(int64_t negative, int64_t row)
{
    return row < negative ? row / 3 : negative / 3 + row - negative;
}

// `order`: rows by parts; within a part as the matrix has them, so negative ones first.
static mn_status sort_rows(mn_context *ctx, int64_t rows, int64_t negative, const mn_vec3 *at,
                           mn_quasi_definite_factor *f)
{
    const int64_t sites = at ? site_of(negative, rows) : 0;
    int32_t times = 0;
    while (at && rows >> times > PART_ROWS) times++;
    const int32_t parts = 1 << times;
    MN_TRY(mn_array_resize(ctx, &f->order, rows));
    MN_TRY(mn_array_resize(ctx, &f->place, rows));
    MN_TRY(mn_array_resize(ctx, &f->part, sites));
    MN_TRY(mn_array_resize(ctx, &f->sites, sites));
    MN_TRY(mn_array_resize(ctx, &f->part_start, parts + 1));
    MN_TRY(mn_array_resize(ctx, &f->square, 2 * (int64_t)parts));
    if (at) mn_partition_find(sites, at, times, f->sites.data, f->part.data);
    memset(f->part_start.data, 0, mn_bytes(parts + 1, sizeof *f->part_start.data));
    for (int64_t r = 0; r < rows; r++) f->part_start.data[at ? f->part.data[site_of(negative, r)] : 0]++;
    mn_prefix_sum_i32(f->part_start.data, parts + 1);
    for (int64_t r = 0; r < rows; r++) {
        const int32_t place = f->part_start.data[at ? f->part.data[site_of(negative, r)] : 0]++;
        f->place.data[r] = place;
        f->order.data[place] = (int32_t)r;
    }
    for (int32_t p = parts; p > 0; p--) f->part_start.data[p] = f->part_start.data[p - 1];
    f->part_start.data[0] = 0;
    return MN_OK;
}

// ---- factors ----

typedef struct factor_job {
    const mn_sparse *matrix;
    mn_quasi_definite_factor *factor;
    double shift;
} factor_job;

// Entries of the row at place i that are in N, left of the diagonal: of the same part, and before it.
static bool is_left(const mn_quasi_definite_factor *f, int32_t first, int64_t i, int32_t column)
{
    return f->place.data[column] >= first && f->place.data[column] < i;
}

static mn_status count_part(void *user, mn_range range)
{
    const factor_job *job = user;
    mn_quasi_definite_factor *f = job->factor;
    const mn_sparse *m = job->matrix;
    const int32_t first = f->part_start.data[range.begin], end = f->part_start.data[range.begin + 1];
    for (int64_t i = first; i < end; i++) {
        const int32_t r = f->order.data[i];
        int64_t count = 0;
        for (int64_t k = m->start[r]; k < m->start[r + 1]; k++) count += is_left(f, first, i, m->column[k]);
        f->start.data[i] = count;
        f->work.data[i] = 0;
    }
    return MN_OK;
}

// The row's entries into `work`, at their places; its diagonal.
static double open_row(const mn_sparse *m, mn_quasi_definite_factor *f, int32_t first, int64_t i)
{
    const int32_t r = f->order.data[i];
    int64_t to = f->start.data[i];
    double diagonal = 0;
    for (int64_t k = m->start[r]; k < m->start[r + 1]; k++) {
        if (m->column[k] == r) diagonal = m->value[k];
        if (!is_left(f, first, i, m->column[k])) continue;
        f->column.data[to] = f->place.data[m->column[k]];
        f->work.data[f->column.data[to++]] = m->value[k];
    }
    return diagonal;
}

static mn_status factor_part(void *user, mn_range range)
{
    const factor_job *job = user;
    mn_quasi_definite_factor *f = job->factor;
    const int32_t first = f->part_start.data[range.begin], end = f->part_start.data[range.begin + 1];
    const int64_t *start = f->start.data;
    const int32_t *column = f->column.data;
    double *value = f->value.data, *inverse = f->inverse.data, *y = f->work.data;
    for (int64_t i = first; i < end; i++) {
        const double diagonal = open_row(job->matrix, f, first, i);
        double pivot = (1 + job->shift) * diagonal;
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const int32_t above = column[k];
            double sum = y[above];
            for (int64_t e = start[above]; e < start[above + 1]; e++) sum -= value[e] * y[column[e]];
            const double sign = f->order.data[above] < f->negative ? -1 : 1;
            y[above] = sum * inverse[above];
            value[k] = sign * y[above];
            pivot -= y[above] * value[k];
        }
        for (int64_t k = start[i]; k < start[i + 1]; k++) y[column[k]] = 0;
        const double sign = f->order.data[i] < f->negative ? -1 : 1, least = LEAST_PIVOT * fabs(diagonal);
        inverse[i] = 1 / sqrt(sign * pivot > least ? fabs(pivot) : fmax(least, 1e-300));
    }
    return MN_OK;
}

// The largest entry of N beside its row's pivot.
static double growth_of(void *user, mn_range range)
{
    const mn_quasi_definite_factor *f = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++)
        for (int64_t k = f->start.data[i]; k < f->start.data[i + 1]; k++) {
            const double growth = fabs(f->value.data[k]) * f->inverse.data[i];
            if (!(growth <= most)) most = isnan(growth) ? INFINITY : growth; // maxima pass a NaN over
        }
    return most;
}

mn_status mn_quasi_definite_factor_build(mn_context *ctx, const mn_sparse *m, int64_t negative,
                                         const mn_vec3 *at, mn_quasi_definite_factor *f)
{
    enum { GRAIN = 4096 };
    f->ctx = ctx;
    f->negative = negative;
    MN_TRY(sort_rows(ctx, m->rows, negative, at, f));
    const int64_t parts = f->part_start.count - 1;
    MN_TRY(mn_array_resize(ctx, &f->start, (int64_t)m->rows + 1));
    MN_TRY(mn_array_resize(ctx, &f->inverse, m->rows));
    MN_TRY(mn_array_resize(ctx, &f->work, m->rows));
    factor_job job = {m, f, 0};
    MN_TRY(mn_parallel_for(ctx, parts, 1, count_part, &job));
    f->start.data[m->rows] = 0;
    const int64_t entries = mn_prefix_sum_i64(f->start.data, (int64_t)m->rows + 1);
    MN_TRY(mn_array_resize(ctx, &f->column, entries));
    MN_TRY(mn_array_resize(ctx, &f->value, entries));
    MN_TRY(mn_parallel_for(ctx, parts, 1, factor_part, &job));
    for (job.shift = FIRST_SHIFT; job.shift <= MOST_SHIFT; job.shift *= 10) {
        double growth;
        MN_TRY(mn_parallel_max(ctx, m->rows, GRAIN, growth_of, f, &growth));
        if (growth <= MOST_GROWTH) break;
        MN_TRY(mn_parallel_for(ctx, parts, 1, factor_part, &job));
    }
    return MN_OK;
}

void mn_quasi_definite_factor_free(mn_context *ctx, mn_quasi_definite_factor *f)
{
    mn_array_free(ctx, &f->order);
    mn_array_free(ctx, &f->place);
    mn_array_free(ctx, &f->part);
    mn_array_free(ctx, &f->sites);
    mn_array_free(ctx, &f->part_start);
    mn_array_free(ctx, &f->start);
    mn_array_free(ctx, &f->column);
    mn_array_free(ctx, &f->value);
    mn_array_free(ctx, &f->inverse);
    mn_array_free(ctx, &f->rest);
    mn_array_free(ctx, &f->work);
    mn_array_free(ctx, &f->square);
}

// ---- solving with them ----

typedef struct solve_job {
    mn_quasi_definite_factor *factor;
    const double *r;
    double *z;
    bool signs;
} solve_job;

static mn_status solve_part(void *user, mn_range range)
{
    const solve_job *job = user;
    mn_quasi_definite_factor *f = job->factor;
    const int32_t first = f->part_start.data[range.begin], end = f->part_start.data[range.begin + 1];
    const int64_t *start = f->start.data;
    const int32_t *column = f->column.data, *order = f->order.data;
    const double *value = f->value.data;
    double *t = f->work.data, square[2] = {0};
    int32_t turn = first;                   // where the positive ones begin
    for (int64_t i = first; i < end; i++) { // N t = r
        double sum = job->r[order[i]];
        for (int64_t k = start[i]; k < start[i + 1]; k++) sum -= value[k] * t[column[k]];
        t[i] = sum * f->inverse.data[i];
        const bool negative = order[i] < f->negative;
        square[negative] += t[i] * t[i];
        turn += negative;
    }
    for (int64_t i = first; job->signs && i < turn; i++) t[i] = -t[i];
    for (int64_t i = end - 1; i >= first; i--) { // N^T z = S t
        const double z = t[i] * f->inverse.data[i];
        job->z[order[i]] = z;
        for (int64_t k = start[i]; k < start[i + 1]; k++) t[column[k]] -= value[k] * z;
    }
    f->square.data[2 * range.begin] = square[0], f->square.data[2 * range.begin + 1] = square[1];
    return MN_OK;
}

mn_status mn_quasi_definite_factor_split(void *user, const double *r, double *z, double square[2])
{
    mn_quasi_definite_factor *f = user;
    solve_job job = {f, r, z, true};
    square[0] = square[1] = 0;
    MN_TRY(mn_parallel_for(f->ctx, f->part_start.count - 1, 1, solve_part, &job));
    for (int64_t p = 0; p < f->square.count; p++) square[p % 2] += f->square.data[p];
    return MN_OK;
}

mn_status mn_quasi_definite_factor_apply(void *user, const double *r, double *z)
{
    mn_quasi_definite_factor *f = user;
    solve_job job = {f, r, z, false};
    return mn_parallel_for(f->ctx, f->part_start.count - 1, 1, solve_part, &job);
}

mn_status mn_quasi_definite_factor_solve(mn_quasi_definite_factor *f, mn_krylov *krylov,
                                         const mn_linear_problem *problem, const mn_krylov_def *def,
                                         double *b, double *x, mn_krylov_result *result)
{
    const int64_t size = problem->size;
    const mn_split_problem split = {size, problem->apply, problem->apply_user, mn_quasi_definite_factor_split,
                                    f};
    const mn_linear_problem definite = {size, problem->apply, problem->apply_user,
                                        mn_quasi_definite_factor_apply, f};
    mn_krylov_def some = *def;
    double square[2];
    MN_TRY(mn_array_resize(f->ctx, &f->rest, size));
    MN_TRY(mn_quasi_definite_factor_split(f, b, f->rest.data, square));
    some.tolerance = 1e-14, some.absolute = def->tolerance * sqrt(square[0] + square[1]);
    some.max_iterations = def->max_iterations / QUICK;
    MN_TRY(mn_symmetric_qmr(krylov, &split, &some, b, x, result));
    const int32_t quick = result->iterations;
    if (result->end == MN_KRYLOV_CONVERGED) return MN_OK;
    MN_TRY(problem->apply(problem->apply_user, x, f->rest.data));
    for (int64_t i = 0; i < size; i++) b[i] -= f->rest.data[i];
    some.max_iterations = def->max_iterations;
    MN_TRY(mn_minres(krylov, &definite, &some, b, f->rest.data, result));
    for (int64_t i = 0; i < size; i++) x[i] += f->rest.data[i];
    result->iterations += quick;
    return MN_OK;
}
