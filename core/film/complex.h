// SPDX-License-Identifier: Apache-2.0
//
// A kept, labelled, non-manifold complex of volumes (tetrahedra), films (triangles), threads (segments) and
// drops (vertices alone), which share vertices.
//
// Elements live in slots; the star of a vertex is a list through the corners of its elements, which is whole
// on any mesh, so no edge or half edge is stored. A triangle (a, b, c) has two sides: 0 behind it, 1 in front
// of it, where its normal (b - a) x (c - a) points. Each side carries the region of gas that it faces: 0 is
// the air around, other numbers are pockets, MN_COMPLEX_LIQUID is the inside of tetrahedra. The surface of a
// volume is kept as triangles with the liquid on one side, so that shells of gas, borders and dV/dx of
// pockets are found the same way whether a film or a volume is around them.
//
// Invariants, all tested by mn_complex_check():
//   - every corner is in the star of its vertex, once; no triangle has a vertex twice; no two have the same
//     three;
//   - around each edge, turning with a triangle takes one from the region before it to the region after it:
//     as many triangles lead into a region as out of it. Edges on a wall are free of this: the wall is there;
//   - a face of a tetrahedron belongs to two of them and is not a triangle, or to one and is a triangle
//     with the liquid on that side; no other triangle has liquid on a side.
//
// Edits between mn_complex_begin() and mn_complex_commit() are logged, struct by struct, and
// mn_complex_undo() takes them back: a move is tried, judged, and kept or undone.
#ifndef MENISCUS_FILM_COMPLEX_H
#define MENISCUS_FILM_COMPLEX_H

#include "meniscus/array.h"
#include "meniscus/vec.h"

enum { MN_COMPLEX_STAR_MAX = 192, MN_COMPLEX_EDGE_MAX = 24 };
/// The region inside of tetrahedra. Higher than any pocket, so that their surface faces out.
#define MN_COMPLEX_LIQUID (1 << 30)

/// No padding: states are saved as they are.
typedef struct mn_complex_vertex {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    mn_vec3 slide;    ///< unit normal of the wall it slides on; zero when free
    double mass;      ///< kg, of films, threads and drops
    double bulk;      ///< kg, a quarter of that of its tetrahedra
    double pressure;  ///< Pa above the ambient, in its tetrahedra
    double rest_area; ///< m^2, at which its soap has the tension sigma; 0: not set yet
    double least;     ///< m, thickness below which its film bursts; 0: that of all films
    double fine;      ///< how long edges should be here, of the size (sizes.c); 0: not set yet
    double along;     ///< where on the wire from wire[0] to wire[1], or the curve of its inlet, 0 to 1
    int64_t id;
    int32_t wire[2];       ///< points of the frame that hold it; -1 when free
    int32_t first;         ///< first corner (3 triangle + corner) of its star, or -1
    int32_t first_segment; ///< first end (2 segment + end) of its segments, or -1
    int32_t first_tet;     ///< first corner (4 tetrahedron + corner) of its tetrahedra, or -1
    int32_t alive, parent; ///< parent: scratch
    int32_t
        jet; ///< 1 + the jet whose cap it moves with (jets.c); below 0: -1 - the inlet of its row (inlet.c)
} mn_complex_vertex;

typedef struct mn_complex_triangle {
    int32_t v[3];      ///< v[0] < 0: a free slot
    int32_t region[2]; ///< behind and in front
    int32_t next[3];   ///< next corner in the star of v[k], or -1
} mn_complex_triangle;

typedef struct mn_complex_segment {
    int32_t v[2];    ///< v[0] < 0: a free slot
    int32_t next[2]; ///< next end at v[k], or -1
} mn_complex_segment;

typedef struct mn_complex_tet {
    int32_t v[4];    ///< v[0] < 0: a free slot; (p1 - p0) x (p2 - p0) . (p3 - p0) > 0
    int32_t next[4]; ///< next corner at v[k], or -1
    double mass;     ///< kg: what it has to have room for
    double soft;     ///< m^3, which it is drawn to beside that
} mn_complex_tet;

/// An edge of the frame: between its points a < b.
typedef struct mn_complex_wire {
    int32_t a, b;
} mn_complex_wire;

