// SPDX-License-Identifier: Apache-2.0
//
// The particles of the state around a place: those of the 27 cells in and beside which it lies, which has
// all that are within a cell of it.
//
//   const mn_mpm_around near = mn_mpm_look_around(mpm, x);
//   for (int32_t n = 0; n < near.count; n++)
//       for (int32_t i = near.begin[n]; i < near.end[n]; i++) ...
#ifndef MENISCUS_MPM_CELL_NEIGHBOURHOOD_H
#define MENISCUS_MPM_CELL_NEIGHBOURHOOD_H

#include "mpm/state.h"

/// Rows of particles, in the order of the cells.
typedef struct mn_mpm_around {
    int32_t count;
    int32_t begin[27], end[27];
} mn_mpm_around;

static inline mn_mpm_around mn_mpm_look_around(const mn_mpm *mpm, mn_vec3 x)
{
    mn_mpm_around around = {.count = 0};
    const mn_vec3 place = mn_scale(1 / mpm->grid.table.dx, mn_sub(x, mpm->grid.table.origin));
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell);
    for (int32_t n = 0; at >= 0 && n < 27; n++) {
        const int32_t c = mn_block_reach(&mpm->grid.table, at / MN_BLOCK_CELLS, (cell.x & 3) + n / 9 - 1,
                                         (cell.y & 3) + n / 3 % 3 - 1, (cell.z & 3) + n % 3 - 1);
        if (c < 0 || mpm->grid.cell_start[c] == mpm->grid.cell_start[c + 1]) continue;
        around.begin[around.count] = mpm->grid.cell_start[c];
        around.end[around.count++] = mpm->grid.cell_start[c + 1];
    }
    return around;
}

#endif
