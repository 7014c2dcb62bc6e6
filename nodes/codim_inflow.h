// SPDX-License-Identifier: Apache-2.0
//
// The inflows of mls_solver, as the core wants them.
#ifndef MENISCUS_NODES_CODIM_INFLOW_H
#define MENISCUS_NODES_CODIM_INFLOW_H

#include "meniscus/codim.h"
#include "nodes/codim_liquid.h"

typedef struct mn_codim_inflow {
    MN_ARRAY(mn_mesh_region) bodies;       ///< that the regions of the list are
    MN_ARRAY(mn_codim_volume_inflow) list; ///< for mn_codim_advance
} mn_codim_inflow;

/// One inflow for all parts of the input's mesh that have one velocity, in the order of their first points:
/// the mean of their v, with the parameter inflow_velocity. None connected, or without polygons: none.
mn_status mn_codim_inflow_read(const mn_cook *cook, int32_t input, mn_codim_inflow *inflow);
void mn_codim_inflow_free(mn_context *ctx, mn_codim_inflow *inflow);

#endif
