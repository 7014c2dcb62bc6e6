// SPDX-License-Identifier: Apache-2.0
//
// The value of a material's property for a node that has the menu.
#include "nodes/materials.h"

#include <string.h>

double mn_cook_material_float(const mn_cook *cook, const char *parm)
{
    static const char *const properties[] = {"density", "viscosity", "sigma"};
    static const double values[][3] = {MN_MATERIAL_VALUES};
    const int32_t material = mn_cook_menu(cook, "material");
    for (int i = 0; material > 0 && i < 3; i++)
        if (strcmp(properties[i], parm) == 0) return values[material][i];
    return mn_cook_float(cook, parm);
}
