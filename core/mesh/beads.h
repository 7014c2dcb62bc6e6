// SPDX-License-Identifier: Apache-2.0
//
// Drops that are too small for the grid of a level set, as round meshes of their own.
//
// A surface on a grid shows a drop of a few nodes as an octahedron that jumps from node to node as the drop
// flies, and smoothing takes most of its volume. These are taken out of the level set and drawn as ellipsoids
// with the place, volume and spread of their particles.
#ifndef MENISCUS_MESH_BEADS_H
#define MENISCUS_MESH_BEADS_H

#include "levelset/level_set.h"
#include "mesh/isosurface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_beads mn_beads;

typedef struct mn_bead {
    mn_vec3 center; ///< m
    mn_mat3 shape;  ///< m, from the unit ball
    mn_vec3 v;      ///< m/s, the mean of its particles' where they were given
} mn_bead;

mn_status mn_beads_create(mn_context *ctx, mn_beads **beads);
/// NULL is fine.
void mn_beads_free(mn_beads *beads);
/// Takes every body whose particles hold less than a ball of two nodes' distances out of the level set, and
/// those without any. Bodies that touch a solid stay. `volumes` (m^3, > 0) and `velocities` (may be NULL) are
/// the particles'. The set's labels must be those of phi; they are not good any more afterwards.
mn_status mn_beads_take(mn_beads *beads, mn_level_set *set, mn_points particles, const double *volumes,
                        const mn_vec3 *velocities);
/// No beads any more.
void mn_beads_clear(mn_beads *beads);
int64_t mn_beads_count(const mn_beads *beads);
const mn_bead *mn_beads_get(const mn_beads *beads);

/// `mesh` and the beads in one; valid until the next call. Vertices of beads come last
/// and have no nodes or cells: vertex_nodes, vertex_fractions and triangle_cell are NULL.
mn_status mn_beads_join(mn_beads *beads, const mn_iso_mesh *mesh, mn_iso_mesh *joined);
/// The bead of a vertex of the joined mesh, -1 for one of the mesh before.
int32_t mn_beads_of_vertex(const mn_beads *beads, int32_t vertex);

#ifdef __cplusplus
}
#endif
#endif
