// SPDX-License-Identifier: Apache-2.0
//
// A polygon of n corners at R has the area n/2 R^2 sin(2 pi / n): with R^2 = r^2 (2 pi / n) / sin(2 pi / n)
// it is that of a circle of radius r.
#include "sources/disc.h"

#include "base/elementary.h"

void mn_disc_points(mn_vec3 centre, mn_vec3 axis, double radius, mn_vec3 points[MN_DISC_POINTS])
{
    const double turn = 2 * MN_PI / MN_DISC_RIM;
    const double reach = radius * sqrt(turn / mn_sin(turn));
    const mn_vec3 n = mn_normalize(axis), side = fabs(n.x) < 0.7 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
    const mn_vec3 e0 = mn_normalize(mn_cross(n, side)), e1 = mn_cross(n, e0);
    points[MN_DISC_RIM] = centre;
    for (int i = 0; i < MN_DISC_RIM; i++)
        points[i] = mn_axpy(mn_axpy(centre, reach * mn_cos(i * turn), e0), reach * mn_sin(i * turn), e1);
}

void mn_disc_triangle(int64_t first, int32_t k, int64_t corners[3])
{
    corners[0] = first + MN_DISC_RIM;
    corners[1] = first + k;
    corners[2] = first + (k + 1) % MN_DISC_RIM;
}
