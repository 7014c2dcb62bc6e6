// SPDX-License-Identifier: Apache-2.0
//
// The connected bodies of the mesh: their motion, and the energy that they are owed (energy.c).
#ifndef MENISCUS_TET_BODIES_H
#define MENISCUS_TET_BODIES_H

#include "meniscus/tet.h"
#include "tet/arrays.h"
#include "tetmesh/internal.h"

/// A connected part of the liquid; energy.c.
typedef struct mn_tet_body {
    double mass, kinetic, relative, surface, owed; ///< kg; J: all, of what is not linear in x; J
    mn_vec3 center, drift;                         ///< m, m/s
    mn_mat3 gradient;                              ///< 1/s, of the motion linear in x
    mn_mat3 places, flows;                         ///< sum m x x^T, kg m^2, and sum m v x^T, kg m^2/s
    double factor;                                 ///< on what is not linear in x
    bool free;                                     ///< it touches nothing
} mn_tet_body;

typedef struct mn_tet_bodies {
    int32_t count;
    MN_ARRAY(int32_t) of_node;
    mn_tet_numbers room;     ///< m^3 that each has
    MN_ARRAY(uint8_t) grain; ///< of each, with solids; small_bodies.c
    MN_ARRAY(mn_tet_body) list;
    mn_tet_numbers sums; ///< scratch of newton.c, four for each
} mn_tet_bodies;

// ---- energy.c ----

/// What a step from the mesh to `place` puts into the soft volumes is owed.
void mn_tet_liquid_owe_soft(mn_tet_liquid *liquid, const mn_vec3 *place);
/// The energy of every body, with what it is owed, onto `mesh`, a copy of the state's.
mn_status mn_tet_liquid_deposit_energy(mn_tet_liquid *liquid, mn_tet_mesh *mesh);
/// Of what rides on the mesh, what the bodies do not have is owed.
mn_status mn_tet_liquid_withdraw_energy(mn_tet_liquid *liquid);
/// Nothing is owed.
void mn_tet_liquid_forget_owed(mn_tet_mesh *mesh);
/// Pays what is owed as far as the motion allows; a calm liquid forgets it.
mn_status mn_tet_liquid_pay_owed(mn_tet_liquid *liquid, bool calm);

/// The sum of a field of vectors over the mesh, weighted by rest volume, and that weight's sum.
mn_vec3 mn_tet_momentum(const mn_tet_mesh *mesh, const char *velocity, double *mass);

#endif
