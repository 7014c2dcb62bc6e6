// SPDX-License-Identifier: Apache-2.0
//
// field: a volume that acts on liquids, by a formula: force, wind, surface tension, viscosity or heat.
#include "nodes/bake.h"
#include "nodes/parm.h"
#include "sources/field_formula.h"

enum { FIELD_FORCE, FIELD_WIND, FIELD_SIGMA };

static const mn_menu_item field_items[] = {
    {"force", "Force (m/s^2)"},        {"vel", "Wind (m/s)"},    {"sigma", "Surface Tension (N/m)"},
    {"viscosity", "Viscosity (Pa s)"}, {"heat", "Heat (W/m^3)"}, {NULL, NULL}};
// In the order of mn_formula_kind.
static const mn_menu_item kind_items[] = {{"constant", "Constant"},
                                          {"linear", "Linear"},
                                          {"vortex", "Vortex"},
                                          {"attractor", "Attractor"},
                                          {NULL, NULL}};

static const mn_parm_def parms[] = {
    MN_MENU(
        "field", "Field", field_items, FIELD_FORCE, "Field", NULL,
        "What the volume is, and its name: a force is an acceleration, added to gravity; wind is the "
        "velocity of the air; surface tension and viscosity replace those of the liquid inside the box; heat "
        "is the power of a heat source, for tet_solver."),
    MN_MENU("kind", "Kind", kind_items, MN_FORMULA_CONSTANT, "Field", NULL,
            "Constant: one value. Linear: changes along each axis. Vortex: turns around an axis. Attractor: "
            "draws towards the center. The last two are for force and wind."),
    MN_VEC3(
        "vector", "Vector", "", 0, 0, 0, -1e9, 1e9, -10, 10, "Field",
        "{ field == sigma } { field == viscosity } { field == heat } { kind == vortex } { kind == attractor }",
        "Value of force or wind at the center, in m/s^2 or m/s."),
    MN_FLOAT(
        "value", "Value", "", 1, -1e9, 1e9, 0, 10, "Field", NULL,
        "Surface tension, viscosity or heat at the center; with a vortex or an attractor the strength at the "
        "radius, in m/s^2 or m/s."),
    MN_VEC3(
        "gradient", "Gradient", "1/m", 0, 0, 0, -1e9, 1e9, -10, 10, "Field", "{ kind != linear }",
        "How much the value changes over a metre along x, y and z. For a vector, each component changes along its own axis."),
    MN_VEC3("axis", "Axis", "", 0, 1, 0, -1e9, 1e9, -1, 1, "Field", "{ kind != vortex }",
            "Direction that the vortex turns around."),
    MN_FLOAT("radius", "Radius", "m", 0.1, 1e-9, 1e6, 1e-3, 1, "Field",
             "{ kind == constant } { kind == linear }",
             "Where vortex and attractor are strongest: they grow from the center to here and fade beyond."),
    MN_VEC3("center", "Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Box", NULL, "Middle of the field."),
    MN_VEC3("size", "Size", "m", 1, 1, 1, 1e-9, MN_FAR, 1e-3, 2, "Box", NULL,
            "Edges of the box that the field fills, rounded up to blocks of eight voxels; beyond it nothing "
            "acts."),
    MN_FLOAT("dx", "Voxel Size", "m", 0, 0, 1e6, 0, 0.1, "Box", NULL,
             "How finely the field is sampled; 0 takes a 32nd of the longest edge."),
};

static const mn_output_def outputs_of[] = {{"Field", "a volume named force, vel, sigma, viscosity or heat"}};

static void value_at(void *user, mn_vec3 x, double *values)
{
    mn_formula_at(user, x, values);
}

static mn_formula formula_of(const mn_cook *cook)
{
    const int32_t field = mn_cook_menu(cook, "field");
    return (mn_formula){.kind = (mn_formula_kind)mn_cook_menu(cook, "kind"),
                        .components = field == FIELD_FORCE || field == FIELD_WIND ? 3 : 1,
                        .center = mn_cook_vec3(cook, "center"),
                        .vector = mn_cook_vec3(cook, "vector"),
                        .number = mn_cook_float(cook, "value"),
                        .gradient = mn_cook_vec3(cook, "gradient"),
                        .axis = mn_cook_vec3(cook, "axis"),
                        .radius = mn_cook_float(cook, "radius")};
}

// Surface tension and viscosity below zero mean nothing: the corners tell, for they are at most linear.
static mn_status check_formula(const mn_cook *cook, const mn_formula *f, mn_box box)
{
    const bool turns = f->kind == MN_FORMULA_VORTEX || f->kind == MN_FORMULA_ATTRACTOR;
    if (turns && f->components == 1)
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT,
                            "a vortex or an attractor is a force or a wind; choose constant or linear for "
                            "surface tension, viscosity and heat.");
    if (f->kind == MN_FORMULA_VORTEX && !(mn_norm(f->axis) > 0))
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT, "axis is (0, 0, 0); give it a direction.");
    for (int i = 0; f->components == 1 && i < 8; i++) {
        const mn_vec3 x = mn_v3((i & 1 ? box.max : box.min).x, (i & 2 ? box.max : box.min).y,
                                (i & 4 ? box.max : box.min).z);
        double value;
        mn_formula_at(f, x, &value);
        if (value < 0)
            return mn_cook_fail(
                cook, MN_ERROR_ARGUMENT,
                "the value falls to %.3g at the corner (%g, %g, %g) of the box; use a smaller "
                "gradient or box, or a larger value.",
                value, x.x, x.y, x.z);
    }
    return MN_OK;
}

static mn_status cook_field(const mn_cook *cook, mn_geo **outputs)
{
    mn_formula formula = formula_of(cook);
    const mn_vec3 size = mn_cook_vec3(cook, "size");
    const mn_box box = {mn_axpy(formula.center, -0.5, size), mn_axpy(formula.center, 0.5, size)};
    double dx = mn_cook_float(cook, "dx");
    if (dx == 0) dx = fmax(size.x, fmax(size.y, size.z)) / 32;
    mn_origin_array origins = {0};
    mn_volume volume = {0};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY(check_formula(cook, &formula, box));
    MN_TRY_TO(out, status, mn_bake_blocks(cook, box, dx, &origins));
    MN_TRY_TO(out, status,
              mn_bake(cook, field_items[mn_cook_menu(cook, "field")].token, formula.components, dx, &origins,
                      value_at, &formula, &volume));
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &geo));
    MN_TRY_TO(out, status, mn_geo_add_volume(geo, volume, -1, NULL));
    outputs[0] = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    mn_volume_release(&volume);
    mn_array_free(cook->ctx, &origins);
    return status;
}

const mn_node_type mn_field_node = {
    .name = "field",
    .label = "Meniscus Field",
    .menu = "Meniscus/Geometry",
    .help =
        "Makes a volume that acts on liquids: a force, a wind, a heat source, or surface tension and viscosity "
        "that change from place to place.",
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms,
    .parm_count = MN_COUNT_OF(parms),
    .cook = cook_field,
};
