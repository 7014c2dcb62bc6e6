// SPDX-License-Identifier: Apache-2.0
//
// The stencils of isosurface stuffing [labelle2007]: what of a warped lattice tetrahedron lies inside, as
// tetrahedra.
//
// The paper's stencils have one free choice, the diagonal of a quadrilateral on a lattice face: it touches
// the crossing on the long edge when one of the two is long, else the inside point of even parity. With alpha
// 0.2851 on long and 0.3988 on short edges, a search over all stencils, warps and crossings gives 10.783 to
// 164.734 degrees, the paper's bound.
#include "tetmesh/fill/stuffing_state.h"

#include "tetmesh/quality.h"

#include <stdlib.h>
#include <string.h>

static mn_status emit(mn_stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const mn_tet_indices tet = {{a, b, c, d}};
    return mn_array_push(s->ctx, &s->out->tets, &tet);
}

static mn_status point_vertex(mn_stuffer *s, int32_t point, int32_t *vertex)
{
    if (s->vertex.data[point] < 0) {
        s->vertex.data[point] = (int32_t)s->out->positions.count;
        MN_TRY(mn_array_push(s->ctx, &s->out->positions, &s->position.data[point]));
    }
    *vertex = s->vertex.data[point];
    return MN_OK;
}

static mn_status cut_vertex(mn_stuffer *s, int32_t a, int32_t b, int32_t *vertex)
{
    const uint32_t at = a < b ? mn_stuffing_slot(s, a, b) : mn_stuffing_slot(s, b, a);
    mn_stuffing_crossing *c = &s->crossings.data[s->table.data[at]];
    if (c->vertex < 0) {
        const mn_vec3 x = mn_stuffing_position(s, c);
        c->vertex = (int32_t)s->out->positions.count;
        MN_TRY(mn_array_push(s->ctx, &s->out->positions, &x));
    }
    *vertex = c->vertex;
    return MN_OK;
}

static int32_t parity(const mn_stuffer *s, int32_t v)
{
    const mn_lattice_point p = s->lattice.points.data[v];
    return ((p.x >> 1) + (p.y >> 1) + (p.z >> 1)) & 1;
}

/// The diagonal of the quadrilateral (a, b, crossing b-x, crossing a-x): true when it starts at a.
static bool diagonal_from_first(const mn_stuffer *s, int32_t a, int32_t b, int32_t x)
{
    const bool long_a = mn_stuffing_is_long(s, a, x), long_b = mn_stuffing_is_long(s, b, x);
    if (long_a != long_b) return long_b;
    const int32_t parity_a = parity(s, a), parity_b = parity(s, b);
    return parity_a != parity_b ? parity_a == 0 : a < b;
}

/// Worst quality of the three tetrahedra that prism() would emit.
static double tet_quality_of(const mn_stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const mn_vec3 *x = s->out->positions.data;
    return mn_tet_quality(x[a], x[b], x[c], x[d]);
}

/// The corners of prism (A, B) in an order in which A[0] carries two diagonals: quadrilateral i joins A[i],
/// A[i+1], B[i+1], B[i], and diagonal[i] is 0 for A[i]-B[i+1], 1 for A[i+1]-B[i]. False when the three run in
/// a circle.
static bool split_prism(const int32_t A[3], const int32_t B[3], const int32_t diagonal[3], int32_t tets[3][4])
{
    for (int32_t i = 0; i < 3; i++) {
        if (diagonal[(i + 2) % 3] != 1 || diagonal[i] != 0) continue;
        const int32_t a0 = A[i], a1 = A[(i + 1) % 3], a2 = A[(i + 2) % 3];
        const int32_t b0 = B[i], b1 = B[(i + 1) % 3], b2 = B[(i + 2) % 3];
        const bool first = diagonal[(i + 1) % 3] == 0;
        const int32_t split[3][4] = {
            {a0, b0, b1, b2}, {a0, a1, a2, first ? b2 : b1}, {a0, first ? a1 : a2, b2, b1}};
        memcpy(tets, split, sizeof split);
        return true;
    }
    return false;
}

