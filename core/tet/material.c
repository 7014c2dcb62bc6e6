// SPDX-License-Identifier: Apache-2.0
//
// Materials: values from handbooks, at room temperature unless they melt nearby. Young's moduli of ice and
// glass are the real ones; a scene that only has to look rigid is cheaper with 1e7 Pa.
#include "tet/material.h"

#include <stddef.h>
#include <string.h>

mn_tet_material mn_tet_default_material(void)
{
    return (mn_tet_material){.name = "liquid",
                             .density = 1000,
                             .viscosity = 1e-3,
                             .sigma = 0.072,
                             .conductivity = 0.6,
                             .heat_capacity = 4186,
                             .reference_temperature = 293.15,
                             .emissivity = 0.95};
}

static const mn_tet_material presets[] = {
    {.name = "jelly",
     .density = 1020,
     .young = 3e3,
     .poisson = 0.495,
     .viscosity = 0.5,
     .sigma = 0.06,
     .conductivity = 0.5,
     .heat_capacity = 3900,
     .expansion = 7e-5,
     .reference_temperature = 293.15,
     .toughness = 90, // 3 J/m^2 of new surface, as gelatin has
     .strength = 8e3,
     .emissivity = 0.95},
    {.name = "rubber",
     .density = 1100,
     .young = 1.5e6,
     .poisson = 0.495,
     .viscosity = 10,
     .sigma = 0,
     .conductivity = 0.16,
     .heat_capacity = 1900,
     .expansion = 2.2e-4,
     .reference_temperature = 293.15,
     .toughness = 2e5,
     .strength = 1.5e7,
     .emissivity = 0.93},
    {.name = "wax",
     .density = 900,
     .melt_density = 780,
     .young = 1e8,
     .poisson = 0.4,
     .yield = 1e6,
     .hardening = 1e6,
     .viscosity = 5e-3,
     .sigma = 0.028,
     .conductivity = 0.25,
     .melt_conductivity = 0.17,
     .heat_capacity = 2100,
     .melt_heat_capacity = 2400,
     .latent_heat = 2e5,
     .melting_point = 330,
     .melting_range = 10,
     .expansion = 3e-4,
     .reference_temperature = 293.15,
     .toughness = 1.5e5,
     .strength = 1e6,
     .emissivity = 0.92},
    {.name = "ice",
     .density = 917,
     .melt_density = 998,
     .young = 9e9,
     .poisson = 0.33,
     .viscosity = 1.3e-3,
     .sigma = 0.0756,
     .conductivity = 2.2,
     .melt_conductivity = 0.6,
     .heat_capacity = 2100,
     .melt_heat_capacity = 4186,
     .latent_heat = 334e3,
     .melting_point = 273.15,
     .expansion = 5.1e-5,
     .reference_temperature = 273.15,
     .toughness = 1e5,
     .strength = 1e6,
     .emissivity = 0.97},
    {.name = "water",
     .density = 998,
     .viscosity = 1e-3,
     .sigma = 0.0728,
     .conductivity = 0.6,
     .heat_capacity = 4186,
     .reference_temperature = 293.15,
     .emissivity = 0.96},
    {.name = "lead",
     .density = 11300,
     .melt_density = 10660,
     .young = 16e9,
     .poisson = 0.44,
     .yield = 20e6,
     .hardening = 10e6,
     .viscosity = 2.6e-3,
     .sigma = 0.45,
     .conductivity = 35,
     .melt_conductivity = 16,
     .heat_capacity = 130,
     .melt_heat_capacity = 148,
     .latent_heat = 23e3,
     .melting_point = 600.6,
     .expansion = 29e-6,
     .reference_temperature = 293.15,
     .emissivity = 0.3},
    {.name = "copper",
     .density = 8930,
     .melt_density = 8020,
     .young = 117e9,
     .poisson = 0.35,
     .yield = 400e6,
     .hardening = 100e6,
     .viscosity = 4e-3,
     .sigma = 1.3,
     .conductivity = 400,
     .melt_conductivity = 160,
     .heat_capacity = 385,
     .melt_heat_capacity = 500,
     .latent_heat = 205e3,
     .melting_point = 1357.8,
     .expansion = 17e-6,
     .reference_temperature = 293.15,
     .emissivity = 0.05},
    {.name = "gallium",
     .density = 5910,
     .melt_density = 6090,
     .young = 9.8e9,
     .poisson = 0.47,
     .yield = 15e6,
     .hardening = 10e6,
     .viscosity = 2e-3,
     .sigma = 0.71,
     .conductivity = 33,
     .melt_conductivity = 29,
     .heat_capacity = 370,
     .melt_heat_capacity = 400,
     .latent_heat = 80e3,
     .melting_point = 302.9,
     .expansion = 18e-6,
     .reference_temperature = 293.15,
     .emissivity = 0.1},
    {.name = "glass",
     .density = 2500,
     .young = 70e9,
     .poisson = 0.22,
     .viscosity = 0,
     .sigma = 0,
     .conductivity = 1,
     .heat_capacity = 840,
     .expansion = 9e-6,
     .reference_temperature = 293.15,
     .toughness = 7.5e5,
     .strength = 5e7,
     .emissivity = 0.92},
    {.name = "clay",
     .density = 1800,
     .young = 5e6,
     .poisson = 0.45,
     .yield = 2e4,
     .hardening = 0,
     .viscosity = 100,
     .sigma = 0,
     .conductivity = 1,
     .heat_capacity = 1400,
     .reference_temperature = 293.15,
     .emissivity = 0.93},
    {.name = "honey",
     .density = 1420,
     .viscosity = 10,
     .sigma = 0.055,
     .conductivity = 0.5,
     .heat_capacity = 2400,
     .reference_temperature = 293.15,
     .emissivity = 0.95},
};

