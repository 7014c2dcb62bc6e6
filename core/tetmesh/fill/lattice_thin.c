// SPDX-License-Identifier: Apache-2.0
//
// What is thinner than the lattice, and so lost or broken by filling: sheets and blobs between lattice points
// (features), slits between them (gaps).
//
// A segment has both ends on one side of the surface. Does it pass through the other side, and between faces
// that look away from each other? Along it the distance to a thin sheet is V-shaped with some slope c:
//
//   f(s) = f(0) - c s   before the sheet,     f(L) - c (L - s)   behind it,     least at s = (L + (f(0) -
//   f(L)) / c) / 2
//
// The first place to look takes c = 1, the second the slope that the first has shown. A corner or a crease
// that a lattice edge cuts off is no thin feature: there the gradients at the ends are at right angles and
// not opposed.
#include "tetmesh/fill/lattice.h"

#include <string.h>

/// Directions that differ by more than 107 degrees are opposed: a wedge of up to 73 degrees counts as thin.
static const double opposed = -0.3;

/// Samples in batches at the places that `place` gives for segment i, `each` of them.
typedef void place_fn(const mn_thin_segment *segment, double size, mn_vec3 *x);

static mn_status sample_segments(mn_context *ctx, const mn_tet_stuffing_def *def,
                                 const mn_thin_segments *segments, place_fn *place, int32_t each,
                                 double *values)
{
    enum { BATCH = 512 };
    mn_vec3 x[12 * BATCH];
    for (int64_t i = 0; i < segments->count; i += BATCH) {
        const int64_t count = segments->count - i < BATCH ? segments->count - i : BATCH;
        for (int64_t j = 0; j < count; j++) place(&segments->data[i + j], def->size, &x[each * j]);
        MN_TRY(mn_level_sample(ctx, def, each * count, x, values + each * i));
    }
    return MN_OK;
}

static void place_on(const mn_thin_segment *segment, double size, mn_vec3 *x)
{
    (void)size;
    *x = mn_lerp(segment->a, segment->b, segment->at);
}

/// Where the V is lowest, as a fraction of the segment, for slope c.
static double lowest(const mn_thin_segment *segment, double c)
{
    const double length = mn_distance(segment->a, segment->b);
    const double s = 0.5 * (length + (fabs(segment->value_a) - fabs(segment->value_b)) / c);
    return fmin(fmax(s / length, 0.02), 0.98);
}

/// Keeps the segments that pass through the other side at `at`.
static mn_status keep_crossed(mn_context *ctx, const mn_tet_stuffing_def *def, mn_thin_segments *segments)
{
    enum { LOOKS = 2 };
    const size_t bytes = mn_bytes(segments->count, sizeof(double));
    double *values = mn_allocate(ctx, bytes);
    if (bytes && !values) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    for (int64_t i = 0; i < segments->count; i++) segments->data[i].at = lowest(&segments->data[i], 1);
    for (int32_t look = 0; look < LOOKS && status == MN_OK; look++) {
        status = sample_segments(ctx, def, segments, place_on, 1, values);
        int64_t kept = 0;
        for (int64_t i = 0; i < segments->count && status == MN_OK; i++) {
            mn_thin_segment s = segments->data[i];
            const double length = mn_distance(s.a, s.b), here = s.outside ? values[i] : -values[i];
            if (!s.found && here < 0) s.found = true;
            if (!s.found && look + 1 < LOOKS) {
                const double c = fmax((fabs(s.value_a) - here) / (s.at * length),
                                      (fabs(s.value_b) - here) / ((1 - s.at) * length));
                if (!(c > 0.3)) continue;
                s.at = lowest(&s, c);
            }
            if (s.found || look + 1 < LOOKS) segments->data[kept++] = s;
        }
        segments->count = kept;
    }
    mn_release(ctx, values, bytes);
    return status;
}

static void place_around_ends(const mn_thin_segment *segment, double size, mn_vec3 *x)
{
    const double step = 0.03 * size;
    for (int32_t end = 0; end < 2; end++)
        for (int32_t k = 0; k < 6; k++) {
            const double by = k % 2 ? -step : step;
            x[6 * end + k] = mn_add(end ? segment->b : segment->a,
                                    mn_v3(k / 2 == 0 ? by : 0, k / 2 == 1 ? by : 0, k / 2 == 2 ? by : 0));
        }
}

/// Counts the segments whose ends look away from each other.
static mn_status count_opposed(mn_context *ctx, const mn_tet_stuffing_def *def,
                               const mn_thin_segments *segments, mn_thin_report *report)
{
    const size_t bytes = mn_bytes(12 * segments->count, sizeof(double));
    double *values = mn_allocate(ctx, bytes);
    if (bytes && !values) return MN_ERROR_MEMORY;
    const mn_status status = sample_segments(ctx, def, segments, place_around_ends, 12, values);
    for (int64_t i = 0; i < segments->count && status == MN_OK; i++) {
        const double *v = &values[12 * i];
        const mn_vec3 g = {v[0] - v[1], v[2] - v[3], v[4] - v[5]},
                      h = {v[6] - v[7], v[8] - v[9], v[10] - v[11]};
        if (!(mn_dot(g, h) < opposed * mn_norm(g) * mn_norm(h))) continue;
        if (report->features + report->gaps == 0)
            report->first = mn_lerp(segments->data[i].a, segments->data[i].b, segments->data[i].at);
        if (segments->data[i].outside)
            report->features++;
        else
            report->gaps++;
    }
    mn_release(ctx, values, bytes);
    return status;
}

mn_status mn_thin_count(mn_context *ctx, const mn_tet_stuffing_def *def, mn_thin_segments *segments,
                        mn_thin_report *report)
{
    if (segments->count) MN_TRY(keep_crossed(ctx, def, segments));
    return segments->count ? count_opposed(ctx, def, segments, report) : MN_OK;
}

mn_status mn_thin_add_edge(mn_context *ctx, mn_thin_segments *segments, const mn_thin_segment *edge,
                           double behind_a, double behind_b)
{
    const double a = edge->value_a, b = edge->value_b;
    if ((a < 0) != (b < 0) || !(fabs(a) + fabs(b) < mn_distance(edge->a, edge->b))) return MN_OK;
    if (behind_a * a > 0 && fabs(behind_a) < fabs(a)) return MN_OK;
    if (behind_b * b > 0 && fabs(behind_b) < fabs(b)) return MN_OK;
    mn_thin_segment fresh = *edge;
    fresh.outside = a >= 0, fresh.found = false;
    return mn_array_push(ctx, segments, &fresh);
}
