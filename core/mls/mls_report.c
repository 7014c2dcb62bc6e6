// SPDX-License-Identifier: Apache-2.0
//
// What a film solver shows: its view and its report.
#include "mls/mls_state.h"

#include "meniscus/parallel.h"

enum {
    GRAIN = 4096,
    SUM_MASS = 0,
    SUM_CENTER,
    SUM_MOMENTUM = SUM_CENTER + 3,
    SUM_SPIN = SUM_MOMENTUM + 3,
    SUM_ENERGY = SUM_SPIN + 3,
    SUM_COUNT
};

mn_mls_view mn_mls_get_view(const mn_mls *mls)
{
    return (mn_mls_view){
        .spacing = mls->def.spacing,
        .count = mls->points.count,
        .points = mls->points.data,
        .thickness = mls->thickness.data,
        .pressure = mls->pressure.data,
        .triangle_count = mls->triangles.count / 3,
        .triangles = (const int32_t(*)[3])mls->triangles.data,
        .open_edges = mls->surface.open_edges,
    };
}

static void add3(double *sums, double scale, mn_vec3 v)
{
    sums[0] += scale * v.x, sums[1] += scale * v.y, sums[2] += scale * v.z;
}

static void sum_range(void *user, mn_range range, double *sums)
{
    const mn_mls_point *points = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mls_point *p = &points[i];
        sums[SUM_MASS] += p->mass;
        add3(&sums[SUM_CENTER], p->mass, p->position);
        add3(&sums[SUM_MOMENTUM], p->mass, p->velocity);
        add3(&sums[SUM_SPIN], p->mass, mn_cross(p->position, p->velocity));
        sums[SUM_ENERGY] += 0.5 * p->mass * mn_norm2(p->velocity);
    }
}

static double max_speed_of(void *user, mn_range range)
{
    const mn_mls_point *points = user;
    double speed = 0;
    for (int64_t i = range.begin; i < range.end; i++) speed = fmax(speed, mn_norm(points[i].velocity));
    return speed;
}

void mn_mls_report(const mn_mls *mls, mn_report *report)
{
    const int64_t count = mls->points.count;
    mn_report_set(report, MN_REPORT_particles, (double)count);
    mn_report_set(report, MN_REPORT_substeps, (double)mls->substeps);
    mn_report_set(report, MN_REPORT_rollbacks, (double)mls->rollbacks);
    mn_report_set(report, MN_REPORT_linear_iterations, (double)mls->iterations);
    if (mls->substeps > 0) {
        mn_report_set(report, MN_REPORT_dt_min, mls->dt_min);
        mn_report_set(report, MN_REPORT_dt_max, mls->dt_max);
    }
    report->seconds = mls->seconds;
    mn_report_set(report, MN_REPORT_area, mls->surface.total_area);
    mn_report_set(report, MN_REPORT_surface_energy, 2 * mls->def.sigma * mls->surface.total_area);
    double s[SUM_COUNT], speed;
    if (mn_parallel_sum(mls->ctx, count, GRAIN, sum_range, mls->points.data, SUM_COUNT, s) != MN_OK) return;
    mn_report_set(report, MN_REPORT_mass, s[SUM_MASS]);
    mn_report_set(report, MN_REPORT_volume, s[SUM_MASS] / mls->def.density);
    mn_report_set3(report, MN_REPORT_momentum,
                   mn_v3(s[SUM_MOMENTUM], s[SUM_MOMENTUM + 1], s[SUM_MOMENTUM + 2]));
    mn_report_set3(report, MN_REPORT_angular_momentum, mn_v3(s[SUM_SPIN], s[SUM_SPIN + 1], s[SUM_SPIN + 2]));
    mn_report_set(report, MN_REPORT_kinetic_energy, s[SUM_ENERGY]);
    if (count == 0) return;
    const mn_vec3 center = mn_v3(s[SUM_CENTER], s[SUM_CENTER + 1], s[SUM_CENTER + 2]);
    mn_report_set3(report, MN_REPORT_center, mn_scale(1.0 / s[SUM_MASS], center));
    if (mn_parallel_max(mls->ctx, count, GRAIN, max_speed_of, mls->points.data, &speed) == MN_OK)
        mn_report_set(report, MN_REPORT_max_speed, speed);
}
