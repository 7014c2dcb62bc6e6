// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver: liquids with surface tension by the material point method. Numerics and parameters are
// mn_mpm_solver's; this file says what the inputs are, and when points become liquid.
#include "nodes/domain.h"
#include "nodes/materials.h"
#include "nodes/mpm_bodies.h"
#include "nodes/mpm_doctor.h"
#include "nodes/mpm_input.h"
#include "nodes/solver_node.h"

enum { INPUT_LIQUID, INPUT_COLLIDERS, INPUT_EMITTERS, INPUT_SINKS, INPUT_BODIES, INPUT_FIELDS, INPUT_COUNT };
// In the order of their menus.
enum { SOURCE_START, SOURCE_NEW_IDS, SOURCE_EVERY_FRAME };
enum { SIDE_SAME, SIDE_OPEN };
enum { EMIT_V, EMIT_NORMAL };
enum { OUTPUT_PARTICLES, OUTPUT_SURFACE, OUTPUT_BODIES, OUTPUT_SAMPLES };

static const mn_input_def inputs_of[] = {
    [INPUT_LIQUID] =
        {"Liquid",
         "points of liquid, eight to a cell; v, mass, density, sigma, viscosity, id and liquid (0 or "
         "1, see interfacial_tension) are used",
         false, false},
    [INPUT_COLLIDERS] = MN_INPUT_COLLIDERS,
    [INPUT_EMITTERS] =
        {"Emitters",
         "polygons, or points as discs of radius pscale, that liquid comes out of, moving or still; v, "
         "N, sigma, viscosity and density are used",
         false, false},
    [INPUT_SINKS] = MN_INPUT_SINKS,
    [INPUT_BODIES] =
        {"Bodies",
         "what the liquid moves: tetrahedra as soft solids, polygons as rigid bodies or cloth; v, "
         "rest, density, young, pinned and contact_angle are used",
         false, false},
    [INPUT_FIELDS] = {"Fields",
                      "volumes: force (m/s^2) and vel (the wind, m/s), sigma and viscosity, from field nodes "
                      "or files",
                      false, false},
};
static const mn_role roles[] = {
    [INPUT_LIQUID] = MN_ROLE_OWN, [INPUT_COLLIDERS] = MN_ROLE_COLLIDER, [INPUT_EMITTERS] = MN_ROLE_OWN,
    [INPUT_SINKS] = MN_ROLE_SINK, [INPUT_BODIES] = MN_ROLE_OWN,         [INPUT_FIELDS] = MN_ROLE_FIELDS,
};
static const mn_output_def outputs_of[] = {
    [OUTPUT_PARTICLES] =
        {"Particles",
         "points with v, id, mass, density, J, pressure, pscale, sigma, viscosity, age, and liquid of two"},
    [OUTPUT_SURFACE] = {"Surface", "closed polygons with v, and liquid of two"},
    [OUTPUT_BODIES] =
        {"Bodies",
         "tetrahedra of soft solids, triangles of the others; points with v, rest, stress, contact_force, body "
         "and id"},
    [OUTPUT_SAMPLES] =
        {"Surface Samples",
         "points that surface tension acts at, with N, area, sigma and liquid (0 or 1 around one of two "
         "liquids, -1 around all), and those that share mass with them, where balance is 1"},
};

static mn_status finish_def(const mn_cook *cook, const mn_solver *solver, void *filled)
{
    (void)solver;
    mn_mpm_def *def = filled;
    // Bodies and liquid are solved for together.
    const mn_geo *bodies = mn_cook_input(cook, INPUT_BODIES);
    if (bodies && mn_geo_point_count(bodies) > 0 && def->integrator == MN_MPM_EXPLICIT)
        def->integrator = MN_MPM_IMPLICIT;
    def->collider = (mn_mpm_wall)(MN_MPM_SLIP + mn_cook_menu(cook, "collider_boundary"));
    if (!mn_cook_toggle(cook, "use_domain")) return MN_OK;
    def->domain = mn_domain_box(cook);
    for (int i = 0; i < 6; i++) {
        const int32_t side = mn_domain_side(cook, i);
        def->wall[i] = (mn_mpm_wall)(side == SIDE_SAME ? mn_cook_menu(cook, "boundary") : side - SIDE_OPEN);
    }
    return MN_OK;
}

