// SPDX-License-Identifier: Apache-2.0
//
// What the solve of a step is preconditioned with: B near M + theta^2 dt^2 K + dt D for the film, the same
// for all three directions (linear/surface_multigrid.h), and the gas on top of it. Gas is far stiffer than
// films. With Q = dV/dx, C its stiffness, L the areas of vertices and the constraints P,
//
//   V = P L^-1 Q^T,   S = Q V,   F = I - V S^-1 Q
//
// every motion is F w, which changes no volume, and a part along V, along normals by the area, and
//
//   z = F P B^-1 P F^T r + V S^-1 (C + w)^-1 S^-1 V^T r,   w = diag(V^T A V)/diag(S)^2
//
// S is the small matrix of pockets. Stiff gas sees only the second part, where it is known exactly; so the
// iterations are those of the film alone however stiff the gas is and however many pockets there are. V is
// smooth, as normals are, and costs the film's part little. Elasticity and viscosity are left to the
// iterations: they are not stiffer than tension.
#include "film/film_state.h"
#include "meniscus/array.h"

void mn_film_preconditioner_free(mn_context *ctx, mn_film_preconditioner *p)
{
    mn_surface_multigrid_free(ctx, &p->grid);
    mn_array_free(ctx, &p->mass);
    mn_array_free(ctx, &p->lift);
    mn_array_free(ctx, &p->soft);
    mn_array_free(ctx, &p->part);
    mn_array_free(ctx, &p->sum);
    mn_array_free(ctx, &p->rest);
}

mn_status mn_film_preconditioner_build(mn_film_step_job *job)
{
    mn_film *film = job->film;
    mn_film_preconditioner *p = &film->preconditioner;
    const mn_film_system *s = &film->system;
    mn_context *ctx = film->solver.ctx;
    const int64_t n = s->vertex_count;
    MN_TRY(mn_array_resize(ctx, &p->mass, n));
    MN_TRY(mn_array_resize(ctx, &p->lift, n));
    MN_TRY(mn_array_resize(ctx, &p->rest, n));
    for (int64_t v = 0; v < n; v++) {
        p->lift.data[v] = s->area.data[v] > 0 ? 1 / s->area.data[v] : 0;
        p->mass.data[v] = mn_complex_held(&film->c, (int32_t)v)
                              ? INFINITY
                              : film->mass.data[v] + job->dt * film->drag.data[v] / 3;
        if (job->bulk) p->mass.data[v] += mn_film_bulk_diagonal(film, job, (int32_t)v);
    }
    return mn_surface_multigrid_build(ctx, &p->grid, (int32_t)n, s->row_start.data, s->column.data,
                                      s->weight.data, job->theta * job->theta * job->dt * job->dt,
                                      p->mass.data);
}

mn_status mn_film_preconditioner_take_gas(mn_film_step_job *job)
{
    mn_film *film = job->film;
    mn_film_preconditioner *p = &film->preconditioner;
    const mn_film_system *s = &film->system;
    const int64_t pockets = film->pockets.count;
    const double *diagonal = p->grid.level[0].diagonal.data;
    mn_context *ctx = film->solver.ctx;
    MN_TRY(mn_array_resize(ctx, &p->soft, pockets));
    MN_TRY(mn_array_resize(ctx, &p->part, pockets));
    MN_TRY(mn_array_resize(ctx, &p->sum, pockets));
    for (int64_t b = 0; b < pockets; b++) {
        double above = 0, below = 0;
        for (int64_t i = s->pocket_start.data[b]; i < s->pocket_start.data[b + 1]; i++) {
            const mn_film_face *f = &s->faces.data[s->pocket_face.data[i]];
            if (mn_complex_held(&film->c, f->vertex)) continue;
            const double lift = p->lift.data[f->vertex], part = lift * mn_norm2(f->gradient);
            above += part * lift * diagonal[f->vertex], below += part;
        }
        p->soft.data[b] = below > 0 ? above / (below * below) : 0;
        p->sum.data[b] = film->stiffness.data[b] > 0 ? 0 : 1e300;
    }
    return mn_film_pockets_factor(film, p->lift.data, p->sum.data);
}

