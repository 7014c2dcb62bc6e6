// SPDX-License-Identifier: Apache-2.0
//
// The film input of mls_solver, as the core wants it: what it starts with, and what holds it over time.
#ifndef MENISCUS_NODES_CODIM_FILM_H
#define MENISCUS_NODES_CODIM_FILM_H

#include "meniscus/codim.h"
#include "nodes/node.h"

/// A film, and the memory it lies in.
typedef struct mn_codim_film {
    mn_codim_source source;
    mn_vec3_array positions, velocities, normals;
    MN_ARRAY(double) thickness;
    MN_ARRAY(uint8_t) pinned, codim;
} mn_codim_film;

/// Whether points have what a film needs; a sentence otherwise. `geo` may be NULL, here and below.
mn_status mn_codim_film_check(const mn_cook *cook, const mn_geo *geo);
/// The film is to be freed, also after a failure.
mn_status mn_codim_film_read(const mn_cook *cook, const mn_geo *geo, mn_codim_film *film);
void mn_codim_film_free(mn_context *ctx, mn_codim_film *film);

/// Where the points that hold a film are at the end of an advance, and what flows from them. Zero-initialised
/// is nothing.
typedef struct mn_codim_anchors {
    mn_vec3_array positions, flow;
    MN_ARRAY(double) width;
} mn_codim_anchors;

/// Points `inputs` to them.
mn_status mn_codim_anchors_read(mn_context *ctx, const mn_geo *geo, mn_codim_anchors *anchors,
                                mn_codim_inputs *inputs);
void mn_codim_anchors_free(mn_context *ctx, mn_codim_anchors *anchors);

#endif
