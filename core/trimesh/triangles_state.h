// SPDX-License-Identifier: Apache-2.0
//
// Inside of mn_triangles.
#ifndef MENISCUS_TRIMESH_TRIANGLES_STATE_H
#define MENISCUS_TRIMESH_TRIANGLES_STATE_H

#include "meniscus/array.h"
#include "trimesh/halving.h"
#include "trimesh/triangles.h"

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
} tree_node;

/// For winding numbers: area-weighted normal and middle of a node's triangles, and how far they reach from
/// there at most.
typedef struct tree_dipole {
    mn_vec3 area_normal, middle;
    double reach;
} tree_dipole;

/// What a node adds to the dipole of the one above it.
typedef struct tree_weight {
    mn_vec3 moment;
    double area;
} tree_weight;

/// A subtree that is built by itself.
typedef struct tree_task {
    int32_t node, first, count;
    tree_weight weight;
} tree_task;

/// One of the three corners of a triangle, or the edge that starts there, sorted by a vertex of it.
typedef struct tree_corner {
    int32_t triangle, k;
} tree_corner;

typedef MN_ARRAY(tree_triangle) tree_triangle_array;

struct mn_triangles {
    mn_context *ctx;
    tree_triangle_array triangles;
    MN_ARRAY(tree_node) nodes;
    MN_ARRAY(tree_dipole) dipoles;
    MN_ARRAY(mn_vec3) vertex_normals; ///< angle-weighted, of welded vertices
    mn_mesh_flaws flaws;

    // scratch of the building, kept for the next time
    tree_triangle_array unsorted; ///< in the caller's order
    MN_ARRAY(int32_t) same, table;
    MN_ARRAY(int32_t) corner_start, edge_start; ///< by vertex, and by lower vertex
    MN_ARRAY(tree_corner) corners, edges;
    MN_ARRAY(uint8_t) flawed; ///< vertices with an edge that a closed mesh may not have
    MN_ARRAY(mn_site) middles;
    MN_ARRAY(tree_task) tasks;
};

/// Orders the triangles of `unsorted` and builds the boxes (triangle_tree_build.c).
mn_status mn_triangles_build_tree(mn_triangles *mesh);
/// Pseudonormals and flaws of `unsorted` (triangle_edges.c); the triangles must have their vertices and
/// normals.
mn_status mn_triangles_join_edges(mn_triangles *mesh, int32_t vertex_count);

#endif
