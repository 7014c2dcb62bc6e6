// SPDX-License-Identifier: Apache-2.0
//
// mls_solver: films, threads and volumes of liquid. Numerics and parameters are mn_codim_solver's; this file
// reads what its sources bring, and says what doctor tells.
#include "nodes/codim_film.h"
#include "nodes/codim_inflow.h"
#include "nodes/codim_jets.h"
#include "nodes/codim_liquid.h"
#include "nodes/inputs.h"
#include "nodes/solver_node.h"

#include <string.h>

enum { INPUT_FILM, INPUT_WIND, INPUT_COLLIDERS, INPUT_JETS, INPUT_LIQUID, INPUT_INFLOW };

static const mn_input_def inputs_of[] = {
    [INPUT_FILM] = {"Film",
                    "points with N and thickness, from film sources; pinned ones are followed over time",
                    false, false},
    [INPUT_WIND] = MN_INPUT_WIND,
    [INPUT_COLLIDERS] = MN_INPUT_COLLIDERS,
    [INPUT_JETS] = {"Jets", "curves with v and thickness that film comes out of, from jet sources", false,
                    false},
    [INPUT_LIQUID] = {"Liquid", "closed polygons, or points with mass from a fill: volumes at the start",
                      false, false},
    [INPUT_INFLOW] = {"Inflow", "a closed mesh that is always full, and that liquid leaves with its v", false,
                      false},
};
static const mn_role roles[] = {
    [INPUT_FILM] = MN_ROLE_OWN, [INPUT_WIND] = MN_ROLE_WIND,  [INPUT_COLLIDERS] = MN_ROLE_COLLIDER,
    [INPUT_JETS] = MN_ROLE_OWN, [INPUT_LIQUID] = MN_ROLE_OWN, [INPUT_INFLOW] = MN_ROLE_OWN,
};
static const mn_output_def outputs_of[] = {
    [MN_CODIM_OUTPUT_ALL] =
        {"All",
         "points with v, N, id, thickness, mass, codim, rim (1 on free edges of films), pressure and pscale, "
         "and curvature where it is on; triangles of films and of the skin of volumes (skin is 1 there), and "
         "polylines of threads between them"},
    [MN_CODIM_OUTPUT_FILMS] = {"Films", "the points and triangles of films alone"},
    [MN_CODIM_OUTPUT_THREADS] = {"Threads", "the points and polylines of threads, and drops, alone"},
    [MN_CODIM_OUTPUT_SKIN] = {"Skin", "the surface of volumes alone, closed triangles"},
    [MN_CODIM_OUTPUT_PARTICLES] = {"Particles", "the particles of volumes alone"},
    [MN_CODIM_OUTPUT_SHEETS] = {"Films and Threads",
                                "films, threads and drops without volumes, for film_skin"},
};

// ---- what comes in ----

// The parameter, or what the sources say.
static mn_status spacing_of(const mn_cook *cook, double *spacing)
{
    static const int32_t sources[] = {INPUT_FILM, INPUT_JETS};
    *spacing = mn_cook_float(cook, "spacing");
    for (size_t i = 0; i < sizeof sources / sizeof sources[0] && !(*spacing > 0); i++) {
        const mn_geo *geo = mn_cook_input(cook, sources[i]);
        const mn_attribute *attribute = geo ? mn_geo_find_numeric(geo, MN_DETAIL, "spacing", 1) : NULL;
        if (attribute) mn_attribute_get(attribute, 0, 1, spacing);
    }
    if (!(*spacing > 0)) *spacing = 0.5 * mn_cook_float(cook, "dx");
    if (*spacing > 0) return MN_OK;
    return mn_cook_fail(cook, MN_ERROR_INPUT,
                        "the film does not say how far apart its points are; set the spacing parameter.");
}

// ---- the hooks ----

static mn_status finish_def(const mn_cook *cook, const mn_solver *solver, void *filled)
{
    mn_codim_def *def = filled;
    if (mn_cook_toggle(cook, "use_limits")) def->limit_size = mn_cook_vec3(cook, "limit_size");
    def->spacing = 1;             // until a loaded film says its own
    if (solver) def->spacing = 0; // that of the film
    if (solver || cook->input_count == 0) return MN_OK;
    MN_TRY(mn_codim_film_check(cook, mn_cook_input(cook, INPUT_FILM)));
    return spacing_of(cook, &def->spacing);
}

