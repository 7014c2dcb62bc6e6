// SPDX-License-Identifier: Apache-2.0
//
// The velocity of a liquid on a grid, from what carries it.
//
//   particles     v_i = sum m w_i(x) v / sum m w_i(x)       w_i: trilinear, from voxel centres
//   tetrahedra    v_i linear in the one that holds the voxel's centre
//
// Voxels without liquid get the mean of their known neighbours, layer by layer, as far as asked for: samples
// near the surface are then those of the liquid.
#ifndef MENISCUS_SOURCES_VELOCITY_GRID_H
#define MENISCUS_SOURCES_VELOCITY_GRID_H

#include "meniscus/array.h"
#include "meniscus/context.h"
#include "meniscus/vec.h"

typedef struct mn_velocity_grid {
    mn_context *ctx;
    double dx;                ///< m, of a voxel
    int64_t low[3], count[3]; ///< of the voxels: i, j, k is centred at dx ((i, j, k) + 0.5)
    MN_ARRAY(mn_vec3) velocity;
    MN_ARRAY(double) weight; ///< 0: nothing known
} mn_velocity_grid;

/// Empty, around the box with `margin` voxels to spare. Fails with more than `limit` voxels.
mn_status mn_velocity_grid_open(mn_velocity_grid *grid, mn_context *ctx, mn_box box, double dx,
                                int32_t margin, int64_t limit);
void mn_velocity_grid_close(mn_velocity_grid *grid);

void mn_velocity_grid_add_point(mn_velocity_grid *grid, mn_vec3 x, mn_vec3 v, double mass);
void mn_velocity_grid_add_tetrahedron(mn_velocity_grid *grid, const mn_vec3 x[4], const mn_vec3 v[4]);
/// Divides by the weights and extends what is known by `layers` voxels.
mn_status mn_velocity_grid_finish(mn_velocity_grid *grid, int32_t layers);
/// Of the voxel that holds x; zero where nothing is known.
mn_vec3 mn_velocity_grid_at(const mn_velocity_grid *grid, mn_vec3 x);

#endif
