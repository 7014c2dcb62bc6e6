// SPDX-License-Identifier: Apache-2.0
//
// Volumes from a formula: every voxel of a set of blocks is asked for its value.
#ifndef MENISCUS_NODES_BAKE_H
#define MENISCUS_NODES_BAKE_H

#include "levelset/band.h"
#include "nodes/node.h"

/// `components` numbers of the voxel at x. Called from many threads.
typedef void mn_bake_fn(void *user, mn_vec3 x, double *values);

/// All blocks that meet the box, for voxels of size dx; refuses more than 2^26 voxels with a sentence that
/// names dx.
mn_status mn_bake_blocks(const mn_cook *cook, mn_box box, double dx, mn_origin_array *origins);
/// A volume of that name on the blocks.
mn_status mn_bake(const mn_cook *cook, const char *name, int32_t components, double dx,
                  const mn_origin_array *origins, mn_bake_fn *fn, void *user, mn_volume *volume);

#endif
