// SPDX-License-Identifier: Apache-2.0
//
// The invariants of a complex (complex.h).
#include "film/complex.h"
#include "meniscus/tetmesh.h"

static mn_status check_slots(const mn_complex *c)
{
    int64_t corners = 0, ends = 0;
    for (int64_t t = 0; t < c->triangles.count; t++) {
        const mn_complex_triangle *triangle = &c->triangles.data[t];
        if (triangle->v[0] < 0) continue;
        corners += 3;
        for (int k = 0; k < 3; k++) {
            const int32_t v = triangle->v[k];
            if (v < 0 || v >= c->vertices.count || !c->vertices.data[v].alive)
                return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %lld has no vertex at corner %d.",
                               (long long)t, k);
            if (v == triangle->v[(k + 1) % 3])
                return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %lld has vertex %d twice.", (long long)t, v);
        }
        if (mn_complex_find(c, triangle->v[0], triangle->v[1], triangle->v[2], (int32_t)t) >= 0)
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %lld has a twin with the same three vertices.",
                           (long long)t);
        if (triangle->region[0] < 0 || triangle->region[1] < 0)
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %lld has a negative region.", (long long)t);
    }
    for (int64_t s = 0; s < c->segments.count; s++) ends += c->segments.data[s].v[0] < 0 ? 0 : 2;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
            if (c->triangles.data[at / 3].v[0] < 0 || c->triangles.data[at / 3].v[at % 3] != v ||
                corners-- <= 0)
                return mn_fail(c->ctx, MN_ERROR_INPUT, "The star of vertex %d is damaged.", v);
        }
        for (int32_t at = c->vertices.data[v].first_segment; at >= 0;
             at = c->segments.data[at / 2].next[at % 2])
            if (c->segments.data[at / 2].v[at % 2] != v || ends-- <= 0)
                return mn_fail(c->ctx, MN_ERROR_INPUT, "The segments of vertex %d are damaged.", v);
    }
    if (corners != 0 || ends != 0)
        return mn_fail(c->ctx, MN_ERROR_INPUT, "%lld corners and %lld ends are in no star.",
                       (long long)corners, (long long)ends);
    return MN_OK;
}

// Turning around the edge from a to b, triangle t leads from region *from to region *to.
static void turn(const mn_complex_triangle *t, int32_t a, int32_t b, int32_t *from, int32_t *to)
{
    const int32_t k = mn_complex_corner(t, a);
    const bool forward = t->v[(k + 1) % 3] == b;
    *from = t->region[forward ? 0 : 1], *to = t->region[forward ? 1 : 0];
}

static mn_status check_edge(const mn_complex *c, int32_t a, int32_t b)
{
    int32_t list[MN_COMPLEX_EDGE_MAX], count = mn_complex_edge(c, a, b, list, MN_COMPLEX_EDGE_MAX);
    if (count > MN_COMPLEX_EDGE_MAX)
        return mn_fail(c->ctx, MN_ERROR_INPUT, "%d triangles meet at the edge from vertex %d to %d.", count,
                       a, b);
    if (mn_complex_on_wall(c, a, b)) return MN_OK;
    for (int32_t i = 0; i < count; i++) {
        int32_t from, to, balance = 0;
        turn(&c->triangles.data[list[i]], a, b, &from, &to);
        for (int32_t k = 0; k < count; k++) {
            int32_t f, g;
            turn(&c->triangles.data[list[k]], a, b, &f, &g);
            balance += (f == from) - (g == from);
        }
        if (balance != 0)
            return mn_fail(c->ctx, MN_ERROR_INPUT,
                           "The regions around the edge from vertex %d to vertex %d contradict each other: "
                           "region %d is entered and left a different number of times.",
                           a, b, from);
    }
    return MN_OK;
}

static mn_status check_tet_stars(const mn_complex *c)
{
    int64_t corners = 0;
    for (int64_t t = 0; t < c->tets.count; t++) {
        const int32_t *v = c->tets.data[t].v;
        corners += v[0] < 0 ? 0 : 4;
        for (int k = 0; k < 4 && v[0] >= 0; k++)
            if (v[k] < 0 || v[k] >= c->vertices.count || !c->vertices.data[v[k]].alive ||
                v[k] == v[(k + 1) % 4] || v[k] == v[(k + 2) % 4])
                return mn_fail(c->ctx, MN_ERROR_INPUT, "Tetrahedron %lld does not have four vertices.",
                               (long long)t);
    }
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++)
        for (int32_t at = c->vertices.data[v].first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4])
            if (c->tets.data[at / 4].v[0] < 0 || c->tets.data[at / 4].v[at % 4] != v || corners-- <= 0)
                return mn_fail(c->ctx, MN_ERROR_INPUT, "The tetrahedra of vertex %d are damaged.", v);
    if (corners != 0)
        return mn_fail(c->ctx, MN_ERROR_INPUT, "%lld corners of tetrahedra are in no star.",
                       (long long)corners);
    return MN_OK;
}

