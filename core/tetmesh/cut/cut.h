// SPDX-License-Identifier: Apache-2.0
//
// Taking tetrahedral meshes apart: a crack along a plane, and boundaries made manifold again
// [clausen2013] sections 7.1 and 7.3. Nothing moves and nothing is lost: elements are divided, vertices
// doubled, amounts and momentum stay to rounding.
#ifndef MENISCUS_TETMESH_CUT_CUT_H
#define MENISCUS_TETMESH_CUT_CUT_H

#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What mn_tet_mesh_make_manifold did.
typedef struct mn_tet_manifold_report {
    int64_t parted_vertices; ///< copies made where material touched itself in a vertex
    int64_t split_edges;     ///< edges at which more than two boundary faces met
    int64_t tunnels;         ///< vertices at which two surfaces met: a slit joins them now
    int64_t left;            ///< edge-type vertices that are left; 0 unless the rounds ran out
} mn_tet_manifold_report;

/// Afterwards every boundary edge has two boundary faces, and the tetrahedra and the boundary faces around
/// every vertex are one set each: all three kinds of [clausen2013] section 7.3. Volume and amounts stay. When
/// memory runs out the mesh is valid, but repaired in part.
mn_status mn_tet_mesh_make_manifold(mn_tet_mesh *mesh, mn_tet_manifold_report *report);
/// Its first half: separates material that only touches itself in a vertex or an edge. Afterwards no
/// face-type vertices and no non-manifold edges are left (edge-type vertices may be). Volume, amounts and
/// positions stay. When memory runs out the mesh is valid, but may be separated only in part.
mn_status mn_tet_mesh_separate(mn_tet_mesh *mesh, int64_t *parted_vertices, int64_t *split_edges);

/// Whether a crack may enter tetrahedron t, for instance because its stress is above a threshold.
typedef bool mn_tet_crack_fn(void *user, const mn_tet_mesh *mesh, int32_t t);

typedef struct mn_tet_cut_def {
    mn_vec3 point;    ///< on the plane, m
    mn_vec3 normal;   ///< of the plane, any length but 0
    int32_t seed;     ///< tetrahedron where the crack starts; -1: everywhere on the plane within reach
    double reach;     ///< the crack stops at this distance from `point`, m, > 0; INFINITY: when it is through
    double snap;      ///< a vertex this near to the plane, of its edges, is taken to be on it, [0, 0.45]; 0.2
    bool along_faces; ///< no element is divided: faces between those with centres on both sides are opened
    mn_tet_crack_fn *may_enter; ///< NULL: always
    void *user;                 ///< for may_enter
} mn_tet_cut_def;
mn_tet_cut_def mn_tet_cut_default_def(void);

typedef struct mn_tet_cut_report {
    int64_t entered;     ///< tetrahedra that the crack went through
    int64_t split_edges; ///< edges divided where the plane crosses them
    int64_t split_faces; ///< faces opened
    int64_t front;       ///< tetrahedra on the plane at which the crack stopped; 0: it is through
    mn_tet_manifold_report manifold;
} mn_tet_cut_report;

/// A crack along a plane. It starts in the seed, goes on from tetrahedron to neighbour along the plane until
/// it is through the part, out of reach or refused; the edges that it crosses are divided on the plane, the
/// faces between the two sides are opened, and the boundary is made manifold. The mesh must be positive, and
/// stays so. Splitting a neck: seed and point in its narrowest element, normal along the stretch, then
/// `front` is 0 and the parts are apart. When memory runs out the mesh is valid, but cut in part.
mn_status mn_tet_mesh_cut(mn_tet_mesh *mesh, const mn_tet_cut_def *def, mn_tet_cut_report *report);

#ifdef __cplusplus
}
#endif
#endif
