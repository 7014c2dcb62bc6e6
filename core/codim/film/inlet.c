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
static const double CLOSEST = 0.2;              // spacings, between points where it turns more
enum { LEAST_AROUND = 5 };

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
    const double flow = mn_inlet_flow_up_to(b->arc, to) - mn_inlet_flow_up_to(b->arc, from);
    const double mass = mls->def.density * flow * b->duration;
    if (!(mass > 0)) return MN_OK; // nothing leaves here
    if (mls->points.count >= mls->def.max_points)
        return mn_fail(
            mls->solver.ctx, MN_ERROR_ARGUMENT,
            "The jets would make more than %lld points; raise max_points, or the spacing, or set a "
            "limit box that removes what has left the picture.",
            (long long)mls->def.max_points);
    double part;
    const int64_t i = mn_inlet_piece_at(b->arc, length, &part), next = inlet_next(inlet, i);
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

static mn_status bear_row(mn_codim *mls, const birth *b, int64_t row)
{
    const inlet_arc *arc = b->arc;
    const double whole = arc->length[arc->pieces], wanted = mn_inlet_points(arc, mls->def.spacing, CLOSEST);
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
    MN_TRY(mn_inlet_measure(mls->solver.ctx, inlet, &mls->arc, &arc));
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
    for (int64_t i = 0; i < inputs->inlet_count; i++)
        MN_TRY(mn_inlet_check(mls->solver.ctx, &inputs->inlets[i], i, mls->def.spacing));
    for (int64_t i = inputs->inlet_count; i < known; i++) let_go(mls, i);
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->feeds, inputs->inlet_count));
    for (int64_t i = 0; i < inputs->inlet_count; i++) {
        inlet_arc arc;
        if (i >= known) mls->feeds.data[i] = (mn_codim_feed){0};
        MN_TRY(mn_inlet_measure(mls->solver.ctx, &inputs->inlets[i], &mls->arc, &arc));
        find_axis(&arc, &mls->feeds.data[i], frame);
        follow_speed(mls, i, mn_inlet_speed(&inputs->inlets[i]));
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
