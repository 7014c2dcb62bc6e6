// SPDX-License-Identifier: Apache-2.0
//
// What more than one node looks for in an input: a level set, colliders, wind.
#ifndef MENISCUS_NODES_INPUTS_H
#define MENISCUS_NODES_INPUTS_H

#include "meniscus/collider.h"
#include "nodes/node.h"

/// The level set of a geometry: the volume named surface or, without one, its first volume. Borrowed; its ops
/// are NULL when that is no scalar level set.
mn_volume mn_input_level_set(const mn_geo *geo);

typedef MN_ARRAY(int64_t) mn_id_array;

/// Appends the corners, as points, of every polygon's triangles: a fan around its first corner.
mn_status mn_input_triangles(mn_context *ctx, const mn_geo *geo, mn_id_array *triangles);

/// The colliders of an input at this frame, for the caller to free; NULL when nothing is connected. Their
/// velocities are those on screen: the simulation runs cook->dt seconds while the screen shows one frame.
mn_status mn_input_colliders(const mn_cook *cook, int32_t input, mn_collider **collider);
/// The same of a geometry, which must outlive the collider.
mn_status mn_input_collider_of(const mn_cook *cook, const mn_geo *geo, mn_collider **collider);

/// The wind field of an input, borrowed; its ops are NULL when nothing is connected.
mn_status mn_input_wind(const mn_cook *cook, int32_t input, mn_volume *wind);
/// The vector volume of that name, borrowed; fails with a sentence about the input `what` without one.
mn_status mn_input_vector_volume(const mn_cook *cook, const mn_geo *geo, const char *name, const char *what,
                                 mn_volume *volume);

/// Warns about paint on the colliders that nobody reads: all but the bits 1 << MN_PAINT_* of `read`. `by`
/// says who does not ("volumes of liquid").
void mn_input_warn_paint(const mn_cook *cook, const mn_geo *colliders, uint32_t read, const char *by);

/// Volumes that act on a simulation, borrowed; those that are not there are {0}.
typedef struct mn_fields {
    mn_volume force, wind, sigma, viscosity, heat;
} mn_fields;

/// Finds them by name: force, vel, sigma, viscosity and heat. Volumes of other names are warned about;
/// without any of these it fails.
mn_status mn_input_fields(const mn_cook *cook, const mn_geo *geo, mn_fields *fields);

#endif
