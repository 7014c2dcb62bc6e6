// SPDX-License-Identifier: Apache-2.0
//
// The bodies that mpm_solver's liquid moves: from its input, with its parameters body_*, between its walls
// and colliders.
#ifndef MENISCUS_NODES_MPM_BODIES_H
#define MENISCUS_NODES_MPM_BODIES_H

#include "meniscus/mpm.h"
#include "nodes/elastic_bodies.h"

/// The bodies, and what an advance tells them. Zero-initialised: there are none.
typedef struct mn_mpm_floaters {
    mn_elastic *elastic;
    mn_body_origins origins;
    mn_vec3_array targets;
    MN_ARRAY(double) contact_angle; ///< of each point; empty when none is painted
} mn_mpm_floaters;

/// Which inputs hold bodies and colliders.
typedef struct mn_mpm_floaters_from {
    int32_t bodies, colliders;
} mn_mpm_floaters_from;

mn_status mn_mpm_floaters_start(const mn_cook *cook, const mn_mpm_floaters_from *from,
                                mn_mpm_floaters *floaters);
/// Hands them to the solver; with `advance`, with where their pinned points and colliders go.
mn_status mn_mpm_floaters_feed(const mn_cook *cook, const mn_mpm_floaters_from *from,
                               mn_mpm_floaters *floaters, mn_mpm *mpm, bool advance);
mn_status mn_mpm_floaters_save(const mn_mpm_floaters *floaters, mn_writer *out);
mn_status mn_mpm_floaters_load(const mn_cook *cook, int32_t input_count, mn_mpm_floaters *floaters,
                               mn_reader *in);
void mn_mpm_floaters_free(mn_context *ctx, mn_mpm_floaters *floaters);

#endif
