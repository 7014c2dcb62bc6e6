// SPDX-License-Identifier: Apache-2.0
//
// One step of films, threads and gas by the implicit midpoint rule, solved for the change d of the
// velocities:
//
//   A d = r + dt Q^T q,   x1 = x0 + dt (u0 + d/2),   x_m = (x0 + x1)/2
//   A = M + dt^2/4 (K + G) + dt (D + N)
//   r = dt (-K (x0 + dt/2 u0) - G dt/2 u0 + M g + D (w - u0) - N u0)
//
// K the tensions at x0 (system.c), G the elasticity of soap (elasticity.c), D the drag of the air along the
// normals, N the viscosity in the film, which leaves rigid motion alone (codim/film/film_viscosity.h); Q =
// dV/dx at x_m, and q the excess pressures with (p0 + q) V(x_p) = k. As p(V) falls the gas can be eliminated:
//
//   q = k/V - p0 - (k/V^2) Q (dt part/2) (d - d_before)      about the pass before
//   (A + Q^T C Q - T') d = r + dt Q^T (k/V - p0) + (Q^T C Q - T') d_before,   C = dt^2 part/2 k/V^2
//
// symmetric, solved by operator.c; T' = theta dt^2/2 q d2V/dx2 is how Q changes, which makes it Newton's
// method: two or three passes. Q must settle, which keeps the angular momentum.
//
// Breathing is much faster than any step (1e5 rad/s for a bubble of 1 cm) and would ring for ever under the
// midpoint rule. V is taken between x_m and x1 by how unresolved it is (`part` from 1/2 to 1), and the volume
// velocity that is left over is replaced by the mean one of the step.
//
// There is no pressure in films or threads: a film with two free faces keeps its volume by its thickness. The
// pressures and the null space of [zhu2014] are not needed, and its viscosity damps rigid motion.
#include "film/film_state.h"

#include "meniscus/array.h"

#include <string.h>

enum { PASSES = 5, BULK_PASSES = 8 };
static const double SETTLED = 1e-3; // change of the solution from pass to pass, of the solution
static const double BULK_SETTLED = 1e-5;
static const double BULK_EXACT = 1e-7; // of a node's volume; what is left is made good by the next step
static const double FLATTENED = 0.3;   // of its volume that a tetrahedron must keep in a step
static const double USUAL = 0.3; // area over the square of the longest edge, of triangles that are not bad
static const double WEAK = 0.5;  // viscosity that changes velocities by less in a step is explicit

// ---- the right-hand side ----

static mn_status start_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    mn_film *film = job->film;
    for (int64_t v = range.begin; v < range.end; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        film->x0.data[v] = vertex->position;
        film->v0.data[v] = vertex->velocity;
        film->mass.data[v] = mn_complex_inertia(vertex);
        film->d.data[v] = mn_v3(0, 0, 0);
        if (vertex->jet > 0) {
            film->v0.data[v] = film->mouths.data[vertex->jet - 1].velocity;
        } else if (vertex->wire[0] >= 0 && film->solver.left > 0) {
            // where the wire will be when this step ends, seen from where it holds the vertex now
            const mn_vec3 end = mn_lerp(film->frame_end.data[vertex->wire[0]],
                                        film->frame_end.data[vertex->wire[1]], vertex->along);
            film->v0.data[v] = mn_scale(1 / film->solver.left, mn_sub(end, vertex->position));
        } else if (vertex->wire[0] >= 0) {
            film->v0.data[v] = mn_v3(0, 0, 0);
        }
    }
    return MN_OK;
}

static mn_status force_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    mn_film *film = job->film;
    const double dt = job->dt;
    for (int64_t v = range.begin; v < range.end; v++) {
        mn_vec3 f = mn_scale(-1, mn_film_system_row(&film->system, film->x1.data, v));
        f = mn_axpy(f, film->mass.data[v], film->def.gravity);
        f = mn_add(f, film->rim_force.data[v]);
        if (film->def.drag > 0)
            f = mn_add(f, mn_film_against_air(film, v, mn_sub(film->wind.data[v], film->v0.data[v])));
        if (film->def.viscosity > 0) f = mn_sub(f, mn_film_viscous_row(&film->system, v));
        film->base.data[v] = mn_scale(dt, f);
    }
    return MN_OK;
}

// x1 = x0 + shift (u0 + d/2)
static mn_status move_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    mn_film *film = job->film;
    for (int64_t v = range.begin; v < range.end; v++)
        film->x1.data[v] =
            mn_axpy(film->x0.data[v], job->shift, mn_axpy(film->v0.data[v], job->theta, film->d.data[v]));
    return MN_OK;
}

