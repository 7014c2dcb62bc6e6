// SPDX-License-Identifier: Apache-2.0
//
// Inside of mn_level_set, shared by its stages, and the tile that stencils work on.
#ifndef MENISCUS_LEVELSET_LEVEL_SET_STATE_H
#define MENISCUS_LEVELSET_LEVEL_SET_STATE_H

#include "base/parallel.h"
#include "base/simd.h"
#include "levelset/level_set.h"
#include "meniscus/array.h"
#include "space/block_masks.h"

enum {
    ACTIVE_GRAIN = 16,    ///< blocks per chunk of a stencil loop
    SPHERE_CLASS_MAX = 24 ///< octaves of radii
};

/// Spheres whose radii lie within a factor of two, sorted by cells of 2^level dx, so that every sphere
/// reaches at most four cells far.
typedef struct sphere_class {
    mn_blocks *cells;
    mn_point_sort *sort;
    mn_block_table table;
    const int32_t *cell_start;
    MN_ARRAY(mn_vec3) positions;    ///< of this class, unsorted; unused when there is one class only
    MN_ARRAY(double) sphere_radius; ///< the same
    /// Sorted, in units of dx from the grid's origin.
    MN_ARRAY(double) x;
    MN_ARRAY(double) y;
    MN_ARRAY(double) z;
    MN_ARRAY(double) r;
    int64_t count;
    double radius; ///< the largest, in units of dx
    bool equal;    ///< all radii are the same
    int32_t level;
    MN_ARRAY(uint64_t) needed; ///< bit per child block of each block of cells: some sphere's band reaches it
} sphere_class;

/// What the cells of a block, or all cells, add to a body, in units of dx.
typedef struct body_sum {
    double volume, area, rate; ///< rate: growth of the volume with phi - s
    double wetted;             ///< area in contact with the solid
    int32_t body;              ///< -1: none; OVERFULL: the block has more bodies than fit
} body_sum;
/// The least phi (m) of a body at the corners of a block's cells, before its shift: what decides whether a
/// block without any cell inside must be measured again.
typedef struct body_reach {
    double lowest;
    int32_t body; ///< -1: none; OVERFULL: the block has more bodies than fit
} body_reach;
enum { BLOCK_REACHES = 8 };
enum { BLOCK_BODIES = 3, OVERFULL = -2, MANY_BODIES = -2 };

struct mn_level_set {
    mn_context *ctx;
    mn_blocks *blocks;
    mn_block_table table;
    double band; ///< m
    MN_ARRAY(double) phi;
    MN_ARRAY(double) other;    ///< the second buffer of stencil loops
    MN_ARRAY(double) third;    ///< of redistance.c
    MN_ARRAY(uint64_t) inside; ///< of each block: bit per node, phi < 0
    MN_ARRAY(uint8_t) deep;    ///< of each block
    MN_ARRAY(int32_t) active;  ///< blocks that are not deep
    MN_ARRAY(int32_t) node_body;
    MN_ARRAY(mn_body) bodies;
    bool labelled;
    // level_set_solid.c
    bool has_solid;
    MN_ARRAY(double) solid;       ///< m, distance from the solid at the nodes of cut blocks
    MN_ARRAY(uint8_t) cut;        ///< of each block: some cell of it may reach into the solid
    MN_ARRAY(double) open;        ///< of each deep block: cells that are not solid
    MN_ARRAY(double) deep_wetted; ///< of each deep block: the solid's area in it, in faces of a cell
    // union_of_spheres.c
    sphere_class classes[SPHERE_CLASS_MAX];
    int32_t class_count;
    MN_ARRAY(mn_ivec3) wanted;  ///< coordinates of the blocks to make
    MN_ARRAY(uint64_t) outside; ///< of each block: nodes that no sphere covers
    // redistance.c
    MN_ARRAY(uint64_t) near; ///< of each block: bit per node whose distance is known from the crossing itself
    // bodies.c
    MN_ARRAY(uint64_t) pieces;     ///< masks of the connected pieces of each block, one after the other
    MN_ARRAY(int32_t) piece_start; ///< [block_count + 1]
    MN_ARRAY(int32_t) piece_body;  ///< union-find parent, then body
    MN_ARRAY(int32_t) spread;      ///< the second buffer of labels
    MN_ARRAY(int32_t) block_body;  ///< see find_block_bodies
    // body_volume.c
    MN_ARRAY(body_sum) block_sums; ///< BLOCK_BODIES of each active block
    MN_ARRAY(body_reach) reaches;  ///< BLOCK_REACHES of each active block
    MN_ARRAY(body_sum) measured;   ///< of each body
    MN_ARRAY(double) trial;        ///< the shift of each body under test
    MN_ARRAY(double) bracket;      ///< two for each body
    MN_ARRAY(uint8_t) done;        ///< of each body: its shift is found
};

