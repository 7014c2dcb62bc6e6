// SPDX-License-Identifier: Apache-2.0
//
// Halves of a cloud of sites along the longest side of their box, for trees and for parts that are worked on
// at the same time. What the halves are depends on the sites alone.
#ifndef MENISCUS_TRIMESH_HALVING_H
#define MENISCUS_TRIMESH_HALVING_H

#include "meniscus/vec.h"

/// A place, and whose it is.
typedef struct mn_site {
    mn_vec3 at;
    int32_t index;
} mn_site;

/// The box with x in it. Not by fmin() and fmax(), which are calls where a NaN may come: none may come here.
static inline mn_box mn_box_with(mn_box box, mn_vec3 x)
{
    return (mn_box){{x.x < box.min.x ? x.x : box.min.x, x.y < box.min.y ? x.y : box.min.y,
                     x.z < box.min.z ? x.z : box.min.z},
                    {x.x > box.max.x ? x.x : box.max.x, x.y > box.max.y ? x.y : box.max.y,
                     x.z > box.max.z ? x.z : box.max.z}};
}

/// Brings the lower `count / 2` along the longest side to the front; of those at the same height, the ones
/// with the lower index.
void mn_halve_sites(mn_site *sites, int64_t count);

#endif
