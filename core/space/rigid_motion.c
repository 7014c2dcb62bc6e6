// SPDX-License-Identifier: Apache-2.0
//
// The rigid motion nearest to a set of velocities. With c the mean position, r = x - c:
//
//   linear  = mean v
//   angular = A^-1 sum r x v,   A = sum (|r|^2 I - r r^T)
//
// which minimises sum |v - linear - angular x r|^2. A is semi-definite and singular for points on a line; the
// eigenvalues that carry less than 1e-9 of its trace are left out.
#include "space/rigid_motion.h"
#include "base/elementary.h"

mn_rigid_motion mn_rigid_motion_fit(int64_t count, const mn_vec3 *positions, const mn_vec3 *velocities)
{
    mn_rigid_motion motion = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (count < 1) return motion;
    for (int64_t i = 0; i < count; i++) {
        motion.center = mn_add(motion.center, positions[i]);
        motion.linear = mn_add(motion.linear, velocities[i]);
    }
    motion.center = mn_scale(1.0 / (double)count, motion.center);
    motion.linear = mn_scale(1.0 / (double)count, motion.linear);

    mn_mat3 a = mn_m3_diagonal(0, 0, 0);
    mn_vec3 b = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 r = mn_sub(positions[i], motion.center);
        const double r2 = mn_norm2(r);
        a = mn_m3_add(a, mn_m3_diagonal(r2, r2, r2));
        a = mn_m3_add(a, mn_m3_scale(-1.0, mn_outer(r, r)));
        b = mn_add(b, mn_cross(r, velocities[i]));
    }
    mn_vec3 values;
    mn_mat3 vectors;
    mn_m3_eigen_symmetric(a, &values, &vectors);
    const double value[3] = {values.x, values.y, values.z};
    for (int i = 0; i < 3; i++) {
        if (!(value[i] > 1e-9 * mn_m3_trace(a))) continue;
        const mn_vec3 axis = mn_m3_column(vectors, i);
        motion.angular = mn_axpy(motion.angular, mn_dot(axis, b) / value[i], axis);
    }
    return motion;
}

mn_vec3 mn_rigid_motion_velocity(const mn_rigid_motion *motion, mn_vec3 position)
{
    return mn_add(motion->linear, mn_cross(motion->angular, mn_sub(position, motion->center)));
}

mn_mat3 mn_rotation_about(mn_vec3 axis)
{
    // Rodrigues: R = I + sin(a) K + (1 - cos(a)) K^2, K the cross product with the unit axis.
    const double angle = mn_norm(axis);
    if (!(angle > 1e-300)) return mn_m3_identity();
    const mn_vec3 k = mn_scale(1.0 / angle, axis);
    const mn_mat3 cross = {{{0, -k.z, k.y}, {k.z, 0, -k.x}, {-k.y, k.x, 0}}};
    // 1 - cos(a) without cancellation
    const double half = mn_sin(0.5 * angle);
    return mn_m3_add(mn_m3_add(mn_m3_identity(), mn_m3_scale(mn_sin(angle), cross)),
                     mn_m3_scale(2.0 * half * half, mn_m3_mul(cross, cross)));
}

mn_vec3 mn_rigid_motion_forward(const mn_rigid_motion *motion, double before, mn_vec3 position)
{
    const mn_vec3 center_then = mn_axpy(motion->center, -before, motion->linear);
    const mn_mat3 rotation = mn_rotation_about(mn_scale(before, motion->angular));
    return mn_add(motion->center, mn_m3_apply(rotation, mn_sub(position, center_then)));
}

mn_vec3 mn_rigid_motion_back(const mn_rigid_motion *motion, double before, mn_vec3 position)
{
    const mn_vec3 center_then = mn_axpy(motion->center, -before, motion->linear);
    const mn_mat3 rotation = mn_rotation_about(mn_scale(-before, motion->angular));
    return mn_add(center_then, mn_m3_apply(rotation, mn_sub(position, motion->center)));
}
