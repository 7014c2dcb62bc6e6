// SPDX-License-Identifier: Apache-2.0
//
// Film that comes out of a jet: rows of points along the curve of an inlet, one behind the other.
//
//     birth                 outlet (the curve)
//       |  row: driven        |   rows before it: free
//       o ------ phase -----> o      o      o      o
//
// A row is born one row's distance behind the outlet and driven through it; when it is there the next is born
// and it is let go. It takes up all that flows while it is on its way, so at any time the inlet has given
//
//   mass = sum over rows of integral rho h |u_across| dl dt      exactly,
//
// each point with the velocity of the liquid at its place. A step may end anywhere between two births: rows
// stand where they would stand had time not been cut into steps, so there are neither gaps nor seams. The
// driven row is also the edge of the film on the side of the jet, which the film pulls at in vain.
#include "base/elementary.h"
#include "codim/state.h"
#include "sources/inlet_curve.h"

#include "base/random.h"

#include <string.h>

static const double ROW = 0.866025403784439;    // spacings between rows: even triangles
static const double GOLDEN = 0.618033988749895; // turns from row to row, so that points do not line up
static const double TURN = 0.2;    // radians that the velocity may turn from point to point of a row
static const double CLOSEST = 0.2; // spacings, between points where it turns more
enum { LEAST_AROUND = 5, ROW_LIMIT = 1 << 24 };

// ---- the curve by its length ----

typedef struct inlet_arc {
    const mn_codim_inlet *inlet;
    const double *length, *flow; ///< up to each point, and once around
    int64_t pieces;
} inlet_arc;

static mn_status measure(mn_codim *mls, const mn_codim_inlet *inlet, inlet_arc *arc)
{
    const int64_t pieces = inlet_pieces(inlet);
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->arc, 2 * (pieces + 1)));
    double *length = mls->arc.data, *flow = length + pieces + 1;
    length[0] = flow[0] = 0;
    for (int64_t i = 0; i < pieces; i++) {
        length[i + 1] = length[i] + mn_norm(inlet_piece(inlet, i));
        flow[i + 1] = flow[i] + inlet_flow(inlet, i);
    }
    *arc = (inlet_arc){inlet, length, flow, pieces};
    return MN_OK;
}

// The piece at a length in [0, whole length], and how far along it.
static int64_t piece_at(const inlet_arc *arc, double length, double *part)
{
    int64_t low = 0, high = arc->pieces - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (arc->length[middle] <= length)
            low = middle;
        else
            high = middle - 1;
    }
    const double whole = arc->length[low + 1] - arc->length[low];
    *part = whole > 0 ? fmin(1, (length - arc->length[low]) / whole) : 0;
    return low;
}

// m^3/s that leave before this length; goes on beyond the ends of a closed curve.
static double flow_up_to(const inlet_arc *arc, double length)
{
    const double whole = arc->length[arc->pieces], turns = floor(length / whole);
    double part;
    if (!arc->inlet->closed) length = fmin(fmax(length, 0), whole);
    const double within = arc->inlet->closed ? fmin(fmax(length - turns * whole, 0), whole) : length;
    const int64_t i = piece_at(arc, within, &part);
    const double here = arc->flow[i] + part * (arc->flow[i + 1] - arc->flow[i]);
    return here + (arc->inlet->closed ? turns * arc->flow[arc->pieces] : 0);
}

mn_codim_inlet_measure mn_codim_measure_inlet(const mn_codim_inlet *inlet)
{
    mn_codim_inlet_measure m = {0};
    for (int64_t i = 0; inlet->count > 1 && i < inlet_pieces(inlet); i++) {
        const double length = mn_norm(inlet_piece(inlet, i));
        m.length += length;
        m.flow += inlet_flow(inlet, i);
        if (length > 0) m.speed = fmax(m.speed, mn_norm(inlet_sweep(inlet, i)) / length);
    }
    return m;
}

