// SPDX-License-Identifier: Apache-2.0
//
// The matrix of a step (step.c) and its solution:
//
//   (M + theta^2 dt^2 (K + G) + dt (D + N) + Q^T C Q - theta dt^2/2 T) d = r
//
// T how pressures turn with the films (volumes.c). Without T it is positive definite; with it, it is where
// the film is near a stable state, and conjugate gradients notice when it is not.
#include "film/film_state.h"

#include "base/elementary.h"
#include "codim/film/viscosity.h"

static const double TOLERANCE = 1e-6;          // without gas: one pass
static const double FIRST = 0.03, LAST = 1e-4; // of the first pass with gas, and of the later ones
static const double EXACT = 1e-3;              // no pass is the last one above
static const double STILL = 1e-6;              // motion in a step that is not worth an iteration, of the size

mn_vec3 mn_film_allowed(const mn_film *film, int64_t v, mn_vec3 d)
{
    const mn_complex_vertex *vertex = &film->c.vertices.data[v];
    if (film->settling) return mn_m3_apply(film->shape.data[v], d);
    if (mn_complex_held(&film->c, (int32_t)v)) return mn_v3(0, 0, 0);
    return mn_axpy(d, -mn_dot(d, vertex->slide), vertex->slide);
}

typedef struct viscous_job {
    mn_film *film;
    const mn_vec3 *u;
    double most;
} viscous_job;

static mn_status viscous_range(void *user, mn_range range)
{
    const viscous_job *job = user;
    const mn_film *film = job->film;
    const mn_film_system *s = &film->system;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *w = film->c.triangles.data[t].v;
        mn_vec3 *pull = &s->pull.data[3 * t];
        if (!mn_complex_is_film(&film->c, (int32_t)t)) {
            pull[0] = pull[1] = pull[2] = mn_v3(0, 0, 0);
            continue;
        }
        mn_vec3 corners[3], speeds[3];
        double h = 0, longest = 0, least = INFINITY;
        for (int j = 0; j < 3; j++) {
            corners[j] = film->x0.data[w[j]], speeds[j] = job->u[w[j]];
            least = fmin(least, s->area.data[w[j]]);
            if (s->area.data[w[j]] > 0)
                h += film->c.vertices.data[w[j]].mass / (3 * film->def.density * s->area.data[w[j]]);
        }
        for (int j = 0; j < 3; j++)
            longest = fmax(longest, mn_norm2(mn_sub(corners[j], corners[(j + 1) % 3])));
        // A sliver's rate of strain is that of its shape, not of the liquid.
        const double plump = s->elements.data[t].area / (MN_FILM_PLUMP * longest);
        double part = fmin(1, plump);
        const double most = job->most / fmax(1, plump); // plump triangles are less stiff
        if (least < most) part *= least / most;
        mn_codim_film_viscous_pulls(corners, speeds, part * film->def.viscosity * h, pull);
    }
    return MN_OK;
}

mn_status mn_film_viscous_pull(mn_film *film, const mn_vec3 *u, double most)
{
    viscous_job job = {film, u, most};
    const int64_t triangles = film->system.triangle_count;
    MN_TRY(mn_array_resize(film->solver.ctx, &film->system.pull, 3 * triangles));
    return mn_parallel_for(film->solver.ctx, triangles, MN_FILM_GRAIN, viscous_range, &job);
}

mn_vec3 mn_film_viscous_row(const mn_film_system *s, int64_t v)
{
    mn_vec3 sum = {0};
    for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++)
        sum = mn_add(sum, s->pull.data[s->star.data[i]]);
    return sum;
}

mn_vec3 mn_film_against_air(const mn_film *film, int64_t v, mn_vec3 u)
{
    const mn_vec3 n = film->system.normal.data[v]; // area times the unit normal where films do not meet
    const double area = film->system.area.data[v];
    const mn_vec3 push =
        area > 0 ? mn_scale(film->drag.data[v] * mn_dot(n, u) / (area * area), n) : mn_v3(0, 0, 0);
    if (film->windward.count == 0) return push;
    const mn_vec3 w = film->windward.data[v]; // of volumes
    return mn_axpy(push, mn_dot(w, u), w);
}

