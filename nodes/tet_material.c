// SPDX-License-Identifier: Apache-2.0
//
// tet_material: says what tetrahedra are made of, for tet_solver. All of them, those of a group, or those
// inside a region.
#include "nodes/group.h"
#include "nodes/inputs.h"
#include "tet/material.h"

#include <string.h>

enum { INPUT_TETRAHEDRA, INPUT_REGION };

// Custom, then the presets in core's order.
static const mn_menu_item preset_items[] = {
    {"custom", "Custom"}, {"jelly", "Jelly"},   {"rubber", "Rubber"},
    {"wax", "Wax"},       {"ice", "Ice"},       {"water", "Water"},
    {"lead", "Lead"},     {"copper", "Copper"}, {"gallium", "Gallium"},
    {"glass", "Glass"},   {"clay", "Clay"},     {"honey", "Honey"},
    {NULL, NULL}};

#define CUSTOM "{ preset != custom }"
#define NUMBER(name, label, unit, value, most, soft, folder, tooltip)                                        \
    MN_FLOAT(name, label, unit, value, 0, most, 0, soft, folder, CUSTOM, tooltip)

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Which tetrahedra get the material", "Where"),
    MN_FLOAT(
        "temperature", "Temperature", "K", 0, 0, 1e5, 0, 2000, "Where", NULL,
        "Initial temperature of these tetrahedra; 0 keeps the point attribute temperature or, without one, takes the material's reference temperature."),
    MN_MENU("preset", "Preset", preset_items, 0, "Material", NULL,
            "A material with handbook values in place of those below; custom takes those."),
    MN_FLOAT(
        "stiffness_scale", "Stiffness Scale", "", 1, 1e-9, 1e3, 0.001, 1, "Material", NULL,
        "Multiplies Young's modulus and all strengths. Bodies that only have to look rigid are solved faster when they are softer: ice with 0.001 still looks rigid."),
    MN_FLOAT("latent_scale", "Latent Heat Scale", "", 1, 1e-6, 1e3, 0.01, 1, "Material", NULL,
             "Multiplies the latent heat: 0.1 melts in a tenth of the time."),
    NUMBER("density", "Density", "kg/m^3", 1000, 1e12, 12000, "Material",
           "Density; for a material that melts, that of the solid. Above 0."),
    NUMBER("melt_density", "Melt Density", "kg/m^3", 0, 1e12, 12000, "Material",
           "Value for the melt; 0 takes that of the solid."),
    NUMBER("young", "Young's Modulus", "Pa", 1e5, 1e15, 1e9, "Solid",
           "Stiffness: jelly 3e3, rubber 1.5e6, wax 1e8, ice 9e9. 0 makes it a liquid."),
    MN_FLOAT("poisson", "Poisson's Ratio", "", 0.3, 0, 0.4999, 0, 0.4999, "Solid", CUSTOM,
             "How much it narrows when it is stretched: metals 0.3, incompressible materials 0.495."),
    NUMBER("yield", "Yield Stress", "Pa", 0, 1e15, 1e9, "Solid",
           "Stress above which it stays bent; 0 for a solid that always springs back."),
    NUMBER("hardening", "Hardening", "Pa", 0, 1e15, 1e9, "Solid",
           "How much the yield stress rises with plastic strain."),
    NUMBER("creep", "Creep Viscosity", "Pa s", 0, 1e30, 1e9, "Solid",
           "Viscosity with which the solid flows under any stress, however small: pitch 1e8, warm wax 1e7. 0 "
           "for a solid that never creeps."),
    NUMBER("toughness", "Toughness", "Pa m^1/2", 0, 1e12, 1e8, "Solid",
           "Resistance to the growth of a crack: glass 7.5e5, ice 1e5, rubber 2e5. 0 leaves cracks to the "
           "strength."),
    NUMBER("strength", "Strength", "Pa", 0, 1e15, 1e9, "Solid",
           "Tension at which it cracks where there is no crack yet: glass 5e7, ice 1e6. 0 for a solid that "
           "never cracks by itself."),
    NUMBER("ductility", "Ductility", "", 0, 1e6, 2, "Solid",
           "Plastic strain at which it tears: clay 1, copper 0.5. 0 for a solid that never tears."),
    NUMBER("viscosity", "Viscosity", "Pa s", 0.001, 1e9, 10, "Liquid",
           "Viscosity of the melt; in a solid it damps vibrations."),
    NUMBER("sigma", "Surface Tension", "N/m", 0, 1e9, 1, "Liquid",
           "Surface tension of the melt, or of a solid that never melts, such as a gel."),
    NUMBER("conductivity", "Heat Conductivity", "W/(m K)", 0.6, 1e9, 400, "Heat",
           "Heat conductivity: water 0.6, wax 0.25, copper 400."),
    NUMBER("melt_conductivity", "Melt Conductivity", "W/(m K)", 0, 1e9, 400, "Heat",
           "Value for the melt; 0 takes that of the solid."),
    NUMBER("heat_capacity", "Heat Capacity", "J/(kg K)", 4186, 1e9, 5000, "Heat",
           "Heat that warms a kilogram by one kelvin: water 4186, metals 130 to 900. Above 0."),
    NUMBER("melt_heat_capacity", "Melt Heat Capacity", "J/(kg K)", 0, 1e9, 5000, "Heat",
           "Value for the melt; 0 takes that of the solid."),
    NUMBER("latent_heat", "Latent Heat", "J/kg", 0, 1e12, 4e5, "Heat",
           "Heat that melts a kilogram: ice 334000."),
    NUMBER("melting_point", "Melting Point", "K", 0, 1e5, 2000, "Heat",
           "Melting temperature; 0 for a solid that never melts. 0 degrees Celsius are 273.15 K."),
    NUMBER("melting_range", "Melting Range", "K", 0, 1e4, 50, "Heat",
           "Width of the interval around the melting point in which it softens; 0 melts at one temperature."),
    NUMBER("expansion", "Thermal Expansion", "1/K", 0, 1, 1e-3, "Heat",
           "Linear thermal expansion coefficient, while solid: copper 1.7e-5, wax 3e-4. Lengths stay "
           "between 0.8 and 1.25 of those at the reference temperature."),
    NUMBER("reference_temperature", "Reference Temperature", "K", 293.15, 1e5, 1000, "Heat",
           "Temperature at which it has its density. Above 0."),
    MN_FLOAT("emissivity", "Emissivity", "", 0.9, 0, 1, 0, 1, "Heat", CUSTOM,
             "Fraction of a black body's radiation: bare metal 0.05 to 0.3, most else 0.9."),
};

