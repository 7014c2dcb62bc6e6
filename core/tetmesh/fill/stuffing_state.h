// SPDX-License-Identifier: Apache-2.0
//
// What stuffing.c and stuffing_stencils.c share.
#ifndef MENISCUS_TETMESH_FILL_STUFFING_STATE_H
#define MENISCUS_TETMESH_FILL_STUFFING_STATE_H

#include "tetmesh/fill/lattice.h"
#include "tetmesh/fill/stuffing.h"

/// Of a lattice point.
enum { MN_INSIDE = -1, MN_ON = 0, MN_OUTSIDE = 1 };

/// A lattice edge that the surface crosses; a < b.
typedef struct mn_stuffing_crossing {
    int32_t a, b;
    double t;       ///< from a to b
    int32_t vertex; ///< output vertex, -1 until a stencil uses it; -2 when an end was moved onto the surface
} mn_stuffing_crossing;

typedef struct mn_stuffer {
    mn_context *ctx;
    const mn_tet_stuffing_def *def;
    mn_tet_lattice lattice;
    mn_tet_stuffing *out;
    MN_ARRAY(mn_vec3) position; ///< of lattice points, after warping
    MN_ARRAY(int8_t) sign;
    MN_ARRAY(int32_t) vertex; ///< output vertex of a lattice point
    MN_ARRAY(mn_stuffing_crossing) crossings;
    MN_ARRAY(int32_t) table; ///< hash of crossings
    uint32_t mask;
    MN_ARRAY(int32_t) starts; ///< crossings of each point, as runs of `incident`
    MN_ARRAY(int32_t) incident;
    MN_ARRAY(double) shortest; ///< per point: short and long edge, m; empty when all are alike
} mn_stuffer;

/// Where the crossing of edge a-b, a < b, is in the table, or the free entry for it.
uint32_t mn_stuffing_slot(const mn_stuffer *s, int32_t a, int32_t b);
mn_vec3 mn_stuffing_position(const mn_stuffer *s, const mn_stuffing_crossing *c);
/// Whether an edge of the lattice is one of the two lengths, the longer one.
bool mn_stuffing_is_long(const mn_stuffer *s, int32_t a, int32_t b);
/// The tetrahedra, from the warped lattice (stuffing_stencils.c).
mn_status mn_stuffing_fill(mn_stuffer *s);

#endif
