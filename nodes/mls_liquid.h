// SPDX-License-Identifier: Apache-2.0
//
// Volumes of liquid from mls_solver's inputs, as the core wants them.
#ifndef MENISCUS_NODES_MLS_LIQUID_H
#define MENISCUS_NODES_MLS_LIQUID_H

#include "nodes/inputs.h"

/// A closed mesh as a region. Must stay where it is while it is used.
typedef struct mn_mls_body {
    mn_triangles *mesh; ///< NULL: there is none
    double facing;      ///< -1 when its polygons face in
    mn_region region;
} mn_mls_body;

/// `geo` may be NULL. False mesh: NULL in the body. Polygons that are not closed are an error; `what` names
/// the input in it.
mn_status mn_mls_body_open(const mn_cook *cook, const mn_geo *geo, const char *what, mn_mls_body *body);
void mn_mls_body_close(mn_mls_body *body);
/// The region of a closed mesh, which the body then owns.
void mn_mls_body_take(mn_mls_body *body, mn_triangles *mesh);

/// Adds the volumes of an input: closed polygons, filled with 8 particles a cell, or points with mass. NULL
/// or empty: none.
mn_status mn_mls_liquid_add(const mn_cook *cook, const mn_geo *geo, double dx, double density, mn_mls *mls);

#endif
