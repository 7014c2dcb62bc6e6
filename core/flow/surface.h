// SPDX-License-Identifier: Apache-2.0
//
// The free surface of a liquid: distances in cells as B-spline coefficients, carried, kept a distance, and
// curved.
#ifndef MENISCUS_FLOW_SURFACE_H
#define MENISCUS_FLOW_SURFACE_H

#include "flow/flow_state.h"

#define MN_FLOW_FAR 7.0   ///< cells: distances end here
#define MN_FLOW_MOVED 5.0 ///< cells: so near to the surface distances are carried and velocities known

/// Whether a cell is in the box or next to it.
MN_INLINE bool mn_flow_around_box(const mn_flow_grid *grid, mn_ivec3 c)
{
    return c.x <= grid->cells[0] + 1 && c.y <= grid->cells[1] + 1 && c.z <= grid->cells[2] + 1;
}

/// X, or the point of a solid's surface next to it when it lies inside.
mn_vec3 mn_flow_out_of_solid(const mn_flow *flow, mn_vec3 X);
/// Whether X lies inside a solid whose surface next to it is wet.
bool mn_flow_is_behind_wall(const mn_flow *flow, mn_vec3 X);
/// The point of the surface next to X, pushed out of solids.
mn_vec3 mn_flow_closest(const mn_flow *flow, mn_vec3 X);
/// The velocity of the liquid at that point, m/s.
mn_vec3 mn_flow_surface_velocity(const mn_flow *flow, const mn_double4 *velocity, mn_vec3 X);

/// Marks the cells within MN_FLOW_MOVED of the liquid in flow->known.
mn_status mn_flow_surface_mark(mn_flow *flow);
/// Blocks that the liquid needs; fields move along.
mn_status mn_flow_surface_activate(mn_flow *flow);
/// MN_FLOW_PHI: distances at centres, from the coefficients.
mn_status mn_flow_surface_values(mn_flow *flow);
/// The same after dt.
mn_status mn_flow_surface_carry(mn_flow *flow, double dt);
/// Rebuilds distances beyond three cells, sets those around the box, and gives flow->surface its
/// coefficients.
mn_status mn_flow_surface_finish(mn_flow *flow);
/// MN_FLOW_PHI: the distances of `distance`, continued around the box; and inside solids, from
/// flow->surface.
mn_status mn_flow_meet_sides(mn_flow *flow, const double *distance);
mn_status mn_flow_meet_solids(mn_flow *flow);
/// Distances at nodes, into flow->surface_nodes.
mn_status mn_flow_surface_to_nodes(mn_flow *flow);
/// Coefficients of the curvature, into MN_FLOW_CURVATURE.
mn_status mn_flow_surface_curvature(mn_flow *flow);
/// Velocity times mass that tension and gravity give over dt, into `load`.
mn_status mn_flow_surface_load(mn_flow *flow, double dt, mn_double4 *load);

/// Drops that fly, and those of the inputs: volume into MN_FLOW_PHI and MN_FLOW_GAINED, momentum into
/// flow->impulses, the rest into flow->next_drops.
mn_status mn_flow_join_drops(mn_flow *flow, double dt, const mn_double4 *velocity);
/// The same where there is no liquid to join.
mn_status mn_flow_move_drops(mn_flow *flow, double dt);
/// Adds their momentum to a load, by the masses of the new surface.
void mn_flow_load_impulses(const mn_flow *flow, mn_double4 *load);
/// Small bodies become drops; after mn_flow_bodies().
mn_status mn_flow_shed_drops(mn_flow *flow, const mn_double4 *velocity);

/// Particles of the band, moved over dt: their velocity in place of coefficients; then where they stand out
/// of the surface, MN_FLOW_PHI; and with the new velocity.
mn_status mn_flow_band_to_grid(mn_flow *flow, double dt, mn_double4 *velocity);
mn_status mn_flow_band_to_surface(mn_flow *flow);
mn_status mn_flow_band_from_grid(mn_flow *flow, mn_double4 *velocity);

/// Bodies of liquid and the volume of each, kept by shifting MN_FLOW_PHI; before mn_flow_surface_finish().
mn_status mn_flow_bodies(mn_flow *flow);
/// Fluid in every cell for the nodes as they are, into MN_FLOW_VOLUMES, and its surface, into
/// MN_FLOW_AREAS.
mn_status mn_flow_measure(mn_flow *flow);

#endif
