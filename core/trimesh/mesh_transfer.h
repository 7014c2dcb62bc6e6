// SPDX-License-Identifier: Apache-2.0
//
// Attributes of polygons, handed on to points near them.
#ifndef MENISCUS_TRIMESH_MESH_TRANSFER_H
#define MENISCUS_TRIMESH_MESH_TRANSFER_H

#include "meniscus/geo.h"
#include "trimesh/triangles.h"

/// Whether an attribute is handed on.
typedef bool mn_transfer_wants(const mn_attribute *attribute);

/// Gives the points of `geo`, which are at `positions`, the point attributes of `input` that are wanted, from
/// the nearest place of its mesh. What `geo` has of `v` already is added to it.
mn_status mn_mesh_transfer(mn_context *ctx, const mn_geo *input, const mn_triangles *mesh, int64_t count,
                           const mn_vec3 *positions, mn_transfer_wants *wants, mn_geo *geo);

#endif
