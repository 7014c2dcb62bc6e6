// SPDX-License-Identifier: Apache-2.0
//
// The surfaces that may touch, as one list of vertices, edges and triangles, and the pairs near each other.
// Knows no solver: whoever has moving triangles may use it.
//
//   mn_contact_create(ctx, &contact);
//   mn_contact_set_surface(contact, &surface);                  once: edges, neighbours, areas
//   mn_contact_sort(contact, x);                                now and then: the tree's order
//   mn_contact_find_candidates(contact, x, reach);              pairs that can come near
//   mn_contact_collect(contact, x, distance, &terms);           pairs nearer than `distance`, with weights
//   mn_contact_longest_step(contact, x, dx, &fraction);         how far along dx nothing passes anything
//
// A solver that minimises an energy adds, for each term with k = term.weight,
//
//   energy    term.mollifier k mn_barrier(term.near.distance, distance, &first, &second)        barrier.h
//   gradient  at vertex i: k (mollifier first c_i n + b turn[i])
//   Hessian   mollifier k second (c n)(c n)^T, and -mollifier k first value r r^T of mn_contact_bends(), for
//             terms with k > 0: never negative
//   friction  force mu mollifier k |first| along the rows of mn_contact_slip()
//
// takes its steps no longer than mn_contact_longest_step() says (of the whole change, so that nothing passes
// through anything), finds candidates again when a vertex leaves the reach they were made for, and weighs
// edges once before a step and with `raise` in its iterations. core/elastic/contacts.c and newton.c do all of
// this.
//
// Every result is the same for any number of threads.
#ifndef MENISCUS_CONTACT_SURFACE_H
#define MENISCUS_CONTACT_SURFACE_H

#include "base/parallel.h"
#include "contact/closest.h"
#include "meniscus/array.h"

enum {
    MN_CONTACT_SELF = 1,  ///< the group's own triangles may touch each other
    MN_CONTACT_FIXED = 2, ///< two such groups never push each other
    MN_CONTACT_SHEET = 4, ///< has two outsides: its edges matter whichever way they bend
};

typedef struct mn_contact_surface {
    int32_t vertex_count, triangle_count, group_count;
    const mn_vec3 *rest;           ///< positions from which lengths and areas are taken
    const int32_t (*triangles)[3]; ///< normals out of closed groups
    const int32_t *group;          ///< of each vertex
    const uint32_t *flags;         ///< of each group
    const double *stiffness;       ///< Pa, of each group; a pair takes the smaller one
} mn_contact_surface;

/// Two elements at a distance below the barrier's: a point and a triangle or two edges, by four vertices.
typedef struct mn_contact_term {
    int32_t v[4];
    mn_closest near;
    double weight;    ///< k of barrier.h in N; negative terms take back what was counted twice
    double mollifier; ///< in [0, 1], below 1 for nearly parallel edges
    mn_vec3 turn[4];  ///< its gradient
    bool is_edge_edge;
} mn_contact_term;
typedef MN_ARRAY(mn_contact_term) mn_contact_terms;

typedef struct mn_contact_pairs mn_contact_pairs;

mn_status mn_contact_create(mn_context *ctx, mn_contact_pairs **contact);
/// NULL is fine.
void mn_contact_free(mn_contact_pairs *contact);

/// Copies the surface. Edges of more than two triangles are fine.
mn_status mn_contact_set_surface(mn_contact_pairs *contact, const mn_contact_surface *surface);
/// The order of the tree for these positions; it stays good while neighbours stay near.
mn_status mn_contact_sort(mn_contact_pairs *contact, const mn_vec3 *x);
/// Pairs that come nearer than `distance` while every vertex i stays within `reach[i]` of where its group's
/// mean motion takes it from x[i], and the mean motion of group g within `group_reach[g]` of a common one. So
/// what falls together has few pairs, however fast it falls.
mn_status mn_contact_find_candidates(mn_contact_pairs *contact, const mn_vec3 *x, const double *reach,
                                     const double *group_reach, double distance);
/// How many there are, of both kinds.
int64_t mn_contact_candidate_count(const mn_contact_pairs *contact);

/// How much the edges count, by how far they stand out at x: flat and hollow ones are left to points and
/// triangles. Stays until the next call; without one every edge counts fully. `raise`: weights only grow, for
/// the iterations of one step.
mn_status mn_contact_weigh_edges(mn_contact_pairs *contact, const mn_vec3 *x, double distance, bool raise);
/// The candidates nearer than `distance` at x, each feature once [li2023].
mn_status mn_contact_collect(mn_contact_pairs *contact, const mn_vec3 *x, double distance,
                             mn_contact_terms *terms);
/// The largest fraction of the step dx, at most 1, during which every candidate keeps at least a tenth of
/// its distance; the least distance at x of all candidates in *gap (may be NULL).
mn_status mn_contact_longest_step(mn_contact_pairs *contact, const mn_vec3 *x, const mn_vec3 *dx,
                                  double *fraction, double *gap);

/// Whether an edge passes through a triangle at x or lies on it: *found with one vertex of each in v.
/// Candidates do not matter.
mn_status mn_contact_find_crossing(mn_contact_pairs *contact, const mn_vec3 *x, bool *found, int32_t v[2]);

/// Area of a vertex: a third of its triangles'.
const double *mn_contact_vertex_areas(const mn_contact_pairs *contact);
/// The shortest edge, m, of what is not fixed, or the mean one of what is: triangles that never touch each
/// other may be as small as they like. INFINITY without any.
double mn_contact_shortest_edge(const mn_contact_pairs *contact);

/// How far x moves along dx, as a fraction in (0, 1], before the elements have but `keep` of their distance:
/// additive conservative advancement [li2021].
double mn_advance_point_triangle(const mn_vec3 x[4], const mn_vec3 dx[4], double keep);
double mn_advance_edge_edge(const mn_vec3 x[4], const mn_vec3 dx[4], double keep);

/// How the distance of a term bends at x, the places of its vertices: -d'' is at most the sum of value r r^T
/// over the rows r, as many as are returned, and just that where the foot lies within both elements. Values
/// above and below zero take turns. A barrier's b' d'' with b' < 0 needs those above to be positive and safe.
int mn_contact_bends(const mn_contact_term *term, const mn_vec3 x[4], mn_vec3 rows[4][4], double value[4]);

/// The slip of a term as rows of a 2 x 12 matrix: zero for every rigid motion of the four vertices, so that
/// friction through it has neither force nor torque.
///   slip = T^T ( sum c_i dx_i - distance w(dx) x n )
/// with w the rotation of the triangle, or of the three of an edge pair's vertices that lie widest apart.
void mn_contact_slip(const mn_contact_term *term, const mn_vec3 x[4], double rows[2][12]);
/// How much the motion `delta` of corner k turns a triangle with the edges e[0] and e[1] from its corner 0,
/// rad/m: the sum over the corners is exact for rigid motions.
mn_vec3 mn_triangle_rotation(const mn_vec3 e[2], int k, mn_vec3 delta);

#endif
