// SPDX-License-Identifier: Apache-2.0
//
// One consistent set of triangles through a cloud of film points, built anew from the points whenever it is
// asked for; nothing of it is kept from one step to the next.
//
//   - Around each point the neighbours on its own side are laid into its tangent plane, and its Voronoi cell
//     there gives the triangles that the point would like: its star (stars.c).
//   - Triangles that all three corners like are taken; the few that are contested are taken one by one where
//     they fit (triangles.c). So every edge has at most one triangle on each of its two sides.
//   - Gaps of a few edges are closed (close.c).
//
// The result is kept as fans: fan[p] holds (a, b) for every triangle (p, a, b), counter-clockwise as seen
// from where the normals point. So everything can be gathered point by point, in parallel, without scatters.
#ifndef MENISCUS_CODIM_FILM_SURFACE_H
#define MENISCUS_CODIM_FILM_SURFACE_H

#include "meniscus/array.h"
#include "meniscus/vec.h"
#include "space/neighbours.h"

/// A circle around three points that is larger than this many spacings is a hole: the film has an edge there.
#define MN_FILM_ALPHA 2.1
/// How far a star looks: as far as the circles that it may accept.
#define MN_FILM_REACH (2 * MN_FILM_ALPHA)

/// Spacings within which two sheets may touch.
#define MN_FILM_CROWD 1.0

enum { MN_FAN_MAX = 24, MN_LOOP_MAX = 6, MN_FILM_DRIVEN = 2 };

typedef struct mn_codim_film_fan {
    int32_t count;
    int32_t pair[MN_FAN_MAX][2];
} mn_codim_film_fan;

/// What a surface is built from.
typedef struct mn_codim_film_points {
    int64_t count;
    const mn_vec3 *position;
    const mn_vec3 *normal; ///< of the step before, or a guess: which side is which
    const int64_t *id;     ///< breaks ties between diagonals the same way in every step
    const uint8_t *skip;   ///< 1: not part of any film
    const uint8_t *pinned; ///< a loop of pinned points only is a ring, not a gap; may be NULL. Between points
                           ///< that are MN_FILM_DRIVEN there is no film: they are the mouth of a jet
    double spacing;        ///< m
    const uint8_t *sheet;  ///< no triangle has points of two of them; may be NULL
} mn_codim_film_points;

typedef struct mn_codim_film_site {
    mn_vec3 at, normal;
    int32_t sheet; ///< 0: not part of any film
} mn_codim_film_site;

typedef struct mn_codim_film_candidate {
    int32_t corner[3]; ///< lowest first, in order of turning
    int32_t votes;
    double radius;
} mn_codim_film_candidate;

typedef struct mn_codim_film_surface {
    mn_context *ctx;
    mn_neighbours *neighbours;
    int64_t count;
    MN_ARRAY(mn_codim_film_site)
    sites; ///< positions moved by a thousandth of the spacing, so that no four lie on a circle
    MN_ARRAY(mn_codim_film_fan) stars, fans;
    MN_ARRAY(uint8_t) crowded; ///< 1: something lies above or below within MN_FILM_CROWD, maybe another sheet
    MN_ARRAY(mn_codim_film_candidate) candidates;
    // what follows from the fans, for each point
    MN_ARRAY(mn_vec3) normal; ///< unit; that of the step before where there is no triangle
    MN_ARRAY(double) area;    ///< m^2, a third of each triangle
    MN_ARRAY(uint8_t) edge;   ///< 1: on a free edge, or without any triangle
    int64_t triangles, open_edges, contested;
    double total_area;
} mn_codim_film_surface;

mn_status mn_codim_film_surface_create(mn_context *ctx, mn_codim_film_surface *surface);
void mn_codim_film_surface_free(mn_codim_film_surface *surface);
mn_status mn_codim_film_surface_build(mn_codim_film_surface *surface, const mn_codim_film_points *points);

/// The stars of all points, into surface->stars.
mn_status mn_codim_film_stars_find(mn_codim_film_surface *surface, const mn_codim_film_points *points);
/// Triangles over gaps of at most MN_LOOP_MAX edges.
mn_status mn_codim_film_close_gaps(mn_codim_film_surface *surface, const mn_codim_film_points *points);

/// True when some triangle runs from `from` to `to`.
static inline bool fan_has_edge(const mn_codim_film_fan *fan_of_from, int32_t to)
{
    for (int32_t i = 0; i < fan_of_from->count; i++)
        if (fan_of_from->pair[i][0] == to) return true;
    return false;
}

/// True when some triangle runs from `from` to the fan's own point.
static inline bool fan_has_reverse_edge(const mn_codim_film_fan *fan, int32_t from)
{
    for (int32_t i = 0; i < fan->count; i++)
        if (fan->pair[i][1] == from) return true;
    return false;
}

/// True when the triangles go all the way around.
static inline bool fan_is_closed(const mn_codim_film_fan *fan)
{
    for (int32_t i = 0; i < fan->count; i++)
        if (!fan_has_reverse_edge(fan, fan->pair[i][0])) return false;
    return fan->count > 2;
}

/// Adds (a, b, c) to the three fans; false when one of its edges is taken, a fan is closed already or full.
bool mn_codim_film_add_triangle(mn_codim_film_fan *fans, int32_t a, int32_t b, int32_t c);

/// Radius of the circle through three points; INFINITY for points on a line.
double mn_film_source_circle(mn_vec3 a, mn_vec3 b, mn_vec3 c);

#endif
