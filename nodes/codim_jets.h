// SPDX-License-Identifier: Apache-2.0
//
// Jets of an mls_solver: curves with v and thickness as inlets.
#ifndef MENISCUS_NODES_CODIM_JETS_H
#define MENISCUS_NODES_CODIM_JETS_H

#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "nodes/node.h"

/// The inlets as the core wants them, and the memory they lie in: the points of each curve in a row.
typedef struct mn_codim_jets {
    MN_ARRAY(mn_codim_inlet) inlets;
    mn_vec3_array positions, velocities;
    MN_ARRAY(double) thickness;
} mn_codim_jets;

/// From an input of the node; none when nothing is connected. Free it also when this fails.
mn_status mn_codim_jets_read(const mn_cook *cook, int32_t input, mn_codim_jets *jets);
void mn_codim_jets_free(mn_context *ctx, mn_codim_jets *jets);

#endif
