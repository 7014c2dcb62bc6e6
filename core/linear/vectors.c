// SPDX-License-Identifier: Apache-2.0
//
// Long vectors: dot products add chunks in order; updates touch each element once.
#include "linear/vectors.h"

enum { GRAIN = 16384 };

typedef struct operands {
    double a, b, c;
    const double *x, *y;
    double *z;
} operands;

static void add_products(void *user, mn_range range, double *sums)
{
    const operands *o = user;
    double sum[4] = {0}; // four chains hide the latency of the addition
    int64_t i = range.begin;
    for (; i + 4 <= range.end; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += o->x[i + k] * o->y[i + k];
    for (; i < range.end; i++) sum[0] += o->x[i] * o->y[i];
    sums[0] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static mn_status axpy_range(void *user, mn_range range)
{
    const operands *o = user;
    for (int64_t i = range.begin; i < range.end; i++) o->z[i] += o->a * o->x[i];
    return MN_OK;
}

static mn_status xpby_range(void *user, mn_range range)
{
    const operands *o = user;
    for (int64_t i = range.begin; i < range.end; i++) o->z[i] = o->x[i] + o->b * o->z[i];
    return MN_OK;
}

static mn_status scale_range(void *user, mn_range range)
{
    const operands *o = user;
    for (int64_t i = range.begin; i < range.end; i++) o->z[i] = o->a * o->x[i];
    return MN_OK;
}

static mn_status combine_range(void *user, mn_range range)
{
    const operands *o = user;
    for (int64_t i = range.begin; i < range.end; i++)
        o->z[i] = o->a * o->x[i] + o->b * o->y[i] + o->c * o->z[i];
    return MN_OK;
}

mn_status mn_vector_dot(mn_context *ctx, int64_t n, const double *x, const double *y, double *dot)
{
    operands o = {.x = x, .y = y};
    return mn_parallel_sum(ctx, n, GRAIN, add_products, &o, 1, dot);
}

mn_status mn_vector_axpy(mn_context *ctx, int64_t n, double a, const double *x, double *y)
{
    operands o = {.a = a, .x = x, .z = y};
    return mn_parallel_for(ctx, n, GRAIN, axpy_range, &o);
}

mn_status mn_vector_xpby(mn_context *ctx, int64_t n, const double *x, double b, double *y)
{
    operands o = {.b = b, .x = x, .z = y};
    return mn_parallel_for(ctx, n, GRAIN, xpby_range, &o);
}

mn_status mn_vector_scale(mn_context *ctx, int64_t n, double a, const double *x, double *y)
{
    operands o = {.a = a, .x = x, .z = y};
    return mn_parallel_for(ctx, n, GRAIN, scale_range, &o);
}

mn_status mn_vector_combine(mn_context *ctx, int64_t n, double a, const double *x, double b, const double *y,
                            double c, double *z)
{
    operands o = {.a = a, .b = b, .c = c, .x = x, .y = y, .z = z};
    return mn_parallel_for(ctx, n, GRAIN, combine_range, &o);
}
