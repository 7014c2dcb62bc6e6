// SPDX-License-Identifier: Apache-2.0
//
// The part of a cell that is fluid: distances linear on the six tetrahedra of the cell that share its
// diagonal (the same split in every cell, so faces agree), clipped by the free surface and then by the solid.
//
//   integral over the part of f     = sum_q volume[q] f(X_q)
//   integral over the surface f n_d = sum_q surface[d][q] f(X_q)
//
// with X_q the 4 x 4 x 4 Gauss points of the whole cell: rules of degree 5 on the parts ([walkington2000] 14
// points on tetrahedra, [radon1948] 7 on triangles) are projected onto the tensor polynomials of degree 3, so
// that everything downstream is one separable sum. Constant and linear velocities are integrated exactly,
// which keeps constant pressure and hydrostatics exact; products of higher degree are third order. Tested:
// volumes, moments and the divergence theorem (tests/unit/flow/test_cut_cells.c).
#include "flow/cut_cells.h"

#include <string.h>

const double mn_flow_gauss[4] = {0.069431844202973712, 0.33000947820757187, 0.66999052179242813,
                                 0.93056815579702629};

#define A1 0.470142064105115090
#define B1 0.059715871789769820
#define A2 0.101286507323456339
#define B2 0.797426985353087322
const double mn_flow_triangle_points[7][3] = {{1.0 / 3, 1.0 / 3, 1.0 / 3},
                                              {B1, A1, A1},
                                              {A1, B1, A1},
                                              {A1, A1, B1},
                                              {B2, A2, A2},
                                              {A2, B2, A2},
                                              {A2, A2, B2}};
const double mn_flow_triangle_weights[7] = {0.225,
                                            0.132394152788506181,
                                            0.132394152788506181,
                                            0.132394152788506181,
                                            0.125939180544827153,
                                            0.125939180544827153,
                                            0.125939180544827153};

/// Barycentric points of the rule on tetrahedra: two orbits of four (a, a, a, 1 - 3a), one of six (a, a, b,
/// b).
static const double tet_a[2] = {0.31088591926330060980, 0.092735250310891226402};
static const double tet_w[3] = {0.11268792571801585080, 0.073493043116361949544, 0.042546020777081466438};
static const double tet_c = 0.045503704125649649492;

/// Corners of the six tetrahedra: paths from 0 to 7, one axis at a time.
static const int32_t tets[6][4] = {{0, 4, 6, 7}, {0, 2, 6, 7}, {0, 2, 3, 7},
                                   {0, 1, 3, 7}, {0, 1, 5, 7}, {0, 4, 5, 7}};

static mn_vec3 corner_of(int32_t k)
{
    return mn_v3(k >> 2 & 1, k >> 1 & 1, k & 1);
}

/// A corner of a piece: where, and the two distances there.
typedef struct point {
    mn_vec3 x;
    double distance[2]; ///< surface, solid; what is kept is negative
} point;

static point between(const point *a, const point *b, int32_t which)
{
    const double t = a->distance[which] / (a->distance[which] - b->distance[which]);
    point p = {mn_lerp(a->x, b->x, t), {0, 0}};
    for (int32_t k = 0; k < 2; k++) p.distance[k] = a->distance[k] + t * (b->distance[k] - a->distance[k]);
    p.distance[which] = 0;
    return p;
}

typedef struct pieces {
    point tet[9][4]; ///< at most three of the first clip, three from each by the second
    int32_t tets;
    point triangle[12][3];
    bool solid[12];
    int32_t triangles;
} pieces;

static void add_tet(pieces *p, const point *a, const point *b, const point *c, const point *d)
{
    const point tet[4] = {*a, *b, *c, *d};
    memcpy(p->tet[p->tets++], tet, sizeof tet);
}

static void add_triangle(pieces *p, bool solid, const point *a, const point *b, const point *c)
{
    const point triangle[3] = {*a, *b, *c};
    p->solid[p->triangles] = solid;
    memcpy(p->triangle[p->triangles++], triangle, sizeof triangle);
}

