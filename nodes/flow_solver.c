// SPDX-License-Identifier: Apache-2.0
//
// flow_solver: smoke and ink that fill a box, or a liquid with a free surface in it. The numerics are
// mn_flow's; this file says what the inputs are and turns cells into volumes and polygons.
#include "meniscus/flow.h"
#include "nodes/columns.h"
#include "nodes/inputs.h"
#include "nodes/parm.h"

#include <string.h>

enum { INPUT_SOURCE, INPUT_COLLIDERS, INPUT_DROPS };
enum { EMIT_AUTO, EMIT_START, EMIT_ALWAYS };
enum { OUTPUT_POLYGONS, OUTPUT_VOLUMES, OUTPUT_BOTH };

static const mn_menu_item fluid_items[] = {{"smoke", "Smoke or Ink"}, {"liquid", "Liquid"}, {NULL, NULL}};
static const mn_menu_item boundary_items[] = {
    {"closed", "Closed"}, {"open", "Open"}, {"open_top", "Open Top"}, {"tunnel", "Tunnel"}, {NULL, NULL}};
static const mn_menu_item advection_items[] = {
    {"rk2", "Runge-Kutta 2"}, {"implicit", "Implicit (BSLQB)"}, {"explicit", "Explicit"}, {NULL, NULL}};
static const mn_menu_item emit_items[] = {{"auto", "Smoke Always, Liquid at the Start"},
                                          {"start", "At the Start"},
                                          {"always", "Always"},
                                          {NULL, NULL}};
static const mn_menu_item output_items[] = {
    {"polygons", "Polygons"}, {"volumes", "Volumes"}, {"both", "Polygons and Volumes"}, {NULL, NULL}};

#define SMOKE_ONLY "{ fluid == liquid }"
#define LIQUID_ONLY "{ fluid == smoke }"

