// SPDX-License-Identifier: Apache-2.0
//
// What a flow holds between steps, and the stages of a step.
#ifndef MENISCUS_FLOW_STATE_H
#define MENISCUS_FLOW_STATE_H

#include "flow/advect.h"
#include "flow/pressure.h"
#include "meniscus/flow.h"

typedef MN_ARRAY(uint8_t) mn_flow_bytes;
typedef MN_ARRAY(int32_t) mn_flow_labels;

/// A point of the ripple map.
typedef struct mn_flow_ripple {
    mn_vec3 position, normal, velocity;
    double height; ///< m, above the position
} mn_flow_ripple;

typedef MN_ARRAY(mn_flow_drop) mn_flow_drop_array;

/// A particle of the band: velocity and its derivatives along the axes.
typedef struct mn_flow_particle {
    mn_vec3 x;           ///< cells
    mn_vec3 v, slope[3]; ///< m/s, 1/s
} mn_flow_particle;
typedef MN_ARRAY(mn_flow_particle) mn_flow_particles;

/// Momentum that a drop brings, for the splines around a place.
typedef struct mn_flow_impulse {
    mn_vec3 place; ///< cells
    double radius; ///< cells
    mn_vec3 push;  ///< m/s times cells^3
} mn_flow_impulse;

/// What smoke carries: its colours times the density.
enum { MN_FLOW_DENSITY, MN_FLOW_HEAT, MN_FLOW_RED, MN_FLOW_GREEN, MN_FLOW_BLUE, MN_FLOW_SMOKE_FIELDS };

struct mn_flow {
    mn_solver solver;
    mn_flow_def def;
    mn_flow_grid grid;
    mn_flow_pressure pressure;

    // the state
    int64_t box[4];         ///< fluid and cells along the axes, to tell a stream of another box
    bool placed;            ///< the fluid is in the box
    mn_flow_coords blocks;  ///< of the grid
    mn_flow_quads velocity; ///< coefficients, m/s
    mn_flow_values smoke[MN_FLOW_SMOKE_FIELDS]; ///< values at centres; empty while they would be zero, or
                                                ///< the smoke white
    mn_flow_values surface;                     ///< coefficients: distance in cells
    mn_flow_labels label;                       ///< body of each cell, -1 for none
    MN_ARRAY(double) target;                    ///< volume that each body should have, cells

    mn_flow_drop_array drops;    ///< that fly
    int64_t drop_id;             ///< of the next one
    mn_flow_particles particles; ///< of the band

    bool budget_known; ///< there was a step
    double budget, peak,
        motion; ///< energy.c: what the flow may have, its largest motion of late, and its last

    // inputs of the step
    const mn_collider *collider;
    mn_volume force; ///< m/s^2, added to the velocity; its ops are NULL without one
    mn_flow_inputs inputs;
    double before;              ///< s, before the end of the frame that the step ends
    mn_flow_values solid_nodes; ///< cells, distance from solids at nodes; empty without
    mn_flow_values solid;       ///< the same at centres
    mn_flow_values solid_built; ///< what the pressure was built with
    bool built;                 ///< the pressure fits the solids and surface

    // scratch
    mn_flow_quads values, spare, work;
    mn_flow_values next_smoke[MN_FLOW_SMOKE_FIELDS];
    mn_flow_values before_step; ///< a liquid's surface
    bool gains;                 ///< sources or drops gave liquid in this step, see MN_FLOW_GAINED
    MN_ARRAY(mn_flow_ripple) ripples;
    mn_flow_labels ripple_quads;
    MN_ARRAY(double) next_target;
    mn_flow_values surface_nodes;
    mn_flow_bytes known, band;
    MN_ARRAY(int32_t) stack;
    MN_ARRAY(double) volume, area, votes;
    mn_flow_labels next_label;

    mn_flow_drop_array next_drops; ///< those after the step
    int64_t next_id;
    MN_ARRAY(mn_flow_impulse) impulses;
    mn_flow_particles moved, next_particles;
    mn_flow_labels particle_start; ///< per cell

    double lost; ///< volume of bodies that vanished, cells

