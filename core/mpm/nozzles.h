// SPDX-License-Identifier: Apache-2.0
//
// Liquid from emitters (emit.c).
#ifndef MENISCUS_MPM_NOZZLES_H
#define MENISCUS_MPM_NOZZLES_H

#include "mpm/state.h"

/// Fills the nozzles of the state, `before` seconds before the end of the advance.
mn_status mn_mpm_fill_nozzles(mn_mpm *mpm, double before);
/// After a failure: what sites say is full may not be, so they are made anew when the emitter is set again.
void mn_mpm_forget_emitter(mn_mpm *mpm);
/// What nozzles do to `next` over a step that ends `before` seconds before the end of the advance: they carry
/// and let go what they hold, and fill up.
mn_status mn_mpm_emit_next(mn_mpm *mpm, double dt, double before, mn_mpm_step_stats *stats);
/// m/s, of the fastest thing that moves whatever the liquid does: solids and nozzles.
double mn_mpm_driven_speed(const mn_mpm *mpm);
/// What nozzles hold, on the grid, in mpm->held.
mn_status mn_mpm_scatter_nozzles(mn_mpm *mpm);
/// Whether a node belongs to nozzles, and then the velocity it has.
static inline bool mn_mpm_node_is_held(const mn_mpm *mpm, int64_t node, double mass, mn_vec3 *v)
{
    if (mpm->nozzles.held.count == 0) return false;
    const mn_mpm_node *held = &mpm->nozzles.held.data[node];
    if (!(held->mass >= 0.5 * mass) || !(held->mass > 0)) return false;
    *v = mn_scale(1 / held->mass, held->v);
    return true;
}

#endif
