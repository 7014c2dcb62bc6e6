// SPDX-License-Identifier: Apache-2.0
//
// The sectors of gas around one vertex or a few: components of the sides of the triangles in their stars.
//
// Around each edge of a star, in order of angle, the side after a triangle faces the side before the next
// one. A free edge joins both sides of its triangle, an edge on a wall joins nothing through the wall.
// Sectors are what "regions at a vertex" means for every move: global labels cannot tell the six openings of
// a wire cube apart, nor the two places where one pocket touches itself.
#ifndef MENISCUS_FILM_SECTORS_H
#define MENISCUS_FILM_SECTORS_H

#include "film/complex.h"

enum { MN_SECTOR_MAX = 32 };

typedef struct mn_sectors {
    int32_t count;                           ///< of triangles
    int32_t triangle[MN_COMPLEX_STAR_MAX];   ///< of all the stars, each once
    int32_t sector[2 * MN_COMPLEX_STAR_MAX]; ///< of side 0 or 1 of triangle i, at 2 i + side
    int32_t sector_count;
    int32_t label[MN_SECTOR_MAX]; ///< region of each sector
} mn_sectors;

/// False when the stars are too large, or broken up into more sectors than are handled.
bool mn_sectors_build(const mn_complex *c, const int32_t *centers, int32_t center_count, mn_sectors *s);

/// The place of a triangle in the list, or -1.
int32_t mn_sectors_find(const mn_sectors *s, int32_t triangle);

/// The films around an edge from a to b, in order of the angle.
typedef struct mn_edge_turn {
    int32_t count;
    int32_t triangle[MN_COMPLEX_EDGE_MAX];
    int32_t
        after[MN_COMPLEX_EDGE_MAX]; ///< the side of each that turning leaves by; the other is that before it
    int32_t partner[MN_COMPLEX_EDGE_MAX]; ///< whose side before faces the side after; -1: a wall does
} mn_edge_turn;

/// Sides that face each other have the same region, and of several such pairs the next in order of angle is
/// taken: where films lie on each other for a moment, labels know more than angles. False when there are more
/// than MN_COMPLEX_EDGE_MAX.
bool mn_edge_turn_around(const mn_complex *c, int32_t a, int32_t b, mn_edge_turn *turn);

#endif