/// What a slot held before it was changed.
typedef struct mn_complex_record {
    int32_t kind, index;
    union {
        mn_complex_vertex vertex;
        mn_complex_triangle triangle;
        mn_complex_segment segment;
        mn_complex_tet tet;
    } old;
} mn_complex_record;

/// A place in the log to go back to.
typedef struct mn_complex_place {
    int64_t log, vertices, triangles, segments, tets;
} mn_complex_place;

typedef struct mn_complex {
    mn_context *ctx;
    MN_ARRAY(mn_complex_vertex) vertices;
    MN_ARRAY(mn_complex_triangle) triangles;
    MN_ARRAY(mn_complex_segment) segments;
    MN_ARRAY(mn_complex_tet) tets;
    MN_ARRAY(mn_complex_wire) wires; ///< edges of the frame, rising
    MN_ARRAY(mn_complex_record) log;
    MN_ARRAY(int32_t) renumber;
    mn_complex_place begin; ///< where the move began
    int64_t next_id;
    bool logging, broken;     ///< broken: memory ran out during the move, nothing changes until it is undone
    mn_complex_vertex nobody; ///< what a broken move writes to
} mn_complex;

void mn_complex_init(mn_complex *c, mn_context *ctx);
void mn_complex_free(mn_complex *c);

// ---- edits ----

/// A copy of `vertex` without elements and with an id of its own; its index, or -1 when memory is out.
int32_t mn_complex_add_vertex(mn_complex *c, const mn_complex_vertex *vertex);
/// The index of the new triangle, or -1 when memory is out. `a`, `b`, `c` differ.
int32_t mn_complex_add_triangle(mn_complex *c, int32_t a, int32_t b, int32_t d, int32_t behind,
                                int32_t front);
int32_t mn_complex_add_segment(mn_complex *c, int32_t a, int32_t b);
/// `v` in positive order; faces are the caller's business. Its bulk goes to its vertices.
int32_t mn_complex_add_tet(mn_complex *c, const int32_t v[4], double mass, double soft);
void mn_complex_remove_tet(mn_complex *c, int32_t tet);
void mn_complex_remove_triangle(mn_complex *c, int32_t triangle);
void mn_complex_remove_segment(mn_complex *c, int32_t segment);
/// Only a vertex without elements.
void mn_complex_remove_vertex(mn_complex *c, int32_t vertex);
/// Hangs corner `k` of the triangle onto another vertex.
void mn_complex_move_corner(mn_complex *c, int32_t triangle, int32_t k, int32_t to);
void mn_complex_move_end(mn_complex *c, int32_t segment, int32_t k, int32_t to);
void mn_complex_set_regions(mn_complex *c, int32_t triangle, int32_t behind, int32_t front);
/// The vertex, its old self in the log: what every change of a vertex during a move goes through.
mn_complex_vertex *mn_complex_edit_vertex(mn_complex *c, int32_t vertex);

void mn_complex_begin(mn_complex *c);
void mn_complex_commit(mn_complex *c);
void mn_complex_undo(mn_complex *c);
/// Inside a move: the place now, and back to it.
mn_complex_place mn_complex_here(const mn_complex *c);
void mn_complex_undo_to(mn_complex *c, mn_complex_place place);

/// Closes the gaps that removed elements left, keeping the order, and builds the stars anew.
mn_status mn_complex_compact(mn_complex *c);

// ---- queries ----

