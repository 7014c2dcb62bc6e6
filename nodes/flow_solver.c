// SPDX-License-Identifier: Apache-2.0
//
// flow_solver: smoke and ink that fill a box, or a liquid with a free surface in it. The numerics and the
// parameters are mn_flow_solver's; this file reads sources and drops, and turns cells into volumes and
// polygons.
#include "flow/cell_field.h"
#include "meniscus/flow.h"
#include "nodes/columns.h"
#include "nodes/inputs.h"
#include "nodes/solver_node.h"

#include <string.h>

enum { INPUT_SOURCE, INPUT_COLLIDERS, INPUT_DROPS, INPUT_FORCE };
enum { EMIT_AUTO, EMIT_START, EMIT_ALWAYS };
enum { OUTPUT_POLYGONS, OUTPUT_VOLUMES, OUTPUT_BOTH };

static const mn_role roles[] = {[INPUT_SOURCE] = MN_ROLE_OWN,
                                [INPUT_COLLIDERS] = MN_ROLE_COLLIDER,
                                [INPUT_DROPS] = MN_ROLE_OWN,
                                [INPUT_FORCE] = MN_ROLE_FORCE};
static const mn_input_def inputs_of[] = {
    [INPUT_SOURCE] = {"Source", "level sets, from collider nodes: where smoke or liquid comes from", false,
                      false},
    [INPUT_COLLIDERS] = MN_INPUT_COLLIDERS,
    [INPUT_DROPS] =
        {"Drops",
         "points with v, and mass or pscale, that fall into a liquid, such as those of a spray_solver", false,
         false},
    [INPUT_FORCE] = {"Force", "a vector volume named force, an acceleration that is added to gravity", false,
                     false},
};
static const mn_output_def outputs_of[] = {
    {"Fluid",
     "volumes named density, temperature, Cd and vel; or a liquid's polygons with v, and volumes surface and "
     "vel"},
    {"Ripples",
     "a grid at the water's level with its height above it, N and v, for shading; empty for smoke"},
    {"Drops", "points with v, pscale, mass and id: liquid thrown off that flies, see spray_radius"}};

/// What an advance borrows.
typedef struct flow_own {
    mn_geo *source_geo; ///< a copy, so that the source may outlive the input
    mn_collider *source;
    MN_ARRAY(mn_flow_drop) drops;
    mn_flow_inputs inputs;
} flow_own;

// ---- inputs ----

static void let_go_source(flow_own *own)
{
    mn_collider_free(own->source);
    mn_geo_free(own->source_geo);
    own->source = NULL, own->source_geo = NULL;
}

static mn_status read_source(const mn_cook *cook, flow_own *own)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_SOURCE);
    let_go_source(own);
    if (!geo) return MN_OK;
    MN_TRY(mn_geo_copy(geo, &own->source_geo));
    return mn_input_collider_of(cook, own->source_geo, &own->source);
}

static mn_status read_drops(const mn_cook *cook, flow_own *own)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_DROPS);
    const int64_t count = geo ? mn_geo_point_count(geo) : 0;
    MN_TRY(mn_array_resize(cook->ctx, &own->drops, count));
    const mn_attribute *v = geo ? mn_geo_find_numeric(geo, MN_POINT, "v", 3) : NULL;
    for (int64_t i = 0; i < count; i++) {
        mn_flow_drop *drop = &own->drops.data[i];
        drop->position = mn_geo_position(geo, i);
        drop->velocity = mn_v3(0, 0, 0);
        if (v) mn_attribute_get(v, i, 1, &drop->velocity.x);
        drop->radius = mn_column_number(geo, "pscale", i, 0.001);
        drop->mass = mn_column_number(geo, "mass", i, 0);
        drop->id = 0;
        if (!mn_is_finite3(drop->position) || !mn_is_finite3(drop->velocity) || !(drop->radius >= 0) ||
            !isfinite(drop->radius) || !(drop->mass >= 0) || !isfinite(drop->mass))
            return mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "drop %lld has a position, velocity, pscale or mass that is negative or not finite.",
                (long long)i);
    }
    return MN_OK;
}

