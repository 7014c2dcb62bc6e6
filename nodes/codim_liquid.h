// SPDX-License-Identifier: Apache-2.0
//
// Volumes of liquid from mls_solver's inputs, as the core wants them.
#ifndef MENISCUS_NODES_CODIM_LIQUID_H
#define MENISCUS_NODES_CODIM_LIQUID_H

#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "nodes/inputs.h"
#include "trimesh/triangles.h"

/// A closed mesh as a region. Must stay where it is while it is used.
typedef struct mn_codim_body {
    mn_triangles *mesh; ///< NULL: there is none
    double facing;      ///< -1 when its polygons face in
    mn_region region;
} mn_codim_body;

/// `geo` may be NULL. False mesh: NULL in the body. Polygons that are not closed are an error; `what` names
/// the input in it.
mn_status mn_codim_body_open(const mn_cook *cook, const mn_geo *geo, const char *what, mn_codim_body *body);
void mn_codim_body_close(mn_codim_body *body);
/// The region of a closed mesh, which the body then owns.
void mn_codim_body_take(mn_codim_body *body, mn_triangles *mesh);

/// Adds the volumes of an input: closed polygons, filled with 8 particles a cell, or points with mass. NULL
/// or empty: none.
mn_status mn_codim_liquid_add(const mn_cook *cook, const mn_geo *geo, double dx, double density,
                              mn_codim *mls);

#endif
