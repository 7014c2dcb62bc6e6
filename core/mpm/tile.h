// SPDX-License-Identifier: Apache-2.0
//
// The 6 x 6 x 6 nodes that the particles of one block reach, copied from or added to the sparse grid. A tile
// is 7 kB and lives in the first-level cache while its block is worked on.
#ifndef MENISCUS_MPM_TILE_H
#define MENISCUS_MPM_TILE_H

#include "base/simd.h"
#include "mpm/transfer.h"

enum { TILE_SIDE = 6, TILE_NODES = TILE_SIDE * TILE_SIDE * TILE_SIDE };

/// Four doubles that the compiler maps to whatever the processor has.
typedef double vec4 __attribute__((vector_size(32)));

typedef struct tile {
    vec4 node[TILE_NODES];
} tile;

MN_INLINE int32_t tile_index(int32_t x, int32_t y, int32_t z)
{
    return (x * TILE_SIDE + y) * TILE_SIDE + z;
}

/// First node in the tile of cell `cell` of the block.
MN_INLINE int32_t tile_of_cell(int32_t cell)
{
    return tile_index(cell >> 4, (cell >> 2) & 3, cell & 3);
}

/// Nodes of blocks that do not exist read as zero.
MN_INLINE void tile_load(tile *restrict t, const mn_block_table *table, int32_t block,
                         const mn_mpm_node *restrict nodes)
{
    const vec4 *grid = (const vec4 *)(const void *)nodes;
    for (int32_t x = 0; x < TILE_SIDE; x++)
        for (int32_t y = 0; y < TILE_SIDE; y++)
            for (int32_t part = 0; part < 2; part++) {
                vec4 *row = &t->node[tile_index(x, y, 4 * part)];
                const int32_t from = mn_block_reach(table, block, x, y, 4 * part);
                for (int32_t z = 0; z < 4 - 2 * part; z++) row[z] = from < 0 ? (vec4){0} : grid[from + z];
            }
}

/// Nodes of blocks that do not exist are dropped: the caller's blocks cover every particle's reach.
MN_INLINE void tile_add(const tile *restrict t, const mn_block_table *table, int32_t block,
                        mn_mpm_node *restrict nodes)
{
    vec4 *grid = (vec4 *)(void *)nodes;
    for (int32_t x = 0; x < TILE_SIDE; x++)
        for (int32_t y = 0; y < TILE_SIDE; y++)
            for (int32_t part = 0; part < 2; part++) {
                const vec4 *row = &t->node[tile_index(x, y, 4 * part)];
                const int32_t to = mn_block_reach(table, block, x, y, 4 * part);
                if (to < 0) continue;
                for (int32_t z = 0; z < 4 - 2 * part; z++) grid[to + z] += row[z];
            }
}

/// Weights of the three nodes at place t of a cell, and their derivatives times `per_h`.
MN_INLINE void tile_spline(double t, double per_h, double w[3], double g[3])
{
    g[0] = per_h * (t - 1.0);
    g[1] = per_h * (1.0 - 2.0 * t);
    g[2] = per_h * t;
    w[0] = 0.5 * (1.0 - t) * (1.0 - t);
    w[1] = 0.5 + t * (1.0 - t);
    w[2] = 0.5 * t * t;
}

typedef struct tile_weights {
    double w[3][3], g[3][3];
} tile_weights;

/// The columns of D x = sum x_i grad w_i^T over the 27 nodes that begin at `in`.
MN_INLINE void tile_gradient(const vec4 *restrict in, const tile_weights *s, vec4 column[3])
{
    column[0] = column[1] = column[2] = (vec4){0};
#pragma GCC unroll 3
    for (int32_t a = 0; a < 3; a++) {
        vec4 sum = {0}, along_y = {0}, along_z = {0};
#pragma GCC unroll 3
        for (int32_t b = 0; b < 3; b++) {
            const vec4 *row = in + tile_index(a, b, 0);
            const vec4 r = s->w[2][0] * row[0] + s->w[2][1] * row[1] + s->w[2][2] * row[2];
            sum += s->w[1][b] * r;
            along_y += s->g[1][b] * r;
            along_z += s->w[1][b] * (s->g[2][0] * row[0] + s->g[2][1] * row[1] + s->g[2][2] * row[2]);
        }
        column[0] += s->g[0][a] * sum;
        column[1] += s->w[0][a] * along_y;
        column[2] += s->w[0][a] * along_z;
    }
}

/// First node of a block, in cells from the table's origin.
MN_INLINE mn_vec3 tile_base(const mn_block_table *table, int32_t block, int32_t cell)
{
    const mn_ivec3 c = mn_block_cell(table, block, cell);
    return mn_v3(c.x, c.y, c.z);
}

#endif
