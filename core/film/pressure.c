// SPDX-License-Identifier: Apache-2.0
//
// Pressures of volumes in the step of a complex. With the matrix A of films, threads, gas and tetrahedra
// (operator.c, bulk.c) a pass solves
//
//   (  A  -B^T ) (change of d)   (right - A d + B^T p        )
//   ( -B    0  ) (change of p) = (-(C0 - C(x1))/(theta dt)   )
//
// with B at the middle of the step, which keeps angular momentum, and C at its end, x1. It is symmetric; its
// preconditioner is the block factorisation with what operator.c has for A, D its diagonal:
//
//   z_v = A~^-1 r_v,   z_p = -S^-1 (r_p + B z_v),   z_v += D^-1 B^T z_p,   S = B D^-1 B^T
//
// A~^-1 in place of the last D^-1 costs more and gains nothing (39 to 52 iterations for 39 to 51, row F20).
// S is factored by Cholesky's method, on a large mesh a few iterations with multigrid take its place, so the
// method is flexible GMRES. At the end velocities are made to change no volumes at x1,
//
//   M (v1 - v) = B(x1)^T q,   B(x1) v1 = 0
//
// because the midpoint rule would hand on with a changed sign, for ever, what they change.
#include "film/film_state.h"
#include "tet/elements.h"

#include <stdlib.h>
#include <string.h>

enum { DIRECT_MOST = 6000, INNER_MAX = 60, LINEAR_MAX = 200, RESTART = 30 };
static const double TOLERANCE = 1e-2; // of what a pass finds left
static const double PROJECTED = 1e-6, INNER = 0.3;
static const double STILL = 1e-8;  // motion in a step that is not worth an iteration, of the size
static const double GOOD = 0.05;   // of the time of waves of one size, in which missing volume is made good
static const double SHIFT = 1e-10; // of the mean diagonal: the pressure of a closed vessel does nothing

// ---- S ----

static int by_index(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Vertices of the tetrahedra around node i, rising.
static int32_t list_row(const mn_film *film, int64_t i, int32_t *list, int32_t most)
{
    const mn_film_bulk *b = &film->bulk;
    int32_t count = 0;
    for (int64_t k = b->start.data[i]; k < b->start.data[i + 1]; k++)
        for (int j = 0; j < 4 && count < most; j++)
            list[count++] = film->c.tets.data[b->corner.data[k] / 4].v[j];
    qsort(list, (size_t)count, sizeof *list, by_index);
    int32_t kept = 0;
    for (int32_t k = 0; k < count; k++)
        if (kept == 0 || list[kept - 1] != list[k]) list[kept++] = list[k];
    return kept;
}

// The pattern of B: three columns a vertex.
static mn_status gradient_pattern(mn_film *film)
{
    mn_film_bulk *b = &film->bulk;
    mn_context *ctx = film->solver.ctx;
    mn_sparse *m = &b->gradient;
    int64_t widest = 0, total = 0;
    for (int64_t i = 0; i < b->node_count; i++) {
        const int64_t width = 4 * (b->start.data[i + 1] - b->start.data[i]);
        widest = width > widest ? width : widest;
    }
    MN_ARRAY(int32_t) list = {0};
    MN_TRY(mn_array_resize(ctx, &list, widest));
    mn_status status = MN_OK;
    MN_TRY_TO(out, status,
              mn_sparse_set_size(ctx, m, (int32_t)b->node_count, (int32_t)(3 * film->c.vertices.count)));
    for (int64_t i = 0; i < b->node_count; i++) {
        total += 3 * list_row(film, i, list.data, (int32_t)widest);
        m->start[i + 1] = total;
    }
    MN_TRY_TO(out, status, mn_sparse_set_entries(ctx, m, total));
    for (int64_t i = 0; i < b->node_count; i++) {
        const int32_t count = list_row(film, i, list.data, (int32_t)widest);
        for (int32_t k = 0; k < 3 * count; k++) m->column[m->start[i] + k] = 3 * list.data[k / 3] + k % 3;
    }
out:
    mn_array_free(ctx, &list);
    return status;
}

static mn_status fill_gradient(void *user, mn_range range)
{
    const mn_film *film = user;
    const mn_film_bulk *b = &film->bulk;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int64_t from = b->gradient.start[i], to = b->gradient.start[i + 1];
        double *row = b->gradient.value + from;
        const int32_t *column = b->gradient.column + from;
        memset(row, 0, mn_bytes(to - from, sizeof *row));
        for (int64_t k = b->start.data[i]; k < b->start.data[i + 1]; k++)
            for (int j = 0; j < 4; j++) {
                const int32_t t = b->corner.data[k] / 4, v = film->c.tets.data[t].v[j];
                int64_t low = 0, high = (to - from) / 3 - 1;
                while (low < high) {
                    const int64_t middle = (low + high) / 2;
                    if (column[3 * middle] < 3 * v)
                        low = middle + 1;
                    else
                        high = middle;
                }
                const mn_vec3 g = mn_scale(0.25 * b->scale, mn_film_allowed(film, v, b->tets.data[t].g[j]));
                row[3 * low] += g.x, row[3 * low + 1] += g.y, row[3 * low + 2] += g.z;
            }
    }
    return MN_OK;
}

