// SPDX-License-Identifier: Apache-2.0
//
// Materials of tetrahedra from attributes, for tet_solver.
#ifndef MENISCUS_NODES_TET_COLUMNS_H
#define MENISCUS_NODES_TET_COLUMNS_H

#include "nodes/node.h"
#include "tet/material.h"

typedef struct mn_tet_materials {
    int32_t count;
    mn_tet_material list[MN_TET_MATERIALS_MAX];
} mn_tet_materials;

/// The materials that the attributes of tetrahedra describe, none without `young`; what has none is the
/// liquid of the def. `mesh` is made of `geo`; its field `material` gets their numbers.
mn_status mn_tet_read_materials(const mn_geo *geo, const mn_tet_liquid_def *def, mn_tet_mesh *mesh,
                                mn_tet_materials *materials);

#endif
