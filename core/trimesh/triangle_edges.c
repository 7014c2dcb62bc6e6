// SPDX-License-Identifier: Apache-2.0
//
// Which triangles share an edge: angle-weighted pseudonormals [baerentzen2005] of edges and vertices, whose
// dot product with the way to the nearest point has the right sign for a closed mesh, and the count of edges
// that a closed mesh may not have.
#include "base/elementary.h"
#include "trimesh/triangles_state.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1024 };

static double angle_at(const mn_vec3 corner[3], int32_t k)
{
    const mn_vec3 a = mn_sub(corner[(k + 1) % 3], corner[k]), b = mn_sub(corner[(k + 2) % 3], corner[k]);
    return mn_atan2(mn_norm(mn_cross(a, b)), mn_dot(a, b));
}

static int32_t lower_end(const tree_triangle *t, int32_t k)
{
    const int32_t a = t->vertex[k], b = t->vertex[(k + 1) % 3];
    return a < b ? a : b;
}

static int32_t upper_end(const tree_triangle *t, int32_t k)
{
    const int32_t a = t->vertex[k], b = t->vertex[(k + 1) % 3];
    return a < b ? b : a;
}

// Corners by their vertex, and edges by their lower one; those of one vertex in the triangles' order.
static mn_status sort_corners(mn_triangles *mesh, int32_t vertex_count)
{
    mn_context *ctx = mesh->ctx;
    const tree_triangle *t = mesh->unsorted.data;
    const int64_t count = mesh->unsorted.count;
    MN_TRY(mn_array_resize(ctx, &mesh->corner_start, (int64_t)vertex_count + 1));
    MN_TRY(mn_array_resize(ctx, &mesh->edge_start, (int64_t)vertex_count + 1));
    MN_TRY(mn_array_resize(ctx, &mesh->corners, 3 * count));
    MN_TRY(mn_array_resize(ctx, &mesh->edges, 3 * count));
    int32_t *corner_start = mesh->corner_start.data, *edge_start = mesh->edge_start.data;
    memset(corner_start, 0, mn_bytes((int64_t)vertex_count + 1, sizeof *corner_start));
    memset(edge_start, 0, mn_bytes((int64_t)vertex_count + 1, sizeof *edge_start));
    for (int64_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++) corner_start[t[i].vertex[k]]++, edge_start[lower_end(&t[i], k)]++;
    mn_prefix_sum_i32(corner_start, (int64_t)vertex_count + 1);
    mn_prefix_sum_i32(edge_start, (int64_t)vertex_count + 1);
    for (int64_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++) {
            const tree_corner corner = {(int32_t)i, k};
            mesh->corners.data[corner_start[t[i].vertex[k]]++] = corner;
            mesh->edges.data[edge_start[lower_end(&t[i], k)]++] = corner;
        }
    // Each start is now the next one's.
    memmove(corner_start + 1, corner_start, mn_bytes(vertex_count, sizeof *corner_start));
    memmove(edge_start + 1, edge_start, mn_bytes(vertex_count, sizeof *edge_start));
    corner_start[0] = edge_start[0] = 0;
    return MN_OK;
}

/// The triangles along one edge: how many run along it from its lower vertex, and back.
typedef struct mesh_edge {
    int32_t upward, downward;
    mn_vec3 normal; ///< sum of theirs
} mesh_edge;

// Edge `e` of those of the vertex `low`, with all that run along it, too.
static mesh_edge edge_of(const mn_triangles *mesh, int64_t low, int32_t e)
{
    const tree_triangle *t = mesh->unsorted.data;
    const tree_corner own = mesh->edges.data[e];
    const int32_t high = upper_end(&t[own.triangle], own.k);
    mesh_edge edge = {0};
    for (int32_t i = mesh->edge_start.data[low]; i < mesh->edge_start.data[low + 1]; i++) {
        const tree_corner other = mesh->edges.data[i];
        if (upper_end(&t[other.triangle], other.k) != high) continue;
        edge.upward += t[other.triangle].vertex[other.k] == low;
        edge.downward += t[other.triangle].vertex[other.k] != low;
        edge.normal = mn_add(edge.normal, t[other.triangle].normal);
    }
    return edge;
}

