// SPDX-License-Identifier: Apache-2.0
//
// A tetrahedral mesh that changes: face adjacency, complete vertex stars, insertion and deletion in constant
// time, fields that every change carries along.
//
//   - Vertices and tetrahedra live in slots. A slot's number stays until the element is deleted or the mesh
//   is
//     compacted; a freed slot is used again. vertex_id and stamp tell two tenants of one slot apart.
//   - A tetrahedron is positive: (p1-p0) x (p2-p0) . (p3-p0) > 0. Face k is opposite vertex k; corner and
//   face
//     k of tetrahedron t are both written as the code 4 t + k.
//   - The star of a vertex is a list through its corners, so it is complete on non-manifold meshes too.
//   - The arrays may be read freely and written only through the functions below.
#ifndef MENISCUS_TETMESH_H
#define MENISCUS_TETMESH_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Four vertices of a tetrahedron, for arrays of them.
typedef struct mn_tet_indices {
    int32_t v[4];
} mn_tet_indices;

/// How a field behaves when the mesh changes under it.
typedef enum mn_tet_field_kind {
    MN_TET_LINEAR, ///< per vertex, interpolated linearly: velocity, temperature
    MN_TET_AMOUNT, ///< per tetrahedron, what it holds; sums are conserved: rest volume, mass
    MN_TET_VALUE,  ///< per tetrahedron, averaged by volume: plastic strain, quality
} mn_tet_field_kind;

enum { MN_TET_FIELD_NAME_MAX = 64 };

typedef struct mn_tet_field {
    char name[MN_TET_FIELD_NAME_MAX];
    mn_tet_field_kind kind;
    int32_t size; ///< components
    double *data; ///< size values per slot
} mn_tet_field;

typedef struct mn_tet_mesh {
    mn_context *ctx;

    int32_t vertex_slots, vertex_capacity, vertex_count; ///< slots in use or free, allocated, alive
    mn_vec3 *position;
    int64_t *vertex_id;      ///< unique and never used again, also through compaction
    int32_t *star_first;     ///< a corner of the vertex, -1: none; free slots chain here
    int32_t *boundary_faces; ///< how many boundary faces touch the vertex; -1 in a free slot
    uint32_t *vertex_stamp;  ///< when it was made or last moved
    uint8_t *vertex_flags;   ///< mn_tet_vertex_flag

    int32_t tet_slots, tet_capacity, tet_count;
    int32_t (*tet)[4];           ///< vertices; [0] is -1 in a free slot, which chains in [1]
    int32_t (*mate)[4];          ///< the same face seen from the other side, -1 on the boundary
    int32_t (*star_next)[4];     ///< the next corner of the same vertex, -1 at the end
    int32_t (*star_previous)[4]; ///< the one before, -1 at the front
    uint32_t *stamp;             ///< when the tetrahedron was made
    uint32_t *mark;              ///< scratch for walks: equal to mark_now means visited

    int32_t vertex_free, tet_free; ///< heads of the free chains, -1 when empty
    int64_t next_vertex_id;
    uint32_t now; ///< the stamp of the last change
    uint32_t mark_now;

    int32_t field_count, field_capacity;
    mn_tet_field *fields;

    int32_t *scratch; ///< face matching
    int64_t scratch_capacity;
} mn_tet_mesh;

typedef enum mn_tet_vertex_flag {
    MN_TET_FIXED = 1, ///< remeshing neither moves nor removes it
    MN_TET_KEPT = 2,  ///< it keeps its slot, and edges between two of them stay whole
} mn_tet_vertex_flag;

/// Face k, seen from outside counter-clockwise, as corners of the tetrahedron.
MN_API extern const int32_t mn_tet_face_corners[4][3];
/// The six edges as pairs of corners; edge e and edge 5 - e are opposite.
MN_API extern const int32_t mn_tet_edge_corners[6][2];

// ---- life ----

MN_API mn_status mn_tet_mesh_create(mn_context *ctx, mn_tet_mesh **mesh);
MN_API void mn_tet_mesh_free(mn_tet_mesh *mesh);
/// All of it, slot by slot.
MN_API mn_status mn_tet_mesh_copy(const mn_tet_mesh *mesh, mn_tet_mesh **copy);

/// From arrays. Fails with MN_ERROR_INPUT and names the tetrahedra when an index is out of range, a vertex
/// repeats or more than two tetrahedra share a face; orientation is taken as given.
MN_API mn_status mn_tet_mesh_build(mn_context *ctx, int64_t vertex_count, const mn_vec3 *positions,
                                   int64_t tet_count, const int32_t (*tets)[4], mn_tet_mesh **mesh);

/// Closes the gaps that deletions left; order is kept. vertex_map and tet_map (either may be NULL) have one
/// entry per old slot and receive the new slot, or -1.
MN_API mn_status mn_tet_mesh_compact(mn_tet_mesh *mesh, int32_t *vertex_map, int32_t *tet_map);

// ---- fields ----

