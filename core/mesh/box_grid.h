// SPDX-License-Identifier: Apache-2.0
//
// Which of many boxes meet a given one: a hashed grid over boxes of similar size, each entered in every cell
// that it touches.
#ifndef MENISCUS_MESH_BOX_GRID_H
#define MENISCUS_MESH_BOX_GRID_H

#include "tetmesh/internal.h"

typedef struct mn_box_entry {
    uint64_t cell;
    int32_t item;
} mn_box_entry;

typedef struct mn_box_grid {
    mn_context *ctx;
    double cell;
    mn_vec3 origin;
    MN_ARRAY(mn_box) boxes;
    MN_ARRAY(mn_box_entry) entries; ///< by bucket of the cell, items in rising order
    MN_ARRAY(int32_t) starts;       ///< of the buckets; their number is a power of two
    mn_tet_list seen;               ///< per item: the question that met it last
    int32_t question;
} mn_box_grid;

/// Over the boxes that the caller has put into grid->boxes; grid->ctx must be set.
mn_status mn_box_grid_build(mn_box_grid *grid);
void mn_box_grid_free(mn_box_grid *grid);
/// The items whose boxes meet `box`, touching included, once each, in an order that depends on the
/// boxes alone.
mn_status mn_box_grid_find(mn_box_grid *grid, mn_box box, mn_tet_list *found);

/// The box of a tetrahedron.
mn_box mn_tet_box(const mn_tet_mesh *mesh, int32_t t);

static inline bool mn_boxes_apart(mn_box a, mn_box b)
{
    return a.min.x > b.max.x || b.min.x > a.max.x || a.min.y > b.max.y || b.min.y > a.max.y ||
           a.min.z > b.max.z || b.min.z > a.max.z;
}

#endif