/// Eight tetrahedra around a point in the middle, for diagonals that run in a circle. Only where the lattice
/// is not uniform at the surface.
static mn_status fill_circle(mn_stuffer *s, const int32_t A[3], const int32_t B[3], const int32_t diagonal[3])
{
    mn_vec3 middle = mn_v3(0, 0, 0);
    for (int32_t i = 0; i < 3; i++)
        middle = mn_axpy(middle, 1.0 / 6, mn_add(s->out->positions.data[A[i]], s->out->positions.data[B[i]]));
    const int32_t m = (int32_t)s->out->positions.count;
    MN_TRY(mn_array_push(s->ctx, &s->out->positions, &middle));
    MN_TRY(emit(s, A[0], A[1], A[2], m));
    MN_TRY(emit(s, B[0], B[2], B[1], m));
    for (int32_t i = 0; i < 3; i++) {
        const int32_t a = A[i], b = A[(i + 1) % 3], c = B[(i + 1) % 3], d = B[i];
        if (diagonal[i] == 0) {
            MN_TRY(emit(s, a, c, b, m));
            MN_TRY(emit(s, a, d, c, m));
        } else {
            MN_TRY(emit(s, a, d, b, m));
            MN_TRY(emit(s, d, c, b, m));
        }
    }
    return MN_OK;
}

static mn_status emit_prism(mn_stuffer *s, const int32_t A[3], const int32_t B[3], const int32_t diagonal[3])
{
    int32_t tets[3][4];
    if (!split_prism(A, B, diagonal, tets)) return fill_circle(s, A, B, diagonal);
    for (int32_t i = 0; i < 3; i++) MN_TRY(emit(s, tets[i][0], tets[i][1], tets[i][2], tets[i][3]));
    return MN_OK;
}

/// Two inside, two outside: a wedge. Its diagonal on the surface is free: the better one.
static mn_status fill_wedge(mn_stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    int32_t A[3], B[3], tets[3][4];
    MN_TRY(point_vertex(s, a, &A[0]));
    MN_TRY(cut_vertex(s, a, c, &A[1]));
    MN_TRY(cut_vertex(s, a, d, &A[2]));
    MN_TRY(point_vertex(s, b, &B[0]));
    MN_TRY(cut_vertex(s, b, c, &B[1]));
    MN_TRY(cut_vertex(s, b, d, &B[2]));
    int32_t diagonal[3] = {diagonal_from_first(s, a, b, c) ? 0 : 1, 0,
                           diagonal_from_first(s, a, b, d) ? 1 : 0};
    double best = -INFINITY;
    int32_t choice = 0;
    for (int32_t option = 0; option < 2; option++) {
        diagonal[1] = option;
        if (!split_prism(A, B, diagonal, tets)) continue;
        double worst = INFINITY;
        for (int32_t i = 0; i < 3; i++)
            worst = fmin(worst, tet_quality_of(s, tets[i][0], tets[i][1], tets[i][2], tets[i][3]));
        if (worst > best) best = worst, choice = option;
    }
    diagonal[1] = choice;
    return emit_prism(s, A, B, diagonal);
}

/// Three inside, one outside.
static mn_status fill_truncated(mn_stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t inside[3] = {a, b, c};
    int32_t A[3], B[3], diagonal[3];
    for (int32_t i = 0; i < 3; i++) {
        MN_TRY(point_vertex(s, inside[i], &A[i]));
        MN_TRY(cut_vertex(s, inside[i], d, &B[i]));
        diagonal[i] = diagonal_from_first(s, inside[i], inside[(i + 1) % 3], d) ? 0 : 1;
    }
    return emit_prism(s, A, B, diagonal);
}

/// Two inside, one on the surface, one outside: a pyramid over the quadrilateral opposite z.
static mn_status fill_pyramid(mn_stuffer *s, int32_t a, int32_t b, int32_t z, int32_t d)
{
    int32_t va, vb, vz, ad, bd;
    MN_TRY(point_vertex(s, a, &va));
    MN_TRY(point_vertex(s, b, &vb));
    MN_TRY(point_vertex(s, z, &vz));
    MN_TRY(cut_vertex(s, a, d, &ad));
    MN_TRY(cut_vertex(s, b, d, &bd));
    if (diagonal_from_first(s, a, b, d)) {
        MN_TRY(emit(s, va, vb, vz, bd));
        return emit(s, va, bd, vz, ad);
    }
    MN_TRY(emit(s, va, vb, vz, ad));
    return emit(s, vb, bd, vz, ad);
}

