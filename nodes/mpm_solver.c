// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver: liquids with surface tension by the material point method. The numerics are mn_mpm's; this file
// reads parameters and attributes, calls it, and writes attributes.
#include "nodes/columns.h"
#include "nodes/domain.h"
#include "nodes/inputs.h"
#include "nodes/materials.h"
#include "nodes/mpm_doctor.h"
#include "nodes/mpm_input.h"

enum { INPUT_LIQUID, INPUT_COLLIDERS, INPUT_EMITTERS, INPUT_SINKS };
enum { OUTPUT_PARTICLES, OUTPUT_SURFACE };
enum { SOURCE_START, SOURCE_NEW_IDS, SOURCE_EVERY_FRAME };
enum { SIDE_SAME, SIDE_OPEN };
enum { EMIT_V, EMIT_NORMAL };

// ---- the table ----

// In the order of mn_mpm_surface_particles, mn_mpm_integrator, mn_mpm_transfer and mn_mpm_wall.
static const mn_menu_item surface_items[] = {
    {"resampled", "Resampled (Conserves Momentum)"}, {"massless", "Massless"}, {NULL, NULL}};
static const mn_menu_item integrator_items[] = {
    {"explicit", "Explicit"}, {"semi_implicit", "Semi-Implicit"}, {"implicit", "Implicit"}, {NULL, NULL}};
static const mn_menu_item transfer_items[] = {{"apic", "APIC"}, {"apic_flip", "APIC/FLIP"}, {NULL, NULL}};
static const mn_menu_item boundary_items[] = {{"open", "Open"},         {"slip", "Slip"}, {"stick", "Stick"},
                                              {"separate", "Separate"}, {"sink", "Sink"}, {NULL, NULL}};
static const mn_menu_item side_items[] = {
    {"same", "Same as Boundary"}, {"open", "Open"}, {"slip", "Slip"}, {"stick", "Stick"},
    {"separate", "Separate"},     {"sink", "Sink"}, {NULL, NULL}};
static const mn_menu_item collider_items[] = {
    {"slip", "Slip"}, {"stick", "Stick"}, {"separate", "Separate"}, {NULL, NULL}};
static const mn_menu_item source_items[] = {{"start", "Start Frame Only"},
                                            {"new_ids", "Points with New Ids"},
                                            {"every_frame", "All Points Every Frame"},
                                            {NULL, NULL}};

static const mn_menu_item emit_items[] = {{"v", "With v"}, {"normal", "Along Normals"}, {NULL, NULL}};

#define SIDE(name, label)                                                                                    \
    MN_MENU(name, label, side_items, SIDE_SAME, "Domain", "{ use_domain == 0 }",                             \
            "What happens at this side of the domain.")

