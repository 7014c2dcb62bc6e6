// SPDX-License-Identifier: Apache-2.0
//
// Materials of tetrahedra from attributes.
#include "nodes/tet_columns.h"

#include <stdio.h>
#include <string.h>

// Names stand in the string attribute `material`, when the mesh has every tetrahedron of the geometry.
static void read_names(const mn_geo *geo, const mn_tet_mesh *mesh, mn_tet_materials *materials)
{
    const mn_attribute *name = mn_geo_find(geo, MN_PRIMITIVE, "material");
    const double *which = mn_tet_mesh_find_field(mesh, "material")->data;
    int32_t t = 0;
    if (!name || mn_attribute_type(name) != MN_STRING) return;
    if (mn_geo_kind_count(geo, MN_TETRAHEDRON) != mesh->tet_slots) return;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        if (mn_geo_primitive_kinds(geo)[p] != MN_TETRAHEDRON) continue;
        mn_tet_material *m = &materials->list[(int32_t)which[t++]];
        const char *text = mn_attribute_string(name, p, 0);
        if (text && text[0]) snprintf(m->name, sizeof m->name, "%s", text);
    }
}

mn_status mn_tet_read_materials(const mn_geo *geo, const mn_tet_liquid_def *def, mn_tet_mesh *mesh,
                                mn_tet_materials *materials)
{
    mn_tet_material base = mn_tet_default_material();
    memset(materials, 0, sizeof *materials);
    if (!mn_tet_mesh_has_materials(mesh)) return MN_OK;
    base.density = def->density, base.viscosity = def->viscosity, base.sigma = def->sigma;
    MN_TRY(mn_tet_mesh_list_materials(mesh, &base, MN_TET_MATERIALS_MAX, materials->list, &materials->count));
    read_names(geo, mesh, materials);
    return MN_OK;
}
