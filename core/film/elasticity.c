// SPDX-License-Identifier: Apache-2.0
//
// Stiffness of soap (Gibbs): with gamma_i = gamma + E ln(A_i / A_i0) and force -sum_i gamma_i dA_i/dx, the
// change of the force with the tension is
//
//   -sum_i (E / A_i) dA_i/dx (dA_i/dx . u)
//
// symmetric and negative semidefinite. A_i is a third of the ring, so dA_i/dx . u is a third of the sum of
// the triangles' own rates, and both sums go over stars.
//
// Soap spreads: after the mesh has changed, a few passes hand it on between neighbours until A_i0 / A_i is
// even. A split or collapse shares it by count, and what is left of that would tug at borders.
#include "film/film_state.h"

enum { SPREADING = 6 };
static const double SHARE = 0.125; // of the difference, between two neighbours

typedef struct elastic_job {
    mn_film *film;
    const mn_vec3 *u;
    double factor;
    mn_vec3 *out;
} elastic_job;

static mn_status triangle_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    mn_film_system *s = &job->film->system;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *v = job->film->c.triangles.data[t].v;
        const mn_vec3 *slope = s->elements.data[t].slope;
        if (!mn_complex_is_film(&job->film->c, (int32_t)t)) {
            s->rate.data[t] = 0;
            continue;
        }
        s->rate.data[t] =
            mn_dot(slope[0], job->u[v[0]]) + mn_dot(slope[1], job->u[v[1]]) + mn_dot(slope[2], job->u[v[2]]);
    }
    return MN_OK;
}

static mn_status vertex_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    const double e = 2 * film->def.sigma * film->def.gibbs;
    for (int64_t v = range.begin; v < range.end; v++) {
        double rate = 0;
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++)
            rate += s->rate.data[s->star.data[i] / 3];
        s->slack.data[v] = s->area.data[v] > 0 ? job->factor * e * rate / (9 * s->area.data[v]) : 0;
    }
    return MN_OK;
}

static mn_status spread_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film_system *s = &job->film->system;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *v = job->film->c.triangles.data[t].v;
        s->rate.data[t] = !mn_complex_is_film(&job->film->c, (int32_t)t)
                              ? 0
                              : s->slack.data[v[0]] + s->slack.data[v[1]] + s->slack.data[v[2]];
    }
    return MN_OK;
}

static mn_status pull_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film_system *s = &job->film->system;
    for (int64_t v = range.begin; v < range.end; v++)
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const int32_t corner = s->star.data[i];
            job->out[v] = mn_axpy(job->out[v], s->rate.data[corner / 3],
                                  s->elements.data[corner / 3].slope[corner % 3]);
        }
    return MN_OK;
}

mn_status mn_film_elastic_apply(mn_film *film, const mn_vec3 *u, double factor, mn_vec3 *out)
{
    elastic_job job = {film, u, factor, out};
    const mn_film_system *s = &film->system;
    mn_context *ctx = film->solver.ctx;
    MN_TRY(mn_parallel_for(ctx, s->triangle_count, MN_FILM_GRAIN, triangle_range, &job));
    MN_TRY(mn_parallel_for(ctx, s->vertex_count, MN_FILM_GRAIN, vertex_range, &job));
    MN_TRY(mn_parallel_for(ctx, s->triangle_count, MN_FILM_GRAIN, spread_range, &job));
    return mn_parallel_for(ctx, s->vertex_count, MN_FILM_GRAIN, pull_range, &job);
}

mn_status mn_film_spread_soap(mn_film *film)
{
    mn_film_system *s = &film->system;
    if (!(film->def.gibbs > 0)) return MN_OK;
    if (film->stale) MN_TRY(mn_film_system_pattern(film));
    for (int64_t v = 0; v < s->vertex_count; v++) {
        double area = 0;
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++)
            if (mn_complex_is_film(&film->c, s->star.data[i] / 3))
                area += mn_complex_area(&film->c, s->star.data[i] / 3) / 3;
        s->area.data[v] = area;
        if (!(film->c.vertices.data[v].rest_area > 0)) film->c.vertices.data[v].rest_area = area;
    }
    for (int32_t pass = 0; pass < SPREADING; pass++) {
        for (int64_t v = 0; v < s->vertex_count; v++)
            s->slack.data[v] = s->area.data[v] > 0 ? film->c.vertices.data[v].rest_area / s->area.data[v] : 0;
        for (int64_t v = 0; v < s->vertex_count; v++)
            for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1] && s->area.data[v] > 0; k++) {
                const int32_t w = s->column.data[k];
                if (s->area.data[w] > 0)
                    film->c.vertices.data[v].rest_area += SHARE * fmin(s->area.data[v], s->area.data[w]) *
                                                          (s->slack.data[w] - s->slack.data[v]);
            }
    }
    return MN_OK;
}
