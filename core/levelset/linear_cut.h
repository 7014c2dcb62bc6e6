// SPDX-License-Identifier: Apache-2.0
//
// A tetrahedron cut by two fields that are linear in it: f, whose zero is the surface that is looked for, and
// g, which keeps the part of it where g > 0 (for a liquid's surface g is the distance from the solid; for the
// wetted part of a solid f is that distance and g is inside the liquid).
//
// The cut of a tetrahedron is a triangle or a quadrangle, and clipping a convex polygon by a plane adds at
// most one corner. A tetrahedron clipped by g > 0 is one tetrahedron or up to three.
#ifndef MENISCUS_LEVELSET_LINEAR_CUT_H
#define MENISCUS_LEVELSET_LINEAR_CUT_H

#include "meniscus/vec.h"

typedef struct mn_cut_vertex {
    mn_vec3 x;
    double f, g;
} mn_cut_vertex;

typedef struct mn_cut_polygon {
    mn_cut_vertex v[5];
    int32_t count;
    bool clipped;           ///< some of it was taken away
    mn_vec3 edge_a, edge_b; ///< the edge that clipping made, where f = g = 0; valid with `clipped`
} mn_cut_polygon;

static inline mn_cut_vertex mn_cut_between(mn_cut_vertex a, mn_cut_vertex b, double t)
{
    mn_cut_vertex r;
    r.x = mn_lerp(a.x, b.x, t);
    r.f = a.f + t * (b.f - a.f);
    r.g = a.g + t * (b.g - a.g);
    return r;
}

/// Where f is zero between a (below) and b (not below).
static inline mn_cut_vertex mn_cut_crossing(mn_cut_vertex a, mn_cut_vertex b)
{
    mn_cut_vertex r = mn_cut_between(a, b, a.f / (a.f - b.f));
    r.f = 0;
    return r;
}

/// The zero of f in a tetrahedron; false when there is none.
static inline bool mn_cut_tet(const mn_cut_vertex v[4], mn_cut_polygon *out)
{
    mn_cut_vertex in[4], above[4];
    int32_t ins = 0, outs = 0;
    for (int32_t i = 0; i < 4; i++) {
        if (v[i].f < 0)
            in[ins++] = v[i];
        else
            above[outs++] = v[i];
    }
    out->count = 0, out->clipped = false;
    if (ins == 0 || outs == 0) return false;
    if (ins == 2) {
        out->v[out->count++] = mn_cut_crossing(in[0], above[0]);
        out->v[out->count++] = mn_cut_crossing(in[0], above[1]);
        out->v[out->count++] = mn_cut_crossing(in[1], above[1]);
        out->v[out->count++] = mn_cut_crossing(in[1], above[0]);
        return true;
    }
    for (int32_t i = 0; i < 3; i++)
        out->v[out->count++] = ins == 1 ? mn_cut_crossing(in[0], above[i]) : mn_cut_crossing(in[i], above[0]);
    return true;
}

/// Keeps the part of a convex polygon where g > 0; false when there is none.
static inline bool mn_cut_clip(mn_cut_polygon *p)
{
    mn_cut_polygon kept = {.count = 0};
    int32_t edges = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const mn_cut_vertex a = p->v[i], b = p->v[(i + 1) % p->count];
        if (a.g > 0) kept.v[kept.count++] = a;
        if ((a.g > 0) == (b.g > 0)) continue;
        const mn_cut_vertex c = mn_cut_between(a, b, a.g / (a.g - b.g));
        if (edges++ == 0)
            kept.edge_a = c.x;
        else
            kept.edge_b = c.x;
        kept.v[kept.count++] = c;
    }
    kept.clipped = edges == 2;
    *p = kept;
    return kept.count >= 3;
}

