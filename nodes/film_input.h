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

/// Adds the films, threads and drops of a geometry: polygons (fans of triangles), polylines, points alone.
/// Uses the point attributes v, thickness, pinned and slide, and region on triangles.
mn_status mn_film_input_add(const mn_cook *cook, const mn_geo *geo, mn_film *film);

#endif
