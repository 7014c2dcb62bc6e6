// SPDX-License-Identifier: Apache-2.0
//
// Velocities of animated geometry, for the nodes that move things.
#ifndef MENISCUS_NODES_MOTION_H
#define MENISCUS_NODES_MOTION_H

#include "nodes/parm.h"

/// The parameter that turns it on; nodes that animate have it under this name.
#define MN_PARM_MOTION_VELOCITY                                                                              \
    MN_TOGGLE("motion_velocity", "Velocity from Motion", 1, "Motion", NULL,                                  \
              "Gives points the velocity v of animated parameters, so that colliders push and sources "      \
              "throw. Shapes that stand still get none.")

/// Adds the motion from half a frame before to half a frame after, over `seconds`, to the point attribute v,
/// which is made when something moves; at a point that begins to move now, that of the half to come. All
/// three must have the same points.
mn_status mn_node_add_motion(mn_geo *geo, const mn_geo *before, const mn_geo *after, double seconds);

#endif
