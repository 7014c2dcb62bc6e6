// SPDX-License-Identifier: Apache-2.0
//
// film_solver: bubbles, foams and films in frames on a kept mesh. The numerics and the parameters are
// mn_film_solver's; this file reads films, frames, pricks and inflows.
#include "nodes/codim_jets.h"
#include "nodes/film_input.h"
#include "nodes/solver_node.h"
#include "nodes/tet_emitters.h"

#define NO_FILM                                                                                              \
    "connect polygons, a film_source or a film_settle node to the first input, or "                          \
    "tetrahedra to the emitters or a jet_source to the jets; there is nothing to simulate."

enum { INPUT_FILM, INPUT_FRAME, INPUT_COLLIDERS, INPUT_WIND, INPUT_POINTS, INPUT_EMITTERS, INPUT_JETS };

static const mn_role roles[] = {
    [INPUT_FILM] = MN_ROLE_OWN,  [INPUT_FRAME] = MN_ROLE_OWN,  [INPUT_COLLIDERS] = MN_ROLE_COLLIDER,
    [INPUT_WIND] = MN_ROLE_WIND, [INPUT_POINTS] = MN_ROLE_OWN, [INPUT_EMITTERS] = MN_ROLE_OWN,
    [INPUT_JETS] = MN_ROLE_OWN,
};
static const mn_input_def inputs_of[] = {
    [INPUT_FILM] =
        {"Film",
         "tetrahedra as volumes, polygons as films, polylines as threads, points as drops; v, thickness, "
         "min_thickness, pinned, slide and region are used",
         false, false},
    [INPUT_FRAME] = {"Frame",
                     "wires: polylines or outlines of polygons, moving or still; films that touch them at "
                     "the start hang in them",
                     false, false},
    [INPUT_COLLIDERS] = MN_INPUT_COLLIDERS,
    [INPUT_WIND] = MN_INPUT_WIND,
    [INPUT_POINTS] = {"Pricks",
                      "points where films burst, or with inflow (m^3/s) where gas is blown into the pocket "
                      "around them",
                      false, false},
    [INPUT_EMITTERS] = MN_INPUT_TET_EMITTERS,
    [INPUT_JETS] = {"Jets", "curves that film comes out of, with v and thickness: a jet_source", false,
                    false},
};
static const mn_output_def outputs_of[] = {
    {"Film",
     "triangles with region, threads as polylines, drops, tetrahedra; v, N, thickness, pscale, mass, pressure, id, border and "
     "codim"}};

/// What an advance borrows.
typedef struct film_own {
    mn_frame_input frame;
    mn_film_points points;
    mn_tet_emitters emitters;
    mn_codim_jets jets;
    mn_film_inputs inputs;
} film_own;

static mn_status start(const mn_cook *cook, mn_solver *solver, void *memory)
{
    film_own *own = memory;
    mn_film *film = (mn_film *)solver;
    MN_TRY(mn_frame_input_read(cook->ctx, mn_cook_input(cook, INPUT_FRAME), &own->frame));
    if (own->frame.frame.point_count > 0) MN_TRY(mn_film_set_frame(film, &own->frame.frame));
    const mn_geo *geo = mn_cook_input(cook, INPUT_FILM);
    if (!mn_cook_input(cook, INPUT_EMITTERS) && !mn_cook_input(cook, INPUT_JETS) &&
        !(geo && mn_geo_point_count(geo) > 0))
        return mn_cook_fail(cook, MN_ERROR_INPUT, NO_FILM);
    return geo ? mn_film_input_add(cook, geo, film) : MN_OK;
}

static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    film_own *own = memory;
    if (feeding != MN_FEED_ADVANCE && feeding != MN_FEED_START) return MN_OK;
    MN_TRY(mn_frame_input_read(cook->ctx, mn_cook_input(cook, INPUT_FRAME), &own->frame));
    MN_TRY(mn_film_points_read(cook->ctx, mn_cook_input(cook, INPUT_FILM), mn_cook_input(cook, INPUT_POINTS),
                               &own->points, &own->inputs));
    own->inputs.frame = own->frame.frame.point_count > 0 ? &own->frame.frame : NULL;
    MN_TRY(mn_tet_emitters_read(cook, INPUT_EMITTERS, solver->time == 0, &own->emitters));
    own->inputs.pipes = own->emitters.pipes.count > 0 ? own->emitters.pipes.data : NULL;
    mn_codim_jets_free(cook->ctx, &own->jets);
    memset(&own->jets, 0, sizeof own->jets);
    MN_TRY(mn_codim_jets_read(cook, INPUT_JETS, &own->jets));
    own->inputs.inlet_count = own->jets.inlets.count, own->inputs.inlets = own->jets.inlets.data;
    inputs->own = &own->inputs;
    return MN_OK;
}

static void free_own(mn_context *ctx, void *memory)
{
    film_own *own = memory;
    mn_frame_input_free(ctx, &own->frame);
    mn_film_points_free(ctx, &own->points);
    mn_tet_emitters_free(ctx, &own->emitters);
    mn_codim_jets_free(ctx, &own->jets);
}

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    mn_film_def def;
    MN_TRY(mn_solver_node_def(cook, &def));
    mn_film_numbers n;
    mn_film_diagnose(&def, &n);
    d->number(d->user, "wave speed", n.speed, "m/s",
              "of films of the given thickness, and of edges that draw back");
    if (n.speed > 0)
        d->number(d->user, "steps resolve waves of", n.shortest, "m",
                  "shorter ones are damped; lower max_dt to see them");
    d->number(d->user, "memory", n.bytes_per_vertex, "bytes/vertex", "about");
    return MN_OK;
}

static const mn_emitter_guide emitters[] = {{INPUT_EMITTERS, mn_tet_emitter_velocity}, {INPUT_JETS, NULL}};
static const mn_guide_table guides = {emitters, 2, true, INPUT_COLLIDERS, 0};

static const mn_solver_node solver = {
    .solver = &mn_film_solver,
    .roles = roles,
    .needs = NO_FILM,
    .start = start,
    MN_SOLVER_NODE_OWN(film_own, feed, free_own),
};

const mn_node_type mn_film_solver_node = {
    MN_SOLVER_NODE("film_solver", "Meniscus Film Solver",
                   "Simulates bubbles that share walls, foams that rearrange, and soap films in wire frames.",
                   inputs_of, outputs_of, mn_film_fields, MN_FILM_FIELD_COUNT, solver, doctor, &guides),
    .references = 1u << INPUT_FRAME | 1u << INPUT_POINTS};
