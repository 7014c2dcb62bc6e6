// SPDX-License-Identifier: Apache-2.0
//
// The bodies' part of a step that they share with a liquid in one solve.
//
// Unknown are the nodes' velocities u = (x - x~)/h, so that u is the velocity of the wall that the liquid
// sees. Steps are those of backward Euler, h = dt and x~ = x_n, whatever the def says: BDF2 answers a push
// with two thirds of it, and where momentum is restored at the end of each step a light box on a pool was
// shaken off within 50 ms. With E of newton.c,
//
//   energy (dt/h) E(x~ + h u),   gradient dt E',   second derivative dt h E'' + sum_r w_r r r^T
//
// are in the units of the liquid's incremental potential: gradients are impulses over dt, and the coupling is
// symmetric. The rows r with masses w are what the liquid's nodes that the bodies hold add to their inertia.
// Vectors have an entry for each node; those of fixed nodes are zero.
//
// The order of calls: begin for each advance; open, start, then evaluate, factor, apply, solve, limit and
// move as a solver likes, then finish; undo after a step that was not good.
#ifndef MENISCUS_ELASTIC_SHARED_STEP_H
#define MENISCUS_ELASTIC_SHARED_STEP_H

#include "elastic/wall.h"

mn_status mn_elastic_shared_begin(mn_elastic *elastic, const mn_elastic_inputs *inputs, double seconds);
/// A step of dt that ends at `fraction` of the advance.
mn_status mn_elastic_shared_open(mn_elastic *elastic, double dt, double fraction);
/// The velocities to search from: those of a motion that nothing disturbs, as far as contacts let it go.
/// MN_ERROR_DIVERGED without a sentence when pinned points cannot go where they are told.
mn_status mn_elastic_shared_start(mn_elastic *elastic);
/// The whole step, without any liquid.
mn_status mn_elastic_shared_alone(mn_elastic *elastic);

int64_t mn_elastic_node_count(const mn_elastic *elastic);
/// u of all nodes, those that are fixed included.
void mn_elastic_shared_velocities(const mn_elastic *elastic, mn_vec3 *u);
/// sum (dt/h) m |u - v_n|^2 for the velocities at hand, and for a change of them.
double mn_elastic_shared_distance2(const mn_elastic *elastic);
/// The same of the velocities that the step began with.
double mn_elastic_shared_motion2(const mn_elastic *elastic);
double mn_elastic_shared_norm2(const mn_elastic *elastic, const mn_vec3 *change);

/// At the velocities at hand; `gradient` NULL: the energy alone.
mn_status mn_elastic_shared_evaluate(mn_elastic *elastic, double *energy, mn_vec3 *gradient);
/// A row of the held nodes: sum over nodes of r_k . u.
typedef struct mn_wall_row {
    int32_t node[4]; ///< -1 after the last
    mn_vec3 r[4];
    double mass; ///< kg
} mn_wall_row;
/// The second derivative at the place evaluated last, and its factor.
mn_status mn_elastic_shared_factor(mn_elastic *elastic, int64_t count, const mn_wall_row *rows);
mn_status mn_elastic_shared_apply(mn_elastic *elastic, const mn_vec3 *p, mn_vec3 *image);
mn_status mn_elastic_shared_solve(mn_elastic *elastic, const mn_vec3 *r, mn_vec3 *z);
/// The fraction of a change, at most 1, on which nothing passes through anything; how far the farthest node
/// goes with all of it, m.
mn_status mn_elastic_shared_limit(mn_elastic *elastic, const mn_vec3 *change, double *fraction,
                                  double *longest);
/// m, that places have to be found to: a fraction of the distance at which contact begins; INFINITY where
/// nothing touches.
double mn_elastic_shared_resolution(const mn_elastic *elastic);
/// Where the nodes are, to come back to; and from there along the change.
void mn_elastic_shared_keep(mn_elastic *elastic);
void mn_elastic_shared_move(mn_elastic *elastic, const mn_vec3 *change, double length);

/// The nodes at the end of the step; `alone`: with their momenta restored.
mn_status mn_elastic_shared_finish(mn_elastic *elastic, bool alone);
/// Adds shift + turn x (x - center) to the velocities of nodes that are not fixed, after the step was
/// finished.
void mn_elastic_shared_nudge(mn_elastic *elastic, mn_vec3 shift, mn_vec3 turn, mn_vec3 center);
/// Back to before mn_elastic_shared_open().
void mn_elastic_shared_undo(mn_elastic *elastic);
/// After the last step of an advance.
mn_status mn_elastic_shared_end(mn_elastic *elastic);

/// Places and velocities of the nodes now, and when the step began.
const mn_vec3 *mn_elastic_nodes(const mn_elastic *elastic);
const mn_vec3 *mn_elastic_node_velocities(const mn_elastic *elastic);
const mn_vec3 *mn_elastic_start_nodes(const mn_elastic *elastic);
const mn_vec3 *mn_elastic_start_velocities(const mn_elastic *elastic);
bool mn_elastic_node_is_fixed(const mn_elastic *elastic, int64_t node);
double mn_elastic_node_mass(const mn_elastic *elastic, int64_t node); ///< kg
/// N, from outside, constant over the advance.
mn_vec3 mn_elastic_node_force(const mn_elastic *elastic, int64_t node);
mn_vec3 mn_elastic_gravity(const mn_elastic *elastic); ///< m/s^2

#endif