static const mn_parm_def parms[] = {
    MN_FLOAT(
        "dx", "Grid Spacing", "m", 0.001, 1e-9, 1e6, 1e-4, 0.1, "Liquid", NULL,
        "Edge of a grid cell. Eight particles fill one; a drop should be at least 8 cells across, 20 for "
        "good motion. Half of it costs about 16 times as much."),
    MN_PARM_MATERIAL("Liquid"),
    MN_FLOAT("sigma", "Surface Tension", "N/m", 0.072, 0, 1e9, 0, 1, "Liquid", MN_WITH_MATERIAL,
             "Water in air 0.072, mercury 0.485. Points with the attribute sigma have their own."),
    MN_FLOAT("density", "Density", "kg/m^3", 1000, 1e-9, 1e12, 100, 14000, "Liquid", MN_WITH_MATERIAL,
             "Water 1000, mercury 13534. Points with the attribute density have their own."),
    MN_FLOAT("viscosity", "Viscosity", "Pa s", 0.001, 0, 1e9, 0, 1, "Liquid", MN_WITH_MATERIAL,
             "Water 0.001, oil 0.1, honey 5. Points with the attribute viscosity have their own."),
    MN_FLOAT(
        "bulk_modulus", "Bulk Modulus", "Pa", 0, 0, 1e15, 0, 1e6, "Liquid", NULL,
        "Stiffness against compression; 0 chooses one that keeps volume changes under one percent. Stiffer "
        "means smaller explicit steps."),
    MN_VEC3("gravity", "Gravity", "m/s^2", 0, -9.81, 0, -1e9, 1e9, -20, 20, "Liquid", NULL,
            "What pulls the liquid."),
    MN_TOGGLE(
        "hydrostatic", "Start at Rest", 0, "Liquid", NULL,
        "Gives the liquid of the start frame the pressures of a pool at rest in its walls and colliders. "
        "Without it a pool settles first."),
    MN_MENU("source", "Take Input", source_items, SOURCE_START, "Liquid", NULL,
            "When points of the input become liquid: once, at the start frame; whenever points come in whose "
            "id has not been seen; or all of them at every frame, where there is no liquid yet."),
    MN_MENU("emit", "Emit", emit_items, EMIT_V, "Emitters", NULL,
            "Liquid leaves emitters with their attribute v, in simulated seconds; or along their normals, on "
            "top of "
            "the emitter's own motion."),
    MN_FLOAT("emit_speed", "Emission Speed", "m/s", 1, 0, 1e6, 0, 10, "Emitters", "{ emit == v }",
             "How fast liquid leaves along the normals."),
    MN_FLOAT("flow_rate", "Flow Rate", "m^3/s", 0, 0, 1e9, 0, 1e-3, "Emitters", NULL,
             "Volume that all emitters give together in a second; 0 takes what their speed and area give. A "
             "litre a "
             "second is 0.001."),
    MN_MENU(
        "integrator", "Integrator", integrator_items, MN_MPM_EXPLICIT, "Solver", NULL,
        "Explicit: many cheap steps, bound by sound and capillary waves. Implicit: few long steps, bound by "
        "how far the liquid moves and by max_dt; waves that a step cannot follow are slowed down. "
        "Semi-implicit: the same with one Newton step."),
    MN_FLOAT("newton_tolerance", "Newton Tolerance", "", 0.05, 1e-12, 0.9, 1e-4, 0.1, "Solver",
             "{ integrator == explicit }",
             "Implicit steps are solved until what is left to change is this share of the step's change of "
             "velocity."),
    MN_FLOAT("max_dt", "Maximum Time Step", "s", 1, 1e-12, 1e6, 1e-5, 0.1, "Solver", NULL,
             "No step is longer than this."),
    MN_FLOAT("cfl", "CFL Number", "", 0.6, 1e-3, 10, 0.1, 1, "Solver", NULL,
             "Cells that the liquid, and with explicit steps sound, may cross in one step; above 1 it is for "
             "implicit steps."),
    MN_MENU("surface_particles", "Surface Particles", surface_items, MN_MPM_RESAMPLED, "Solver", NULL,
            "How surface tension reaches the grid. Resampled is calmer and conserves momentum; massless is a "
            "little cheaper."),
    MN_INT("smoothing", "Surface Smoothing", "", 2, 0, 8, 0, 4, "Solver", NULL,
           "Passes over the level set that surface tension is measured on."),
    MN_TOGGLE("sheets", "Sheets", 1, "Solver", NULL,
              "Gives surface tension to sheets and threads thinner than a cell as well: their edges draw "
              "together to rims, and they do not open in holes."),
    MN_MENU("transfer", "Transfer", transfer_items, MN_MPM_APIC, "Solver", NULL,
            "APIC is calm; the blend with FLIP keeps splashes and jets alive, and noise with them."),
    MN_FLOAT("flip_ratio", "FLIP Ratio", "", 0.95, 0, 1, 0, 1, "Solver", "{ transfer != apic_flip }",
             "Share of their own velocity that particles keep in each step; 0.99 for jets."),
    MN_TOGGLE("use_domain", "Domain", 0, "Domain", NULL, "Encloses the liquid in a box."),
    MN_VEC3("domain_center", "Domain Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Domain",
            "{ use_domain == 0 }", "Middle of the box."),
    MN_VEC3("domain_size", "Domain Size", "m", 1, 1, 1, 0, MN_FAR, 0, 2, "Domain", "{ use_domain == 0 }",
            "Edges of the box."),
    MN_MENU(
        "boundary", "Boundary", boundary_items, MN_MPM_SEPARATE, "Domain", "{ use_domain == 0 }",
        "What the sides of the domain do: nothing; let slip along; hold; let slip and leave, with friction; "
        "or take out what passes."),
    SIDE("boundary_x_min", "Left Side"),
    SIDE("boundary_x_max", "Right Side"),
    SIDE("boundary_y_min", "Floor"),
    SIDE("boundary_y_max", "Ceiling"),
    SIDE("boundary_z_min", "Back Side"),
    SIDE("boundary_z_max", "Front Side"),
    MN_MENU("collider_boundary", "Colliders", collider_items, 2, "Domain", NULL,
            "What colliders do: let slip along; hold; or let slip and leave, with friction."),
    MN_FLOAT("friction", "Friction", "", 0, 0, 1e6, 0, 1, "Domain", NULL,
             "Coulomb's coefficient where liquid slips and may leave."),
    MN_FLOAT(
        "contact_angle", "Contact Angle", "deg", 90, 0, 180, 0, 180, "Domain", NULL,
        "Between the liquid's surface and what it rests on, measured through the liquid: water on clean "
        "glass 20, on plastic 90, on wax 110, on a lotus leaf 160. Colliders may have their own, painted "
        "on their points as contact_angle."),
    MN_TOGGLE("output_surface", "Surface Mesh", 1, "Output", NULL,
              "Fills the second output with the liquid's surface."),
    MN_FLOAT("surface_scale", "Surface Spacing", "cell", 1, 0.1, 1, 0.25, 1, "Output",
             "{ output_surface == 0 }",
             "Spacing of the mesh's level set in grid cells: 0.5 gives four times the triangles."),
    MN_INT("seed", "Seed", "", 0, 0, 2147483647, 0, 100, "Simulation", NULL,
           "Another number shifts the particles that emitters put in by other parts of a cell."),
    MN_PARM_START_FRAME,
    MN_PARM_TIME_SCALE,
    MN_PARM_MIN_SUBSTEPS,
    MN_PARM_MAX_SUBSTEPS,
};

