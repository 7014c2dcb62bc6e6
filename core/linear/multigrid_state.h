// SPDX-License-Identifier: Apache-2.0
//
// What a multigrid hierarchy holds. For core/linear only.
#ifndef MENISCUS_LINEAR_MULTIGRID_STATE_H
#define MENISCUS_LINEAR_MULTIGRID_STATE_H

#include "linear/multigrid.h"
#include "meniscus/array.h"

enum { MN_MULTIGRID_LEVELS = 12 };

/// Half of a matrix by rows in the order of a sweep.
typedef struct mn_half {
    MN_ARRAY(int64_t) start;  ///< [rows + 1]
    MN_ARRAY(int32_t) column; ///< in the matrix's own numbers
    MN_ARRAY(float) value;
} mn_half;

/// A matrix in the order in which Gauss-Seidel goes through its rows: blocks of rows, and colours of blocks
/// that no entry joins. Off the diagonal it is in single precision; the diagonal makes up for what rounding
/// takes from the sum of a row, so that a constant sees the matrix as it was.
typedef struct mn_sweep {
    MN_ARRAY(int32_t) row, place;  ///< [rows] which comes k-th, and when row i comes
    mn_half before, after;         ///< the entries of the k-th row at those that come before it, and after it
    MN_ARRAY(double) diagonal;     ///< [rows] of the k-th
    MN_ARRAY(int32_t) block_start; ///< [blocks + 1] in the order of the rows
    MN_ARRAY(int32_t) colour_start; ///< [colours + 1] in the order of the blocks
} mn_sweep;

void mn_sweep_free(mn_context *ctx, mn_sweep *sweep);
/// The order, with the rows of an aggregate as a block; those without one (-1) are blocks of their own.
mn_status mn_sweep_order(mn_context *ctx, const mn_sparse *matrix, const int32_t *aggregate, int32_t count,
                         mn_sweep *sweep);
/// The values of a matrix of the pattern that was ordered; its diagonal is positive.
void mn_sweep_fill(const mn_sparse *matrix, mn_sweep *sweep);
/// (L + D) x = r, and then r = -U x, what is left.
mn_status mn_sweep_forward(mn_context *ctx, const mn_sweep *sweep, double *r, double *x);
/// (D + U) e = r, x += e.
mn_status mn_sweep_backward(mn_context *ctx, const mn_sweep *sweep, const double *r, double *e, double *x);
/// y = r + L e: what A does to the x that a forward sweep of r, anything, and a backward one that took e led
/// to.
mn_status mn_sweep_image(mn_context *ctx, const mn_sweep *sweep, const double *r, const double *e, double *y);

typedef struct mn_grid {
    int32_t rows;
    mn_sparse matrix;            ///< of this level; on the finest it is the caller's and this stays empty
    mn_sparse tentative;         ///< T: 1 where a row belongs to an aggregate
    bool plain;                  ///< P = T
    mn_sparse smooth;            ///< else P = (I - w D^-1 A) T
    mn_sparse restricted;        ///< P^T
    mn_sparse image;             ///< A P
    MN_ARRAY(float) image_value; ///< of A P, for the cycle
    mn_sweep sweep;
    MN_ARRAY(double) inverse;      ///< D^-1
    MN_ARRAY(double) x, r, change; ///< of the cycle
} mn_grid;

static inline const mn_sparse *mn_grid_prolong(const mn_grid *g)
{
    return g->plain ? &g->tentative : &g->smooth;
}

struct mn_multigrid {
    mn_context *ctx;
    mn_grid grid[MN_MULTIGRID_LEVELS]; ///< finest first
    int32_t count;
    int64_t entries; ///< of the matrix built for, to recognise another one
    bool direct;     ///< the coarsest level is factored; else it is only swept
    mn_cholesky *cholesky;
    MN_ARRAY(double) krylov; ///< vectors of mn_multigrid_solve
    bool ready;
};

/// Puts strongly connected rows together: aggregate[i] is the number of i's, or -1 for a row without strong
/// connections. Strong is |a_ij| > threshold sqrt(a_ii a_jj). Returns how many aggregates there are.
int32_t mn_aggregate(const mn_sparse *matrix, const double *inverse_diagonal, double threshold,
                     int32_t *aggregate);

#endif
