// SPDX-License-Identifier: Apache-2.0
//
// What a film solver shows: its view and its report.
#include "mls/mls_state.h"

#include "base/point_sums.h"
#include "meniscus/parallel.h"

enum { GRAIN = 4096 };

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
        .link_count = mls->links.count / 2,
        .links = (const int32_t(*)[2])mls->links.data,
    };
}

static void sum_range(void *user, mn_range range, double *sums)
{
    const mn_mls_point *points = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mls_point *p = &points[i];
        mn_sum_point(sums, p->mass, p->position, p->velocity);
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
    mn_report_set(report, MN_REPORT_surface_energy,
                  2 * mls->def.sigma * mls->surface.total_area + mls->threads.shape.energy);
    double s[MN_SUM_COUNT], speed;
    if (mn_parallel_sum(mls->ctx, count, GRAIN, sum_range, mls->points.data, MN_SUM_COUNT, s) != MN_OK)
        return;
    mn_report_point_sums(report, s);
    mn_report_set(report, MN_REPORT_volume, s[MN_SUM_MASS] / mls->def.density);
    if (count == 0) return;
    if (mn_parallel_max(mls->ctx, count, GRAIN, max_speed_of, mls->points.data, &speed) == MN_OK)
        mn_report_set(report, MN_REPORT_max_speed, speed);
}