static const mn_input_def inputs_of[] = {
    [INPUT_TETRAHEDRA] = {"Tetrahedra", "tetrahedra, from tetrahedralize", true, false},
    [INPUT_REGION] = {"Region",
                      "level sets, from collider nodes; tetrahedra with their centre inside get the "
                      "material. Without one, all",
                      false, false},
};
static const mn_output_def outputs_of[] = {
    {"Tetrahedra",
     "the tetrahedra with their material as attributes, which later tet_material nodes overwrite"}};

static mn_tet_material material_of(const mn_cook *cook)
{
    const int32_t preset = mn_cook_menu(cook, "preset");
    mn_tet_material m = mn_tet_default_material();
    if (preset > 0)
        m = *mn_tet_material_preset(preset - 1);
    else
        for (int32_t i = 0; mn_tet_material_number_at(i); i++) {
            const mn_tet_material_number *number = mn_tet_material_number_at(i);
            *mn_tet_material_value(&m, number) = mn_cook_float(cook, number->name);
        }
    const double scale = mn_cook_float(cook, "stiffness_scale");
    m.young *= scale, m.yield *= scale, m.hardening *= scale, m.strength *= scale, m.toughness *= scale;
    m.latent_heat *= mn_cook_float(cook, "latent_scale");
    strcpy(m.name, preset_items[preset].token);
    return m;
}