static mn_status move(mn_film_step_job *job, double shift)
{
    job->shift = shift;
    return mn_parallel_for(job->film->solver.ctx, job->film->system.vertex_count, MN_FILM_GRAIN, move_range,
                           job);
}

static mn_status size_arrays(mn_film *film)
{
    const int64_t n = film->c.vertices.count, b = film->pockets.count;
    mn_context *ctx = film->solver.ctx;
    MN_TRY(mn_array_resize(ctx, &film->x0, n));
    MN_TRY(mn_array_resize(ctx, &film->x1, n));
    MN_TRY(mn_array_resize(ctx, &film->v0, n));
    MN_TRY(mn_array_resize(ctx, &film->d, n));
    MN_TRY(mn_array_resize(ctx, &film->right, n));
    MN_TRY(mn_array_resize(ctx, &film->base, n));
    MN_TRY(mn_array_resize(ctx, &film->scratch, n));
    MN_TRY(mn_array_resize(ctx, &film->mass, n));
    MN_TRY(mn_array_resize(ctx, &film->inverse, n));
    MN_TRY(mn_array_resize(ctx, &film->drag, n));
    MN_TRY(mn_array_resize(ctx, &film->wind, n));
    MN_TRY(mn_array_resize(ctx, &film->excess, b));
    MN_TRY(mn_array_resize(ctx, &film->stiffness, b));
    MN_TRY(mn_array_resize(ctx, &film->foreseen, b));
    return mn_array_resize(ctx, &film->part, b);
}

// The surface of volumes around a vertex: the air presses on a third of each of its triangles.
static mn_status face_air(mn_film *film)
{
    const mn_complex *c = &film->c;
    const int64_t n = film->system.vertex_count;
    double *area = film->inverse.data; // scratch
    MN_TRY(mn_array_resize(film->solver.ctx, &film->windward, n));
    for (int64_t v = 0; v < n; v++) film->windward.data[v] = mn_v3(0, 0, 0), area[v] = 0;
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        const mn_complex_triangle *face = &c->triangles.data[t];
        const int32_t side = mn_complex_liquid_side(face);
        if (side < 0) continue;
        const mn_vec3 out = mn_scale(side == 0 ? 1.0 / 6 : -1.0 / 6, mn_complex_normal2(c, t));
        for (int k = 0; k < 3; k++) {
            film->windward.data[face->v[k]] = mn_add(film->windward.data[face->v[k]], out);
            area[face->v[k]] += mn_norm(out);
        }
    }
    for (int64_t v = 0; v < n; v++)
        film->windward.data[v] =
            mn_scale(area[v] > 0 ? sqrt(film->def.drag / area[v]) : 0, film->windward.data[v]);
    return MN_OK;
}

static mn_status sample_air(mn_film *film)
{
    const int64_t n = film->system.vertex_count;
    for (int64_t v = 0; v < n; v++) {
        film->drag.data[v] = film->def.drag * film->system.area.data[v];
        film->wind.data[v] = film->def.wind;
    }
    film->windward.count = 0;
    if (film->def.drag > 0 && film->c.tets.count > 0) MN_TRY(face_air(film));
    if (!(film->def.drag > 0) || !film->around || !film->around->wind.ops) return MN_OK;
    film->around->wind.ops->sample(film->around->wind.handle, n, film->x0.data, &film->scratch.data->x);
    for (int64_t v = 0; v < n; v++) film->wind.data[v] = mn_add(film->wind.data[v], film->scratch.data[v]);
    return MN_OK;
}

// x1 = x0 + theta dt u0
static mn_status predict_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    mn_film *film = job->film;
    for (int64_t v = range.begin; v < range.end; v++)
        film->x1.data[v] = mn_axpy(film->x0.data[v], job->theta * job->dt, film->v0.data[v]);
    return MN_OK;
}

// The right-hand side and the diagonal, with the tensions that the system has.
static mn_status fill_base(mn_film_step_job *job)
{
    mn_film *film = job->film;
    const int64_t n = film->system.vertex_count;
    MN_TRY(mn_parallel_for(film->solver.ctx, n, MN_FILM_GRAIN, predict_range, job));
    if (film->def.viscosity > 0)
        MN_TRY(mn_film_viscous_pull(film, film->v0.data, job->viscous ? 0 : job->stiff_area));
    MN_TRY(mn_parallel_for(film->solver.ctx, n, MN_FILM_GRAIN, force_range, job));
    if (film->def.gibbs > 0)
        MN_TRY(mn_film_elastic_apply(film, film->v0.data, -job->theta * job->dt * job->dt, film->base.data));
    return MN_OK;
}

