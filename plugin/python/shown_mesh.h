// SPDX-License-Identifier: Apache-2.0
//
// A geometry as flat arrays for hosts that show meshes frame by frame: faces of polygons and of the skin of
// tetrahedra, edges of polylines, and the points that they use. Python never touches a number on the way.
#ifndef MENISCUS_PLUGIN_PYTHON_SHOWN_MESH_H
#define MENISCUS_PLUGIN_PYTHON_SHOWN_MESH_H

#include "meniscus/geo.h"

/// The arrays belong to the mesh they came with.
typedef struct mn_shown_arrays {
    int64_t vertex_count, corner_count, face_count, edge_count;
    int64_t line_count;          ///< of the edges, the first that are those of polylines
    const float *positions;      ///< three for each vertex
    const int32_t *picks;        ///< the point that a vertex is; NULL: all points, in order
    const int32_t *corners;      ///< vertices of the faces, one after the other
    const int32_t *corner_edges; ///< the edge from each corner to the next one of its face
    const int32_t *starts;       ///< the first corner of each face
    const int32_t *totals;       ///< how many corners it has
    const int32_t *edges;        ///< two vertices for each edge
    int32_t is_sound;            ///< all faces have three or four corners and none twice
    uint64_t topology;           ///< equal where faces, edges and picks are
} mn_shown_arrays;

typedef struct mn_shown_mesh mn_shown_mesh;

MN_API mn_status mn_shown_mesh_create(mn_context *ctx, const mn_geo *geo, mn_shown_mesh **mesh);
MN_API void mn_shown_mesh_arrays(const mn_shown_mesh *mesh, mn_shown_arrays *arrays);
/// `size` floats of each vertex out of those of each point, times a factor.
MN_API void mn_shown_mesh_pick(const mn_shown_mesh *mesh, const float *values, int32_t size, float factor,
                               float *picked);
MN_API void mn_shown_mesh_free(mn_shown_mesh *mesh);

#endif
