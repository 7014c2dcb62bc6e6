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

struct mn_flow {
    mn_context *ctx;
    mn_flow_def def;
    mn_flow_grid grid;
    mn_flow_pressure pressure;
    bool pressure_made;

    // the state
    mn_flow_quads velocity;  ///< coefficients, m/s
    mn_flow_quads smoke;     ///< values at centres: density, temperature
    mn_flow_quads color;     ///< values: colour times density
    mn_flow_quads surface;   ///< coefficients: distance in cells, curvature per cell
    mn_flow_labels label;    ///< body of each cell, -1 for none
    MN_ARRAY(double) target; ///< volume that each body should have, cells

    // inputs of the step
    const mn_flow_inputs *inputs;
    double before;              ///< s, before the end of the frame that the step ends
    mn_flow_values solid_nodes; ///< cells, distance from solids at nodes; empty without
    mn_flow_values solid;       ///< the same at centres
    mn_flow_values solid_built; ///< what the pressure was built with
    bool built;                 ///< the pressure fits the solids and surface

    // scratch
    mn_flow_quads values, next, half, spare, spare2, backup;
    mn_flow_values distance[2], volumes, areas, gained; ///< per cell
    mn_flow_coords old_coords;
    MN_ARRAY(double) next_target;
    mn_flow_values surface_nodes;
    mn_flow_bytes known, band;
    MN_ARRAY(int32_t) stack;
    MN_ARRAY(double) volume, area, votes;
    mn_flow_labels next_label;

    // of the last advance
    int64_t substeps, linear_iterations, rollbacks;
    double dt_min, dt_max, lost; ///< lost: volume of bodies that vanished, cells
    mn_timers seconds;
};

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

/// What the source gives at the start.
mn_status mn_flow_smoke_begin(mn_flow *flow);
mn_status mn_flow_smoke_step(mn_flow *flow, double dt);
mn_status mn_flow_liquid_step(mn_flow *flow, double dt);
/// Blocks, nodes, bodies and matrices for the surface as it is.
mn_status mn_flow_liquid_begin(mn_flow *flow);

#endif
