// SPDX-License-Identifier: Apache-2.0
//
// What the Krylov solvers share. For core/linear only.
#ifndef MENISCUS_LINEAR_KRYLOV_STATE_H
#define MENISCUS_LINEAR_KRYLOV_STATE_H

#include "linear/krylov.h"
#include "linear/vectors.h"
#include "meniscus/array.h"

struct mn_krylov {
    mn_context *ctx;
    MN_ARRAY(double) scratch;
    MN_ARRAY(double) small; ///< least squares of GMRES
};

/// Unknowns from which each iteration asks whether to stop; a smaller solve is over before anybody waits.
enum { MN_KRYLOV_LONG = 1000 };

/// `count` vectors of `n` doubles, one after the other, not initialised.
mn_status mn_krylov_vectors(mn_krylov *krylov, int64_t n, int64_t count, double **vectors);
/// z = M^-1 r, or a copy.
mn_status mn_krylov_precondition(mn_krylov *krylov, const mn_linear_problem *problem, const double *r,
                                 double *z);
/// r = b - A x
mn_status mn_krylov_residual(mn_krylov *krylov, const mn_linear_problem *problem, const double *b,
                             const double *x, double *r);

#endif
