// SPDX-License-Identifier: Apache-2.0
//
// What mpm_solver's inputs hold, as the core wants it.
#ifndef MENISCUS_NODES_MPM_INPUT_H
#define MENISCUS_NODES_MPM_INPUT_H

#include "meniscus/collider.h"
#include "meniscus/mpm.h"
#include "nodes/inputs.h"

typedef MN_ARRAY(double) mn_number_array;

/// Points as particles, and the memory they lie in.
typedef struct mn_mpm_liquid {
    mn_vec3_array positions, velocities;
    mn_number_array mass, density, sigma, viscosity;
    mn_id_array id;
    MN_ARRAY(int32_t) liquid;  ///< 0 or 1
    MN_ARRAY(int32_t) follows; ///< values that points merged in without a material have from the solver
    mn_mpm_source source;      ///< `id` is NULL when the points have none, or the same one twice
} mn_mpm_liquid;

/// `geo` may be NULL. The liquid is to be freed, also after a failure.
mn_status mn_mpm_liquid_read(mn_context *ctx, const mn_mpm_def *def, const mn_geo *geo,
                             mn_mpm_liquid *liquid);
void mn_mpm_liquid_free(mn_context *ctx, mn_mpm_liquid *liquid);

/// Gives the particles that the points of `geo` became, by their ids, the material that the points have now.
mn_status mn_mpm_liquid_follow(const mn_cook *cook, const mn_mpm_def *def, const mn_geo *geo, mn_mpm *mpm);

/// Keeps only the points whose id is not in `seen`, which rises, and puts theirs into it.
mn_status mn_mpm_liquid_keep_new(mn_context *ctx, mn_mpm_liquid *liquid, mn_id_array *seen);

/// Polygons, or points as discs, that liquid comes out of, and the memory they lie in.
typedef struct mn_mpm_outlet {
    mn_vec3_array positions, velocities, normals;
    mn_number_array density, sigma, viscosity;
    mn_id_array triangles; ///< three points each
    mn_mpm_emitter emitter;
} mn_mpm_outlet;

/// `along_v`: liquid leaves with the geometry's v; otherwise with emit_speed along its normals. `geo` may be
/// NULL. Warns where nothing can come out.
mn_status mn_mpm_outlet_read(const mn_cook *cook, const mn_geo *geo, bool along_v, mn_mpm_outlet *outlet);
void mn_mpm_outlet_free(mn_context *ctx, mn_mpm_outlet *outlet);

#endif
