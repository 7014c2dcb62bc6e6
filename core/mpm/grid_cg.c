// SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients on the grid's velocities [hestenes1952], preconditioned by mass:
//
//   H x = -g,   z = M^-1 r,   alpha = r.z / p.H p,   x += alpha p,   r -= alpha H p,   p = z + (r.z / old
//   r.z) p
//
// Inner forces add up to nothing, so 1.r = 0 at the start, and with M as the preconditioner 1.M p = 0 for
// every direction: linear momentum is exact whatever the tolerance, in each body that floats freely.
// Directions run in the space of what is free (held_nodes.c), and of the velocities of bodies (bodies.h).
// Each iteration passes over the vectors twice and over the operator once: mn_conjugate_gradients() of
// core/linear would pass seven times over copies of the blocks' nodes, and has no place for what is special
// here, directions in a space of free nodes and bodies and the end by the error of the velocity below.
//
// What is left to change is the sum of what later iterations will take off, |x* - x_k|^2_H = sum_j>=k alpha_j
// r_j.z_j [hestenes1952], and H >= M makes it a bound of the error of the velocity. The next WINDOW terms are
// computed, the rest continues them as a geometric series. The residual as a velocity, |M^-1 r|_M, is a bound
// too, but for a stiff liquid one ten times too high: it counts a pressure by the speed that it would give to
// a liquid that did not resist.
//
// In that norm the motion of a heavy body is found last: an impulse on it that is left over counts by its
// square over the body's mass. (Two heavy plates got 90 % of the pull of the liquid between them, in every
// step.) So in the end bodies take one more step by themselves, along what their own factor makes of what is
// left over, as long as makes the energy least.
#include "mpm/state.h"

#include "base/parallel.h"

enum { NODE_GRAIN = 32, ITERATIONS_MAX = 2000, WINDOW = 4 };

typedef struct cg_job {
    const mn_mpm_implicit *implicit;
    const mn_mpm_node *mass, *gradient;
    mn_mpm_node *x, *r, *p, *hp;
    double alpha, beta;
} cg_job;

static double inverse(double mass)
{
    return mass > 0 ? 1.0 / mass : 0.0;
}

// r = -g on what is free, x = 0; sums r.z.
static void begin(void *user, mn_range range, double *sums)
{
    const cg_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        job->r[i] = (mn_mpm_node){0, mn_scale(-1, job->gradient[i].v)};
        job->x[i] = job->p[i] = (mn_mpm_node){0};
    }
    const int32_t *first = job->implicit->first_held.data;
    for (int32_t k = first[range.begin]; k < first[range.end]; k++) {
        const mn_mpm_held *held = &job->implicit->held.data[k];
        mn_mpm_free_part(held, &job->r[held->node]);
    }
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++)
        sums[0] += inverse(job->mass[i].mass) * mn_norm2(job->r[i].v);
}

// p = z + beta p
static mn_status turn(void *user, mn_range range)
{
    const cg_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++)
        job->p[i].v = mn_axpy(mn_scale(job->beta, job->p[i].v), inverse(job->mass[i].mass), job->r[i].v);
    return MN_OK;
}

// H p on what is free; sums p.H p.
static void measure(void *user, mn_range range, double *sums)
{
    const cg_job *job = user;
    const int32_t *first = job->implicit->first_held.data;
    for (int32_t k = first[range.begin]; k < first[range.end]; k++) {
        const mn_mpm_held *held = &job->implicit->held.data[k];
        mn_mpm_free_part(held, &job->hp[held->node]);
    }
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++)
        sums[0] += mn_dot(job->p[i].v, job->hp[i].v);
}

// x += alpha p, r -= alpha H p; sums r.z and x.M x.
static void walk(void *user, mn_range range, double *sums)
{
    const cg_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        const double m = job->mass[i].mass;
        if (!(m > 0)) continue;
        job->x[i].v = mn_axpy(job->x[i].v, job->alpha, job->p[i].v);
        job->r[i].v = mn_axpy(job->r[i].v, -job->alpha, job->hp[i].v);
        sums[0] += mn_norm2(job->r[i].v) / m;
        sums[1] += m * mn_norm2(job->x[i].v);
    }
}

/// The last 2 WINDOW terms of the sum of the error's energy.
typedef struct error_series {
    double term[2 * WINDOW];
    int64_t count;
} error_series;

