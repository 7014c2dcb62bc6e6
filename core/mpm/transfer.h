// SPDX-License-Identifier: Apache-2.0
//
// Affine particle-in-cell transfers with quadratic B-splines on the sparse grid [jiang2015].
//
// Node i lies at origin + dx i. The block table's origin is half a cell higher, so that a particle's cell is
// the first of the three nodes it touches on each axis. With t in [0, 1) the place inside that cell,
//
//   w = ( (1-t)^2/2, 1/2 + t (1-t), t^2/2 ),   x_i - x = dx (i - 1/2 - t), i = 0, 1, 2
//   sum w = 1,  sum w (x_i - x) = 0,  sum w (x_i - x)(x_i - x)^T = dx^2/4 I
//
// Two gradients of the grid's velocity at a particle are used:
//
//   G v = (4/dx^2) sum_i w_ip v_i (x_i - x_p)^T     moving least squares, the affine velocity itself [hu2018]
//   D v = sum_i v_i grad w_ip^T                     the derivative of the interpolated velocity
//
// Viscosity uses G, which comes with the transfer. Pressure and surface tension use D: on a drop at rest
// their forces balance node by node only because  int_drop grad w dV = int_surface w n dA, which is true of a
// derivative and of nothing else. With G in its place the currents around a resting drop are 1.6 times as
// fast.
#ifndef MENISCUS_MPM_TRANSFER_H
#define MENISCUS_MPM_TRANSFER_H

#include "meniscus/context.h"
#include "mpm/particles.h"
#include "space/blocks.h"

/// What a node holds: (mass, momentum) after the scatter, (mass, velocity) after the grid update.
typedef struct mn_mpm_node {
    double mass; ///< kg
    mn_vec3 v;   ///< kg m/s, then m/s
} mn_mpm_node;

_Static_assert(sizeof(mn_mpm_node) == 32, "one 256-bit vector");

/// -dt V tau, a symmetric stress, as the scatter reads it: three columns, each behind an empty lane for the
/// mass.
typedef struct mn_mpm_push {
    struct {
        double none;
        mn_vec3 column;
    } axis[3];
} mn_mpm_push;

/// Points in cell order that scatter as they are: in `particles` the velocity slot holds the momentum and the
/// slopes hold the affine momentum (kg/s).
typedef struct mn_mpm_splats {
    const mn_mpm_particle *points; ///< NULL for none
    const mn_mpm_push *pushes;     ///< the impulse of each one's stress
    const int32_t *order;          ///< points[order[k]] comes k-th
    const int32_t *cell_start;
} mn_mpm_splats;

/// The liquid's own particles, in cell order.
typedef struct mn_mpm_cells {
    const mn_mpm_particle *particles;
    const mn_mpm_material *materials;
    const int32_t *cell_start; ///< [block count * 64 + 1]
    /// [particle count] NULL, or the group of each particle: those of a group (>= 0) are left out here, for
    /// they scatter as splats together with the surface samples that share their mass.
    const int32_t *group_of;
} mn_mpm_cells;

/// How long the particles' forces act while they are scattered; 0 leaves them out.
typedef struct mn_mpm_impulse {
    double bulk_modulus; ///< Pa
    double dt;           ///< s, of the pressure
    double viscous_dt;   ///< s, of the viscosity
} mn_mpm_impulse;

/// nodes = sum over particles and splats of mass, momentum and the impulse of pressure and viscosity. `nodes`
/// holds 64 per block and is overwritten.
mn_status mn_mpm_scatter(mn_context *ctx, const mn_block_table *table, const mn_mpm_cells *cells,
                         const mn_mpm_splats *splats, mn_mpm_impulse impulse, mn_mpm_node *nodes);

/// What the grid says at a particle.
typedef struct mn_mpm_sample {
    mn_vec3 v;
    mn_mat3 gradient;  ///< G v
    double divergence; ///< trace of D v
} mn_mpm_sample;

/// Called block by block, from any thread, with samples [first, first + count) in cell order.
typedef void mn_mpm_gather_fn(void *user, int32_t block, int32_t first, int32_t count,
                              const mn_mpm_sample *samples);

/// The grid's velocity at points in cell order (`order` NULL: they lie in that order).
mn_status mn_mpm_gather(mn_context *ctx, const mn_block_table *table, const mn_mpm_particle *points,
                        const int32_t *order, const int32_t *cell_start, const mn_mpm_node *nodes,
                        mn_mpm_gather_fn *fn, void *user);

#endif