static bool is_direct(const mn_film_bulk *b)
{
    return b->node_count <= DIRECT_MOST;
}

static mn_status analyze(mn_film *film)
{
    mn_film_bulk *b = &film->bulk;
    mn_context *ctx = film->solver.ctx;
    MN_ARRAY(int32_t) order = {0};
    MN_ARRAY(mn_vec3) place = {0};
    mn_status status;
    MN_TRY(mn_sparse_product_pattern(ctx, &b->gradient, &b->turned, &b->schur));
    if (is_direct(b)) {
        if (!b->cholesky) MN_TRY(mn_cholesky_create(ctx, &b->cholesky));
        MN_TRY_TO(out, status, mn_array_resize(ctx, &order, b->node_count));
        MN_TRY_TO(out, status, mn_array_resize(ctx, &place, b->node_count));
        for (int64_t i = 0; i < b->node_count; i++) place.data[i] = film->x0.data[b->vertex.data[i]];
        MN_TRY_TO(out, status, mn_cholesky_order(b->cholesky, &b->schur, place.data, order.data));
        MN_TRY_TO(out, status, mn_cholesky_analyze(b->cholesky, &b->schur, order.data));
    }
    status = MN_OK;
    b->analyzed = true;
out:
    mn_array_free(ctx, &order);
    mn_array_free(ctx, &place);
    return status;
}

// What a node's volume is short of at x, beside what is owed, over the mean of all: the largest; each into
// `missing` where that is not NULL.
static double measure_missing(const mn_film *film, const mn_vec3 *x, double *missing)
{
    const mn_film_bulk *b = &film->bulk;
    double most = 0, mean = 0;
    for (int64_t i = 0; i < b->node_count; i++) {
        double volume = 0;
        for (int64_t k = b->start.data[i]; k < b->start.data[i + 1]; k++) {
            const int32_t *v = film->c.tets.data[b->corner.data[k] / 4].v;
            volume += 0.25 * mn_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
        }
        const double gap = b->rest.data[i] - b->owed.data[i] - volume;
        if (missing) missing[i] = gap;
        most = fmax(most, fabs(gap)), mean += b->rest.data[i] / (double)b->node_count;
    }
    return mean > 0 ? most / mean : 0;
}

// Changes of the mesh leave nodes with other volumes than they are to have. A step that is short beside the
// time of waves makes good a part only: all of it at once would fling the liquid apart.
static void find_owed(const mn_film_step_job *job)
{
    mn_film_bulk *b = &job->film->bulk;
    const double part = fmin(1, job->dt / (GOOD * mn_film_bulk_time(job->film)));
    for (int64_t i = 0; i < b->node_count; i++) b->owed.data[i] = 0;
    if (!(part < 1)) return;
    measure_missing(job->film, job->film->x0.data, b->owed.data);
    for (int64_t i = 0; i < b->node_count; i++) b->owed.data[i] *= 1 - part;
}

static void find_diagonals(const mn_film_step_job *job)
{
    mn_film *film = job->film;
    const double stiff = job->theta * job->theta * job->dt * job->dt;
    for (int64_t v = 0; v < film->system.vertex_count; v++) {
        const double all = film->mass.data[v] + stiff * fmax(0, film->system.diagonal.data[v]) +
                           job->dt * film->drag.data[v] / 3 + mn_film_bulk_diagonal(film, job, (int32_t)v);
        const double mass = film->mass.data[v] - 0.6 * film->c.vertices.data[v].bulk;
        film->bulk.inverse.data[v] = all > 0 ? 1 / all : 0;
        film->bulk.light.data[v] = mass > 0 ? 1 / mass : 0;
    }
}

