// SPDX-License-Identifier: Apache-2.0
//
// The minimum of the incremental potential (implicit.h) by Newton's method with a line search.
//
// The second derivative is the exact one until conjugate gradients meet negative curvature, then its positive
// part [hyde2020]. A step that this does not bring to rest is solved with the convex majorant of the surface
// energy in its place (surface_energy.h), which is quadratic: one linear solve. `semi_implicit` takes one
// Newton step with the positive part. Contacts that may separate are switched in between.
#include "base/elementary.h"
#include "mpm/state.h"

#include "base/parallel.h"

#include <string.h>

enum { NODE_GRAIN = 32, NEWTON_MAX = 12, HALVINGS_MAX = 6, ROUNDS_MAX = 8 };
// Bodies in contact are stiffer than any liquid; but the liquid at their walls may be held or not for a
// while.
enum { BODY_NEWTON_MAX = 40, BODY_HALVINGS_MAX = 20, BODY_ROUNDS_MAX = 3 };
/// Of a cell: a step of bodies that needs no other after it.
static const double bodies_rest = 1e-3;

typedef struct step_job {
    const mn_mpm_node *from, *change, *start;
    mn_mpm_node *to;
    double length;
} step_job;

// to = from + length change; sums |to - start|^2_M.
static void take(void *user, mn_range range, double *sums)
{
    const step_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        const double m = job->start[i].mass;
        job->to[i] = (mn_mpm_node){m, mn_axpy(job->from[i].v, job->length, job->change[i].v)};
        sums[0] += m * mn_norm2(mn_sub(job->to[i].v, job->start[i].v));
    }
}

static void sum_slope(void *user, mn_range range, double *sums)
{
    const mn_mpm_implicit *implicit = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++)
        sums[0] += mn_dot(implicit->gradient.data[i].v, implicit->change.data[i].v);
}

// sum |v^ - v_n|^2_M: the impulses that have to balance.
static void sum_impulse(void *user, mn_range range, double *sums)
{
    const mn_mpm *mpm = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        const mn_mpm_node *start = &mpm->grid.before.data[i];
        sums[0] += start->mass * mn_norm2(mn_sub(mpm->implicit.target.data[i].v, start->v));
    }
}

// sum m and m (v^ - v_n): the impulse on all of the liquid.
static void sum_momentum(void *user, mn_range range, double *sums)
{
    const mn_mpm *mpm = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        const mn_mpm_node *start = &mpm->grid.before.data[i];
        const mn_vec3 gain = mn_sub(mpm->implicit.target.data[i].v, start->v);
        sums[0] += start->mass;
        sums[1] += start->mass * gain.x;
        sums[2] += start->mass * gain.y;
        sums[3] += start->mass * gain.z;
    }
}

static mn_status shift_nodes(void *user, mn_range range)
{
    const step_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++)
        if (job->to[i].mass > 0) job->to[i].v = mn_add(job->to[i].v, job->change[0].v);
    return MN_OK;
}

// Starts at v_n, moved as a whole by what nothing holds of the impulse on all of the liquid. Conjugate
// gradients keep the sum of the momenta as it is at their start (grid_cg.c), so that liquid that falls, or
// slides along a plane, gains all of its weight at any tolerance (at 0.05 a slab that slid lost 0.4 %).
static mn_status start_moving(mn_mpm *mpm, double *moved)
{
    double sums[4];
    memcpy(mpm->grid.nodes.data, mpm->grid.before.data,
           mn_bytes(mpm->grid.nodes.count, sizeof *mpm->grid.nodes.data));
    if (mpm->bodies.shared) return MN_OK; // they take their part
    MN_TRY(mn_parallel_sum(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, sum_momentum, mpm, 4, sums));
    const mn_vec3 gain = mn_scale(1 / sums[0], mn_v3(sums[1], sums[2], sums[3]));
    mn_mpm_node shift = {0, mn_mpm_free_everywhere(mpm, gain)};
    // Forces that balance leave rounding, and what rests stays so to the last bit.
    const double rounding = 1e-12 * mpm->implicit.dt * mn_norm(mpm->def.gravity);
    if (!(mn_norm(shift.v) > rounding)) return MN_OK;
    step_job job = {.change = &shift, .to = mpm->grid.nodes.data};
    *moved = sqrt(sums[0]) * mn_norm(shift.v);
    return mn_parallel_for(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, shift_nodes, &job);
}