static const mn_parm_def parms[] = {
    MN_MENU("fluid", "Fluid", fluid_items, MN_FLOW_SMOKE, "Domain", NULL,
            "Smoke and ink fill the whole box; a liquid has a free surface."),
    MN_FLOAT("dx", "Cell Size", "m", 0.02, 1e-9, 1e6, 1e-3, 0.1, "Domain", NULL,
             "Edge of a cell. Half of it costs eight times the memory and up to sixteen times the time. "
             "Ripples need "
             "at least ten cells each."),
    MN_VEC3("domain_center", "Domain Center", "m", 0, 0.5, 0, -MN_FAR, MN_FAR, -10, 10, "Domain", NULL,
            "Middle of the box, moved to whole cells."),
    MN_VEC3("domain_size", "Domain Size", "m", 1, 1, 1, 1e-9, MN_FAR, 0.1, 10, "Domain", NULL,
            "Edges of the box, rounded to whole cells."),
    MN_TOGGLE("flat", "Two-Dimensional", 0, "Domain", NULL,
              "Makes the box one cell deep along z: a quick look, or motion graphics."),
    MN_MENU("boundary", "Boundary", boundary_items, MN_FLOW_CLOSED, "Domain", NULL,
            "Walls on all sides, sides that fluid passes freely, walls with an open top, or a tunnel that "
            "the stream "
            "comes in and leaves through."),
    MN_VEC3("stream", "Stream", "m/s", 0, 0, 0, -1e6, 1e6, -2, 2, "Domain", "{ boundary != tunnel }",
            "Velocity at the tunnel's entrance; its largest component says which sides are open."),
    MN_FLOAT("density", "Density", "kg/m^3", 1000, 1e-6, 1e6, 1, 14000, "Fluid", NULL,
             "Mass per volume: air 1.2, water 1000, mercury 13534. Only a liquid's tension and any viscosity "
             "see it."),
    MN_FLOAT("viscosity", "Viscosity", "Pa s", 0, 0, 1e6, 0, 1, "Fluid", NULL,
             "Resistance to shear: air 1.8e-5, water 0.001, honey 10."),
    MN_TOGGLE("no_slip", "No Slip", 0, "Fluid", NULL, "Lets a viscous fluid stick to colliders."),
    MN_VEC3("gravity", "Gravity", "m/s^2", 0, -9.81, 0, -1e6, 1e6, -20, 20, "Fluid", NULL,
            "Pulls a liquid; for smoke it only says which way is down."),
    MN_FLOAT("sigma", "Surface Tension", "N/m", 0.072, 0, 1e6, 0, 0.5, "Liquid", LIQUID_ONLY,
             "Water 0.072, soapy water 0.025, mercury 0.48. It limits the step to about the time in which "
             "the shortest "
             "ripple crosses a cell."),
    MN_FLOAT("contact_angle", "Contact Angle", "deg", 90, 0, 180, 0, 180, "Liquid", LIQUID_ONLY,
             "Angle of the surface at the walls of the box, through the liquid: small wets, large repels."),
    MN_TOGGLE("use_level", "Still Water", 1, "Liquid", LIQUID_ONLY,
              "Fills the box up to a level at the start."),
    MN_FLOAT("level", "Water Level", "m", 0.3, -MN_FAR, MN_FAR, -5, 5, "Liquid",
             "{ fluid == smoke } { use_level == 0 }", "Height of the still water."),
    MN_FLOAT("surface_tension_limit", "Tension Step", "", 1, 1e-3, 10, 0.1, 2, "Liquid", LIQUID_ONLY,
             "Longest step in units of the capillary limit; above 2 ripples grow."),
    MN_FLOAT("buoyancy", "Buoyancy", "m/s^2", 1, -1e6, 1e6, -10, 10, "Smoke", SMOKE_ONLY,
             "Acceleration against gravity of smoke of density 1; negative sinks, as ink does."),
    MN_FLOAT("heat_buoyancy", "Heat Buoyancy", "m/s^2", 0.03, -1e6, 1e6, 0, 1, "Smoke", SMOKE_ONLY,
             "Acceleration against gravity for each kelvin above the surroundings."),
    MN_FLOAT("cooling", "Cooling", "1/s", 0, 0, 1e6, 0, 5, "Smoke", SMOKE_ONLY,
             "Rate at which heat is lost."),
    MN_FLOAT("dissipation", "Dissipation", "1/s", 0, 0, 1e6, 0, 5, "Smoke", SMOKE_ONLY,
             "Rate at which smoke disappears."),
    MN_MENU("emit", "Emit", emit_items, EMIT_AUTO, "Source", NULL, "When the source gives smoke or liquid."),
    MN_FLOAT("source_density", "Source Density", "", 1, 0, 1e6, 0, 4, "Source", SMOKE_ONLY,
             "Density of the smoke in the source."),
    MN_FLOAT("source_temperature", "Source Temperature", "K", 0, -1e6, 1e6, 0, 500, "Source", SMOKE_ONLY,
             "Heat of the source above the surroundings."),
    MN_VEC3("source_color", "Source Color", "", 1, 1, 1, 0, 1e6, 0, 1, "Source", SMOKE_ONLY,
            "Colour of the smoke."),
    MN_FLOAT("inherit_velocity", "Inherit Velocity", "", 1, 0, 1, 0, 1, "Source", NULL,
             "Share of the source's own velocity that the fluid in it takes."),
    MN_MENU("advection", "Advection", advection_items, MN_FLOW_RK2, "Solver", NULL,
            "How fluid is carried. Runge-Kutta 2 suits nearly everything."),
    MN_FLOAT("cfl", "CFL", "cell", 2, 1e-3, 1000, 0.5, 8, "Solver", NULL,
             "Cells that the fastest fluid may cross in a step: smoke takes 4 and more, liquids 1 to 2."),
    MN_FLOAT("tolerance", "Tolerance", "", 1e-5, 1e-14, 0.1, 1e-8, 1e-3, "Solver", NULL,
             "Divergence that the pressure leaves, relative."),
    MN_MENU(
        "output", "Output", output_items, OUTPUT_POLYGONS, "Output", LIQUID_ONLY,
        "A liquid as polygons with v, as volumes named surface and vel, or both. Smoke is always volumes."),
    MN_PARM_START_FRAME,
    MN_PARM_TIME_SCALE,
    MN_PARM_MIN_SUBSTEPS,
    MN_PARM_MAX_SUBSTEPS,
};

static const mn_input_def inputs_of[] = {
    [INPUT_SOURCE] = {"Source", "level sets, from collider nodes: where smoke or liquid comes from", false,
                      false},
    [INPUT_COLLIDERS] = {"Colliders", "level sets, from collider nodes", false, false},
    [INPUT_DROPS] = {"Drops",
                     "points with v and pscale that fall into a liquid, such as those of a spray_solver",
                     false, false},
};
static const mn_output_def outputs_of[] = {
    {"Fluid",
     "volumes named density, temperature, Cd and vel; or a liquid's polygons with v, and volumes surface and "
     "vel"}};