// What of a tetrahedron has distance[which] < 0, and the triangles where it is 0.
static void clip_tet(const point tet[4], int32_t which, pieces *out)
{
    int32_t in[4], out_of[4], ins = 0, outs = 0;
    for (int32_t k = 0; k < 4; k++)
        if (tet[k].distance[which] < 0)
            in[ins++] = k;
        else
            out_of[outs++] = k;
    if (ins == 0) return;
    if (ins == 4) {
        add_tet(out, &tet[0], &tet[1], &tet[2], &tet[3]);
        return;
    }
    if (ins == 1) {
        const point *a = &tet[in[0]];
        point p[3];
        for (int32_t k = 0; k < 3; k++) p[k] = between(a, &tet[out_of[k]], which);
        add_tet(out, a, &p[0], &p[1], &p[2]);
        add_triangle(out, which == 1, &p[0], &p[1], &p[2]);
    } else if (ins == 2) { // a wedge with edge in[0] in[1]
        const point *a = &tet[in[0]], *b = &tet[in[1]];
        const point ac = between(a, &tet[out_of[0]], which), ad = between(a, &tet[out_of[1]], which);
        const point bc = between(b, &tet[out_of[0]], which), bd = between(b, &tet[out_of[1]], which);
        add_tet(out, a, &ac, &ad, &bd);
        add_tet(out, a, &ac, &bd, &bc);
        add_tet(out, a, &bc, &bd, b);
        add_triangle(out, which == 1, &ac, &ad, &bd);
        add_triangle(out, which == 1, &ac, &bd, &bc);
    } else { // a prism
        const point *d = &tet[out_of[0]];
        point p[3];
        for (int32_t k = 0; k < 3; k++) p[k] = between(&tet[in[k]], d, which);
        const point *a = &tet[in[0]], *b = &tet[in[1]], *c = &tet[in[2]];
        add_tet(out, a, b, c, &p[2]);
        add_tet(out, a, b, &p[2], &p[1]);
        add_tet(out, a, &p[1], &p[2], &p[0]);
        add_triangle(out, which == 1, &p[0], &p[1], &p[2]);
    }
}

// What of a triangle of the surface lies outside of the solid.
static void clip_triangle(const point t[3], pieces *out)
{
    int32_t in[3], out_of[3], ins = 0, outs = 0;
    for (int32_t k = 0; k < 3; k++)
        if (t[k].distance[1] < 0)
            in[ins++] = k;
        else
            out_of[outs++] = k;
    if (ins == 0) return;
    if (ins == 3) {
        add_triangle(out, false, &t[0], &t[1], &t[2]);
    } else if (ins == 1) {
        const point b = between(&t[in[0]], &t[out_of[0]], 1), c = between(&t[in[0]], &t[out_of[1]], 1);
        add_triangle(out, false, &t[in[0]], &b, &c);
    } else {
        const point b = between(&t[in[0]], &t[out_of[0]], 1), c = between(&t[in[1]], &t[out_of[0]], 1);
        add_triangle(out, false, &t[in[0]], &t[in[1]], &c);
        add_triangle(out, false, &t[in[0]], &c, &b);
    }
}

// The pieces of one of the six tetrahedra, and the direction of increasing distance for each kind of
// triangle.
static void cut_tet(const double *surface, const double *solid, const int32_t corners[4], pieces *out,
                    mn_vec3 out_of_fluid[2])
{
    point tet[4];
    for (int32_t k = 0; k < 4; k++) {
        tet[k].x = corner_of(corners[k]);
        tet[k].distance[0] = surface ? surface[corners[k]] : -1;
        tet[k].distance[1] = solid ? -solid[corners[k]] : -1;
    }
    for (int32_t which = 0; which < 2; which++) {
        // corners are one axis step apart each, so differences along the path are the gradient
        double g[3] = {0, 0, 0};
        for (int32_t k = 0; k < 3; k++) {
            const mn_vec3 step = mn_sub(tet[k + 1].x, tet[k].x);
            const double d = tet[k + 1].distance[which] - tet[k].distance[which];
            g[0] += step.x * d, g[1] += step.y * d, g[2] += step.z * d;
        }
        out_of_fluid[which] = mn_v3(g[0], g[1], g[2]);
    }
    pieces first = {.tets = 0};
    out->tets = out->triangles = 0;
    clip_tet(tet, 0, &first);
    for (int32_t k = 0; k < first.tets; k++) clip_tet(first.tet[k], 1, out);
    for (int32_t k = 0; k < first.triangles; k++) clip_triangle(first.triangle[k], out);
}