static const mn_input_def inputs_of[] = {
    [INPUT_LIQUID] = {"Liquid",
                      "points of liquid, eight to a cell; v, mass, density, sigma, viscosity and id are used",
                      false, false},
    [INPUT_COLLIDERS] = {"Colliders", "level sets, from collider nodes, moving or still", false, false},
    [INPUT_EMITTERS] =
        {"Emitters",
         "polygons, or points as discs of radius pscale, that liquid comes out of, moving or still; v, "
         "N, sigma, viscosity and density are used",
         false, false},
    [INPUT_SINKS] = {"Sinks", "level sets, from collider nodes, that liquid vanishes in", false, false},
};
static const mn_output_def outputs_of[] = {
    [OUTPUT_PARTICLES] = {"Particles",
                          "points with v, id, mass, density, J, pressure, pscale, sigma, viscosity and age"},
    [OUTPUT_SURFACE] = {"Surface", "closed polygons with v"},
};

static mn_mpm_def def_of(const mn_cook *cook)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = mn_cook_float(cook, "dx");
    def.sigma = mn_cook_material_float(cook, "sigma");
    def.density = mn_cook_material_float(cook, "density");
    def.viscosity = mn_cook_material_float(cook, "viscosity");
    def.bulk_modulus = mn_cook_float(cook, "bulk_modulus");
    def.gravity = mn_cook_vec3(cook, "gravity");
    def.integrator = (mn_mpm_integrator)mn_cook_menu(cook, "integrator");
    def.newton_tolerance = mn_cook_float(cook, "newton_tolerance");
    def.max_dt = mn_cook_float(cook, "max_dt");
    def.cfl = mn_cook_float(cook, "cfl");
    def.surface_particles = (mn_mpm_surface_particles)mn_cook_menu(cook, "surface_particles");
    def.smoothing = (int32_t)mn_cook_int(cook, "smoothing");
    def.sheets = mn_cook_toggle(cook, "sheets");
    def.transfer = (mn_mpm_transfer)mn_cook_menu(cook, "transfer");
    def.flip_ratio = mn_cook_float(cook, "flip_ratio");
    def.collider = (mn_mpm_wall)(MN_MPM_SLIP + mn_cook_menu(cook, "collider_boundary"));
    def.friction = mn_cook_float(cook, "friction");
    def.seed = (uint64_t)mn_cook_int(cook, "seed");
    def.contact_angle = mn_cook_float(cook, "contact_angle");
    def.hydrostatic = mn_cook_toggle(cook, "hydrostatic");
    def.min_substeps = mn_cook_int(cook, "min_substeps");
    def.max_substeps = mn_cook_int(cook, "max_substeps");
    if (def.max_substeps < def.min_substeps) def.max_substeps = def.min_substeps;
    if (!mn_cook_toggle(cook, "use_domain")) return def;
    def.domain = mn_domain_box(cook);
    for (int i = 0; i < 6; i++) {
        const int32_t side = mn_domain_side(cook, i);
        def.wall[i] =
            side == SIDE_SAME ? (mn_mpm_wall)mn_cook_menu(cook, "boundary") : (mn_mpm_wall)(side - SIDE_OPEN);
    }
    return def;
}

