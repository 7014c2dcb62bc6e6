// SPDX-License-Identifier: Apache-2.0
//
// film_settle: films at rest. The numerics are mn_film_settle()'s.
#include "nodes/film_input.h"
#include "nodes/parm.h"

enum { INPUT_FILM, INPUT_FRAME };

static const mn_parm_def parms[] = {
    MN_FLOAT("size", "Size", "m", 0.002, 1e-9, 1e6, 1e-4, 0.01, "Film", NULL,
             "Target length of an edge of the mesh. Use that of the film_solver that follows."),
    MN_FLOAT("min_size", "Minimum Size", "m", 0, 0, 1e6, 0, 0.002, "Film", NULL,
             "Borders between films that come nearer than this rearrange. 0 takes a fifth of the size."),
    MN_FLOAT("thickness", "Thickness", "m", 1e-6, 1e-12, 1e3, 1e-7, 1e-4, "Film", NULL,
             "Thickness of films that come without the point attribute thickness."),
    MN_FLOAT(
        "sigma", "Surface Tension", "N/m", 0.025, 1e-9, 1e9, 0.001, 0.1, "Film", NULL,
        "Surface tension of one side of the film. It sets the pressures; the shape does not depend on it."),
    MN_FLOAT("tolerance", "Tolerance", "", 1e-6, 1e-14, 1, 1e-9, 1e-3, "Settling", NULL,
             "Largest force that may remain on a vertex, relative to tension times size."),
    MN_INT("max_steps", "Maximum Steps", "", 600, 1, 1000000, 10, 2000, "Settling", NULL,
           "Settling ends after this many steps even if forces remain."),
    MN_TOGGLE("rearrange", "Rearrange", 1, "Settling", NULL,
              "Lets borders rearrange on the way. Off, the films keep their neighbours."),
};

static const mn_input_def inputs_of[] = {
    [INPUT_FILM] = {"Film", "polygons as films; thickness, pinned, slide and region are used", true, false},
    [INPUT_FRAME] = {"Frame", "wires that films hang in: polylines or outlines of polygons", false, false},
};
static const mn_output_def outputs_of[] = {
    {"Film", "triangles with region; N, thickness, pscale, mass, pressure, id, border and codim"}};

static mn_status settle(const mn_cook *cook, mn_film *film, mn_frame_input *frame, mn_geo **output)
{
    const mn_film_settle_def def = {.tolerance = mn_cook_float(cook, "tolerance"),
                                    .max_steps = (int32_t)mn_cook_int(cook, "max_steps"),
                                    .rearrange = mn_cook_toggle(cook, "rearrange")};
    mn_film_settle_result result;
    mn_view view = {0};
    MN_TRY(mn_frame_input_read(cook->ctx, mn_cook_input(cook, INPUT_FRAME), frame));
    if (frame->frame.point_count > 0) MN_TRY(mn_film_set_frame(film, &frame->frame));
    MN_TRY(mn_film_input_add(cook, mn_cook_input(cook, INPUT_FILM), film));
    MN_TRY(mn_film_settle(film, &def, &result));
    if (!result.settled)
        mn_cook_warn(
            cook, "films are not at rest after %d steps: a force of %.3g times tension times size is left.",
            result.steps, result.residual);
    MN_TRY(mn_film_solver.view((mn_solver *)film, NULL, 0, &view));
    return mn_geo_from_view(cook->ctx, &view, output);
}

static mn_status cook(const mn_cook *cook, mn_geo **outputs)
{
    mn_film_def def = mn_film_default_def();
    mn_frame_input frame = {0};
    mn_film *film;
    def.size = mn_cook_float(cook, "size");
    def.min_size = mn_cook_float(cook, "min_size");
    def.thickness = mn_cook_float(cook, "thickness");
    def.sigma = mn_cook_float(cook, "sigma");
    MN_TRY(mn_film_create(cook->ctx, &def, &film));
    const mn_status status = settle(cook, film, &frame, &outputs[0]);
    mn_frame_input_free(cook->ctx, &frame);
    mn_film_free(film);
    return status;
}

const mn_node_type mn_film_settle_node = {
    .name = "film_settle",
    .label = "Meniscus Film Settle",
    .menu = "Meniscus/Geometry",
    .help = "Brings soap films, bubbles and foams to rest: the shape of least area at the volumes that they "
            "have.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .references = 1u << INPUT_FRAME,
    .cook = cook,
};