// The surface of volumes has the cotangents of the middle of the step, as far as it is known, and tetrahedra
// their dV/dx: what films lose by frozen ones, a drop that oscillates must not. Films keep those of the
// start, since theirs would not settle in steps that are long for their waves.
static mn_status renew_middle(mn_film_step_job *job)
{
    mn_film *film = job->film;
    MN_TRY(move(job, job->theta * job->dt));
    MN_TRY(mn_film_system_matrix_at(film, film->x0.data, film->x1.data));
    MN_TRY(mn_film_bulk_measure(film, film->x1.data));
    return fill_base(job);
}

// ---- gas ----

// How much of a pocket's volume counts at the end of the step: 1/2 where its breathing is resolved, 1 where
// not.
static mn_status weigh_breathing(mn_film *film, double dt, const double *volume)
{
    const mn_film_system *s = &film->system;
    for (int64_t b = 0; b < film->pockets.count; b++) {
        double ease = 0;
        for (int64_t i = s->pocket_start.data[b]; i < s->pocket_start.data[b + 1]; i++) {
            const mn_film_face *f = &s->faces.data[s->pocket_face.data[i]];
            if (film->mass.data[f->vertex] > 0) ease += mn_norm2(f->gradient) / film->mass.data[f->vertex];
        }
        const double k = film->pockets.data[b].amount, v = volume[b];
        const double y = v > 0 ? 0.25 * dt * dt * k / (v * v) * ease : 0;
        film->part.data[b] = 0.5 * (1 + y * y / (1 + y * y));
    }
    return MN_OK;
}

// Excess pressures and stiffness about the solution so far. x1 is scratch. False pockets have no gas.
static mn_status linearize_gas(mn_film_step_job *job, bool first)
{
    mn_film *film = job->film;
    const double dt = job->dt, p0 = film->def.ambient_pressure;
    double *volume = film->excess.data;
    MN_TRY(move(job, dt));
    MN_TRY(mn_film_volumes_at(film, film->x1.data, film->stiffness.data)); // at the end
    MN_TRY(move(job, 0.5 * dt));
    MN_TRY(mn_film_system_volumes(film, film->x1.data, volume));
    if (first) MN_TRY(weigh_breathing(film, dt, volume));
    for (int64_t b = 0; b < film->pockets.count; b++) {
        const double fast = 2 * film->part.data[b] - 1, k = film->pockets.data[b].amount;
        const double v = volume[b] + fast * (film->stiffness.data[b] - volume[b]);
        const bool holds = b > 0 && k > 0 && film->pockets.data[b].volume > 0;
        if (holds && !(v > 0.05 * film->pockets.data[b].volume))
            return mn_fail(film->solver.ctx, MN_ERROR_DIVERGED,
                           "A pocket of gas would be crushed within one step.");
        volume[b] = holds ? k / v - p0 : 0; // from here on: the excess pressure
        film->stiffness.data[b] = holds ? job->theta * dt * dt * film->part.data[b] * k / (v * v) : 0;
    }
    return MN_OK;
}

static double change_of(const mn_vec3 *a, const mn_vec3 *b, int64_t n)
{
    double change = 0, size = 0;
    for (int64_t v = 0; v < n; v++) change += mn_norm2(mn_sub(a[v], b[v])), size += mn_norm2(a[v]);
    return size > 0 ? sqrt(change / size) : 0;
}

// right -= theta dt^2/2 T d: what T in the matrix takes from the solution so far
static mn_status turn_right_range(void *user, mn_range range)
{
    const mn_film_step_job *job = user;
    mn_film *film = job->film;
    for (int64_t v = range.begin; v < range.end; v++)
        film->right.data[v] = mn_axpy(film->right.data[v], -0.5 * job->theta * job->dt * job->dt,
                                      mn_film_turn_row(&film->system, film->d.data, v));
    return MN_OK;
}

// The right-hand side about the solution so far. x1 is where films are in the middle of the step.
static mn_status take_gas(mn_film_step_job *job, int32_t pass)
{
    mn_film *film = job->film;
    MN_TRY(linearize_gas(job, pass == 0));
    MN_TRY(mn_film_preconditioner_take_gas(job));
    MN_TRY(mn_film_pockets_scatter(film, film->excess.data, job->dt, film->right.data));
    if (pass > 0) MN_TRY(mn_film_add_gas_stiffness(film, film->d.data, film->right.data));
    if (!job->turning) return MN_OK;
    MN_TRY(mn_film_pockets_turn(film, film->x1.data, film->foreseen.data));
    return mn_parallel_for(film->solver.ctx, film->system.vertex_count, MN_FILM_GRAIN, turn_right_range, job);
}

