// SPDX-License-Identifier: Apache-2.0
//
// The connected parts of a geometry's polygons, meshes of some of them, and which of them are walls.
#ifndef MENISCUS_TRIMESH_MESH_PARTS_H
#define MENISCUS_TRIMESH_MESH_PARTS_H

#include "meniscus/array.h"
#include "trimesh/triangles.h"

/// Zero-initialised is none.
typedef struct mn_mesh_parts {
    int32_t count;
    MN_ARRAY(int32_t) part; ///< of each point of the geometry; -1: of no polygon
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(int32_t) triangles; ///< three points each: polygons as fans
    MN_ARRAY(int32_t) picked;    ///< scratch
} mn_mesh_parts;

/// `mesh` was made from `geo`. The parts are to be freed, also after a failure.
mn_status mn_mesh_parts_find(mn_context *ctx, const mn_geo *geo, const mn_triangles *mesh,
                             mn_mesh_parts *parts);
void mn_mesh_parts_free(mn_context *ctx, mn_mesh_parts *parts);

/// A mesh of the triangles of all parts i with of[i] == which.
mn_status mn_mesh_parts_pick(mn_context *ctx, mn_mesh_parts *parts, const int32_t *of, int32_t which,
                             mn_triangles **mesh);

/// wall[i] is 1 where part i has no inside that a grid of `dx` can hold: it is open, or a plate.
mn_status mn_mesh_parts_walls(mn_context *ctx, mn_mesh_parts *parts, double dx, int32_t *wall);

#endif
