// SPDX-License-Identifier: Apache-2.0
//
// Stiffness of soap (Gibbs): with gamma_i = gamma + E ln(A_i / A_i0) and force -sum_i gamma_i dA_i/dx, the
// change of the force with the tension is
//
//   -sum_i (E / A_i) dA_i/dx (dA_i/dx . u)
//
// symmetric and negative semidefinite. A_i is a third of the ring: dA_i/dx is a row with the pattern of K,
// kept in both directions, so that both sums go along rows.
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

static mn_status rows_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    for (int64_t v = range.begin; v < range.end; v++) {
        const int64_t first = s->row_start.data[v], count = s->row_start.data[v + 1] - first;
        mn_vec3 *row = s->spread.data + first, *back = s->spread_back.data + first, own = {0};
        for (int64_t k = 0; k < count; k++) row[k] = back[k] = mn_v3(0, 0, 0);
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const int32_t corner = s->star.data[i], at = corner % 3;
            if (!mn_complex_is_film(&film->c, corner / 3)) continue;
            const mn_vec3 *slope = s->elements.data[corner / 3].slope;
            own = mn_add(own, slope[at]);
            for (int32_t k = 1; k < 3; k++) {
                const int32_t slot = s->slot.data[2 * corner + k - 1];
                row[slot] = mn_add(row[slot], slope[(at + k) % 3]);
                back[slot] = mn_add(back[slot], slope[at]);
            }
        }
        s->spread_own.data[v] = own;
    }
    return MN_OK;
}

mn_status mn_film_elastic_rows(mn_film *film)
{
    elastic_job job = {.film = film};
    mn_film_system *s = &film->system;
    mn_context *ctx = film->solver.ctx;
    if (!(film->def.gibbs > 0)) return MN_OK;
    MN_TRY(mn_array_resize(ctx, &s->spread, s->column.count));
    MN_TRY(mn_array_resize(ctx, &s->spread_back, s->column.count));
    MN_TRY(mn_array_resize(ctx, &s->spread_own, s->vertex_count));
    return mn_parallel_for(ctx, s->vertex_count, MN_FILM_GRAIN, rows_range, &job);
}

void mn_film_elastic_slack(mn_film *film, const mn_vec3 *u, double factor, int64_t v)
{
    const mn_film_system *s = &film->system;
    double rate = mn_dot(s->spread_own.data[v], u[v]);
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++)
        rate += mn_dot(s->spread.data[k], u[s->column.data[k]]);
    const double e = 2 * film->def.sigma * film->def.gibbs;
    s->slack.data[v] = s->area.data[v] > 0 ? factor * e * rate / (9 * s->area.data[v]) : 0;
}

static mn_status slack_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    for (int64_t v = range.begin; v < range.end; v++)
        mn_film_elastic_slack(job->film, job->u, job->factor, v);
    return MN_OK;
}

static mn_status pull_range(void *user, mn_range range)
{
    const elastic_job *job = user;
    const mn_film_system *s = &job->film->system;
    for (int64_t v = range.begin; v < range.end; v++) {
        mn_vec3 sum = mn_axpy(job->out[v], s->slack.data[v], s->spread_own.data[v]);
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++)
            sum = mn_axpy(sum, s->slack.data[s->column.data[k]], s->spread_back.data[k]);
        job->out[v] = sum;
    }
    return MN_OK;
}

mn_status mn_film_elastic_pull(mn_film *film, mn_vec3 *out)
{
    elastic_job job = {.film = film, .out = out};
    return mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, pull_range, &job);
}

mn_status mn_film_elastic_apply(mn_film *film, const mn_vec3 *u, double factor, mn_vec3 *out)
{
    elastic_job job = {film, u, factor, out};
    const int64_t n = film->system.vertex_count;
    MN_TRY(mn_parallel_for(film->solver.ctx, n, MN_FILM_GRAIN, slack_range, &job));
    return mn_film_elastic_pull(film, out);
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
