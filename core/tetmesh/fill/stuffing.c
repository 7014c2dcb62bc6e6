// SPDX-License-Identifier: Apache-2.0
//
// Isosurface stuffing [labelle2007]: find where lattice edges cross the surface, move lattice points that
// have a crossing nearby onto it, then fill each tetrahedron from a small set of stencils
// (stuffing_stencils.c).
//
// A crossing violates an end of its edge when it lies within alpha of it, as a fraction of the edge.
#include "tetmesh/fill/stuffing_state.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

static const double alpha_long = 0.2851, alpha_short = 0.3988;

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

uint32_t mn_stuffing_slot(const mn_stuffer *s, int32_t a, int32_t b)
{
    uint32_t at = edge_hash(a, b) & s->mask;
    while (s->table.data[at] >= 0) {
        const mn_stuffing_crossing *c = &s->crossings.data[s->table.data[at]];
        if (c->a == a && c->b == b) break;
        at = (at + 1) & s->mask;
    }
    return at;
}

static mn_status collect_crossings(mn_stuffer *s)
{
    const mn_tet_lattice *lattice = &s->lattice;
    int64_t cut_tets = 0;
    for (int64_t t = 0; t < lattice->tets.count; t++)
        for (int32_t k = 0; k < 4; k++)
            if (s->sign.data[lattice->tets.data[t].v[k]] == MN_OUTSIDE) {
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
            const uint32_t at = mn_stuffing_slot(s, a, b);
            if (s->table.data[at] >= 0) continue;
            const double fa = lattice->values.data[a], fb = lattice->values.data[b];
            const mn_stuffing_crossing fresh = {a, b, fa / (fa - fb), -1};
            s->table.data[at] = (int32_t)s->crossings.count;
            MN_TRY(mn_array_push(s->ctx, &s->crossings, &fresh));
        }
    }
    return MN_OK;
}

mn_vec3 mn_stuffing_position(const mn_stuffer *s, const mn_stuffing_crossing *c)
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
static mn_status refine_crossings(mn_stuffer *s)
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
        const mn_stuffing_crossing *c = &s->crossings.data[i];
        open[i] = (bracket){0, 1, s->lattice.values.data[c->a], s->lattice.values.data[c->b], (int32_t)i, 0};
    }
    int64_t left = count;
    for (int32_t round = 0; round < ROUNDS && left > 0; round++) {
        for (int64_t i = 0; i < left; i++)
            x[i] = mn_stuffing_position(s, &s->crossings.data[open[i].crossing]);
        MN_TRY_TO(done, status, mn_level_sample(s->ctx, s->def, left, x, f));
        int64_t kept = 0;
        for (int64_t i = 0; i < left; i++) {
            if (!(fabs(f[i]) > enough)) continue;
            mn_stuffing_crossing *c = &s->crossings.data[open[i].crossing];
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

static mn_status list_incident(mn_stuffer *s)
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

bool mn_stuffing_is_long(const mn_stuffer *s, int32_t a, int32_t b)
{
    const mn_lattice_point p = s->lattice.points.data[a], q = s->lattice.points.data[b];
    return (p.x != q.x) + (p.y != q.y) + (p.z != q.z) == 1;
}

/// The shortest edge of each kind at every point, where leaves of different sizes meet at the surface: a
/// point must not move far for its smallest neighbours.
static mn_status find_shortest(mn_stuffer *s)
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
            const int32_t kind = mn_stuffing_is_long(s, a, b);
            s->shortest.data[2 * a + kind] = fmin(s->shortest.data[2 * a + kind], length);
            s->shortest.data[2 * b + kind] = fmin(s->shortest.data[2 * b + kind], length);
        }
    return MN_OK;
}