mn_status mn_film_pressure_factor(mn_film_step_job *job)
{
    mn_film *film = job->film;
    mn_film_bulk *b = &film->bulk;
    mn_context *ctx = film->solver.ctx;
    b->factored = false;
    find_diagonals(job);
    find_owed(job);
    if (!b->analyzed) MN_TRY(gradient_pattern(film));
    MN_TRY(mn_parallel_for(ctx, b->node_count, MN_FILM_GRAIN, fill_gradient, film));
    mn_sparse_free(ctx, &b->turned);
    MN_TRY(mn_sparse_transpose(ctx, &b->gradient, &b->turned));
    for (int32_t r = 0; r < b->turned.rows; r++)
        for (int64_t k = b->turned.start[r]; k < b->turned.start[r + 1]; k++)
            b->turned.value[k] *= b->inverse.data[r / 3];
    if (!b->analyzed) MN_TRY(analyze(film));
    MN_TRY(mn_sparse_product(ctx, &b->gradient, &b->turned, &b->schur));
    double mean = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < b->schur.rows; i++)
            for (int64_t k = b->schur.start[i]; k < b->schur.start[i + 1]; k++) {
                if (b->schur.column[k] != i) continue;
                if (pass == 0)
                    mean += b->schur.value[k] / b->schur.rows;
                else
                    b->schur.value[k] += SHIFT * mean;
            }
    if (is_direct(b)) {
        MN_TRY(mn_cholesky_factor(b->cholesky, &b->schur));
    } else {
        const mn_multigrid_def def = {.strong = 0.08, .plain = true};
        if (!b->multigrid) MN_TRY(mn_multigrid_create(ctx, &b->multigrid));
        if (b->built)
            MN_TRY(mn_multigrid_refresh(b->multigrid, &b->schur));
        else
            MN_TRY(mn_multigrid_build(b->multigrid, &def, &b->schur));
        b->built = true;
    }
    b->factored = true;
    return MN_OK;
}

// ---- the system ----

typedef struct saddle {
    mn_film_step_job *job;
    bool mass_only; ///< A is the mass matrix
} saddle;

static mn_status lump_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    for (int64_t v = range.begin; v < range.end; v++)
        job->out[v] = mn_scale(job->film->mass.data[v], job->in[v]);
    return MN_OK;
}

static mn_status apply(void *user, const double *x, double *y)
{
    const saddle *s = user;
    mn_film *film = s->job->film;
    const int64_t n = film->system.vertex_count;
    mn_vec3 *out = (mn_vec3 *)y;
    double *volumes = y + 3 * n;
    if (s->mass_only) {
        s->job->in = (const mn_vec3 *)x, s->job->out = out;
        MN_TRY(mn_check_cancelled(film->solver.ctx));
        MN_TRY(mn_parallel_for(film->solver.ctx, n, MN_FILM_GRAIN, lump_range, s->job));
    } else {
        MN_TRY(mn_film_apply(s->job, x, y));
    }
    memset(volumes, 0, mn_bytes(film->bulk.node_count, sizeof(double)));
    MN_TRY(mn_film_bulk_apply(film, s->job, s->mass_only, (const mn_vec3 *)x, x + 3 * n, out, volumes));
    return mn_film_project(s->job, out);
}

static mn_status solve_schur(mn_film_bulk *b, const double *r, double *z)
{
    if (is_direct(b)) return mn_cholesky_solve(b->cholesky, r, z);
    return mn_multigrid_solve(b->multigrid, INNER, INNER_MAX, r, z, NULL);
}

static mn_status precondition(void *user, const double *r, double *z)
{
    const saddle *s = user;
    mn_film *film = s->job->film;
    mn_film_bulk *b = &film->bulk;
    const int64_t n = film->system.vertex_count;
    double *side = b->schur_side.data, *p = z + 3 * n;
    if (s->mass_only)
        for (int64_t v = 0; v < 3 * n; v++) z[v] = b->light.data[v / 3] * r[v];
    else
        MN_TRY(mn_film_precondition(s->job, r, z));
    MN_TRY(mn_sparse_apply(film->solver.ctx, &b->gradient, z, side));
    for (int64_t i = 0; i < b->node_count; i++) side[i] = -(r[3 * n + i] + side[i]);
    MN_TRY(solve_schur(b, side, p));
    // turned is D^-1 B^T; the pockets of gas are left to the iterations.
    for (int64_t v = 0; v < 3 * n; v++) {
        double sum = 0;
        for (int64_t k = b->turned.start[v]; k < b->turned.start[v + 1]; k++)
            sum += b->turned.value[k] * p[b->turned.column[k]];
        if (sum == 0) continue; // a vertex of films
        z[v] += s->mass_only ? b->light.data[v / 3] / b->inverse.data[v / 3] * sum : sum;
    }
    return mn_film_project(s->job, (mn_vec3 *)z);
}

