// SPDX-License-Identifier: Apache-2.0
//
// Smoothing of a triangle mesh without shrinking, for rendering.
#ifndef MENISCUS_MESH_MESH_SMOOTH_H
#define MENISCUS_MESH_MESH_SMOOTH_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// `passes` times a step toward the neighbours' mean and a slightly longer one back [taubin1995], then, for a
/// mesh that encloses volume, one offset along the vertex normals that restores it. Vertices that no triangle
/// uses stay. Indices out of range and positions that are not finite are errors.
mn_status mn_mesh_smooth(mn_context *ctx, int32_t vertex_count, mn_vec3 *positions, int32_t triangle_count,
                         const int32_t (*triangles)[3], int32_t passes);

#ifdef __cplusplus
}
#endif
#endif