/// Moves every point that a crossing violates onto the nearest such crossing, in order.
static void warp(mn_stuffer *s)
{
    for (int32_t v = 0; v < s->lattice.points.count; v++) {
        const mn_stuffing_crossing *nearest = NULL;
        double distance = INFINITY;
        for (int32_t i = s->starts.data[v]; i < s->starts.data[v + 1]; i++) {
            const mn_stuffing_crossing *c = &s->crossings.data[s->incident.data[i]];
            if (c->vertex == -2) continue;
            const bool longer = mn_stuffing_is_long(s, c->a, c->b);
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
        s->position.data[v] = mn_stuffing_position(s, nearest);
        s->sign.data[v] = MN_ON;
        for (int32_t i = s->starts.data[v]; i < s->starts.data[v + 1]; i++)
            s->crossings.data[s->incident.data[i]].vertex = -2;
    }
}

// ---- what warping breaks ----

/// A point with the surface close on two sides moves onto one of them; what lies between it and the other
/// is not filled when no point inside is left around: a hole in a sheet, or a bridge over a gap. `side` is
/// the side that is lost there.
static mn_status list_broken(mn_stuffer *s, const int32_t v[4], int8_t side, mn_thin_segments *segments)
{
    const double *value = s->lattice.values.data;
    for (int32_t e = 0; e < 6; e++) {
        const int32_t p = v[mn_tet_edge_corners[e][0]], q = v[mn_tet_edge_corners[e][1]];
        if (!(value[p] * value[q] < 0)) continue;
        const int32_t moved = (value[p] < 0) == (side == MN_INSIDE) ? p : q;
        if (s->sign.data[moved] != MN_ON) continue;
        mn_stuffing_crossing *c =
            &s->crossings.data[s->table.data[mn_stuffing_slot(s, p < q ? p : q, p < q ? q : p)]];
        if (c->vertex != -2) continue;
        const mn_vec3 from = mn_lattice_position(&s->lattice, s->lattice.points.data[moved]);
        const mn_thin_segment segment = {.a = s->position.data[moved],
                                         .b = mn_stuffing_position(s, c),
                                         .outside = side == MN_INSIDE,
                                         .at = 0.5};
        // Both on one face when they lie in the same direction.
        if (mn_dot(mn_sub(segment.a, from), mn_sub(segment.b, from)) >= 0) continue;
        c->vertex = -3;
        MN_TRY(mn_array_push(s->ctx, segments, &segment));
    }
    return MN_OK;
}

static mn_status find_broken(mn_stuffer *s)
{
    mn_thin_segments segments = {0};
    mn_status status = MN_OK;
    for (int64_t t = 0; t < s->lattice.tets.count && status == MN_OK; t++) {
        const int32_t *v = s->lattice.tets.data[t].v;
        int32_t inside = 0, outside = 0;
        for (int32_t k = 0; k < 4; k++)
            inside += s->sign.data[v[k]] == MN_INSIDE, outside += s->sign.data[v[k]] == MN_OUTSIDE;
        if (inside == 0)
            status = list_broken(s, v, MN_INSIDE, &segments);
        else if (outside == 0 && inside < 4)
            status = list_broken(s, v, MN_OUTSIDE, &segments);
    }
    if (status == MN_OK) status = mn_thin_count(s->ctx, s->def, &segments, &s->lattice.thin);
    mn_array_free(s->ctx, &segments);
    return status;
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

static mn_status stuff(mn_stuffer *s)
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
        s->sign.data[i] = value < 0 ? MN_INSIDE : value > 0 ? MN_OUTSIDE : MN_ON;
    }
    MN_TRY(collect_crossings(s));
    MN_TRY(refine_crossings(s));
    MN_TRY(list_incident(s));
    if (s->def->curvature_refine > 0) MN_TRY(find_shortest(s));
    warp(s);
    MN_TRY(find_broken(s));
    MN_TRY(mn_stuffing_fill(s));
    s->out->lost_features = lattice->thin.features;
    s->out->lost_gaps = lattice->thin.gaps;
    s->out->first_lost = lattice->thin.first;
    return MN_OK;
}

mn_status mn_tet_stuff(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_stuffing *result)
{
    mn_stuffer s = {.ctx = ctx, .def = def, .out = result};
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
