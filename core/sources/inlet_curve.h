// SPDX-License-Identifier: Apache-2.0
//
// The curve of an inlet: what flows through a piece of it.
//
//   Q_ab = (h_a + h_b)/2 |(x_b - x_a) x (u_a + u_b)/2|      m^3/s
//
// thickness times length times the velocity across the piece.
#ifndef MENISCUS_SOURCES_INLET_CURVE_H
#define MENISCUS_SOURCES_INLET_CURVE_H

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

#endif
