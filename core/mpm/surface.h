// SPDX-License-Identifier: Apache-2.0
//
// The surface between liquid and air: found, cut into pieces, kept thick enough, settled.
#ifndef MENISCUS_MPM_SURFACE_H
#define MENISCUS_MPM_SURFACE_H

#include "mpm/state.h"

// ---- two_liquids.c ----

/// Finds whether there are two liquids, and how their tensions are shared out.
mn_status mn_mpm_find_liquids(mn_mpm *mpm);
/// An error with a sentence when their tensions cannot balance.
mn_status mn_mpm_check_liquids(const mn_mpm *mpm);
/// N/m, of a piece of the surface of that layer at a particle.
double mn_mpm_tension(const mn_mpm *mpm, int32_t layer, int32_t owner);
/// Whether a particle's liquid is inside of the surface that is looked for.
static inline bool mn_mpm_in_layer(const mn_mpm *mpm, int64_t particle)
{
    return mpm->surface.layer == MN_MPM_ALL ||
           mn_mpm_liquid_of(&mpm->materials.data[particle]) == mpm->surface.layer;
}
/// Its particles' positions, in the memory of mirrored, with room for `more` after them.
mn_status mn_mpm_layer_points(mn_mpm *mpm, int64_t more, int64_t *count);

// ---- surface_samples.c ----

/// Fills patches (in the order of their owners) and groups; none when no particle has surface tension.
mn_status mn_mpm_sample_surface(mn_mpm *mpm);
/// The same for the state as it is, to be shown; changes nothing that a step uses.
mn_status mn_mpm_show_samples(mn_mpm *mpm, const mn_collider *collider);
/// The level set of the particles at this spacing, m, in mpm->surface.level_set.
mn_status mn_mpm_find_surface(mn_mpm *mpm, double dx, int32_t smoothing);
/// Its first stage, the distance to the union of balls; and its last, the shift of each body to its volume.
mn_status mn_mpm_unite_balls(mn_mpm *mpm, double dx);
mn_status mn_mpm_calibrate_surface(mn_mpm *mpm);
/// The particle nearest to x within one cell, -1 when there is none; and how far it is (else a cell),
/// squared. A `guess` that is near (-1: none) makes it faster.
int32_t mn_mpm_nearest(const mn_mpm *mpm, mn_vec3 x, int32_t guess, double *distance2);
/// Gives each patch its nearest particle within one cell, drops those that have none, and puts the rest in
/// the order of their owners.
mn_status mn_mpm_assign_patches(mn_mpm *mpm);

// ---- surface_sheets.c ----

/// Puts the sheets and threads that smoothing loses back into the surface found last: to be shown, or to have
/// surface tension.
mn_status mn_mpm_add_sheets(mn_mpm *mpm, bool shown);

// ---- subgrid_drops.c ----

/// m^3, of the largest body that the grid sees no shape in.
static inline double mn_mpm_mist_volume(const mn_mpm *mpm)
{
    return 3.5 * mpm->def.dx * mpm->def.dx * mpm->def.dx;
}
/// Whether a particle belongs to such a body, by the surface that was sampled last.
static inline bool mn_mpm_is_mist(const mn_mpm *mpm, int64_t particle)
{
    return mpm->surface.mist.count > 0 && mpm->surface.mist.data[particle];
}
/// Finds the mist, takes its pressure and makes each body of it move as a rigid one.
mn_status mn_mpm_settle_mist(mn_mpm *mpm);

// ---- surface_settling.c ----

/// Draws particles of `next` that lay outside of the surface back to it, by `amount` of their distance.
mn_status mn_mpm_settle_surface(mn_mpm *mpm, double amount);

// ---- particle_spacing.c ----

/// Moves particles of `next` by `amount` down the slope of what they fill more than the surface encloses.
mn_status mn_mpm_even_out(mn_mpm *mpm, double amount);

// ---- volume_fraction.c ----

typedef struct mn_mpm_fullness {
    double fraction; ///< that liquid of others takes up there: 1 inside, one half at the surface
    double j;        ///< mean volume ratio there, of all
    int32_t nearest; ///< free particle, -1: none near
    double distance; ///< m, to it
} mn_mpm_fullness;

/// What the sorted state has at x, without the liquid that nozzles of `own_piece` (-1: of none) hold.
mn_mpm_fullness mn_mpm_fullness_at(const mn_mpm *mpm, mn_vec3 x, int64_t own_piece);
/// The weight of a particle at offset r.
double mn_mpm_hat(mn_vec3 r, double dx);

#endif
