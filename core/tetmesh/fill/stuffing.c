// SPDX-License-Identifier: Apache-2.0
//
// Isosurface stuffing [labelle2007]: find where lattice edges cross the surface, move lattice points that
// have a crossing nearby onto it, then fill each tetrahedron from a small set of stencils.
//
// A crossing violates an end of its edge when it lies within alpha of it, as a fraction of the edge. The
// paper's stencils have one free choice, the diagonal of a quadrilateral on a lattice face: it touches the
// crossing on the long edge when one of the two is long, else the inside point of even parity. With alpha
// 0.2851 on long and 0.3988 on short edges, a search over all stencils, warps and crossings gives 10.783 to
// 164.734 degrees, the paper's bound.
#include "tetmesh/fill/stuffing.h"

#include "base/parallel.h"
#include "tetmesh/fill/lattice.h"
#include "tetmesh/quality.h"

#include <stdlib.h>
#include <string.h>

static const double alpha_long = 0.2851, alpha_short = 0.3988;

enum { INSIDE = -1, ON = 0, OUTSIDE = 1 };

/// A lattice edge that the surface crosses; a < b.
typedef struct crossing {
    int32_t a, b;
    double t;       ///< from a to b
    int32_t vertex; ///< output vertex, -1 until a stencil uses it; -2 when an end was moved onto the surface
} crossing;

typedef struct stuffer {
    mn_context *ctx;
    const mn_tet_stuffing_def *def;
    mn_tet_lattice lattice;
    mn_tet_stuffing *out;
    MN_ARRAY(mn_vec3) position; ///< of lattice points, after warping
    MN_ARRAY(int8_t) sign;
    MN_ARRAY(int32_t) vertex; ///< output vertex of a lattice point
    MN_ARRAY(crossing) crossings;
    MN_ARRAY(int32_t) table; ///< hash of crossings
    uint32_t mask;
    MN_ARRAY(int32_t) starts; ///< crossings of each point, as runs of `incident`
    MN_ARRAY(int32_t) incident;
    MN_ARRAY(double) shortest; ///< per point: short and long edge, m; empty when all are alike
} stuffer;

mn_tet_stuffing_def mn_tet_stuffing_default_def(void)
{
    return (mn_tet_stuffing_def){.bounds = mn_box_empty(), .size = 0.1, .max_tets = 100000000};
}

void mn_tet_stuffing_free(mn_context *ctx, mn_tet_stuffing *result)
{
    mn_array_free(ctx, &result->positions);
    mn_array_free(ctx, &result->tets);
}

// ---- crossings ----

static uint32_t edge_hash(int32_t a, int32_t b)
{
    uint64_t h = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9E3779B97F4A7C15u;
    return (uint32_t)((h ^ h >> 29) * 0xBF58476D1CE4E5B9u >> 32);
}

/// Where the crossing of edge a-b is in the table, or the free entry for it.
static uint32_t crossing_slot(const stuffer *s, int32_t a, int32_t b)
{
    uint32_t at = edge_hash(a, b) & s->mask;
    while (s->table.data[at] >= 0) {
        const crossing *c = &s->crossings.data[s->table.data[at]];
        if (c->a == a && c->b == b) break;
        at = (at + 1) & s->mask;
    }
    return at;
}

static mn_status collect_crossings(stuffer *s)
{
    const mn_tet_lattice *lattice = &s->lattice;
    int64_t cut_tets = 0;
    for (int64_t t = 0; t < lattice->tets.count; t++)
        for (int32_t k = 0; k < 4; k++)
            if (s->sign.data[lattice->tets.data[t].v[k]] == OUTSIDE) {
                cut_tets++;
                break;
            }
    uint32_t size = 64;
    while (size < 4 * cut_tets && size < 1u << 31) size *= 2;
    MN_TRY(mn_array_resize(s->ctx, &s->table, size));
    memset(s->table.data, 0xff, size * sizeof *s->table.data);
    s->mask = size - 1;
    for (int64_t t = 0; t < lattice->tets.count; t++) {
        const int32_t *v = lattice->tets.data[t].v;
        for (int32_t e = 0; e < 6; e++) {
            int32_t a = v[mn_tet_edge_corners[e][0]], b = v[mn_tet_edge_corners[e][1]];
            if (s->sign.data[a] * s->sign.data[b] >= 0) continue;
            if (a > b) {
                const int32_t swap = a;
                a = b, b = swap;
            }
            const uint32_t at = crossing_slot(s, a, b);
            if (s->table.data[at] >= 0) continue;
            const double fa = lattice->values.data[a], fb = lattice->values.data[b];
            const crossing fresh = {a, b, fa / (fa - fb), -1};
            s->table.data[at] = (int32_t)s->crossings.count;
            MN_TRY(mn_array_push(s->ctx, &s->crossings, &fresh));
        }
    }
    return MN_OK;
}

