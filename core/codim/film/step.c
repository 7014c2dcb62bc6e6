// SPDX-License-Identifier: Apache-2.0
//
// One time step of the films, implicit in everything that is stiff.
//
// With gamma = 2 sigma (a film has two sides), K the area gradient at the start of the step, V the gradient
// of the closed volumes, theta = 1/2 the implicit midpoint rule and up to 1 for damping:
//
//   M (u1 - u0) = dt (-gamma K x_t + V (p - p0) + M g + D (w - u1) - N u1)
//   x1 = x0 + dt (theta u1 + (1 - theta) u0),    x_t = x0 + theta (x1 - x0),    p vol(x_t) = const
//
// D is the drag of the air along the normals of films, across threads and on drops, N the viscosity
// (viscosity.h). For the change d = u1 - u0 this is A d = r with
//
//   A = M + dt^2 theta^2 gamma K + dt (D + N)
//   r = dt (-gamma K (x0 + theta dt u0) + M g + D (w - u0) - N u0) + dt V (p - p0)
//
// A is symmetric positive definite: conjugate gradients. The gas is much stiffer than the rest but has one
// number for each pocket, so its part is solved for apart: d = a + dt (p - p0) z with A a = r without gas and
// A z = V, and p from Boyle's law along that line (gas.c). V is taken at x_t, by repetition, which keeps
// the angular momentum. The midpoint rule keeps momentum and angular momentum: K and V have no sum and no
// moment. Threads add their part to A and r (codim/thread/step.c): films and threads are solved for together.
#include "codim/film/viscosity.h"
#include "codim/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512, GAS_PASSES = 6, CONTACT_PASSES = 4 };
static const double TOLERANCE = 1e-9;
static const double WEAK = 1;       // of a velocity in a step: stable to 2
static const double SETTLED = 1e-6; // relative change of the gradient of the volumes

typedef struct step_job {
    mn_codim *mls;
    double dt, theta, gamma;
    const mn_vec3 *in; ///< what is applied or preconditioned
    mn_vec3 *out;
    double shift; ///< for blends
    bool judge;   ///< what solids do is asked for, not left out
    bool viscous; ///< viscosity is strong enough to be solved for
    bool alone;   ///< the solve is for what a pull does by itself, not for all that acts
} step_job;

static double theta_of(const mn_codim *mls)
{
    return 0.5 * (1 + mls->def.damping);
}

static mn_vec3 viscous_pull(const mn_codim *mls, const mn_vec3 *u, int64_t p)
{
    const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
    const mn_vec3 *x = mls->x0.data;
    const double *h = mls->thickness.data;
    mn_vec3 sum = {0};
    for (int32_t i = 0; i < fan->count; i++) {
        const int32_t a = fan->pair[i][0], b = fan->pair[i][1];
        const mn_vec3 corners[3] = {x[p], x[a], x[b]}, speeds[3] = {u[p], u[a], u[b]};
        const double strength = mls->def.viscosity * (h[p] + h[a] + h[b]) / 3;
        sum = mn_add(sum, mn_codim_film_viscous_pull(corners, speeds, strength));
    }
    return sum;
}

// The part of u that the air feels: along a film's normal, across a thread, all of a drop's.
static mn_vec3 against_air(const mn_codim *mls, int64_t p, mn_vec3 u)
{
    if (mls->points.data[p].codim == MN_CODIM_DROP) return u;
    const mn_vec3 n = mls->surface.normal.data[p];
    const double along = mn_dot(n, u);
    return mls->points.data[p].codim == MN_CODIM_THREAD ? mn_axpy(u, -along, n) : mn_scale(along, n);
}

// What viscosity can change of a point's velocity in a second, at most.
static double viscous_rate(void *user, mn_range range)
{
    const mn_codim *mls = user;
    const double *h = mls->thickness.data;
    double most = 0;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        double thickest = h[p];
        for (int32_t i = 0; i < fan->count; i++) thickest = fmax(thickest, h[fan->pair[i][0]]);
        if (fan->count > 0 && !mls->pinned.data[p])
            most = fmax(most, 4 * thickest * mls->matrix.diagonal.data[p] / mls->mass.data[p]);
    }
    return mls->def.viscosity * most;
}

