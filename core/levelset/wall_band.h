// SPDX-License-Identifier: Apache-2.0
//
// What a collider made of polygons has in the voxels near its surface: distances to walls of some thickness,
// and velocities. The blocks are those of levelset/band.h.
#ifndef MENISCUS_LEVELSET_WALL_BAND_H
#define MENISCUS_LEVELSET_WALL_BAND_H

#include "levelset/band.h"
#include "trimesh/triangles.h"

typedef struct mn_wall_band {
    const mn_origin_array *origins;
    double dx, width;          ///< m, of a voxel and of the band
    const mn_triangles *mesh;  ///< all polygons; NULL: there are none
    const mn_triangles *walls; ///< those that are walls
    double half_thickness;     ///< m, of the walls
    mn_volume solid;           ///< level set of what is solid beside them; {0}: nothing is
    mn_vec3 velocity;          ///< m/s, everywhere
    mn_volume vel;             ///< added to it; {0}: nothing
    const mn_attribute *v;     ///< of the points of `mesh`, added to it; NULL: nothing
} mn_wall_band;

/// One distance a voxel, clamped to the width; x runs fastest within a block.
mn_status mn_wall_band_distances(mn_context *ctx, const mn_wall_band *band, double *values);
/// Three numbers a voxel.
mn_status mn_wall_band_velocities(mn_context *ctx, const mn_wall_band *band, double *values);

#endif
