// SPDX-License-Identifier: Apache-2.0
//
// What the skin of a film is made of; sheets and drops in film_skin.c, tubes around threads in thread_skin.c.
#ifndef MENISCUS_MESH_FILM_SKIN_STATE_H
#define MENISCUS_MESH_FILM_SKIN_STATE_H

#include "meniscus/array.h"
#include "mesh/film_skin.h"

/// One directed edge: the corner that it leaves from. Sorted by its two points.
typedef struct sheet_edge {
    int32_t low, high;
    int64_t corner; ///< 3 triangle + place in it
    int32_t rising; ///< 1: runs from low to high
} sheet_edge;

/// Where corners meet.
typedef struct sheet_place {
    mn_vec3 normal;  ///< sum of the triangles' area vectors, then unit
    mn_vec3 outward; ///< away from the film, zero in its middle
    int64_t point;
    int64_t first; ///< vertex: top, bottom, then the rim
    bool on_rim;
} sheet_place;

struct mn_film_skin {
    mn_context *ctx;
    MN_ARRAY(sheet_edge) edges;
    MN_ARRAY(int64_t) root;  ///< of each corner: union of corners, then its place
    MN_ARRAY(int64_t) piece; ///< of each point: union of the points of a thread
    MN_ARRAY(uint8_t) free;  ///< of each corner: the edge that leaves it is free
    MN_ARRAY(uint8_t)
    used; ///< of each point: 0 by nothing, 1 in the middle of film or on a thread, 2 on a rim
    MN_ARRAY(sheet_place) places;
    MN_ARRAY(double) thickness, sum, count;
    MN_ARRAY(int64_t) link_start, link_at; ///< links of each point
    MN_ARRAY(uint8_t) drawn_links;
    MN_ARRAY(int64_t) chain; ///< points of a thread in turn
    MN_ARRAY(mn_film_skin_vertex) vertices;
    MN_ARRAY(int64_t) triangles;
};

mn_status mn_film_skin_push_triangle(mn_film_skin *skin, int64_t a, int64_t b, int64_t c);
mn_status mn_film_skin_push_quad(mn_film_skin *skin, int64_t a, int64_t b, int64_t c, int64_t d);
/// Tubes around the links, with round ends; marks their points as used.
mn_status mn_film_skin_make_tubes(mn_film_skin *skin, const mn_film_skin_def *def,
                                  const mn_film_sheet *sheet);

#endif