    double surface_energy, weight_energy; ///< J, of a liquid as surface_load.c saw it
    double next_budget, next_peak, next_motion;
    bool warned; ///< of energy that was cut
};

/// Numbers of a cell that a liquid needs between advection and projection, while nobody uses `values` and
/// `spare`: planes of the two.
typedef enum mn_flow_plane {
    MN_FLOW_PHI,     ///< distance at centres, cells
    MN_FLOW_CARRIED, ///< the same after the step
    MN_FLOW_VOLUMES, ///< liquid, cells^3
    MN_FLOW_AREAS,   ///< of its surface, cells^2
    MN_FLOW_SWEPT,   ///< distances while they are rebuilt, two of them
    MN_FLOW_SWEPT_TOO,
    MN_FLOW_GAINED,    ///< what sources and drops gave, cells^3
    MN_FLOW_CURVATURE, ///< coefficients, per cell
} mn_flow_plane;

MN_INLINE double *mn_flow_plane_of(const mn_flow *flow, mn_flow_plane plane)
{
    double *quads = (double *)(plane < 4 ? flow->values.data : flow->spare.data);
    return quads + (plane & 3) * mn_flow_size(&flow->grid);
}

/// Room for every array that has one entry per cell, on the grid as it is.
mn_status mn_flow_fit(mn_flow *flow);
/// Distances to the solids, at nodes and centres; *changed: they are others than the pressure was built with.
mn_status mn_flow_sample_solids(mn_flow *flow, bool *changed);
/// Fluxes of moving solids and of a tunnel's inflow, into the pressure's `wall`.
mn_status mn_flow_wall_flux(mn_flow *flow);
/// Diffuses velocity by viscosity over dt, implicitly.
mn_status mn_flow_diffuse(mn_flow *flow, double dt, mn_double4 *velocity);
int32_t mn_flow_inflow_side(const mn_flow_def *def);
/// The largest speed of coefficients that touch fluid, m/s.
mn_status mn_flow_max_speed(const mn_flow *flow, double *speed);

/// Turns the smallest eddies of smoke; `values` is scratch.
mn_status mn_flow_confine(mn_flow *flow, double dt, mn_double4 *velocity);
/// Adds dt times the force volume to coefficients.
mn_status mn_flow_push(mn_flow *flow, double dt, mn_double4 *velocity);

/// The blocks of the grid as a member of the state.
mn_status mn_flow_note_blocks(mn_flow *flow);
/// What an advance or a start borrows.
void mn_flow_take_inputs(mn_flow *flow, const mn_solver_inputs *inputs);

/// Room for heat, none yet; and for colours, white as far as there is smoke.
mn_status mn_flow_smoke_warm(mn_flow *flow);
mn_status mn_flow_smoke_paint(mn_flow *flow);
/// What the source gives at the start.
mn_status mn_flow_smoke_begin(mn_flow *flow);
/// Blocks, nodes, bodies and matrices for the surface as it is.
mn_status mn_flow_liquid_begin(mn_flow *flow);
/// One step beside the state, and taking it over. What is not MN_OK leaves the state as it was.
mn_status mn_flow_smoke_step(mn_flow *flow, double dt);
void mn_flow_smoke_commit(mn_flow *flow);
mn_status mn_flow_liquid_step(mn_flow *flow, double dt);
mn_status mn_flow_liquid_commit(mn_flow *flow);

/// Upward acceleration of a cell of smoke, m/s^2.
MN_INLINE double mn_flow_lift(const mn_flow *flow, const mn_flow_values *smoke, int64_t at)
{
    const mn_flow_values *heat = &smoke[MN_FLOW_HEAT];
    return flow->def.buoyancy * smoke[MN_FLOW_DENSITY].data[at] +
           flow->def.heat_buoyancy * (heat->count > 0 ? heat->data[at] : 0);
}

/// Cuts energy that nothing gave from the velocity of a step; and takes the books over with it.
mn_status mn_flow_guard(mn_flow *flow, double dt, mn_double4 *velocity);
void mn_flow_guard_commit(mn_flow *flow);

void mn_flow_report_on(const mn_solver *solver, mn_report *report);
/// Output 1: a grid with the height and normal of the water.
mn_status mn_flow_show(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view);

#endif