static mn_flow_def def_of(const mn_cook *cook)
{
    mn_flow_def def = mn_flow_default_def();
    def.fluid = (mn_flow_fluid)mn_cook_menu(cook, "fluid");
    def.dx = mn_cook_float(cook, "dx");
    def.domain_center = mn_cook_vec3(cook, "domain_center");
    def.domain_size = mn_cook_vec3(cook, "domain_size");
    def.flat = mn_cook_toggle(cook, "flat");
    def.boundary = (mn_flow_boundary)mn_cook_menu(cook, "boundary");
    def.stream = mn_cook_vec3(cook, "stream");
    def.density = mn_cook_float(cook, "density");
    def.viscosity = mn_cook_float(cook, "viscosity");
    def.no_slip = mn_cook_toggle(cook, "no_slip");
    def.gravity = mn_cook_vec3(cook, "gravity");
    def.sigma = mn_cook_float(cook, "sigma");
    def.contact_angle = mn_cook_float(cook, "contact_angle");
    def.level = mn_cook_toggle(cook, "use_level") ? mn_cook_float(cook, "level") : -INFINITY;
    def.surface_tension_limit = mn_cook_float(cook, "surface_tension_limit");
    def.buoyancy = mn_cook_float(cook, "buoyancy");
    def.heat_buoyancy = mn_cook_float(cook, "heat_buoyancy");
    def.cooling = mn_cook_float(cook, "cooling");
    def.dissipation = mn_cook_float(cook, "dissipation");
    def.source_density = mn_cook_float(cook, "source_density");
    def.source_temperature = mn_cook_float(cook, "source_temperature");
    def.source_color = mn_cook_vec3(cook, "source_color");
    def.source_inherit = mn_cook_float(cook, "inherit_velocity");
    def.advection = (mn_flow_advection)mn_cook_menu(cook, "advection");
    def.cfl = mn_cook_float(cook, "cfl");
    def.tolerance = mn_cook_float(cook, "tolerance");
    def.min_substeps = (int32_t)mn_cook_int(cook, "min_substeps");
    def.max_substeps = (int32_t)mn_cook_int(cook, "max_substeps");
    if (def.max_substeps < def.min_substeps) def.max_substeps = def.min_substeps;
    return def;
}

// ---- the callbacks ----

static mn_status create(const mn_cook *cook, void **state)
{
    const mn_flow_def def = def_of(cook);
    mn_collider *source = NULL, *collider = NULL;
    mn_flow *flow = NULL;
    mn_status status;
    if (def.fluid == MN_FLOW_LIQUID && !(def.level > -INFINITY) && !mn_cook_input(cook, INPUT_SOURCE))
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "there is no liquid: switch on Still Water, or connect a level set to the source.");
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_SOURCE, &source));
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    const mn_flow_inputs inputs = {.collider = collider, .source = source};
    MN_TRY_TO(out, status, mn_flow_create(cook->ctx, &def, &inputs, &flow));
    *state = flow;
out:
    mn_collider_free(source);
    mn_collider_free(collider);
    return status;
}

typedef MN_ARRAY(mn_flow_drop) drop_array;

static mn_status read_drops(const mn_cook *cook, drop_array *drops)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_DROPS);
    if (!geo) return MN_OK;
    const int64_t count = mn_geo_point_count(geo);
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    MN_TRY(mn_array_resize(cook->ctx, drops, count));
    for (int64_t i = 0; i < count; i++) {
        mn_flow_drop *drop = &drops->data[i];
        drop->position = mn_geo_position(geo, i);
        drop->velocity = mn_v3(0, 0, 0);
        if (v) mn_attribute_get(v, i, 1, &drop->velocity.x);
        drop->radius = mn_column_number(geo, "pscale", i, 0.001);
        if (!mn_is_finite3(drop->position) || !mn_is_finite3(drop->velocity) || !(drop->radius >= 0))
            return mn_cook_fail(cook, MN_ERROR_INPUT,
                                "drop %lld has a position, velocity or pscale that is not a number.",
                                (long long)i);
    }
    return MN_OK;
}

static mn_status advance(const mn_cook *cook, void *state)
{
    const mn_flow_def def = def_of(cook);
    const int32_t emit = mn_cook_menu(cook, "emit");
    mn_collider *source = NULL, *collider = NULL;
    drop_array drops = {0};
    mn_status status;
    if (emit == EMIT_ALWAYS || (emit == EMIT_AUTO && def.fluid == MN_FLOW_SMOKE))
        MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_SOURCE, &source));
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    MN_TRY_TO(out, status, read_drops(cook, &drops));
    MN_TRY_TO(out, status, mn_flow_set_def(state, &def));
    const mn_flow_inputs inputs = {
        .collider = collider, .source = source, .drop_count = drops.count, .drops = drops.data};
    status = mn_flow_advance(state, &inputs, cook->dt);
