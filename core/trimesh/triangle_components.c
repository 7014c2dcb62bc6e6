// SPDX-License-Identifier: Apache-2.0
//
// The parts of a mesh that are connected by their vertices: a forest of vertices, joined along the triangles'
// edges, whose roots are the lowest vertices.
#include "trimesh/triangles_state.h"

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a), b = root_of(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

mn_status mn_triangles_parts(mn_context *ctx, const mn_triangles *triangles, int64_t vertex_count,
                             int32_t *parts, int32_t *part_count)
{
    MN_ARRAY(int32_t) parent = {0};
    *part_count = 0;
    MN_TRY(mn_array_resize(ctx, &parent, vertex_count));
    for (int64_t i = 0; i < vertex_count; i++) parent.data[i] = (int32_t)i, parts[i] = -1;
    for (int64_t i = 0; i < triangles->triangles.count; i++) {
        const tree_triangle *t = &triangles->triangles.data[i];
        for (int32_t k = 0; k < 3; k++) {
            join(parent.data, t->vertex[k], t->vertex[(k + 1) % 3]);
            join(parent.data, t->vertex[k], t->given[k]);
            parts[t->given[k]] = 0;
        }
    }
    for (int32_t i = 0; i < (int32_t)vertex_count; i++) {
        if (parts[i] < 0) continue; // of no triangle
        const int32_t root = root_of(parent.data, i);
        parts[i] = root < i ? parts[root] : (*part_count)++;
    }
    mn_array_free(ctx, &parent);
    return MN_OK;
}
