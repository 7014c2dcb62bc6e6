// SPDX-License-Identifier: Apache-2.0
//
// What a step tries: one implicit solve (newton.c), a symmetric step (symmetric.c), and what is left where
// none can be solved (rescue.c).
#ifndef MENISCUS_TET_TRIAL_H
#define MENISCUS_TET_TRIAL_H

#include "meniscus/tet.h"
#include "tet/arrays.h"

/// A stage in its units, and the places and velocities that a step tries.
typedef struct mn_tet_trial {
    double recovery; ///< of a node's volume that a solve may give back at most
    mn_tet_vectors start, drift, u, end, place, velocity, middle;
    mn_tet_numbers p, mass, soft_volume, node_volume, volume_before, residual, side, change, pressure,
        reaction;
} mn_tet_trial;

// ---- newton.c ----

/// One implicit solve of length h: from places `a` and velocities `b` to `velocity`, which comes with a
/// guess; pressure likewise. *solved is false when it does not converge or a tetrahedron would turn over.
mn_status mn_tet_liquid_solve_stage(mn_tet_liquid *liquid, double h, const mn_vec3 *a, const mn_vec3 *b,
                                    mn_vec3 *velocity, double *pressure, bool *solved);

// ---- symmetric.c ----

/// One symmetric step of liquid that touches nothing, from places x and velocities v to `place` and
/// `velocity`, which comes with a guess of the mean velocity of the step. *solved is also false when a node
/// comes to touch a solid.
mn_status mn_tet_liquid_solve_symmetric(mn_tet_liquid *liquid, double dt, const mn_vec3 *x, const mn_vec3 *v,
                                        mn_vec3 *place, mn_vec3 *velocity, double *pressure, bool *solved);
/// Makes the velocity one that changes no volume, as a symmetric step leaves it.
mn_status mn_tet_liquid_project_velocity(mn_tet_liquid *liquid);

/// Moves places as little as the mass allows until every node has its volume. What does not converge is left
/// for the next step.
mn_status mn_tet_liquid_recover_volumes(mn_tet_liquid *liquid);

// ---- rescue.c ----

/// The largest rate at which an edge changes, 1/s.
double mn_tet_liquid_strain_rate(const mn_tet_liquid *liquid);
/// Slows the nodes of tetrahedra whose edges change faster, 1/s; momentum stays.
mn_status mn_tet_liquid_limit_strain(mn_tet_liquid *liquid, double rate);
/// Fills place and velocity with where inertia leads in dt, as far as nothing turns over.
mn_status mn_tet_liquid_coast(mn_tet_liquid *liquid, double dt);

#endif
