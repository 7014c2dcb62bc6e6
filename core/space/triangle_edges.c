// SPDX-License-Identifier: Apache-2.0
//
// Which triangles share an edge: angle-weighted pseudonormals [baerentzen2005] of edges and vertices, whose
// dot product with the way to the nearest point has the right sign for a closed mesh, and the count of edges
// that a closed mesh may not have.
#include "triangles_state.h"

#include <math.h>
#include <string.h>

/// An edge between two welded vertices, low < high.
typedef struct mesh_edge {
    int32_t low, high;        ///< low -1: a free place of the table
    int32_t upward, downward; ///< how many triangles run along it from low to high, and back
    mn_vec3 normal;           ///< sum of theirs
} mesh_edge;

static mesh_edge *edge_of(mesh_edge *table, int64_t size, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t h =
        (uint64_t)(uint32_t)low * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)high * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    uint64_t slot = (h ^ h >> 32) & (uint64_t)(size - 1);
    while (table[slot].low >= 0 && (table[slot].low != low || table[slot].high != high))
        slot = (slot + 1) & (uint64_t)(size - 1);
    if (table[slot].low < 0) table[slot] = (mesh_edge){.low = low, .high = high};
    return &table[slot];
}

static double angle_at(const mn_vec3 corner[3], int32_t k)
{
    const mn_vec3 a = mn_sub(corner[(k + 1) % 3], corner[k]), b = mn_sub(corner[(k + 2) % 3], corner[k]);
    return atan2(mn_norm(mn_cross(a, b)), mn_dot(a, b));
}

static bool is_flawed(const mesh_edge *e)
{
    return e->upward != 1 || e->downward != 1;
}

static void count_flaw(mn_mesh_flaws *flaws, const mesh_edge *e)
{
    if (e->upward + e->downward == 1)
        flaws->open_edges++;
    else if (e->upward + e->downward > 2)
        flaws->crowded_edges++;
    else if (e->upward != e->downward)
        flaws->flipped_edges++;
}

static void find_flaws(mn_triangles *mesh, mesh_edge *table, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        if (table[i].low >= 0) count_flaw(&mesh->flaws, &table[i]);
    // The example is the first in the caller's order.
    for (int64_t i = 0; i < mesh->triangles.count; i++) {
        const tree_triangle *t = &mesh->triangles.data[i];
        for (int32_t k = 0; k < 3; k++) {
            if (!is_flawed(edge_of(table, size, t->vertex[k], t->vertex[(k + 1) % 3]))) continue;
            mesh->flaws.example[0] = t->corner[k];
            mesh->flaws.example[1] = t->corner[(k + 1) % 3];
            mesh->flaws.example_element = t->element;
            return;
        }
    }
}

mn_status mn_triangles_join_edges(mn_triangles *mesh, int32_t vertex_count)
{
    mn_context *ctx = mesh->ctx;
    if (mesh->triangles.count > INT32_MAX / 4)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%lld triangles are more than a mesh search can hold (%d).",
                       (long long)mesh->triangles.count, (int)(INT32_MAX / 4));
    MN_TRY(mn_array_resize(ctx, &mesh->vertex_normals, vertex_count));
    for (int32_t v = 0; v < vertex_count; v++) mesh->vertex_normals.data[v] = mn_v3(0, 0, 0);
    int64_t size = 16;
    while (size < 6 * mesh->triangles.count) size *= 2; // at most three edges each, half full
    mesh_edge *table = mn_allocate(ctx, mn_bytes(size, sizeof *table));
    if (!table) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < size; i++) table[i].low = -1;
    for (int64_t i = 0; i < mesh->triangles.count; i++) {
        const tree_triangle *t = &mesh->triangles.data[i];
        for (int32_t k = 0; k < 3; k++) {
            const int32_t a = t->vertex[k], b = t->vertex[(k + 1) % 3];
            mesh_edge *e = edge_of(table, size, a, b);
            e->upward += a < b;
            e->downward += a > b;
            e->normal = mn_add(e->normal, t->normal);
            mesh->vertex_normals.data[a] =
                mn_axpy(mesh->vertex_normals.data[a], angle_at(t->corner, k), t->normal);
        }
    }
    for (int64_t i = 0; i < mesh->triangles.count; i++) {
        tree_triangle *t = &mesh->triangles.data[i];
        for (int32_t k = 0; k < 3; k++)
            t->edge_normal[k] = edge_of(table, size, t->vertex[k], t->vertex[(k + 1) % 3])->normal;
    }
    find_flaws(mesh, table, size);
    mn_release(ctx, table, mn_bytes(size, sizeof *table));
    return MN_OK;
}
