// SPDX-License-Identifier: Apache-2.0
//
// Inside of mn_neighbours: sorted copies of the points, and the runs of them that a search goes through.
#ifndef MENISCUS_SPACE_NEIGHBOURS_STATE_H
#define MENISCUS_SPACE_NEIGHBOURS_STATE_H

#include "base/parallel.h"
#include "base/simd.h"
#include "space/block_set.h"
#include "space/neighbours.h"

/// What one chunk of queries has found, before it is known where that goes.
enum { SLOT_COUNT = 64 };
typedef struct neighbour_slot {
    MN_ARRAY(int32_t) found;
    int64_t first_row, end_row;
} neighbour_slot;

struct mn_neighbours {
    mn_context *ctx;
    mn_blocks *blocks;
    mn_point_sort *sort;
    mn_block_table table;
    const int32_t *order, *cell_start;
    int32_t count;
    mn_ivec3 low, high; ///< the blocks' bounds
    /// Sorted positions, with RUN_PAD more at the end so that four at a time may be read.
    MN_ARRAY(double) x;
    MN_ARRAY(double) y;
    MN_ARRAY(double) z;
    MN_ARRAY(int64_t) start; ///< of the table
    MN_ARRAY(int32_t) found;
    neighbour_slot slots[SLOT_COUNT];
    int32_t places[256][8]; ///< for each mask of eight: which of them are set, the lowest first
};

enum { RUN_PAD = 4, RUN_MAX = 96 };

/// Sorted points [begin, end).
typedef struct point_run {
    int32_t begin, end;
} point_run;

/// The cells of a box, visited block by block: runs of points along z.
typedef struct run_walk {
    const mn_neighbours *n;
    mn_ivec3 low, high; ///< cells, inclusive
    mn_ivec3 block;     ///< where the walk stands
    int32_t next; ///< when the box has more places for blocks than there are: the block to look at; else -1
    bool done;
} run_walk;

static inline int32_t clamp_to(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/// floor(x) kept within what the grid can hold.
static inline int32_t cell_floor(double x)
{
    return x > -CELL_MAX ? x < CELL_MAX ? floor_to_int(x) : (int32_t)CELL_MAX : -(int32_t)CELL_MAX;
}

/// The cells that hold points nearer than `radius`, clipped to the blocks there are.
static inline run_walk walk_begin(const mn_neighbours *n, mn_vec3 at, double radius)
{
    const mn_vec3 u = mn_scale(n->table.inverse_dx, mn_sub(at, n->table.origin));
    const double r = radius * n->table.inverse_dx;
    run_walk w = {.n = n};
    w.low = mn_iv3(clamp_to(cell_floor(u.x - r), 4 * n->low.x, 4 * n->high.x + 4),
                   clamp_to(cell_floor(u.y - r), 4 * n->low.y, 4 * n->high.y + 4),
                   clamp_to(cell_floor(u.z - r), 4 * n->low.z, 4 * n->high.z + 4));
    w.high = mn_iv3(clamp_to(cell_floor(u.x + r), 4 * n->low.x - 1, 4 * n->high.x + 3),
                    clamp_to(cell_floor(u.y + r), 4 * n->low.y - 1, 4 * n->high.y + 3),
                    clamp_to(cell_floor(u.z + r), 4 * n->low.z - 1, 4 * n->high.z + 3));
    w.block = block_of_cell(w.low);
    w.done = n->count == 0 || w.low.x > w.high.x || w.low.y > w.high.y || w.low.z > w.high.z;
    const double places = ((w.high.x >> 2) - (w.low.x >> 2) + 1.0) *
                          ((w.high.y >> 2) - (w.low.y >> 2) + 1.0) * ((w.high.z >> 2) - (w.low.z >> 2) + 1.0);
    w.next = places > n->table.count ? 0 : -1;
    return w;
}

/// The next block of the walk that exists, -1 at the end: lexicographic, z fastest.
static inline int32_t walk_block(run_walk *w, mn_ivec3 *coord)
{
    const mn_block_table *table = &w->n->table;
    while (w->next >= 0) {
        if (w->next == table->count) return -1;
        const mn_ivec3 c = *coord = table->coords[w->next++];
        if (c.x >= w->low.x >> 2 && c.y >= w->low.y >> 2 && c.z >= w->low.z >> 2 && c.x <= w->high.x >> 2 &&
            c.y <= w->high.y >> 2 && c.z <= w->high.z >> 2)
            return w->next - 1;
    }
    while (!w->done) {
        *coord = w->block;
        if (++w->block.z > w->high.z >> 2) {
            w->block.z = w->low.z >> 2;
            if (++w->block.y > w->high.y >> 2) {
                w->block.y = w->low.y >> 2;
                w->done = ++w->block.x > w->high.x >> 2;
            }
        }
        const int32_t block = mn_blocks_find(w->n->blocks, *coord);
        if (block >= 0) return block;
    }
    return -1;
}

/// The runs of some more blocks; 0 at the end of the walk.
static inline int32_t walk_next(run_walk *w, point_run runs[RUN_MAX])
{
    int32_t count = 0;
    if (w->done) return 0;
    while (count + 16 <= RUN_MAX) {
        mn_ivec3 coord;
        const int32_t block = walk_block(w, &coord);
        if (block < 0) {
            w->done = true;
            break;
        }
        const mn_ivec3 first = {4 * coord.x, 4 * coord.y, 4 * coord.z};
        const mn_ivec3 low = {clamp_to(w->low.x - first.x, 0, 3), clamp_to(w->low.y - first.y, 0, 3),
                              clamp_to(w->low.z - first.z, 0, 3)};
        const mn_ivec3 high = {clamp_to(w->high.x - first.x, 0, 3), clamp_to(w->high.y - first.y, 0, 3),
                               clamp_to(w->high.z - first.z, 0, 3)};
        for (int32_t x = low.x; x <= high.x; x++)
            for (int32_t y = low.y; y <= high.y; y++) {
                const int32_t *start = w->n->cell_start + block * MN_BLOCK_CELLS + 16 * x + 4 * y;
                if (start[low.z] < start[high.z + 1])
                    runs[count++] = (point_run){start[low.z], start[high.z + 1]};
            }
    }
    return count;
}

#endif
