// SPDX-License-Identifier: Apache-2.0
//
// Materials with measured values, as a menu: the rows of presets/materials.json, the same in every host. A
// node that has the menu takes density, viscosity and sigma from the material, or from its own parameters
// with "custom".
#ifndef MENISCUS_NODES_MATERIALS_H
#define MENISCUS_NODES_MATERIALS_H

#include "nodes/material_rows.h"
#include "nodes/parm.h"

static const mn_menu_item mn_material_items[] = {MN_MATERIAL_ITEMS, {NULL, NULL}};

#define MN_PARM_MATERIAL(folder_)                                                                            \
    MN_MENU("material", "Material", mn_material_items, 0, folder_, NULL,                                     \
            "A liquid with its measured values in place of those below; custom takes those.")
/// For the parameters that a material stands in for.
#define MN_WITH_MATERIAL "{ material != custom }"

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