// ---- what comes in ----

/// The node's own state: the solver, and which ids it has seen.
typedef struct mpm_state {
    mn_mpm *mpm;
    mn_id_array seen; ///< rising; only when points with new ids are asked for
} mpm_state;

static mn_status add_liquid(const mn_cook *cook, mpm_state *state, bool first)
{
    const int32_t mode = mn_cook_menu(cook, "source");
    const mn_geo *geo = mn_cook_input(cook, INPUT_LIQUID);
    if (!geo || (!first && mode == SOURCE_START)) return MN_OK;
    mn_mpm_liquid liquid;
    mn_mpm_source *source = &liquid.source;
    const mn_mpm_def def = def_of(cook);
    if (first) mn_material_compare(cook, geo);
    mn_status status = mn_mpm_liquid_read(cook->ctx, &def, geo, &liquid);
    if (status == MN_OK && mode == SOURCE_NEW_IDS && source->count > 0) {
        if (source->id)
            status = mn_mpm_liquid_keep_new(cook->ctx, &liquid, &state->seen);
        else
            status = mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "points with new ids are asked for but the input has no id attribute, or one that repeats.");
    }
    // Points that come in again and again cannot keep their ids, nor those that share them with an emitter's.
    if (!first && (mode == SOURCE_EVERY_FRAME || mn_cook_input(cook, INPUT_EMITTERS))) source->id = NULL;
    source->only_free = !first && mode == SOURCE_EVERY_FRAME;
    if (status == MN_OK) status = mn_mpm_add(state->mpm, source);
    mn_mpm_liquid_free(cook->ctx, &liquid);
    return status;
}

static mn_status set_emitter(const mn_cook *cook, mpm_state *state, double seconds)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_EMITTERS);
    const bool along_v = mn_cook_menu(cook, "emit") == EMIT_V;
    mn_mpm_outlet outlet;
    mn_status status = mn_mpm_outlet_read(cook, geo, along_v, mn_cook_float(cook, "dx"), &outlet);
    if (!along_v) outlet.emitter.speed = mn_cook_float(cook, "emit_speed");
    outlet.emitter.flow_rate = mn_cook_float(cook, "flow_rate");
    if (status == MN_OK) status = mn_mpm_set_emitter(state->mpm, &outlet.emitter, seconds);
    mn_mpm_outlet_free(cook->ctx, &outlet);
    if (status == MN_OK && geo && along_v && !mn_geo_find_numeric(geo, MN_POINT, "v", 3) &&
        outlet.emitter.flow_rate == 0)
        mn_cook_warn(
            cook, "The emitter has no v, so nothing comes out of it; give it one, set flow_rate, or let it "
                  "emit along its normals.");
    return status;
}

