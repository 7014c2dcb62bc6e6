// SPDX-License-Identifier: Apache-2.0
//
// Implicit steps: the grid's velocity at the end of the step minimises the incremental potential
//
//   E(v) = sum_i m_i/2 |v_i - v^_i|^2                                         inertia
//        + sum_p S_p/2 (D_p v + q_p)^2 + sum_p N_p/4 |L_p v + L_p v^T|^2      pressure and viscosity
//        + sum_r psi_r( I + dt L_r (v - a v_n) ) + dt Q_r : L_r v             surface samples
//
//   v^   start velocity v_n with gravity and the pressures that the particles have: v_n + dt (g + f_p/m)
//   L    = sum_i v_i grad w_i^T at the particle or sample,  D = trace
//   S_p  = dt^2 K V_p J_p^2,   N_p = dt mu_p V_p J_p
//   q_p  = ( det(I + dt L_p) - 1 - dt D_p ) / dt of v_n: what the finite motion of a step adds to the
//   divergence psi  surface energy (surface_energy.h);  Q = beta dt s/2 (e T + T e),  e = sym(L v_n),  T = I
//   - N N^T
//
// With a = 1 the surface resists the change of the velocity: a liquid that moves on as it did feels the force
// it began with, capillary waves keep their energy, waves too fast for the step are slowed down rather than
// followed, and spinning is not resisted. What damps them then is Q, a viscosity beta sigma dt of the
// surface. a = 0 is backward Euler. docs/theory/mpm.md has the analysis.
#ifndef MENISCUS_MPM_IMPLICIT_H
#define MENISCUS_MPM_IMPLICIT_H

#include "base/simd.h"
#include "meniscus/array.h"
#include "meniscus/mpm.h"
#include "mpm/boundary.h"
#include "mpm/surface_energy.h"
#include "mpm/transfer.h"
#include "space/blocks.h"

/// What the liquid of one particle resists with, in the order of the particles.
typedef struct mn_mpm_pressed {
    double t[3];      ///< place in its cell, [0, 1)
    double stiffness; ///< S, kg m^2
    double viscous;   ///< N, kg m^2
    double bulge;     ///< q, 1/s
} mn_mpm_pressed;

/// A surface sample at the velocity that was evaluated last.
typedef struct mn_mpm_curved {
    double t[3];        ///< place in its cell, [0, 1)
    int32_t cell;       ///< of its block
    mn_vec3 damping[3]; ///< columns of Q, J
    mn_surface_hessian hessian;
} mn_mpm_curved;

/// The nodes in front of the wall that see a foot, and how much of them it sees.
typedef struct mn_mpm_foot {
    int32_t node[27];
    double w[27], sum;
    int32_t count;
} mn_mpm_foot;

/// A node that walls or solids hold: v.axis_k = speed_k for k < rank.
typedef struct mn_mpm_held {
    int32_t node, contact_count, rank;
    mn_mpm_touch contacts[MN_MPM_TOUCH_MAX];
    bool on[MN_MPM_TOUCH_MAX];
    mn_vec3 axis[3]; ///< orthonormal
    double speed[3]; ///< m/s
} mn_mpm_held;

/// One step's problem and the scratch to solve it. Vectors have one entry for each node of the grid; those of
/// velocities carry the mass in the first lane, all others nothing.
typedef struct mn_mpm_implicit {
    double dt, memory; ///< s; a
    double beta;       ///< s, viscosity of the surface in units of sigma dt
    mn_surface_curvature curvature;
    bool viscous;
    mn_mpm_pressed *pressed; ///< of each particle; borrowed (mn_mpm_borrow)
    mn_mpm_curved *samples;  ///< behind them
    int64_t sample_count;
    MN_ARRAY(mn_mpm_foot) feet;       ///< of the walls' contacts (wall_pressure.c)
    MN_ARRAY(double) inflow, impulse; ///< of each contact: its part of D, its part of S (D + q)
    MN_ARRAY(mn_mpm_held) held;
    MN_ARRAY(int32_t) first_sample, first_held; ///< [block count + 1]
    mn_point_sort *sample_sort;
    MN_ARRAY(mn_mpm_node) target, gradient, residual, direction, image, change;
    MN_ARRAY(double) block_energy;
    MN_ARRAY(double) ratio; ///< of each particle's volume after and before the step, once it is solved
    bool indefinite;        ///< conjugate gradients met a direction of negative curvature
} mn_mpm_implicit;

// ---- implicit_build.c ----

/// Fills pressed particles, samples and held nodes for a step of dt from mpm->before (v_n) and
/// implicit.target (v^).
mn_status mn_mpm_implicit_build(mn_mpm *mpm, double dt);
/// q of all particles at velocity v.
mn_status mn_mpm_implicit_bulge(mn_mpm *mpm, const mn_mpm_node *v);
/// implicit.ratio from the solved velocity.
mn_status mn_mpm_implicit_ratio(mn_mpm *mpm, const mn_mpm_node *v);

// ---- potential.c ----

/// E and its gradient at v (implicit.gradient), and the surface's curvature there for what follows.
mn_status mn_mpm_potential(mn_mpm *mpm, const mn_mpm_node *v, double *energy);
/// image = H direction with H the (projected) second derivative at the v evaluated last.
mn_status mn_mpm_potential_apply(mn_mpm *mpm, const mn_mpm_node *direction, mn_mpm_node *image);

// ---- grid_cg.c ----

/// Solves H change = -gradient on the free directions, until what is left to change is at most `tolerance`
/// times the change, or `floor`; both are norms weighted by mass, sqrt(kg) m/s. `so_far` is the change of
/// earlier solves.
mn_status mn_mpm_implicit_solve(mn_mpm *mpm, double tolerance, double so_far, double floor,
                                int64_t *iterations, bool *converged);

// ---- held_nodes.c ----

mn_status mn_mpm_find_held(mn_mpm *mpm);
/// The held directions of a node and their speeds, from its contacts that are on.
void mn_mpm_find_directions(mn_mpm_held *held);
/// Puts v onto what holds it.
void mn_mpm_hold(const mn_mpm *mpm, mn_mpm_node *v);
/// The part of v along directions in which no node is held.
mn_vec3 mn_mpm_free_everywhere(const mn_mpm *mpm, mn_vec3 v);
/// Switches contacts that may separate by the gradient (the impulse of the walls) and v; true when any
/// changed.
bool mn_mpm_switch_contacts(mn_mpm *mpm, const mn_mpm_node *v);
/// Coulomb friction with the impulses of the walls.
void mn_mpm_rub(const mn_mpm *mpm, mn_mpm_node *v);

/// Takes what is held out of a vector's entry.
MN_INLINE void mn_mpm_free_part(const mn_mpm_held *held, mn_mpm_node *entry)
{
    for (int32_t k = 0; k < held->rank; k++)
        entry->v = mn_axpy(entry->v, -mn_dot(entry->v, held->axis[k]), held->axis[k]);
}

// ---- newton.c ----

/// The velocity at the end of the step in mpm->nodes, from mpm->before.
mn_status mn_mpm_solve_implicit(mn_mpm *mpm, double dt, bool *converged);

#endif
