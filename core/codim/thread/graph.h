// SPDX-License-Identifier: Apache-2.0
//
// Threads of liquid (codimension 2) as a graph through a cloud of points, found anew whenever it is asked for
// (graph.c), and the energy of their surface on it (energy.c).
//
// A node is a point of a thread, or a point of a film that the end of a thread hangs on. A link is a piece of
// thread between two nodes. Threads branch where a node has more than two links, and end where it has one.
#ifndef MENISCUS_CODIM_THREAD_GRAPH_H
#define MENISCUS_CODIM_THREAD_GRAPH_H

#include "meniscus/array.h"
#include "meniscus/vec.h"
#include "space/neighbours.h"

/// Points farther apart than this many spacings are not linked.
#define MN_THREAD_REACH 2.1

enum { MN_THREAD_DEGREE = 6 };

/// What a graph is built from.
typedef struct mn_codim_thread_points {
    int64_t count;
    const mn_vec3 *position;
    const mn_vec3 *direction;  ///< unit, of the step before: along the thread
    const double *volume;      ///< m^3
    const uint8_t *use;        ///< 1: a point of a thread; 2: of a film, where threads may end; 0: neither
    const uint8_t *pinned;     ///< an end that is held has no cap
    const mn_neighbours *near; ///< of all points
    double spacing;            ///< m
} mn_codim_thread_points;

typedef struct mn_codim_thread_node {
    int32_t point;
    int32_t degree;
    int32_t link[MN_THREAD_DEGREE];
    double volume; ///< m^3; 0: a film's point
    bool capped;   ///< a free end
} mn_codim_thread_node;

typedef struct mn_codim_thread_link {
    int32_t a, b; ///< nodes, a < b
} mn_codim_thread_link;

/// A link at some positions of its nodes.
typedef struct mn_codim_thread_piece {
    mn_vec3 along;     ///< unit, from a to b
    double length;     ///< m
    double radius[2];  ///< m, at its ends
    double slant;      ///< m, sqrt(length^2 + (difference of the radii)^2)
    double tension;    ///< N, d(energy)/d(length)
    double rate, pull; ///< scratch of the stiffness: change of length, its force
} mn_codim_thread_piece;

/// A node likewise.
typedef struct mn_codim_thread_bead {
    double room;         ///< m, half of the lengths of its links
    double radius;       ///< m
    double steepness;    ///< N, d(energy)/d(radius), then per length: d(energy)/d(room)
    double bend;         ///< N/m, how a thread thicker than its links are long keeps straight
    mn_vec3 along;       ///< direction there, for bending
    double rate, weight; ///< scratch of the stiffness
} mn_codim_thread_bead;

typedef struct mn_codim_thread_shape {
    MN_ARRAY(mn_codim_thread_piece) pieces;
    MN_ARRAY(mn_codim_thread_bead) beads;
    double energy; ///< J
} mn_codim_thread_shape;

typedef struct mn_codim_thread_edge {
    double length2;
    int32_t a, b;
} mn_codim_thread_edge;

typedef struct mn_codim_thread_graph {
    mn_context *ctx;
    mn_neighbours *neighbours;
    MN_ARRAY(mn_codim_thread_node) nodes;
    MN_ARRAY(mn_codim_thread_link) links;
    MN_ARRAY(int32_t) node_of;   ///< of each point; -1: it is none
    mn_codim_thread_shape shape; ///< at the positions it was built from
    mn_codim_thread_shape trial; ///< somewhere else
    MN_ARRAY(mn_vec3) positions, directions;
    MN_ARRAY(mn_codim_thread_edge) edges;
    MN_ARRAY(uint8_t) chosen; ///< of each pair of neighbours: 1: it becomes a link
} mn_codim_thread_graph;

mn_status mn_codim_thread_graph_create(mn_context *ctx, mn_codim_thread_graph *graph);
void mn_codim_thread_graph_free(mn_codim_thread_graph *graph);
mn_status mn_codim_thread_graph_build(mn_codim_thread_graph *graph, const mn_codim_thread_points *points,
                                      double sigma);

/// Orders thread_edges by their length, for qsort().
int mn_codim_thread_by_length(const void *first, const void *second);

/// The node at the other end of a link.
static inline int32_t mn_codim_thread_other(const mn_codim_thread_graph *graph, int32_t link, int32_t node)
{
    const mn_codim_thread_link *l = &graph->links.data[link];
    return l->a == node ? l->b : l->a;
}

// ---- energy.c ----

/// Lengths, radii, energy and tensions at positions x of the points.
mn_status mn_codim_thread_measure(const mn_codim_thread_graph *graph, const mn_vec3 *x, double sigma,
                                  mn_codim_thread_shape *shape);
/// Adds factor times the forces, -d(energy)/dx, of a shape; bending is that of positions x.
void mn_codim_thread_add_forces(const mn_codim_thread_graph *graph, const mn_codim_thread_shape *shape,
                                const mn_vec3 *x, double factor, mn_vec3 *out);

/// How stiffly a thread answers to motion: out += B u (times stiff) + N u (times viscous), B a positive
/// semidefinite part of the energy's second derivative and N the viscosity, both at graph->shape.
typedef struct mn_codim_thread_operator {
    mn_codim_thread_graph *graph;
    double sigma, viscosity, density;
    double stiff, viscous; ///< factors of B and N
} mn_codim_thread_operator;
void mn_codim_thread_apply(const mn_codim_thread_operator *op, const mn_vec3 *u, mn_vec3 *out);
/// Adds about the diagonal of what mn_codim_thread_apply() does.
void mn_codim_thread_add_diagonal(const mn_codim_thread_operator *op, double *diagonal);

#endif