const mn_tet_material *mn_tet_material_preset(int32_t index)
{
    const int32_t count = (int32_t)(sizeof presets / sizeof presets[0]);
    return index >= 0 && index < count ? &presets[index] : NULL;
}

#define NUMBER(name)                                                                                         \
    {                                                                                                        \
#name, offsetof(mn_tet_material, name)                                                               \
    }
static const mn_tet_material_number numbers[] = {
    NUMBER(density),
    NUMBER(melt_density),
    NUMBER(young),
    NUMBER(poisson),
    NUMBER(yield),
    NUMBER(hardening),
    NUMBER(creep),
    NUMBER(viscosity),
    NUMBER(sigma),
    NUMBER(conductivity),
    NUMBER(melt_conductivity),
    NUMBER(heat_capacity),
    NUMBER(melt_heat_capacity),
    NUMBER(latent_heat),
    NUMBER(melting_point),
    NUMBER(melting_range),
    NUMBER(expansion),
    NUMBER(reference_temperature),
    NUMBER(toughness),
    NUMBER(strength),
    NUMBER(ductility),
    NUMBER(emissivity),
};

const mn_tet_material_number *mn_tet_material_number_at(int32_t index)
{
    return index >= 0 && index < (int32_t)(sizeof numbers / sizeof numbers[0]) ? &numbers[index] : NULL;
}

static const double *value_of(const mn_tet_mesh *mesh, const char *name)
{
    const mn_tet_field *field = mn_tet_mesh_find_field(mesh, name);
    return field && field->kind == MN_TET_VALUE && field->size == 1 ? field->data : NULL;
}

bool mn_tet_mesh_has_materials(const mn_tet_mesh *mesh)
{
    return value_of(mesh, "young") != NULL;
}

static mn_tet_material read_material(const mn_tet_mesh *mesh, const mn_tet_material *base, int32_t t)
{
    mn_tet_material m = *base;
    const double *density = value_of(mesh, "density");
    if (density && !(density[t] > 0)) return m;
    for (int32_t i = 0; mn_tet_material_number_at(i); i++) {
        const double *value = value_of(mesh, numbers[i].name);
        if (value) *mn_tet_material_value(&m, &numbers[i]) = value[t];
    }
    return m;
}

