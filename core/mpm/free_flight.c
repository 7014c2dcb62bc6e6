// SPDX-License-Identifier: Apache-2.0
//
// Liquid that neither wall, solid, body, emitter nor sink holds does what it does at rest, whatever its speed
// V: the grid goes with it, and so does what shifts of particles take up.
//
// A shift d of a particle beside its way would change the angular momentum by m d x v, which its affine
// velocity takes up. That of a fast drop would be mostly m d x V, and spin its particles. They take up
// m d x (v - V) instead, and all are moved back by the mean of the shifts, so that sum m d x V = 0:
//
//   x <- x - c,   c = sum m (x' - x - dt v') / sum m
//
// and the centre of mass goes with the momentum. Both momenta are then exact in every frame.
#include "mpm/step.h"
#include "mpm/walls.h"

#include "base/parallel.h"

enum { PARTICLE_GRAIN = 4096 };

bool mn_mpm_flies_free(const mn_mpm *mpm)
{
    return !(mn_mpm_has_solids(&mpm->def, mpm->run.collider) || mpm->sites.count > 0 || mpm->run.sink ||
             mpm->bodies.elastic);
}

static void sum_momentum(void *user, mn_range range, double *sums)
{
    const mn_mpm *mpm = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_particle *p = &mpm->particles.data[i];
        sums[0] += p->mass;
        sums[1] += p->mass * p->v.x, sums[2] += p->mass * p->v.y, sums[3] += p->mass * p->v.z;
    }
}

mn_status mn_mpm_find_frame(mn_mpm *mpm)
{
    double sums[4] = {0};
    mpm->trial.frame = mn_v3(0, 0, 0);
    if (!mn_mpm_flies_free(mpm)) return MN_OK;
    MN_TRY(
        mn_parallel_sum(mpm->solver.ctx, mpm->particles.count, PARTICLE_GRAIN, sum_momentum, mpm, 4, sums));
    if (sums[0] > 0) mpm->trial.frame = mn_scale(1 / sums[0], mn_v3(sums[1], sums[2], sums[3]));
    return MN_OK;
}

typedef struct centre_job {
    mn_mpm *mpm;
    double dt;
    mn_vec3 back;
} centre_job;

static void sum_shifts(void *user, mn_range range, double *sums)
{
    const centre_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_particle *from = &job->mpm->particles.data[i], *to = &job->mpm->next.data[i];
        const mn_vec3 way = mn_sub(mn_mpm_position(to), mn_mpm_position(from));
        const mn_vec3 beside = mn_scale(to->mass, mn_axpy(way, -job->dt, to->v));
        sums[0] += to->mass;
        sums[1] += beside.x, sums[2] += beside.y, sums[3] += beside.z;
    }
}

static mn_status move_back(void *user, mn_range range)
{
    const centre_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_mpm_particle *p = &job->mpm->next.data[i];
        mn_mpm_set_position(p, mn_sub(mn_mpm_position(p), job->back));
    }
    return MN_OK;
}

mn_status mn_mpm_keep_centre(mn_mpm *mpm, double dt)
{
    mn_context *ctx = mpm->solver.ctx;
    const int64_t count = mpm->next.count;
    centre_job job = {.mpm = mpm, .dt = dt};
    double sums[4] = {0};
    if (mpm->split.groups.count == 0 || !mn_mpm_flies_free(mpm)) return MN_OK;
    MN_TRY(mn_parallel_sum(ctx, count, PARTICLE_GRAIN, sum_shifts, &job, 4, sums));
    if (!(sums[0] > 0)) return MN_OK;
    job.back = mn_scale(1 / sums[0], mn_v3(sums[1], sums[2], sums[3]));
    return mn_parallel_for(ctx, count, PARTICLE_GRAIN, move_back, &job);
}
