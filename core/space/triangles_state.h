// SPDX-License-Identifier: Apache-2.0
//
// Inside of mn_triangles.
#ifndef MENISCUS_SPACE_TRIANGLES_STATE_H
#define MENISCUS_SPACE_TRIANGLES_STATE_H

#include "meniscus/array.h"
#include "meniscus/triangles.h"

enum { LEAF_TRIANGLES = 4, TREE_DEPTH_MAX = 64 };

/// A triangle in the tree's order.
typedef struct tree_triangle {
    mn_vec3 corner[3];
    int32_t vertex[3];      ///< welded
    int32_t given[3];       ///< as the caller numbers them
    int64_t element;        ///< triangle or primitive of the caller
    mn_vec3 normal;         ///< unit, zero when it has no area
    mn_vec3 edge_normal[3]; ///< of edge k from corner k to k + 1: sum of its triangles' normals
} tree_triangle;

/// A box and what it holds: two boxes (the first is the next node) or a few triangles.
typedef struct tree_node {
    mn_box box;
    int32_t first, count; ///< triangles
    int32_t right;        ///< second child, -1 for a leaf
    // The dipole for winding numbers: area-weighted normal and middle, and how far the triangles reach from
    // there.
    mn_vec3 area_normal, middle;
    double reach;
} tree_node;

struct mn_triangles {
    mn_context *ctx;
    MN_ARRAY(tree_triangle) triangles;
    MN_ARRAY(tree_node) nodes;
    MN_ARRAY(mn_vec3) vertex_normals; ///< angle-weighted, of welded vertices
    mn_mesh_flaws flaws;
};

/// Orders the triangles and builds the boxes (triangle_tree.c).
mn_status mn_triangles_build_tree(mn_triangles *mesh);
/// Pseudonormals and flaws (triangle_edges.c); the triangles must have their vertices and normals.
mn_status mn_triangles_join_edges(mn_triangles *mesh, int32_t vertex_count);

#endif
