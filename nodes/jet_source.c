// SPDX-License-Identifier: Apache-2.0
//
// jet_source: where sheets of liquid come out. The numerics are those of mn_jet_source_create().
#include "sources/jet_source.h"
#include "nodes/parm.h"

// In the order of mn_jet_kind.
static const mn_menu_item kinds[] = {{"disc", "Jet on a Disc"},
                                     {"opposed", "Two Opposed Jets"},
                                     {"crossing", "Two Crossing Jets"},
                                     {"curves", "Input Curves"},
                                     {NULL, NULL}};

#define CURVES "{ kind == curves }"

static const mn_parm_def parms[] = {
    MN_MENU(
        "kind", "Kind", kinds, MN_JET_DISC, "Jet", NULL,
        "What makes the sheet: a jet on a disc or two opposed jets make a round one, crossing jets a leaf; curves come from the input."),
    MN_VEC3("center", "Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Jet", CURVES,
            "Where the jet strikes."),
    MN_VEC3(
        "axis", "Axis", "", 0, -1, 0, -MN_FAR, MN_FAR, -1, 1, "Jet", NULL,
        "Direction of the jet; for crossing jets, the direction between them; for curves without v, the direction in which film leaves."),
    MN_VEC3("side", "Side", "", 0, 0, 1, -MN_FAR, MN_FAR, -1, 1, "Jet", "{ kind != crossing }",
            "Normal of the plane of the leaf that crossing jets make."),
    MN_FLOAT("diameter", "Diameter", "m", 0.003, 1e-9, 1e6, 5e-4, 0.02, "Jet", CURVES,
             "Diameter of each jet."),
    MN_FLOAT("speed", "Speed", "m/s", 2, 0, 1e6, 0, 5, "Jet", NULL,
             "Speed of the jet, and of the sheet where it starts. 0 shuts it; curves with v have their own."),
    MN_FLOAT("flow", "Flow", "m^3/s", 0, 0, 1e6, 0, 1e-4, "Jet", CURVES,
             "Flow rate of each jet; with 0 it follows from diameter and speed. 1e-5 is 10 ml a second."),
    MN_FLOAT("angle", "Angle", "deg", 60, 0.1, 179.9, 10, 170, "Jet",
             "{ kind == curves } { kind == opposed }",
             "Angle from the axis at which the sheet leaves the disc, or at which each of two crossing "
             "jets comes in."),
    MN_FLOAT("radius", "Radius", "m", 0.002, 1e-9, 1e6, 5e-4, 0.02, "Jet", CURVES,
             "Radius at which the sheet starts: that of the disc."),
    MN_FLOAT("thickness", "Thickness", "m", 0.0005, 1e-12, 1e3, 1e-5, 0.005, "Jet", "{ kind != curves }",
             "Thickness of film that leaves curves without a point attribute thickness."),
    MN_LENGTH_OF_DX(
        1, "spacing", "Spacing", 0.001, 1e-9, 1e6, 1e-4, 0.01, "Jet",
        "Distance that the solver keeps between the points of the sheet; half the spacing costs six times as much."),
};

static const mn_input_def inputs_of[] = {
    {"Target",
     "what the jet strikes: gives center and radius; or the curves that film leaves, with v and thickness",
     false, false}};
static const mn_output_def outputs_of[] = {{"Jets", "polylines with v and thickness"}};

static mn_status cook(const mn_cook *cook, mn_geo **outputs)
{
    mn_jet_source_def def = mn_jet_source_default_def();
    def.kind = (mn_jet_kind)mn_cook_menu(cook, "kind");
    def.geo = mn_cook_input(cook, 0);
    def.center = mn_cook_vec3(cook, "center");
    def.axis = mn_cook_vec3(cook, "axis");
    def.side = mn_cook_vec3(cook, "side");
    def.diameter = mn_cook_float(cook, "diameter");
    def.speed = mn_cook_float(cook, "speed");
    def.flow = mn_cook_float(cook, "flow");
    def.angle = mn_cook_float(cook, "angle");
    def.radius = mn_cook_float(cook, "radius");
    def.thickness = mn_cook_float(cook, "thickness");
    def.spacing = mn_cook_float(cook, "spacing");
    if (def.kind == MN_JET_CURVES && !def.geo)
        return mn_cook_fail(cook, MN_ERROR_INPUT, "connect curves to the input, or choose another kind.");
    return mn_jet_source_create(cook->ctx, &def, &outputs[0]);
}

const mn_node_type mn_jet_source_node = {
    .name = "jet_source",
    .label = "Meniscus Jet Source",
    .menu = "Meniscus/Geometry",
    .help = "Feeds sheets of liquid: a jet on a disc, opposed or crossing jets, or any curve.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook,
};