/// Adds a field of zeros, or finds the one of that name, which must have the same kind and size.
MN_API mn_status mn_tet_mesh_add_field(mn_tet_mesh *mesh, const char *name, mn_tet_field_kind kind,
                                       int32_t size, mn_tet_field **field);
/// NULL when there is none. Pointers to fields live until the next field is added.
MN_API mn_tet_field *mn_tet_mesh_find_field(const mn_tet_mesh *mesh, const char *name);

// ---- changes ----

/// Makes room for this many more elements, so that the changes that follow do not fail.
MN_API mn_status mn_tet_mesh_reserve(mn_tet_mesh *mesh, int64_t more_vertices, int64_t more_tets);

/// A vertex without tetrahedra. Its linear fields are the weighted sum of its `parents` (at most 4).
MN_API mn_status mn_tet_mesh_add_vertex(mn_tet_mesh *mesh, mn_vec3 position, int32_t parent_count,
                                        const int32_t *parents, const double *weights, int32_t *vertex);
/// Only for a vertex whose star is empty.
MN_API void mn_tet_mesh_remove_vertex(mn_tet_mesh *mesh, int32_t vertex);
/// Moves the place, not the fields.
MN_API void mn_tet_mesh_move_vertex(mn_tet_mesh *mesh, int32_t vertex, mn_vec3 position);

/// Gives a vertex the weighted sum of its parents' linear fields; it may be one of them. At most 4.
MN_API void mn_tet_mesh_blend_vertex(mn_tet_mesh *mesh, int32_t vertex, int32_t parent_count,
                                     const int32_t *parents, const double *weights);

/// The one way in which tetrahedra change: takes `old_count` of them out and puts `new_count` in, given by
/// their vertices. Faces find their mates; what has none is boundary. Amounts of the old ones are divided
/// among the new by volume, values are averaged. `created` (may be NULL) receives the new slots. Fails
/// without any change when a face would get three tetrahedra, an element is not alive or memory is out.
MN_API mn_status mn_tet_mesh_replace(mn_tet_mesh *mesh, int32_t old_count, const int32_t *old_tets,
                                     int32_t new_count, const int32_t (*new_tets)[4], int32_t *created);

// ---- questions ----

static inline bool mn_tet_alive(const mn_tet_mesh *mesh, int32_t t)
{
    return t >= 0 && t < mesh->tet_slots && mesh->tet[t][0] >= 0;
}
static inline bool mn_tet_vertex_alive(const mn_tet_mesh *mesh, int32_t v)
{
    return v >= 0 && v < mesh->vertex_slots && mesh->boundary_faces[v] >= 0;
}
static inline bool mn_tet_vertex_on_boundary(const mn_tet_mesh *mesh, int32_t v)
{
    return mesh->boundary_faces[v] > 0;
}
/// The corner of tetrahedron t at vertex v, -1 when it has none.
static inline int32_t mn_tet_corner_of(const mn_tet_mesh *mesh, int32_t t, int32_t v)
{
    const int32_t *x = mesh->tet[t];
    return x[0] == v ? 0 : x[1] == v ? 1 : x[2] == v ? 2 : x[3] == v ? 3 : -1;
}
/// Walks the star of v: `code` runs over its corners; the tetrahedron is code / 4.
#define MN_TET_STAR(mesh, v, code)                                                                           \
    for (int32_t code = (mesh)->star_first[v]; code >= 0; code = (mesh)->star_next[code / 4][code % 4])

/// Signed volume.
MN_API double mn_tet_volume(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d);
MN_API double mn_tet_mesh_tet_volume(const mn_tet_mesh *mesh, int32_t t);
MN_API double mn_tet_mesh_volume(const mn_tet_mesh *mesh);
/// A tetrahedron that has all of these vertices, -1 when there is none.
MN_API int32_t mn_tet_mesh_find_edge(const mn_tet_mesh *mesh, int32_t a, int32_t b);
MN_API int32_t mn_tet_mesh_find_face(const mn_tet_mesh *mesh, int32_t a, int32_t b, int32_t c);

/// What the mesh is as a complex.
typedef struct mn_tet_topology {
    int64_t vertices, edges, faces, tets;
    int64_t euler; ///< V - E + F - T: 1 for a ball, 0 for a solid torus
    int64_t boundary_faces, boundary_edges, boundary_vertices;
    int64_t parts;              ///< face-connected components
    int64_t nonmanifold_edges;  ///< edges with more than two boundary faces
    int64_t face_type_vertices; ///< tetrahedra around it are not one face-connected set [clausen2013] 7.3
    int64_t edge_type_vertices; ///< boundary faces around it are not one edge-connected set
} mn_tet_topology;
MN_API mn_status mn_tet_mesh_topology(const mn_tet_mesh *mesh, mn_tet_topology *topology);

/// Every invariant: mates symmetric and on the same face, stars complete, counts right, no face twice, all
/// tetrahedra positive by the exact predicate, positions finite. MN_ERROR_INPUT with the first violation.
MN_API mn_status mn_tet_mesh_check(mn_tet_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif
