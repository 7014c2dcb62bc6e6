// SPDX-License-Identifier: Apache-2.0
//
// Volumes of liquid from mls_solver's inputs, as the core wants them.
#ifndef MENISCUS_NODES_CODIM_LIQUID_H
#define MENISCUS_NODES_CODIM_LIQUID_H

#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "nodes/inputs.h"
#include "trimesh/mesh_region.h"

/// The region of an input's closed polygons. `geo` may be NULL; without polygons there is no mesh in the
/// region. Polygons that are not closed are an error, in which `what` names the input.
mn_status mn_input_mesh_region(const mn_cook *cook, const mn_geo *geo, const char *what,
                               mn_mesh_region *body);

/// Adds the volumes of an input: closed polygons, filled with 8 particles a cell, or points with mass. NULL
/// or empty: none.
mn_status mn_codim_liquid_add(const mn_cook *cook, const mn_geo *geo, double dx, double density,
                              mn_codim *mls);

#endif
