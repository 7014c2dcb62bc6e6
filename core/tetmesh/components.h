// SPDX-License-Identifier: Apache-2.0
//
// A mesh of several components as meshes of their own.
#ifndef MENISCUS_TETMESH_COMPONENTS_H
#define MENISCUS_TETMESH_COMPONENTS_H

#include "meniscus/array.h"
#include "meniscus/tetmesh.h"

typedef MN_ARRAY(mn_tet_mesh *) mn_tet_mesh_array;

/// What is connected by corners, in the order of first tetrahedra, each with the linear fields of the whole.
/// The meshes are the caller's to free, also after a failure.
mn_status mn_tet_mesh_components(const mn_tet_mesh *mesh, mn_tet_mesh_array *components);

/// The mean of a linear field of three numbers over all vertices; zero without one of that name.
mn_vec3 mn_tet_mesh_mean_vec3(const mn_tet_mesh *mesh, const char *name);

#endif
