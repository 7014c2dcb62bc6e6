// SPDX-License-Identifier: Apache-2.0
//
// elastic_solver: soft solids, cloth and rigid bodies that push each other, pinned points and colliders. The
// numerics and the parameters are mn_elastic_solver's; this file cuts the inputs into bodies, one for each
// connected piece, and tells pinned points and colliders where to go.
#include "nodes/elastic_bodies.h"
#include "nodes/solver_node.h"

enum { INPUT_SOLIDS, INPUT_CLOTH, INPUT_RIGID, INPUT_COLLIDERS, INPUT_COUNT };

static const mn_role roles[INPUT_COUNT] = {MN_ROLE_OWN, MN_ROLE_OWN, MN_ROLE_OWN, MN_ROLE_OWN};
static const mn_input_def inputs_of[INPUT_COUNT] = {
    [INPUT_SOLIDS] = {"Solids",
                      "tetrahedra, from tetrahedralize; v, rest, density, young and pinned are used", false,
                      false},
    [INPUT_CLOTH] = {"Cloth", "polygons, open or closed; v, rest, density, young and pinned are used", false,
                     false},
    [INPUT_RIGID] = {"Rigid Bodies", "closed polygons, each piece a body; v and density are used", false,
                     false},
    [INPUT_COLLIDERS] =
        {"Colliders", "polygons that move by themselves and keep their points, or a level set named surface",
         false, false},
};
static const mn_output_def outputs_of[] = {
    {"Bodies",
     "tetrahedra of solids, triangles of the others; points with v, rest, stress, contact_force, body "
     "and id"},
    {"Surface", "triangles of all bodies, with the same attributes"},
};

typedef struct own_memory {
    mn_body_origins origins;
    mn_vec3_array targets;
    mn_elastic_inputs inputs;
} own_memory;

// ---- hooks ----

static mn_status start(const mn_cook *cook, mn_solver *solver, void *memory)
{
    static const mn_elastic_kind kinds[INPUT_COUNT] = {MN_ELASTIC_SOLID, MN_ELASTIC_CLOTH, MN_ELASTIC_RIGID,
                                                       MN_ELASTIC_COLLIDER};
    static const char *const wants[INPUT_COUNT] = {
        "the solids input holds no tetrahedra; make them with tetrahedralize first.",
        "the cloth input holds no polygons.", "the rigid bodies input holds no polygons.",
        "the colliders input holds neither polygons nor a level set named surface."};
    own_memory *own = memory;
    mn_elastic_def def;
    MN_TRY(mn_solver_node_def(cook, &def));
    for (int32_t input = 0; input < INPUT_COUNT; input++) {
        const mn_geo *geo = mn_cook_input(cook, input);
        if (!geo || (mn_geo_point_count(geo) == 0 && mn_geo_primitive_count(geo) == 0)) continue;
        const mn_body_source source = {.elastic = (mn_elastic *)solver,
                                       .origins = &own->origins,
                                       .input = input,
                                       .kind = kinds[input],
                                       .density = def.density,
                                       .young = def.young,
                                       .pin = (mn_pin_mode)mn_cook_menu(cook, "pin"),
                                       .pin_center = mn_cook_vec3(cook, "pin_center"),
                                       .pin_size = mn_cook_vec3(cook, "pin_size")};
        bool any;
        MN_TRY(mn_bodies_cut(cook, geo, &source, &any));
        if (!any && input == INPUT_COLLIDERS) MN_TRY(mn_bodies_add_level_set(cook, geo, &source, &any));
        if (!any) return mn_cook_fail(cook, MN_ERROR_INPUT, "%s", wants[input]);
    }
    MN_TRY(mn_elastic_check_apart((mn_elastic *)solver));
    const double attach = mn_cook_float(cook, "attach_distance");
    int64_t attached;
    MN_TRY(mn_elastic_attach_near((mn_elastic *)solver, attach, &attached));
    if (attach > 0 && attached == 0)
        mn_cook_warn(cook, "no points of two bodies lie within attach_distance %g m; nothing is attached.",
                     attach);
    return MN_OK;
}

/// Pinned points and colliders go where the inputs have them at this frame.
static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    own_memory *own = memory;
    if (feeding != MN_FEED_ADVANCE) return MN_OK;
    MN_TRY(mn_bodies_aim(cook, (mn_elastic *)solver, &own->origins, INPUT_COLLIDERS, &own->targets));
    own->inputs.targets = own->targets.data;
    inputs->own = &own->inputs;
    return MN_OK;
}

static mn_status save_own(const void *memory, mn_writer *out)
{
    return mn_write_array(out, &((const own_memory *)memory)->origins);
}

static mn_status load_own(const mn_cook *cook, void *memory, mn_reader *in)
{
    own_memory *own = memory;
    MN_TRY(mn_read_array(in, &own->origins));
    return mn_bodies_check_origins(cook, &own->origins, INPUT_COUNT);
}

static void free_own(mn_context *ctx, void *memory)
{
    own_memory *own = memory;
    mn_array_free(ctx, &own->origins);
    mn_array_free(ctx, &own->targets);
}

static const mn_solver_node solver = {
    .solver = &mn_elastic_solver,
    .roles = roles,
    .needs =
        "nothing to move: connect tetrahedra to the solids, or polygons to the cloth or the rigid bodies.",
    .start = start,
    .save_own = save_own,
    .load_own = load_own,
    MN_SOLVER_NODE_OWN(own_memory, feed, free_own),
};

const mn_node_type mn_elastic_solver_node = {MN_SOLVER_NODE(
    "elastic_solver", "Meniscus Elastic Solver",
    "Simulates soft solids, cloth and rigid bodies that push each other and never pass through each other.",
    inputs_of, outputs_of, mn_elastic_fields, MN_ELASTIC_FIELD_COUNT, solver, NULL, NULL)};
