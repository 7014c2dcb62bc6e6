// SPDX-License-Identifier: Apache-2.0
//
// How a cell is cut by a surface, for each of the 256 ways in which its corners can lie inside.
#ifndef MENISCUS_MESH_CELL_CUTS_H
#define MENISCUS_MESH_CELL_CUTS_H

#include <stdbool.h>
#include <stdint.h>

/// A vertex on the edge from `corner` (bits 4 x, 2 y, 1 z) along `direction` (the same bits, at least one
/// set, none that the corner has): corner * 8 + direction. Direction 0 is the vertex inside of the cell.
typedef uint8_t cut_vertex;

enum { CUT_TRIANGLES_MAX = 12, CUT_INNER = 0 };

typedef struct cell_cut {
    int32_t count;
    cut_vertex triangles[CUT_TRIANGLES_MAX][3];
    bool inner;          ///< it has a vertex inside of the cell
    int32_t inner_count; ///< which is the mean of these
    cut_vertex inner_of[12];
} cell_cut;

/// Corner c is inside when bit c of the configuration is set; triangles look from inside to outside.
void mn_cell_cuts_tetrahedra(cell_cut cuts[256]);
void mn_cell_cuts_cubes(cell_cut cuts[256]);

#endif