/// Values at the nodes of a block and one ring around it: node (x, y, z), each in [-1, 4], is
/// at[x + 1][y + 1][z + 1].
typedef struct tile {
    double at[6][6][6];
} tile;

MN_INLINE void tile_load(const mn_block_table *table, int32_t block, const double *value, double missing,
                         tile *t)
{
    const int32_t *row = table->neighbours[block];
    const double *own = value + (int64_t)block * MN_BLOCK_CELLS;
    for (int32_t x = -1; x <= 4; x++)
        for (int32_t y = -1; y <= 4; y++) {
            double *to = t->at[x + 1][y + 1] + 1;
            const int32_t side = 9 * ((x + 4) >> 2) + 3 * ((y + 4) >> 2);
            const int32_t offset = 16 * (x & 3) + 4 * (y & 3);
            const int32_t low = row[side], mid = row[side + 1], high = row[side + 2];
            const double *from = mid < 0 ? own : value + (int64_t)mid * MN_BLOCK_CELLS;
            to[-1] = low < 0 ? missing : value[(int64_t)low * MN_BLOCK_CELLS + offset + 3];
            for (int32_t z = 0; z < 4; z++) to[z] = mid < 0 ? missing : from[offset + z];
            to[4] = high < 0 ? missing : value[(int64_t)high * MN_BLOCK_CELLS + offset];
        }
}

/// The same without the edges and corners of the ring, which a stencil along the axes does not read.
MN_INLINE void tile_load_faces(const mn_block_table *table, int32_t block, const double *value,
                               double missing, tile *t)
{
    const int32_t *row = table->neighbours[block];
    const double *own = value + (int64_t)block * MN_BLOCK_CELLS;
    for (int32_t i = 0; i < 4; i++)
        for (int32_t j = 0; j < 4; j++)
            for (int32_t k = 0; k < 4; k++) t->at[i + 1][j + 1][k + 1] = own[16 * i + 4 * j + k];
    const int32_t sides[6] = {row[4], row[22], row[10], row[16], row[12], row[14]};
    const double *from[6];
    for (int32_t n = 0; n < 6; n++)
        from[n] = sides[n] < 0 ? NULL : value + (int64_t)sides[n] * MN_BLOCK_CELLS;
    for (int32_t i = 0; i < 4; i++)
        for (int32_t j = 0; j < 4; j++) {
            t->at[0][i + 1][j + 1] = from[0] ? from[0][48 + 4 * i + j] : missing;
            t->at[5][i + 1][j + 1] = from[1] ? from[1][4 * i + j] : missing;
            t->at[i + 1][0][j + 1] = from[2] ? from[2][16 * i + 12 + j] : missing;
            t->at[i + 1][5][j + 1] = from[3] ? from[3][16 * i + j] : missing;
            t->at[i + 1][j + 1][0] = from[4] ? from[4][16 * i + 4 * j + 3] : missing;
            t->at[i + 1][j + 1][5] = from[5] ? from[5][16 * i + 4 * j] : missing;
        }
}

/// Recomputes the masks of phi < 0 of every active block (deep ones are all inside).
mn_status mn_level_set_find_inside(mn_level_set *set);
/// Sizes phi and the lists for the blocks as they are now; labels are forgotten.
mn_status mn_level_set_reset(mn_level_set *set, double band);
/// phi becomes what `other` holds.
void mn_level_set_swap(mn_level_set *set);
/// Lists the blocks whose `deep` byte is not set.
mn_status mn_level_set_list_active(mn_level_set *set);

#endif
