// SPDX-License-Identifier: Apache-2.0
//
// tet_solver: liquids with surface tension, and solids, on tetrahedra that move with them. Numerics and
// parameters are mn_tet_liquid_solver's; this file reads tetrahedra, materials and the emitter.
#include "meniscus/tet.h"
#include "nodes/domain.h"
#include "nodes/solver_node.h"
#include "nodes/tet_columns.h"
#include "nodes/tet_emitters.h"
#include "tetmesh/geo.h"

enum { INPUT_LIQUID, INPUT_COLLIDERS, INPUT_EMITTERS, INPUT_SINKS, INPUT_FIELDS };
enum { SIDE_SOLID, SIDE_OPEN };

#define NO_TETRAHEDRA "the input holds no tetrahedra; make them with tetrahedralize first."

static const mn_input_def inputs_of[] = {
    [INPUT_LIQUID] =
        {"Liquid",
         "tetrahedra, from tetrahedralize or tet_material; v, rest_volume, rest, temperature, pin and "
         "heat_source are used",
         false, false},
    [INPUT_COLLIDERS] = MN_INPUT_COLLIDERS,
    [INPUT_EMITTERS] = MN_INPUT_TET_EMITTERS,
    [INPUT_SINKS] = MN_INPUT_SINKS,
    [INPUT_FIELDS] = {"Fields", "volumes named force (m/s^2) and heat (W/m^3), from field nodes or files",
                      false, false},
};
static const mn_role roles[] = {
    [INPUT_LIQUID] = MN_ROLE_OWN, [INPUT_COLLIDERS] = MN_ROLE_COLLIDER, [INPUT_EMITTERS] = MN_ROLE_OWN,
    [INPUT_SINKS] = MN_ROLE_SINK, [INPUT_FIELDS] = MN_ROLE_FIELDS,
};
static const mn_output_def outputs_of[] = {
    [MN_TET_OUTPUT_TETRAHEDRA] =
        {"Tetrahedra", "tetrahedra with rest_volume; points with v, pressure and id. With "
                       "materials also material, solid, stress, plastic_strain, damage and temperature"},
    [MN_TET_OUTPUT_SURFACE] =
        {"Surface", "triangles that face out; points with v, N, pressure and id. With materials "
                    "also solid, temperature, stress, plastic_strain and damage, which blend, and material, "
                    "solid, stress, plastic_strain and damage of each triangle"},
    [MN_TET_OUTPUT_SOLID_SURFACE] = {"Solid Surface",
                                     "the surface of what is solid, also where it lies in liquid, for a "
                                     "shader of its own; none without materials"},
    [MN_TET_OUTPUT_LIQUID_SURFACE] = {"Liquid Surface",
                                      "those triangles of the surface that are liquid or molten"},
};

static mn_status finish_def(const mn_cook *cook, const mn_solver *solver, void *filled)
{
    (void)solver;
    mn_tet_liquid_def *def = filled;
    if (!mn_cook_toggle(cook, "use_domain")) return MN_OK;
    def->domain = mn_domain_box(cook);
    for (int i = 0; i < 6; i++) def->wall[i] = mn_domain_side(cook, i) == SIDE_SOLID;
    return MN_OK;
}

// ---- what comes in ----

static bool has_tetrahedra(const mn_geo *geo)
{
    return geo && mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0;
}

/// What the simulation starts from: the liquid or, without one, what is in the mouth of the pipe.
static const mn_geo *first_liquid(const mn_cook *cook)
{
    const mn_geo *liquid = mn_cook_input(cook, INPUT_LIQUID), *emitter = mn_cook_input(cook, INPUT_EMITTERS);
    return has_tetrahedra(liquid) ? liquid : has_tetrahedra(emitter) ? emitter : NULL;
}

static void warn_of_repairs(const mn_cook *cook, const mn_tet_repairs *repairs)
{
    if (repairs->turned + repairs->flat + repairs->duplicates == 0) return;
    mn_cook_warn(cook,
                 "Repaired the input: %lld inverted tetrahedra turned, %lld flat and %lld duplicate ones "
                 "left out, the first is primitive %lld.",
                 (long long)repairs->turned, (long long)repairs->flat, (long long)repairs->duplicates,
                 (long long)repairs->first);
}

static mn_status add_liquid(const mn_cook *cook, const mn_geo *geo, mn_tet_mesh *mesh, mn_tet_liquid *liquid)
{
    const mn_tet_liquid_def *def = mn_tet_liquid_get_def(liquid);
    mn_tet_materials materials;
    MN_TRY(mn_tet_read_materials(geo, def, mesh, &materials));
    MN_TRY(mn_tet_liquid_set_mesh(liquid, mesh));
    if (materials.count > 0) return mn_tet_liquid_set_materials(liquid, materials.count, materials.list);
    if (def->heat)
        mn_cook_warn(cook,
                     "Heat is on, but the tetrahedra have no material; put a tet_material node before.");
    return MN_OK;
}

