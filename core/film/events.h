// SPDX-License-Identifier: Apache-2.0
//
// Changes of topology: T1, forced collapse, punctures, pockets that vanish. Each is a transaction of the
// complex: done whole, or undone.
#ifndef MENISCUS_FILM_EVENTS_H
#define MENISCUS_FILM_EVENTS_H

#include "film/remesh.h"

/// What the moves ask of the physics.
typedef struct mn_film_forces {
    double tension;       ///< N/m, of a film: both its sides
    const double *excess; ///< Pa, pressure of each region over that of region 0
    int32_t region_count;
} mn_film_forces;

/// N, on a vertex by films and gas.
mn_vec3 mn_film_force_at(const mn_complex *c, const mn_film_forces *forces, int32_t v);

/// Borders that run into each other: edges between two points or across a film from border to border, shorter
/// than `least` and shrinking, are collapsed and resolved; undone when the same sectors meet again. Edges
/// that the link condition keeps from collapsing are forced, with the rest of their small ring. Crowded
/// vertices are resolved. `size` is the target length.
mn_status mn_film_events(mn_complex *c, const mn_film_forces *forces, double size, double least,
                         mn_remesh_counts *counts);

/// Takes the star of the vertex away; its mass goes to the ring around it. `joined` gets the pairs of regions
/// that are one from now on, two numbers each; at most MN_PUNCTURE_MAX pairs. False when the star cannot be
/// taken out.
enum { MN_PUNCTURE_MAX = 16 };
bool mn_film_puncture(mn_complex *c, int32_t v, int32_t joined[2 * MN_PUNCTURE_MAX], int32_t *joined_count);

/// A pocket of a few triangles is drawn together to nothing. Its region must have no triangle left after.
bool mn_film_vanish(mn_complex *c, int32_t region, double size);

#endif
