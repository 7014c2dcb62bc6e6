// SPDX-License-Identifier: Apache-2.0
//
// Closest points on polygons and the signed distance to closed ones. Whether they are closed is counted and
// said, never guessed: an open surface has no inside.
#ifndef MENISCUS_MESH_DISTANCE_H
#define MENISCUS_MESH_DISTANCE_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_mesh_distance mn_mesh_distance;

typedef struct mn_mesh_facts {
    int64_t triangles;     ///< polygons as fans, those without area left out
    int64_t open_edges;    ///< with a triangle on one side only
    int64_t crowded_edges; ///< with more than two triangles, or with two that turn against each other
    bool closed;           ///< there are triangles, and no such edge
    double volume;         ///< m^3, enclosed; negative when the polygons face in. Means nothing unless closed
    double area;           ///< m^2
    mn_box bounds;
} mn_mesh_facts;

/// A point of the surface: in a triangle whose corners are points of the geo.
typedef struct mn_closest_point {
    mn_vec3 position;
    double distance; ///< m, not signed
    int64_t points[3];
    double weights[3]; ///< of the corners, sum 1
} mn_closest_point;

/// Fails on positions that are not finite. Points at one place are one point for the counting of edges, so
/// that meshes with split seams are closed. The geo is not kept.
mn_status mn_mesh_distance_create(mn_context *ctx, const mn_geo *geo, mn_mesh_distance **mesh);
/// NULL is fine.
void mn_mesh_distance_free(mn_mesh_distance *mesh);
mn_mesh_facts mn_mesh_distance_facts(const mn_mesh_distance *mesh);

/// These may be called from many threads at once. Without triangles the distance is INFINITY.
mn_closest_point mn_mesh_closest(const mn_mesh_distance *mesh, mn_vec3 position);
/// Negative inside, whichever way the polygons face. For closed meshes only.
double mn_mesh_signed_distance(const mn_mesh_distance *mesh, mn_vec3 position);

#ifdef __cplusplus
}
#endif
#endif