MN_INLINE mn_vec3 area_normal_of(const point t[3], mn_vec3 outward)
{
    const mn_vec3 n = mn_scale(0.5, mn_cross(mn_sub(t[1].x, t[0].x), mn_sub(t[2].x, t[0].x)));
    return mn_dot(n, outward) < 0 ? mn_scale(-1, n) : n;
}

// The four cardinal polynomials of the Gauss points, at t.
MN_INLINE void cardinals(double t, double l[4])
{
    static const double inverse[4] = {-7.4205400680389477, 18.795449407555061, -18.795449407555061,
                                      7.4205400680389477};
    const double a = t - mn_flow_gauss[0], b = t - mn_flow_gauss[1], c = t - mn_flow_gauss[2],
                 d = t - mn_flow_gauss[3];
    l[0] = inverse[0] * b * c * d, l[1] = inverse[1] * a * c * d;
    l[2] = inverse[2] * a * b * d, l[3] = inverse[3] * a * b * c;
}

MN_INLINE void add_point(mn_vec3 x, int32_t count, const double *weights, double (*sums)[MN_FLOW_POINTS])
{
    double lx[4], ly[4], lz[4];
    cardinals(x.x, lx), cardinals(x.y, ly), cardinals(x.z, lz);
    for (int32_t a = 0; a < 4; a++)
        for (int32_t b = 0; b < 4; b++) {
            const double l = lx[a] * ly[b];
            for (int32_t k = 0; k < count; k++)
                for (int32_t c = 0; c < 4; c++) sums[k][16 * a + 4 * b + c] += weights[k] * l * lz[c];
        }
}

MN_INLINE mn_vec3 mix(const point tet[4], double a, double b, double c, double d)
{
    return mn_add(mn_add(mn_scale(a, tet[0].x), mn_scale(b, tet[1].x)),
                  mn_add(mn_scale(c, tet[2].x), mn_scale(d, tet[3].x)));
}

MN_INLINE double volume_of(const point tet[4])
{
    const mn_vec3 e = mn_sub(tet[1].x, tet[0].x), f = mn_sub(tet[2].x, tet[0].x),
                  g = mn_sub(tet[3].x, tet[0].x);
    return fabs(mn_dot(e, mn_cross(f, g))) / 6.0;
}

MN_INLINE void add_volume(const point tet[4], mn_flow_cut *cut)
{
    const double volume = volume_of(tet);
    if (volume <= 0) return;
    cut->fraction += volume;
    for (int32_t orbit = 0; orbit < 2; orbit++) {
        const double a = tet_a[orbit], b = 1.0 - 3.0 * a, w = volume * tet_w[orbit];
        add_point(mix(tet, b, a, a, a), 1, &w, &cut->volume);
        add_point(mix(tet, a, b, a, a), 1, &w, &cut->volume);
        add_point(mix(tet, a, a, b, a), 1, &w, &cut->volume);
        add_point(mix(tet, a, a, a, b), 1, &w, &cut->volume);
    }
    const double a = tet_c, b = 0.5 - tet_c, w = volume * tet_w[2];
    add_point(mix(tet, a, a, b, b), 1, &w, &cut->volume);
    add_point(mix(tet, a, b, a, b), 1, &w, &cut->volume);
    add_point(mix(tet, a, b, b, a), 1, &w, &cut->volume);
    add_point(mix(tet, b, a, a, b), 1, &w, &cut->volume);
    add_point(mix(tet, b, a, b, a), 1, &w, &cut->volume);
    add_point(mix(tet, b, b, a, a), 1, &w, &cut->volume);
}

