// SPDX-License-Identifier: Apache-2.0
//
// Clusters of bubbles (cluster.h). Nodes of a grid take the label of the ball that they are in; each cube is
// six tetrahedra, and in each of them the film between nodes i and j of different labels is the part of the
// dual complex that belongs to edge ij:
//
//   (m_ij, f_ijk, c) and (m_ij, c, f_ijl)
//
// m on the edge, f on its faces, c inside. Borders and points where four regions meet come out of it without
// any case, closed and labelled without contradiction. Edges are collapsed to the size afterwards.
#include "film/cluster.h"
#include "meniscus/array.h"

#include <string.h>

enum { PASSES = 6 };
static const double CELL = 0.9; // of the size

typedef struct key {
    int64_t node[3]; ///< rising; -1 where there are fewer
} key;

typedef struct grid {
    mn_complex *c;
    mn_context *ctx;
    int64_t count;
    const mn_vec3 *centers;
    const double *radii;
    mn_vec3 origin;
    double cell;
    int64_t size[3];
    MN_ARRAY(int32_t) label;
    MN_ARRAY(key) keys; ///< open addressing
    MN_ARRAY(int32_t) values;
    int64_t used;
} grid;

static mn_vec3 node_position(const grid *g, int64_t node)
{
    const int64_t x = node % g->size[0], y = node / g->size[0] % g->size[1],
                  z = node / (g->size[0] * g->size[1]);
    return mn_axpy(g->origin, g->cell, mn_v3((double)x, (double)y, (double)z));
}

static double power(const grid *g, int32_t label, mn_vec3 x)
{
    if (label == 0) return 0;
    const double r = g->radii[label - 1];
    return mn_norm2(mn_sub(x, g->centers[label - 1])) - r * r;
}

// ---- table of places ----

static uint64_t hash_of(const key *k)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < 3; i++) h = (h ^ (uint64_t)k->node[i]) * 1099511628211u, h ^= h >> 29;
    return h;
}

static int64_t slot_of(const grid *g, const key *k)
{
    uint64_t at = hash_of(k) & (uint64_t)(g->keys.count - 1);
    while (g->values.data[at] >= 0 && memcmp(&g->keys.data[at], k, sizeof *k) != 0)
        at = (at + 1) & (uint64_t)(g->keys.count - 1);
    return (int64_t)at;
}

static mn_status grow(grid *g)
{
    MN_ARRAY(key) keys = {g->keys.data, g->keys.count, g->keys.capacity};
    MN_ARRAY(int32_t) values = {g->values.data, g->values.count, g->values.capacity};
    memset(&g->keys, 0, sizeof g->keys);
    memset(&g->values, 0, sizeof g->values);
    const int64_t count = keys.count ? 2 * keys.count : 1 << 12;
    mn_status status = mn_array_resize(g->ctx, &g->keys, count);
    if (status == MN_OK) status = mn_array_resize(g->ctx, &g->values, count);
    if (status == MN_OK) {
        mn_fill_bytes(g->values.data, 0xff, mn_bytes(count, sizeof(int32_t)));
        for (int64_t i = 0; i < keys.count; i++) {
            if (values.data[i] < 0) continue;
            const int64_t at = slot_of(g, &keys.data[i]);
            g->keys.data[at] = keys.data[i], g->values.data[at] = values.data[i];
        }
    }
    mn_array_free(g->ctx, &keys);
    mn_array_free(g->ctx, &values);
    return status;
}

static mn_vec3 crossing(const grid *g, int64_t a, int64_t b)
{
    const int32_t la = g->label.data[a], lb = g->label.data[b];
    const mn_vec3 xa = node_position(g, a), xb = node_position(g, b);
    const double fa = power(g, la, xa) - power(g, lb, xa), fb = power(g, la, xb) - power(g, lb, xb);
    const double t = fb - fa > 0 ? -fa / (fb - fa) : 0.5;
    return mn_lerp(xa, xb, fmin(0.9, fmax(0.1, t)));
}