/// Inside first, then on the surface, then outside, by an even permutation.
static void sort_by_sign(const mn_stuffer *s, const int32_t tet[4], int32_t v[4])
{
    bool odd = false;
    memcpy(v, tet, 4 * sizeof *v);
    for (int32_t i = 1; i < 4; i++)
        for (int32_t j = i; j > 0 && s->sign.data[v[j]] < s->sign.data[v[j - 1]]; j--) {
            const int32_t swap = v[j];
            v[j] = v[j - 1], v[j - 1] = swap;
            odd = !odd;
        }
    // Four points and three signs: two neighbours are alike and may change places.
    for (int32_t i = 0; odd && i < 3; i++)
        if (s->sign.data[v[i]] == s->sign.data[v[i + 1]]) {
            const int32_t swap = v[i];
            v[i] = v[i + 1], v[i + 1] = swap;
            odd = false;
        }
}

static mn_status fill_tet(mn_stuffer *s, const int32_t tet[4])
{
    int32_t v[4], inside = 0, outside = 0, x[4];
    sort_by_sign(s, tet, v);
    for (int32_t k = 0; k < 4; k++)
        inside += s->sign.data[v[k]] == MN_INSIDE, outside += s->sign.data[v[k]] == MN_OUTSIDE;
    if (inside == 0) return MN_OK;
    if (outside == 0 || inside == 1) {
        for (int32_t k = 0; k < 4; k++)
            MN_TRY(s->sign.data[v[k]] == MN_OUTSIDE ? cut_vertex(s, v[0], v[k], &x[k])
                                                    : point_vertex(s, v[k], &x[k]));
        return emit(s, x[0], x[1], x[2], x[3]);
    }
    if (inside == 3) return fill_truncated(s, v[0], v[1], v[2], v[3]);
    return outside == 2 ? fill_wedge(s, v[0], v[1], v[2], v[3]) : fill_pyramid(s, v[0], v[1], v[2], v[3]);
}

/// A tetrahedron at the surface that is not one of the smallest: long edges 2 units, short ones (1, 1, 1).
static bool is_uneven(const mn_stuffer *s, const int32_t v[4])
{
    bool touched = false, uneven = false;
    for (int32_t k = 0; k < 4; k++) touched = touched || s->sign.data[v[k]] != MN_INSIDE;
    for (int32_t e = 0; touched && e < 6; e++) {
        const mn_lattice_point p = s->lattice.points.data[v[mn_tet_edge_corners[e][0]]];
        const mn_lattice_point q = s->lattice.points.data[v[mn_tet_edge_corners[e][1]]];
        const int32_t x = abs(p.x - q.x), y = abs(p.y - q.y), z = abs(p.z - q.z);
        uneven =
            uneven || !((x == 1 && y == 1 && z == 1) || (x + y + z == 2 && (x == 2 || y == 2 || z == 2)));
    }
    return uneven;
}

mn_status mn_stuffing_fill(mn_stuffer *s)
{
    const int64_t points = s->lattice.points.count, tets = s->lattice.tets.count;
    MN_TRY(mn_array_resize(s->ctx, &s->vertex, points));
    for (int64_t i = 0; i < points; i++) s->vertex.data[i] = -1;
    MN_TRY(mn_array_reserve(s->ctx, &s->out->tets, tets + tets / 4));
    MN_TRY(mn_array_reserve(s->ctx, &s->out->positions, points + s->crossings.count / 2));
    for (int64_t t = 0; t < tets; t++) {
        if (t % 65536 == 0) MN_TRY(mn_check_cancelled(s->ctx));
        MN_TRY(fill_tet(s, s->lattice.tets.data[t].v));
        s->out->uneven_cuts += is_uneven(s, s->lattice.tets.data[t].v);
    }
    return MN_OK;
}