static mn_status run(saddle *s, double tolerance)
{
    mn_film *film = s->job->film;
    mn_film_bulk *b = &film->bulk;
    const mn_linear_problem problem = {3 * film->system.vertex_count + b->node_count, apply, s, precondition,
                                       s};
    const mn_krylov_def def = {.tolerance = tolerance,
                               .absolute = STILL * film->def.size / s->job->dt *
                                           (s->job->mass / (double)film->system.vertex_count),
                               .max_iterations = LINEAR_MAX,
                               .restart = RESTART};
    mn_krylov_result result;
    MN_TRY(mn_flexible_gmres(film->krylov, &problem, &def, b->side.data, b->unknown.data, &result));
    film->solver.counts.linear_iterations += result.iterations;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(film->solver.ctx, MN_ERROR_DIVERGED, "The forces on the liquid are not finite.");
    return MN_OK;
}

double mn_film_pressure_error(mn_film *film, const mn_vec3 *x1)
{
    return measure_missing(film, x1, NULL);
}

// For the change of d and p from those of the pass before: what is left is solved to a part of itself, so all
// rows come to rounding however small they are beside the others.
mn_status mn_film_pressure_solve(mn_film_step_job *job, const mn_vec3 *right, mn_vec3 *d)
{
    mn_film *film = job->film;
    mn_film_bulk *b = &film->bulk;
    const int64_t n = film->system.vertex_count, m = b->node_count;
    saddle s = {job, false};
    double *side = b->side.data, *unknown = b->unknown.data;
    memcpy(unknown, d, mn_bytes(n, sizeof(mn_vec3)));
    memcpy(unknown + 3 * n, b->pressure.data, mn_bytes(m, sizeof(double)));
    MN_TRY(apply(&s, unknown, side));
    for (int64_t v = 0; v < n; v++) {
        const mn_vec3 r = mn_sub(right[v], ((const mn_vec3 *)side)[v]);
        memcpy(side + 3 * v, &r, sizeof r);
        film->scratch.data[v] =
            mn_axpy(film->x0.data[v], job->dt, mn_axpy(film->v0.data[v], job->theta, d[v]));
    }
    measure_missing(film, film->scratch.data, side + 3 * n);
    for (int64_t i = 0; i < m; i++) side[3 * n + i] *= -b->scale / (job->theta * job->dt);
    memset(unknown, 0, mn_bytes(3 * n + m, sizeof(double)));
    MN_TRY(run(&s, TOLERANCE));
    for (int64_t v = 0; v < n; v++) d[v] = mn_add(d[v], ((const mn_vec3 *)unknown)[v]);
    for (int64_t i = 0; i < m; i++) b->pressure.data[i] += unknown[3 * n + i];
    return MN_OK;
}

mn_status mn_film_pressure_project(mn_film_step_job *job)
{
    mn_film *film = job->film;
    mn_film_bulk *b = &film->bulk;
    const int64_t n = film->system.vertex_count;
    mn_film_step_job still = *job; // nothing but the mass
    saddle s = {&still, true};
    still.gas = false;
    double *volumes = b->side.data + 3 * n;
    MN_TRY(mn_film_bulk_measure(film, film->x1.data));
    MN_TRY(mn_parallel_for(film->solver.ctx, b->node_count, MN_FILM_GRAIN, fill_gradient, film));
    for (int64_t v = 0; v < n; v++) film->scratch.data[v] = mn_add(film->v0.data[v], film->d.data[v]);
    memset(b->side.data, 0, mn_bytes(3 * n + b->node_count, sizeof(double)));
    MN_TRY(mn_film_bulk_apply(film, job, true, film->scratch.data, NULL, (mn_vec3 *)b->side.data, volumes));
    for (int64_t i = 0; i < b->node_count; i++) volumes[i] = -volumes[i];
    memset(b->side.data, 0, mn_bytes(3 * n, sizeof(double)));
    memset(b->unknown.data, 0, mn_bytes(3 * n + b->node_count, sizeof(double)));
    MN_TRY(run(&s, PROJECTED));
    const mn_vec3 *change = (const mn_vec3 *)b->unknown.data;
    for (int64_t v = 0; v < n; v++) film->d.data[v] = mn_add(film->d.data[v], change[v]);
    return MN_OK;
}
