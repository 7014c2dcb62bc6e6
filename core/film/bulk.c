// SPDX-License-Identifier: Apache-2.0
//
// Tetrahedra in the step of a complex (step.c): what volumes add to the matrix of films.
//
//   M      consistent, m/20 (1 + delta_ij): lumped, the n = 2 oscillation of a drop is 1 to 2 % slow
//   D      2 mu eps : eps,  eps = sym(sum_j u_j g_j^T)/V,  g_j = dV/dx_j
//   soft   (k/2) (V - V0)^2/V0: volumes of nodes leave each tetrahedron free, and single ones would go flat;
//          V0 forgets, so that a drop can change its shape for good
//   B      dC_i/dx_j = sum over tetrahedra at i and j of g_j/4, C_i a quarter of the volumes around node i
//
// A tetrahedron is measured once where forces act; each node then gathers from its own list, in order, so the
// bits do not depend on the number of workers. A pressure for every node, those of the surface too: they are
// what keeps the volume.
#include "film/film_state.h"
#include "tet/elements.h"

#include <string.h>

static const double STIFFNESS = 0.5; // of sigma/size + density g size
static const double MEMORY = 30;     // of the time of waves of one size

void mn_film_bulk_free(mn_context *ctx, mn_film_bulk *b)
{
    mn_array_free(ctx, &b->node);
    mn_array_free(ctx, &b->vertex);
    mn_array_free(ctx, &b->start);
    mn_array_free(ctx, &b->corner);
    mn_array_free(ctx, &b->tets);
    mn_array_free(ctx, &b->rest);
    mn_array_free(ctx, &b->owed);
    mn_array_free(ctx, &b->pressure);
    mn_array_free(ctx, &b->unknown);
    mn_array_free(ctx, &b->side);
    mn_array_free(ctx, &b->schur_side);
    mn_array_free(ctx, &b->inverse);
    mn_array_free(ctx, &b->light);
    mn_sparse_free(ctx, &b->gradient);
    mn_sparse_free(ctx, &b->turned);
    mn_sparse_free(ctx, &b->schur);
    mn_cholesky_free(b->cholesky);
    mn_multigrid_free(b->multigrid);
}

mn_status mn_film_bulk_pattern(mn_film *film)
{
    mn_film_bulk *b = &film->bulk;
    const mn_complex *c = &film->c;
    mn_context *ctx = film->solver.ctx;
    const int32_t n = (int32_t)c->vertices.count;
    b->analyzed = b->built = b->factored = false;
    MN_TRY(mn_array_resize(ctx, &b->node, n));
    b->vertex.count = b->start.count = b->corner.count = b->rest.count = 0;
    for (int32_t v = 0; v < n; v++) {
        b->node.data[v] = mn_complex_wet(c, v) ? (int32_t)b->vertex.count : -1;
        if (!mn_complex_wet(c, v)) continue;
        const int64_t first = b->corner.count;
        double rest = 0;
        MN_TRY(mn_array_push(ctx, &b->vertex, &v));
        MN_TRY(mn_array_push(ctx, &b->start, &first));
        for (int32_t at = c->vertices.data[v].first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4])
            MN_TRY(mn_array_push(ctx, &b->corner, &at));
        // Stars are linked from the last to the first.
        for (int64_t i = first, k = b->corner.count - 1; i < k; i++, k--) {
            const int32_t swap = b->corner.data[i];
            b->corner.data[i] = b->corner.data[k], b->corner.data[k] = swap;
        }
        for (int64_t i = first; i < b->corner.count; i++)
            rest += 0.25 * c->tets.data[b->corner.data[i] / 4].mass / film->def.density;
        MN_TRY(mn_array_push(ctx, &b->rest, &rest));
    }
    b->node_count = b->vertex.count;
    MN_TRY(mn_array_push(ctx, &b->start, &b->corner.count));
    MN_TRY(mn_array_resize(ctx, &b->tets, c->tets.count));
    MN_TRY(mn_array_resize(ctx, &b->owed, b->node_count));
    MN_TRY(mn_array_resize(ctx, &b->pressure, b->node_count));
    MN_TRY(mn_array_resize(ctx, &b->schur_side, b->node_count));
    MN_TRY(mn_array_resize(ctx, &b->inverse, n));
    MN_TRY(mn_array_resize(ctx, &b->light, n));
    MN_TRY(mn_array_resize(ctx, &b->unknown, 3 * (int64_t)n + b->node_count));
    return mn_array_resize(ctx, &b->side, 3 * (int64_t)n + b->node_count);
}

double mn_film_bulk_time(const mn_film *film)
{
    const double l = film->def.size;
    const double rate2 = film->def.sigma / (film->def.density * l * l * l) + mn_norm(film->def.gravity) / l;
    return rate2 > 0 ? 1 / sqrt(rate2) : INFINITY;
}

// ---- elements ----

