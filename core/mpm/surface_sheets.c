// SPDX-License-Identifier: Apache-2.0
//
// Sheets and threads of liquid that smoothing loses, put back into its surface (thin_parts.c): for pictures,
// and for surface tension where the def asks for `sheets`.
//
// Without them a sheet thinner than a cell has no surface, so nothing draws its edge to a rim and nothing
// holds it together; where it joins thicker liquid the surface ends in an edge, which draws back: a hole
// opens in liquid that is whole.
//
// The edge of a wedge on a wall is no thin part: put back particle by particle it would be ragged. It counts
// up to a cell high, since the foot of a drop that draws back is steeper than the wedge at rest.
#include "mpm/solver.h"

#include "meniscus/parallel.h"
#include "mpm/boundary.h"

enum { BLOCK_GRAIN = 16 };

static mn_status measure_blocks(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    for (int64_t b = range.begin; b < range.end; b++) {
        const int32_t *start = mpm->cell_start + b * MN_BLOCK_CELLS;
        const mn_collider *collider;
        const bool near =
            start[MN_BLOCK_CELLS] > start[0] && mn_mpm_solids_near_block(mpm, (int32_t)b, &collider);
        for (int32_t i = start[0]; i < start[MN_BLOCK_CELLS]; i++) {
            const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
            mpm->thin_volume.data[i] = mpm->materials.data[i].volume;
            mpm->thin_edge.data[i] = 0;
            if (!near) continue;
            const double distance = mn_mpm_solid_distance(&mpm->def, collider, mpm->frame_begin, x);
            mpm->thin_edge.data[i] = mn_mpm_wedge_edge(mpm, 0.5 * distance, x);
        }
    }
    return MN_OK;
}

mn_status mn_mpm_add_sheets(mn_mpm *mpm)
{
    const mn_points points = mn_mpm_points(mpm->particles.data, mpm->particles.count);
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->thin_volume, points.count));
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->thin_edge, points.count));
    MN_TRY(mn_parallel_for(mpm->ctx, mpm->table.count, BLOCK_GRAIN, measure_blocks, mpm));
    return mn_thin_parts_add(mpm->thin_parts, mpm->surface, points, mpm->thin_volume.data,
                             mpm->thin_edge.data);
}