// The vertex on an edge, face or tetrahedron: the middle of the crossings of its edges.
static mn_status vertex_at(grid *g, const int64_t *node, int count, int32_t *vertex)
{
    key k = {{-1, -1, -1}};
    mn_vec3 sum = {0};
    int crossings = 0;
    if (2 * (g->used + 1) > g->keys.count) MN_TRY(grow(g));
    if (count < 4) {
        for (int i = 0; i < count; i++) k.node[i] = node[i];
        for (int i = 1; i < count; i++)
            for (int j = i; j > 0 && k.node[j] < k.node[j - 1]; j--) {
                const int64_t swap = k.node[j];
                k.node[j] = k.node[j - 1], k.node[j - 1] = swap;
            }
        const int64_t at = slot_of(g, &k);
        if (g->values.data[at] >= 0) {
            *vertex = g->values.data[at];
            return MN_OK;
        }
    }
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (g->label.data[node[i]] != g->label.data[node[j]])
                sum = mn_add(sum, node[i] < node[j] ? crossing(g, node[i], node[j])
                                                    : crossing(g, node[j], node[i])),
                crossings++;
    const mn_complex_vertex fresh = {.position = mn_scale(1.0 / crossings, sum), .wire = {-1, -1}};
    *vertex = mn_complex_add_vertex(g->c, &fresh);
    if (*vertex < 0) return MN_ERROR_MEMORY;
    if (count < 4) {
        const int64_t at = slot_of(g, &k);
        g->keys.data[at] = k, g->values.data[at] = *vertex;
        g->used++;
    }
    return MN_OK;
}

// ---- tetrahedra ----

static mn_status add_edge(grid *g, const int64_t *node, int i, int j, int32_t center)
{
    int other[2], count = 0;
    for (int k = 0; k < 4; k++)
        if (k != i && k != j) other[count++] = k;
    int32_t middle, face[2];
    const int64_t ends[2] = {node[i], node[j]};
    MN_TRY(vertex_at(g, ends, 2, &middle));
    for (int k = 0; k < 2; k++) {
        const int64_t corner[3] = {node[i], node[j], node[other[k]]};
        MN_TRY(vertex_at(g, corner, 3, &face[k]));
    }
    // The sign that the triangle (m, f, c) has on the undistorted dual.
    const mn_vec3 a = node_position(g, node[i]), b = node_position(g, node[j]);
    const mn_vec3 x = node_position(g, node[other[0]]), y = node_position(g, node[other[1]]);
    const mn_vec3 m = mn_lerp(a, b, 0.5);
    const double sign = mn_dot(mn_cross(mn_sub(x, m), mn_sub(y, m)), mn_sub(b, a));
    const int32_t la = g->label.data[node[i]], lb = g->label.data[node[j]];
    const int32_t back = sign > 0 ? la : lb, front = sign > 0 ? lb : la;
    if (mn_complex_add_triangle(g->c, middle, face[0], center, back, front) < 0 ||
        mn_complex_add_triangle(g->c, middle, center, face[1], back, front) < 0)
        return MN_ERROR_MEMORY;
    return MN_OK;
}

static mn_status add_tetrahedron(grid *g, const int64_t *node)
{
    int32_t center = -1;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            if (g->label.data[node[i]] == g->label.data[node[j]]) continue;
            if (center < 0) MN_TRY(vertex_at(g, node, 4, &center));
            MN_TRY(add_edge(g, node, i, j, center));
        }
    return MN_OK;
}

static mn_status add_cube(grid *g, int64_t x, int64_t y, int64_t z)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int64_t step[3] = {1, g->size[0], g->size[0] * g->size[1]};
    const int64_t first = x + y * step[1] + z * step[2];
    bool mixed = false;
    for (int i = 1; i < 8; i++)
        mixed =
            mixed || g->label.data[first + (i & 1) * step[0] + (i >> 1 & 1) * step[1] + (i >> 2) * step[2]] !=
                         g->label.data[first];
    for (int i = 0; i < 6 && mixed; i++) {
        int64_t node[4] = {first};
        for (int k = 0; k < 3; k++) node[k + 1] = node[k] + step[order[i][k]];
        MN_TRY(add_tetrahedron(g, node));
    }
    return MN_OK;
}

