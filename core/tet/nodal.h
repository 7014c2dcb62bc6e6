// SPDX-License-Identifier: Apache-2.0
//
// Half of the elastic energy at nodes, against locking in bending; nodal.c.
#ifndef MENISCUS_TET_NODAL_H
#define MENISCUS_TET_NODAL_H

#include "meniscus/array.h"
#include "meniscus/context.h"
#include "meniscus/vec.h"

typedef struct mn_tet_nodal {
    bool any;
    MN_ARRAY(double) weight;  ///< per node: G C0/2; 0 where it has none of the energy
    MN_ARRAY(double) room;    ///< per node: C0, of the tetrahedra around it
    MN_ARRAY(mn_vec3) out;    ///< a_ik at row i, column k of the mesh's neighbours
    MN_ARRAY(mn_vec3) in;     ///< a_ik at row k, column i
    MN_ARRAY(mn_mat3) f;      ///< per node: F at the iterate
    MN_ARRAY(mn_mat3) stress; ///< per node: weight (F - cof F), or the change of it in a product
} mn_tet_nodal;

#endif