out:
    mn_array_free(cook->ctx, &drops);
    mn_collider_free(source);
    mn_collider_free(collider);
    return status;
}

// ---- volumes ----

/// One field of the cells as a volume: blocks of 4^3 voxels, x fastest.
typedef struct field {
    const char *name;
    mn_volume_kind kind;
    int32_t components;
    double background;
    const double (*values)[4];
    int32_t first;             ///< component of the quad
    const double (*weight)[4]; ///< divides by its first component where that is above 0; NULL: no division
    double scale;
} field;

/// A cell's number along an axis in the world's lattice.
static void origin_of(const mn_flow_view *view, int32_t origin[3])
{
    const double o[3] = {view->origin.x, view->origin.y, view->origin.z};
    for (int32_t a = 0; a < 3; a++) origin[a] = (int32_t)floor(o[a] / view->dx + 0.5);
}

static mn_status add_field(const mn_cook *cook, const mn_flow_view *view, const int32_t inside[3],
                           const field *f, mn_geo *geo)
{
    const mn_services *services = cook->services;
    if (!services || !services->volume_from_blocks)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED,
                            "this host cannot make volumes; set output to polygons.");
    int32_t(*origins)[3] = mn_allocate(cook->ctx, mn_bytes(view->block_count, sizeof *origins));
    double *values = mn_allocate(cook->ctx, mn_bytes(view->block_count * 64 * f->components, sizeof *values));
    int32_t lattice[3];
    int64_t kept = 0;
    mn_volume volume = {0};
    mn_status status = MN_OK;
    origin_of(view, lattice);
    if (view->block_count > 0 && (!origins || !values)) {
        status = MN_ERROR_MEMORY;
        goto out;
    }
    for (int64_t b = 0; b < view->block_count; b++) {
        bool any = false;
        double *to = values + kept * 64 * f->components;
        for (int32_t k = 0; k < 64; k++) {
            const int32_t local[3] = {k & 3, k >> 2 & 3, k >> 4};
            const int64_t at = b * 64 + 16 * local[0] + 4 * local[1] + local[2];
            double out = 0; // cells outside of the box: how far
            for (int32_t a = 0; a < 3; a++) {
                const int32_t c = 4 * view->blocks[b][a] + local[a];
                out = fmax(out, c < 1 ? 0.5 - c : c > inside[a] ? c - inside[a] - 0.5 : 0);
            }
            const double weight = f->weight ? f->weight[at][0] : 1;
            for (int32_t c = 0; c < f->components; c++) {
                double v = f->values[at][f->first + c] * f->scale;
                if (f->weight) v = weight > 1e-6 ? v / weight : 0;
                if (f->kind == MN_VOLUME_LEVEL_SET)
                    v = fmin(fmax(fmax(v, out > 0 ? out * f->scale : -INFINITY), -f->background),
                             f->background);
                else if (out > 0)
                    v = 0;
                if (fabs(v) < 1e-6 * f->scale && f->kind == MN_VOLUME_FOG) v = 0;
                any |= v != f->background;
                to[k * f->components + c] = v;
            }
        }
        if (!any) continue;
        for (int32_t a = 0; a < 3; a++) origins[kept][a] = lattice[a] + 4 * view->blocks[b][a];
        kept++;
    }
    MN_TRY_TO(out, status,
              services->volume_from_blocks(services->user, cook->ctx, f->name, f->kind, view->dx,
                                           f->background, f->components, 4, kept,
                                           (const int32_t(*)[3])origins, values, &volume));
    status = mn_geo_add_volume(geo, volume, -1, NULL);
out:
    mn_volume_release(&volume);
    mn_release(cook->ctx, origins, mn_bytes(view->block_count, sizeof *origins));
    mn_release(cook->ctx, values, mn_bytes(view->block_count * 64 * f->components, sizeof *values));
    return status;
}

