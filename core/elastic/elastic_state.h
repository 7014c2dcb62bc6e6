// SPDX-License-Identifier: Apache-2.0
//
// What an mn_elastic holds. For core/elastic only.
//
// Unknowns are nodes. A point of a solid or a cloth is a node; the points of a rigid body hang on four nodes
// of mass m/4 that have its first and second moments, and one stiff tetrahedron holds these together
// [lan2022]: the same elements, contacts and momenta serve all bodies.
#ifndef MENISCUS_ELASTIC_STATE_H
#define MENISCUS_ELASTIC_STATE_H

#include "contact/surface.h"
#include "elastic/material.h"
#include "linear/krylov.h"
#include "linear/sparse.h"
#include "meniscus/array.h"
#include "meniscus/elastic.h"
#include "meniscus/solver.h"

typedef MN_ARRAY(mn_vec3) mn_vec3s;
typedef MN_ARRAY(double) mn_doubles;
typedef MN_ARRAY(int32_t) mn_indices;

/// m/s, below which friction grows with the speed; where a contact slips faster when a step begins, a
/// fraction of that: what comes to rest within a step is at rest to the first in the next.
static const double mn_elastic_slip_speed = 1e-4, mn_elastic_slip_fraction = 0.02;

enum { MN_NODE_FIXED = 1 }; ///< goes where it is told

typedef enum mn_element_type {
    MN_ELEMENT_TET,
    MN_ELEMENT_SHEET,
    MN_ELEMENT_HINGE, ///< of a shell that is bent at rest
    MN_ELEMENT_FOLD,  ///< a hinge that is flat at rest
    MN_ELEMENT_TYPES
} mn_element_type;

/// No padding: saved as it is.
typedef struct mn_element {
    int32_t type, body;
    int32_t node[4];     ///< -1 where it has fewer
    mn_vec3 gradient[4]; ///< tetrahedra: of the shape functions at rest; sheets: in x and y; folds: in x
    double weight;       ///< m^3, m^2; hinges: J, stiffness of the angle
    double rest_angle;   ///< hinges
    double mu, lambda;   ///< Pa, N/m
    double viscous;      ///< Pa s, N s/m, J s: damping times stiffness, without the def's damping
    int64_t model;       ///< mn_elastic_model of a tetrahedron; -1: the def's
} mn_element;

/// How a point hangs on nodes.
typedef struct mn_anchor {
    int32_t node[4]; ///< -1 after the last
    double weight[4];
} mn_anchor;

typedef struct mn_elastic_part {
    int32_t kind, first_point, point_count, first_node, node_count, reserved;
    double stiffness; ///< Pa, of contacts
    double size;      ///< m, diagonal at rest
    double thickness; ///< m, of cloth
} mn_elastic_part;

/// weight * r r^T in the Hessian, r a vector at each of some nodes.
typedef struct mn_row_entry {
    int32_t node;
    mn_vec3 r;
} mn_row_entry;
typedef struct mn_row {
    int64_t first;
    int32_t count;
    double weight;
} mn_row;

/// Friction of one contact with its force and directions as they were.
typedef struct mn_lagged {
    int32_t v[4];
    double rows[2][12], force; ///< N, friction coefficient times the normal force
    double slip;               ///< m, below which it grows with the slip
    double caution;            ///< in [0, 1]: how much its curvature is that of its secant
} mn_lagged;

/// What one pair has been given in this step by impulses.c: along its normal and two tangents.
typedef struct mn_impulse {
    double allowed;               ///< m, how far it may close
    double softness[3], given[3]; ///< 1/kg, kg m
} mn_impulse;

/// Where a pinned node or a collider's is at the start and the end of the advance.
typedef struct mn_elastic_tie {
    int32_t a, b; ///< nodes or points
    mn_vec3 apart;
    double stiffness; ///< N/m
} mn_elastic_tie;

/// What holds together, and what it should have.
typedef struct mn_island {
    bool held;                         ///< something fixed holds it, or it has no mass of its own
    double mass;                       ///< kg
    mn_vec3 at, center, center_before; ///< a place in it; kg m from there
    mn_vec3 push, push_before, spin, spin_before, turn, shift;
    mn_mat3 inertia;
} mn_island;

