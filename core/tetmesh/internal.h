// SPDX-License-Identifier: Apache-2.0
//
// What the files of the tetrahedral mesh share and nobody else sees.
#ifndef MENISCUS_TETMESH_INTERNAL_H
#define MENISCUS_TETMESH_INTERNAL_H

#include "meniscus/array.h"
#include "tetmesh/cut/cut.h"

typedef MN_ARRAY(int32_t) mn_tet_list;

/// A slot on its four stars, faces not connected; room must have been reserved.
int32_t mn_tet_slot_take(mn_tet_mesh *mesh, const int32_t vertices[4]);
/// Takes a tetrahedron off its stars and frees its slot; faces are the caller's business.
void mn_tet_slot_give_back(mn_tet_mesh *mesh, int32_t t);

/// Rising order, each once.
void mn_tet_list_sort_unique(mn_tet_list *list);
/// Where the value is in a sorted list, -1 for nowhere.
int32_t mn_tet_list_find(const mn_tet_list *list, int32_t value);

/// Room for the face matching of exchanges of one tetrahedron for `new_count` or fewer.
mn_status mn_tet_scratch_reserve(mn_tet_mesh *mesh, int32_t new_count);
/// The star of a corner's vertex loses it, the star of `to` gets it; mates stay, boundary counts do not.
void mn_tet_corner_move(mn_tet_mesh *mesh, int32_t code, int32_t to);

/// Which of the tetrahedra contains x best, and the barycentric coordinates of x there, which are negative
/// when it lies outside. The first of them when none has volume.
int32_t mn_tet_home_of(const mn_tet_mesh *mesh, int64_t count, const int32_t *tets, mn_vec3 x,
                       double weights[4]);

// ---- division without conditions on quality (tetmesh/edit/divide.c): *vertex is -1 when a part would not be
// positive

/// A vertex on edge a-b; every tetrahedron around it becomes two and keeps what it held. `around` is scratch.
bool mn_tet_can_divide_edge(const mn_tet_mesh *mesh, int32_t a, int32_t b, double fraction);
mn_status mn_tet_divide_edge(mn_tet_mesh *mesh, int32_t a, int32_t b, double fraction, mn_tet_list *around,
                             int32_t *vertex);
/// A vertex in the middle of face `face` of t.
mn_status mn_tet_divide_face(mn_tet_mesh *mesh, int32_t t, int32_t face, int32_t *vertex);

// ---- opening faces (tetmesh/cut/crack.c) ----

/// A face by its vertices in rising order.
typedef struct mn_tet_face {
    int32_t v[3];
} mn_tet_face;
typedef MN_ARRAY(mn_tet_face) mn_tet_faces;

/// Turns inner faces into boundary on both sides: vertices are doubled where the faces part what is around
/// them; a face that would stay closed is divided first. `touched` receives every vertex of theirs, and the
/// copies. `opened` counts the faces in the end.
mn_status mn_tet_open_faces(mn_tet_mesh *mesh, const mn_tet_faces *faces, mn_tet_list *touched,
                            int64_t *opened);

// ---- manifold boundaries (tetmesh/fill/manifold.c) ----

/// Gives every face-connected set of tetrahedra around v a vertex of its own; copies are added to `copies`.
mn_status mn_tet_part_vertex(mn_tet_mesh *mesh, int32_t v, mn_tet_list *set, mn_tet_list *copies);
/// All three kinds at these vertices and at those that come while repairing; the list grows.
mn_status mn_tet_repair_vertices(mn_tet_mesh *mesh, mn_tet_list *vertices, mn_tet_manifold_report *report);

/// A new value for mark[]: nothing is visited.
static inline uint32_t mn_tet_mark_next(mn_tet_mesh *mesh)
{
    if (++mesh->mark_now == 0) {
        for (int32_t t = 0; t < mesh->tet_slots; t++) mesh->mark[t] = 0;
        mesh->mark_now = 1;
    }
    return mesh->mark_now;
}

/// Sets as trees of parents: the first member names its set.
static inline int32_t mn_tet_root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/// False when both were in one set already.
static inline bool mn_tet_unite(int32_t *parent, int32_t a, int32_t b)
{
    a = mn_tet_root_of(parent, a), b = mn_tet_root_of(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
    return a != b;
}

/// Three vertices in rising order: the same for both sides of a face.
static inline void mn_tet_face_key(const int32_t tet[4], int32_t face, int32_t key[3])
{
    int32_t a = tet[mn_tet_face_corners[face][0]], b = tet[mn_tet_face_corners[face][1]],
            c = tet[mn_tet_face_corners[face][2]], swap;
    if (a > b) swap = a, a = b, b = swap;
    if (b > c) swap = b, b = c, c = swap;
    if (a > b) swap = a, a = b, b = swap;
    key[0] = a, key[1] = b, key[2] = c;
}

static inline uint32_t mn_tet_face_hash(const int32_t key[3])
{
    uint64_t h = (uint64_t)(uint32_t)key[0] * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ (uint32_t)key[1]) * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 32) ^ (uint32_t)key[2]) * 0x165667B19E3779F9u;
    return (uint32_t)(h >> 32);
}

#endif