// Viscosity as weak as that of water takes part with the velocities at the start of the step, and is left out
// of A, where it would cost more than all the rest.
static mn_status weigh_viscosity(step_job *job)
{
    double rate = 0;
    if (job->mls->def.viscosity > 0)
        MN_TRY(mn_parallel_max(job->mls->solver.ctx, job->mls->points.count, GRAIN, viscous_rate, job->mls,
                               &rate));
    job->viscous = job->dt * rate > WEAK;
    return MN_OK;
}

// ---- A and its preconditioner ----

static mn_status apply_range(void *user, mn_range range)
{
    const step_job *job = user;
    const mn_codim *mls = job->mls;
    const mn_vec3 *u = job->in;
    const double stiffness = job->dt * job->dt * job->theta * job->theta * job->gamma;
    for (int64_t p = range.begin; p < range.end; p++) {
        if (mls->pinned.data[p]) {
            job->out[p] = mn_v3(0, 0, 0);
            continue;
        }
        mn_vec3 y = mn_axpy(mn_scale(mls->mass.data[p], u[p]), stiffness,
                            mn_codim_film_matrix_row(&mls->matrix, u, p));
        y = mn_axpy(y, job->dt * mls->drag.data[p], against_air(mls, p, u[p]));
        if (job->viscous) y = mn_axpy(y, job->dt, viscous_pull(mls, u, p));
        job->out[p] = y;
    }
    return MN_OK;
}

static mn_status apply(void *user, const double *x, double *y)
{
    step_job *job = user;
    job->in = (const mn_vec3 *)x;
    job->out = (mn_vec3 *)y;
    MN_TRY(mn_parallel_for(job->mls->solver.ctx, job->mls->points.count, GRAIN, apply_range, job));
    if (mn_codim_has_threads(job->mls))
        mn_codim_threads_apply(job->mls, job->dt, job->theta, job->in, job->out);
    if (!job->judge) mn_codim_slide(job->mls, job->out);
    return MN_OK;
}

static mn_status precondition_range(void *user, mn_range range)
{
    const step_job *job = user;
    const mn_codim *mls = job->mls;
    const double stiffness = job->dt * job->dt * job->theta * job->theta * job->gamma;
    for (int64_t p = range.begin; p < range.end; p++) {
        const double d = mls->mass.data[p] + stiffness * fmax(0, mls->matrix.diagonal.data[p]) +
                         job->dt * mls->drag.data[p] / 3 + mls->diagonal.data[p];
        job->out[p] = mls->pinned.data[p] ? mn_v3(0, 0, 0) : mn_scale(1 / d, job->in[p]);
    }
    return MN_OK;
}

static mn_status precondition(void *user, const double *r, double *z)
{
    step_job *job = user;
    job->in = (const mn_vec3 *)r;
    job->out = (mn_vec3 *)z;
    return mn_parallel_for(job->mls->solver.ctx, job->mls->points.count, GRAIN, precondition_range, job);
}

// ---- right-hand sides ----

// dt times the forces without gas; x1 holds x0 + theta dt u0.
static mn_status force_range(void *user, mn_range range)
{
    const step_job *job = user;
    const mn_codim *mls = job->mls;
    const bool rims = mn_codim_has_rim_tension(mls);
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_vec3 wind = mn_sub(mls->wind.data[p], mls->v0.data[p]);
        mn_vec3 f = mn_scale(-job->gamma, mn_codim_film_matrix_row(&mls->matrix, mls->x1.data, p));
        f = mn_axpy(f, mls->mass.data[p], mls->def.gravity);
        f = mn_axpy(f, mls->drag.data[p], against_air(mls, p, wind));
        if (mls->def.viscosity > 0) f = mn_sub(f, viscous_pull(mls, mls->v0.data, p));
        if (rims) f = mn_add(f, mn_codim_rim_pull(mls, p));
        mls->right.data[p] = mls->pinned.data[p] ? mn_v3(0, 0, 0) : mn_scale(job->dt, f);
    }
    return MN_OK;
}

