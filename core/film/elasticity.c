// SPDX-License-Identifier: Apache-2.0
//
// Stiffness of soap (Gibbs): with gamma_i = gamma + E ln(A_i / A_i0) and force -sum_i gamma_i dA_i/dx, the
// change of the force with the tension is
//
//   -sum_i (E / A_i) dA_i/dx (dA_i/dx . u)
//
// symmetric and negative semidefinite. A_i is a third of the ring, so dA_i/dx . u is a third of the sum of
// the triangles' own rates, and both sums go over stars.
#include "film/film_state.h"

typedef struct elastic_job {
    mn_film *film;
    const mn_vec3 *u;
    double factor;
    mn_vec3 *out;
} elastic_job;

// d(area)/dx of triangle t at its corner k, at x0.
static mn_vec3 slope(const mn_film *film, int64_t t, int32_t k)
{
    const int32_t *v = film->c.triangles.data[t].v;
    const mn_vec3 e = mn_sub(film->x0.data[v[(k + 1) % 3]], film->x0.data[v[(k + 2) % 3]]);
    return mn_scale(0.5, mn_cross(e, film->system.elements.data[t].normal));
}

static mn_status rate_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    const double e = 2 * film->def.sigma * film->def.gibbs;
    for (int64_t v = range.begin; v < range.end; v++) {
        double rate = 0;
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const int32_t t = s->star.data[i] / 3;
            for (int32_t k = 0; k < 3; k++)
                rate += mn_dot(slope(film, t, k), job->u[film->c.triangles.data[t].v[k]]);
        }
        s->slack.data[v] = s->area.data[v] > 0 ? job->factor * e * rate / (9 * s->area.data[v]) : 0;
    }
    return MN_OK;
}

static mn_status pull_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    for (int64_t v = range.begin; v < range.end; v++)
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const int32_t corner = s->star.data[i], *w = film->c.triangles.data[corner / 3].v;
            const double sum = s->slack.data[w[0]] + s->slack.data[w[1]] + s->slack.data[w[2]];
            job->out[v] = mn_axpy(job->out[v], sum, slope(film, corner / 3, corner % 3));
        }
    return MN_OK;
}

mn_status mn_film_elastic_apply(mn_film *film, const mn_vec3 *u, double factor, mn_vec3 *out)
{
    elastic_job job = {film, u, factor, out};
    MN_TRY(mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, rate_range, &job));
    return mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, pull_range, &job);
}
