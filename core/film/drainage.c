// SPDX-License-Identifier: Apache-2.0
//
// Drainage: liquid that gravity and the suction of borders move through films whose faces stay where they
// are. A scalar model on top of the motion, off by default: it changes masses, not shapes.
//
//   film      flux per length  q = h^3/(12 mu) (rho g_t + p_s/d)     between two rigid faces [mysels1959]
//             p_s = sigma/r from a film to a border at the distance d, else 0
//   border    flux             Q = A^2 rho g_t/(50 mu)               [leonard1965]
//   A = (liquid of the border)/length = (sqrt 3 - pi/2) r^2
//
// Both times `drainage`, for soap drains many times faster than rigid faces let it. Fluxes cross the dual
// edge of an edge, whose length is its cotangent weight times its own, and leave the higher end: what a
// vertex gives is taken with its own velocity, so mass and momentum are kept, and no vertex gives more than
// half. Liquid of borders stays in borders: their pressure is lower than that of films.
#include "film/film_state.h"
#include "meniscus/array.h"

static const double PI = MN_PI;
static const double MOST = 0.5;        // of a vertex's liquid, in a step
static const double LEAST_BEND = 0.02; // radius of a border, of the size: an empty one does not suck for ever

typedef struct drainage_job {
    mn_film *film;
    double *thickness; ///< [vertices] of the film there, without what a border has gathered
    double *gathered;  ///< [vertices] m^3, of a border
} drainage_job;

// Where films meet or hang in wires; a free rim is round the other way and does not suck.
static bool is_border(const mn_film *film, int32_t v)
{
    return mn_complex_class_of(&film->c, v) != MN_COMPLEX_INSIDE && !mn_complex_on_rim(&film->c, v);
}

static void measure(const drainage_job *job)
{
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    for (int32_t v = 0; v < (int32_t)s->vertex_count; v++) {
        const double volume = film->c.vertices.data[v].mass / film->def.density;
        job->gathered[v] = -1; // inside
        job->thickness[v] = s->area.data[v] > 0 ? volume / s->area.data[v] : 0;
    }
    for (int32_t v = 0; v < (int32_t)s->vertex_count; v++) {
        if (!is_border(film, v) || !(s->area.data[v] > 0)) continue;
        double sum = 0, area = 0;
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
            const int32_t w = s->column.data[k];
            if (!is_border(film, w) && s->area.data[w] > 0)
                sum += film->c.vertices.data[w].mass, area += s->area.data[w];
        }
        const double h = area > 0 ? sum / (film->def.density * area) : job->thickness[v];
        job->gathered[v] = fmax(0, (job->thickness[v] - h) * s->area.data[v]);
    }
}

// kg/s from v to w along entry k of v's row; 0 where w gives to v.
static double flux(const drainage_job *job, int32_t v, int32_t w, int64_t k)
{
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    const double rho = film->def.density, mu = film->def.viscosity;
    const mn_vec3 e = mn_sub(mn_complex_position(&film->c, w), mn_complex_position(&film->c, v));
    const double fall = rho * mn_dot(film->def.gravity, e), length = mn_norm(e);
    const bool border_v = job->gathered[v] >= 0, border_w = job->gathered[w] >= 0;
    if (!(length > 0) || mn_complex_wet(&film->c, v) || mn_complex_wet(&film->c, w)) return 0;
    if (border_v && border_w) {
        if (mn_complex_edge(&film->c, v, w, NULL, 0) < 3 || !(fall > 0)) return 0;
        const double a = job->gathered[v] / length;
        return rho * a * a * (fall / length) / (50 * mu);
    }
    if (border_v) return 0;
    double drop = fall;
    if (border_w) {
        const double r2 = job->gathered[w] / (film->def.size * (sqrt(3.0) - PI / 2));
        drop += film->def.sigma / fmax(sqrt(r2), LEAST_BEND * film->def.size);
    }
    if (!(drop > 0)) return 0;
    const double h = job->thickness[v], wide = fmax(0, s->weight.data[k]) / (2 * film->def.sigma);
    return rho * h * h * h * drop * wide / (12 * mu);
}

mn_status mn_film_drain(mn_film *film, double dt)
{
    const mn_film_system *s = &film->system;
    const int64_t n = s->vertex_count;
    if (!(film->def.drainage > 0) || !(film->def.viscosity > 0) || !(film->def.sigma > 0)) return MN_OK;
    MN_TRY(mn_array_resize(film->solver.ctx, &film->drained, 3 * n));
    drainage_job job = {film, film->drained.data, film->drained.data + n};
    double *part = film->drained.data + 2 * n;
    measure(&job);
    const double factor = film->def.drainage * dt;
    for (int32_t v = 0; v < (int32_t)n; v++) {
        double out = 0;
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++)
            out += factor * flux(&job, v, s->column.data[k], k);
        const double most = MOST * film->c.vertices.data[v].mass;
        part[v] = out > most ? factor * most / out : factor;
    }
    for (int32_t v = 0; v < (int32_t)n; v++) { // in the order of vertices: the fluxes are known before
        mn_complex_vertex *from = &film->c.vertices.data[v];
        const mn_vec3 velocity = film->right.data[v] = from->velocity;
        film->base.data[v] = mn_scale(from->mass, velocity);
        film->mass.data[v] = from->mass;
    }
    for (int32_t v = 0; v < (int32_t)n; v++)
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
            const int32_t w = s->column.data[k];
            const double mass = part[v] * flux(&job, v, w, k);
            if (!(mass > 0)) continue;
            film->mass.data[v] -= mass, film->mass.data[w] += mass;
            film->base.data[v] = mn_axpy(film->base.data[v], -mass, film->right.data[v]);
            film->base.data[w] = mn_axpy(film->base.data[w], mass, film->right.data[v]);
        }
    for (int32_t v = 0; v < (int32_t)n; v++) {
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        vertex->mass = film->mass.data[v];
        if (vertex->mass > 0) vertex->velocity = mn_scale(1 / vertex->mass, film->base.data[v]);
    }
    return MN_OK;
}
