// SPDX-License-Identifier: Apache-2.0
//
// Rows of a node's parameter table: those of meniscus/field.h, and the groups that solvers share.
#ifndef MENISCUS_NODES_PARM_H
#define MENISCUS_NODES_PARM_H

#include "base/field_groups.h"
#include "nodes/node.h"

#endif
