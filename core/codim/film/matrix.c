// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the film's area as a matrix: K x = d(area)/dx with
//
//   (K x)_p = sum_q k_pq (x_p - x_q),   k_pq = (cot a + cot b) / 2,
//
// a and b the angles opposite to the edge pq [pinkall1993]. K is symmetric with zero row sums, so forces -K x
// have no sum and no moment, whatever the points do; and it is positive semidefinite, being the stiffness of
// linear elements.
#include "codim/state.h"

#include "base/parallel.h"

enum { GRAIN = 512, ROW_MAX = 2 * MN_FAN_MAX };

// Cotangents beyond this are those of needles, which would make the matrix stiff for nothing.
static const double LARGEST_COTANGENT = 50;

// Of the angle at b between a and c; bit for bit the same for (a, c) swapped, which keeps K symmetric.
static double cotangent(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
    const mn_vec3 u = mn_sub(a, b), v = mn_sub(c, b);
    const double along = mn_dot(u, v), across = mn_norm(mn_cross(u, v));
    const double most = LARGEST_COTANGENT;
    if (fabs(along) < most * across) return along / across;
    return along > 0 ? most : along < 0 ? -most : 0;
}

/// One row while it is put together.
typedef struct row {
    int32_t count;
    int32_t column[ROW_MAX];
    double weight[ROW_MAX];
} row;

static void add(row *r, int32_t column, double weight)
{
    int32_t i = 0;
    while (i < r->count && r->column[i] != column) i++;
    if (i == r->count) r->column[r->count] = column, r->weight[r->count++] = 0;
    r->weight[i] += weight;
}

static void row_of(const mn_codim_film_fan *fan, const mn_vec3 *x, const uint8_t *wet, int64_t p, row *r)
{
    r->count = 0;
    for (int32_t i = 0; i < fan->count; i++) {
        const int32_t a = fan->pair[i][0], b = fan->pair[i][1];
        const double part = wet && wet[p] && wet[a] && wet[b] ? 0 : 0.5;
        add(r, a, part * cotangent(x[p], x[b], x[a]));
        add(r, b, part * cotangent(x[p], x[a], x[b]));
    }
}

typedef struct build_job {
    const mn_codim_film_surface *surface;
    const mn_vec3 *x;
    const uint8_t *wet;
    mn_codim_film_matrix *matrix;
} build_job;

static mn_status count_range(void *user, mn_range range)
{
    const build_job *job = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_codim_film_fan *fan = &job->surface->fans.data[p];
        int64_t count =
            fan->count; // one new neighbour for each triangle, and one more where it starts freely
        for (int32_t i = 0; i < fan->count; i++) count += !fan_has_edge(fan, fan->pair[i][1]);
        job->matrix->start.data[p] = count;
    }
    return MN_OK;
}

static mn_status fill_range(void *user, mn_range range)
{
    const build_job *job = user;
    mn_codim_film_matrix *m = job->matrix;
    row r;
    for (int64_t p = range.begin; p < range.end; p++) {
        row_of(&job->surface->fans.data[p], job->x, job->wet, p, &r);
        double sum = 0;
        for (int32_t i = 0; i < r.count; i++) {
            m->column.data[m->start.data[p] + i] = r.column[i];
            m->weight.data[m->start.data[p] + i] = r.weight[i];
            sum += r.weight[i];
        }
        m->diagonal.data[p] = sum;
    }
    return MN_OK;
}

mn_status mn_codim_film_matrix_build(mn_context *ctx, const mn_codim_film_surface *surface, const mn_vec3 *x,
                                     const uint8_t *wet, mn_codim_film_matrix *m)
{
    const int64_t count = surface->count;
    build_job job = {surface, x, wet, m};
    MN_TRY(mn_array_resize(ctx, &m->start, count + 1));
    MN_TRY(mn_array_resize(ctx, &m->diagonal, count));
    MN_TRY(mn_parallel_for(ctx, count, GRAIN, count_range, &job));
    m->start.data[count] = 0;
    const int64_t entries = mn_prefix_sum_i64(m->start.data, count + 1);
    MN_TRY(mn_array_resize(ctx, &m->column, entries));
    MN_TRY(mn_array_resize(ctx, &m->weight, entries));
    return mn_parallel_for(ctx, count, GRAIN, fill_range, &job);
}

void mn_codim_film_matrix_free(mn_context *ctx, mn_codim_film_matrix *m)
{
    mn_array_free(ctx, &m->start);
    mn_array_free(ctx, &m->column);
    mn_array_free(ctx, &m->weight);
    mn_array_free(ctx, &m->diagonal);
}

mn_vec3 mn_codim_film_matrix_row(const mn_codim_film_matrix *m, const mn_vec3 *x, int64_t p)
{
    mn_vec3 sum = {0};
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
        sum = mn_axpy(sum, m->weight.data[e], mn_sub(x[p], x[m->column.data[e]]));
    return sum;
}
