// SPDX-License-Identifier: Apache-2.0
//
// Inside of mn_blocks: the set under construction and how a point finds its cell.
#ifndef MENISCUS_SPACE_BLOCK_SET_H
#define MENISCUS_SPACE_BLOCK_SET_H

#include "base/simd.h"
#include "meniscus/array.h"
#include "space/blocks.h"

/// A block while the set is being built.
typedef struct block_entry {
    mn_ivec3 coord;
    uint64_t occupied;
} block_entry;

typedef int32_t neighbour_row[MN_BLOCK_NEIGHBOURS];

/// What one chunk of points has found: at most CHUNK_BLOCKS different blocks, or too many to list.
enum { CHUNK_POINTS = 16384, CHUNK_BLOCKS = 4096, OVERFLOWED = -1 };

struct mn_blocks {
    mn_context *ctx;
    mn_vec3 origin;
    double dx;
    MN_ARRAY(block_entry) entries; ///< in order of discovery while building, in lexicographic order after
    MN_ARRAY(block_entry) swap;    ///< the other buffer of the radix sort
    MN_ARRAY(mn_ivec3) coords;
    MN_ARRAY(uint64_t) occupied;
    MN_ARRAY(neighbour_row) neighbours;
    MN_ARRAY(int32_t) coloured;
    int32_t colour_start[MN_BLOCK_COLOURS + 1];
    /// Open addressing by the hash of the coordinate: number of the entry, -1 where free. count is a power of
    /// two, at least twice the number of entries.
    MN_ARRAY(int32_t) table;
    MN_ARRAY(block_entry) chunk_entries; ///< CHUNK_BLOCKS of each chunk of points
    MN_ARRAY(int32_t) chunk_counts;      ///< how many of them are used, or OVERFLOWED
};

/// Well-mixed 64 bits of a coordinate (the finaliser of splitmix64 over a product hash).
static inline uint64_t mn_hash_coord(mn_ivec3 c)
{
    uint64_t h = (uint64_t)(uint32_t)c.x * 0x9e3779b97f4a7c15u;
    h ^= (uint64_t)(uint32_t)c.y * 0xc2b2ae3d27d4eb4fu;
    h ^= (uint64_t)(uint32_t)c.z * 0x165667b19e3779f9u;
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27;
    return h;
}

static inline bool same_coord(mn_ivec3 a, mn_ivec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// The slot that holds this coordinate, or the free one where it belongs.
static inline int64_t slot_of(const mn_blocks *blocks, mn_ivec3 coord)
{
    const uint64_t mask = (uint64_t)blocks->table.count - 1;
    uint64_t slot = mn_hash_coord(coord) & mask;
    for (;; slot = (slot + 1) & mask) {
        const int32_t entry = blocks->table.data[slot];
        if (entry < 0 || same_coord(blocks->entries.data[entry].coord, coord)) return (int64_t)slot;
    }
}

/// floor(x) for |x| < 2^31, without the library call that the baseline processor would need.
static inline int32_t floor_to_int(double x)
{
    const int32_t i = (int32_t)x;
    return i - (x < (double)i);
}

/// The largest distance from the origin, in cells, that still has a block coordinate.
#define CELL_MAX (4.0 * MN_BLOCK_COORD_MAX)

/// Cells of `count` <= CELL_BATCH points from `begin`; false when one of them has none (NaN or too far).
enum { CELL_BATCH = 256 };
static inline bool cells_of(mn_vec3 origin, double dx, const mn_points *points, int64_t begin, int32_t count,
                            mn_ivec3 *cells)
{
    const double scale = 1.0 / dx;
    const double *x = points->x + begin * points->stride, *y = points->y + begin * points->stride,
                 *z = points->z + begin * points->stride;
    double u[3][CELL_BATCH];
    int32_t good = 0;
    for (int32_t i = 0; i < count; i++) {
        u[0][i] = (x[i * points->stride] - origin.x) * scale;
        u[1][i] = (y[i * points->stride] - origin.y) * scale;
        u[2][i] = (z[i * points->stride] - origin.z) * scale;
    }
    for (int32_t i = 0; i < count; i++)
        good += (fabs(u[0][i]) < CELL_MAX) & (fabs(u[1][i]) < CELL_MAX) & (fabs(u[2][i]) < CELL_MAX);
    if (good != count) return false;
    for (int32_t i = 0; i < count; i++)
        cells[i] = mn_iv3(floor_to_int(u[0][i]), floor_to_int(u[1][i]), floor_to_int(u[2][i]));
    return true;
}

static inline mn_ivec3 block_of_cell(mn_ivec3 cell)
{
    return mn_iv3(cell.x >> 2, cell.y >> 2, cell.z >> 2);
}
static inline int32_t number_in_block(mn_ivec3 cell)
{
    return 16 * (cell.x & 3) + 4 * (cell.y & 3) + (cell.z & 3);
}

/// The sentence for the first point of [begin, begin + count) that has no cell.
mn_status mn_blocks_fail_position(mn_context *ctx, mn_vec3 origin, double dx, const mn_points *points,
                                  int64_t begin, int64_t count);

/// Starts an empty set; checks origin and dx.
mn_status mn_blocks_begin(mn_blocks *blocks, mn_vec3 origin, double dx);
/// Adds a block, or marks more of its cells.
mn_status mn_blocks_insert(mn_blocks *blocks, mn_ivec3 coord, uint64_t occupied);
/// Orders the blocks and makes the tables.
mn_status mn_blocks_finish(mn_blocks *blocks);

#endif
