// SPDX-License-Identifier: Apache-2.0
//
// The report's sums.
//
//   momentum          sum m v
//   angular momentum  sum m ( x x v + dx^2/4 curl C )      the affine motion's share included
//   volume            sum J V0
#include "mpm/step.h"

#include "base/parallel.h"
#include "base/point_sums.h"

enum { PARTICLE_GRAIN = 4096 };

enum { SUM_VOLUME = MN_SUM_COUNT, SUM_COUNT };

static void sum_particles(void *user, mn_range range, double *sums)
{
    const mn_mpm *mpm = user;
    const double inertia = 0.25 * mpm->def.dx * mpm->def.dx;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_particle *p = &mpm->particles.data[i];
        const mn_mpm_material *q = &mpm->materials.data[i];
        const mn_mat3 c = mn_mpm_affine(p);
        const mn_vec3 curl = mn_v3(c.m[2][1] - c.m[1][2], c.m[0][2] - c.m[2][0], c.m[1][0] - c.m[0][1]);
        mn_sum_point(sums, p->mass, mn_mpm_position(p), p->v);
        mn_sum_add3(&sums[MN_SUM_SPIN], p->mass * inertia, curl);
        sums[SUM_VOLUME] += q->j * q->volume;
    }
}

static double speed(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) most = fmax(most, mn_norm(mpm->particles.data[i].v));
    return most;
}

void mn_mpm_report_sums(const mn_solver *solver, mn_report *report)
{
    const mn_mpm *mpm = (const mn_mpm *)solver;
    const int64_t n = mpm->particles.count;
    mn_report_set(report, MN_REPORT_particles, (double)n);
    if (mpm->def.integrator != MN_MPM_EXPLICIT) {
        mn_report_set(report, MN_REPORT_newton_iterations, (double)solver->counts.newton_iterations);
        mn_report_set(report, MN_REPORT_linear_iterations, (double)solver->counts.linear_iterations);
    }
    double s[SUM_COUNT] = {0}, fastest = 0;
    if (mn_parallel_sum(mpm->solver.ctx, n, PARTICLE_GRAIN, sum_particles, (void *)(uintptr_t)mpm, SUM_COUNT,
                        s) != MN_OK ||
        mn_parallel_max(mpm->solver.ctx, n, PARTICLE_GRAIN, speed, (void *)(uintptr_t)mpm, &fastest) != MN_OK)
        return;
    mn_report_point_sums(report, s);
    mn_report_set(report, MN_REPORT_volume, s[SUM_VOLUME]);
    mn_report_set(report, MN_REPORT_max_speed, n > 0 ? fastest : 0);
    mn_report_set(report, MN_REPORT_area, mpm->area);
    mn_report_set(report, MN_REPORT_surface_energy, mpm->surface_energy);
}
