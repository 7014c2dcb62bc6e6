// SPDX-License-Identifier: Apache-2.0
//
// The background grid of a flow: sparse blocks inside a box, with constant-time lookup of any cell.
//
//   - Positions inside the room are in cells: X = (x - origin) / dx. Cell (i, j, k) covers [i, i+1) x ...;
//     its centre carries the coefficients of the quadratic B-splines, its lower corner is pressure node (i,
//     j, k).
//   - The cells of the box are 1 .. cells[axis]; layers 0 and cells + 1 carry the splines that reach in from
//     outside. Nodes of the box are 1 .. cells + 1.
//   - A quad is four fields side by side, so that one vector load fetches all of them at a cell.
#ifndef MENISCUS_FLOW_GRID_H
#define MENISCUS_FLOW_GRID_H

#include "base/parallel.h"
#include "base/simd.h"
#include "meniscus/array.h"
#include "space/blocks.h"

#include <string.h>

typedef MN_ARRAY(double) mn_flow_values;
typedef MN_ARRAY(mn_double4) mn_flow_quads;
typedef MN_ARRAY(mn_ivec3) mn_flow_coords;

/// Resizes an array whose contents do not matter, with a sixteenth to spare when it grows: a liquid that
/// grows by a block takes no half more of everything.
#define MN_FLOW_ROOM(ctx, array, count_)                                                                     \
    mn_flow_room((ctx), &(array)->data, &(array)->count, &(array)->capacity, sizeof *(array)->data, (count_))
mn_status mn_flow_room(mn_context *ctx, void *data, int64_t *count, int64_t *capacity, size_t element_size,
                       int64_t new_count);

enum { MN_FLOW_GRAIN = 16 }; ///< blocks of a chunk of parallel work

typedef struct mn_flow_grid {
    mn_context *ctx;
    mn_blocks *blocks;
    mn_block_table table;
    mn_vec3 origin;   ///< m, lower corner of cell (0, 0, 0)
    double dx;        ///< m
    int32_t cells[3]; ///< of the box
    int32_t sides[3]; ///< blocks along each axis of `index`
    MN_ARRAY(int32_t) index;
    MN_ARRAY(int32_t) walk; ///< blocks in the order that loops take them, see mn_flow_grid_set()
    mn_flow_coords coords;  ///< scratch of rebuilds
} mn_flow_grid;

mn_status mn_flow_grid_create(mn_context *ctx, mn_vec3 box_min, double dx, const int32_t cells[3],
                              mn_flow_grid *grid);
void mn_flow_grid_free(mn_flow_grid *grid);
/// All blocks of the box.
mn_status mn_flow_grid_fill(mn_flow_grid *grid);
/// These blocks, as far as they lie in the box.
mn_status mn_flow_grid_set(mn_flow_grid *grid, int64_t count, const mn_ivec3 *coords);

MN_INLINE int64_t mn_flow_size(const mn_flow_grid *grid)
{
    return (int64_t)grid->table.count * MN_BLOCK_CELLS;
}

/// The block of coordinates (x, y, z), -1 when there is none.
MN_INLINE int32_t mn_flow_block_at(const mn_flow_grid *grid, int32_t x, int32_t y, int32_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= grid->sides[0] || y >= grid->sides[1] || z >= grid->sides[2])
        return -1;
    return grid->index.data[((int64_t)x * grid->sides[1] + y) * grid->sides[2] + z];
}

/// block * 64 + cell, -1 when its block does not exist.
MN_INLINE int32_t mn_flow_cell_at(const mn_flow_grid *grid, int32_t x, int32_t y, int32_t z)
{
    const int32_t block = mn_flow_block_at(grid, x >> 2, y >> 2, z >> 2);
    return block < 0 ? -1 : block * MN_BLOCK_CELLS + 16 * (x & 3) + 4 * (y & 3) + (z & 3);
}

/// Whether a cell is of the box, not of what surrounds it.
MN_INLINE bool mn_flow_in_box(const mn_flow_grid *grid, mn_ivec3 c)
{
    const int32_t *n = grid->cells;
    return c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= n[0] && c.y <= n[1] && c.z <= n[2];
}

MN_INLINE mn_vec3 mn_flow_from_world(const mn_flow_grid *grid, mn_vec3 x)
{
    return mn_scale(1.0 / grid->dx, mn_sub(x, grid->origin));
}
MN_INLINE mn_vec3 mn_flow_to_world(const mn_flow_grid *grid, mn_vec3 x)
{
    return mn_axpy(grid->origin, grid->dx, x);
}

/// Copies values at offsets low .. low + n - 1 of the block's first cell, along each axis, into
/// tile[n][n][stride]; zero where no block exists. -4 < low <= 0, 4 <= low + n <= 8. With `low` and `n` known
/// to the compiler a row is three moves.
MN_INLINE void mn_flow_load_tile(const mn_flow_grid *grid, int32_t block, const double *values, int32_t low,
                                 int32_t n, int32_t stride, double *tile)
{
    static const double zeros[MN_BLOCK_CELLS] = {0};
    const int32_t *neighbours = grid->table.neighbours[block];
    const double *source[27];
    for (int32_t s = 0; s < 27; s++)
        source[s] = neighbours[s] < 0 ? zeros : values + (int64_t)neighbours[s] * MN_BLOCK_CELLS;
    const size_t before = (size_t)-low, after = (size_t)(n + low - 4);
    for (int32_t x = 0; x < n; x++)
        for (int32_t y = 0; y < n; y++) {
            const int32_t gx = low + x, gy = low + y;
            const double *const *from = source + 9 * ((gx + 4) >> 2) + 3 * ((gy + 4) >> 2);
            const int32_t row = 16 * (gx & 3) + 4 * (gy & 3);
            double *to = tile + (x * n + y) * stride;
            if (before > 0) memcpy(to, from[0] + row + 4 - before, before * sizeof *to);
            memcpy(to + before, from[1] + row, 4 * sizeof *to);
            if (after > 0) memcpy(to + before + 4, from[2] + row, after * sizeof *to);
        }
}

/// A loop over blocks.
typedef void mn_flow_block_fn(void *user, int32_t block);
mn_status mn_flow_for_blocks(const mn_flow_grid *grid, mn_flow_block_fn *fn, void *user);
/// The same in eight colours: no two blocks that run at once reach a common cell within -2 .. +2.
mn_status mn_flow_for_coloured_blocks(const mn_flow_grid *grid, mn_flow_block_fn *fn, void *user);

#endif
