// SPDX-License-Identifier: Apache-2.0
//
// What the solver shows: particles by rising id, and the report's sums.
//
//   momentum          sum m v
//   angular momentum  sum m ( x x v + dx^2/4 curl C )      the affine motion's share included
//   volume            sum J V0
#include "mpm/solver.h"

#include "base/point_sums.h"
#include "meniscus/parallel.h"
#include "mpm/pressure.h"

#include <stdlib.h>

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

void mn_mpm_get_report(const mn_mpm *mpm, mn_report *report)
{
    *report = (mn_report){.seconds = mpm->timers};
    const int64_t n = mpm->particles.count;
    mn_report_set(report, MN_REPORT_particles, (double)n);
    mn_report_set(report, MN_REPORT_substeps, (double)mpm->counts.substeps);
    mn_report_set(report, MN_REPORT_rollbacks, (double)mpm->counts.rollbacks);
    if (mpm->counts.substeps > 0) {
        mn_report_set(report, MN_REPORT_dt_min, mpm->counts.dt_min);
        mn_report_set(report, MN_REPORT_dt_max, mpm->counts.dt_max);
    }
    if (mpm->def.integrator != MN_MPM_EXPLICIT) {
        mn_report_set(report, MN_REPORT_newton_iterations, (double)mpm->counts.newton_iterations);
        mn_report_set(report, MN_REPORT_linear_iterations, (double)mpm->counts.linear_iterations);
    }
    double s[SUM_COUNT] = {0}, fastest = 0;
    if (mn_parallel_sum(mpm->ctx, n, PARTICLE_GRAIN, sum_particles, (void *)(uintptr_t)mpm, SUM_COUNT, s) !=
            MN_OK ||
        mn_parallel_max(mpm->ctx, n, PARTICLE_GRAIN, speed, (void *)(uintptr_t)mpm, &fastest) != MN_OK)
        return;
    mn_report_point_sums(report, s);
    mn_report_set(report, MN_REPORT_volume, s[SUM_VOLUME]);
    mn_report_set(report, MN_REPORT_max_speed, n > 0 ? fastest : 0);
    mn_report_set(report, MN_REPORT_area, mpm->area);
    mn_report_set(report, MN_REPORT_surface_energy, mpm->surface_energy);
}

// ---- points ----

static int by_id(const void *a, const void *b)
{
    const int64_t x = ((const mn_mpm_point *)a)->id, y = ((const mn_mpm_point *)b)->id;
    return (x > y) - (x < y);
}

mn_status mn_mpm_get_points(const mn_mpm *mpm, mn_mpm_point *points)
{
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        const mn_mpm_particle *p = &mpm->particles.data[i];
        const mn_mpm_material *q = &mpm->materials.data[i];
        const double volume = q->volume * q->j;
        points[i] = (mn_mpm_point){.position = mn_mpm_position(p),
                                   .velocity = p->v,
                                   .id = q->id,
                                   .mass = p->mass,
                                   .density = p->mass / volume,
                                   .j = q->j,
                                   .pressure = mn_pressure(mpm->bulk_modulus, q->j),
                                   .sigma = q->sigma,
                                   .viscosity = q->viscosity,
                                   .age = q->age,
                                   .radius = cbrt(0.75 / 3.14159265358979323846 * volume)};
    }
    qsort(points, (size_t)mpm->particles.count, sizeof *points, by_id);
    return MN_OK;
}
