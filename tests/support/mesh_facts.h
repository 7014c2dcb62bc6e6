// SPDX-License-Identifier: Apache-2.0
//
// What the polygons of a geo are as a surface: counted slowly and simply, to check what was made quickly.
#ifndef MENISCUS_TESTS_SUPPORT_MESH_FACTS_H
#define MENISCUS_TESTS_SUPPORT_MESH_FACTS_H

#include <stdlib.h>

#include "meniscus/geo.h"

typedef struct mesh_facts {
    int64_t points; ///< used by polygons
    int64_t edges;  ///< without direction
    int64_t faces;
    int64_t bad_edges; ///< not used exactly once in each direction
    double volume;     ///< m^3, polygons as fans; positive when they face out
    double area;       ///< m^2
} mesh_facts;

typedef struct mesh_edge {
    int64_t low, high;
    int direction;
} mesh_edge;

static inline int mesh_compare_edges(const void *pa, const void *pb)
{
    const mesh_edge *a = (const mesh_edge *)pa, *b = (const mesh_edge *)pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->direction - b->direction;
}

/// V - E + F: 2 for a ball, 0 for a torus, twice that for two of them.
static inline int64_t mesh_euler(const mesh_facts *f)
{
    return f->points - f->edges + f->faces;
}

static inline mesh_facts mesh_facts_of(const mn_geo *geo)
{
    mesh_facts f = {0};
    const int64_t *starts = mn_geo_primitive_starts(geo), *vertices = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    mesh_edge *edges = (mesh_edge *)malloc(sizeof(mesh_edge) * (size_t)(mn_geo_vertex_count(geo) + 1));
    char *used = (char *)calloc((size_t)(mn_geo_point_count(geo) + 1), 1);
    int64_t count = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        if (kinds[p] != MN_POLYGON) continue;
        f.faces++;
        const int64_t n = starts[p + 1] - starts[p];
        const int64_t *corner = vertices + starts[p];
        const mn_vec3 a = mn_geo_position(geo, corner[0]);
        for (int64_t i = 0; i < n; i++) {
            const int64_t u = corner[i], v = corner[(i + 1) % n];
            used[u] = 1;
            edges[count].low = u < v ? u : v;
            edges[count].high = u < v ? v : u;
            edges[count++].direction = u < v ? 1 : -1;
            if (i < 1 || i + 1 >= n) continue;
            const mn_vec3 b = mn_geo_position(geo, u), c = mn_geo_position(geo, v);
            f.volume += mn_dot(a, mn_cross(b, c)) / 6;
            f.area += 0.5 * mn_norm(mn_cross(mn_sub(b, a), mn_sub(c, a)));
        }
    }
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) f.points += used[i];
    qsort(edges, (size_t)count, sizeof *edges, mesh_compare_edges);
    for (int64_t i = 0; i < count;) {
        int64_t j = i;
        int sum = 0;
        while (j < count && edges[j].low == edges[i].low && edges[j].high == edges[i].high)
            sum += edges[j++].direction;
        f.edges++;
        if (j - i != 2 || sum != 0) f.bad_edges++;
        i = j;
    }
    free(edges);
    free(used);
    return f;
}

#endif
