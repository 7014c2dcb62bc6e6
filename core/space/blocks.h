// SPDX-License-Identifier: Apache-2.0
//
// A sparse grid: the set of 4 x 4 x 4 blocks that exist, and points sorted by block and cell.
//
//   - Node (i, j, k) lies at origin + dx (i, j, k); cell (i, j, k) is the cube between nodes (i, j, k) and
//     (i+1, j+1, k+1). Nodes and cells share their numbers, so a block holds 64 of either.
//   - Blocks are numbered in lexicographic order of their coordinates (x slowest), whatever order the points
//     came in and whoever computed it. Inside a block cell (x, y, z) is number 16 x + 4 y + z: four along z
//     are one 256-bit vector of doubles.
//   - Data lives beside the set, in arrays of the caller's: value[block * 64 + cell].
//   - Two blocks of one colour (of eight) are at least two apart on some axis in which they differ, so
//     scatters that reach r nodes below and s above a block's own, r + s <= 4, never meet: run a colour in
//     parallel, colours in order, no atomics.
// The same set may be built again and again: buffers keep their high-water mark, a steady loop never calls
// malloc.
#ifndef MENISCUS_SPACE_BLOCKS_H
#define MENISCUS_SPACE_BLOCKS_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MN_BLOCK_SIDE = 4,
    MN_BLOCK_CELLS = 64,
    MN_BLOCK_NEIGHBOURS = 27,
    MN_BLOCK_SELF = 13, ///< the block itself in its row of neighbours
    MN_BLOCK_COLOURS = 8,
    MN_BLOCK_COORD_MAX = 1 << 27, ///< block coordinates lie in [-this, this)
    MN_BLOCK_COUNT_MAX = 1 << 25  ///< so that block * 64 + cell fits an int32_t
};

typedef struct mn_ivec3 {
    int32_t x, y, z;
} mn_ivec3;

static inline mn_ivec3 mn_iv3(int32_t x, int32_t y, int32_t z)
{
    mn_ivec3 r;
    r.x = x, r.y = y, r.z = z;
    return r;
}

/// Positions in any layout: component of point i is x[i * stride], y[i * stride], z[i * stride].
typedef struct mn_points {
    int64_t count;
    const double *x, *y, *z;
    int64_t stride; ///< in doubles
} mn_points;

static inline mn_points mn_points_of(const mn_vec3 *positions, int64_t count)
{
    mn_points p;
    p.count = positions ? count : 0, p.stride = 3;
    p.x = positions ? &positions->x : NULL;
    p.y = positions ? &positions->y : NULL;
    p.z = positions ? &positions->z : NULL;
    return p;
}
static inline mn_vec3 mn_points_at(const mn_points *points, int64_t i)
{
    const int64_t k = i * points->stride;
    return mn_v3(points->x[k], points->y[k], points->z[k]);
}

typedef struct mn_blocks mn_blocks;

/// What a kernel reads; valid until the set is built again or freed.
typedef struct mn_block_table {
    mn_vec3 origin;    ///< m, of node (0, 0, 0)
    double dx;         ///< m
    double inverse_dx; ///< 1 / dx: the cell of x is floor((x - origin) * inverse_dx), to the last bit
    int32_t count;
    const mn_ivec3 *coords; ///< [count] first cell of block b is 4 * coords[b]
    /// [count] the block at offset (i, j, k) in [-1, 1]^3 is entry 9 (i+1) + 3 (j+1) + (k+1), -1 when there
    /// is none.
    const int32_t (*neighbours)[MN_BLOCK_NEIGHBOURS];
    /// [count] bit c is set when a point lay in cell c at the build; all 0 when built from coordinates.
    const uint64_t *occupied;
    int32_t colour_start[MN_BLOCK_COLOURS + 1];
    const int32_t *coloured; ///< [count] blocks of colour c, rising: [colour_start[c], colour_start[c + 1])
} mn_block_table;

mn_status mn_blocks_create(mn_context *ctx, mn_blocks **blocks);
void mn_blocks_free(mn_blocks *blocks);

/// The blocks of every cell that lies within [-reach_low, +reach_high] (each 0 to 4, on every axis) of the
/// cell of a point. Quadratic B-splines: with `origin` half a cell up, cell = first of three nodes, reach 0
/// and 2. A position that is not finite or lies outside the grid's 2^30 cells is an error. On failure the
/// set is empty.
mn_status mn_blocks_build(mn_blocks *blocks, mn_vec3 origin, double dx, mn_points points, int32_t reach_low,
                          int32_t reach_high);

/// The blocks at these coordinates (repeats are fine) and, `rings` times, all 26 neighbours of what is there.
mn_status mn_blocks_build_from_coords(mn_blocks *blocks, mn_vec3 origin, double dx, int64_t count,
                                      const mn_ivec3 *coords, int32_t rings);

mn_block_table mn_blocks_table(const mn_blocks *blocks);
/// The number of the block at this coordinate, -1 when there is none.
int32_t mn_blocks_find(const mn_blocks *blocks, mn_ivec3 coord);
/// block * 64 + cell of a cell or node, -1 when its block does not exist.
int32_t mn_blocks_find_cell(const mn_blocks *blocks, mn_ivec3 cell);

/// Cell or node `cell` of block `block`, in grid coordinates.
static inline mn_ivec3 mn_block_cell(const mn_block_table *table, int32_t block, int32_t cell)
{
    const mn_ivec3 b = table->coords[block];
    return mn_iv3(4 * b.x + (cell >> 4), 4 * b.y + ((cell >> 2) & 3), 4 * b.z + (cell & 3));
}
/// Where node `cell` of block `block` lies.
static inline mn_vec3 mn_block_node_position(const mn_block_table *table, int32_t block, int32_t cell)
{
    const mn_ivec3 c = mn_block_cell(table, block, cell);
    return mn_v3(table->origin.x + table->dx * c.x, table->origin.y + table->dx * c.y,
                 table->origin.z + table->dx * c.z);
}
/// block * 64 + cell of the node at offset (x, y, z), each in [-4, 7], from the first node of `block`; -1
/// when its block does not exist.
static inline int32_t mn_block_reach(const mn_block_table *table, int32_t block, int32_t x, int32_t y,
                                     int32_t z)
{
    const int32_t side = 9 * ((x + 4) >> 2) + 3 * ((y + 4) >> 2) + ((z + 4) >> 2);
    const int32_t other = table->neighbours[block][side];
    return other < 0 ? -1 : other * MN_BLOCK_CELLS + 16 * (x & 3) + 4 * (y & 3) + (z & 3);
}

// ---- points in the order of their cells ----

typedef struct mn_point_sort mn_point_sort;

/// Valid until the next run; points of one cell keep the order they had.
typedef struct mn_sorted_points {
    int32_t point_count;
    const int32_t *order; ///< [point_count] order[k] is the point that comes k-th
    const int32_t
        *cell_start; ///< [block_count * 64 + 1] cell c holds order[cell_start[c] .. cell_start[c+1])
} mn_sorted_points;

mn_status mn_point_sort_create(mn_context *ctx, mn_point_sort **sort);
void mn_point_sort_free(mn_point_sort *sort);
/// A stable counting sort by block and cell. Every point's block must exist; at most 2^31 - 1 points.
mn_status mn_point_sort_run(mn_point_sort *sort, const mn_blocks *blocks, mn_points points);
mn_sorted_points mn_point_sort_result(const mn_point_sort *sort);

#ifdef __cplusplus
}
#endif
#endif
