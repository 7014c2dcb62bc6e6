// SPDX-License-Identifier: Apache-2.0
//
// The curve of an inlet by its length (inlet_curve.h).
#include "sources/inlet_curve.h"

#include "base/elementary.h"

static const double TURN = 0.2; // radians that the velocity may turn from point to point of a row
enum { ROW_LIMIT = 1 << 24 };

mn_status mn_inlet_check(mn_context *ctx, const mn_codim_inlet *inlet, int64_t index, double spacing)
{
    if (inlet->count < 2)
        return mn_fail(ctx, MN_ERROR_INPUT, "Jet %lld is not a curve: it has %lld points.", (long long)index,
                       (long long)inlet->count);
    double length = 0;
    for (int64_t i = 0; i < inlet->count; i++) {
        if (!mn_is_finite3(inlet->position[i]) || !mn_is_finite3(inlet->velocity[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of jet %lld has a position or velocity that is not finite.",
                           (long long)i, (long long)index);
        if (!(inlet->thickness[i] >= 0) || !isfinite(inlet->thickness[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "The film leaves jet %lld with a thickness of %g m at point %lld; it must be at "
                           "least 0.",
                           (long long)index, inlet->thickness[i], (long long)i);
        length += mn_norm(inlet_piece(inlet, i));
    }
    if (!(length / spacing < ROW_LIMIT))
        return mn_fail(ctx, MN_ERROR_INPUT,
                       "The curve of jet %lld is %.3g m long, too long for a spacing of %g m.",
                       (long long)index, length, spacing);
    return MN_OK;
}

mn_status mn_inlet_measure(mn_context *ctx, const mn_codim_inlet *inlet, inlet_room *room, inlet_arc *arc)
{
    const int64_t pieces = inlet_pieces(inlet);
    MN_TRY(mn_array_resize(ctx, room, 2 * (pieces + 1)));
    double *length = room->data, *flow = length + pieces + 1;
    length[0] = flow[0] = 0;
    for (int64_t i = 0; i < pieces; i++) {
        length[i + 1] = length[i] + mn_norm(inlet_piece(inlet, i));
        flow[i + 1] = flow[i] + inlet_flow(inlet, i);
    }
    *arc = (inlet_arc){inlet, length, flow, pieces};
    return MN_OK;
}

int64_t mn_inlet_piece_at(const inlet_arc *arc, double length, double *part)
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

double mn_inlet_flow_up_to(const inlet_arc *arc, double length)
{
    const double whole = arc->length[arc->pieces], turns = floor(length / whole);
    double part;
    if (!arc->inlet->closed) length = fmin(fmax(length, 0), whole);
    const double within = arc->inlet->closed ? fmin(fmax(length - turns * whole, 0), whole) : length;
    const int64_t i = mn_inlet_piece_at(arc, within, &part);
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

double mn_inlet_speed(const mn_codim_inlet *inlet)
{
    const mn_codim_inlet_measure m = mn_codim_measure_inlet(inlet);
    return m.flow > 0 ? m.speed : 0;
}

// A point that is split between two of other directions later loses 1 - cos(half the angle) of its speed, so
// film that fans out starts with more points than its length asks for.
double mn_inlet_points(const inlet_arc *arc, double spacing, double closest)
{
    const mn_codim_inlet *c = arc->inlet;
    const double whole = arc->length[arc->pieces];
    double turn = 0;
    for (int64_t i = 0; i < arc->pieces; i++) {
        const mn_vec3 u = c->velocity[i], v = c->velocity[inlet_next(c, i)];
        turn += mn_atan2(mn_norm(mn_cross(u, v)), mn_dot(u, v));
    }
    return fmax(whole, fmin(turn / TURN * spacing, whole / closest)) / spacing;
}
