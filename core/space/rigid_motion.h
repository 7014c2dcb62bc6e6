// SPDX-License-Identifier: Apache-2.0
//
// A rigid motion at one moment: v(x) = linear + angular x (x - center).
#ifndef MENISCUS_SPACE_RIGID_MOTION_H
#define MENISCUS_SPACE_RIGID_MOTION_H

#include "meniscus/vec.h"

typedef struct mn_rigid_motion {
    mn_vec3 center;  ///< m, at the moment the motion is known
    mn_vec3 linear;  ///< m/s, of the center
    mn_vec3 angular; ///< rad/s
} mn_rigid_motion;

/// The motion nearest to given velocities in the least-squares sense. Positions that do not fix the rotation
/// (a point, a line) give none about what they leave open. Zero for count 0.
mn_rigid_motion mn_rigid_motion_fit(int64_t count, const mn_vec3 *positions, const mn_vec3 *velocities);

mn_vec3 mn_rigid_motion_velocity(const mn_rigid_motion *motion, mn_vec3 position);

/// Rotation about `axis` by |axis| radians.
mn_mat3 mn_rotation_about(mn_vec3 axis);

/// Where a point of the body that is at `position` `before` seconds before the known moment is at that
/// moment, when the body moves on uniformly; negative `before` looks ahead.
mn_vec3 mn_rigid_motion_forward(const mn_rigid_motion *motion, double before, mn_vec3 position);
/// The inverse: from a place at the known moment back to `before` seconds earlier.
mn_vec3 mn_rigid_motion_back(const mn_rigid_motion *motion, double before, mn_vec3 position);

#endif
