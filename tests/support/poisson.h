// SPDX-License-Identifier: Apache-2.0
//
// The seven-point Laplacian of a cube, for tests and benchmarks of sparse solvers.
#ifndef MENISCUS_TESTS_SUPPORT_POISSON_H
#define MENISCUS_TESTS_SUPPORT_POISSON_H

#include <stdlib.h>

#include "linear/sparse.h"

/// Walls are zero; `weight` of the links along x, and `extra` on the diagonal.
static inline mn_status poisson(mn_context *ctx, int32_t side, double weight, double extra, mn_sparse *a)
{
    const int32_t n = side * side * side;
    int32_t *row = malloc(7 * (size_t)n * sizeof *row), *column = malloc(7 * (size_t)n * sizeof *column);
    double *value = malloc(7 * (size_t)n * sizeof *value);
    int64_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t x = i % side, y = i / side % side, z = i / side / side;
        const struct {
            bool inside;
            int32_t step;
            double weight;
        } around[] = {{x > 0, -1, weight},     {x < side - 1, 1, weight}, {y > 0, -side, 1},
                      {y < side - 1, side, 1}, {z > 0, -side * side, 1},  {z < side - 1, side * side, 1}};
        row[count] = column[count] = i, value[count++] = 4 + 2 * weight + extra;
        for (int k = 0; k < 6; k++)
            if (around[k].inside)
                row[count] = i, column[count] = i + around[k].step, value[count++] = -around[k].weight;
    }
    const mn_status status = mn_sparse_from_triplets(ctx, n, n, count, row, column, value, NULL, a);
    free(row), free(column), free(value);
    return status;
}

#endif