/// Which ids the node has seen, and the emitter of the frame.
typedef struct mpm_own {
    mn_id_array seen; ///< rising; only when points with new ids are asked for
    mn_mpm_outlet outlet;
    mn_mpm_floaters floaters;
} mpm_own;

static mn_status add_liquid(const mn_cook *cook, mn_mpm *mpm, mpm_own *own, bool first)
{
    const int32_t mode = mn_cook_menu(cook, "source");
    const mn_geo *geo = mn_cook_input(cook, INPUT_LIQUID);
    if (!geo || (!first && mode == SOURCE_START)) return MN_OK;
    mn_mpm_liquid liquid;
    mn_mpm_source *source = &liquid.source;
    mn_mpm_def def;
    MN_TRY(mn_solver_node_def(cook, &def));
    if (first) mn_material_compare(cook, geo);
    mn_status status = mn_mpm_liquid_read(cook->ctx, &def, geo, &liquid);
    if (status == MN_OK && mode == SOURCE_NEW_IDS && source->count > 0) {
        if (source->id)
            status = mn_mpm_liquid_keep_new(cook->ctx, &liquid, &own->seen);
        else
            status = mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "points with new ids are asked for but the input has no id attribute, or one that repeats.");
    }
    // Points that come in again and again cannot keep their ids, nor those that share them with an emitter's.
    if (!first && (mode == SOURCE_EVERY_FRAME || mn_cook_input(cook, INPUT_EMITTERS))) source->id = NULL;
    source->only_free = !first && mode == SOURCE_EVERY_FRAME;
    if (status == MN_OK) status = mn_mpm_add(mpm, source);
    mn_mpm_liquid_free(cook->ctx, &liquid);
    return status;
}

static mn_status follow_input(const mn_cook *cook, mn_mpm *mpm)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_LIQUID);
    mn_mpm_def def;
    if (!geo || !mn_cook_toggle(cook, "follow_input")) return MN_OK;
    if (mn_cook_menu(cook, "source") == SOURCE_EVERY_FRAME)
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT,
                            "follow_input needs points that keep their ids; take the input at the start "
                            "frame, or points with new ids, instead of all points every frame.");
    MN_TRY(mn_solver_node_def(cook, &def));
    return mn_mpm_liquid_follow(cook, &def, geo, mpm);
}

// ---- the hooks ----

static const mn_mpm_floaters_from bodies_from = {INPUT_BODIES, INPUT_COLLIDERS};

static mn_status start(const mn_cook *cook, mn_solver *solver, void *own)
{
    MN_TRY(add_liquid(cook, (mn_mpm *)solver, own, true));
    MN_TRY(mn_mpm_floaters_start(cook, &bodies_from, &((mpm_own *)own)->floaters));
    mn_mpm_warn_resolution(cook, mn_cook_input(cook, INPUT_LIQUID), (mn_mpm *)solver);
    return MN_OK;
}

// At the start frame the liquid is there already.
static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    mpm_own *own = memory;
    MN_TRY(mn_mpm_floaters_feed(cook, &bodies_from, &own->floaters, (mn_mpm *)solver,
                                feeding == MN_FEED_ADVANCE));
    if (feeding == MN_FEED_EMIT) return MN_OK;
    if (feeding == MN_FEED_ADVANCE) {
        MN_TRY(add_liquid(cook, (mn_mpm *)solver, own, false));
        MN_TRY(follow_input(cook, (mn_mpm *)solver));
    }
    mn_mpm_outlet_free(cook->ctx, &own->outlet);
    MN_TRY(mn_mpm_outlet_read(cook, mn_cook_input(cook, INPUT_EMITTERS), mn_cook_menu(cook, "emit") == EMIT_V,
                              &own->outlet));
    inputs->own = &own->outlet.emitter;
    return MN_OK;
}

