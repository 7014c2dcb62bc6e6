// SPDX-License-Identifier: Apache-2.0
//
// What every cloud of masses reports of itself: sums of m, m x, m v, m x x v and m v^2/2, gathered by
// mn_parallel_sum() into an array that begins with these. For core only.
#ifndef MENISCUS_BASE_POINT_SUMS_H
#define MENISCUS_BASE_POINT_SUMS_H

#include "meniscus/report.h"
#include "meniscus/vec.h"

enum {
    MN_SUM_MASS,
    MN_SUM_CENTER,
    MN_SUM_MOMENTUM = MN_SUM_CENTER + 3,
    MN_SUM_SPIN = MN_SUM_MOMENTUM + 3,
    MN_SUM_KINETIC = MN_SUM_SPIN + 3,
    MN_SUM_COUNT ///< a solver's own sums go on from here
};

static inline void mn_sum_add3(double *sums, double scale, mn_vec3 v)
{
    sums[0] += scale * v.x, sums[1] += scale * v.y, sums[2] += scale * v.z;
}

static inline void mn_sum_point(double *sums, double mass, mn_vec3 position, mn_vec3 velocity)
{
    sums[MN_SUM_MASS] += mass;
    mn_sum_add3(&sums[MN_SUM_CENTER], mass, position);
    mn_sum_add3(&sums[MN_SUM_MOMENTUM], mass, velocity);
    mn_sum_add3(&sums[MN_SUM_SPIN], mass, mn_cross(position, velocity));
    sums[MN_SUM_KINETIC] += 0.5 * mass * mn_norm2(velocity);
}

/// Where there is no mass there is no center.
static inline void mn_report_point_sums(mn_report *report, const double *s)
{
    const double *c = &s[MN_SUM_CENTER], *p = &s[MN_SUM_MOMENTUM], *l = &s[MN_SUM_SPIN];
    mn_report_set(report, MN_REPORT_mass, s[MN_SUM_MASS]);
    mn_report_set3(report, MN_REPORT_momentum, mn_v3(p[0], p[1], p[2]));
    mn_report_set3(report, MN_REPORT_angular_momentum, mn_v3(l[0], l[1], l[2]));
    mn_report_set(report, MN_REPORT_kinetic_energy, s[MN_SUM_KINETIC]);
    if (s[MN_SUM_MASS] > 0)
        mn_report_set3(report, MN_REPORT_center, mn_scale(1.0 / s[MN_SUM_MASS], mn_v3(c[0], c[1], c[2])));
}

#endif
