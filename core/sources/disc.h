// SPDX-License-Identifier: Apache-2.0
//
// A flat disc of triangles with the area of a circle: how points emit.
#ifndef MENISCUS_SOURCES_DISC_H
#define MENISCUS_SOURCES_DISC_H

#include "meniscus/vec.h"

enum { MN_DISC_RIM = 12, MN_DISC_POINTS = MN_DISC_RIM + 1 }; ///< its corners, and with the centre

/// The corners in a circle that faces along `axis`, then the centre.
void mn_disc_points(mn_vec3 centre, mn_vec3 axis, double radius, mn_vec3 points[MN_DISC_POINTS]);
/// The points, counted from `first`, of its triangle number `k`, 0 to MN_DISC_RIM - 1.
void mn_disc_triangle(int64_t first, int32_t k, int64_t corners[3]);

#endif
