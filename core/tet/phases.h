// SPDX-License-Identifier: Apache-2.0
//
// One pressure for each phase at a node. Pressure jumps where a solid meets liquid or another solid, since a
// solid has stress of its own: with one pressure a solid layer sinks too little and the liquid above it finds
// no rest. So pressures, and the volumes that they hold, belong to a node and a class of tetrahedra around
// it; nodes inside one class have one, whose number is the node's.
#ifndef MENISCUS_TET_PHASES_H
#define MENISCUS_TET_PHASES_H

#include "meniscus/array.h"
#include "meniscus/vec.h"

typedef struct mn_tet_phases {
    bool split;                             ///< some node has more than one pressure
    int32_t count;                          ///< pressures; those of nodes come first
    MN_ARRAY(int32_t) of;                   ///< 4 for each tetrahedron: the pressure of each corner
    MN_ARRAY(int32_t) node;                 ///< of each pressure
    MN_ARRAY(int32_t) row_start, column;    ///< pressure -> nodes whose places its volume depends on
    MN_ARRAY(int32_t) slot;                 ///< 16 for each tetrahedron: where (k, j) stands in `column`
    MN_ARRAY(int32_t) node_start, node_row; ///< node -> pressures
    MN_ARRAY(int32_t) node_slot;            ///< where each of those stands in `column`
    MN_ARRAY(mn_vec3) b;                    ///< dC_row/dx_column
    MN_ARRAY(mn_vec3) place;                ///< of each pressure, for the order of elimination
} mn_tet_phases;

#endif