static mn_status start(const mn_cook *cook, mn_solver *solver, void *own)
{
    const mn_geo *geo = first_liquid(cook);
    mn_tet_mesh *mesh;
    mn_tet_repairs repairs;
    (void)own;
    if (!geo) return mn_cook_fail(cook, MN_ERROR_INPUT, NO_TETRAHEDRA);
    MN_TRY(mn_tet_mesh_from_geo(geo, true, &mesh, &repairs));
    warn_of_repairs(cook, &repairs);
    const mn_status status = add_liquid(cook, geo, mesh, (mn_tet_liquid *)solver);
    mn_tet_mesh_free(mesh);
    return status;
}

static void free_own(mn_context *ctx, void *memory)
{
    mn_tet_emitters_free(ctx, memory);
}

static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    mn_tet_emitters *emitters = memory;
    if (feeding != MN_FEED_ADVANCE) return MN_OK;
    MN_TRY(mn_tet_emitters_read(cook, INPUT_EMITTERS, solver->time == 0, emitters));
    if (emitters->pipes.count > 0) inputs->own = emitters->pipes.data;
    return MN_OK;
}

static mn_status after(const mn_cook *cook, mn_solver *solver)
{
    mn_tet_rescues rescues;
    mn_tet_liquid_get_rescues((const mn_tet_liquid *)solver, &rescues);
    if (rescues.coasted > 0)
        mn_cook_warn(cook,
                     "%lld steps of this frame could not be solved, and the liquid moved by inertia alone; "
                     "use a smaller size where it is thin, or a lower max_dt.",
                     (long long)rescues.coasted);
    if (rescues.boiling > 0)
        mn_cook_warn(
            cook,
            "The melt would be as hot as %.0f K, far beyond where it boils. There is no vapour: it stays at "
            "three times its melting point, and the heat beyond that is lost. Lower air_temperature, "
            "collider_temperature or the heat source.",
            rescues.boiling);
    return MN_OK;
}

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    void *state = NULL;
    mn_tet_liquid_numbers n;
    if (!first_liquid(cook)) {
        d->sentence(d->user, "The liquid input has no tetrahedra at the first frame.");
        return MN_OK;
    }
    MN_TRY(mn_solver_ops.create(cook, &state));
    mn_tet_liquid_diagnose((mn_tet_liquid *)mn_solver_node_solver(state), cook->dt, &n);
    mn_solver_ops.free(cook->ctx, state);
    d->number(d->user, "edges across a ball of the liquid", n.edges_across, "",
              n.edges_across < 6 ? "use a smaller size: at least 6" : "");
    d->number(d->user, "capillary time", n.capillary_time, "s", "time scale of the drop's oscillation");
    d->number(d->user, "Ohnesorge number", n.ohnesorge, "",
              n.ohnesorge > 1 ? "viscosity wins" : "it will oscillate");
    d->number(d->user, "Bond number", n.bond, "", n.bond > 1 ? "gravity flattens it" : "it stays round");
    d->number(d->user, "Weber number", n.weber, "", "at its initial speed");
    d->number(d->user, "time step", n.step, "s", "");
    d->number(d->user, "steps per frame", n.steps, "", "");
    d->number(d->user, "memory", n.bytes * 1e-6, "MB", "");
    return MN_OK;
}

static const mn_emitter_guide emitters[] = {{INPUT_EMITTERS, mn_tet_emitter_velocity}};
static const mn_guide_table guides = {emitters, 1, true, INPUT_COLLIDERS, MN_TET_OUTPUT_SURFACE};

static const mn_solver_node solver = {
    .solver = &mn_tet_liquid_solver,
    .roles = roles,
    .needs = NO_TETRAHEDRA,
    .finish_def = finish_def,
    .start = start,
    .after = after,
    MN_SOLVER_NODE_OWN(mn_tet_emitters, feed, free_own),
};

const mn_node_type mn_tet_solver_node = {MN_SOLVER_NODE(
    "tet_solver", "Meniscus Tet Solver",
    "Simulates liquids with surface tension on tetrahedra that move along: sharp surfaces, exact volume, hardly any numerical damping.",
    inputs_of, outputs_of, mn_tet_liquid_fields, MN_TET_LIQUID_FIELD_COUNT, solver, doctor, &guides)};