/// Polygons of the surface, with the liquid's velocity.
static mn_status add_polygons(const mn_cook *cook, mn_flow *flow, const mn_geo *volumes, mn_geo **out)
{
    float *v;
    MN_TRY(cook->services->level_set_to_mesh(cook->services->user, cook->ctx,
                                             mn_geo_find_volume(volumes, "surface"), 0, 0, out));
    const int64_t count = mn_geo_point_count(*out);
    MN_TRY(mn_column_add(*out, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    for (int64_t i = 0; i < count; i++)
        mn_column_put3(v, i, mn_flow_velocity_at(flow, mn_geo_position(*out, i)));
    return MN_OK;
}

static mn_status emit(const mn_cook *cook, void *state, int32_t output_number, mn_geo **out_geo)
{
    (void)output_number;
    mn_flow *flow = state;
    mn_flow_view view;
    mn_geo *geo = NULL, *polygons = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_flow_get(flow, &view));
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &geo));
    const field vel = {"vel", MN_VOLUME_FOG, 3, 0, view.velocity, 0, NULL, 1};
    if (view.smoke) {
        const field fields[] = {{"density", MN_VOLUME_FOG, 1, 0, view.smoke, 0, NULL, 1},
                                {"temperature", MN_VOLUME_FOG, 1, 0, view.smoke, 1, NULL, 1},
                                {"Cd", MN_VOLUME_FOG, 3, 0, view.color, 0, view.smoke, 1},
                                vel};
        for (int32_t k = 0; k < 4; k++)
            MN_TRY_TO(out, status, add_field(cook, &view, view.cells, &fields[k], geo));
    } else {
        const int32_t output = mn_cook_menu(cook, "output");
        const field surface = {"surface", MN_VOLUME_LEVEL_SET, 1, 3 * view.dx, view.surface, 0, NULL,
                               view.dx};
        MN_TRY_TO(out, status, add_field(cook, &view, view.cells, &surface, geo));
        if (output != OUTPUT_VOLUMES) MN_TRY_TO(out, status, add_polygons(cook, flow, geo, &polygons));
        if (output != OUTPUT_POLYGONS) MN_TRY_TO(out, status, add_field(cook, &view, view.cells, &vel, geo));
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

static mn_status save(const mn_cook *cook, const void *state, mn_writer *out)
{
    (void)cook;
    return mn_flow_save(state, out);
}

static mn_status load(const mn_cook *cook, mn_reader *in, void **state)
{
    const mn_flow_def def = def_of(cook);
    mn_flow *flow = NULL;
    MN_TRY(mn_flow_load(cook->ctx, &def, in, &flow));
    *state = flow;
    return MN_OK;
}

static void report(const void *state, mn_report *out)
{
    mn_flow_report(state, out);
}

static void release(mn_context *ctx, void *state)
{
    (void)ctx;
    mn_flow_free(state);
}

// ---- doctor ----

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    const mn_flow_def def = def_of(cook);
    const double cells = (def.domain_size.x / def.dx) * (def.domain_size.y / def.dx) *
                         (def.flat ? 1 : def.domain_size.z / def.dx);
    d->number(d->user, "cells in the box", cells, "",
              def.fluid == MN_FLOW_LIQUID ? "a liquid takes those near it" : "");
    d->number(d->user, "memory", cells * 700e-6, "MB", "at most");
    if (def.fluid != MN_FLOW_LIQUID) return MN_OK;
    const double g = mn_norm(def.gravity), ripple = 10 * def.dx, k = 6.283185307179586 / ripple;
    d->number(d->user, "shortest ripple", 1000 * ripple, "mm",
              "ten cells; shorter ones run too slowly or fade");
    if (def.sigma > 0) {
        const double step = sqrt(def.density * def.dx * def.dx * def.dx / (3.14159265358979 * def.sigma));
        d->number(d->user, "speed of that ripple", sqrt(g / k + def.sigma * k / def.density), "m/s", "");
        d->number(d->user, "longest step", 1000 * def.surface_tension_limit * step, "ms",
                  "set by surface tension");
        if (cook->dt > 0)
            d->number(d->user, "steps per frame", ceil(cook->dt / (def.surface_tension_limit * step)), "",
                      "at least");
    }
    return MN_OK;
}

static const mn_sim_ops sim = {create, advance, emit, save, load, report, release};

const mn_node_type mn_flow_solver_node = {
    .name = "flow_solver",
    .label = "Meniscus Flow Solver",
    .menu = "Meniscus/Solvers",
    .help = "Simulates smoke and ink in a box, or ponds, waves and ripples with a free surface.",
    .inputs = inputs_of,
    .input_count = MN_COUNT_OF(inputs_of),
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms,
    .parm_count = MN_COUNT_OF(parms),
    .time_dependent = true,
    .sim = &sim,
    .doctor = doctor,
};