// The square of the error after the last term, infinite while too little is known.
static double error2(const error_series *series)
{
    double older = 0, newer = 0;
    if (series->count < 2 * WINDOW) return INFINITY;
    for (int64_t k = 0; k < WINDOW; k++) {
        older += series->term[(series->count + k) % (2 * WINDOW)];
        newer += series->term[(series->count + WINDOW + k) % (2 * WINDOW)];
    }
    // A series that does not fall says nothing.
    const double ratio = newer / older;
    return ratio < 1 ? newer * ratio / (1 - ratio) : INFINITY;
}

// p = 0
static mn_status clear(void *user, mn_range range)
{
    const cg_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++)
        job->p[i] = (mn_mpm_node){0};
    return MN_OK;
}

// The last step, of bodies alone.
static mn_status settle_bodies(mn_mpm *mpm, cg_job *job)
{
    mn_context *ctx = mpm->solver.ctx;
    double rz, curvature, sums[2] = {0};
    MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, NODE_GRAIN, clear, job));
    mn_mpm_bodies_cg_turn(mpm, 0, job->p);
    MN_TRY(mn_mpm_potential_apply(mpm, job->p, job->hp));
    MN_TRY(mn_mpm_bodies_cg_measure(mpm, job->p, job->hp, &curvature));
    rz = mn_mpm_bodies_cg_rest(mpm);
    if (!(curvature > 0) || !(rz > 0) || !isfinite(rz / curvature)) return MN_OK;
    job->alpha = rz / curvature;
    MN_TRY(mn_parallel_sum(ctx, mpm->grid.table.count, NODE_GRAIN, walk, job, 2, sums));
    return mn_mpm_bodies_cg_walk(mpm, job->alpha, sums);
}

mn_status mn_mpm_implicit_solve(mn_mpm *mpm, double tolerance, double so_far, double floor,
                                int64_t *iterations, bool *converged)
{
    mn_context *ctx = mpm->solver.ctx;
    mn_mpm_implicit *implicit = &mpm->implicit;
    const int32_t blocks = mpm->grid.table.count;
    cg_job job = {.implicit = implicit,
                  .mass = mpm->grid.before.data,
                  .gradient = implicit->gradient.data,
                  .x = implicit->change.data,
                  .r = implicit->residual.data,
                  .p = implicit->direction.data,
                  .hp = implicit->image.data};
    double sums[2] = {0}, rz, curvature;
    error_series series = {0};
    const bool shared = mpm->bodies.shared;
    MN_TRY(mn_parallel_sum(ctx, blocks, NODE_GRAIN, begin, &job, 1, &rz));
    if (shared) MN_TRY(mn_mpm_bodies_cg_begin(mpm, &rz));
    *converged = false;
    implicit->indefinite = false;
    for (int64_t iteration = 0;; iteration++) {
        const double goal = fmax(tolerance * fmax(sqrt(sums[1]), so_far), floor);
        if (!isfinite(rz)) return MN_OK;
        if (fmin(rz, error2(&series)) <= goal * goal) {
            *converged = true;
            return shared && iteration > 0 ? settle_bodies(mpm, &job) : MN_OK;
        }
        if (iteration == ITERATIONS_MAX) return MN_OK;
        MN_TRY(mn_check_cancelled(ctx));
        MN_TRY(mn_parallel_for(ctx, blocks, NODE_GRAIN, turn, &job));
        if (shared) mn_mpm_bodies_cg_turn(mpm, job.beta, job.p);
        MN_TRY(mn_mpm_potential_apply(mpm, job.p, job.hp));
        double of_bodies = 0;
        if (shared) MN_TRY(mn_mpm_bodies_cg_measure(mpm, job.p, job.hp, &of_bodies));
        MN_TRY(mn_parallel_sum(ctx, blocks, NODE_GRAIN, measure, &job, 1, &curvature));
        curvature += of_bodies;
        ++*iterations;
        if (!(curvature > 0)) {
            implicit->indefinite = true;
            return MN_OK;
        }
        job.alpha = rz / curvature;
        series.term[series.count++ % (2 * WINDOW)] = job.alpha * rz;
        MN_TRY(mn_parallel_sum(ctx, blocks, NODE_GRAIN, walk, &job, 2, sums));
        if (shared) MN_TRY(mn_mpm_bodies_cg_walk(mpm, job.alpha, sums));
        job.beta = sums[0] / rz;
        rz = sums[0];
    }
}
