// SPDX-License-Identifier: Apache-2.0
//
// Films and frames as nodes read them: polygons with regions, polylines, points; wires.
#ifndef MENISCUS_NODES_FILM_INPUT_H
#define MENISCUS_NODES_FILM_INPUT_H

#include "meniscus/film.h"
#include "nodes/inputs.h"

/// What a frame input holds; zero-initialised is nothing.
typedef struct mn_frame_input {
    MN_ARRAY(mn_vec3) points;
    MN_ARRAY(int32_t) edges;
    mn_film_frame frame;
} mn_frame_input;

/// The wires of a geometry: the edges of its polylines and polygons. NULL gives none.
mn_status mn_frame_input_read(mn_context *ctx, const mn_geo *geo, mn_frame_input *input);
void mn_frame_input_free(mn_context *ctx, mn_frame_input *input);

/// Adds the volumes, films, threads and drops of a geometry: tetrahedra, polygons (fans of triangles),
/// polylines, points alone.
/// Uses the point attributes v, thickness, pinned and slide, and region on triangles.
mn_status mn_film_input_add(const mn_cook *cook, const mn_geo *geo, mn_film *film);

/// Points that act on films during an advance; zero-initialised is nothing.
typedef struct mn_film_points {
    MN_ARRAY(mn_vec3) pinned, pricks, inflows;
    MN_ARRAY(double) rates; ///< m^3/s, of the inflows
} mn_film_points;

/// Pinned points go along with the geometry of the film; of `points` those with an inflow blow gas in,
/// without that attribute all prick. Both may be NULL. Points `inputs` to them.
mn_status mn_film_points_read(mn_context *ctx, const mn_geo *film, const mn_geo *points,
                              mn_film_points *found, mn_film_inputs *inputs);
void mn_film_points_free(mn_context *ctx, mn_film_points *points);

#endif
