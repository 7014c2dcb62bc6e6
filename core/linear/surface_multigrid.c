// SPDX-License-Identifier: Apache-2.0
//
// Plain aggregation with Gauss-Seidel, for matrices diag(m) + L with L a graph Laplacian. A coarse row stands
// for an aggregate of rows, and
//
//   m_c = sum of the m in it,   w_c = OVER sum of the w between two
//
// Sums alone would make a smooth function's steps from aggregate to aggregate too steep: on a lattice of
// triangles with aggregates of seven, three edges join two of them where one of the same weight is right.
// OVER is between the two, as aggregates are never that regular. Rows that are mostly mass need no coarse
// level and are in no aggregate.
//
// The cycle: Gauss-Seidel forward from zero, a correction from the next level by two cycles there,
// Gauss-Seidel backward. It is symmetric and positive definite. Gauss-Seidel runs in chunks whose bounds
// depend on the number of rows only; entries that lead to another chunk are left out of the sweep, and their
// sizes are added to the diagonal, which keeps it convergent [baker2011].
#include "linear/surface_multigrid.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 2048, DIRECT_MOST = 48, ROW_MOST = 512 };
static const double STRONG = 0.06;     // |a_ij| over the root of a_ii a_jj: rows that may be put together
static const double OVER = 0.7;        // see above
static const double MOSTLY_MASS = 0.8; // of the diagonal: a row that its own sweep solves

static void free_level(mn_context *ctx, mn_surface_level *l)
{
    mn_array_free(ctx, &l->start);
    mn_array_free(ctx, &l->before_end);
    mn_array_free(ctx, &l->own_end);
    mn_array_free(ctx, &l->column);
    mn_array_free(ctx, &l->weight);
    mn_array_free(ctx, &l->mass);
    mn_array_free(ctx, &l->diagonal);
    mn_array_free(ctx, &l->inverse);
    mn_array_free(ctx, &l->aggregate);
    mn_array_free(ctx, &l->member_start);
    mn_array_free(ctx, &l->member);
    mn_array_free(ctx, &l->x);
    mn_array_free(ctx, &l->right);
    mn_array_free(ctx, &l->rest);
    mn_array_free(ctx, &l->change);
}

void mn_surface_multigrid_free(mn_context *ctx, mn_surface_multigrid *m)
{
    for (int k = 0; k < MN_SURFACE_LEVELS; k++) free_level(ctx, &m->level[k]);
    mn_array_free(ctx, &m->factor);
    mn_array_free(ctx, &m->seen);
}

// ---- levels ----

static mn_status size_level(mn_context *ctx, mn_surface_level *l, int32_t rows)
{
    l->rows = rows;
    l->column.count = l->weight.count = 0;
    MN_TRY(mn_array_resize(ctx, &l->start, (int64_t)rows + 1));
    MN_TRY(mn_array_resize(ctx, &l->before_end, rows));
    MN_TRY(mn_array_resize(ctx, &l->own_end, rows));
    MN_TRY(mn_array_resize(ctx, &l->mass, rows));
    MN_TRY(mn_array_resize(ctx, &l->diagonal, rows));
    MN_TRY(mn_array_resize(ctx, &l->inverse, rows));
    MN_TRY(mn_array_resize(ctx, &l->aggregate, rows));
    MN_TRY(mn_array_resize(ctx, &l->x, rows));
    MN_TRY(mn_array_resize(ctx, &l->right, rows));
    MN_TRY(mn_array_resize(ctx, &l->rest, rows));
    return mn_array_resize(ctx, &l->change, rows);
}

// Writes row i at the end of the level: its entries, in their three groups.
static mn_status write_row(mn_context *ctx, mn_surface_level *l, int32_t i, const int32_t *column,
                           const double *weight, int32_t count, double scale)
{
    const int64_t begin = l->column.count;
    const int32_t chunk = i / CHUNK;
    MN_TRY(mn_array_resize(ctx, &l->column, begin + count));
    MN_TRY(mn_array_resize(ctx, &l->weight, begin + count));
    int64_t at = begin;
    double sum = 0, other = 0;
    for (int group = 0; group < 3; group++) {
        for (int32_t k = 0; k < count; k++) {
            const int32_t c = column[k];
            if ((c / CHUNK != chunk ? 2 : c > i) != group) continue;
            const double w = scale * weight[k];
            l->column.data[at] = c, l->weight.data[at++] = w;
            sum += w;
            if (group == 2) other += fabs(w);
        }
        if (group == 0) l->before_end.data[i] = at;
        if (group == 1) l->own_end.data[i] = at;
    }
    l->start.data[i] = begin, l->start.data[i + 1] = at;
    const double diagonal = l->mass.data[i] + sum;
    l->diagonal.data[i] = diagonal;
    l->inverse.data[i] = diagonal > 0 && isfinite(diagonal) ? 1 / (diagonal + other) : 0;
    return MN_OK;
}

