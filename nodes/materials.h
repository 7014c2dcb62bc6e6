// SPDX-License-Identifier: Apache-2.0
//
// Materials with measured values, as a menu (base/field_groups.h), for nodes that are no solvers.
#ifndef MENISCUS_NODES_MATERIALS_H
#define MENISCUS_NODES_MATERIALS_H

#include "nodes/parm.h"

/// "density", "viscosity" or "sigma": of the node's material, or of the node itself.
double mn_cook_material_float(const mn_cook *cook, const char *parm);

#endif