// The pressures that a pass solved for, q = k/V - p0 - C/dt Q (d - d_before): those that turn in the next
// pass. x1 holds d_before. Where the films then are, k/V - p0 is off by what volumes are short of over their
// own size times the ambient pressure: far more than the excess.
static mn_status foresee_pressures(mn_film_step_job *job)
{
    mn_film *film = job->film;
    double *value = film->foreseen.data;
    for (int64_t v = 0; v < film->system.vertex_count; v++)
        film->scratch.data[v] = mn_sub(film->d.data[v], film->x1.data[v]);
    MN_TRY(mn_film_pockets_gather(film, film->scratch.data, value));
    for (int64_t b = 0; b < film->pockets.count; b++)
        value[b] = film->excess.data[b] - film->stiffness.data[b] / job->dt * value[b];
    return MN_OK;
}

// Newton's method from the second pass on: in the first one the pressures, of volumes that only go where the
// velocities lead, are far off. Where the matrix is not definite, Q is frozen within each pass instead.
static mn_status solve_passes(mn_film_step_job *job)
{
    mn_film *film = job->film;
    const int64_t n = film->system.vertex_count;
    const size_t bytes = mn_bytes(n, sizeof(mn_vec3));
    const int32_t passes = job->bulk ? BULK_PASSES : job->gas ? PASSES : 1;
    bool newton = job->gas && !job->bulk;
    MN_TRY(mn_film_preconditioner_build(job));
    if (job->bulk) MN_TRY(mn_film_pressure_factor(job));
    for (int32_t pass = 0; pass < passes; pass++) {
        bool definite = true;
        job->turning = newton && pass > 0;
        if (job->bulk && pass > 0) MN_TRY(renew_middle(job));
        mn_copy_bytes(film->right.data, film->base.data, bytes);
        if (job->bulk) MN_TRY(mn_film_bulk_force(film, job, film->right.data));
        if (job->gas) MN_TRY(take_gas(job, pass));
        MN_TRY(mn_film_project(job, film->right.data));
        mn_copy_bytes(film->x1.data, film->d.data, bytes); // the solution before
        if (job->bulk)
            MN_TRY(mn_film_pressure_solve(job, film->right.data, film->d.data));
        else
            MN_TRY(mn_film_solve(job, pass, film->right.data, film->d.data, &definite));
        if (!definite && job->turning) {
            mn_copy_bytes(film->d.data, film->x1.data, bytes);
            newton = false, pass--;
            continue;
        }
        if (newton) MN_TRY(foresee_pressures(job));
        const double change = pass > 0 ? change_of(film->d.data, film->x1.data, n) : INFINITY;
        // What Newton's method leaves is of the order of the change squared.
        if ((job->turning ? change * change : change) > (job->bulk ? BULK_SETTLED : SETTLED)) continue;
        if (!job->bulk && job->exact) break;
        if (!job->bulk) continue;
        MN_TRY(move(job, job->dt));
        if (mn_film_pressure_error(film, film->x1.data) <= BULK_EXACT) break;
    }
    return MN_OK;
}

// The volume velocity at the end becomes the mean one of the step, as far as breathing is not resolved.
static mn_status calm_breathing(mn_film_step_job *job)
{
    mn_film *film = job->film;
    const int64_t n = film->system.vertex_count, pockets = film->pockets.count;
    double *before = film->stiffness.data, *after = film->excess.data;
    MN_TRY(mn_film_volumes_at(film, film->x0.data, before));
    MN_TRY(mn_film_system_volumes(film, film->x1.data, after));
    for (int64_t b = 0; b < pockets; b++) after[b] = (after[b] - before[b]) / job->dt;
    for (int64_t v = 0; v < n; v++) {
        film->scratch.data[v] = mn_add(film->v0.data[v], film->d.data[v]);
        film->inverse.data[v] = film->mass.data[v] > 0 ? 1 / film->mass.data[v] : 0;
    }
    for (int64_t b = 0; b < pockets; b++) before[b] = film->pockets.data[b].amount > 0 ? 0 : 1e300;
    MN_TRY(mn_film_pockets_factor(film, film->inverse.data, before));
    double *value = film->system.small_vector.data;
    MN_TRY(mn_film_pockets_gather(film, film->scratch.data, value));
    for (int64_t b = 0; b < pockets; b++)
        value[b] =
            film->pockets.data[b].amount > 0 ? (2 * film->part.data[b] - 1) * (after[b] - value[b]) : 0;
    mn_film_pockets_solve(film, value);
    mn_fill_bytes(film->scratch.data, 0, mn_bytes(n, sizeof(mn_vec3)));
    MN_TRY(mn_film_pockets_scatter(film, value, 1, film->scratch.data));
    for (int64_t v = 0; v < n; v++)
        film->d.data[v] =
            mn_add(film->d.data[v],
                   mn_film_allowed(film, v, mn_scale(film->inverse.data[v], film->scratch.data[v])));
    return MN_OK;
}

