// SPDX-License-Identifier: Apache-2.0
//
// Volumes of pockets and what couples them.
//
//   dV_b/dx at v = a sixth of the (twice area) normals of v's star, signed by the side that b is on
//   V_b = (x . dV_b/dx)/3
//
// Only vertices at b are in it, so dV/dx is kept as a sparse matrix, by vertex and by pocket. The matrix of
// pockets by pockets, dV/dx W dV/dx^T + a diagonal, is small, and is factored.
//
// Second derivatives: the normal of (a, b, c) changes by da x (b - c) + db x (c - a) + dc x (a - b), so that
//
//   (sum_b q_b d2V_b/dx2 u)_v = sum_w u_w x e_vw,   e_vw = sum over triangles of p/6 (c - v), b = w in order
//
// p the pressure behind a triangle less that in front. What stands with u_v itself adds up to nothing around
// v.
#include "film/film_state.h"
#include "meniscus/array.h"

typedef struct volume_job {
    mn_film *film;
    const mn_vec3 *x;
    const double *values;
    double *results;
    double factor;
    mn_vec3 *out;
} volume_job;

static mn_status normals_range(void *user, mn_range range)
{
    const volume_job *job = user;
    const mn_film *film = job->film;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *v = film->c.triangles.data[t].v;
        const mn_vec3 a = job->x[v[0]];
        film->system.twice.data[t] = mn_cross(mn_sub(job->x[v[1]], a), mn_sub(job->x[v[2]], a));
    }
    return MN_OK;
}

static mn_status faces_range(void *user, mn_range range)
{
    const volume_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    for (int64_t v = range.begin; v < range.end; v++) {
        const int64_t first = s->face_start.data[v], end = s->face_start.data[v + 1];
        for (int64_t f = first; f < end; f++) s->faces.data[f].gradient = mn_v3(0, 0, 0);
        if (first == end) continue;
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const mn_complex_triangle *t = &film->c.triangles.data[s->star.data[i] / 3];
            if (t->region[0] == t->region[1]) continue;
            const mn_vec3 n2 = s->twice.data[s->star.data[i] / 3];
            for (int64_t f = first; f < end; f++)
                for (int side = 0; side < 2; side++)
                    if (t->region[side] == s->faces.data[f].region)
                        s->faces.data[f].gradient =
                            mn_axpy(s->faces.data[f].gradient, side == 0 ? 1.0 / 6 : -1.0 / 6, n2);
        }
    }
    return MN_OK;
}

static mn_status volumes_range(void *user, mn_range range)
{
    const volume_job *job = user;
    const mn_film_system *s = &job->film->system;
    for (int64_t b = range.begin; b < range.end; b++) {
        double sum = 0;
        for (int64_t i = s->pocket_start.data[b]; i < s->pocket_start.data[b + 1]; i++) {
            const mn_film_face *f = &s->faces.data[s->pocket_face.data[i]];
            sum += mn_dot(f->gradient, mn_sub(job->x[f->vertex], job->film->origin));
        }
        job->results[b] = sum / 3;
    }
    return MN_OK;
}

// A few thousand vertices are summed sooner than workers are woken.
int64_t mn_film_pocket_grain(const mn_film *film)
{
    return film->system.faces.count > 16384 ? 1 : film->pockets.count;
}

mn_status mn_film_volumes_at(mn_film *film, const mn_vec3 *x, double *volumes)
{
    volume_job job = {.film = film, .x = x};
    const mn_film_system *s = &film->system;
    MN_TRY(mn_parallel_for(film->solver.ctx, s->triangle_count, MN_FILM_GRAIN, normals_range, &job));
    for (int64_t b = 0; b < film->pockets.count; b++) volumes[b] = 0;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const mn_complex_triangle *triangle = &film->c.triangles.data[t];
        const double part = mn_dot(mn_sub(x[triangle->v[0]], film->origin), s->twice.data[t]) / 6;
        for (int side = 0; side < 2; side++)
            if (triangle->region[side] > 0 && triangle->region[side] != MN_COMPLEX_LIQUID)
                volumes[triangle->region[side]] += side == 0 ? part : -part;
    }
    return MN_OK;
}

mn_status mn_film_system_volumes(mn_film *film, const mn_vec3 *x, double *volumes)
{
    volume_job job = {.film = film, .x = x, .results = volumes};
    MN_TRY(
        mn_parallel_for(film->solver.ctx, film->system.triangle_count, MN_FILM_GRAIN, normals_range, &job));
    MN_TRY(mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, faces_range, &job));
    if (!volumes) return MN_OK;
    return mn_parallel_for(film->solver.ctx, film->pockets.count, mn_film_pocket_grain(film), volumes_range,
                           &job);
}

