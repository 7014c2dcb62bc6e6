// SPDX-License-Identifier: Apache-2.0
//
// Bodies that the liquid moves: a wall whose velocity is unknown, in the same solve as the liquid's.
//
// With E(x) u the velocity of the wall at x (elastic/wall.h), the bodies enter the incremental potential of
// implicit.h through
//
//   held nodes       v_i = what is free + sum_k a_k l_k . E_i u      a: held axes, l_k: a_k or what of it the
//                                                                    body alone says in a corner
//   wall pressure    D_p v  ->  D_p v - delta N . E_c u              at the middle of the nodes that push
//   given impulses   + J . E u                                       J: on the liquid, of wall pressures that
//                                                                    the particles have and of contact lines
//   the bodies       + (dt/h) (inertia + elasticity + contact)       elastic/shared_step.h
//
// Conjugate gradients run in (v free, u), preconditioned by the nodes' mass and by the factor of the bodies'
// own second derivative with the mass that they hold: a wall without that mass would be pushed away by a
// liquid heavier than it is, however short the step. What the liquid gets the bodies lose, by E^T. What
// solves leave over, and implicit steps take from angular momentum, is given back to liquid and bodies
// together as a rigid motion where nothing else holds them, so that both momenta are exact whatever the
// tolerance. (A body that takes back what is missing in it alone is shaken by a liquid much heavier than it
// is.)
#ifndef MENISCUS_MPM_BODIES_H
#define MENISCUS_MPM_BODIES_H

#include "elastic/shared_step.h"
#include "meniscus/array.h"
#include "meniscus/mpm.h"
#include "mpm/implicit.h"

/// A held node that a body holds.
typedef struct mn_mpm_grip {
    int32_t held;  ///< of implicit.held
    int32_t sides; ///< of the body, as its first contacts: one, and two or three at edges and corners
    mn_wall_map map;
    mn_vec3 l[3];
} mn_mpm_grip;

/// Zero-initialised: there are none.
typedef struct mn_mpm_bodies {
    mn_elastic *elastic; ///< the caller's
    mn_elastic_inputs inputs;
    mn_elastic_wall *wall;
    const mn_collider *fixed; ///< the collider of the advance
    mn_collider *joined;      ///< with the wall
    bool open;                ///< a step has been begun and not been taken
    bool shared;              ///< the liquid touches bodies in this step
    MN_ARRAY(mn_mpm_grip) holds;
    MN_ARRAY(int32_t) hold_of;          ///< of each node, -1: none
    MN_ARRAY(mn_vec3) turned;           ///< of each hold: what of its mass sees another side of the body
    MN_ARRAY(mn_wall_row) contact_rows; ///< of each contact, N.E; node[0] -1: not of a body
    MN_ARRAY(mn_wall_row) held_rows;
    MN_ARRAY(double) direction;       ///< of each contact: speed of the wall in the direction at hand, m/s
    MN_ARRAY(mn_vec3) u, load;        ///< velocities; impulses on the liquid that are given
    MN_ARRAY(mn_vec3) own, gradient;  ///< of the bodies and loads alone; of everything
    MN_ARRAY(mn_vec3) x, r, z, p, hp; ///< of conjugate gradients
} mn_mpm_bodies;

// ---- bodies.c: an advance and its steps ----

/// Begins an advance, joins the bodies to the collider.
mn_status mn_mpm_bodies_begin(mn_mpm *mpm, const mn_collider *collider, double seconds);
/// The collider with the bodies as they are, between advances.
mn_status mn_mpm_bodies_show(mn_mpm *mpm, const mn_collider *collider, const mn_collider **shown);
mn_status mn_mpm_bodies_end(mn_mpm *mpm);
void mn_mpm_bodies_free(mn_mpm *mpm);
/// Begins a try of a step that ends at mpm->frame_left.
mn_status mn_mpm_bodies_open(mn_mpm *mpm, double dt);
/// What touches bodies, for the held nodes and the contacts' feet found last; sets `shared`.
mn_status mn_mpm_bodies_find(mn_mpm *mpm);
/// After the solve: the bodies at the end of the step.
mn_status mn_mpm_bodies_finish(mn_mpm *mpm);
/// A try that was not good.
void mn_mpm_bodies_undo(mn_mpm *mpm);
/// Whether the solid at x is a body.
bool mn_mpm_is_body(const mn_mpm *mpm, double before, mn_vec3 x);

// ---- body_edges.c: nodes behind more than one side of a body ----

mn_status mn_mpm_bodies_find_edges(mn_mpm *mpm);

// ---- bodies_solve.c: their part of the solve; for `shared` steps ----

/// The velocities to search from.
mn_status mn_mpm_bodies_start(mn_mpm *mpm);
/// The walls move as the bodies do now.
void mn_mpm_bodies_follow(mn_mpm *mpm);
/// Their energy now; and the gradient and the factor that follow from it and from the potential evaluated
/// last.
mn_status mn_mpm_bodies_energy(mn_mpm *mpm, double *energy);
mn_status mn_mpm_bodies_linearise(mn_mpm *mpm);
/// Conjugate gradients: r = -gradient, x = 0, z; r.z.
mn_status mn_mpm_bodies_cg_begin(mn_mpm *mpm, double *rz);
/// p = z + beta p, and its part of the grid's direction.
void mn_mpm_bodies_cg_turn(mn_mpm *mpm, double beta, mn_mpm_node *direction);
/// H p, from the grid's image before what is held is taken out of it; p.H p.
mn_status mn_mpm_bodies_cg_measure(mn_mpm *mpm, const mn_mpm_node *direction, const mn_mpm_node *image,
                                   double *curvature);
/// x += alpha p, r -= alpha H p, z; adds r.z and |x|^2.
mn_status mn_mpm_bodies_cg_walk(mn_mpm *mpm, double alpha, double sums[2]);
/// r.z of the bodies alone.
double mn_mpm_bodies_cg_rest(const mn_mpm *mpm);
/// What the bodies' own part of the energy changes by, along the change that was solved for.
double mn_mpm_bodies_slope(const mn_mpm *mpm);

#endif