static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    flow_own *own = memory;
    (void)solver;
    if (feeding == MN_FEED_EMIT) return MN_OK;
    const int32_t emit = mn_cook_menu(cook, "emit");
    const bool smoke = mn_cook_menu(cook, "fluid") == MN_FLOW_SMOKE;
    let_go_source(own);
    if (feeding == MN_FEED_START || emit == EMIT_ALWAYS || (emit == EMIT_AUTO && smoke))
        MN_TRY(read_source(cook, own));
    own->drops.count = 0;
    if (feeding == MN_FEED_ADVANCE) MN_TRY(read_drops(cook, own));
    own->inputs =
        (mn_flow_inputs){.source = own->source, .drop_count = own->drops.count, .drops = own->drops.data};
    inputs->own = &own->inputs;
    return MN_OK;
}

static mn_status start(const mn_cook *cook, mn_solver *solver, void *own)
{
    (void)solver, (void)own;
    if (mn_cook_menu(cook, "fluid") == MN_FLOW_LIQUID && !mn_cook_toggle(cook, "use_level") &&
        !mn_cook_input(cook, INPUT_SOURCE))
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "there is no liquid: switch on Still Water, or connect a level set to the source.");
    return MN_OK;
}

static void free_own(mn_context *ctx, void *memory)
{
    flow_own *own = memory;
    let_go_source(own);
    mn_array_free(ctx, &own->drops);
}

// ---- volumes ----

static mn_status add_field(const mn_cook *cook, const mn_flow_view *view, const char *name,
                           mn_flow_cell_field field, mn_geo *geo)
{
    const mn_services *services = cook->services;
    if (!services || !services->volume_from_blocks)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED,
                            "this host cannot make volumes; set output to polygons.");
    MN_TRY(mn_check_cancelled(cook->ctx));
    const size_t origin_bytes = mn_bytes(view->block_count, sizeof(int32_t[3]));
    const size_t value_bytes = mn_bytes(view->block_count * 64 * field.components, sizeof(double));
    int32_t(*origins)[3] = mn_allocate(cook->ctx, origin_bytes);
    double *values = mn_allocate(cook->ctx, value_bytes);
    mn_volume volume = {0};
    mn_status status = view->block_count > 0 && (!origins || !values) ? MN_ERROR_MEMORY : MN_OK;
    if (status == MN_OK) {
        const int64_t kept = mn_flow_cell_blocks(view, &field, origins, values);
        status = services->volume_from_blocks(services->user, cook->ctx, name, field.kind, view->dx,
                                              field.background, field.components, 4, kept,
                                              (const int32_t(*)[3])origins, values, &volume);
    }
    if (status == MN_OK) status = mn_geo_add_volume(geo, volume, -1, NULL);
    mn_volume_release(&volume);
    mn_release(cook->ctx, origins, origin_bytes);
    mn_release(cook->ctx, values, value_bytes);
    return status;
}

static mn_status add_fog(const mn_cook *cook, const mn_flow_view *view, const char *name,
                         const double *values, mn_geo *geo)
{
    const mn_flow_cell_field field = {
        .kind = MN_VOLUME_FOG, .components = 1, .values = {values}, .stride = 1, .scale = 1};
    return add_field(cook, view, name, field, geo);
}

static mn_status add_colour(const mn_cook *cook, const mn_flow_view *view, mn_geo *geo)
{
    const mn_flow_cell_field field = {.kind = MN_VOLUME_FOG,
                                      .components = 3,
                                      .values = {view->color[0], view->color[1], view->color[2]},
                                      .stride = 1,
                                      .weight = view->density,
                                      .scale = 1};
    return add_field(cook, view, "Cd", field, geo);
}

static mn_status add_velocity(const mn_cook *cook, const mn_flow_view *view, mn_geo *geo)
{
    const double *v = &view->velocity[0][0];
    const mn_flow_cell_field field = {
        .kind = MN_VOLUME_FOG, .components = 3, .values = {v, v + 1, v + 2}, .stride = 4, .scale = 1};
    return add_field(cook, view, "vel", field, geo);
}

static const double AT_WALL = 0.25; // cells out of the liquid that a point on a wall may be

// Polygons have a point in each cube of eight centres that the surface passes. The one across a wall takes
// its place on the wall, where the liquid ends; otherwise the rim along the wall would be round and jagged.
static mn_vec3 onto_walls(const mn_flow *flow, const mn_flow_view *view, mn_vec3 x)
{
    double *at[3] = {&x.x, &x.y, &x.z};
    for (int32_t a = 0; a < 3; a++) {
        const double own = *at[a], low = mn_component(view->origin, a) + view->dx,
                     high = low + view->dx * view->cells[a];
        if (fabs(own - low) < 0.5 * view->dx)
            *at[a] = low;
        else if (fabs(own - high) < 0.5 * view->dx)
            *at[a] = high;
        if (*at[a] != own && mn_flow_distance_at(flow, x) > AT_WALL * view->dx) *at[a] = own;
    }
    return x;
}

