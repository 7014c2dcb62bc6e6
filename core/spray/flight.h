// SPDX-License-Identifier: Apache-2.0
//
// Free flight of a drop under gravity and drag.
#ifndef MENISCUS_SPRAY_FLIGHT_H
#define MENISCUS_SPRAY_FLIGHT_H

#include "meniscus/spray.h"

/// The air at a drop.
typedef struct mn_air {
    mn_vec3 gravity;  ///< m/s^2
    mn_vec3 wind;     ///< m/s
    double density;   ///< kg/m^3
    double viscosity; ///< Pa s
    double drag;      ///< factor
} mn_air;

/// 1/s: the rate at which drag takes away the velocity against the air, `speed` m/s.
double mn_drag_rate(const mn_air *air, double radius, double mass, double speed);

/// An arc of a flight with its rate of drag frozen: position and velocity at any time on it are closed forms.
typedef struct mn_arc {
    mn_vec3 position, velocity;
    mn_vec3 wind, gravity;
    double rate;
} mn_arc;
void mn_arc_at(const mn_arc *arc, double t, mn_vec3 *position, mn_vec3 *velocity);

/// The arc that a drop flies from where it is. *seconds is how long it is wanted on entry, and on return how
/// long it is good to `tolerance` (relative to the speed against the air); never shorter than 2^-20 of what
/// was wanted.
mn_arc mn_arc_begin(const mn_air *air, const mn_drop *drop, double tolerance, double *seconds);

#endif