typedef struct bulk_job {
    mn_film *film;
    const mn_vec3 *x;
    const mn_vec3 *u;
    const double *p;
    double consistent, viscous, soft; ///< what the mass, D and the Hessian of soft volumes are multiplied by
    double press;                     ///< and soft forces themselves
    mn_vec3 *out;
    double *volumes;
} bulk_job;

static mn_status measure_range(void *user, mn_range range)
{
    const bulk_job *job = user;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *v = job->film->c.tets.data[t].v;
        const mn_vec3 x[4] = {job->x[v[0]], job->x[v[1]], job->x[v[2]], job->x[v[3]]};
        mn_film_tet *e = &job->film->bulk.tets.data[t];
        e->volume = mn_tet_volume_gradient(x, e->g);
    }
    return MN_OK;
}

mn_status mn_film_bulk_measure(mn_film *film, const mn_vec3 *x)
{
    bulk_job job = {.film = film, .x = x};
    const double l = film->def.size;
    film->bulk.scale = film->def.density * l;
    film->bulk.stiffness =
        STIFFNESS * (film->def.sigma / l + film->def.density * mn_norm(film->def.gravity) * l);
    return mn_parallel_for(film->solver.ctx, film->c.tets.count, MN_FILM_GRAIN, measure_range, &job);
}

// Stress of a tetrahedron whose corners move by u.
static mn_status stress_range(void *user, mn_range range)
{
    const bulk_job *job = user;
    const mn_film_bulk *b = &job->film->bulk;
    for (int64_t t = range.begin; t < range.end; t++) {
        const mn_complex_tet *tet = &job->film->c.tets.data[t];
        mn_film_tet *e = &b->tets.data[t];
        double w[9] = {0}, flux = 0, press = 0;
        mn_vec3 sum = {0};
        for (int k = 0; k < 4; k++) {
            const mn_vec3 u = job->u[tet->v[k]], g = e->g[k];
            sum = mn_add(sum, u);
            flux += mn_dot(u, g);
            if (job->viscous != 0) {
                w[0] += u.x * g.x, w[1] += u.x * g.y, w[2] += u.x * g.z;
                w[3] += u.y * g.x, w[4] += u.y * g.y, w[5] += u.y * g.z;
                w[6] += u.z * g.x, w[7] += u.z * g.y, w[8] += u.z * g.z;
            }
            if (job->p) press += 0.25 * b->scale * job->p[b->node.data[tet->v[k]]];
        }
        const double viscous = job->viscous != 0 ? job->viscous / fmax(e->volume, 1e-300) : 0;
        const double even = job->soft * b->stiffness * flux / tet->soft - press +
                            job->press * b->stiffness * (e->volume / tet->soft - 1);
        e->sum = mn_scale(job->consistent * tet->mass / 20, sum);
        e->flux = flux;
        e->stress[0] = 2 * viscous * w[0] + even, e->stress[1] = 2 * viscous * w[4] + even;
        e->stress[2] = 2 * viscous * w[8] + even, e->stress[3] = viscous * (w[5] + w[7]);
        e->stress[4] = viscous * (w[2] + w[6]), e->stress[5] = viscous * (w[1] + w[3]);
    }
    return MN_OK;
}

static mn_status gather_range(void *user, mn_range range)
{
    const bulk_job *job = user;
    const mn_film_bulk *b = &job->film->bulk;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t v = b->vertex.data[i];
        mn_vec3 y = {0};
        double volume = 0;
        for (int64_t k = b->start.data[i]; k < b->start.data[i + 1]; k++) {
            const int32_t t = b->corner.data[k] / 4;
            const mn_film_tet *e = &b->tets.data[t];
            const mn_vec3 g = e->g[b->corner.data[k] % 4];
            const double *s = e->stress;
            y = mn_add(y, mn_v3(s[0] * g.x + s[5] * g.y + s[4] * g.z, s[5] * g.x + s[1] * g.y + s[3] * g.z,
                                s[4] * g.x + s[3] * g.y + s[2] * g.z));
            y = mn_add(
                y, mn_axpy(e->sum, -4 * job->consistent * job->film->c.tets.data[t].mass / 20, job->u[v]));
            volume += 0.25 * e->flux;
        }
        job->out[v] = mn_add(job->out[v], y);
        if (job->volumes) job->volumes[i] -= b->scale * volume;
    }
    return MN_OK;
}

static mn_status run(bulk_job *job)
{
    mn_context *ctx = job->film->solver.ctx;
    MN_TRY(mn_parallel_for(ctx, job->film->c.tets.count, MN_FILM_GRAIN, stress_range, job));
    return mn_parallel_for(ctx, job->film->bulk.node_count, MN_FILM_GRAIN, gather_range, job);
}

mn_status mn_film_bulk_apply(mn_film *film, const mn_film_step_job *step, bool mass_only, const mn_vec3 *u,
                             const double *p, mn_vec3 *out, double *volumes)
{
    bulk_job job = {.film = film, .u = u, .p = p, .consistent = 1, .out = out, .volumes = volumes};
    if (!mass_only) {
        job.viscous = step->theta * step->dt * film->def.viscosity;
        job.soft = step->theta * step->theta * step->dt * step->dt;
    }
    return run(&job);
}

