// SPDX-License-Identifier: Apache-2.0
//
// What a substance does with heat, and what a mixture of substances at one temperature does.
//
//   e(T) = c_s T                                          T below the melting interval
//        + (latent + (c_s + c_l)/2 range) melted          in it; without a range a step at the melting point
//        + c_l (T - T_liquidus)                           above it
//
// Energies count from absolute zero. e is continuous in energy: with a range of 0 a kilogram takes up its
// latent heat at one temperature, and `melted` says how much of it.
#ifndef MENISCUS_HEAT_SUBSTANCE_H
#define MENISCUS_HEAT_SUBSTANCE_H

#include "meniscus/context.h"

#include <math.h>

enum { MN_HEAT_SUBSTANCES_MAX = 32 };

typedef struct mn_heat_substance {
    double capacity[2];     ///< J/(kg K), solid and liquid, > 0
    double conductivity[2]; ///< W/(m K), solid and liquid, >= 0
    double latent_heat;     ///< J/kg, >= 0
    double melting_point;   ///< K, the middle of the interval; 0: always liquid; INFINITY: always solid
    double melting_range;   ///< K, width of the interval, >= 0, at most twice the melting point
} mn_heat_substance;

/// Where melting begins and ends, K.
static inline double mn_heat_solidus(const mn_heat_substance *s)
{
    return s->melting_point - 0.5 * s->melting_range;
}
static inline double mn_heat_liquidus(const mn_heat_substance *s)
{
    return s->melting_point + 0.5 * s->melting_range;
}
/// J/kg that melting takes, with what warms the interval.
static inline double mn_heat_fusion(const mn_heat_substance *s)
{
    return s->latent_heat + 0.5 * (s->capacity[0] + s->capacity[1]) * s->melting_range;
}

/// A part of a mixture.
typedef struct mn_heat_share {
    const mn_heat_substance *substance;
    double mass;   ///< kg
    double melted; ///< 0 solid .. 1 liquid
} mn_heat_share;

/// J of all shares at a temperature, K. `melted` decides for substances that melt at exactly this one.
double mn_heat_energy(int count, const mn_heat_share *shares, double temperature, double melted);
/// The temperature of a mixture of `energy` J, K, at least 0; fills `melted` of the shares. *slope is dT/dE,
/// K/J, 0 while something melts at one temperature.
double mn_heat_temperature(int count, mn_heat_share *shares, double energy, double *slope);

/// Fails with a sentence when a number is none, or out of its range.
mn_status mn_heat_check_substance(mn_context *ctx, const char *name, const mn_heat_substance *substance);

#endif