// Says so before the first frame when a frame will take long.
static mn_status after(const mn_cook *cook, mn_solver *solver)
{
    mn_mpm_def def;
    mn_mpm_numbers n = {.binding = ""};
    char text[400];
    if (mn_cook_input(cook, INPUT_EMITTERS) && mn_mpm_is_full((mn_mpm *)solver))
        mn_cook_warn(
            cook, "The domain is full, so the emitters have stopped; make it larger, open a wall, or add a "
                  "sink.");
    if (solver->time > 0) return MN_OK;
    MN_TRY(mn_solver_node_def(cook, &def));
    MN_TRY(mn_mpm_expect_steps((mn_mpm *)solver, cook->dt, &n));
    solver->warned = mn_mpm_many_steps(&def, &n, text, sizeof text);
    if (solver->warned) mn_cook_warn(cook, "%s", text);
    return MN_OK;
}

static mn_status save_own(const void *own, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, "mpm_solver", 3));
    MN_TRY(mn_write_array(out, &((const mpm_own *)own)->seen));
    return mn_mpm_floaters_save(&((const mpm_own *)own)->floaters, out);
}

static mn_status load_own(const mn_cook *cook, void *own, mn_reader *in)
{
    int32_t version;
    MN_TRY(mn_read_tag(in, "mpm_solver", 3, &version));
    MN_TRY(mn_read_array(in, &((mpm_own *)own)->seen));
    return version < 3 ? MN_OK : mn_mpm_floaters_load(cook, INPUT_COUNT, &((mpm_own *)own)->floaters, in);
}

static void free_own(mn_context *ctx, void *memory)
{
    mpm_own *own = memory;
    mn_array_free(ctx, &own->seen);
    mn_mpm_outlet_free(ctx, &own->outlet);
    mn_mpm_floaters_free(ctx, &own->floaters);
}

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    mn_mpm_def def;
    mn_mpm_numbers n;
    void *state = NULL;
    MN_TRY(mn_solver_node_def(cook, &def));
    MN_TRY(mn_solver_ops.create(cook, &state));
    mn_mpm *mpm = (mn_mpm *)mn_solver_node_solver(state);
    const int64_t count = mn_mpm_count(mpm);
    const mn_status status = mn_mpm_diagnose(mpm, cook->dt, &n);
    mn_solver_ops.free(cook->ctx, state);
    MN_TRY(status);
    if (mn_cook_input(cook, INPUT_EMITTERS)) mn_mpm_doctor_emitters(cook, &n, d);
    if (count > 0)
        mn_mpm_doctor_liquid(cook, &def, &n, d);
    else
        d->sentence(d->user, "There is no liquid at the first frame.");
    return MN_OK;
}

static mn_vec3 emitter_velocity(const mn_cook *cook, mn_vec3 v, mn_vec3 normal)
{
    if (mn_cook_menu(cook, "emit") == EMIT_V) return v;
    return mn_axpy(v, mn_cook_float(cook, "emit_speed"), normal);
}

static const mn_emitter_guide emitters[] = {{INPUT_EMITTERS, emitter_velocity}};
static const mn_guide_table guides = {emitters, 1, true, INPUT_COLLIDERS, OUTPUT_SURFACE};

static const mn_solver_node solver_node = {
    .solver = &mn_mpm_solver,
    .roles = roles,
    .needs = "nothing to simulate: connect points (from fill) to the liquid, or polygons or points to the "
             "emitters.",
    .finish_def = finish_def,
    .start = start,
    .after = after,
    .save_own = save_own,
    .load_own = load_own,
    MN_SOLVER_NODE_OWN(mpm_own, feed, free_own),
};

const mn_node_type mn_mpm_solver_node = {
    MN_SOLVER_NODE("mpm_solver", "Meniscus MPM Solver",
                   "Simulates liquids with surface tension: drops, mercury, merging, splashing and bouncing.",
                   inputs_of, outputs_of, mn_mpm_fields, MN_MPM_FIELD_COUNT, solver_node, doctor, &guides)};