static mn_status start(const mn_cook *cook, mn_solver *solver, void *own)
{
    (void)own;
    mn_codim *mls = (mn_codim *)solver;
    mn_codim_def def;
    mn_codim_film film;
    MN_TRY(mn_solver_node_def(cook, &def));
    mn_status status = mn_codim_film_read(cook, mn_cook_input(cook, INPUT_FILM), &film);
    if (status == MN_OK && mn_cook_input(cook, INPUT_FILM)) status = mn_codim_add(mls, &film.source);
    if (status == MN_OK)
        status = mn_codim_liquid_add(cook, mn_cook_input(cook, INPUT_LIQUID),
                                     def.dx > 0 ? def.dx : 2 * def.spacing, def.density, mls);
    mn_codim_film_free(cook->ctx, &film);
    if (mn_cook_input(cook, INPUT_LIQUID) || mn_cook_input(cook, INPUT_INFLOW))
        mn_input_warn_paint(cook, mn_cook_input(cook, INPUT_COLLIDERS), 1 << MN_PAINT_CONTACT_ANGLE,
                            "volumes of liquid");
    return status;
}

/// What the sources bring to an advance, and the memory it lies in.
typedef struct codim_own {
    mn_codim_inputs inputs;
    mn_codim_anchors anchors;
    mn_codim_jets jets;
    mn_codim_inflow inflow;
    uint64_t inflow_key;     ///< of the host, for the input that the inflow was made from; 0: none
    mn_vec3 inflow_velocity; ///< that it was made with
} codim_own;

// Its trees of triangles are built again when it changes.
static mn_status read_inflow(const mn_cook *cook, codim_own *own)
{
    const uint64_t key = mn_cook_input_key(cook, INPUT_INFLOW);
    const mn_vec3 velocity = mn_cook_vec3(cook, "inflow_velocity");
    if (key == 0 || key != own->inflow_key || mn_distance(velocity, own->inflow_velocity) > 0) {
        mn_codim_inflow_free(cook->ctx, &own->inflow);
        own->inflow_key = 0;
        MN_TRY(mn_codim_inflow_read(cook, INPUT_INFLOW, &own->inflow));
        own->inflow_key = key, own->inflow_velocity = velocity;
    }
    own->inputs.inflow_count = own->inflow.list.count, own->inputs.inflows = own->inflow.list.data;
    return MN_OK;
}

static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    (void)solver;
    codim_own *own = memory;
    if (feeding != MN_FEED_ADVANCE) return MN_OK;
    own->inputs = (mn_codim_inputs){0};
    MN_TRY(mn_codim_anchors_read(cook->ctx, mn_cook_input(cook, INPUT_FILM), &own->anchors, &own->inputs));
    mn_codim_jets_free(cook->ctx, &own->jets);
    memset(&own->jets, 0, sizeof own->jets);
    MN_TRY(mn_codim_jets_read(cook, INPUT_JETS, &own->jets));
    own->inputs.inlet_count = own->jets.inlets.count, own->inputs.inlets = own->jets.inlets.data;
    MN_TRY(read_inflow(cook, own));
    inputs->own = &own->inputs;
    return MN_OK;
}

static void free_own(mn_context *ctx, void *memory)
{
    codim_own *own = memory;
    mn_codim_inflow_free(ctx, &own->inflow);
    mn_codim_jets_free(ctx, &own->jets);
    mn_codim_anchors_free(ctx, &own->anchors);
}

static mn_vec3 inflow_velocity(const mn_cook *cook, mn_vec3 v, mn_vec3 normal)
{
    (void)normal;
    return mn_add(v, mn_cook_vec3(cook, "inflow_velocity"));
}

static const mn_emitter_guide emitters[] = {{INPUT_JETS, NULL}, {INPUT_INFLOW, inflow_velocity}};
static const mn_guide_table guides = {.emitters = emitters, .emitter_count = 2};