static bool is_flawed(const mesh_edge *e)
{
    return e->upward != 1 || e->downward != 1;
}

// Normals of the vertices of a range, and of the edges whose lower vertex is in it.
static mn_status join_range(void *user, mn_range range)
{
    mn_triangles *mesh = user;
    tree_triangle *t = mesh->unsorted.data;
    for (int64_t v = range.begin; v < range.end; v++) {
        mn_vec3 normal = {0};
        for (int32_t i = mesh->corner_start.data[v]; i < mesh->corner_start.data[v + 1]; i++) {
            const tree_corner c = mesh->corners.data[i];
            normal = mn_axpy(normal, angle_at(t[c.triangle].corner, c.k), t[c.triangle].normal);
        }
        mesh->vertex_normals.data[v] = normal;
        mesh->flawed.data[v] = 0;
        for (int32_t e = mesh->edge_start.data[v]; e < mesh->edge_start.data[v + 1]; e++) {
            const tree_corner c = mesh->edges.data[e];
            const mesh_edge edge = edge_of(mesh, v, e);
            t[c.triangle].edge_normal[c.k] = edge.normal;
            if (is_flawed(&edge)) mesh->flawed.data[v] = 1;
        }
    }
    return MN_OK;
}

// ---- flaws ----

// Whether a triangle before that of edge `e` runs along it.
static bool is_counted(const mn_triangles *mesh, int64_t low, int32_t e)
{
    const tree_triangle *t = mesh->unsorted.data;
    const tree_corner own = mesh->edges.data[e];
    const int32_t high = upper_end(&t[own.triangle], own.k);
    for (int32_t i = mesh->edge_start.data[low]; i < e; i++)
        if (upper_end(&t[mesh->edges.data[i].triangle], mesh->edges.data[i].k) == high) return true;
    return false;
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

// The example is the first in the caller's order.
static void find_flaws(mn_triangles *mesh, int32_t vertex_count)
{
    tree_corner first = {INT32_MAX, 0};
    for (int32_t v = 0; v < vertex_count; v++)
        for (int32_t e = mesh->edge_start.data[v]; mesh->flawed.data[v] && e < mesh->edge_start.data[v + 1];
             e++) {
            const tree_corner c = mesh->edges.data[e];
            const mesh_edge edge = edge_of(mesh, v, e);
            if (!is_flawed(&edge)) continue;
            if (!is_counted(mesh, v, e)) count_flaw(&mesh->flaws, &edge);
            if (c.triangle < first.triangle || (c.triangle == first.triangle && c.k < first.k)) first = c;
        }
    if (first.triangle == INT32_MAX) return;
    const tree_triangle *t = &mesh->unsorted.data[first.triangle];
    mesh->flaws.example[0] = t->corner[first.k];
    mesh->flaws.example[1] = t->corner[(first.k + 1) % 3];
    mesh->flaws.example_element = t->element;
}

mn_status mn_triangles_join_edges(mn_triangles *mesh, int32_t vertex_count)
{
    mn_context *ctx = mesh->ctx;
    if (mesh->unsorted.count > INT32_MAX / 4)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%lld triangles are more than a mesh search can hold (%d).",
                       (long long)mesh->unsorted.count, (int)(INT32_MAX / 4));
    MN_TRY(mn_array_resize(ctx, &mesh->vertex_normals, vertex_count));
    MN_TRY(mn_array_resize(ctx, &mesh->flawed, vertex_count));
    MN_TRY(sort_corners(mesh, vertex_count));
    MN_TRY(mn_parallel_long(ctx, vertex_count, GRAIN, join_range, mesh));
    find_flaws(mesh, vertex_count);
    return MN_OK;
}
