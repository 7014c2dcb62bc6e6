// SPDX-License-Identifier: Apache-2.0
//
// The value of a material's property for a node that has the menu.
#include "nodes/materials.h"

#include <string.h>

static const char *const PROPERTIES[] = {"density", "viscosity", "sigma"};
static const char *const UNITS[] = {"kg/m^3", "Pa s", "N/m"};
/// The detail attribute with the name of the node that has set them.
static const char SIGNATURE[] = "material_node";
static const double SAME = 0.005; ///< values nearer than this share are one

static double value_of(const mn_cook *cook, const char *parm, double custom)
{
    int property = MN_PROPERTY_SIGMA;
    while (property > 0 && strcmp(PROPERTIES[property - 1], parm) != 0) property--;
    return mn_material_value(mn_cook_menu(cook, "material"), (mn_property)property, custom);
}

double mn_cook_material_of(const mn_cook *cook, const char *parm)
{
    return value_of(cook, parm, 0);
}

double mn_cook_material_float(const mn_cook *cook, const char *parm)
{
    return value_of(cook, parm, mn_cook_float(cook, parm));
}

mn_status mn_material_sign(const mn_cook *cook, mn_geo *geo)
{
    mn_attribute *name;
    MN_TRY(mn_geo_add_attribute(geo, MN_DETAIL, SIGNATURE, MN_STRING, 1, MN_HINT_NONE, &name));
    return mn_attribute_set_string(geo, name, 0, 0, cook->node_name);
}

static bool is_told(const mn_cook *cook, const char *name)
{
    if (mn_cook_menu(cook, "material") > 0) return true;
    for (int32_t i = 0; i < cook->type->parm_count; i++)
        if (strcmp(cook->type->parms[i].name, name) == 0)
            return cook->parms[i].number[0] != cook->type->parms[i].defaults[0];
    return false;
}

void mn_material_compare(const mn_cook *cook, const mn_geo *points)
{
    const mn_attribute *from = mn_geo_find(points, MN_DETAIL, SIGNATURE);
    const char *node =
        from && mn_attribute_type(from) == MN_STRING ? mn_attribute_string(from, 0, 0) : "its input";
    for (int k = 0; k < 3; k++) {
        const mn_attribute *column = mn_geo_find_numeric(points, MN_POINT, PROPERTIES[k], 1);
        if (!column || !is_told(cook, PROPERTIES[k])) continue;
        const double told = mn_cook_material_float(cook, PROPERTIES[k]);
        for (int64_t i = 0; i < mn_geo_point_count(points); i++) {
            double carried;
            mn_attribute_get(column, i, 1, &carried);
            if (carried == 0 || fabs(carried - told) <= SAME * fmax(fabs(told), fabs(carried))) continue;
            mn_cook_warn(
                cook,
                "The material is set twice: '%s' gives its points a %s of %g %s, and '%s' is set to %g. The points' value is used; set it on only one of the two nodes.",
                node, PROPERTIES[k], carried, UNITS[k], cook->node_name, told);
            return;
        }
    }
}
