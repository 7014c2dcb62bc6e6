// SPDX-License-Identifier: Apache-2.0
//
// A quantity of the cells as blocks of voxels, for volumes.
#ifndef MENISCUS_FLOW_CELL_FIELD_H
#define MENISCUS_FLOW_CELL_FIELD_H

#include "meniscus/flow.h"

typedef struct mn_flow_cell_field {
    mn_volume_kind kind;
    int32_t components;
    double background;       ///< what empty voxels have; of a level set its band, m
    const double *values[3]; ///< each component of the first cell; NULL: 1 where the weight is above 0, and 0
                             ///< without a weight
    int32_t stride;          ///< from cell to cell
    const double *weight;    ///< divides where it is above 0; NULL: no division
    double scale;
} mn_flow_cell_field;

/// Writes the blocks that are not all background, 64 voxels with x fastest each, and the voxel that each
/// begins at in the world's lattice. `origins` and `values` have room for all blocks of the view. Returns how
/// many.
int64_t mn_flow_cell_blocks(const mn_flow_view *view, const mn_flow_cell_field *field, int32_t (*origins)[3],
                            double *values);

#endif
