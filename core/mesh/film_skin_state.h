// SPDX-License-Identifier: Apache-2.0
//
// What the skin of a film is made of; sheets and drops in film_skin.c, tubes around threads in thread_skin.c.
#ifndef MENISCUS_MESH_FILM_SKIN_STATE_H
#define MENISCUS_MESH_FILM_SKIN_STATE_H

#include "base/union_find.h"
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
    int64_t first; ///< vertex: top, bottom, then the rim; of a sector its only one
    int64_t rim;   ///< of a sector: its last rim, from 1; 0 for none
    bool on_rim;
} sheet_place;

/// Rows of a rim at a point, between two sectors.
typedef struct skin_rim {
    int64_t low, high; ///< places
    int64_t first;     ///< vertex of the row after the lower
    int64_t next;      ///< rim of the same lower place, or -1
    int32_t point;
    int32_t balance; ///< edges that run along the rows less those that run back: 0 when it goes on both ways
    mn_vec3 out;     ///< away from the film
} skin_rim;

struct mn_film_skin {
    mn_context *ctx;
    MN_ARRAY(sheet_edge) edges;
    MN_ARRAY(int64_t) root;  ///< of each corner: union of corners, then its place
    MN_ARRAY(int64_t) piece; ///< of each point: union of the points of a thread
    MN_ARRAY(uint8_t) free;  ///< of each corner: the edge that leaves it is free
    MN_ARRAY(uint8_t)
    used; ///< of each point: 0 by nothing, 1 in the middle of film or on a thread, 2 on a rim
    MN_ARRAY(sheet_place) places;
    MN_ARRAY(skin_rim) rims;
    MN_ARRAY(double) thickness, sum, count;
    MN_ARRAY(int64_t) link_start, link_at; ///< links of each point
    MN_ARRAY(uint8_t) drawn_links;
    MN_ARRAY(int64_t) chain; ///< points of a thread in turn
    MN_ARRAY(mn_film_skin_vertex) vertices;
    MN_ARRAY(int64_t) triangles;
    MN_ARRAY(int64_t) sides; ///< of each triangle: which side of the sheet it is, or -1
};

/// The corner after this one in its triangle.
static inline int64_t mn_film_skin_next_corner(int64_t corner)
{
    return corner % 3 == 2 ? corner - 2 : corner + 1;
}

/// As thick as it is drawn.
static inline double mn_film_skin_drawn(const mn_film_skin_def *def, double thickness)
{
    return fmin(fmax(thickness, def->min_thickness), def->max_thickness);
}
mn_status mn_film_skin_push_vertex(mn_film_skin *skin, int64_t point, mn_vec3 middle, mn_vec3 normal,
                                   double reach);
mn_status mn_film_skin_push_triangle(mn_film_skin *skin, int64_t a, int64_t b, int64_t c);
/// One that is a side of the sheet.
mn_status mn_film_skin_push_side(mn_film_skin *skin, int64_t side, int64_t a, int64_t b, int64_t c);
mn_status mn_film_skin_push_quad(mn_film_skin *skin, int64_t a, int64_t b, int64_t c, int64_t d);
/// True when more than two triangles meet at an edge.
bool mn_film_skin_meets(const mn_film_skin *skin);
/// Both sides of films that meet, and their rims (sector_skin.c).
mn_status mn_film_skin_make_sectors(mn_film_skin *skin, const mn_film_skin_def *def,
                                    const mn_film_sheet *sheet);
/// Tubes around the links, with round ends; marks their points as used.
mn_status mn_film_skin_make_tubes(mn_film_skin *skin, const mn_film_skin_def *def,
                                  const mn_film_sheet *sheet);

#endif
