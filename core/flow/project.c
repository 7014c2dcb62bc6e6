// SPDX-License-Identifier: Apache-2.0
//
// Taking the divergence out of a velocity:
//
//   S p = -(G (u + M^-1 f) + wall flux),   u <- u + M^-1 (f + G^T p)
//
// by conjugate gradients with one multigrid cycle. Where nothing is open or free, pressure is known up to a
// constant and walls that push more in than out are made to agree by taking the mean out of the right side.
#include "flow/pressure_parts.h"
#include "meniscus/array.h"

#include <string.h>

enum { MOST_ITERATIONS = 200, WIDENINGS = 3 };
static const double least_divergence = 1e-14; ///< m/s in a cell: rounding, not worth a cycle

typedef struct project_job {
    mn_flow_pressure *s;
    const mn_double4 *load;
    mn_double4 *velocity;
    double mean;
} project_job;

static void load_block(void *user, int32_t block)
{
    const project_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        for (int32_t d = 0; d < 3; d++) (job->s->corrected ? job->s->t : job->s->v)[d][at] = job->load[at][d];
}

static void add_block(void *user, int32_t block)
{
    const project_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        for (int32_t d = 0; d < 3; d++) job->velocity[at][d] += job->s->v[d][at];
}

static void take_block(void *user, int32_t block)
{
    const project_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        for (int32_t d = 0; d < 3; d++)
            job->s->v[d][at] = job->s->mass.data[at] > mn_flow_smallest_mass ? job->velocity[at][d] : 0;
}

static void rhs_sum(void *user, mn_range range, double *sums)
{
    const mn_flow_pressure *s = ((project_job *)user)->s;
    for (int64_t i = range.begin; i < range.end; i++)
        if (s->node.data[i] & 1) sums[0] += s->rhs.data[i], sums[1] += 1;
}

static void negate_block(void *user, int32_t block)
{
    const project_job *job = user;
    mn_flow_pressure *s = job->s;
    const bool walls = s->wall.count > 0;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        s->rhs.data[at] = s->node.data[at] & 1 ? -s->rhs.data[at] - (walls ? s->wall.data[at] : 0) : 0;
}

static void centre_block(void *user, int32_t block)
{
    const project_job *job = user;
    mn_flow_pressure *s = job->s;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        if (s->node.data[at] & 1) s->rhs.data[at] -= job->mean;
}

static mn_status jacobi(void *pressure, const double *r, double *z)
{
    const mn_flow_pressure *s = pressure;
    mn_flow_levels_scale(s->levels, r, z);
    return MN_OK;
}

// rhs = -(G u + wall flux), without its mean where nothing is open or free.
static mn_status find_rhs(project_job *job)
{
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    MN_TRY(mn_flow_for_blocks(grid, take_block, job));
    MN_TRY(mn_flow_divergence(s, s->rhs.data));
    MN_TRY(mn_flow_for_blocks(grid, negate_block, job));
    if (!s->sealed) return MN_OK;
    double sums[2];
    MN_TRY(mn_parallel_sum(grid->ctx, mn_flow_size(grid), 4096, rhs_sum, job, 2, sums));
    job->mean = sums[1] > 0 ? sums[0] / sums[1] : 0;
    return mn_flow_for_blocks(grid, centre_block, job);
}

// p = S^-1 rhs: with the cycle, widened where it is not positive, at last with the diagonal alone. A cycle
// uses the room of rhs and of the product, so each attempt begins by finding rhs.
static mn_status solve(project_job *job, double tolerance, mn_flow_projection *result)
{
    mn_flow_pressure *s = job->s;
    const int64_t size = mn_flow_size(s->grid);
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = tolerance, def.absolute = least_divergence * sqrt((double)size);
    def.from_zero = true, def.product = mn_flow_levels_room(s->levels);
    for (int32_t attempt = 0; attempt <= WIDENINGS; attempt++) {
        const bool cycle = attempt < WIDENINGS;
        const mn_linear_problem problem = {size, mn_flow_pressure_apply, s,
                                           cycle ? mn_flow_levels_cycle : jacobi, s};
        mn_krylov_result krylov;
        def.max_iterations = cycle ? MOST_ITERATIONS : 20 * MOST_ITERATIONS;
        MN_TRY(find_rhs(job));
        mn_fill_bytes(s->p.data, 0, mn_bytes(size, sizeof(double)));
        MN_TRY(mn_conjugate_gradients(s->krylov, &problem, &def, s->rhs.data, s->p.data, &krylov));
        result->iterations += krylov.iterations;
        if (krylov.end == MN_KRYLOV_CONVERGED || krylov.end == MN_KRYLOV_ITERATIONS) return MN_OK;
        mn_flow_levels_widen(s->levels);
    }
    return mn_fail(
        s->grid->ctx, MN_ERROR_DIVERGED,
        "The equations of the flow's pressure cannot be solved; use smaller steps (cfl) or cells (dx).");
}

mn_status mn_flow_project(mn_flow_pressure *s, double tolerance, const mn_double4 *load, mn_double4 *velocity,
                          mn_flow_projection *result)
{
    const mn_flow_grid *grid = s->grid;
    project_job job = {s, load, velocity, 0};
    result->iterations = 0;
    if (load) MN_TRY(mn_flow_for_blocks(grid, load_block, &job));
    MN_TRY(mn_flow_pressure_clear(s)); // only now: with the correction the load may lie in the room of v
    if (load) {
        MN_TRY(mn_flow_inverse_mass(s));
        MN_TRY(mn_flow_for_blocks(grid, add_block, &job));
    }
    if (s->wall.count > 0) mn_flow_fold_followers(s, s->wall.data);
    MN_TRY(solve(&job, tolerance, result));
    MN_TRY(mn_flow_gradient(s, s->p.data));
    return mn_flow_for_blocks(grid, add_block, &job);
}
