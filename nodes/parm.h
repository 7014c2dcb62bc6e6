// SPDX-License-Identifier: Apache-2.0
//
// Rows of a node's parameter table: those of meniscus/field.h, and the groups that solvers share.
#ifndef MENISCUS_NODES_PARM_H
#define MENISCUS_NODES_PARM_H

#include "base/field_groups.h"
#include "nodes/node.h"

/// Members of an mn_node_type: its inputs, outputs and parameters, each a table of the file.
#define MN_NODE_TABLES(inputs_, outputs_, parms_)                                                            \
    .inputs = inputs_, .input_count = MN_COUNT_OF(inputs_), .outputs = outputs_,                             \
    .output_count = MN_COUNT_OF(outputs_), .parms = parms_, .parm_count = MN_COUNT_OF(parms_)

#endif