static void warn_about_resolution(const mn_cook *cook, mn_mpm *mpm)
{
    const double dx = mn_cook_float(cook, "dx");
    const mn_geo *geo = mn_cook_input(cook, INPUT_LIQUID);
    if (!geo || mn_geo_point_count(geo) == 0) return;
    const mn_box box = mn_geo_bounds(geo);
    const double least = fmin(box.max.x - box.min.x, fmin(box.max.y - box.min.y, box.max.z - box.min.z));
    if (!(least > 0))
        mn_cook_warn(cook,
                     "The liquid's points lie in one plane, so it has no thickness; give the solver the "
                     "points of a fill node.");
    else if (least < 4 * dx)
        mn_cook_warn(
            cook, "dx is %g m but the liquid spans only %g m; use dx below %g m for at least 8 cells across.",
            dx, least, least / 8);
    const mn_mpm_packing packing = mn_mpm_get_packing(mpm);
    if (packing.crowded > 0.05)
        mn_cook_warn(
            cook,
            "%.0f %% of the liquid lies where other liquid is: move sources that overlap apart, or take away "
            "a mass that is larger than their particles' share of the volume.",
            100 * packing.crowded);
    else if (packing.per_cell > 0 && packing.per_cell < 3)
        mn_cook_warn(
            cook,
            "There are only %.1f particles in a cell, so the liquid has holes; fill it with the solver's dx "
            "(%g m) for 8.",
            packing.per_cell, dx);
}

// ---- the callbacks ----

static void release(mn_context *ctx, void *state)
{
    mpm_state *s = state;
    if (!s) return;
    mn_mpm_free(s->mpm);
    mn_array_free(ctx, &s->seen);
    mn_release(ctx, s, sizeof *s);
}

static mn_status make_state(const mn_cook *cook, void **out)
{
    if (!mn_cook_input(cook, INPUT_LIQUID) && !mn_cook_input(cook, INPUT_EMITTERS))
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "nothing to simulate: connect points (from fill) to the liquid, or polygons or points to "
            "the emitters.");
    const mn_mpm_def def = def_of(cook);
    mpm_state *state = mn_allocate_zero(cook->ctx, sizeof *state);
    if (!state) return MN_ERROR_MEMORY;
    mn_status status;
    MN_TRY_TO(fail, status, mn_mpm_create(cook->ctx, &def, &state->mpm));
    MN_TRY_TO(fail, status, add_liquid(cook, state, true));
    warn_about_resolution(cook, state->mpm);
    MN_TRY_TO(fail, status, set_emitter(cook, state, 0));
    *out = state;
    return MN_OK;
fail:
    release(cook->ctx, state);
    return status;
}

// Says so before the first frame when a frame will take long.
static mn_status warn_about_steps(const mn_cook *cook, mn_mpm *mpm)
{
    const mn_mpm_def def = def_of(cook);
    mn_mpm_numbers n = {.binding = ""};
    char text[400];
    MN_TRY(mn_mpm_expect_steps(mpm, cook->dt, &n));
    if (mn_mpm_many_steps(&def, &n, text, sizeof text)) mn_cook_warn(cook, "%s", text);
    return MN_OK;
}

static mn_status create(const mn_cook *cook, void **out)
{
    MN_TRY(make_state(cook, out));
    const mn_status status = warn_about_steps(cook, ((mpm_state *)*out)->mpm);
    if (status != MN_OK) release(cook->ctx, *out), *out = NULL;
    return status;
}