static mn_vec3 crossing_position(const stuffer *s, const crossing *c)
{
    return mn_lerp(mn_lattice_position(&s->lattice, s->lattice.points.data[c->a]),
                   mn_lattice_position(&s->lattice, s->lattice.points.data[c->b]), c->t);
}

/// Where the surface can still be on a crossed edge; `moved` is the end that moved last, -1 low, 1 high.
typedef struct bracket {
    double low, high, f_low, f_high;
    int32_t crossing, moved;
} bracket;

/// One step of regula falsi with the Illinois correction: an end that stays twice counts half.
static double narrow(bracket *b, double t, double f)
{
    if ((f < 0) == (b->f_low < 0)) {
        b->low = t, b->f_low = f;
        if (b->moved < 0) b->f_high *= 0.5;
        b->moved = -1;
    } else {
        b->high = t, b->f_high = f;
        if (b->moved > 0) b->f_low *= 0.5;
        b->moved = 1;
    }
    const double next = b->low + (b->high - b->low) * b->f_low / (b->f_low - b->f_high);
    return next >= b->low && next <= b->high ? next : 0.5 * (b->low + b->high);
}

/// Finds the surface on every crossed edge, all that are still open at once. Linear interpolation is right
/// for a plane; a few more values are enough for curved surfaces and for kinks.
static mn_status refine_crossings(stuffer *s)
{
    enum { ROUNDS = 12 };
    const double enough = 1e-4 * s->def->size;
    const int64_t count = s->crossings.count;
    const size_t x_bytes = mn_bytes(count, sizeof(mn_vec3)), f_bytes = mn_bytes(count, sizeof(double)),
                 b_bytes = mn_bytes(count, sizeof(bracket));
    mn_status status = MN_OK;
    if (count == 0) return MN_OK;
    mn_vec3 *x = mn_allocate(s->ctx, x_bytes);
    double *f = mn_allocate(s->ctx, f_bytes);
    bracket *open = mn_allocate(s->ctx, b_bytes);
    if (!x || !f || !open) {
        status = MN_ERROR_MEMORY;
        goto done;
    }
    for (int64_t i = 0; i < count; i++) {
        const crossing *c = &s->crossings.data[i];
        open[i] = (bracket){0, 1, s->lattice.values.data[c->a], s->lattice.values.data[c->b], (int32_t)i, 0};
    }
    int64_t left = count;
    for (int32_t round = 0; round < ROUNDS && left > 0; round++) {
        for (int64_t i = 0; i < left; i++) x[i] = crossing_position(s, &s->crossings.data[open[i].crossing]);
        MN_TRY_TO(done, status, mn_level_sample(s->ctx, s->def, left, x, f));
        int64_t kept = 0;
        for (int64_t i = 0; i < left; i++) {
            if (!(fabs(f[i]) > enough)) continue;
            crossing *c = &s->crossings.data[open[i].crossing];
            open[kept] = open[i];
            c->t = narrow(&open[kept++], c->t, f[i]);
        }
        left = kept;
    }
done:
    mn_release(s->ctx, x, x_bytes);
    mn_release(s->ctx, f, f_bytes);
    mn_release(s->ctx, open, b_bytes);
    return status;
}

static mn_status list_incident(stuffer *s)
{
    const int64_t points = s->lattice.points.count;
    MN_TRY(mn_array_resize(s->ctx, &s->starts, points + 1));
    MN_TRY(mn_array_resize(s->ctx, &s->incident, 2 * s->crossings.count));
    memset(s->starts.data, 0, mn_bytes(points + 1, sizeof *s->starts.data));
    for (int64_t i = 0; i < s->crossings.count; i++)
        s->starts.data[s->crossings.data[i].a]++, s->starts.data[s->crossings.data[i].b]++;
    mn_prefix_sum_i32(s->starts.data, points + 1);
    for (int64_t i = 0; i < s->crossings.count; i++) {
        s->incident.data[s->starts.data[s->crossings.data[i].a]++] = (int32_t)i;
        s->incident.data[s->starts.data[s->crossings.data[i].b]++] = (int32_t)i;
    }
    memmove(s->starts.data + 1, s->starts.data, mn_bytes(points, sizeof *s->starts.data));
    s->starts.data[0] = 0;
    return MN_OK;
}

// ---- warping ----