static bool is_smooth(const mn_surface_level *l, int32_t i)
{
    return l->inverse.data[i] > 0 && l->mass.data[i] < MOSTLY_MASS * l->diagonal.data[i];
}

static bool is_strong(const mn_surface_level *l, int32_t i, int64_t e)
{
    const int32_t j = l->column.data[e];
    const double w = l->weight.data[e];
    return w > 0 && is_smooth(l, j) && w * w > STRONG * STRONG * l->diagonal.data[i] * l->diagonal.data[j];
}

// A row none of whose strong neighbours is taken takes them all; what is left joins its strongest neighbour's
// aggregate of that round, or stays alone.
static int32_t aggregate(mn_surface_level *l)
{
    int32_t count = 0;
    int32_t *of = l->aggregate.data;
    for (int32_t i = 0; i < l->rows; i++) of[i] = -1;
    for (int32_t i = 0; i < l->rows; i++) {
        if (of[i] >= 0 || !is_smooth(l, i)) continue;
        bool idle = true;
        for (int64_t e = l->start.data[i]; e < l->start.data[i + 1] && idle; e++)
            idle = of[l->column.data[e]] < 0 || !is_strong(l, i, e);
        if (!idle) continue;
        of[i] = count;
        for (int64_t e = l->start.data[i]; e < l->start.data[i + 1]; e++)
            if (is_strong(l, i, e)) of[l->column.data[e]] = count;
        count++;
    }
    // Those that join are not seen by each other: they have numbers from -2 down until all have joined.
    for (int32_t i = 0; i < l->rows; i++) {
        if (of[i] >= 0 || !is_smooth(l, i)) continue;
        double most = 0;
        for (int64_t e = l->start.data[i]; e < l->start.data[i + 1]; e++)
            if (of[l->column.data[e]] >= 0 && l->weight.data[e] > most)
                most = l->weight.data[e], of[i] = -2 - of[l->column.data[e]];
    }
    for (int32_t i = 0; i < l->rows; i++)
        if (of[i] < -1) of[i] = -2 - of[i];
    return count;
}

static mn_status list_members(mn_context *ctx, mn_surface_level *l, int32_t count)
{
    MN_TRY(mn_array_resize(ctx, &l->member_start, (int64_t)count + 1));
    MN_TRY(mn_array_resize(ctx, &l->member, l->rows));
    int64_t *start = l->member_start.data;
    memset(start, 0, sizeof *start * ((size_t)count + 1));
    for (int32_t i = 0; i < l->rows; i++)
        if (l->aggregate.data[i] >= 0) start[l->aggregate.data[i] + 1]++;
    for (int32_t a = 0; a < count; a++) start[a + 1] += start[a];
    for (int32_t i = 0; i < l->rows; i++)
        if (l->aggregate.data[i] >= 0) l->member.data[start[l->aggregate.data[i]]++] = i;
    memmove(start + 1, start, sizeof *start * (size_t)count);
    start[0] = 0;
    return MN_OK;
}

// The sums over the aggregates of `fine`. What leads to a row without one is held by it: mass.
static mn_status build_coarse(mn_context *ctx, mn_surface_multigrid *m, const mn_surface_level *fine,
                              int32_t count, mn_surface_level *coarse)
{
    MN_TRY(size_level(ctx, coarse, count));
    MN_TRY(mn_array_resize(ctx, &m->seen, count));
    for (int32_t a = 0; a < count; a++) m->seen.data[a] = -1;
    for (int32_t a = 0; a < count; a++) {
        int32_t column[ROW_MOST], entries = 0;
        double weight[ROW_MOST], mass = 0;
        for (int64_t i = fine->member_start.data[a]; i < fine->member_start.data[a + 1]; i++) {
            const int32_t row = fine->member.data[i];
            mass += fine->mass.data[row];
            for (int64_t e = fine->start.data[row]; e < fine->start.data[row + 1]; e++) {
                const int32_t b = fine->aggregate.data[fine->column.data[e]];
                const double w = fine->weight.data[e];
                if (b == a) continue;
                if (b < 0) {
                    mass += w;
                    continue;
                }
                int32_t k = m->seen.data[b];
                if (k < 0 || k >= entries || column[k] != b) {
                    if (entries == ROW_MOST) {
                        mass += w; // it is only a preconditioner
                        continue;
                    }
                    k = entries++, m->seen.data[b] = k, column[k] = b, weight[k] = 0;
                }
                weight[k] += w;
            }
        }
        coarse->mass.data[a] = fmax(mass, 0);
        MN_TRY(write_row(ctx, coarse, a, column, weight, entries, OVER));
    }
    return MN_OK;
}

