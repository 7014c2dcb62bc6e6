// SPDX-License-Identifier: Apache-2.0
//
// The surface phi = value of a field on sparse blocks, as a closed triangle mesh.
//
//   - Watertight whatever the field: every edge belongs to exactly two triangles, which run along it in
//     opposite directions; every vertex is used; none is there twice. Nodes of blocks that do not exist are
//     outside, and so are the nodes next to them: a body that reaches the end of the grid is closed there.
//   - Triangles are counter-clockwise seen from outside (phi > value): their normals point along grad phi.
//   - A node with phi = value exactly is outside, and vertices keep a hundredth of an edge away from nodes,
//     so no triangle is degenerate.
//   - Numbers follow from the field alone, not from the number of workers.
#ifndef MENISCUS_MESH_ISOSURFACE_H
#define MENISCUS_MESH_ISOSURFACE_H

#include "space/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_iso_method {
    MN_ISO_TETRAHEDRA, ///< six tetrahedra a cell: about 9 triangles per dx^2; what volumes and areas are
                       ///< measured by
    MN_ISO_CUBES       ///< marching cubes: about 2 well-shaped triangles per dx^2, for rendering
} mn_iso_method;

typedef struct mn_isosurface mn_isosurface;

/// Valid until the next run.
typedef struct mn_iso_mesh {
    int32_t vertex_count, triangle_count;
    const mn_vec3 *positions;      ///< m
    const int32_t (*triangles)[3]; ///< vertices
    const int32_t *triangle_cell;  ///< block * 64 + cell it lies in, rising
    /// The two nodes (block * 64 + cell, -1 in a block that does not exist) that a vertex lies between, and
    /// how far from the first to the second, in (0, 1): to interpolate what lives on nodes. A vertex inside
    /// of a cube is halfway between two opposite corners.
    const int32_t (*vertex_nodes)[2];
    const double *vertex_fractions;
} mn_iso_mesh;

mn_status mn_isosurface_create(mn_context *ctx, mn_isosurface **iso);
void mn_isosurface_free(mn_isosurface *iso);
/// phi holds one value for each node of the blocks; one that is not finite counts as outside.
mn_status mn_isosurface_run(mn_isosurface *iso, const mn_blocks *blocks, const double *phi, double value,
                            mn_iso_method method);
mn_iso_mesh mn_isosurface_mesh(const mn_isosurface *iso);

#ifdef __cplusplus
}
#endif
#endif