static mn_status apply_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    const mn_film *film = job->film;
    const mn_vec3 *u = job->in;
    const double stiff = job->theta * job->theta * job->dt * job->dt;
    const bool drag = film->def.drag > 0, soap = film->def.gibbs > 0;
    for (int64_t v = range.begin; v < range.end; v++) {
        mn_vec3 y =
            mn_axpy(mn_scale(film->mass.data[v], u[v]), stiff, mn_film_system_row(&film->system, u, v));
        if (drag) y = mn_axpy(y, job->dt, mn_film_against_air(film, v, u[v]));
        if (job->viscous) y = mn_axpy(y, job->dt, mn_film_viscous_row(&film->system, v));
        if (job->turning)
            y = mn_axpy(y, -0.5 * job->theta * job->dt * job->dt, mn_film_turn_row(&film->system, u, v));
        if (soap) mn_film_elastic_slack(job->film, u, stiff, v);
        job->out[v] = y;
    }
    return MN_OK;
}

static mn_status project_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    for (int64_t v = range.begin; v < range.end; v++)
        job->out[v] = mn_film_allowed(job->film, v, job->out[v]);
    return MN_OK;
}

mn_status mn_film_project(mn_film_step_job *job, mn_vec3 *u)
{
    if (!job->held) return MN_OK;
    job->out = u;
    return mn_parallel_for(job->film->solver.ctx, job->film->system.vertex_count, MN_FILM_GRAIN,
                           project_range, job);
}

mn_status mn_film_add_gas_stiffness(mn_film *film, const mn_vec3 *u, mn_vec3 *out)
{
    double *value = film->system.small_vector.data;
    MN_TRY(mn_film_pockets_gather(film, u, value));
    for (int64_t b = 0; b < film->pockets.count; b++) value[b] *= film->stiffness.data[b];
    return mn_film_pockets_scatter(film, value, 1, out);
}

mn_status mn_film_apply(void *user, const double *x, double *y)
{
    mn_film_step_job *job = user;
    mn_film *film = job->film;
    job->in = (const mn_vec3 *)x, job->out = (mn_vec3 *)y;
    MN_TRY(mn_check_cancelled(film->solver.ctx));
    if (job->viscous) MN_TRY(mn_film_viscous_pull(film, (const mn_vec3 *)x, 0));
    MN_TRY(mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, apply_range, job));
    if (film->def.gibbs > 0) MN_TRY(mn_film_elastic_pull(film, (mn_vec3 *)y));
    if (job->gas) MN_TRY(mn_film_add_gas_stiffness(film, (const mn_vec3 *)x, (mn_vec3 *)y));
    return mn_film_project(job, (mn_vec3 *)y);
}

mn_status mn_film_solve(mn_film_step_job *job, int32_t pass, const mn_vec3 *right, mn_vec3 *d, bool *definite)
{
    mn_film *film = job->film;
    const mn_linear_problem problem = {3 * film->system.vertex_count, mn_film_apply, job,
                                       mn_film_precondition, job};
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = TOLERANCE;
    // The next pass starts with what this one leaves of the forces or with what they change by, whichever is
    // more: passes of Newton's method need no more than the square of what they start with.
    if (job->gas)
        def.tolerance = pass == 0 ? FIRST : fmax(LAST, job->turning ? 0 : FIRST * mn_pow(10, -pass));
    def.square = job->turning ? 1 : 0;
    // sqrt(r.A^-1 r) is at least sqrt(d.M d) of what is left: films at rest need no digits of nothing.
    def.absolute = STILL * film->def.size / job->dt * sqrt(job->mass);
    def.from_zero = pass == 0;
    def.norm = pass == 0 ? 0 : job->norm;
    mn_krylov_result result;
    MN_TRY(mn_conjugate_gradients(film->krylov, &problem, &def, &right->x, &d->x, &result));
    film->solver.counts.linear_iterations += result.iterations;
    if (pass == 0) job->norm = result.norm;
    job->exact = result.residual <= fmax(EXACT * job->norm, def.absolute);
    *definite = result.end != MN_KRYLOV_NEGATIVE_CURVATURE;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(film->solver.ctx, MN_ERROR_DIVERGED, "The forces on the film are not finite.");
    return MN_OK;
}