// How fast rows cross the curve, m/s; 0 when nothing does.
static double speed_across(const mn_codim_inlet *inlet)
{
    const mn_codim_inlet_measure m = mn_codim_measure_inlet(inlet);
    return m.flow > 0 ? m.speed : 0;
}

// ---- rows ----

static double row_time(const mn_codim *mls, const mn_codim_feed *feed)
{
    return ROW * mls->def.spacing / feed->speed;
}

static void let_go(mn_codim *mls, int64_t inlet)
{
    for (int64_t p = 0; p < mls->points.count; p++)
        if (mls->points.data[p].anchor == MN_CODIM_BORN - inlet) mls->points.data[p].anchor = MN_CODIM_FREE;
}

/// A row that is being born.
typedef struct birth {
    const inlet_arc *arc;
    int64_t inlet;
    double lead;     ///< s, until it is at the outlet, at the end of the step
    double duration; ///< s, for which it has taken up what flows
    mn_vec3 shift;   ///< m, from where the curve is at the end of the frame to where it was at the birth
} birth;

// One point at `length` along the curve for what leaves between `from` and `to`.
static mn_status bear(mn_codim *mls, const birth *b, double length, double from, double to)
{
    const mn_codim_inlet *inlet = b->arc->inlet;
    const double flow = flow_up_to(b->arc, to) - flow_up_to(b->arc, from);
    const double mass = mls->def.density * flow * b->duration;
    if (!(mass > 0)) return MN_OK; // nothing leaves here
    if (mls->points.count >= mls->def.max_points)
        return mn_fail(
            mls->solver.ctx, MN_ERROR_ARGUMENT,
            "The jets would make more than %lld points; raise max_points, or the spacing, or set a "
            "limit box that removes what has left the picture.",
            (long long)mls->def.max_points);
    double part;
    const int64_t i = piece_at(b->arc, length, &part), next = inlet_next(inlet, i);
    const mn_vec3 u = mn_lerp(inlet->velocity[i], inlet->velocity[next], part);
    const mn_vec3 at = mn_lerp(inlet->position[i], inlet->position[next], part);
    const mn_vec3 n = mn_normalize(inlet_sweep(inlet, i));
    const mn_codim_point point = {
        .position = mn_axpy(mn_add(at, b->shift), -b->lead, u),
        .velocity = u,
        .normal = mn_norm2(n) > 0 ? n : mn_v3(0, 1, 0),
        .mass = mass,
        .id = mls->next_id++,
        .codim = MN_CODIM_FILM,
        .anchor = MN_CODIM_BORN - b->inlet,
        .pocket = -1,
    };
    return mn_array_push(mls->solver.ctx, &mls->points, &point);
}

// Points that a row should have. A point that is split between two of other directions later loses
// 1 - cos(half the angle) of its speed, so film that fans out starts with more points than its length asks
// for.
static double wanted_points(const mn_codim *mls, const inlet_arc *arc)
{
    const mn_codim_inlet *c = arc->inlet;
    const double whole = arc->length[arc->pieces];
    double turn = 0;
    for (int64_t i = 0; i < arc->pieces; i++) {
        const mn_vec3 u = c->velocity[i], v = c->velocity[inlet_next(c, i)];
        turn += mn_atan2(mn_norm(mn_cross(u, v)), mn_dot(u, v));
    }
    return fmax(whole, fmin(turn / TURN * mls->def.spacing, whole / CLOSEST)) / mls->def.spacing;
}

