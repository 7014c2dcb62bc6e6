// SPDX-License-Identifier: Apache-2.0
//
// Values of the six sides of a domain: x min, x max, y min, y max, z min, z max.
#ifndef MENISCUS_SPACE_SIDES_H
#define MENISCUS_SPACE_SIDES_H

#include "meniscus/vec.h"

/// The value of a side, from those of the lower and of the upper ends; `fallback` where it is negative, and
/// without a side (-1).
static inline double mn_side_value(mn_vec3 low, mn_vec3 high, int32_t side, double fallback)
{
    if (side < 0) return fallback;
    const mn_vec3 end = side % 2 == 0 ? low : high;
    const double values[3] = {end.x, end.y, end.z};
    return values[side / 2] >= 0 ? values[side / 2] : fallback;
}

#endif
