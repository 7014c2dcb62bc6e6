// SPDX-License-Identifier: Apache-2.0
//
// Solids that a solver moves by itself, joined to those that it is given: to everything that asks, they are
// one collider. They are seen where they are now, whatever `before` says.
#ifndef MENISCUS_SPACE_MOVING_SOLIDS_H
#define MENISCUS_SPACE_MOVING_SOLIDS_H

#include "meniscus/collider.h"

typedef struct mn_moving_solids {
    const void *user;
    /// As mn_collider_probe() says; `distance` alone may be a lower bound beyond the band.
    double (*distance)(const void *user, mn_vec3 x);
    mn_contact (*probe)(const void *user, mn_vec3 x);
    /// The paint at the place nearest to x.
    double (*paint)(const void *user, mn_paint paint, double fallback, mn_vec3 x);
    bool painted[MN_PAINT_COUNT];
    double band;      ///< m
    double max_speed; ///< m/s
    mn_box bounds;
} mn_moving_solids;

/// `fixed` may be NULL; it and what `moving` points at must outlive the collider.
mn_status mn_collider_join(mn_context *ctx, const mn_collider *fixed, const mn_moving_solids *moving,
                           mn_collider **joined);
/// Looks at other given solids (NULL: none), and at the moving ones as they are now.
void mn_collider_rejoin(mn_collider *joined, const mn_collider *fixed, const mn_moving_solids *moving);
/// Whether the nearest solid at x is one of the moving ones.
bool mn_collider_is_moving(const mn_collider *joined, double before, mn_vec3 x);

#endif
