// SPDX-License-Identifier: Apache-2.0
//
// The dense kernels of the supernodal factorisation; column-major panels. For core/linear only.
#ifndef MENISCUS_LINEAR_DENSE_H
#define MENISCUS_LINEAR_DENSE_H

#include "base/parallel.h"

/// C = X Y^T for rows x of X and the first `w` rows of it as Y: X is m by k with leading dimension lx, C is m
/// by w with leading dimension m. In parallel when it is worth it.
mn_status mn_dense_outer(mn_context *ctx, int64_t m, int64_t w, int64_t k, const double *x, int64_t lx,
                         double *c);

/// Cholesky of the top n by n block of an m by n panel (leading dimension m) and the triangular solve below
/// it, in place: L L^T = A, rows below = A L^-T. Only the lower triangle is read. `scratch` holds m *
/// MN_DENSE_BLOCK doubles. Returns the column whose pivot is not positive, or -1.
enum { MN_DENSE_BLOCK = 32 };
mn_status mn_dense_cholesky(mn_context *ctx, int64_t m, int64_t n, double *panel, double *scratch,
                            int64_t *bad_column);

#endif
