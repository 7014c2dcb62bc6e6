// SPDX-License-Identifier: Apache-2.0
//
// Long vectors, in parallel and in a fixed order. For core/linear only.
#ifndef MENISCUS_LINEAR_VECTORS_H
#define MENISCUS_LINEAR_VECTORS_H

#include "base/parallel.h"

mn_status mn_vector_dot(mn_context *ctx, int64_t n, const double *x, const double *y, double *dot);
/// y += a x
mn_status mn_vector_axpy(mn_context *ctx, int64_t n, double a, const double *x, double *y);
/// y = x + b y
mn_status mn_vector_xpby(mn_context *ctx, int64_t n, const double *x, double b, double *y);
/// y = a x
mn_status mn_vector_scale(mn_context *ctx, int64_t n, double a, const double *x, double *y);
/// z = a x + b y + c z
mn_status mn_vector_combine(mn_context *ctx, int64_t n, double a, const double *x, double b, const double *y,
                            double c, double *z);

#endif