// Which of those in the group get it: tetrahedra inside the region.
static mn_status choose(const mn_cook *cook, const mn_geo *geo, uint8_t *chosen)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    mn_collider *region = NULL;
    MN_TRY(mn_input_colliders(cook, INPUT_REGION, &region));
    int64_t count = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        chosen[p] = chosen[p] && mn_geo_primitive_kinds(geo)[p] == MN_TETRAHEDRON;
        if (!chosen[p]) continue;
        mn_vec3 centre = {0};
        for (int k = 0; k < 4; k++)
            centre = mn_axpy(centre, 0.25, mn_geo_position(geo, points[starts[p] + k]));
        if (region) chosen[p] = mn_collider_probe(region, 0, centre).distance < 0;
        count += chosen[p];
    }
    mn_collider_free(region);
    if (count == 0)
        mn_cook_warn(cook, "No tetrahedron gets this material: the group or the region holds none.");
    return MN_OK;
}

static mn_status write_numbers(mn_geo *geo, mn_tet_material *m, const uint8_t *chosen)
{
    for (int32_t i = 0; mn_tet_material_number_at(i); i++) {
        const mn_tet_material_number *number = mn_tet_material_number_at(i);
        mn_attribute *attribute;
        MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, number->name, MN_F64, 1, MN_HINT_NONE, &attribute));
        for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
            if (chosen[p]) MN_TRY(mn_attribute_set(geo, attribute, p, 1, mn_tet_material_value(m, number)));
    }
    mn_attribute *name;
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, "material", MN_STRING, 1, MN_HINT_NONE, &name));
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        if (chosen[p]) MN_TRY(mn_attribute_set_string(geo, name, p, 0, m->name));
    return MN_OK;
}

// Points of what was chosen.
static mn_status write_temperature(mn_geo *geo, double temperature, double otherwise, const uint8_t *chosen)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const bool there = mn_geo_find_numeric(geo, MN_POINT, "temperature", 1) != NULL;
    mn_attribute *attribute;
    if (!(temperature > 0)) return MN_OK;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "temperature", MN_F32, 1, MN_HINT_NONE, &attribute));
    for (int64_t i = 0; i < mn_geo_point_count(geo) && !there; i++)
        MN_TRY(mn_attribute_set(geo, attribute, i, 1, &otherwise));
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        for (int64_t v = starts[p]; chosen[p] && v < starts[p + 1]; v++)
            MN_TRY(mn_attribute_set(geo, attribute, points[v], 1, &temperature));
    return MN_OK;
}

static mn_status cook_tet_material(const mn_cook *cook, mn_geo **outputs)
{
    const mn_geo *input = mn_cook_input(cook, INPUT_TETRAHEDRA);
    mn_tet_material material = material_of(cook);
    mn_chosen chosen = {0};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY(mn_tet_check_material(cook->ctx, &material));
    if (mn_geo_kind_count(input, MN_TETRAHEDRON) == 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the input holds no tetrahedra; make them with tetrahedralize first.");
    MN_TRY_TO(done, status, mn_geo_copy(input, &geo));
    MN_TRY_TO(done, status, mn_cook_choose(cook, &chosen));
    MN_TRY_TO(done, status, choose(cook, geo, chosen.primitives));
    MN_TRY_TO(done, status, write_numbers(geo, &material, chosen.primitives));
    status = write_temperature(geo, mn_cook_float(cook, "temperature"), material.reference_temperature,
                               chosen.primitives);
done:
    mn_chosen_free(cook->ctx, &chosen);
    if (status != MN_OK)
        mn_geo_free(geo);
    else
        outputs[0] = geo;
    return status;
}

const mn_node_type mn_tet_material_node = {
    .name = "tet_material",
    .label = "Meniscus Tet Material",
    .menu = "Meniscus/Geometry",
    .help = "Says what tetrahedra are made of: elastic, plastic or liquid, and what they do with heat, for "
            "tet_solver.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .references = 1u << INPUT_REGION,
    .cook = cook_tet_material,
};