// A face is between two tetrahedra, or it is a triangle with the liquid on the right side.
static mn_status check_faces(const mn_complex *c, int32_t t, int64_t *surface)
{
    for (int k = 0; k < 4; k++) {
        const int32_t *v = c->tets.data[t].v, *face = mn_tet_face_corners[k];
        const int32_t a = v[face[0]], b = v[face[1]], d = v[face[2]];
        const int32_t other = mn_complex_find_tet(c, a, b, d, t), triangle = mn_complex_find(c, a, b, d, -1);
        if (other >= 0 && triangle >= 0)
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %d lies inside of a volume.", triangle);
        if (other >= 0) continue;
        if (triangle < 0) return mn_fail(c->ctx, MN_ERROR_INPUT, "Face %d of tetrahedron %d is open.", k, t);
        const mn_complex_triangle *f = &c->triangles.data[triangle];
        const bool out = f->v[(mn_complex_corner(f, a) + 1) % 3] == b;
        if (f->region[out ? 0 : 1] != MN_COMPLEX_LIQUID || f->region[out ? 1 : 0] == MN_COMPLEX_LIQUID)
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %d has the liquid on the wrong side.", triangle);
        ++*surface;
    }
    return MN_OK;
}

static mn_status check_tets(const mn_complex *c)
{
    int64_t surface = 0;
    MN_TRY(check_tet_stars(c));
    for (int32_t t = 0; t < (int32_t)c->tets.count; t++) {
        if (t % 1024 == 0) MN_TRY(mn_check_cancelled(c->ctx));
        if (c->tets.data[t].v[0] < 0) continue;
        if (!(c->tets.data[t].mass >= 0) || !(mn_complex_tet_volume(c, t) > 0))
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Tetrahedron %d is turned inside out.", t);
        MN_TRY(check_faces(c, t, &surface));
    }
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++)
        surface -= c->triangles.data[t].v[0] >= 0 && !mn_complex_is_film(c, t);
    if (surface != 0)
        return mn_fail(c->ctx, MN_ERROR_INPUT, "%lld triangles have liquid on a side and no tetrahedron.",
                       (long long)-surface);
    return MN_OK;
}

mn_status mn_complex_check_vertex(const mn_complex *c, int32_t v)
{
    int64_t surface = 0;
    for (int32_t at = c->vertices.data[v].first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4]) {
        MN_TRY(check_faces(c, at / 4, &surface));
        if (!(mn_complex_tet_volume(c, at / 4) > 0))
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Tetrahedron %d is turned inside out.", at / 4);
    }
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        const int32_t *w = c->triangles.data[at / 3].v;
        if (!mn_complex_is_film(c, at / 3) && mn_complex_find_tet(c, w[0], w[1], w[2], -1) < 0)
            return mn_fail(c->ctx, MN_ERROR_INPUT, "Triangle %d has liquid on a side and no tetrahedron.",
                           at / 3);
        for (int k = 0; k < 3; k++)
            MN_TRY(w[k] < w[(k + 1) % 3] ? check_edge(c, w[k], w[(k + 1) % 3])
                                         : check_edge(c, w[(k + 1) % 3], w[k]));
    }
    return MN_OK;
}

mn_status mn_complex_check(const mn_complex *c)
{
    MN_TRY(check_slots(c));
    MN_TRY(check_tets(c));
    for (int64_t t = 0; t < c->triangles.count; t++) {
        const int32_t *v = c->triangles.data[t].v;
        if (t % 1024 == 0) MN_TRY(mn_check_cancelled(c->ctx));
        if (v[0] < 0) continue;
        for (int k = 0; k < 3; k++)
            if (v[k] < v[(k + 1) % 3])
                MN_TRY(check_edge(c, v[k], v[(k + 1) % 3]));
            else
                MN_TRY(check_edge(c, v[(k + 1) % 3], v[k]));
    }
    return MN_OK;
}
