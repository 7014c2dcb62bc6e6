// SPDX-License-Identifier: Apache-2.0
//
// One merge at work: two layers of tetrahedra that overlap, and how the surface of the first is cut into the
// second. See merge.c for the method; here is what its files share.
//
//   seam   the boundary faces of layer A near layer B, with their edges and vertices
//   B      a mesh of its own with the tetrahedra of layer B, divided until each seam face inside is a union
//          of its faces
//   fresh  vertices that will be new in the mesh; a reference below -1 names fresh vertex -2 - reference
#ifndef MENISCUS_TETMESH_UNITE_UNION_H
#define MENISCUS_TETMESH_UNITE_UNION_H

#include "mesh/box_grid.h"
#include "tetmesh/unite/merge.h"

/// What functions below return for a place that is degenerate: the attempt is given up, the mesh untouched.
#define MN_TET_DEGENERATE MN_ERROR_DIVERGED

typedef struct mn_tet_overlap_pair {
    int32_t a, b; ///< slots, a in layer A and b in layer B
    double volume;
} mn_tet_overlap_pair;
typedef MN_ARRAY(mn_tet_overlap_pair) mn_tet_pairs;

/// All pairs of tetrahedra that overlap and have no vertex in common, wherever an overlap reaches into the
/// region (empty: everywhere), a < b, sorted: those that do so for sure, and those that overlap by no more
/// than rounding might (overlap_pairs.c). Without within_parts, pairs of one part do not count.
mn_status mn_tet_find_overlaps(mn_tet_mesh *mesh, mn_box region, bool within_parts, mn_tet_pairs *sure,
                               mn_tet_pairs *weak);
void mn_tet_pairs_sort(mn_tet_pairs *pairs);

/// What a vertex of mesh B lies on.
typedef enum mn_seam_place { MN_SEAM_NOWHERE, MN_SEAM_VERTEX, MN_SEAM_EDGE, MN_SEAM_FACE } mn_seam_place;

typedef struct mn_union_vertex {
    int32_t reference; ///< vertex of the mesh, or a fresh one
    mn_seam_place place;
    int32_t index; ///< vertex of the mesh, seam edge or seam face
} mn_union_vertex;

typedef struct mn_seam_edge {
    int32_t a, b;         ///< vertices, a < b
    int32_t first, count; ///< run of `chain` from a to b
} mn_seam_edge;

typedef struct mn_seam_face {
    int32_t tet, face;
    int32_t v[3];                     ///< counter-clockwise from outside
    int32_t edge[3];                  ///< edge i joins v[i] and v[i + 1]
    int32_t first_inner, inner_count; ///< run of `inner`: vertices of B in its inside
    int32_t first_part, part_count;   ///< run of `parts`: faces of B that make up what is inside B
} mn_seam_face;

typedef struct mn_fresh_vertex {
    mn_vec3 position;
    int32_t parent_count, parents[4]; ///< of layer A
    double weights[4];
    int32_t b; ///< tetrahedron of layer B that contains it, -1 for none
    int32_t slot;
} mn_fresh_vertex;

/// A tetrahedron made in B; it is there as long as its stamp is.
typedef struct mn_union_piece {
    int32_t tet, next;
    uint32_t stamp;
} mn_union_piece;

typedef struct mn_fresh_tet {
    int32_t v[4];   ///< references
    int32_t source; ///< the tetrahedron that it is a part of
} mn_fresh_tet;

typedef struct mn_triangle_indices {
    int32_t v[3];
} mn_triangle_indices;

/// A vertex of layer A inside layer B.
typedef struct mn_inside_vertex {
    int32_t vertex, b;
} mn_inside_vertex;

