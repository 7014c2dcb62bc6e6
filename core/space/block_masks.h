// SPDX-License-Identifier: Apache-2.0
//
// Sets of a block's 64 nodes as bits of one word, and how they move from node to node and block to block.
#ifndef MENISCUS_SPACE_BLOCK_MASKS_H
#define MENISCUS_SPACE_BLOCK_MASKS_H

#include "base/simd.h"

#include <stdint.h>

/// Bits of nodes (x, y, z) of a 64-bit mask, for shifts of whole masks.
#define MASK_X(x) ((uint64_t)0xffff << (16 * (x)))
#define MASK_Y(y) ((uint64_t)0x000f000f000f000f << (4 * (y)))
#define MASK_Z(z) ((uint64_t)0x1111111111111111 << (z))

/// A block's mask moved one node along an axis: bit of a node becomes that of its neighbour above or below,
/// which for the last layer lies in the next block's mask.
MN_INLINE uint64_t mask_above(int32_t axis, uint64_t own, uint64_t next)
{
    if (axis == 0) return own >> 16 | next << 48;
    if (axis == 1) return (own >> 4 & ~MASK_Y(3)) | (next << 12 & MASK_Y(3));
    return (own >> 1 & ~MASK_Z(3)) | (next << 3 & MASK_Z(3));
}
MN_INLINE uint64_t mask_below(int32_t axis, uint64_t own, uint64_t previous)
{
    if (axis == 0) return own << 16 | previous >> 48;
    if (axis == 1) return (own << 4 & ~MASK_Y(0)) | (previous >> 12 & MASK_Y(0));
    return (own << 1 & ~MASK_Z(0)) | (previous >> 3 & MASK_Z(0));
}
/// The mask of a neighbour, nothing set when it does not exist.
MN_INLINE uint64_t mask_of(const uint64_t *masks, int32_t block)
{
    return block < 0 ? 0 : masks[block];
}

#endif
