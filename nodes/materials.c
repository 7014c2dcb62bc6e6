// SPDX-License-Identifier: Apache-2.0
//
// The value of a material's property for a node that has the menu.
#include "nodes/materials.h"

#include <string.h>

double mn_cook_material_float(const mn_cook *cook, const char *parm)
{
    static const char *const properties[] = {"", "density", "viscosity", "sigma"};
    int property = MN_PROPERTY_SIGMA;
    while (property > 0 && strcmp(properties[property], parm) != 0) property--;
    return mn_material_value(mn_cook_menu(cook, "material"), (mn_property)property,
                             mn_cook_float(cook, parm));
}