// x1 = x0 + shift u0 + theta shift d: with shift = dt the end of the step, with theta dt its x_t.
static mn_status move_range(void *user, mn_range range)
{
    const step_job *job = user;
    const mn_codim *mls = job->mls;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_vec3 mean = mn_axpy(mls->v0.data[p], job->theta, mls->solution.data[p]);
        mls->x1.data[p] = mn_axpy(mls->x0.data[p], job->shift, mean);
    }
    return MN_OK;
}

static mn_status move(step_job *job, double shift)
{
    job->shift = shift;
    MN_TRY(mn_parallel_for(job->mls->solver.ctx, job->mls->points.count, GRAIN, move_range, job));
    mn_codim_move_held(job->mls, (1 - job->theta) * shift);
    return MN_OK;
}

static mn_status solve(step_job *job, const mn_vec3 *right, mn_vec3 *solution)
{
    mn_codim *mls = job->mls;
    const mn_linear_problem problem = {3 * mls->points.count, apply, job, precondition, job};
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = TOLERANCE;
    mn_krylov_result result;
    if (mls->solids.collider) {
        memcpy(mls->solids.right.data, right, mn_bytes(mls->points.count, sizeof(mn_vec3)));
        right = mls->solids.right.data;
        mn_codim_slide(mls, mls->solids.right.data);
    }
    const double stiff = job->dt * job->dt * job->theta * job->theta * job->gamma;
    if (mn_codim_has_holds(mls))
        return mn_codim_solve_held(mls, &problem, stiff, right, job->alone, solution);
    MN_TRY(mn_conjugate_gradients(mls->krylov, &problem, &def, &right->x, &solution->x, &result));
    mls->solver.counts.linear_iterations += result.iterations;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(mls->solver.ctx, MN_ERROR_DIVERGED, "The film's forces are not finite.");
    return MN_OK;
}

// Threads once more, at the x_t that the first pass has found.
static mn_status solve_threads_again(step_job *job)
{
    mn_codim *mls = job->mls;
    MN_TRY(move(job, job->theta * job->dt));
    MN_TRY(mn_codim_threads_correct(mls, job->dt, mls->x1.data, mls->right.data));
    return solve(job, mls->right.data, mls->solution.data);
}

// ---- momentum ----

enum { SUM_COUNT = 4 };

static void sum_momentum(void *user, mn_range range, double *sums)
{
    const mn_codim *mls = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        const double m = mls->mass.data[p];
        const mn_vec3 d = mls->solution.data[p];
        sums[0] += m * d.x, sums[1] += m * d.y, sums[2] += m * d.z, sums[3] += m;
    }
}

// A film that nothing holds gains dt g M of momentum, less what it pulls at volumes with, and no more: what
// the solver left over of that is taken out as one velocity for all.
static mn_status balance_momentum(mn_codim *mls, double dt, mn_vec3 pull)
{
    double s[SUM_COUNT];
    MN_TRY(mn_parallel_sum(mls->solver.ctx, mls->points.count, GRAIN, sum_momentum, mls, SUM_COUNT, s));
    if (!(s[3] > 0)) return MN_OK;
    const mn_vec3 has = mn_add(mn_v3(s[0], s[1], s[2]), pull);
    const mn_vec3 rest = mn_sub(mn_scale(dt, mls->def.gravity), mn_scale(1 / s[3], has));
    for (int64_t p = 0; p < mls->points.count; p++)
        mls->solution.data[p] = mn_add(mls->solution.data[p], rest);
    return MN_OK;
}

// ---- the gas ----

static mn_status add_gas_range(void *user, mn_range range)
{
    const step_job *job = user;
    mn_codim *mls = job->mls;
    for (int64_t p = range.begin; p < range.end; p++) {
        const int64_t pocket = mls->points.data[p].pocket;
        if (pocket < 0) continue;
        const double push = job->shift * (mls->pockets.data[pocket].pressure - mls->def.ambient_pressure);
        mls->solution.data[p] = mn_axpy(mls->solution.data[p], push, mls->swell.data[p]);
    }
    return MN_OK;
}

static mn_status add_gas(step_job *job, double factor)
{
    job->shift = factor;
    return mn_parallel_for(job->mls->solver.ctx, job->mls->points.count, GRAIN, add_gas_range, job);
}

typedef struct change_job {
    const mn_vec3 *now, *before;
} change_job;

