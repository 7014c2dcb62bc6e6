// SPDX-License-Identifier: Apache-2.0
//
// Local operations on a tetrahedral mesh. Each one proposes a cavity: tetrahedra to take out and tetrahedra
// to put in. The proposal is accepted when every new tetrahedron is positive by the exact predicate and the
// worst of them is better than what was asked for; otherwise the mesh stays as it was.
//
// Inside the mesh that is all a cavity needs: new tetrahedra that are all positive and have the old cavity's
// boundary cover it exactly once, since each point is covered as often as the boundary winds around it; but
// a mesh that overlaps itself may have a new edge or face elsewhere already, so operations ask for that. At
// the surface, where the boundary itself changes, operations ask the surface model (tetmesh/surface_model.h)
// and the link condition as well.
#ifndef MENISCUS_TETMESH_EDIT_EDIT_H
#define MENISCUS_TETMESH_EDIT_EDIT_H

#include "tetmesh/internal.h"

typedef struct mn_tet_surface_model mn_tet_surface_model;

/// Longest ring that edge removal looks at; longer ones are rare and never improve.
enum { MN_TET_RING_MAX = 14, MN_TET_STAR_MAX = 256 };

/// Scratch for operations on one mesh, kept from call to call.
typedef struct mn_tet_edit {
    mn_tet_mesh *mesh;
    mn_tet_surface_model
        *surface;       ///< how far the boundary may move; NULL: not at all, though splits may divide it
    const char *region; ///< a field whose values are never mixed; NULL: none
    mn_tet_list old;    ///< the proposal: what goes
    MN_ARRAY(mn_tet_indices) fresh; ///< and what comes
    int32_t moved;                  ///< a vertex that the proposal moves, -1 for none
    mn_vec3 moved_to;
    mn_tet_list touched;     ///< after an accepted operation: new or reshaped tetrahedra
    mn_tet_list near, other; ///< scratch of single operations
    double worst;            ///< after an accepted operation: the worst quality among the touched
} mn_tet_edit;

void mn_tet_edit_free(mn_tet_edit *edit);

static inline mn_vec3 mn_tet_edit_position(const mn_tet_edit *edit, int32_t v)
{
    return v == edit->moved ? edit->moved_to : edit->mesh->position[v];
}

// ---- proposals ----

void mn_tet_edit_begin(mn_tet_edit *edit);
mn_status mn_tet_edit_take(mn_tet_edit *edit, int32_t t);
mn_status mn_tet_edit_put(mn_tet_edit *edit, int32_t a, int32_t b, int32_t c, int32_t d);
/// Worst quality of the old tetrahedra as they are, INFINITY for none.
double mn_tet_edit_old_worst(const mn_tet_edit *edit);
/// Worst quality of the proposed ones, -1 when one is not positive by the exact predicate.
double mn_tet_edit_new_worst(const mn_tet_edit *edit);
/// Makes the change when the worst new quality is above `above`; *done says so.
mn_status mn_tet_edit_accept(mn_tet_edit *edit, double above, bool *done);

/// Whether two tetrahedra may be parts of one change.
bool mn_tet_edit_may_mix(const mn_tet_edit *edit, int32_t s, int32_t t);

/// The place near x at which the proposed tetrahedra of vertex v are best; v must be free to move.
mn_vec3 mn_tet_edit_best_place(mn_tet_edit *edit, int32_t v, mn_vec3 x);

// ---- around an edge ----

typedef struct mn_tet_ring {
    int32_t a, b;
    int32_t count;                       ///< vertices of the ring
    int32_t vertex[MN_TET_RING_MAX + 1]; ///< counter-clockwise about a -> b
    int32_t tet_count;                   ///< equals count when closed, count - 1 at the boundary
    int32_t tet[MN_TET_RING_MAX];        ///< (a, b, vertex[i], vertex[i+1])
    bool closed;
} mn_tet_ring;

/// Something outside of the mesh holds on to the edge.
static inline bool mn_tet_edge_is_kept(const mn_tet_mesh *mesh, int32_t a, int32_t b)
{
    return mesh->vertex_flags[a] & mesh->vertex_flags[b] & MN_TET_KEPT;
}
/// False when the edge is not there, has too many tetrahedra or is not manifold.
bool mn_tet_ring_of(const mn_tet_mesh *mesh, int32_t a, int32_t b, mn_tet_ring *ring);

// ---- operations: *done says whether the mesh changed ----

/// Takes edge a-b out by the best triangulation of its ring [shewchuk2002]. Also the 3-2, 4-4 and, at a
/// boundary edge, the 2-2 flip.
mn_status mn_tet_remove_edge(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);
/// Takes face `face` of t out, and with it those faces between the same two vertices whose removal pays: the
/// inverse of edge removal; with one face the 2-3 flip.
mn_status mn_tet_remove_faces(mn_tet_edit *edit, int32_t t, int32_t face, double above, bool *done);
/// The flips by name; each only when the edge or face has exactly that shape.
mn_status mn_tet_flip23(mn_tet_edit *edit, int32_t t, int32_t face, double above, bool *done);
mn_status mn_tet_flip32(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);
mn_status mn_tet_flip44(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);
mn_status mn_tet_flip22(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);

/// New vertices; *vertex receives it (-1 when not done). At the boundary the place is put on the surface
/// model when that keeps everything positive.
mn_status mn_tet_split_edge(mn_tet_edit *edit, int32_t a, int32_t b, double fraction, double above,
                            int32_t *vertex);
mn_status mn_tet_split_face(mn_tet_edit *edit, int32_t t, int32_t face, const double weights[3], double above,
                            int32_t *vertex);
mn_status mn_tet_split_tet(mn_tet_edit *edit, int32_t t, const double weights[4], double above,
                           int32_t *vertex);

/// Splits an inner edge at the place where the new tetrahedra are best.
mn_status mn_tet_insert_on_edge(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);

/// Takes a flat tetrahedron off the surface: edge a-b is its own, with two boundary faces, and turns into the
/// opposite edge. What it held goes to its neighbours.
mn_status mn_tet_peel(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);

/// Moves b into a and puts a where quality is best: at a, at b or between. Refused where that would change
/// topology or leave the surface.
mn_status mn_tet_contract_edge(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done);
/// Splits edge a-b and contracts the new vertex with c, in one step: c moves onto the edge [clausen2013]
/// section 6.2.
mn_status mn_tet_contract_face(mn_tet_edit *edit, int32_t a, int32_t b, int32_t c, double above, bool *done);
/// Splits the face of t opposite `corner` and contracts the new vertex with that corner.
mn_status mn_tet_contract_tet(mn_tet_edit *edit, int32_t t, int32_t corner, double above, bool *done);

/// Moves v to raise the worst quality around it, by steps along the direction in which all of the worst rise
/// [freitag1997]; boundary vertices stay on the surface model. Only when the worst rises by at least `gain`.
mn_status mn_tet_smooth_vertex(mn_tet_edit *edit, int32_t v, double gain, bool *done);

#endif
