// SPDX-License-Identifier: Apache-2.0
//
// The curve of an inlet: what flows through a piece of it.
//
//   Q_ab = (h_a + h_b)/2 |(x_b - x_a) x (u_a + u_b)/2|      m^3/s
//
// thickness times length times the velocity across the piece. With the arc of a curve, places along it are
// known by their length from its first point.
#ifndef MENISCUS_SOURCES_INLET_CURVE_H
#define MENISCUS_SOURCES_INLET_CURVE_H

#include "meniscus/array.h"
#include "meniscus/codim.h"

static inline int64_t inlet_pieces(const mn_codim_inlet *c)
{
    return c->closed ? c->count : c->count - 1;
}

static inline int64_t inlet_next(const mn_codim_inlet *c, int64_t i)
{
    return i + 1 < c->count ? i + 1 : 0;
}

static inline mn_vec3 inlet_piece(const mn_codim_inlet *c, int64_t i)
{
    return mn_sub(c->position[inlet_next(c, i)], c->position[i]);
}

/// Length times the velocity across it, m^2/s, along the normal of the film.
static inline mn_vec3 inlet_sweep(const mn_codim_inlet *c, int64_t i)
{
    const mn_vec3 u = mn_lerp(c->velocity[i], c->velocity[inlet_next(c, i)], 0.5);
    return mn_cross(inlet_piece(c, i), u);
}

static inline double inlet_flow(const mn_codim_inlet *c, int64_t i)
{
    return 0.5 * (c->thickness[i] + c->thickness[inlet_next(c, i)]) * mn_norm(inlet_sweep(c, i));
}

typedef struct inlet_arc {
    const mn_codim_inlet *inlet;
    const double *length, *flow; ///< m and m^3/s up to each point, and once around
    int64_t pieces;
} inlet_arc;
typedef MN_ARRAY(double) inlet_room;

/// MN_ERROR_INPUT with a sentence where jet `index` is not a curve with velocities and thicknesses, or has
/// 2^24 spacings or more.
mn_status mn_inlet_check(mn_context *ctx, const mn_codim_inlet *inlet, int64_t index, double spacing);
/// The arc, in `room`.
mn_status mn_inlet_measure(mn_context *ctx, const mn_codim_inlet *inlet, inlet_room *room, inlet_arc *arc);
/// m/s, how fast film crosses the curve where it is fastest; 0 when none does.
double mn_inlet_speed(const mn_codim_inlet *inlet);
/// The piece at a length in [0, whole length], and how far along it.
int64_t mn_inlet_piece_at(const inlet_arc *arc, double length, double *part);
/// m^3/s that leave before this length; goes on beyond the ends of a closed curve.
double mn_inlet_flow_up_to(const inlet_arc *arc, double length);
/// Points that a row of film should have, `closest` spacings apart or more.
double mn_inlet_points(const inlet_arc *arc, double spacing, double closest);

#endif