static mn_status advance(const mn_cook *cook, void *state)
{
    mpm_state *s = state;
    const mn_mpm_def def = def_of(cook);
    mn_collider *collider = NULL, *sink = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_mpm_set_def(s->mpm, &def));
    MN_TRY_TO(out, status, add_liquid(cook, s, false));
    MN_TRY_TO(out, status, set_emitter(cook, s, cook->dt));
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_SINKS, &sink));
    mn_mpm_set_collider(s->mpm, collider);
    mn_mpm_set_sink(s->mpm, sink);
    status = mn_mpm_advance(s->mpm, cook->dt);
    mn_mpm_set_collider(s->mpm, NULL);
    mn_mpm_set_sink(s->mpm, NULL);
out:
    mn_collider_free(collider);
    mn_collider_free(sink);
    return status;
}

/// The attributes of a particle, in the order they are written.
typedef struct particle_columns {
    float *P, *v, *mass, *density, *J, *pressure, *pscale, *sigma, *viscosity, *age;
    int32_t *id;
} particle_columns;

static mn_status add_columns(mn_geo *geo, particle_columns *c)
{
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &c->P));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &c->v));
    MN_TRY(mn_column_add(geo, "id", MN_I32, 1, MN_HINT_NONE, &c->id));
    MN_TRY(mn_column_add(geo, "mass", MN_F32, 1, MN_HINT_NONE, &c->mass));
    MN_TRY(mn_column_add(geo, "density", MN_F32, 1, MN_HINT_NONE, &c->density));
    MN_TRY(mn_column_add(geo, "J", MN_F32, 1, MN_HINT_NONE, &c->J));
    MN_TRY(mn_column_add(geo, "pressure", MN_F32, 1, MN_HINT_NONE, &c->pressure));
    MN_TRY(mn_column_add(geo, "pscale", MN_F32, 1, MN_HINT_NONE, &c->pscale));
    MN_TRY(mn_column_add(geo, "sigma", MN_F32, 1, MN_HINT_NONE, &c->sigma));
    MN_TRY(mn_column_add(geo, "viscosity", MN_F32, 1, MN_HINT_NONE, &c->viscosity));
    return mn_column_add(geo, "age", MN_F32, 1, MN_HINT_NONE, &c->age);
}

static mn_status write_particles(const mn_cook *cook, const mn_mpm *mpm, mn_geo *geo)
{
    const int64_t count = mn_mpm_count(mpm);
    particle_columns c;
    MN_TRY(mn_geo_add_points(geo, count, NULL));
    MN_TRY(add_columns(geo, &c));
    if (count == 0) return MN_OK;
    mn_mpm_point *points = mn_allocate(cook->ctx, mn_bytes(count, sizeof *points));
    if (!points) return MN_ERROR_MEMORY;
    mn_status status = mn_mpm_get_points(mpm, points);
    for (int64_t i = 0; status == MN_OK && i < count; i++) {
        const mn_mpm_point *p = &points[i];
        mn_column_put3(c.P, i, p->position);
        mn_column_put3(c.v, i, p->velocity);
        c.id[i] = (int32_t)p->id;
        c.mass[i] = (float)p->mass;
        c.density[i] = (float)p->density;
        c.J[i] = (float)p->j;
        c.pressure[i] = (float)p->pressure;
        c.pscale[i] = (float)p->radius;
        c.sigma[i] = (float)p->sigma;
        c.viscosity[i] = (float)p->viscosity;
        c.age[i] = (float)p->age;
    }
    if (status == MN_OK && points[count - 1].id > INT32_MAX)
        status = mn_cook_fail(cook, MN_ERROR_UNSUPPORTED, "ids above two billion cannot be written.");
    mn_release(cook->ctx, points, mn_bytes(count, sizeof *points));
    return status;
}