/// Where Newton's method stands.
typedef struct descent {
    double energy, moved; ///< J; |v - v_n|_M
    double floor;         ///< residual below which forces balance to rounding
    double bodies_move;   ///< m, the last step of bodies, infinite when it was cut short
    double bodies_far;    ///< m, the longest
} descent;

// The potential, with that of the bodies when they share the step.
static mn_status evaluate(mn_mpm *mpm, double *energy)
{
    double more = 0;
    if (mpm->bodies.shared) {
        mn_mpm_bodies_follow(mpm);
        MN_TRY(mn_mpm_bodies_energy(mpm, &more));
    }
    MN_TRY(mn_mpm_potential(mpm, mpm->grid.nodes.data, energy));
    *energy += more;
    return MN_OK;
}

// Moves v along the change that was solved for, as far as the energy falls, and bodies as far as nothing
// passes through anything.
static mn_status search(mn_mpm *mpm, descent *state, bool *moved)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    mn_mpm_node *from = implicit->image.data; // conjugate gradients are done with it
    const double enough = 1e-4, rounding = 1e-12;
    double slope, energy, distance2;
    MN_TRY(
        mn_parallel_sum(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, sum_slope, implicit, 1, &slope));
    step_job job = {from, implicit->change.data, mpm->grid.before.data, mpm->grid.nodes.data, 1};
    mn_mpm_bodies *bodies = &mpm->bodies;
    if (bodies->shared) {
        slope += mn_mpm_bodies_slope(mpm);
        MN_TRY(mn_elastic_shared_limit(bodies->elastic, bodies->x.data, &job.length, &state->bodies_move));
        mn_elastic_shared_keep(bodies->elastic);
        state->bodies_far = fmax(state->bodies_far, state->bodies_move);
        state->bodies_move = job.length < 1 ? INFINITY : state->bodies_move;
    }
    memcpy(from, mpm->grid.nodes.data, mn_bytes(mpm->grid.nodes.count, sizeof *mpm->grid.nodes.data));
    const int halvings = bodies->shared ? BODY_HALVINGS_MAX : HALVINGS_MAX;
    for (int halving = 0; halving <= halvings; halving++, job.length *= 0.5) {
        MN_TRY(
            mn_parallel_sum(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, take, &job, 1, &distance2));
        if (bodies->shared) {
            mn_elastic_shared_move(bodies->elastic, bodies->x.data, job.length);
            distance2 += mn_elastic_shared_distance2(bodies->elastic);
        }
        MN_TRY(evaluate(mpm, &energy));
        if (energy <= state->energy + enough * job.length * slope + rounding * fabs(state->energy)) {
            state->energy = energy, state->moved = sqrt(distance2);
            *moved = true;
            return MN_OK;
        }
    }
    memcpy(mpm->grid.nodes.data, from, mn_bytes(mpm->grid.nodes.count, sizeof *mpm->grid.nodes.data));
    *moved = false;
    if (bodies->shared) mn_elastic_shared_move(bodies->elastic, bodies->x.data, 0);
    return evaluate(mpm, &state->energy);
}

// Whether what is left of the bodies' motion is as little as linear solves know it, and as contacts need it.
static bool bodies_are_found(const mn_mpm *mpm, const descent *state)
{
    const double inexact = 3 * mpm->def.newton_tolerance * state->bodies_far;
    return state->bodies_move <=
           fmin(mn_elastic_shared_resolution(mpm->bodies.elastic), fmax(bodies_rest * mpm->def.dx, inexact));
}

// Newton steps from mpm->nodes until no more than the tolerance is left to change.
static mn_status descend(mn_mpm *mpm, descent *state, int steps, bool *converged)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    const double tolerance = mpm->def.newton_tolerance;
    int64_t *newton = &mpm->solver.counts.newton_iterations, *linear = &mpm->solver.counts.linear_iterations;
    *converged = false;
    for (int k = 0; k < steps; k++) {
        const int64_t before = *linear;
        bool solved, moved;
        if (mpm->bodies.shared) MN_TRY(mn_mpm_bodies_linearise(mpm));
        MN_TRY(mn_mpm_implicit_solve(mpm, tolerance, state->moved, state->floor, linear, &solved));
        if (implicit->indefinite && implicit->curvature == MN_SURFACE_EXACT) {
            implicit->curvature = MN_SURFACE_PROJECTED;
            MN_TRY(mn_mpm_implicit_solve(mpm, tolerance, state->moved, state->floor, linear, &solved));
        }
        if (!solved) return MN_OK;
        if (*linear == before) {
            *converged = true;
            return MN_OK;
        }
        ++*newton;
        MN_TRY(search(mpm, state, &moved));
        if (!moved) return MN_OK;
        // The gradient of a quadratic vanishes with its solve.
        const bool still = !mpm->bodies.shared || bodies_are_found(mpm, state);
        if (still &&
            (steps == 1 || implicit->curvature == MN_SURFACE_MAJORANT || implicit->sample_count == 0)) {
            *converged = true;
            return MN_OK;
        }
    }
    return MN_OK;
}