static const mn_solver_node solver_node = {
    .solver = &mn_codim_solver,
    .roles = roles,
    .needs = "connect a film_source, a jet_source, a liquid or an inflow.",
    .finish_def = finish_def,
    .start = start,
    .feed = feed,
    .own_size = sizeof(codim_own),
    .free_own = free_own,
};

// ---- doctor ----

static void tell_jets(const mn_codim_def *def, const mn_codim_numbers *n, mn_doctor *d)
{
    d->number(d->user, "flow of the jets", n->jet_flow, "m^3/s", "");
    if (!(n->jet_flow > 0)) {
        d->sentence(d->user, "Nothing comes out of the jets: they have no speed or no thickness.");
        return;
    }
    d->number(d->user, "time step", n->jet_step, "s", "where the sheet runs into its rim");
    d->number(d->user, "steps per frame", n->jet_steps, "", "then");
    if (!(n->jet_reach > 0)) return;
    d->number(d->user, "reach of a round sheet", n->jet_reach, "m",
              "from the axis of each jet, without gravity");
    d->number(d->user, "points", n->jet_points, "", "of such a sheet");
    if (n->jet_reach < 2 * n->jet_outlet)
        d->sentence(d->user,
                    "The jets are too slow or too thin to spread: the liquid gathers at the outlet. Give "
                    "them more speed or flow, or less sigma.");
    if (n->jet_reach < 10 * def->spacing)
        d->sentence(d->user, "The sheet is only a few points wide; use a smaller spacing.");
}

static void tell_threads(const mn_codim_numbers *n, mn_doctor *d)
{
    d->number(d->user, "speed of a thread's end", n->thread_speed, "m/s", "as it retracts");
    d->number(d->user, "growth time of its waves", n->thread_time, "s",
              "of the fastest; viscosity slows them down");
    d->number(d->user, "points per wave", n->points_per_wave, "", "of the fastest; 16 or more see it well");
    if (n->points_per_wave < 8)
        d->sentence(
            d->user,
            "The threads are thin for the spacing: they break into beads about four spacings apart. Use a "
            "spacing below half of their radius to see their own waves.");
}

static void tell_films(const mn_codim_numbers *n, mn_doctor *d)
{
    d->number(d->user, "points", n->points, "", "at the start");
    d->number(d->user, "speed of a free edge", n->film_speed, "m/s", "and of waves in the film");
    d->number(d->user, "time step", n->film_step, "s",
              "once an edge runs through the film; longer while it is whole");
    d->number(d->user, "steps per frame", n->film_steps, "", "then");
    d->number(d->user, "memory", n->bytes * 1e-6, "MB", "");
    if (n->film_steps > 200)
        d->sentence(d->user,
                    "An edge crosses this film within a frame: lower time_scale to see it, or make the "
                    "film thicker.");
}

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    mn_codim_film film;
    mn_codim_jets jets = {0};
    mn_codim_def def;
    mn_codim_numbers n;
    mn_status status = mn_codim_film_read(cook, mn_cook_input(cook, INPUT_FILM), &film);
    if (status == MN_OK) status = mn_solver_node_def(cook, &def);
    if (status == MN_OK) status = mn_codim_jets_read(cook, INPUT_JETS, &jets);
    if (status == MN_OK) {
        const mn_codim_inputs inlets = {.inlet_count = jets.inlets.count, .inlets = jets.inlets.data};
        mn_codim_diagnose(&def, &film.source, &inlets, cook->dt, &n);
        if (jets.inlets.count > 0) tell_jets(&def, &n, d);
        if (n.points_per_wave > 0) tell_threads(&n, d);
        if (n.film_step > 0) tell_films(&n, d);
    }
    mn_codim_film_free(cook->ctx, &film);
    mn_codim_jets_free(cook->ctx, &jets);
    return status;
}

const mn_node_type mn_codim_solver_node = {MN_SOLVER_NODE(
    "mls_solver", "Meniscus MLS Solver",
    "Simulates soap films, bubbles, sheets and threads of liquid that stretch, close, tear and draw back.",
    inputs_of, outputs_of, mn_codim_fields, MN_CODIM_FIELD_COUNT, solver_node, doctor, &guides)};