// ---- apply ----

typedef struct gas_job {
    const mn_film_step_job *step;
    const double *values; ///< [pockets]
    double *sums;         ///< [pockets]
    const mn_vec3 *in;
    mn_vec3 *out;
} gas_job;

// sums = Q L^-1 in
static mn_status lift_range(void *user, mn_range range)
{
    const gas_job *job = user;
    const mn_film *film = job->step->film;
    const mn_film_system *s = &film->system;
    for (int64_t b = range.begin; b < range.end; b++) {
        double sum = 0;
        for (int64_t i = s->pocket_start.data[b]; i < s->pocket_start.data[b + 1]; i++) {
            const mn_film_face *f = &s->faces.data[s->pocket_face.data[i]];
            sum +=
                mn_dot(f->gradient, mn_scale(film->preconditioner.lift.data[f->vertex], job->in[f->vertex]));
        }
        job->sums[b] = sum;
    }
    return MN_OK;
}

// P (start + factor Q^T values) at v
static mn_vec3 push_at(const gas_job *job, int64_t v, double factor, mn_vec3 start)
{
    const mn_film *film = job->step->film;
    const mn_film_system *s = &film->system;
    for (int64_t f = s->face_start.data[v]; f < s->face_start.data[v + 1]; f++)
        start = mn_axpy(start, factor * job->values[s->faces.data[f].region], s->faces.data[f].gradient);
    return job->step->held ? mn_film_allowed(film, v, start) : start;
}

// out = P (in - Q^T values)
static mn_status take_range(void *user, mn_range range)
{
    const gas_job *job = user;
    for (int64_t v = range.begin; v < range.end; v++) job->out[v] = push_at(job, v, -1, job->in[v]);
    return MN_OK;
}

// out += L^-1 P Q^T values
static mn_status add_range(void *user, mn_range range)
{
    const gas_job *job = user;
    const double *lift = job->step->film->preconditioner.lift.data;
    for (int64_t v = range.begin; v < range.end; v++)
        job->out[v] = mn_axpy(job->out[v], lift[v], push_at(job, v, 1, mn_v3(0, 0, 0)));
    return MN_OK;
}

mn_status mn_film_precondition(void *user, const double *r, double *z)
{
    mn_film_step_job *job = user;
    mn_film *film = job->film;
    mn_film_preconditioner *p = &film->preconditioner;
    mn_context *ctx = film->solver.ctx;
    const int64_t n = film->system.vertex_count, pockets = film->pockets.count;
    const mn_vec3 *right = (const mn_vec3 *)r;
    mn_vec3 *out = (mn_vec3 *)z, *rest = p->rest.data;
    if (!job->gas) {
        MN_TRY(mn_surface_multigrid_apply(&p->grid, right, out));
        return mn_film_project(job, out);
    }
    double *part = p->part.data, *sum = p->sum.data;
    gas_job lift = {.step = job, .in = right, .sums = part};
    MN_TRY(mn_parallel_for(ctx, pockets, mn_film_pocket_grain(film), lift_range, &lift));
    mn_film_pockets_solve(film, part); // S^-1 V^T r, since r keeps to the constraints
    gas_job take = {.step = job, .values = part, .in = right, .out = rest};
    MN_TRY(mn_parallel_for(ctx, n, MN_FILM_GRAIN, take_range, &take));
    MN_TRY(mn_surface_multigrid_apply(&p->grid, rest, out));
    MN_TRY(mn_film_project(job, out));
    MN_TRY(mn_film_pockets_gather(film, out, sum));
    for (int64_t b = 0; b < pockets; b++) {
        const double gas = film->stiffness.data[b];
        sum[b] = (gas > 0 ? part[b] / (gas + p->soft.data[b]) : 0) - sum[b];
    }
    mn_film_pockets_solve(film, sum);
    gas_job add = {.step = job, .values = sum, .out = out};
    return mn_parallel_for(ctx, n, MN_FILM_GRAIN, add_range, &add);
}