static mn_status minimise(mn_mpm *mpm, mn_surface_curvature curvature, bool *converged)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    const bool once = mpm->def.integrator == MN_MPM_SEMI_IMPLICIT;
    const double rounding = 1e-9;
    descent state = {0};
    double impulse2;
    implicit->curvature = curvature;
    MN_TRY(
        mn_parallel_sum(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, sum_impulse, mpm, 1, &impulse2));
    // Gravity counts by itself: where pressure balances it, a pool at rest stays at rest to the last bit.
    const double weight = implicit->dt * mn_norm(mpm->def.gravity) * sqrt(mpm->extremes.mass);
    state.floor = rounding * (sqrt(impulse2) + weight);
    // What nothing acts on has only its motion for a scale.
    state.floor += 1e-3 * rounding * sqrt(2 * mpm->extremes.kinetic);
    if (mpm->bodies.shared)
        state.floor += 1e-3 * rounding * sqrt(mn_elastic_shared_motion2(mpm->bodies.elastic));
    MN_TRY(start_moving(mpm, &state.moved));
    const int rounds = mpm->bodies.shared ? BODY_ROUNDS_MAX : ROUNDS_MAX;
    for (int round = 0; round < rounds; round++) {
        const int64_t before = mpm->solver.counts.linear_iterations;
        if (round == 0 && mpm->bodies.shared) MN_TRY(mn_mpm_bodies_start(mpm));
        mn_mpm_hold(mpm, mpm->grid.nodes.data);
        // Once more with the velocity found is enough: what is left goes into the next step.
        if (round < 2) MN_TRY(mn_mpm_implicit_bulge(mpm, mpm->grid.nodes.data));
        MN_TRY(evaluate(mpm, &state.energy));
        const bool stiff = mpm->bodies.shared && implicit->curvature == MN_SURFACE_MAJORANT;
        const int most = stiff ? BODY_NEWTON_MAX : NEWTON_MAX;
        MN_TRY(descend(mpm, &state, once && !mpm->bodies.shared ? 1 : most, converged));
        if (!*converged) return MN_OK;
        if (mpm->bodies.shared && round + 1 == rounds) break; // what is switched must be solved for
        const bool switched = mn_mpm_switch_contacts(mpm, mpm->grid.nodes.data);
        // Bodies are found by now as well as linear solves know them.
        const bool again = !once && !(mpm->bodies.shared && round > 0);
        if (!switched && (!again || mpm->solver.counts.linear_iterations == before)) break;
    }
    mn_mpm_hold(mpm, mpm->grid.nodes.data);
    mn_mpm_rub(mpm, mpm->grid.nodes.data);
    return MN_OK;
}

mn_status mn_mpm_solve_implicit(mn_mpm *mpm, double dt, bool *converged)
{
    // Above this many capillary times of a cell the energy of a lonely sample has minima that mean nothing.
    const double longest = 0.7;
    const mn_mpm_extremes *e = &mpm->extremes;
    const double cell =
        e->max_sigma > 0 ? sqrt(e->min_density * mn_pow(mpm->def.dx, 3) / e->max_sigma) : INFINITY;
    const bool once = mpm->def.integrator == MN_MPM_SEMI_IMPLICIT;
    mpm->implicit.memory = 1;
    mpm->implicit.beta = 0.25;
    *converged = false;
    MN_TRY(mn_mpm_implicit_build(mpm, dt));
    if (dt <= longest * cell)
        MN_TRY(minimise(mpm, once ? MN_SURFACE_PROJECTED : MN_SURFACE_EXACT, converged));
    if (!*converged) MN_TRY(minimise(mpm, MN_SURFACE_MAJORANT, converged));
    if (*converged) MN_TRY(mn_mpm_bodies_finish(mpm));
    return mn_mpm_implicit_ratio(mpm, mpm->grid.nodes.data);
}
