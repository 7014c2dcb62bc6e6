// SPDX-License-Identifier: Apache-2.0
//
// trace: points that a velocity volume carries. Numerics and parameters are mn_trace_solver's.
#include "meniscus/spray.h"
#include "nodes/solver_node.h"

enum { INPUT_POINTS, INPUT_FLOW };

static const mn_input_def inputs_of[] = {
    [INPUT_POINTS] = {"Points", "points at the start frame; id is used", true, false},
    [INPUT_FLOW] = {"Velocity",
                    "a volume named vel, from velocity_volume, flow_solver, a field node or a file", true,
                    false},
};
static const mn_role roles[] = {[INPUT_POINTS] = MN_ROLE_SOURCE, [INPUT_FLOW] = MN_ROLE_WIND};
static const mn_output_def outputs_of[] = {{"Points", "points with v, id and age"}};
static const mn_solver_node solver = {.solver = &mn_trace_solver, .roles = roles};

const mn_node_type mn_trace_node = {
    MN_SOLVER_NODE("trace", "Meniscus Trace",
                   "Carries points along with a velocity volume, to make a flow visible or to carry dye.",
                   inputs_of, outputs_of, mn_trace_fields, MN_TRACE_FIELD_COUNT, solver, NULL, NULL)};
