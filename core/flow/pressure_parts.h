// SPDX-License-Identifier: Apache-2.0
//
// What the files of the pressure equation share (pressure.c, pressure_stencils.c, pressure_mass.c,
// pressure_apply.c).
#ifndef MENISCUS_FLOW_PRESSURE_PARTS_H
#define MENISCUS_FLOW_PRESSURE_PARTS_H

#include "flow/pressure.h"

typedef double mn_flow_row __attribute__((vector_size(32), aligned(8)));

static const double mn_flow_smallest_mass = 1e-9; ///< of a cell; splines below it stay out

/// int over one cell of chi_e N_o: spline offset o = -1, 0, 1 from the cell, node e = 0, 1; and int N_o.
static const double mn_flow_cell_mass[3][2] = {{1.0 / 8, 1.0 / 24}, {1.0 / 3, 1.0 / 3}, {1.0 / 24, 1.0 / 8}};
static const double mn_flow_cell_lump[3] = {1.0 / 6, 2.0 / 3, 1.0 / 6};

MN_INLINE bool mn_flow_load_corners(const mn_flow_grid *grid, const double *values, int32_t block, int32_t x,
                                    int32_t y, int32_t z, double corners[8])
{
    for (int32_t k = 0; k < 8; k++) {
        const int32_t at = mn_block_reach(&grid->table, block, x + (k >> 2), y + (k >> 1 & 1), z + (k & 1));
        if (at < 0) return false;
        corners[k] = values[at];
    }
    return true;
}

/// The distances at the corners of a cell; false when one of them is not there.
MN_INLINE bool mn_flow_load_region(const mn_flow_grid *grid, const mn_flow_region *region, int32_t block,
                                   int32_t cell, double surface[8], double solid[8])
{
    const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
    if (region->surface && !mn_flow_load_corners(grid, region->surface, block, x, y, z, surface))
        return false;
    return !region->solid || mn_flow_load_corners(grid, region->solid, block, x, y, z, solid);
}

/// A loop over the blocks of one matrix.
typedef struct mn_flow_matrix_job {
    mn_flow_pressure *s;
    const mn_flow_region *region; ///< while it is built
    const double *p;              ///< while it is applied
    double *y;
} mn_flow_matrix_job;

/// Zero velocities where nothing takes part, in v and t.
mn_status mn_flow_pressure_clear(mn_flow_pressure *pressure);
/// Masses and stencils of the irregular splines, and the fractions of cut cells.
mn_status mn_flow_build_stencils(mn_flow_pressure *pressure, const mn_flow_region *region);
/// What neighbours along an axis give each other in the correction of masses.
void mn_flow_build_spread(int32_t cells, mn_flow_axis *axis);
/// v = t + M_l^-1 L t; irregular splines go to w, with zero in v.
mn_status mn_flow_correct(mn_flow_pressure *pressure);
/// Velocities of irregular splines stand in w while the passes of regular ones run, zero in v; and back.
void mn_flow_put_back_block(void *job, int32_t block);

#endif
