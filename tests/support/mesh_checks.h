// SPDX-License-Identifier: Apache-2.0
//
// What a closed triangle mesh has to be: every directed edge once, with its opposite; area and volume.
#ifndef MENISCUS_TESTS_SUPPORT_MESH_CHECKS_H
#define MENISCUS_TESTS_SUPPORT_MESH_CHECKS_H

#include "meniscus/vec.h"
#include "support/check.h"

static int mesh_compare_edges(const void *a, const void *b)
{
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

/// How many directed edges are there more than once or without their opposite, plus vertices out of range and
/// triangles that use one twice: 0 for a closed, oriented mesh whose every edge has exactly two triangles.
static inline int64_t mesh_defects(const int32_t (*triangles)[3], int64_t count, int32_t vertex_count)
{
    int64_t defects = 0;
    uint64_t *edges = malloc(sizeof *edges * 3 * (size_t)(count + 1));
    for (int64_t t = 0; t < count; t++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t a = triangles[t][k], b = triangles[t][(k + 1) % 3];
            if (a < 0 || a >= vertex_count || a == b) defects++;
            edges[3 * t + k] = (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
        }
    qsort(edges, 3 * (size_t)count, sizeof *edges, mesh_compare_edges);
    for (int64_t i = 0; i < 3 * count; i++) {
        const uint64_t opposite = edges[i] << 32 | edges[i] >> 32;
        if (i > 0 && edges[i] == edges[i - 1]) defects++;
        if (!bsearch(&opposite, edges, 3 * (size_t)count, sizeof *edges, mesh_compare_edges)) defects++;
    }
    free(edges);
    return defects;
}

/// The triangles around every vertex form one fan, and every vertex has one.
static inline bool mesh_is_vertex_manifold(const int32_t (*triangles)[3], int64_t count, int32_t vertex_count)
{
    // next[corner of vertex v after a] = b: walk the fan around v and count its triangles.
    int32_t *degree = calloc((size_t)vertex_count + 1, sizeof *degree), *start, *fill;
    bool good = true;
    for (int64_t t = 0; t < count; t++)
        for (int32_t k = 0; k < 3; k++) degree[triangles[t][k]]++;
    start = malloc(sizeof *start * (size_t)(vertex_count + 1));
    fill = malloc(sizeof *fill * (size_t)(vertex_count + 1));
    int32_t sum = 0;
    for (int32_t v = 0; v < vertex_count; v++) start[v] = fill[v] = sum, sum += degree[v];
    int32_t(*links)[2] = malloc(sizeof *links * (size_t)(sum + 1));
    for (int64_t t = 0; t < count; t++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t v = triangles[t][k];
            links[fill[v]][0] = triangles[t][(k + 1) % 3];
            links[fill[v]++][1] = triangles[t][(k + 2) % 3];
        }
    for (int32_t v = 0; v < vertex_count && good; v++) {
        if (degree[v] < 3) good = false;
        if (!good) break;
        int32_t at = links[start[v]][0], walked = 0;
        do {
            int32_t next = -1;
            for (int32_t i = start[v]; i < start[v] + degree[v]; i++)
                if (links[i][0] == at) next = links[i][1];
            at = next;
            walked++;
        } while (at >= 0 && at != links[start[v]][0] && walked <= degree[v]);
        good = walked == degree[v] && at == links[start[v]][0];
    }
    free(degree), free(start), free(fill), free(links);
    return good;
}

static inline mn_vec3 mesh_area_vector(const mn_vec3 *x, const int32_t t[3])
{
    return mn_scale(0.5, mn_cross(mn_sub(x[t[1]], x[t[0]]), mn_sub(x[t[2]], x[t[0]])));
}
static inline double mesh_area(const mn_vec3 *x, const int32_t (*triangles)[3], int64_t count)
{
    double area = 0.0;
    for (int64_t t = 0; t < count; t++) area += mn_norm(mesh_area_vector(x, triangles[t]));
    return area;
}
/// By the divergence theorem: positive when the triangles face outward.
static inline double mesh_volume(const mn_vec3 *x, const int32_t (*triangles)[3], int64_t count)
{
    double volume = 0.0;
    for (int64_t t = 0; t < count; t++)
        volume += mn_dot(x[triangles[t][0]], mn_cross(x[triangles[t][1]], x[triangles[t][2]])) / 6.0;
    return volume;
}

#endif
