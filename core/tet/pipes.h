// SPDX-License-Identifier: Apache-2.0
//
// What a step asks of pipes (pipes.c).
#ifndef MENISCUS_TET_PIPES_H
#define MENISCUS_TET_PIPES_H

#include "tet/state.h"

typedef MN_ARRAY(int32_t) mn_tet_ints;
typedef MN_ARRAY(mn_tet_indices) mn_tet_tets;

/// Checks the pipe of an advance, NULL for none, and takes it.
mn_status mn_tet_liquid_open_pipe(mn_tet_liquid *liquid, const mn_tet_pipe *pipe);
/// How many layers are due since the start, and the seconds until the next; 0 and INFINITY without a pipe.
int64_t mn_tet_liquid_layers(const mn_tet_liquid *liquid, double *next);
/// Puts a layer behind the cap, or the slug where there is no cap.
mn_status mn_tet_liquid_emit(mn_tet_liquid *liquid);
/// Takes out what lies in the drain.
mn_status mn_tet_liquid_drain(mn_tet_liquid *liquid);

#endif