struct mn_elastic {
    mn_solver solver;
    mn_elastic_def def;

    // nodes
    mn_vec3s x, v, x_old, v_old; ///< now and one step ago
    mn_doubles mass;
    MN_ARRAY(uint8_t) flags;
    mn_vec3s target_begin, target_end; ///< of fixed nodes, over the advance
    mn_vec3s force;                    ///< N, from outside
    double dt_old;                     ///< s, of the last step; 0 before the first
    double pace; ///< s, the longest step that Newton's method makes good time with; 0: any

    // points
    MN_ARRAY(mn_anchor) anchor;
    mn_vec3s rest, point_x, point_v, point_force;
    mn_indices point_body;
    mn_doubles point_stress, point_share;
    mn_indices triangle; ///< three points each
    MN_ARRAY(mn_elastic_part) part;
    MN_ARRAY(mn_element) element;
    MN_ARRAY(mn_elastic_tie) tie;
    bool is_ready; ///< the surface is known to contact, bodies are apart

    // elements around nodes
    mn_doubles element_gradient, element_stiffness, element_old; ///< 12, 144 and 6 each
    MN_ARRAY(int64_t) around_start;
    mn_indices around; ///< 4 * element + corner

    // contact
    mn_contact_pairs *contact;
    double distance; ///< m, where the barrier begins
    mn_contact_terms terms, lag_terms;
    MN_ARRAY(mn_lagged) lagged;
    MN_ARRAY(mn_impulse) impulse;
    mn_vec3s reference; ///< points when candidates were found
    mn_doubles reach, part_reach;
    mn_vec3s part_motion; ///< means over the points of bodies, and the mean of all at the end
    mn_vec3s trial, trial_point, step_point, point_end;

    // the system
    MN_ARRAY(mn_row) row;
    MN_ARRAY(mn_row_entry) entry;
    MN_ARRAY(int64_t) entry_start;
    mn_indices entry_row, entry_at;
    mn_indices unknown; ///< of nodes, -1 for fixed ones
    int32_t unknown_count;
    mn_sparse pattern, matrix; ///< of nodes, of their coordinates
    mn_indices order, block_order;
    mn_cholesky *cholesky;
    mn_krylov *krylov;
    int32_t factor_rest; ///< solves that a factor of their own is made for, after an old one did badly
    bool pattern_is_new; ///< no order has been found for it
    bool has_factor, factor_is_fresh; ///< of some matrix; not used for another one yet
    MN_ARRAY(int64_t) element_block;  ///< 16 for each element, in the pattern
    mn_doubles gradient, direction, image;
    mn_vec3s dx;

    // one step
    double dt, h;     ///< s; h of BDF2
    double dt_before; ///< s, dt_old when the step began
    bool shared;      ///< with a liquid (shared_step.h)
    double caution;   ///< the largest of frictions that slip
    mn_vec3s x_start, x_tilde, x_hat, goal;
    mn_vec3s backup_x, backup_v, backup_x_old, backup_v_old;

    // islands: nodes joined by elements, contacts and ties
    mn_indices island;
    MN_ARRAY(mn_island) islands;

    // the last advance
    int64_t newton_iterations;
    double smallest_gap, contact_energy;
    int64_t contacts;

    // what is shown
    mn_indices shown_tet, shown_triangle;
    int64_t shown_solid; ///< corners of triangles that belong to solids, which come first
    int32_t shown_points;
    mn_indices id;
};

/// Elastic, bending and damping energies of all elements at x, and their derivatives in element_gradient and
/// element_stiffness when asked for.
mn_status mn_elastic_elements(mn_elastic *s, const mn_vec3 *x, bool derivatives, double *energy);
/// Strains and angles at x, from which damping measures rates.
mn_status mn_elastic_keep_strains(mn_elastic *s, const mn_vec3 *x);
/// Energy alone, without damping, for reports.
double mn_elastic_potential(const mn_elastic *s);
void mn_elastic_stresses(mn_elastic *s);

