// SPDX-License-Identifier: Apache-2.0
//
// Multilinear pressure at nodes against multiquadratic velocity at centres, in units of cells:
//
//   G_ai = - int_fluid grad(chi_a) N_i + int_open chi_a N_i n      (= int chi_a grad N_i - int_wall chi_a N_i
//   n) S    = G M^-1 G^T + s C
//
// Velocity gains M^-1 G^T p; divergence is G u. See pressure.c.
#ifndef MENISCUS_FLOW_PRESSURE_H
#define MENISCUS_FLOW_PRESSURE_H

#include "flow/cut_cells.h"
#include "linear/krylov.h"

enum { MN_FLOW_TAP_PAD = 8 };

/// The factors along one axis for the box alone: taps t = 0..3 of cell i stand for nodes i - 1 + t.
typedef struct mn_flow_axis {
    mn_flow_values memory;
    int32_t length;
    double *mass[4], *slope[4]; ///< at cell i + MN_FLOW_TAP_PAD
    double *lumped;             ///< int N_i over the box
    double
        *spread[3]; ///< of the mass correction: what splines i - 1, i and i + 1 give to i (pressure_mass.c)
} mn_flow_axis;

typedef struct mn_flow_levels mn_flow_levels;

/// A node that only slivers of fluid reach: p_node = p_leader.
typedef struct mn_flow_follower {
    int32_t node, leader;
} mn_flow_follower;
enum { MN_FLOW_FOLLOWS = 16, MN_FLOW_HAS_ROW = 17 }; ///< bits of `node`: the latter has a row of G
enum {
    MN_FLOW_DEAD,
    MN_FLOW_LIVE,
    MN_FLOW_PLAIN
}; ///< blocks; plain: all checkerboard pairs in reach are there

typedef struct mn_flow_pressure {
    const mn_flow_grid *grid;
    mn_flow_axis axis[3];
    bool open[6]; ///< sides of the box that fluid passes freely: 2 axis + 0 low, 1 high

    MN_ARRAY(uint8_t) kind; ///< per cell, mn_flow_cell_kind
    MN_ARRAY(uint8_t)
    node; ///< per node: bit 0 active, bits 1 to 3 the checkerboard pairs yz, xz, xy, bit 4 follows
    MN_ARRAY(mn_flow_follower) follower; ///< nodes that take the pressure of another
    MN_ARRAY(uint8_t) layer;             ///< per spline: irregular
    MN_ARRAY(uint8_t)
    live; ///< per block: some spline has mass or some node is active; elsewhere v, t and w are zero
    mn_flow_values mass;         ///< per spline, lumped, in cells
    mn_flow_values root;         ///< of the mass correction: sqrt(M) of splines that take part, 0 of others
    MN_ARRAY(int32_t) irregular; ///< splines that fluid fills in part, rising
    MN_ARRAY(int32_t) irregular_start; ///< per block
    MN_ARRAY(float) stencil;           ///< per irregular spline: [3][4][4][4]
    mn_flow_values fraction;           ///< per irregular spline: of its cell that is fluid
    double checkerboard;               ///< s
    bool corrected;                    ///< the mass correction is on
    bool sealed;                       ///< no free surface and no open side: pressure up to a constant

    double *v[3], *t[3];   ///< scratch: velocities, the same before the correction; t only with it
    mn_flow_values own[2]; ///< their memory where none is lent
    mn_double4 *lent[2];
    mn_flow_values w;      ///< velocities of irregular splines while v holds those of the others
    mn_flow_values wall;   ///< per node: flux of moving walls out of the fluid, in cells^2 m/s; empty: none
    mn_flow_values rhs, p; ///< rhs is the diagonal of S while that is built
    mn_krylov *krylov;
    mn_flow_levels *levels;
} mn_flow_pressure;

mn_status mn_flow_pressure_create(const mn_flow_grid *grid, const bool open[6], mn_flow_pressure *pressure);
void mn_flow_pressure_free(mn_flow_pressure *pressure);

/// Matrices for this region; the grid may have changed. `alpha` is the checkerboard weight, `corrected` asks
/// for the consistent mass to second order near the surface.
mn_status mn_flow_pressure_build(mn_flow_pressure *pressure, const mn_flow_region *region, double alpha,
                                 bool corrected);