static mn_status bear_row(mn_codim *mls, const birth *b, int64_t row)
{
    const inlet_arc *arc = b->arc;
    const double whole = arc->length[arc->pieces], wanted = wanted_points(mls, arc);
    if (arc->inlet->closed) {
        const int64_t count = (int64_t)fmax(LEAST_AROUND, round(wanted));
        const double turn =
            fmod(mn_random_unit(mls->def.seed, (uint64_t)b->inlet, 0) + GOLDEN * (double)row, 1.0);
        const double gap = whole / (double)count;
        for (int64_t j = 0; j < count; j++) {
            const double at = gap * ((double)j + turn);
            MN_TRY(bear(mls, b, at, at - 0.5 * gap, at + 0.5 * gap));
        }
        return MN_OK;
    }
    // Rows with both ends, every other one shifted by half a gap between them.
    const int64_t gaps = (int64_t)fmax(1, round(wanted));
    const double gap = whole / (double)gaps, shift = row % 2 ? 0.5 : 0;
    double before = 0, at = 0;
    for (int64_t j = 0; at < whole; j++) {
        const double next = fmin(whole, gap * ((double)(j + 1) - shift));
        MN_TRY(bear(mls, b, at, 0.5 * (before + at), 0.5 * (at + next)));
        before = at, at = next > whole * (1 - 1e-9) ? whole : next;
    }
    return bear(mls, b, whole, 0.5 * (before + whole), whole);
}

// The row on its way takes up what flows for `duration`: in the shares that it has.
static void grow_row(mn_codim *mls, const inlet_arc *arc, int64_t inlet, double duration)
{
    const int64_t anchor = MN_CODIM_BORN - inlet;
    double mass = 0;
    for (int64_t p = 0; p < mls->points.count; p++)
        if (mls->points.data[p].anchor == anchor) mass += mls->points.data[p].mass;
    if (!(mass > 0)) return;
    const double factor = 1 + mls->def.density * arc->flow[arc->pieces] * duration / mass;
    for (int64_t p = 0; p < mls->points.count; p++)
        if (mls->points.data[p].anchor == anchor) mls->points.data[p].mass *= factor;
}

static mn_status feed_from(mn_codim *mls, const mn_codim_inlet *inlet, int64_t index, double dt, double rest)
{
    mn_codim_feed *feed = &mls->feeds.data[index];
    inlet_arc arc;
    if (!(feed->speed > 0)) return MN_OK;
    MN_TRY(measure(mls, inlet, &arc));
    const double whole = row_time(mls, feed);
    for (double left = dt; left > 0;) {
        const bool born = feed->phase >= 1;
        const double to_go = born ? whole : (1 - feed->phase) * whole, part = fmin(left, to_go);
        if (born) {
            let_go(mls, index);
            const birth b = {&arc, index, whole - left, part, mn_scale(-(left + rest), feed->motion)};
            MN_TRY(bear_row(mls, &b, feed->rows++));
            feed->phase = 0;
        } else {
            grow_row(mls, &arc, index, part);
        }
        feed->phase = part < to_go ? feed->phase + part / whole : 1;
        left = part < left ? left - part : 0;
    }
    return MN_OK;
}

// ---- what an advance asks for ----

static mn_status check(const mn_codim *mls, const mn_codim_inlet *inlet, int64_t index)
{
    if (inlet->count < 2)
        return mn_fail(mls->solver.ctx, MN_ERROR_INPUT, "Jet %lld is not a curve: it has %lld points.",
                       (long long)index, (long long)inlet->count);
    double length = 0;
    for (int64_t i = 0; i < inlet->count; i++) {
        if (!mn_is_finite3(inlet->position[i]) || !mn_is_finite3(inlet->velocity[i]))
            return mn_fail(mls->solver.ctx, MN_ERROR_INPUT,
                           "Point %lld of jet %lld has a position or velocity that is not finite.",
                           (long long)i, (long long)index);
        if (!(inlet->thickness[i] >= 0) || !isfinite(inlet->thickness[i]))
            return mn_fail(mls->solver.ctx, MN_ERROR_INPUT,
                           "The film leaves jet %lld with a thickness of %g m at point %lld; it must be at "
                           "least 0.",
                           (long long)index, inlet->thickness[i], (long long)i);
        length += mn_norm(inlet_piece(inlet, i));
    }
    if (!(length / mls->def.spacing < ROW_LIMIT))
        return mn_fail(mls->solver.ctx, MN_ERROR_INPUT,
                       "The curve of jet %lld is %.3g m long, too long for a spacing of %g m.",
                       (long long)index, length, mls->def.spacing);
    return MN_OK;
}

