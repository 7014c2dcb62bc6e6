// SPDX-License-Identifier: Apache-2.0
//
// The blocks of voxels near a surface, for volumes that live in a narrow band.
#ifndef MENISCUS_LEVELSET_BAND_H
#define MENISCUS_LEVELSET_BAND_H

#include "meniscus/collider.h"
#include "space/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MN_BAND_BLOCK = 8 }; ///< voxels along the edge of a block

typedef MN_ARRAY(mn_ivec3) mn_origin_array;

/// The first voxels of all blocks that come within `width` (m) of the region's surface, where voxel (i, j, k)
/// of size `dx` is centred at dx (i + 0.5, j + 0.5, k + 0.5). The region's distance may be unsigned; only its
/// size counts, and it may be clamped to no less than `width`. Fails when there are more than `limit` blocks.
mn_status mn_band_blocks(mn_context *ctx, const mn_region *region, double dx, double width, int64_t limit,
                         mn_origin_array *origins);

#ifdef __cplusplus
}
#endif
#endif