// The surface ends at the colliders of this frame.
static mn_status find_surface(const mn_cook *cook, mn_mpm *mpm, mn_mpm_mesh *mesh)
{
    mn_collider *collider;
    MN_TRY(mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    mn_mpm_set_collider(mpm, collider);
    const double dx = mn_cook_float(cook, "surface_scale") * mn_cook_float(cook, "dx");
    const mn_status status = mn_mpm_get_surface(mpm, dx, mesh);
    mn_mpm_set_collider(mpm, NULL);
    mn_collider_free(collider);
    return status;
}

static mn_status write_surface(const mn_cook *cook, mn_mpm *mpm, mn_geo *geo)
{
    float *P, *v;
    mn_mpm_mesh mesh = {0};
    if (mn_cook_toggle(cook, "output_surface")) MN_TRY(find_surface(cook, mpm, &mesh));
    MN_TRY(mn_geo_add_points(geo, mesh.vertex_count, NULL));
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &P));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    if (mesh.triangle_count == 0) return MN_OK;
    for (int32_t i = 0; i < mesh.vertex_count; i++) {
        mn_column_put3(P, i, mesh.positions[i]);
        mn_column_put3(v, i, mesh.velocities[i]);
    }
    const int64_t corners = 3 * (int64_t)mesh.triangle_count;
    int64_t *points = mn_allocate(cook->ctx, mn_bytes(corners, sizeof *points));
    if (!points) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < corners; i++) points[i] = mesh.triangles[i / 3][i % 3];
    const mn_status status =
        mn_geo_add_primitives(geo, MN_POLYGON, mesh.triangle_count, NULL, 3, points, NULL);
    mn_release(cook->ctx, points, mn_bytes(corners, sizeof *points));
    return status;
}

static mn_status emit(const mn_cook *cook, void *state, int32_t output, mn_geo **out)
{
    mpm_state *s = state;
    MN_TRY(mn_geo_create(cook->ctx, out));
    const mn_status status =
        output == OUTPUT_PARTICLES ? write_particles(cook, s->mpm, *out) : write_surface(cook, s->mpm, *out);
    if (status != MN_OK) mn_geo_free(*out), *out = NULL;
    return status;
}

static mn_status save(const mn_cook *cook, const void *state, mn_writer *out)
{
    (void)cook;
    const mpm_state *s = state;
    MN_TRY(mn_write_tag(out, "mpm_solver", 2));
    MN_TRY(mn_write_array(out, &s->seen));
    return mn_mpm_save(s->mpm, out);
}

static mn_status load(const mn_cook *cook, mn_reader *in, void **out)
{
    const mn_mpm_def def = def_of(cook);
    int32_t version;
    mpm_state *state = mn_allocate_zero(cook->ctx, sizeof *state);
    if (!state) return MN_ERROR_MEMORY;
    mn_status status;
    MN_TRY_TO(fail, status, mn_read_tag(in, "mpm_solver", 2, &version));
    MN_TRY_TO(fail, status, mn_read_array(in, &state->seen));
    MN_TRY_TO(fail, status, mn_mpm_load(cook->ctx, &def, in, &state->mpm));
    *out = state;
    return MN_OK;
fail:
    release(cook->ctx, state);
    return status;
}

static void report(const void *state, mn_report *out)
{
    mn_mpm_get_report(((const mpm_state *)state)->mpm, out);
}

// ---- doctor ----

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    const mn_mpm_def def = def_of(cook);
    mn_mpm_numbers n;
    void *state = NULL;
    MN_TRY(make_state(cook, &state));
    const int64_t count = mn_mpm_count(((mpm_state *)state)->mpm);
    const mn_status status = mn_mpm_diagnose(((mpm_state *)state)->mpm, cook->dt, &n);
    release(cook->ctx, state);
    MN_TRY(status);
    if (mn_cook_input(cook, INPUT_EMITTERS)) mn_mpm_doctor_emitters(cook, &n, d);
    if (count > 0)
        mn_mpm_doctor_liquid(cook, &def, &n, d);
    else
        d->sentence(d->user, "There is no liquid at the first frame.");
    return MN_OK;
}

static const mn_sim_ops sim = {create, advance, emit, save, load, report, release};

const mn_node_type mn_mpm_solver_node = {
    .name = "mpm_solver",
    .label = "Meniscus MPM Solver",
    .menu = "Meniscus/Solvers",
    .help = "Simulates liquids with surface tension: drops, mercury, merging, splashing and bouncing.",
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