/// Candidates for all that points may do from `from` while they go `to - from`, and a little more.
mn_status mn_elastic_find_candidates(mn_elastic *s, const mn_vec3 *from, const mn_vec3 *to);
/// Whether points at `x` are still within what candidates were made for.
bool mn_elastic_within_reach(mn_elastic *s, const mn_vec3 *x);

/// Points of nodes.
void mn_elastic_place_points(const mn_elastic *s, const mn_vec3 *nodes, mn_vec3 *points);
/// Contact, friction and ties at x: energy; with derivatives the gradient is added to s->gradient and the
/// rows are made.
mn_status mn_elastic_contacts(mn_elastic *s, const mn_vec3 *x, bool derivatives, double *energy);
/// Friction for the contacts at x.
mn_status mn_elastic_lag_friction(mn_elastic *s, const mn_vec3 *x);
/// Which frictions the direction s->dx, of which a fraction is allowed, would turn around.
void mn_elastic_watch_friction(mn_elastic *s, double fraction);
/// Forces, energy, gap and number of contacts at the end of an advance.
mn_status mn_elastic_contact_forces(mn_elastic *s);
/// A row of the Hessian that has r[i] at point v[i]. Points on the same nodes share an entry.
mn_status mn_elastic_push_row(mn_elastic *s, int32_t count, const int32_t *v, const mn_vec3 *r,
                              double weight);
/// Turns the motion s->dx of a step from s->x_start into one that passes through nothing, by impulses between
/// pairs; MN_ERROR_DIVERGED without a sentence when a shorter step is needed.
mn_status mn_elastic_give_impulses(mn_elastic *s);

/// Unknowns, elements around nodes and the surface, after bodies were added or loaded.
mn_status mn_elastic_prepare(mn_elastic *s);
/// The matrix for the derivatives at hand, its factor, and in s->direction the right-hand side.
mn_status mn_elastic_factor(mn_elastic *s, const mn_vec3 *x);
/// dx for the derivatives at hand; fixed nodes move by `goal - x`.
mn_status mn_elastic_solve(mn_elastic *s, const mn_vec3 *x);
void mn_elastic_free_system(mn_elastic *s);

/// E of newton.c at x and, when asked for, what its derivatives are made of.
mn_status mn_elastic_energy(mn_elastic *s, const mn_vec3 *x, bool derivatives, double *energy);
/// How far along dx nothing passes anything; new candidates where a point leaves what they were made for.
mn_status mn_elastic_longest_step(mn_elastic *s, double *fraction);
/// Candidates and weights for a step from s->x_start, and where friction measures slip from.
mn_status mn_elastic_start_search(mn_elastic *s);
/// x, the minimum of the step; MN_ERROR_DIVERGED without a sentence when there is none to be found.
mn_status mn_elastic_minimise(mn_elastic *s);
/// One explicit step of s->dt.
mn_status mn_elastic_explicit_step(mn_elastic *s);
/// The longest that is stable, s.
mn_status mn_elastic_stable_step(mn_elastic *s, double *dt);

/// Keeps what the step may change, and predicts; then velocities from s->x, with momenta restored; or back.
mn_status mn_elastic_open_step(mn_elastic *s, double dt, double fraction);
mn_status mn_elastic_close_step(mn_elastic *s, bool repair);
void mn_elastic_undo_step(mn_elastic *s);

// the loop's (step.c)
mn_status mn_elastic_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                           mn_step_plan *plan);
mn_status mn_elastic_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
mn_status mn_elastic_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt,
                             mn_verdict *verdict);
mn_status mn_elastic_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_elastic_end(mn_solver *solver, const mn_solver_inputs *inputs);
mn_status mn_elastic_show(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view);
/// Restores linear and angular momentum of every island that nothing outside holds, by a velocity that moves
/// it as a rigid body.
mn_status mn_elastic_repair_momentum(mn_elastic *s, const mn_vec3 *x_before, const mn_vec3 *v_before);

#endif
