// SPDX-License-Identifier: Apache-2.0
//
// A mesh as a region of space, negative inside whichever way its triangles face, and what is painted on it at
// the nearest point of its surface.
#ifndef MENISCUS_TRIMESH_MESH_REGION_H
#define MENISCUS_TRIMESH_MESH_REGION_H

#include "meniscus/collider.h"
#include "trimesh/triangles.h"

/// Zero-initialised is none. Must stay where it is while `region` is used, which points to it.
typedef struct mn_mesh_region {
    mn_triangles *mesh; ///< owned; NULL: there is none
    double facing;      ///< -1 when its triangles face in
    double volume;      ///< m^3; negative when it is not known, because the mesh is open
    mn_region region;
} mn_mesh_region;

/// The region of a closed mesh, which it then owns.
void mn_mesh_region_take(mn_mesh_region *body, mn_triangles *mesh);
/// The region of an open mesh, which it then owns: inside is where the mesh winds around a point by more than
/// a half. False, with the mesh left to the caller, when that is hardly anywhere, as for a sheet.
bool mn_mesh_region_take_open(mn_mesh_region *body, mn_triangles *mesh);
void mn_mesh_region_free(mn_mesh_region *body);

/// The region of a level set, which is borrowed and must outlive it.
mn_region mn_level_set_region(const mn_volume *level_set);

/// A vector of the geometry's points at a point of the mesh that was made from it, blended over its triangle.
mn_vec3 mn_mesh_point_vec3(const mn_mesh_point *at, const mn_attribute *vectors);

/// The same at the nearest points of the mesh, one for each position.
void mn_mesh_paint_vec3(const mn_triangles *mesh, const mn_attribute *vectors, int64_t count,
                        const mn_vec3 *positions, mn_vec3 *painted);

#endif
