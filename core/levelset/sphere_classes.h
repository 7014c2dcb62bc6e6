// SPDX-License-Identifier: Apache-2.0
//
// Spheres sorted into classes of like radius, each on a grid of cells that suits it.
#ifndef MENISCUS_LEVELSET_SPHERE_CLASSES_H
#define MENISCUS_LEVELSET_SPHERE_CLASSES_H

#include "levelset/level_set_state.h"

/// Fills set->classes from the points; `reach` of a class is its radius plus `band`, both in cells.
mn_status mn_sphere_classes_build(mn_level_set *set, const mn_union_def *def, const mn_points *points);
/// Fills set->wanted with the coordinates of every block of the level set that a sphere's band touches.
mn_status mn_sphere_classes_want_blocks(mn_level_set *set, double band);
void mn_sphere_classes_free(mn_level_set *set);

/// Cells [first, last] of a class along one axis that hold spheres within `reach` (in dx) of nodes
/// [node, node + 3]. A cell c covers [c, c + 1) * 2^level.
MN_INLINE void cells_in_reach(int32_t node, double reach, int32_t level, int32_t *first, int32_t *last)
{
    const double scale = 1.0 / (double)((int64_t)1 << level);
    *first = (int32_t)floor((node - reach) * scale);
    *last = (int32_t)ceil((node + 3 + reach) * scale) - 1;
}

#endif
