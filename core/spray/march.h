// SPDX-License-Identifier: Apache-2.0
//
// The motion of one drop through a substep: free flight between impacts.
#ifndef MENISCUS_SPRAY_MARCH_H
#define MENISCUS_SPRAY_MARCH_H

#include "spray/flight.h"

typedef struct mn_march {
    mn_air air;
    mn_volume wind_field; ///< added to the air's wind; {0} for none
    double wind_voxel;    ///< m
    const mn_collider *collider;
    mn_impact impact;
    double restitution, friction;
    double stride; ///< m, how far a drop at a solid moves at once
    double gap;    ///< m, nearer than this counts as touching
} mn_march;

mn_march mn_march_prepare(const mn_spray_def *def, const mn_solver_inputs *inputs);

/// Moves the drop on by `seconds`, which end `before` seconds before the end of the frame (the moment that
/// the collider shows). False when it died on the way.
bool mn_march_drop(const mn_march *march, double seconds, double before, mn_drop *drop);

#endif
