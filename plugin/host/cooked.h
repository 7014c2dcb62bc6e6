// SPDX-License-Identifier: Apache-2.0
//
// The outputs of one cook of one node, counted: a cache may let go of them while another node still reads
// them. Used by one thread at a time, as the network is.
#ifndef MENISCUS_PLUGIN_HOST_COOKED_H
#define MENISCUS_PLUGIN_HOST_COOKED_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_cooked {
    mn_context *ctx;
    int32_t references;
    int32_t count; ///< outputs of the node type
    mn_geo **
        outputs; ///< owned; NULL until the node has made them, which may be never for those that nobody reads
    uint64_t *hashes; ///< of each output; 0 while it has not been asked for
} mn_cooked;

/// One reference, outputs all NULL.
mn_status mn_cooked_create(mn_context *ctx, int32_t count, mn_cooked **cooked);
mn_cooked *mn_cooked_retain(mn_cooked *cooked);
/// Frees the outputs with the last reference. NULL is fine.
void mn_cooked_release(mn_cooked *cooked);

/// Bytes of all outputs, what they share with others counted in full.
int64_t mn_cooked_bytes(const mn_cooked *cooked);
/// mn_geo_hash() of an output, computed once. Never 0.
uint64_t mn_cooked_hash(mn_cooked *cooked, int32_t output);

#ifdef __cplusplus
}
#endif
#endif