static bool is_long(const stuffer *s, int32_t a, int32_t b)
{
    const mn_lattice_point p = s->lattice.points.data[a], q = s->lattice.points.data[b];
    return (p.x != q.x) + (p.y != q.y) + (p.z != q.z) == 1;
}

/// The shortest edge of each kind at every point, where leaves of different sizes meet at the surface: a
/// point must not move far for its smallest neighbours.
static mn_status find_shortest(stuffer *s)
{
    const int64_t points = s->lattice.points.count;
    MN_TRY(mn_array_resize(s->ctx, &s->shortest, 2 * points));
    for (int64_t i = 0; i < 2 * points; i++) s->shortest.data[i] = INFINITY;
    for (int64_t t = 0; t < s->lattice.tets.count; t++)
        for (int32_t e = 0; e < 6; e++) {
            const int32_t *v = s->lattice.tets.data[t].v;
            const int32_t a = v[mn_tet_edge_corners[e][0]], b = v[mn_tet_edge_corners[e][1]];
            const double length = mn_distance(mn_lattice_position(&s->lattice, s->lattice.points.data[a]),
                                              mn_lattice_position(&s->lattice, s->lattice.points.data[b]));
            const int32_t kind = is_long(s, a, b);
            s->shortest.data[2 * a + kind] = fmin(s->shortest.data[2 * a + kind], length);
            s->shortest.data[2 * b + kind] = fmin(s->shortest.data[2 * b + kind], length);
        }
    return MN_OK;
}

/// Moves every point that a crossing violates onto the nearest such crossing, in order.
static void warp(stuffer *s)
{
    for (int32_t v = 0; v < s->lattice.points.count; v++) {
        const crossing *nearest = NULL;
        double distance = INFINITY;
        for (int32_t i = s->starts.data[v]; i < s->starts.data[v + 1]; i++) {
            const crossing *c = &s->crossings.data[s->incident.data[i]];
            if (c->vertex == -2) continue;
            const bool longer = is_long(s, c->a, c->b);
            const double t = c->a == v ? c->t : 1 - c->t;
            if (t >= (longer ? alpha_long : alpha_short)) continue;
            const double d = t * mn_distance(mn_lattice_position(&s->lattice, s->lattice.points.data[c->a]),
                                             mn_lattice_position(&s->lattice, s->lattice.points.data[c->b]));
            if (s->shortest.count &&
                d >= (longer ? alpha_long : alpha_short) * s->shortest.data[2 * (int64_t)v + longer])
                continue;
            if (d < distance) distance = d, nearest = c;
        }
        if (!nearest) continue;
        s->position.data[v] = crossing_position(s, nearest);
        s->sign.data[v] = ON;
        for (int32_t i = s->starts.data[v]; i < s->starts.data[v + 1]; i++)
            s->crossings.data[s->incident.data[i]].vertex = -2;
    }
}

// ---- what warping breaks ----

/// A point with the surface close on two sides moves onto one of them; what lies between it and the other
/// is not filled when no point inside is left around: a hole in a sheet, or a bridge over a gap. `side` is
/// the side that is lost there.
static mn_status list_broken(stuffer *s, const int32_t v[4], int8_t side, mn_thin_segments *segments)
{
    const double *value = s->lattice.values.data;
    for (int32_t e = 0; e < 6; e++) {
        const int32_t p = v[mn_tet_edge_corners[e][0]], q = v[mn_tet_edge_corners[e][1]];
        if (!(value[p] * value[q] < 0)) continue;
        const int32_t moved = (value[p] < 0) == (side == INSIDE) ? p : q;
        if (s->sign.data[moved] != ON) continue;
        crossing *c = &s->crossings.data[s->table.data[crossing_slot(s, p < q ? p : q, p < q ? q : p)]];
        if (c->vertex != -2) continue;
        const mn_vec3 from = mn_lattice_position(&s->lattice, s->lattice.points.data[moved]);
        const mn_thin_segment segment = {
            .a = s->position.data[moved], .b = crossing_position(s, c), .outside = side == INSIDE, .at = 0.5};
        // Both on one face when they lie in the same direction.
        if (mn_dot(mn_sub(segment.a, from), mn_sub(segment.b, from)) >= 0) continue;
        c->vertex = -3;
        MN_TRY(mn_array_push(s->ctx, segments, &segment));
    }
    return MN_OK;
}