mn_status mn_film_bulk_force(mn_film *film, const mn_film_step_job *step, mn_vec3 *out)
{
    // Signs: `run` adds what stands on the left.
    bulk_job viscous = {
        .film = film, .u = film->v0.data, .viscous = -step->dt * film->def.viscosity, .out = out};
    viscous.press = -step->dt;
    MN_TRY(run(&viscous));
    bulk_job soft = {
        .film = film, .u = film->d.data, .soft = step->theta * step->theta * step->dt * step->dt, .out = out};
    return run(&soft);
}

double mn_film_bulk_diagonal(const mn_film *film, const mn_film_step_job *step, int32_t v)
{
    const mn_film_bulk *b = &film->bulk;
    const int32_t i = b->node.data[v];
    if (i < 0) return 0;
    double sum = -0.6 * film->c.vertices.data[v].bulk; // m/10 of each instead of m/4
    for (int64_t k = b->start.data[i]; k < b->start.data[i + 1]; k++) {
        const int32_t t = b->corner.data[k] / 4;
        const double g2 = mn_norm2(b->tets.data[t].g[b->corner.data[k] % 4]) / 3;
        sum += 4 * step->theta * step->dt * film->def.viscosity * g2 / fmax(b->tets.data[t].volume, 1e-300);
        sum +=
            step->theta * step->theta * step->dt * step->dt * b->stiffness * g2 / film->c.tets.data[t].soft;
    }
    return sum;
}

// ---- measures ----

double mn_film_bulk_least(const mn_film *film, const mn_vec3 *x, const mn_vec3 *y)
{
    double least = INFINITY;
    for (int64_t t = 0; t < film->c.tets.count; t++) {
        const int32_t *v = film->c.tets.data[t].v;
        const double before = mn_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
        least = fmin(least, mn_tet_volume(y[v[0]], y[v[1]], y[v[2]], y[v[3]]) / fmax(before, 1e-300));
    }
    return least;
}

mn_vec3 mn_film_bulk_angular(const mn_film *film, const mn_vec3 *x, const mn_vec3 *v, mn_vec3 about)
{
    mn_vec3 all = {0};
    for (int64_t t = 0; t < film->c.tets.count; t++) {
        const mn_complex_tet *tet = &film->c.tets.data[t];
        mn_vec3 place = {0}, speed = {0}, own = {0};
        for (int k = 0; k < 4; k++) {
            const int32_t at = tet->v[k];
            const mn_vec3 r = mn_sub(x ? x[at] : film->c.vertices.data[at].position, about);
            const mn_vec3 u = v ? v[at] : film->c.vertices.data[at].velocity;
            place = mn_add(place, r), speed = mn_add(speed, u), own = mn_add(own, mn_cross(r, u));
        }
        all = mn_axpy(all, tet->mass / 20, mn_axpy(mn_cross(place, speed), -4, own));
    }
    return all;
}

mn_mat3 mn_film_bulk_inertia(const mn_film *film, const mn_vec3 *x, mn_vec3 about)
{
    mn_mat3 moment = mn_m3_scale(0, mn_m3_identity());
    for (int64_t t = 0; t < film->c.tets.count; t++) {
        const mn_complex_tet *tet = &film->c.tets.data[t];
        mn_vec3 place = {0};
        for (int k = 0; k < 4; k++) {
            const mn_vec3 r = mn_sub(x ? x[tet->v[k]] : film->c.vertices.data[tet->v[k]].position, about);
            place = mn_add(place, r);
            moment = mn_m3_add(moment, mn_m3_scale(-4 * tet->mass / 20, mn_outer(r, r)));
        }
        moment = mn_m3_add(moment, mn_m3_scale(tet->mass / 20, mn_outer(place, place)));
    }
    return mn_m3_add(mn_m3_scale(mn_m3_trace(moment), mn_m3_identity()), mn_m3_scale(-1, moment));
}

double mn_film_bulk_kinetic(const mn_film *film)
{
    double all = 0;
    for (int64_t t = 0; t < film->c.tets.count; t++) {
        const mn_complex_tet *tet = &film->c.tets.data[t];
        mn_vec3 speed = {0};
        double own = 0;
        for (int k = 0; k < 4; k++) {
            const mn_vec3 u = film->c.vertices.data[tet->v[k]].velocity;
            speed = mn_add(speed, u), own += mn_norm2(u);
        }
        all += tet->mass / 40 * (mn_norm2(speed) - 4 * own);
    }
    return all;
}

void mn_film_bulk_relax(mn_film *film, double dt)
{
    const double part = fmin(1, dt / (MEMORY * mn_film_bulk_time(film)));
    for (int32_t t = 0; t < (int32_t)film->c.tets.count; t++) {
        mn_complex_tet *tet = &film->c.tets.data[t];
        tet->soft += part * (mn_complex_tet_volume(&film->c, t) - tet->soft);
    }
}
