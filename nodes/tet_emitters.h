// SPDX-License-Identifier: Apache-2.0
//
// Emitters of tetrahedra, for every solver that has pipes.
#ifndef MENISCUS_NODES_TET_EMITTERS_H
#define MENISCUS_NODES_TET_EMITTERS_H

#include "meniscus/tet.h"
#include "nodes/node.h"
#include "tetmesh/components.h"

#define MN_INPUT_TET_EMITTERS                                                                                \
    {                                                                                                        \
        "Emitters",                                                                                          \
            "tetrahedra that fill the mouths of pipes, each with a flat end across its own v, which liquid " \
            "comes out of",                                                                                  \
            false, false                                                                                     \
    }

/// Pipes, and the input that they were made from. Zero to begin with.
typedef struct mn_tet_emitters {
    uint64_t key; ///< of the host; 0: made again each time
    mn_tet_mesh_array slugs;
    MN_ARRAY(mn_tet_pipe) pipes; ///< of each connected body, chained
} mn_tet_emitters;

/// The pipes of the input of that number, by its v or the parameters inflow_velocity and flow_rate; none
/// without one. `first`: warn of one that gives nothing.
mn_status mn_tet_emitters_read(const mn_cook *cook, int32_t input, bool first, mn_tet_emitters *emitters);
void mn_tet_emitters_free(mn_context *ctx, mn_tet_emitters *emitters);
/// For guides: what has no v of its own flows with the parameter's.
mn_vec3 mn_tet_emitter_velocity(const mn_cook *cook, mn_vec3 v, mn_vec3 normal);

#endif
