// SPDX-License-Identifier: Apache-2.0
//
// Materials of tetrahedra as attributes.
#include "nodes/tet_columns.h"

#include "nodes/columns.h"

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

// `solid` of points: the part of the tetrahedra around them, so that shading blends.
static mn_status write_point_columns(const mn_tet_mesh *mesh, const int64_t *point, mn_geo *geo)
{
    const double *temperature = mn_tet_mesh_find_field(mesh, "temperature")->data,
                 *solid = mn_tet_mesh_find_field(mesh, "solid")->data;
    float *to_temperature, *to_solid;
    MN_TRY(mn_column_add(geo, "temperature", MN_F32, 1, MN_HINT_NONE, &to_temperature));
    MN_TRY(mn_column_add(geo, "solid", MN_F32, 1, MN_HINT_NONE, &to_solid));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        double sum = 0, count = 0;
        if (point[i] < 0) continue;
        MN_TET_STAR(mesh, i, code) sum += solid[code / 4], count++;
        to_temperature[point[i]] = (float)temperature[i];
        to_solid[point[i]] = (float)(count > 0 ? sum / count : 0);
    }
    return MN_OK;
}

typedef struct primitive_columns {
    mn_attribute *solid, *stress, *strain, *material;
} primitive_columns;

static mn_status write_primitive(const mn_tet_liquid *liquid, int32_t t, int64_t p,
                                 const primitive_columns *c, mn_geo *geo)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(liquid);
    int32_t count;
    const mn_tet_material *materials = mn_tet_liquid_materials(liquid, &count);
    const double stress = mn_tet_liquid_stress(liquid, t);
    MN_TRY(mn_attribute_set(geo, c->solid, p, 1, &mn_tet_mesh_find_field(mesh, "solid")->data[t]));
    MN_TRY(mn_attribute_set(geo, c->stress, p, 1, &stress));
    MN_TRY(mn_attribute_set(geo, c->strain, p, 1, &mn_tet_mesh_find_field(mesh, "plastic_strain")->data[t]));
    return mn_attribute_set_string(
        geo, c->material, p, 0, materials[(int32_t)mn_tet_mesh_find_field(mesh, "material")->data[t]].name);
}

mn_status mn_tet_write_materials(const mn_tet_liquid *liquid, const int64_t *point, bool surface, mn_geo *geo)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(liquid);
    primitive_columns c;
    int32_t count;
    int64_t p = 0;
    if (!mn_tet_liquid_materials(liquid, &count)) return MN_OK;
    MN_TRY(write_point_columns(mesh, point, geo));
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, "solid", MN_F32, 1, MN_HINT_NONE, &c.solid));
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, "stress", MN_F32, 1, MN_HINT_NONE, &c.stress));
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, "plastic_strain", MN_F32, 1, MN_HINT_NONE, &c.strain));
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, "material", MN_STRING, 1, MN_HINT_NONE, &c.material));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < (surface ? 4 : 1); k++)
            if (!surface || mesh->mate[t][k] < 0) MN_TRY(write_primitive(liquid, t, p++, &c, geo));
    return MN_OK;
}
