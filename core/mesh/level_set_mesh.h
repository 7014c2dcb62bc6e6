// SPDX-License-Identifier: Apache-2.0
//
// A level set as triangles, and points that stay on it while it moves.
#ifndef MENISCUS_MESH_LEVEL_SET_MESH_H
#define MENISCUS_MESH_LEVEL_SET_MESH_H

#include "meniscus/array.h"
#include "meniscus/geo.h"

typedef struct mn_level_set_mesh {
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(int32_t) corners; ///< three for each triangle, counter-clockwise from outside
} mn_level_set_mesh;

void mn_level_set_mesh_free(mn_context *ctx, mn_level_set_mesh *mesh);
/// The zero of a level set by marching cubes of one voxel, closed at the end of its band; no edge is shorter
/// than a fifth of a voxel. Fails on a surface of more than some 100 million voxels.
mn_status mn_level_set_mesh_make(mn_context *ctx, mn_volume level_set, mn_level_set_mesh *mesh);
/// The point of the zero that is nearest to x, along the gradient. False where x lies beyond the band.
bool mn_level_set_project(mn_volume level_set, mn_vec3 *x);

#endif
