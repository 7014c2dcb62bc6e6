// SPDX-License-Identifier: Apache-2.0
//
// Moves that take a vertex apart where more films meet than films at rest can (Plateau: three at a border,
// four borders at a point). All of them run inside a move of the complex (mn_complex_begin) and leave undoing
// to the caller; they make no check of their own but what their own steps need.
#ifndef MENISCUS_FILM_RESOLVE_H
#define MENISCUS_FILM_RESOLVE_H

#include "film/sectors.h"

enum { MN_RESOLVE_MAX = 24 };

/// A growing list of vertices that a chain of moves works on.
typedef struct mn_resolve_list {
    int32_t count;
    int32_t vertex[MN_RESOLVE_MAX];
} mn_resolve_list;

bool mn_resolve_push(mn_resolve_list *list, int32_t v);

/// Peels sector `a` off the vertex: its fan gets a vertex of its own, `opening` away, and films between the
/// sectors behind it fill the gap. False when the sector is not one simple fan.
bool mn_peel(mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, double opening, mn_resolve_list *made);

/// Opens a film between sectors `a` and `b`, which meet at the vertex and nowhere else around it: one new
/// vertex for each film that leads from one to the other.
bool mn_open(mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, int32_t b, double opening,
             mn_resolve_list *made);

/// Parts of a star that are connected by no edge get a vertex each. True when there were several.
bool mn_come_apart(mn_complex *c, int32_t v, mn_resolve_list *made);

/// True when no film at rest looks like this: an edge with more than three films, or more than four sectors.
bool mn_is_crowded(const mn_complex *c, int32_t v);

/// Takes the vertices of the list, and those that come of it, apart by the move that lowers the area of their
/// films most, until none does. `size` is the target length of an edge. True when anything changed.
bool mn_resolve(mn_complex *c, mn_resolve_list *list, double size);

#endif