static mn_status gather_range(void *user, mn_range range)
{
    const volume_job *job = user;
    const mn_film_system *s = &job->film->system;
    for (int64_t b = range.begin; b < range.end; b++) {
        double sum = 0;
        for (int64_t i = s->pocket_start.data[b]; i < s->pocket_start.data[b + 1]; i++) {
            const mn_film_face *f = &s->faces.data[s->pocket_face.data[i]];
            sum += mn_dot(f->gradient, job->x[f->vertex]);
        }
        job->results[b] = sum;
    }
    return MN_OK;
}

mn_status mn_film_pockets_gather(mn_film *film, const mn_vec3 *u, double *values)
{
    volume_job job = {.film = film, .x = u, .results = values};
    return mn_parallel_for(film->solver.ctx, film->pockets.count, mn_film_pocket_grain(film), gather_range,
                           &job);
}

static mn_status scatter_range(void *user, mn_range range)
{
    const volume_job *job = user;
    const mn_film_system *s = &job->film->system;
    for (int64_t v = range.begin; v < range.end; v++)
        for (int64_t f = s->face_start.data[v]; f < s->face_start.data[v + 1]; f++)
            job->out[v] = mn_axpy(job->out[v], job->factor * job->values[s->faces.data[f].region],
                                  s->faces.data[f].gradient);
    return MN_OK;
}

mn_status mn_film_pockets_scatter(mn_film *film, const double *values, double factor, mn_vec3 *out)
{
    volume_job job = {.film = film, .values = values, .factor = factor, .out = out};
    return mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, scatter_range, &job);
}

// ---- pressures that turn ----

static mn_status turn_range(void *user, mn_range range)
{
    const volume_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    for (int64_t v = range.begin; v < range.end; v++) {
        mn_vec3 *row = s->turn.data + s->row_start.data[v];
        const int64_t count = s->row_start.data[v + 1] - s->row_start.data[v];
        for (int64_t k = 0; k < count; k++) row[k] = mn_v3(0, 0, 0);
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const int32_t corner = s->star.data[i], k = corner % 3;
            const mn_complex_triangle *t = &film->c.triangles.data[corner / 3];
            const double p = (job->values[t->region[0]] - job->values[t->region[1]]) / 6;
            if (p == 0) continue;
            const mn_vec3 a = job->x[t->v[k]], b = job->x[t->v[(k + 1) % 3]], d = job->x[t->v[(k + 2) % 3]];
            mn_vec3 *to_b = row + s->slot.data[2 * corner], *to_d = row + s->slot.data[2 * corner + 1];
            *to_b = mn_axpy(*to_b, p, mn_sub(d, a));
            *to_d = mn_axpy(*to_d, p, mn_sub(a, b));
        }
    }
    return MN_OK;
}

mn_status mn_film_pockets_turn(mn_film *film, const mn_vec3 *x, const double *excess)
{
    volume_job job = {.film = film, .x = x, .values = excess};
    MN_TRY(mn_array_resize(film->solver.ctx, &film->system.turn, film->system.column.count));
    return mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, turn_range, &job);
}

mn_vec3 mn_film_turn_row(const mn_film_system *s, const mn_vec3 *u, int64_t v)
{
    mn_vec3 sum = {0};
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++)
        sum = mn_add(sum, mn_cross(u[s->column.data[k]], s->turn.data[k]));
    return sum;
}

// ---- pockets by pockets ----

mn_status mn_film_pockets_factor(mn_film *film, const double *weights, const double *added)
{
    mn_film_system *s = &film->system;
    const int64_t n = film->pockets.count;
    MN_TRY(mn_array_resize(film->solver.ctx, &s->small, n * n));
    MN_TRY(mn_array_resize(film->solver.ctx, &s->small_vector, n));
    double *m = s->small.data;
    mn_fill_bytes(m, 0, mn_bytes(n * n, sizeof(double)));
    for (int64_t v = 0; v < s->vertex_count; v++)
        for (int64_t f = s->face_start.data[v]; f < s->face_start.data[v + 1]; f++)
            for (int64_t g = s->face_start.data[v]; g < s->face_start.data[v + 1]; g++) {
                const mn_film_face *a = &s->faces.data[f], *b = &s->faces.data[g];
                if (a->region >= b->region)
                    m[a->region * n + b->region] +=
                        weights[v] * mn_dot(mn_film_allowed(film, v, a->gradient), b->gradient);
            }
    for (int64_t b = 0; b < n; b++) m[b * n + b] += added[b];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k <= i; k++) {
            double sum = m[i * n + k];
            for (int64_t j = 0; j < k; j++) sum -= m[i * n + j] * m[k * n + j];
            if (i == k && !(sum > 1e-14 * fabs(m[i * n + i]))) sum = 1e300; // a pocket that nothing moves
            m[i * n + k] = i == k ? sqrt(sum) : sum / m[k * n + k];
        }
    return MN_OK;
}

void mn_film_pockets_solve(const mn_film *film, double *x)
{
    const int64_t n = film->pockets.count;
    const double *m = film->system.small.data;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) x[i] -= m[i * n + k] * x[k];
        x[i] /= m[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++) x[i] -= m[k * n + i] * x[k];
        x[i] /= m[i * n + i];
    }
}