mn_status mn_tet_mesh_list_materials(mn_tet_mesh *mesh, const mn_tet_material *base, int32_t most,
                                     mn_tet_material *materials, int32_t *count)
{
    mn_tet_field *which;
    *count = 0;
    MN_TRY(mn_tet_mesh_add_field(mesh, "material", MN_TET_VALUE, 1, &which));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const mn_tet_material m = read_material(mesh, base, t);
        int32_t at = 0;
        while (at < *count &&
               memcmp(&materials[at].density, &m.density, sizeof m - offsetof(mn_tet_material, density)))
            at++;
        if (at == most)
            return mn_fail(
                mesh->ctx, MN_ERROR_INPUT,
                "The tetrahedra have more than %d different materials; give whole regions the same "
                "values instead of painting every one.",
                most);
        if (at == *count) materials[(*count)++] = m;
        which->data[t] = at;
    }
    return MN_OK;
}

double mn_tet_material_yield(const mn_tet_material *m, double strain, double temperature)
{
    if (!(m->yield > 0)) return INFINITY;
    const double cold = m->reference_temperature;
    double part = 1;
    if (m->melting_point > cold)
        part = 1 - fmin(fmax((temperature - cold) / (m->melting_point - cold), 0), 1);
    // A little is left at the melting point: a solid without any could not be told from its melt.
    return fmax(part, 1e-3) * (m->yield + m->hardening * strain);
}

mn_heat_substance mn_tet_material_substance(const mn_tet_material *m)
{
    const bool melts = mn_tet_material_melts(m);
    return (mn_heat_substance){
        .capacity = {m->heat_capacity, m->melt_heat_capacity > 0 ? m->melt_heat_capacity : m->heat_capacity},
        .conductivity = {m->conductivity, m->melt_conductivity > 0 ? m->melt_conductivity : m->conductivity},
        .latent_heat = m->latent_heat,
        .melting_point = melts          ? m->melting_point
                         : m->young > 0 ? INFINITY
                                        : 0,
        .melting_range = melts ? m->melting_range : 0,
    };
}

static mn_status check(mn_context *ctx, const mn_tet_material *m, const char *what, double value,
                       double least, double most, bool with_least)
{
    if (value >= least && value <= most && (with_least || value > least)) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "The material '%s' has a %s of %g; it must be %s %g%s.", m->name,
                   what, value, with_least ? "at least" : "above", least,
                   most < 1e300 ? " and within what the tooltip says" : "");
}

mn_status mn_tet_check_material(mn_context *ctx, const mn_tet_material *m)
{
    const double most = 1e300;
    MN_TRY(check(ctx, m, "density", m->density, 0, most, false));
    MN_TRY(check(ctx, m, "density when molten", m->melt_density, 0, most, true));
    MN_TRY(check(ctx, m, "Young's modulus", m->young, 0, most, true));
    if (m->young > 0 && !(m->poisson >= 0 && m->poisson <= 0.4999))
        return mn_fail(
            ctx, MN_ERROR_ARGUMENT,
            "The material '%s' has a Poisson's ratio of %g; it must lie between 0 and 0.4999. For a "
            "solid that keeps its volume, 0.495 is enough.",
            m->name, m->poisson);
    MN_TRY(check(ctx, m, "yield stress", m->yield, 0, most, true));
    MN_TRY(check(ctx, m, "hardening", m->hardening, 0, most, true));
    MN_TRY(check(ctx, m, "creep viscosity", m->creep, 0, most, true));
    MN_TRY(check(ctx, m, "viscosity", m->viscosity, 0, most, true));
    MN_TRY(check(ctx, m, "surface tension", m->sigma, 0, most, true));
    MN_TRY(check(ctx, m, "expansion", m->expansion, 0, 1, true));
    MN_TRY(check(ctx, m, "toughness", m->toughness, 0, most, true));
    MN_TRY(check(ctx, m, "strength", m->strength, 0, most, true));
    MN_TRY(check(ctx, m, "ductility", m->ductility, 0, most, true));
    MN_TRY(check(ctx, m, "emissivity", m->emissivity, 0, 1, true));
    MN_TRY(check(ctx, m, "melting point", m->melting_point, 0, most, true));
    MN_TRY(check(ctx, m, "melting range", m->melting_range, 0, most, true));
    MN_TRY(check(ctx, m, "reference temperature", m->reference_temperature, 0, most, false));
    const mn_heat_substance substance = mn_tet_material_substance(m);
    return mn_heat_check_substance(ctx, m->name, &substance);
}
