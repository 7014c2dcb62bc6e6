// SPDX-License-Identifier: Apache-2.0
//
// Guides: lines that a host may draw beside what a node gives, so that an artist sees what it works with.
// They come from the node's table, parameters and inputs, and from what it cooked; a host only draws them.
//
//   group           what
//   domain          the box of domain_center and domain_size, or of limit_center and limit_size, when it is
//   on emitters        outlines of what liquid comes out of: the inputs that the node's table names flow
//   arrows from there, as long as the liquid moves in one frame contact_lines   where the surface meets
//   colliders and closed sides of the domain
//
// Each group has a colour, the primitive attribute Cd.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_GUIDES_H
#define MENISCUS_PLUGIN_HOST_NETWORK_GUIDES_H

#include "nodes/node.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_guide_source {
    const mn_node_type *type;
    const mn_parm_value *parms; ///< at this frame
    const mn_geo *const *inputs;
    int32_t input_count;
    const mn_geo *const *outputs; ///< one per output of the type; NULL when nothing was cooked
    double fps;
} mn_guide_source;

/// Whether this type ever has guides.
bool mn_guides_exist(const mn_node_type *type);
/// Polylines, maybe none. Fails only when memory is out or an input is not what it should be.
mn_status mn_guides_create(mn_context *ctx, const mn_guide_source *source, mn_geo **guides);

#ifdef __cplusplus
}
#endif
#endif
