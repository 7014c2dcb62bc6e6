// SPDX-License-Identifier: Apache-2.0
//
// Films to start with: points spread evenly over a disc, an open cylinder, a bubble or any polygons; and
// threads, straight or along polylines.
//
// Points that hold the film (its pinned rim) come first and in an order that does not depend on what lies
// between them, so that a film whose rings move keeps its anchors.
#ifndef MENISCUS_SOURCES_FILM_SOURCE_H
#define MENISCUS_SOURCES_FILM_SOURCE_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_film_kind {
    MN_FILM_DISC,     ///< flat, its axis y
    MN_FILM_CYLINDER, ///< open at both ends, its axis y
    MN_FILM_BUBBLE,   ///< a sphere
    MN_FILM_POLYGONS, ///< the polygons of `geo`, open or closed
    MN_FILM_THREAD,   ///< a straight thread of liquid along y, from the top
    MN_FILM_LINES,    ///< threads along the polylines of `geo`
} mn_film_kind;

typedef struct mn_film_source_def {
    mn_film_kind kind;
    const mn_geo *geo; ///< MN_FILM_POLYGONS and MN_FILM_LINES
    double spacing;    ///< m, between points, > 0
    double thickness;  ///< m, > 0; polygons: where they have no point attribute `thickness`. Of a thread, its
                       ///< diameter; polylines: where they have neither `thickness` nor `pscale` (a radius)
    mn_vec3 center;    ///< m; not for polygons
    double radius;     ///< m, > 0; not for polygons
    double height;     ///< m, > 0, of the cylinder, and length of the straight thread
    double hole; ///< m, >= 0, radius of a hole in the middle of the disc, in the cylinder's side (+x) or on
                 ///< top of the bubble
    bool pin; ///< hold the outer rim: of the disc, both of the cylinder, all free edges of polygons, ends of
              ///< threads (polylines: where they have no point attribute `pinned`)
    bool spout;   ///< the straight thread is held at its top only
    double noise; ///< in [0, 1): by how much the thickness varies
    double
        noise_size;   ///< m, > 0: over what length that of films does; threads do over two of their diameters
    mn_vec3 velocity; ///< m/s; polygons: where they have no point attribute `v`
    uint64_t seed;    ///< of the places of points on polygons, and of the noise
} mn_film_source_def;

/// A pinned disc of 2 cm, 1 mm between points, 10 micrometres thick.
mn_film_source_def mn_film_source_default_def(void);

/// Points with P, N, v, thickness, pinned and codim, and the detail attribute spacing. Fails on sizes that
/// are zero or not finite, and on more than 2^26 points.
mn_status mn_film_source_create(mn_context *ctx, const mn_film_source_def *def, mn_geo **geo);

#ifdef __cplusplus
}
#endif
#endif