/// Area vector (in the order of the corners) and centroid of a convex polygon.
static inline mn_vec3 mn_cut_area(const mn_cut_polygon *p, mn_vec3 *centroid)
{
    mn_vec3 area = {0, 0, 0}, first = {0, 0, 0}, mean = {0, 0, 0};
    double total = 0;
    for (int32_t i = 1; i + 1 < p->count; i++) {
        const mn_vec3 a = p->v[0].x, b = p->v[i].x, c = p->v[i + 1].x;
        const mn_vec3 half = mn_scale(0.5, mn_cross(mn_sub(b, a), mn_sub(c, a)));
        const mn_vec3 middle = mn_scale(1.0 / 3.0, mn_add(a, mn_add(b, c)));
        const double size = mn_norm(half);
        if (i == 1) first = middle;
        area = mn_add(area, half);
        mean = mn_axpy(mean, size, middle);
        total += size;
    }
    *centroid = total > 0 ? mn_scale(1 / total, mean) : first;
    return area;
}

/// The gradient of the linear field with these values at the corners (f or g, by `second`); false when flat.
static inline bool mn_cut_gradient(const mn_cut_vertex v[4], bool second, mn_vec3 *gradient)
{
    mn_mat3 edges, inverse;
    double d[3];
    for (int i = 0; i < 3; i++) {
        const mn_vec3 e = mn_sub(v[i + 1].x, v[0].x);
        edges.m[i][0] = e.x, edges.m[i][1] = e.y, edges.m[i][2] = e.z;
        d[i] = second ? v[i + 1].g - v[0].g : v[i + 1].f - v[0].f;
    }
    if (!mn_m3_inverse(edges, &inverse)) return false;
    *gradient = mn_m3_apply(inverse, mn_v3(d[0], d[1], d[2]));
    return mn_norm2(*gradient) > 0;
}

/// The part of a tetrahedron where g > 0 as tetrahedra: how many.
static inline int32_t mn_cut_open_parts(const mn_cut_vertex v[4], mn_cut_vertex parts[3][4])
{
    mn_cut_vertex in[4], out[4];
    int32_t ins = 0, outs = 0;
    for (int32_t i = 0; i < 4; i++) {
        if (v[i].g > 0)
            in[ins++] = v[i];
        else
            out[outs++] = v[i];
    }
    if (ins == 0) return 0;
    if (outs == 0) {
        for (int32_t i = 0; i < 4; i++) parts[0][i] = v[i];
        return 1;
    }
#define CROSS(a, b) mn_cut_between(in[a], out[b], in[a].g / (in[a].g - out[b].g))
    if (ins == 1) {
        parts[0][0] = in[0];
        for (int32_t i = 0; i < 3; i++) parts[0][i + 1] = CROSS(0, i);
        return 1;
    }
    // A prism between the triangles a and b.
    mn_cut_vertex a[3], b[3];
    if (ins == 2) {
        a[0] = in[0], a[1] = CROSS(0, 0), a[2] = CROSS(0, 1);
        b[0] = in[1], b[1] = CROSS(1, 0), b[2] = CROSS(1, 1);
    } else {
        for (int32_t i = 0; i < 3; i++) a[i] = in[i], b[i] = CROSS(i, 0);
    }
#undef CROSS
    for (int32_t t = 0; t < 3; t++)
        for (int32_t i = 0; i < 4; i++) parts[t][i] = i <= 2 - t ? a[i] : b[i - 1];
    return 3;
}

/// Tetrahedron t of the six of a unit cell, 0 -> e_a -> e_a + e_b -> (1,1,1), with f and g given at the
/// cell's corners 4 x + 2 y + z.
static inline void mn_cut_tet_of_cell(int32_t t, const double f[8], const double g[8], mn_cut_vertex v[4])
{
    static const int32_t path[6][2] = {{4, 6}, {4, 5}, {2, 6}, {2, 3}, {1, 5}, {1, 3}};
    const int32_t corner[4] = {0, path[t][0], path[t][1], 7};
    for (int32_t i = 0; i < 4; i++) {
        const int32_t c = corner[i];
        v[i].x = mn_v3(c >> 2, c >> 1 & 1, c & 1);
        v[i].f = f[c];
        v[i].g = g[c];
    }
}

/// Six times the volume of a tetrahedron.
static inline double mn_cut_volume6(const mn_cut_vertex v[4])
{
    const mn_vec3 a = mn_sub(v[1].x, v[0].x), b = mn_sub(v[2].x, v[0].x), c = mn_sub(v[3].x, v[0].x);
    return fabs(mn_dot(a, mn_cross(b, c)));
}

#endif
