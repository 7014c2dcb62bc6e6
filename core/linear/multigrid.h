// SPDX-License-Identifier: Apache-2.0
//
// Algebraic multigrid by aggregation, smoothed [vanek1996] or plain, with Gauss-Seidel in colours: for
// symmetric positive definite matrices that act like a Laplacian. Its work grows with the number of entries
// and its iterations hardly grow at all. Same bits for any number of workers.
#ifndef MENISCUS_LINEAR_MULTIGRID_H
#define MENISCUS_LINEAR_MULTIGRID_H

#include "linear/sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_multigrid_def {
    double strong; ///< rows i and j may be put together where |a_ij| > strong sqrt(a_ii a_jj); in (0, 1)
    bool plain;    ///< the finest aggregates are not smoothed: cheaper, and as good for matrices of wide rows
} mn_multigrid_def;

/// 0.08, false
mn_multigrid_def mn_multigrid_default_def(void);

typedef struct mn_multigrid mn_multigrid;
mn_status mn_multigrid_create(mn_context *ctx, mn_multigrid **multigrid);
void mn_multigrid_free(mn_multigrid *multigrid);
/// Aggregates, patterns and numbers of all levels. `matrix` is symmetric positive definite with its whole
/// pattern stored; it may go afterwards. One whose diagonal is not positive fails with MN_ERROR_INPUT, and so
/// does one whose coarsest level shows that it is not positive definite.
mn_status mn_multigrid_build(mn_multigrid *multigrid, const mn_multigrid_def *def, const mn_sparse *matrix);
/// New numbers on the pattern of the last build, whose aggregates stay.
mn_status mn_multigrid_refresh(mn_multigrid *multigrid, const mn_sparse *matrix);
/// An mn_apply_fn: z = M^-1 r, one symmetric cycle; `multigrid` is the mn_multigrid.
mn_status mn_multigrid_apply(void *multigrid, const double *r, double *z);
/// x near A^-1 b: conjugate gradients with the cycle, from zero, until the residual's length is `tolerance`
/// of b's (both in the norm r.D^-1 r) or for at most `most` iterations. A is held in single precision, so
/// this is for preconditioners; *iterations may be NULL.
mn_status mn_multigrid_solve(mn_multigrid *multigrid, double tolerance, int32_t most, const double *b,
                             double *x, int32_t *iterations);
/// How many levels there are, and the entries of all their matrices over those of the finest.
int32_t mn_multigrid_levels(const mn_multigrid *multigrid);
double mn_multigrid_complexity(const mn_multigrid *multigrid);

#ifdef __cplusplus
}
#endif
#endif