/// Polygons of the surface, with the liquid's velocity.
static mn_status add_polygons(const mn_cook *cook, const mn_flow *flow, const mn_flow_view *view,
                              const mn_geo *volumes, mn_geo **out)
{
    float *v;
    MN_TRY(cook->services->level_set_to_mesh(cook->services->user, cook->ctx,
                                             mn_geo_find_volume(volumes, "surface"), 0, 0, out));
    const int64_t count = mn_geo_point_count(*out);
    MN_TRY(mn_column_add(*out, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 x = onto_walls(flow, view, mn_geo_position(*out, i));
        mn_column_put3(mn_geo_write_positions(*out), i, x);
        mn_column_put3(v, i, mn_flow_velocity_at(flow, x));
    }
    return MN_OK;
}

static mn_status show(const mn_cook *cook, mn_solver *solver, int32_t output_number, mn_geo **out_geo)
{
    mn_flow *flow = (mn_flow *)solver;
    mn_flow_view view;
    mn_geo *geo = NULL, *polygons = NULL;
    mn_status status;
    if (output_number != 0) return MN_OK;
    MN_TRY_TO(out, status, mn_flow_get(flow, &view));
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &geo));
    if (view.density) {
        MN_TRY_TO(out, status, add_fog(cook, &view, "density", view.density, geo));
        MN_TRY_TO(out, status, add_fog(cook, &view, "temperature", view.temperature, geo));
        MN_TRY_TO(out, status, add_colour(cook, &view, geo));
        MN_TRY_TO(out, status, add_velocity(cook, &view, geo));
    } else {
        const int32_t output = mn_cook_menu(cook, "output");
        const mn_flow_cell_field surface = {.kind = MN_VOLUME_LEVEL_SET,
                                            .components = 1,
                                            .background = 3 * view.dx,
                                            .values = {view.surface},
                                            .stride = 1,
                                            .scale = view.dx};
        MN_TRY_TO(out, status, add_field(cook, &view, "surface", surface, geo));
        if (output != OUTPUT_VOLUMES) MN_TRY_TO(out, status, add_polygons(cook, flow, &view, geo, &polygons));
        if (output != OUTPUT_POLYGONS) MN_TRY_TO(out, status, add_velocity(cook, &view, geo));
        if (output == OUTPUT_BOTH) MN_TRY_TO(out, status, mn_geo_append(polygons, geo));
        if (output != OUTPUT_VOLUMES) {
            mn_geo_free(geo);
            geo = polygons;
            polygons = NULL;
        }
    }
    *out_geo = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    mn_geo_free(polygons);
    return status;
}

// ---- doctor ----

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    mn_flow_def def;
    MN_TRY(mn_solver_node_def(cook, &def));
    mn_flow_numbers n;
    mn_flow_diagnose(&def, cook->dt, &n);
    d->number(d->user, "cells in the box", n.cells, "",
              def.fluid == MN_FLOW_LIQUID ? "a liquid takes those near it" : "");
    d->number(d->user, "memory", n.bytes * 1e-6, "MB", "at most");
    if (def.fluid != MN_FLOW_LIQUID) return MN_OK;
    d->number(d->user, "shortest ripple", 1000 * n.ripple, "mm",
              "ten cells; shorter ones run too slowly or fade");
    if (def.sigma > 0) {
        d->number(d->user, "speed of that ripple", n.ripple_speed, "m/s", "");
        d->number(d->user, "longest step", 1000 * n.step, "ms", "set by surface tension");
        if (cook->dt > 0) d->number(d->user, "steps per frame", n.steps, "", "at least");
    }
    return MN_OK;
}

static const mn_emitter_guide emitters[] = {{INPUT_SOURCE, NULL}};
static const mn_guide_table guides = {.emitters = emitters, .emitter_count = 1};

static const mn_solver_node solver = {
    .solver = &mn_flow_solver,
    .roles = roles,
    .start = start,
    .show = show,
    MN_SOLVER_NODE_OWN(flow_own, feed, free_own),
};

const mn_node_type mn_flow_solver_node = {
    MN_SOLVER_NODE("flow_solver", "Meniscus Flow Solver",
                   "Simulates smoke and ink in a box, or ponds, waves and ripples with a free surface.",
                   inputs_of, outputs_of, mn_flow_fields, MN_FLOW_FIELD_COUNT, solver, doctor, &guides)};
