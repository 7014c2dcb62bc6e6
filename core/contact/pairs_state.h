// SPDX-License-Identifier: Apache-2.0
//
// What a mn_contact_pairs holds. For core/contact only.
#ifndef MENISCUS_CONTACT_PAIRS_STATE_H
#define MENISCUS_CONTACT_PAIRS_STATE_H

#include "contact/box_tree.h"
#include "contact/surface.h"

typedef MN_ARRAY(int32_t) mn_index_array;
typedef int32_t mn_index3[3], mn_index2[2];
typedef double mn_fraction_and_gap[2];

struct mn_contact_pairs {
    mn_context *ctx;
    int32_t vertex_count, triangle_count, edge_count, group_count;
    MN_ARRAY(mn_index3) triangle;
    MN_ARRAY(mn_index3) neighbour; ///< triangle across the edge from corner k to the next, -1 for none
    MN_ARRAY(mn_index3) side;      ///< edge from corner k to the next
    MN_ARRAY(mn_index2) edge;
    MN_ARRAY(mn_index2) edge_wing; ///< vertices opposite to it in its two triangles, -1 for none
    mn_index_array group, valence; ///< of vertices; valence: triangles around one that is inside, else -1
    MN_ARRAY(uint32_t) flags;
    MN_ARRAY(double) stiffness, area, edge_area, edge_length2; ///< lengths squared, at rest
    MN_ARRAY(double) edge_weight;                              ///< by mn_contact_weigh_edges

    mn_box_tree triangle_tree, edge_tree;
    MN_ARRAY(mn_box) triangle_box, edge_box;
    MN_ARRAY(mn_vec3) center;

    // candidates: triangles of a vertex rising, later edges of an edge rising
    MN_ARRAY(int64_t) point_start, edge_start;
    mn_index_array point_triangle, edge_edge;
    MN_ARRAY(mn_index_array) chunk; ///< what the chunks of a search have found
    MN_ARRAY(mn_contact_terms) chunk_terms;
    MN_ARRAY(mn_fraction_and_gap) chunk_step; ///< fraction and gap
};

/// False for elements of one group that does not touch itself, and of two that are both fixed.
static inline bool mn_contact_may_touch(const mn_contact_pairs *c, int32_t v, int32_t w)
{
    const int32_t a = c->group.data[v], b = c->group.data[w];
    if (a == b) return (c->flags.data[a] & MN_CONTACT_SELF) != 0;
    return !(c->flags.data[a] & c->flags.data[b] & MN_CONTACT_FIXED);
}

#endif