// Dense L L^T of the coarsest level.
static mn_status factor_coarsest(mn_surface_multigrid *m)
{
    const mn_surface_level *l = &m->level[m->count - 1];
    const int32_t n = l->rows;
    m->direct = n <= DIRECT_MOST;
    if (!m->direct) return MN_OK;
    MN_TRY(mn_array_resize(m->ctx, &m->factor, (int64_t)n * n));
    double *f = m->factor.data;
    memset(f, 0, sizeof *f * (size_t)n * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        f[i * n + i] = l->inverse.data[i] > 0 ? l->diagonal.data[i] : 1e300;
        for (int64_t e = l->start.data[i]; e < l->start.data[i + 1]; e++)
            f[i * n + l->column.data[e]] -= l->weight.data[e];
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k <= i; k++) {
            double sum = f[i * n + k];
            for (int32_t j = 0; j < k; j++) sum -= f[i * n + j] * f[k * n + j];
            if (i == k && !(sum > 1e-12 * f[i * n + i])) m->direct = false; // swept instead
            f[i * n + k] = i == k ? sqrt(fmax(sum, 1e-300)) : sum / f[k * n + k];
        }
    return MN_OK;
}

mn_status mn_surface_multigrid_build(mn_context *ctx, mn_surface_multigrid *m, int32_t rows,
                                     const int64_t *start, const int32_t *column, const double *weight,
                                     double scale, const double *mass)
{
    m->ctx = ctx;
    m->count = 1;
    mn_surface_level *l = &m->level[0];
    MN_TRY(size_level(ctx, l, rows));
    for (int32_t i = 0; i < rows; i++) {
        l->mass.data[i] = mass[i];
        MN_TRY(write_row(ctx, l, i, column + start[i], weight + start[i], (int32_t)(start[i + 1] - start[i]),
                         scale));
    }
    while (l->rows > DIRECT_MOST && m->count < MN_SURFACE_LEVELS) {
        const int32_t count = aggregate(l);
        if (count == 0 || count > l->rows / 2) break;
        MN_TRY(list_members(ctx, l, count));
        MN_TRY(build_coarse(ctx, m, l, count, l + 1));
        l++, m->count++;
    }
    return factor_coarsest(m);
}

// ---- cycle ----

typedef struct sweep_job {
    const mn_surface_level *level;
    const mn_vec3 *from, *x;
    mn_vec3 *to;
} sweep_job;

// (before + D) x = r in each chunk
static mn_status forward_chunk(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_surface_level *l = job->level;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_vec3 sum = job->from[i];
        for (int64_t e = l->start.data[i]; e < l->before_end.data[i]; e++)
            sum = mn_axpy(sum, l->weight.data[e], job->to[l->column.data[e]]);
        job->to[i] = mn_scale(l->inverse.data[i], sum);
    }
    return MN_OK;
}

// to = from - A x
static mn_status rest_chunk(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_surface_level *l = job->level;
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!(l->inverse.data[i] > 0)) {
            job->to[i] = mn_v3(0, 0, 0);
            continue;
        }
        mn_vec3 sum = mn_axpy(job->from[i], -l->diagonal.data[i], job->x[i]);
        for (int64_t e = l->start.data[i]; e < l->start.data[i + 1]; e++)
            sum = mn_axpy(sum, l->weight.data[e], job->x[l->column.data[e]]);
        job->to[i] = sum;
    }
    return MN_OK;
}

// The same right after a forward sweep from zero, which solved for the entries before each row: what it left
// out, and what it added to the diagonal.
static mn_status swept_chunk(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_surface_level *l = job->level;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_vec3 sum = {0};
        for (int64_t e = l->before_end.data[i]; e < l->start.data[i + 1]; e++)
            sum = mn_axpy(sum, l->weight.data[e], job->x[l->column.data[e]]);
        const double added = l->inverse.data[i] > 0 ? 1 / l->inverse.data[i] - l->diagonal.data[i] : 0;
        job->to[i] = l->inverse.data[i] > 0 ? mn_axpy(sum, added, job->x[i]) : mn_v3(0, 0, 0);
    }
    return MN_OK;
}