static mn_status label_nodes(grid *g)
{
    MN_TRY(mn_array_resize(g->ctx, &g->label, g->size[0] * g->size[1] * g->size[2]));
    mn_fill_bytes(g->label.data, 0, mn_bytes(g->label.count, sizeof(int32_t)));
    for (int64_t b = 0; b < g->count; b++) {
        MN_TRY(mn_check_cancelled(g->ctx));
        int64_t low[3], high[3];
        const double c[3] = {g->centers[b].x - g->origin.x, g->centers[b].y - g->origin.y,
                             g->centers[b].z - g->origin.z};
        for (int i = 0; i < 3; i++) {
            low[i] = (int64_t)fmax(1, ceil((c[i] - g->radii[b]) / g->cell));
            high[i] = (int64_t)fmin((double)(g->size[i] - 2), floor((c[i] + g->radii[b]) / g->cell));
        }
        for (int64_t z = low[2]; z <= high[2]; z++)
            for (int64_t y = low[1]; y <= high[1]; y++)
                for (int64_t x = low[0]; x <= high[0]; x++) {
                    const int64_t node = x + g->size[0] * (y + g->size[1] * z);
                    const mn_vec3 p = node_position(g, node);
                    const double mine = power(g, (int32_t)b + 1, p);
                    if (mine < 0 && mine < power(g, g->label.data[node], p))
                        g->label.data[node] = (int32_t)b + 1;
                }
    }
    return MN_OK;
}

static mn_status build(grid *g)
{
    MN_TRY(label_nodes(g));
    for (int64_t z = 0; z + 1 < g->size[2]; z++)
        for (int64_t y = 0; y + 1 < g->size[1]; y++) {
            MN_TRY(mn_check_cancelled(g->ctx));
            for (int64_t x = 0; x + 1 < g->size[0]; x++) MN_TRY(add_cube(g, x, y, z));
        }
    mn_remesh_counts counts = {0};
    for (int i = 0; i < PASSES; i++) {
        MN_TRY(mn_complex_remesh(g->c, 0.55 * g->cell / CELL, 1.4 * g->cell / CELL, &counts));
        MN_TRY(mn_complex_compact(g->c));
    }
    return MN_OK;
}

mn_status mn_film_cluster(mn_complex *c, int64_t count, const mn_vec3 *centers, const double *radii,
                          double size, int64_t max_cells)
{
    grid g = {.c = c, .ctx = c->ctx, .count = count, .centers = centers, .radii = radii, .cell = CELL * size};
    mn_box box = mn_box_empty();
    for (int64_t i = 0; i < count; i++) {
        if (!mn_is_finite3(centers[i]) || !(radii[i] > 0) || !isfinite(radii[i]))
            return mn_fail(c->ctx, MN_ERROR_INPUT,
                           "Bubble %lld needs a finite position and a radius above 0.", (long long)i);
        if (radii[i] < 2 * size)
            return mn_fail(
                c->ctx, MN_ERROR_INPUT,
                "Bubble %lld has a radius of %g m, too small for films of size %g m; use a size of at most "
                "%g m.",
                (long long)i, radii[i], size, 0.5 * radii[i]);
        box = mn_box_join(box, mn_box_grow((mn_box){centers[i], centers[i]}, radii[i]));
    }
    if (count == 0) return MN_OK;
    g.origin = mn_sub(box.min, mn_scale(2.37 * g.cell, mn_v3(1, 1, 1)));
    const mn_vec3 span = mn_sub(box.max, g.origin);
    const double nodes[3] = {span.x / g.cell + 4, span.y / g.cell + 4, span.z / g.cell + 4};
    if (!(nodes[0] * nodes[1] * nodes[2] <= (double)max_cells))
        return mn_fail(
            c->ctx, MN_ERROR_INPUT,
            "The bubbles take %.3g cells of %g m and may take %lld; use a larger size or put them nearer.",
            nodes[0] * nodes[1] * nodes[2], g.cell, (long long)max_cells);
    for (int i = 0; i < 3; i++) g.size[i] = (int64_t)nodes[i];
    const mn_status status = build(&g);
    mn_array_free(g.ctx, &g.label);
    mn_array_free(g.ctx, &g.keys);
    mn_array_free(g.ctx, &g.values);
    return status;
}