/// Lends room for v and t, four doubles a cell each, until the next call; NULL: the pressure has its own.
/// What it held in them is gone. Before a build or a projection.
void mn_flow_pressure_lend(mn_flow_pressure *pressure, mn_double4 *v, mn_double4 *t);

/// y = S p: an mn_apply_fn.
mn_status mn_flow_pressure_apply(void *pressure, const double *p, double *y);
/// y = G v with v in pressure->v.
mn_status mn_flow_divergence(mn_flow_pressure *pressure, double *y);
/// Adds what followers have in a vector of rows to their leaders'.
void mn_flow_fold_followers(const mn_flow_pressure *pressure, double *y);
/// v = M^-1 G^T p, into pressure->v.
mn_status mn_flow_gradient(mn_flow_pressure *pressure, const double *p);
/// v = M^-1 f for a load f per spline, given in pressure->t with the correction and in v without; into
/// pressure->v.
mn_status mn_flow_inverse_mass(mn_flow_pressure *pressure);
/// u^T L u of the splines of a block (pressure_mass.c): lumped masses give so much more than the liquid has.
double mn_flow_mass_excess(const mn_flow_pressure *pressure, int32_t block, const mn_double4 *velocity);
/// The stencil of one spline, [axis][4 nodes x][4 nodes y][4 nodes z].
void mn_flow_stencil(const mn_flow_pressure *pressure, int32_t block, int32_t cell, int32_t irregular,
                     double stencil[3][64]);

/// The mass that a spline would have in a box full of fluid.
MN_INLINE double mn_flow_full_mass(const mn_flow_pressure *s, int32_t block, int32_t cell)
{
    const mn_ivec3 c = mn_block_cell(&s->grid->table, block, cell);
    return s->axis[0].lumped[c.x + MN_FLOW_TAP_PAD] * s->axis[1].lumped[c.y + MN_FLOW_TAP_PAD] *
           s->axis[2].lumped[c.z + MN_FLOW_TAP_PAD];
}

/// The number of the irregular spline at a cell.
MN_INLINE int32_t mn_flow_irregular_number(const mn_flow_pressure *s, int64_t at)
{
    int32_t low = s->irregular_start.data[at / 64], high = s->irregular_start.data[at / 64 + 1];
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (s->irregular.data[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/// How much of a cell is fluid. A cell that is cut has an irregular spline.
MN_INLINE double mn_flow_fraction(const mn_flow_pressure *s, int64_t at)
{
    if (s->layer.data[at]) return s->fraction.data[mn_flow_irregular_number(s, at)];
    return s->kind.data[at] == MN_FLOW_FULL;
}

typedef struct mn_flow_projection {
    int32_t iterations;
} mn_flow_projection;

/// Takes the divergence out of `velocity`, to `tolerance` of it. `load` (may be NULL) is a velocity times
/// mass per spline that is added first, such as surface tension; it may lie in the room that is lent for v,
/// with the mass correction, and is then gone.
mn_status mn_flow_project(mn_flow_pressure *pressure, double tolerance, const mn_double4 *load,
                          mn_double4 *velocity, mn_flow_projection *result);

// ---- multigrid below it (pressure_levels.c) ----

mn_status mn_flow_levels_create(mn_context *ctx, mn_flow_levels **levels);
void mn_flow_levels_free(mn_flow_levels *levels);
mn_status mn_flow_levels_build(mn_flow_levels *levels, const mn_flow_pressure *pressure);
/// For when the cycle turns out not to be positive: a few power steps may miss an eigenvalue of an odd cut.
/// Raises what is taken for the largest.
void mn_flow_levels_widen(mn_flow_levels *levels);
/// z = D^-1 r, the diagonal alone.
void mn_flow_levels_scale(const mn_flow_levels *levels, const double *r, double *z);
/// A vector of the finest level that holds nothing between cycles.
double *mn_flow_levels_room(const mn_flow_levels *levels);
/// z = M^-1 r, one symmetric V-cycle: an mn_apply_fn on the mn_flow_pressure, whose rhs is scratch.
mn_status mn_flow_levels_cycle(void *pressure, const double *r, double *z);

#endif