// A row on its way speeds up or slows down with its inlet.
static void follow_speed(mn_codim *mls, int64_t index, double speed)
{
    mn_codim_feed *feed = &mls->feeds.data[index];
    if (speed == feed->speed) return;
    if (!(speed > 0)) {
        let_go(mls, index);
        feed->phase = 0;
    } else if (!(feed->speed > 0)) {
        feed->phase = 1; // the next thing is a birth
    } else {
        for (int64_t p = 0; p < mls->points.count; p++) {
            mn_codim_point *point = &mls->points.data[p];
            if (point->anchor == MN_CODIM_BORN - index)
                point->velocity = mn_scale(speed / feed->speed, point->velocity);
        }
    }
    feed->speed = speed;
}

// Middle of the curve, how it has moved since the frame before, and the way across it, from the area that it
// goes around.
static void find_axis(const inlet_arc *arc, mn_codim_feed *feed, double frame)
{
    const mn_vec3 before = feed->center;
    const mn_codim_inlet *c = arc->inlet;
    mn_vec3 sum = {0}, area = {0};
    for (int64_t i = 0; i < c->count; i++) sum = mn_add(sum, c->position[i]);
    feed->center = mn_scale(1 / (double)c->count, sum);
    for (int64_t i = 0; i < arc->pieces; i++)
        area = mn_add(area, mn_cross(mn_sub(c->position[i], feed->center),
                                     mn_sub(c->position[inlet_next(c, i)], feed->center)));
    feed->axis = mn_normalize(area);
    feed->motion = feed->rows > 0 ? mn_scale(1 / frame, mn_sub(feed->center, before)) : mn_v3(0, 0, 0);
}

mn_status mn_codim_open_inlets(mn_codim *mls, const mn_codim_inputs *inputs, double frame)
{
    const int64_t known = mls->feeds.count;
    for (int64_t i = 0; i < inputs->inlet_count; i++) MN_TRY(check(mls, &inputs->inlets[i], i));
    for (int64_t i = inputs->inlet_count; i < known; i++) let_go(mls, i);
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->feeds, inputs->inlet_count));
    for (int64_t i = 0; i < inputs->inlet_count; i++) {
        inlet_arc arc;
        if (i >= known) mls->feeds.data[i] = (mn_codim_feed){0};
        MN_TRY(measure(mls, &inputs->inlets[i], &arc));
        find_axis(&arc, &mls->feeds.data[i], frame);
        follow_speed(mls, i, speed_across(&inputs->inlets[i]));
    }
    return MN_OK;
}

double mn_codim_inlet_step(const mn_codim *mls)
{
    double least = INFINITY;
    for (int64_t i = 0; i < mls->feeds.count; i++)
        if (mls->feeds.data[i].speed > 0) least = fmin(least, row_time(mls, &mls->feeds.data[i]));
    return least;
}

mn_status mn_codim_feed_film(mn_codim *mls, const mn_codim_inputs *inputs, double dt, double rest)
{
    for (int64_t i = 0; i < inputs->inlet_count; i++) MN_TRY(feed_from(mls, &inputs->inlets[i], i, dt, rest));
    return MN_OK;
}

void mn_codim_born_thickness(mn_codim *mls)
{
    for (int64_t p = 0; mls->feeds.count > 0 && p < mls->points.count; p++) {
        if (mls->points.data[p].anchor > MN_CODIM_BORN) continue;
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        double sum = 0, count = 0;
        for (int32_t i = 0; i < 2 * fan->count; i++) {
            const int32_t q = fan->pair[i / 2][i % 2];
            if (mls->points.data[q].anchor > MN_CODIM_BORN) sum += mls->thickness.data[q], count++;
        }
        if (count > 0) mls->thickness.data[p] = sum / count;
    }
}