MN_INLINE void add_surface(const point t[3], mn_vec3 normal, mn_flow_cut *cut)
{
    for (int32_t k = 0; k < 7; k++) {
        const double *b = mn_flow_triangle_points[k];
        const mn_vec3 x =
            mn_add(mn_add(mn_scale(b[0], t[0].x), mn_scale(b[1], t[1].x)), mn_scale(b[2], t[2].x));
        const double w = mn_flow_triangle_weights[k];
        const double weights[3] = {w * normal.x, w * normal.y, w * normal.z};
        add_point(x, 3, weights, cut->surface);
    }
}

mn_flow_cell_kind mn_flow_classify(const double *surface, const double *solid)
{
    bool all_out = false, any_cut = false;
    if (surface) {
        int32_t in = 0;
        for (int32_t k = 0; k < 8; k++) in += surface[k] < 0;
        all_out |= in == 0;
        any_cut |= in < 8;
    }
    if (solid) {
        int32_t free = 0;
        for (int32_t k = 0; k < 8; k++) free += solid[k] > 0;
        all_out |= free == 0;
        any_cut |= free < 8;
    }
    return all_out ? MN_FLOW_EMPTY : any_cut ? MN_FLOW_CUT : MN_FLOW_FULL;
}

// The face of a piece that lies in an open side of the cell, if it has one.
static void add_open_faces(const point tet[4], uint32_t open, mn_flow_cut *cut)
{
    for (int32_t side = 0; side < 6; side++) {
        if (!(open >> side & 1)) continue;
        point on[4];
        int32_t count = 0;
        for (int32_t k = 0; k < 4; k++) {
            const double x = side < 2 ? tet[k].x.x : side < 4 ? tet[k].x.y : tet[k].x.z;
            if (fabs(x - (side & 1)) < 1e-12) on[count++] = tet[k];
        }
        const double out = side & 1 ? 1 : -1;
        const mn_vec3 outward = mn_v3(side < 2 ? out : 0, side >> 1 == 1 ? out : 0, side > 3 ? out : 0);
        if (count == 3) add_surface(on, area_normal_of(on, outward), cut);
    }
}

MN_MULTIVERSION void mn_flow_cut_cell(const double *surface, const double *solid, uint32_t open,
                                      mn_flow_cut *cut)
{
    memset(cut, 0, sizeof *cut);
    for (int32_t k = 0; k < 6; k++) {
        pieces p;
        mn_vec3 outward[2];
        cut_tet(surface, solid, tets[k], &p, outward);
        for (int32_t t = 0; t < p.tets; t++) add_volume(p.tet[t], cut);
        for (int32_t t = 0; t < p.tets && open; t++) add_open_faces(p.tet[t], open, cut);
        for (int32_t t = 0; t < p.triangles; t++) {
            const mn_vec3 normal = area_normal_of(p.triangle[t], outward[p.solid[t]]);
            if (p.solid[t]) {
                cut->wet += mn_norm(normal);
                cut->wall = mn_add(cut->wall, normal);
            } else {
                cut->area += mn_norm(normal);
                add_surface(p.triangle[t], normal, cut);
            }
        }
    }
}

void mn_flow_cut_volume(const double *surface, const double *solid, double *fraction, double *area)
{
    *fraction = *area = 0;
    for (int32_t k = 0; k < 6; k++) {
        pieces p;
        mn_vec3 outward[2];
        cut_tet(surface, solid, tets[k], &p, outward);
        for (int32_t t = 0; t < p.tets; t++) *fraction += volume_of(p.tet[t]);
        for (int32_t t = 0; t < p.triangles; t++)
            if (!p.solid[t]) *area += mn_norm(area_normal_of(p.triangle[t], outward[0]));
    }
}

void mn_flow_cut_triangles(const double *surface, const double *solid, mn_flow_triangle_fn *fn, void *user)
{
    for (int32_t k = 0; k < 6; k++) {
        pieces p;
        mn_vec3 outward[2];
        cut_tet(surface, solid, tets[k], &p, outward);
        for (int32_t t = 0; t < p.triangles; t++) {
            const mn_vec3 corners[3] = {p.triangle[t][0].x, p.triangle[t][1].x, p.triangle[t][2].x};
            fn(user, p.solid[t], corners, area_normal_of(p.triangle[t], outward[p.solid[t]]));
        }
    }
}
