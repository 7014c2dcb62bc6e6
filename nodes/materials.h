// SPDX-License-Identifier: Apache-2.0
//
// Materials with measured values, as a menu (base/field_groups.h), for nodes that are no solvers.
#ifndef MENISCUS_NODES_MATERIALS_H
#define MENISCUS_NODES_MATERIALS_H

#include "nodes/parm.h"

/// "density", "viscosity" or "sigma": of the node's material, or of the node itself.
double mn_cook_material_float(const mn_cook *cook, const char *parm);

/// The same of the node's material alone; 0 with "custom".
double mn_cook_material_of(const mn_cook *cook, const char *parm);

// A material is said once. Points that carry density, viscosity or sigma have their own; where the solver has
// been told another one, both nodes are named.

/// Leaves the node's name with points that it has given a material.
mn_status mn_material_sign(const mn_cook *cook, mn_geo *geo);
/// Warns when points carry other values than the node that takes them was told: its material, or a parameter
/// that is not at its default.
void mn_material_compare(const mn_cook *cook, const mn_geo *points);

#endif