static mn_status find_broken(stuffer *s)
{
    mn_thin_segments segments = {0};
    mn_status status = MN_OK;
    for (int64_t t = 0; t < s->lattice.tets.count && status == MN_OK; t++) {
        const int32_t *v = s->lattice.tets.data[t].v;
        int32_t inside = 0, outside = 0;
        for (int32_t k = 0; k < 4; k++)
            inside += s->sign.data[v[k]] == INSIDE, outside += s->sign.data[v[k]] == OUTSIDE;
        if (inside == 0)
            status = list_broken(s, v, INSIDE, &segments);
        else if (outside == 0 && inside < 4)
            status = list_broken(s, v, OUTSIDE, &segments);
    }
    if (status == MN_OK) status = mn_thin_count(s->ctx, s->def, &segments, &s->lattice.thin);
    mn_array_free(s->ctx, &segments);
    return status;
}

// ---- stencils ----

static mn_status emit(stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const mn_tet_indices tet = {{a, b, c, d}};
    return mn_array_push(s->ctx, &s->out->tets, &tet);
}

static mn_status point_vertex(stuffer *s, int32_t point, int32_t *vertex)
{
    if (s->vertex.data[point] < 0) {
        s->vertex.data[point] = (int32_t)s->out->positions.count;
        MN_TRY(mn_array_push(s->ctx, &s->out->positions, &s->position.data[point]));
    }
    *vertex = s->vertex.data[point];
    return MN_OK;
}

static mn_status cut_vertex(stuffer *s, int32_t a, int32_t b, int32_t *vertex)
{
    const uint32_t at = a < b ? crossing_slot(s, a, b) : crossing_slot(s, b, a);
    crossing *c = &s->crossings.data[s->table.data[at]];
    if (c->vertex < 0) {
        const mn_vec3 x = crossing_position(s, c);
        c->vertex = (int32_t)s->out->positions.count;
        MN_TRY(mn_array_push(s->ctx, &s->out->positions, &x));
    }
    *vertex = c->vertex;
    return MN_OK;
}

static int32_t parity(const stuffer *s, int32_t v)
{
    const mn_lattice_point p = s->lattice.points.data[v];
    return ((p.x >> 1) + (p.y >> 1) + (p.z >> 1)) & 1;
}

/// The diagonal of the quadrilateral (a, b, crossing b-x, crossing a-x): true when it starts at a.
static bool diagonal_from_first(const stuffer *s, int32_t a, int32_t b, int32_t x)
{
    const bool long_a = is_long(s, a, x), long_b = is_long(s, b, x);
    if (long_a != long_b) return long_b;
    const int32_t parity_a = parity(s, a), parity_b = parity(s, b);
    return parity_a != parity_b ? parity_a == 0 : a < b;
}

/// Worst quality of the three tetrahedra that prism() would emit.
static double tet_quality_of(const stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
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
static mn_status fill_circle(stuffer *s, const int32_t A[3], const int32_t B[3], const int32_t diagonal[3])
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

static mn_status emit_prism(stuffer *s, const int32_t A[3], const int32_t B[3], const int32_t diagonal[3])
{
    int32_t tets[3][4];
    if (!split_prism(A, B, diagonal, tets)) return fill_circle(s, A, B, diagonal);
    for (int32_t i = 0; i < 3; i++) MN_TRY(emit(s, tets[i][0], tets[i][1], tets[i][2], tets[i][3]));
    return MN_OK;
}

/// Two inside, two outside: a wedge. Its diagonal on the surface is free: the better one.
static mn_status fill_wedge(stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
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
static mn_status fill_truncated(stuffer *s, int32_t a, int32_t b, int32_t c, int32_t d)
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
static mn_status fill_pyramid(stuffer *s, int32_t a, int32_t b, int32_t z, int32_t d)
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
static void sort_by_sign(const stuffer *s, const int32_t tet[4], int32_t v[4])
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

static mn_status fill_tet(stuffer *s, const int32_t tet[4])
{
    int32_t v[4], inside = 0, outside = 0, x[4];
    sort_by_sign(s, tet, v);
    for (int32_t k = 0; k < 4; k++)
        inside += s->sign.data[v[k]] == INSIDE, outside += s->sign.data[v[k]] == OUTSIDE;
    if (inside == 0) return MN_OK;
    if (outside == 0 || inside == 1) {
        for (int32_t k = 0; k < 4; k++)
            MN_TRY(s->sign.data[v[k]] == OUTSIDE ? cut_vertex(s, v[0], v[k], &x[k])
                                                 : point_vertex(s, v[k], &x[k]));
        return emit(s, x[0], x[1], x[2], x[3]);
    }
    if (inside == 3) return fill_truncated(s, v[0], v[1], v[2], v[3]);
    return outside == 2 ? fill_wedge(s, v[0], v[1], v[2], v[3]) : fill_pyramid(s, v[0], v[1], v[2], v[3]);
}

/// A tetrahedron at the surface that is not one of the smallest: long edges 2 units, short ones (1, 1, 1).
static bool is_uneven(const stuffer *s, const int32_t v[4])
{
    bool touched = false, uneven = false;
    for (int32_t k = 0; k < 4; k++) touched = touched || s->sign.data[v[k]] != INSIDE;
    for (int32_t e = 0; touched && e < 6; e++) {
        const mn_lattice_point p = s->lattice.points.data[v[mn_tet_edge_corners[e][0]]];
        const mn_lattice_point q = s->lattice.points.data[v[mn_tet_edge_corners[e][1]]];
        const int32_t x = abs(p.x - q.x), y = abs(p.y - q.y), z = abs(p.z - q.z);
        uneven =
            uneven || !((x == 1 && y == 1 && z == 1) || (x + y + z == 2 && (x == 2 || y == 2 || z == 2)));
    }
    return uneven;
}

static mn_status fill(stuffer *s)
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

// ---- all of it ----

static mn_status check_def(mn_context *ctx, const mn_tet_stuffing_def *def)
{
    if (!def->level || !(def->size > 0) || !isfinite(def->size))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "the size of tetrahedra is %g m; it must be above 0",
                       def->size);
    if (!(def->gradation >= 0 && def->gradation <= 2))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "gradation is %g; it must lie in [0, 2]", def->gradation);
    if (!(def->curvature_refine >= 0 && def->curvature_refine <= 2))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "curvature_refine is %g; it must lie in [0, 2]",
                       def->curvature_refine);
    if (mn_box_is_empty(def->bounds) || !mn_is_finite3(def->bounds.min) || !mn_is_finite3(def->bounds.max))
        return mn_fail(ctx, MN_ERROR_INPUT, "the surface to fill is empty or has no finite bounds");
    return MN_OK;
}

