// SPDX-License-Identifier: Apache-2.0
//
// Moves that keep the edges of a complex near their target length and its triangles well shaped, and the
// collapse that every change of topology begins with.
#ifndef MENISCUS_FILM_REMESH_H
#define MENISCUS_FILM_REMESH_H

#include "film/resolve.h"

/// What remeshing did.
typedef struct mn_remesh_counts {
    int64_t splits, collapses, flips, forced, t1, undone, vanished, threads;
} mn_remesh_counts;

/// The vertex is on the free edge of a film, which no wire and no wall holds.
bool mn_complex_on_rim(const mn_complex *c, int32_t v);

/// One of the triangles is the surface of a volume: films' moves leave it alone.
bool mn_complex_on_volume(const mn_complex *c, const int32_t *triangles, int32_t count);

/// A vertex in the middle of the edge; -1 when memory is out. Each end gives a third of its mass with that
/// mass's own momentum; a rim gives nothing and the inner end a half instead.
int32_t mn_complex_split(mn_complex *c, int32_t a, int32_t b);
/// The other diagonal of the two triangles at the edge, where that is better and nothing stands against it.
bool mn_complex_flip(mn_complex *c, int32_t a, int32_t b);
/// Merges the ends of the edge where topology and shape allow it. The index of the vertex that stays, or -1.
int32_t mn_complex_collapse(mn_complex *c, int32_t a, int32_t b);

/// Inside a move: `gone` becomes `kept` whatever the topology, at position x. Triangles that come to lie on
/// each other, (l0, l1) and (l1, l2), become (l0, l2), or nothing where l0 = l2. False when labels do not
/// allow it; the caller undoes the move.
bool mn_complex_merge(mn_complex *c, int32_t kept, int32_t gone, mn_vec3 x);

// ---- wet_moves.c ----

/// Inside a split of edge a-b at vertex m, which has its film's liquid already: its tetrahedra.
bool mn_complex_split_tets(mn_complex *c, int32_t a, int32_t b, int32_t m);
/// Inside a merge: the tetrahedra of `gone`.
bool mn_complex_merge_tets(mn_complex *c, int32_t kept, int32_t gone);
/// Merges two vertices at which films hang on a volume. The one that stays, or -1.
int32_t mn_complex_collapse_wet(mn_complex *c, int32_t a, int32_t b);

/// An edge of films or threads, a < b.
typedef struct mn_edge_entry {
    double length2;
    int32_t a, b;
} mn_edge_entry;
typedef MN_ARRAY(mn_edge_entry) mn_edge_list;
/// Edges shorter than `low` or longer than `high`, rising; some more than once. `graded`: both times what
/// mn_complex_fine() says.
mn_status mn_complex_list_edges(mn_complex *c, mn_edge_list *edges, double low, double high, bool graded);

/// One pass of each: splits above `longest`, collapses below `shortest`, both graded, flips.
mn_status mn_complex_remesh(mn_complex *c, double shortest, double longest, mn_remesh_counts *counts);

#endif