/// Which corner of the triangle the vertex is; -1 when it is none.
static inline int32_t mn_complex_corner(const mn_complex_triangle *t, int32_t v)
{
    return t->v[0] == v ? 0 : t->v[1] == v ? 1 : t->v[2] == v ? 2 : -1;
}
/// Triangles of the vertex; at most `max` are listed, all are counted.
int32_t mn_complex_star(const mn_complex *c, int32_t v, int32_t *triangles, int32_t max);
/// Triangles with both vertices.
int32_t mn_complex_edge(const mn_complex *c, int32_t a, int32_t b, int32_t *triangles, int32_t max);
/// The triangle with these three vertices other than `but`, or -1.
int32_t mn_complex_find(const mn_complex *c, int32_t a, int32_t b, int32_t d, int32_t but);
/// The segment between the two, or -1.
int32_t mn_complex_find_segment(const mn_complex *c, int32_t a, int32_t b);
/// The tetrahedron with these three vertices other than `but`, or -1.
int32_t mn_complex_find_tet(const mn_complex *c, int32_t a, int32_t b, int32_t d, int32_t but);
/// The side of the triangle that faces liquid, or -1.
static inline int32_t mn_complex_liquid_side(const mn_complex_triangle *t)
{
    return t->region[0] == MN_COMPLEX_LIQUID ? 0 : t->region[1] == MN_COMPLEX_LIQUID ? 1 : -1;
}
/// A film and not the surface of a volume.
static inline bool mn_complex_is_film(const mn_complex *c, int32_t triangle)
{
    return mn_complex_liquid_side(&c->triangles.data[triangle]) < 0;
}
/// The corner of the triangle that is neither a nor b.
static inline int32_t mn_complex_apex(const mn_complex_triangle *t, int32_t a, int32_t b)
{
    for (int k = 0; k < 3; k++)
        if (t->v[k] != a && t->v[k] != b) return t->v[k];
    return -1;
}
/// Neighbours of v by triangles, each once.
int32_t mn_complex_neighbours(const mn_complex *c, int32_t v, int32_t *neighbours, int32_t max);
static inline mn_vec3 mn_complex_position(const mn_complex *c, int32_t v)
{
    return c->vertices.data[v].position;
}
/// Twice the area times the unit normal.
mn_vec3 mn_complex_normal2(const mn_complex *c, int32_t triangle);
static inline double mn_complex_area(const mn_complex *c, int32_t triangle)
{
    return 0.5 * mn_norm(mn_complex_normal2(c, triangle));
}
/// A wire, a jet or an inlet says where it goes.
static inline bool mn_complex_held(const mn_complex *c, int32_t v)
{
    return c->vertices.data[v].wire[0] >= 0 || c->vertices.data[v].jet != 0;
}
/// How long the edge between the two should be, of the size.
static inline double mn_complex_fine(const mn_complex *c, int32_t a, int32_t b)
{
    const double fa = c->vertices.data[a].fine, fb = c->vertices.data[b].fine;
    return 0.5 * ((fa > 0 ? fa : 1) + (fb > 0 ? fb : 1));
}
/// It belongs to a volume.
static inline bool mn_complex_wet(const mn_complex *c, int32_t v)
{
    return c->vertices.data[v].first_tet >= 0;
}
/// kg that a change of its velocity moves.
static inline double mn_complex_inertia(const mn_complex_vertex *v)
{
    return v->mass + v->bulk;
}
double mn_complex_tet_volume(const mn_complex *c, int32_t tet);
/// Adds a triangle for each face of the tetrahedra from `first` on that has none, outside of them `outside`.
mn_status mn_complex_close_tets(mn_complex *c, int64_t first, int32_t outside);
static inline bool mn_complex_slides(const mn_complex *c, int32_t v)
{
    return mn_norm2(c->vertices.data[v].slide) > 0.25;
}
/// The edge lies on a wall that both its ends slide on: nothing can pass behind it.
bool mn_complex_on_wall(const mn_complex *c, int32_t a, int32_t b);

/// True when an edge of films lies along a wire: its ends are held by the two points wire[0] and wire[1] of
/// one edge of the frame. along[2]: where on it they are.
bool mn_complex_on_wire(const mn_complex *c, int32_t a, int32_t b, int32_t wire[2], double along[2]);

/// How freely a vertex of films may be moved and merged.
typedef enum mn_complex_class {
    MN_COMPLEX_INSIDE, ///< two triangles at each of its edges
    MN_COMPLEX_CURVE,  ///< on a border, a rim or a wall: exactly two edges with another number
    MN_COMPLEX_POINT,  ///< where borders meet or end, and in a volume
    MN_COMPLEX_FIXED,  ///< held by a wire
} mn_complex_class;
mn_complex_class mn_complex_class_of(const mn_complex *c, int32_t v);

/// MN_OK, or MN_ERROR_INPUT with a sentence that names the first element that breaks an invariant.
mn_status mn_complex_check(const mn_complex *c);
/// The same of what is around one vertex.
mn_status mn_complex_check_vertex(const mn_complex *c, int32_t v);

#endif