static mn_status stuff(stuffer *s)
{
    const mn_tet_lattice *lattice = &s->lattice;
    MN_TRY(s->def->gradation > 0 || s->def->curvature_refine > 0
               ? mn_tet_lattice_graded(s->ctx, s->def, &s->lattice)
               : mn_tet_lattice_uniform(s->ctx, s->def, &s->lattice));
    if (lattice->tets.count > s->def->max_tets)
        return mn_fail(
            s->ctx, MN_ERROR_ARGUMENT,
            "a size of %g m makes more than %lld tetrahedra, which is the limit; use a larger size",
            s->def->size, (long long)s->def->max_tets);
    const int64_t points = lattice->points.count;
    MN_TRY(mn_array_resize(s->ctx, &s->position, points));
    MN_TRY(mn_array_resize(s->ctx, &s->sign, points));
    for (int64_t i = 0; i < points; i++) {
        const double value = lattice->values.data[i];
        if (isnan(value))
            return mn_fail(s->ctx, MN_ERROR_INPUT, "the level set is not finite at (%g, %g, %g)",
                           mn_lattice_position(lattice, lattice->points.data[i]).x,
                           mn_lattice_position(lattice, lattice->points.data[i]).y,
                           mn_lattice_position(lattice, lattice->points.data[i]).z);
        s->position.data[i] = mn_lattice_position(lattice, lattice->points.data[i]);
        s->sign.data[i] = value < 0 ? INSIDE : value > 0 ? OUTSIDE : ON;
    }
    MN_TRY(collect_crossings(s));
    MN_TRY(refine_crossings(s));
    MN_TRY(list_incident(s));
    if (s->def->curvature_refine > 0) MN_TRY(find_shortest(s));
    warp(s);
    MN_TRY(find_broken(s));
    MN_TRY(fill(s));
    s->out->lost_features = lattice->thin.features;
    s->out->lost_gaps = lattice->thin.gaps;
    s->out->first_lost = lattice->thin.first;
    return MN_OK;
}

mn_status mn_tet_stuff(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_stuffing *result)
{
    stuffer s = {.ctx = ctx, .def = def, .out = result};
    memset(result, 0, sizeof *result);
    MN_TRY(check_def(ctx, def));
    const mn_status status = stuff(&s);
    mn_tet_lattice_free(ctx, &s.lattice);
    mn_array_free(ctx, &s.position);
    mn_array_free(ctx, &s.sign);
    mn_array_free(ctx, &s.vertex);
    mn_array_free(ctx, &s.crossings);
    mn_array_free(ctx, &s.table);
    mn_array_free(ctx, &s.starts);
    mn_array_free(ctx, &s.incident);
    mn_array_free(ctx, &s.shortest);
    return status;
}