static void sum_change(void *user, mn_range range, double *sums)
{
    const change_job *job = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        sums[0] += mn_norm2(mn_sub(job->now[p], job->before[p]));
        sums[1] += mn_norm2(job->now[p]);
    }
}

// The gradient of the volumes at x1; *settled when it is what it was in the pass before.
static mn_status find_gradient(mn_codim *mls, bool *settled)
{
    double sums[2];
    change_job job = {mls->right.data, mls->gradient.data};
    MN_TRY(mn_codim_volume_gradient(mls, mls->x1.data, mls->right.data));
    MN_TRY(mn_parallel_sum(mls->solver.ctx, mls->points.count, GRAIN, sum_change, &job, 2, sums));
    memcpy(mls->gradient.data, mls->right.data, mn_bytes(mls->points.count, sizeof(mn_vec3)));
    *settled = sums[0] <= SETTLED * SETTLED * sums[1];
    return MN_OK;
}

static mn_status solve_gas(step_job *job)
{
    mn_codim *mls = job->mls;
    const double dt = job->dt, theta = job->theta;
    memset(mls->swell.data, 0, mn_bytes(mls->points.count, sizeof(mn_vec3)));
    memset(mls->gradient.data, 0, mn_bytes(mls->points.count, sizeof(mn_vec3)));
    memcpy(mls->x1.data, mls->x0.data, mn_bytes(mls->points.count, sizeof(mn_vec3)));
    for (int32_t pass = 0; pass < GAS_PASSES; pass++) {
        bool settled;
        if (pass > 0) MN_TRY(move(job, theta * dt)); // with the gas of the pass before
        MN_TRY(find_gradient(mls, &settled));
        if (settled) break;
        if (pass > 0) MN_TRY(add_gas(job, -dt));
        if (pass == 0) MN_TRY(mn_codim_breathing(mls, dt));
        job->alone = true;
        MN_TRY(solve(job, mls->right.data, mls->swell.data));
        job->alone = false;
        MN_TRY(move(job, dt));
        const mn_codim_line line = {mls->x0.data, mls->x1.data, mls->gas.part.data, mls->swell.data};
        MN_TRY(mn_codim_solve_pressures(mls, &line, theta * dt * dt));
        MN_TRY(add_gas(job, dt));
    }
    return MN_OK;
}

// ---- the step ----

static double stretch_of(void *user, mn_range range)
{
    const mn_codim *mls = user;
    const mn_codim_film_matrix *m = &mls->matrix;
    double most = 0;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_vec3 moved = mn_sub(mls->x1.data[p], mls->x0.data[p]);
        if (!mn_is_finite3(moved)) return INFINITY;
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
            const int32_t q = m->column.data[e];
            const mn_vec3 other = mn_sub(mls->x1.data[q], mls->x0.data[q]);
            most = fmax(most, mn_norm2(mn_sub(moved, other)));
        }
    }
    return sqrt(most);
}

static void add_gas_load(const step_job *job, mn_vec3 *load)
{
    const mn_codim *mls = job->mls;
    for (int64_t p = 0; p < mls->points.count; p++) {
        const int64_t pocket = mls->points.data[p].pocket;
        if (pocket < 0) continue;
        const double push = mls->pockets.data[pocket].pressure - mls->def.ambient_pressure;
        load[p] = mn_axpy(load[p], job->dt * push, mls->gradient.data[p]);
    }
}

