// SPDX-License-Identifier: Apache-2.0
//
// The springs of mls_solver's inflow, as the core wants them.
#ifndef MENISCUS_NODES_MLS_INFLOW_H
#define MENISCUS_NODES_MLS_INFLOW_H

#include "meniscus/mls.h"
#include "nodes/mls_liquid.h"

typedef struct mn_mls_inflow {
    MN_ARRAY(mn_mls_body) bodies;    ///< that the springs' regions are
    MN_ARRAY(mn_mls_spring) springs; ///< for mn_mls_advance
} mn_mls_inflow;

/// One spring for all parts of the input's mesh that have one velocity, in the order of their first points:
/// the mean of their v, with the parameter inflow_velocity. None connected, or without polygons: none.
mn_status mn_mls_inflow_read(const mn_cook *cook, int32_t input, mn_mls_inflow *inflow);
void mn_mls_inflow_free(mn_context *ctx, mn_mls_inflow *inflow);

#endif
