// SPDX-License-Identifier: Apache-2.0
//
// What a step asks of pipes (pipes.c).
#ifndef MENISCUS_TET_PIPES_H
#define MENISCUS_TET_PIPES_H

#include "tet/state.h"

typedef MN_ARRAY(int32_t) mn_tet_ints;
typedef MN_ARRAY(mn_tet_indices) mn_tet_tets;

/// Checks the pipes of an advance, NULL for none, and takes them.
mn_status mn_tet_liquid_open_pipe(mn_tet_liquid *liquid, const mn_tet_pipe *pipe);
/// Seconds until the next layer is due; INFINITY without a pipe that pours.
double mn_tet_liquid_next_layer(const mn_tet_liquid *liquid);
/// The caps move on with their pipes.
void mn_tet_liquid_move_caps(mn_tet_liquid *liquid, double seconds);
/// Adds a layer behind the cap of each pipe that is due, or a new slug where the cap is gone.
mn_status mn_tet_liquid_emit(mn_tet_liquid *liquid);
/// Takes out what lies in the drain.
mn_status mn_tet_liquid_drain(mn_tet_liquid *liquid);

/// Whether liquid comes out of a pipe.
bool mn_tet_liquid_has_mouth(const mn_tet_liquid *liquid);
/// 1 + the mouth whose cap a node of a mesh is on, 0: none.
int32_t mn_tet_liquid_cap_of(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t node);
/// Sets a bit in the marks of the nodes of a mesh that lie in the cap of a pipe, and takes it from the
/// others.
void mn_tet_liquid_mark_cap(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, uint8_t *marks,
                            uint8_t mark);

#endif