// The change of velocity by all that acts, given what touches solids.
static mn_status solve_all(step_job *job)
{
    mn_codim *mls = job->mls;
    const int64_t count = mls->points.count;
    const bool threads = mn_codim_has_threads(mls);
    memset(mls->solution.data, 0, mn_bytes(count, sizeof(mn_vec3)));
    memset(mls->diagonal.data, 0, mn_bytes(count, sizeof(double)));
    MN_TRY(move(job, job->theta * job->dt));
    MN_TRY(mn_parallel_for(mls->solver.ctx, count, GRAIN, force_range, job));
    mn_codim_draw_near(mls, job->dt, mls->right.data);
    if (threads) {
        mn_codim_threads_diagonal(mls, job->dt, job->theta, mls->diagonal.data);
        mn_codim_threads_right(mls, job->dt, job->theta, mls->right.data);
    }
    MN_TRY(solve(job, mls->right.data, mls->solution.data));
    if (threads) MN_TRY(solve_threads_again(job));
    if (mls->solids.collider)
        memcpy(mls->solids.load.data, mls->right.data, mn_bytes(count, sizeof(mn_vec3)));
    if (mn_codim_has_holds(mls))
        memcpy(mls->holds.pull.data, mls->right.data, mn_bytes(count, sizeof(mn_vec3)));
    if (mls->pockets.count == 0) return MN_OK;
    MN_TRY(solve_gas(job));
    if (!mn_codim_has_holds(mls)) return MN_OK;
    add_gas_load(job, mls->holds.pull.data); // once more, for the volumes' answer to it
    return solve(job, mls->holds.pull.data, mls->solution.data);
}

// As long as a solid would have to pull at a point more than it can, that point is let go.
static mn_status solve_with_solids(step_job *job)
{
    mn_codim *mls = job->mls;
    mn_vec3 *load = mls->solids.load.data;
    bool released = true;
    for (int32_t pass = 0; pass < CONTACT_PASSES && released; pass++) {
        MN_TRY(solve_all(job));
        add_gas_load(job, load);
        job->judge = true;
        MN_TRY(apply(job, &mls->solution.data->x, &mls->swell.data->x));
        job->judge = false;
        mn_codim_judge_contacts(mls, job->dt, load, mls->swell.data, &released);
    }
    return released ? solve_all(job) : MN_OK;
}

// What the films pull at volumes with, N s; the volumes have it then.
static mn_status pull_bodies(step_job *job, mn_vec3 *pull)
{
    mn_codim *mls = job->mls;
    *pull = mn_v3(0, 0, 0);
    if (!mn_codim_has_holds(mls)) return MN_OK;
    MN_TRY(move(job, job->dt));
    job->judge = true;
    MN_TRY(apply(job, &mls->solution.data->x, &mls->swell.data->x));
    job->judge = false;
    return mn_codim_pull_bodies(mls, mls->swell.data, mls->holds.pull.data, pull);
}

mn_status mn_codim_step(mn_codim *mls, double dt, double *stretch)
{
    step_job job = {.mls = mls, .dt = dt, .theta = theta_of(mls), .gamma = 2 * mls->def.sigma};
    const int64_t count = mls->points.count;
    const bool solids = mls->solids.collider != NULL;
    bool free = !solids;
    mn_vec3 pull;
    mls->pump = mls->def.ambient_pressure * mls->def.blow * dt;
    for (int64_t p = 0; p < count; p++) free = free && !mls->pinned.data[p] && mls->drag.data[p] == 0;
    MN_TRY(weigh_viscosity(&job));
    if (mn_codim_has_holds(mls)) MN_TRY(mn_codim_begin_holds(mls, dt));
    MN_TRY(solids ? solve_with_solids(&job) : solve_all(&job));
    MN_TRY(pull_bodies(&job, &pull));
    if (free) MN_TRY(balance_momentum(mls, dt, pull));
    MN_TRY(move(&job, dt));
    if (mls->pockets.count > 0) MN_TRY(mn_codim_calm_breathing(mls, dt));
    MN_TRY(mn_codim_keep_films_apart(mls, dt));
    MN_TRY(mn_codim_settle(mls, dt));
    MN_TRY(mn_parallel_max(mls->solver.ctx, count, GRAIN, stretch_of, mls, stretch));
    *stretch = fmax(*stretch, mn_codim_threads_stretch(mls, mls->x1.data, mls->x0.data));
    *stretch /= mls->def.spacing;
    return MN_OK;
}

void mn_codim_commit(mn_codim *mls)
{
    for (int64_t k = 0; k < mls->pockets.count; k++)
        if (mls->pockets.data[k].lid)
            mls->pockets.data[k].amount = fmax(0, mls->pockets.data[k].amount + mls->pump);
    for (int64_t p = 0; p < mls->points.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        point->position = mls->x1.data[p];
        point->velocity = mn_add(mls->v0.data[p], mls->solution.data[p]);
        point->normal = mls->surface.normal.data[p];
    }
}