// (D + after) change = r in each chunk
static mn_status backward_chunk(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_surface_level *l = job->level;
    for (int64_t i = range.end - 1; i >= range.begin; i--) {
        mn_vec3 sum = job->from[i];
        for (int64_t e = l->before_end.data[i]; e < l->own_end.data[i]; e++)
            sum = mn_axpy(sum, l->weight.data[e], job->to[l->column.data[e]]);
        job->to[i] = mn_scale(l->inverse.data[i], sum);
    }
    return MN_OK;
}

static mn_status restrict_chunk(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_surface_level *l = job->level;
    for (int64_t a = range.begin; a < range.end; a++) {
        mn_vec3 sum = {0};
        for (int64_t i = l->member_start.data[a]; i < l->member_start.data[a + 1]; i++)
            sum = mn_add(sum, job->from[l->member.data[i]]);
        job->to[a] = sum;
    }
    return MN_OK;
}

static void solve_coarsest(const mn_surface_multigrid *m, const mn_vec3 *r, mn_vec3 *x)
{
    const int32_t n = m->level[m->count - 1].rows;
    const double *f = m->factor.data;
    for (int32_t i = 0; i < n; i++) {
        mn_vec3 sum = r[i];
        for (int32_t k = 0; k < i; k++) sum = mn_axpy(sum, -f[i * n + k], x[k]);
        x[i] = mn_scale(1 / f[i * n + i], sum);
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        mn_vec3 sum = x[i];
        for (int32_t k = i + 1; k < n; k++) sum = mn_axpy(sum, -f[k * n + i], x[k]);
        x[i] = mn_scale(1 / f[i * n + i], sum);
    }
}

static mn_status cycle(mn_surface_multigrid *m, int32_t at, const mn_vec3 *r, mn_vec3 *x)
{
    mn_surface_level *l = &m->level[at], *next = l + 1;
    const bool last = at + 1 == m->count;
    if (last && m->direct) {
        solve_coarsest(m, r, x);
        return MN_OK;
    }
    sweep_job job = {l, r, NULL, x};
    MN_TRY(mn_parallel_for(m->ctx, l->rows, CHUNK, forward_chunk, &job));
    sweep_job rest = {l, r, x, l->rest.data};
    if (!last) {
        MN_TRY(mn_parallel_for(m->ctx, l->rows, CHUNK, swept_chunk, &rest));
        sweep_job down = {l, l->rest.data, NULL, next->right.data};
        MN_TRY(mn_parallel_for(m->ctx, next->rows, CHUNK, restrict_chunk, &down));
        MN_TRY(cycle(m, at + 1, next->right.data, next->x.data));
        if (at + 2 < m->count || !m->direct) { // once more: what plain aggregates miss adds up over levels
            sweep_job again = {next, next->right.data, next->x.data, next->rest.data};
            MN_TRY(mn_parallel_for(m->ctx, next->rows, CHUNK, rest_chunk, &again));
            mn_vec3 *right = next->right.data, *first = next->x.data;
            memcpy(right, next->rest.data, sizeof *right * (size_t)next->rows);
            for (int32_t i = 0; i < l->rows; i++)
                if (l->aggregate.data[i] >= 0) x[i] = mn_add(x[i], first[l->aggregate.data[i]]);
            MN_TRY(cycle(m, at + 1, right, next->x.data));
        }
        for (int32_t i = 0; i < l->rows; i++)
            if (l->aggregate.data[i] >= 0) x[i] = mn_add(x[i], next->x.data[l->aggregate.data[i]]);
    }
    MN_TRY(mn_parallel_for(m->ctx, l->rows, CHUNK, rest_chunk, &rest));
    sweep_job back = {l, l->rest.data, NULL, l->change.data};
    MN_TRY(mn_parallel_for(m->ctx, l->rows, CHUNK, backward_chunk, &back));
    for (int32_t i = 0; i < l->rows; i++) x[i] = mn_add(x[i], l->change.data[i]);
    return MN_OK;
}

mn_status mn_surface_multigrid_apply(mn_surface_multigrid *m, const mn_vec3 *r, mn_vec3 *x)
{
    return m->count > 0 ? cycle(m, 0, r, x) : MN_OK;
}