// ---- the step ----

static double stretch_of(void *user, mn_range range)
{
    const mn_film *film = user;
    const mn_film_system *s = &film->system;
    double most = 0;
    for (int64_t v = range.begin; v < range.end; v++) {
        const mn_vec3 moved = mn_sub(film->x1.data[v], film->x0.data[v]);
        if (!mn_is_finite3(moved) || !mn_is_finite3(film->d.data[v])) return INFINITY;
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
            const int32_t w = s->column.data[k];
            most = fmax(most, mn_norm2(mn_sub(moved, mn_sub(film->x1.data[w], film->x0.data[w]))));
        }
    }
    return sqrt(most);
}

mn_status mn_film_step_try(mn_film *film, double dt, double *stretch)
{
    mn_film_step_job job = {.film = film, .dt = dt, .theta = 0.5 * (1 + film->def.damping)};
    job.bulk = film->c.tets.count > 0;
    const int64_t n = film->c.vertices.count;
    if (film->stale) MN_TRY(mn_film_system_pattern(film));
    MN_TRY(size_arrays(film));
    MN_TRY(mn_parallel_for(film->solver.ctx, n, MN_FILM_GRAIN, start_range, &job));
    for (int64_t v = 0; v < n && !job.held; v++)
        job.held = mn_complex_held(&film->c, (int32_t)v) || mn_complex_slides(&film->c, (int32_t)v);
    for (int64_t v = 0; v < n; v++) job.mass += film->mass.data[v];
    film->origin = n > 0 ? film->x0.data[0] : mn_v3(0, 0, 0);
    MN_TRY(mn_film_system_matrix(film, film->x0.data));
    MN_TRY(sample_air(film));
    MN_TRY(mn_film_pull_rims(film, film->x0.data));
    // What viscosity changes of a velocity in a step is at most 12 nu dt / (plump area), plump a triangle's
    // area over the square of its longest edge, at least MN_FILM_PLUMP; few triangles of a good mesh are
    // below USUAL.
    const double viscous_area = 12 * film->def.viscosity * dt / (film->def.density * WEAK);
    job.stiff_area = viscous_area / MN_FILM_PLUMP;
    job.viscous = viscous_area / USUAL > 0.4 * film->def.size * film->def.size;
    job.gas = film->def.gas && film->pockets.count > 1;
    MN_TRY(job.bulk ? renew_middle(&job) : fill_base(&job));
    for (int64_t i = 0; i < film->bulk.node_count && job.bulk; i++)
        film->bulk.pressure.data[i] =
            dt / film->bulk.scale * film->c.vertices.data[film->bulk.vertex.data[i]].pressure;
    MN_TRY(solve_passes(&job));
    MN_TRY(move(&job, dt));
    MN_TRY(mn_parallel_max(film->solver.ctx, n, MN_FILM_GRAIN, stretch_of, film, stretch));
    *stretch /= film->def.size;
    if (!isfinite(*stretch))
        return mn_fail(film->solver.ctx, MN_ERROR_DIVERGED, "The film's motion is not finite.");
    if (job.bulk && !(mn_film_bulk_least(film, film->x0.data, film->x1.data) > FLATTENED))
        return mn_fail(film->solver.ctx, MN_ERROR_DIVERGED,
                       "A tetrahedron would be crushed within one step.");
    if (job.gas) MN_TRY(calm_breathing(&job));
    if (job.bulk) {
        MN_TRY(mn_film_pressure_project(&job));
        for (int64_t i = 0; i < film->bulk.node_count; i++)
            film->bulk.pressure.data[i] *= film->bulk.scale / dt;
    }
    return mn_film_balance(&job);
}

void mn_film_step_accept(mn_film *film)
{
    double most = 0;
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        most = fmax(most, mn_norm2(mn_sub(film->x1.data[v], vertex->position)));
        vertex->position = film->x1.data[v];
        vertex->velocity = mn_add(film->v0.data[v], film->d.data[v]);
        if (vertex->first_tet >= 0) vertex->pressure = film->bulk.pressure.data[film->bulk.node.data[v]];
    }
    film->travelled += sqrt(most);
}