typedef struct mn_tet_union {
    mn_context *ctx;
    mn_tet_mesh *mesh;
    mn_tet_pairs pairs;         ///< sorted by a
    mn_tet_list a_core, b_core; ///< overlapping tetrahedra, in rising order
    mn_tet_list a_near, b_near; ///< and those that share a vertex with them
    mn_tet_list moved;          ///< vertices that this attempt moved
    MN_ARRAY(mn_vec3) places;   ///< where they were

    mn_tet_mesh *b;
    MN_ARRAY(mn_union_vertex) b_vertex; ///< per vertex slot of b
    mn_tet_list b_global;               ///< vertices of layer B in rising order: the first slots of b
    mn_box_grid b_grid;                 ///< over b_near
    MN_ARRAY(mn_union_piece) pieces;
    mn_tet_list piece_first;   ///< per b_near
    MN_ARRAY(uint8_t) divided; ///< per b_near
    MN_ARRAY(uint8_t) side;    ///< per tetrahedron slot of b: 1 inside A, 2 outside
    MN_ARRAY(uint8_t) wall;    ///< per tetrahedron slot of b: bit k, face k lies on the seam
    mn_tet_list near, tets;    ///< scratch

    MN_ARRAY(mn_seam_edge) edges; ///< sorted
    MN_ARRAY(mn_seam_face) faces;
    mn_tet_list vertices;                ///< of the seam, sorted
    mn_tet_list chain, inner;            ///< vertices of b
    MN_ARRAY(mn_triangle_indices) parts; ///< vertices of b, counter-clockwise from outside of A
    MN_ARRAY(mn_fresh_vertex) fresh;
    int64_t most_fresh; ///< what would make as many is left as it is
    MN_ARRAY(mn_inside_vertex) inside;

    mn_tet_list old;             ///< what goes
    MN_ARRAY(mn_fresh_tet) made; ///< what comes
    int64_t made_of_a;           ///< the first of them are parts of layer A
    mn_tet_list created;         ///< their slots
} mn_tet_union;

void mn_tet_union_free(mn_tet_union *u);

/// Builds b and the seam and cuts the one into the other (union_insert.c).
mn_status mn_tet_union_insert(mn_tet_union *u);
/// The faces of b on the seam, in `parts`, and the sides and walls of b's tetrahedra there (union_parts.c).
mn_status mn_tet_union_find_parts(mn_tet_union *u);
/// A vertex of b lies on a seam face, its edges or its corners, by its label.
bool mn_tet_union_is_on(const mn_tet_union *u, int32_t v, int32_t face);
mn_box mn_seam_face_box(const mn_tet_union *u, const mn_seam_face *face);
/// Whether the layers meet in too many places.
bool mn_tet_union_is_overgrown(const mn_tet_union *u);
/// Lists b's tetrahedra that meet a box, in u->tets.
mn_status mn_tet_union_pieces_near(mn_tet_union *u, mn_box box);
/// The tetrahedron of b, as it is now, that contains x strictly; -1 for none. Degenerate on its boundary.
mn_status mn_tet_union_locate(mn_tet_union *u, mn_vec3 x, int32_t *t);
/// The tetrahedron of layer B that piece t is a part of.
int32_t mn_tet_union_source(const mn_tet_union *u, int32_t t);

/// The seam edge between two vertices, -1 for none.
int32_t mn_tet_union_find_edge(const mn_tet_union *u, int32_t p, int32_t q);

/// A planar triangulation of seam face `face` with all its vertices that has all its parts as triangles
/// (union_face.c); corners are references.
typedef MN_ARRAY(mn_triangle_indices) mn_triangle_list;
mn_status mn_tet_union_triangulate(mn_tet_union *u, const mn_seam_face *face, mn_triangle_list *triangles);

/// Tells inside from outside, and collects what goes and what comes (union_assemble.c).
mn_status mn_tet_union_assemble(mn_tet_union *u);

/// Makes the change, with fields (union_commit.c). `velocity` and `mass` may be NULL.
mn_status mn_tet_union_commit(mn_tet_union *u, const mn_tet_field *velocity, const mn_tet_field *mass,
                              mn_vec3 *impulse);

/// Barycentric coordinates of x in tetrahedron t, clipped to it.
void mn_tet_union_weights(const mn_tet_mesh *mesh, int32_t t, mn_vec3 x, double weights[4]);

#endif
