// SPDX-License-Identifier: Apache-2.0
//
// Edges of polygons that are not shared by exactly two in opposite directions: sorted, the directions of
// equal ones add up to zero on a closed surface.
#include "mesh/polygon_checks.h"

#include "meniscus/array.h"

#include <stdlib.h>

typedef struct half_edge {
    int64_t low, high;
    int32_t direction;
} half_edge;

static int compare_edges(const void *a, const void *b)
{
    const half_edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->direction - y->direction;
}

mn_status mn_polygons_open_edges(const mn_geo *geo, int64_t *open, int64_t *point)
{
    mn_context *ctx = mn_geo_context(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    MN_ARRAY(half_edge) edges = {0};
    mn_status status = MN_OK;
    *open = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        const int64_t count = starts[p + 1] - starts[p];
        for (int64_t i = 0; kinds[p] == MN_POLYGON && i < count; i++) {
            const int64_t a = points[starts[p] + i], b = points[starts[p] + (i + 1) % count];
            const half_edge e = {a < b ? a : b, a < b ? b : a, a < b ? 1 : -1};
            if (a != b) MN_TRY_TO(done, status, mn_array_push(ctx, &edges, &e));
        }
    }
    if (edges.count) qsort(edges.data, (size_t)edges.count, sizeof *edges.data, compare_edges);
    for (int64_t i = 0, end; i < edges.count; i = end) {
        int32_t balance = 0;
        for (end = i; end < edges.count && edges.data[end].low == edges.data[i].low &&
                      edges.data[end].high == edges.data[i].high;
             end++)
            balance += edges.data[end].direction;
        if (balance == 0) continue;
        if (*open == 0 && point) *point = edges.data[i].low;
        ++*open;
    }
done:
    mn_array_free(ctx, &edges);
    return status;
}
