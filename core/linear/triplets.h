// SPDX-License-Identifier: Apache-2.0
//
// A sparse matrix as the sum of entries that are listed in any order, in memory that is kept (triplets.c).
#ifndef MENISCUS_LINEAR_TRIPLETS_H
#define MENISCUS_LINEAR_TRIPLETS_H

#include "linear/sparse.h"
#include "meniscus/array.h"

typedef MN_ARRAY(int32_t) mn_triplets_indices;
typedef MN_ARRAY(double) mn_triplets_numbers;

/// One entry of a row while a matrix is put together.
typedef struct mn_triplet {
    double value;
    int32_t column;
} mn_triplet;

/// Entries of a matrix in any order; equal ones are added.
typedef struct mn_triplets {
    mn_triplets_indices rows, columns;
    mn_triplets_numbers values;
} mn_triplets;

/// The memory of a matrix (linear/triplets.c).
typedef struct mn_triplets_matrix {
    MN_ARRAY(int64_t) room, start; ///< of a row: before and after equal entries are added
    MN_ARRAY(mn_triplet) entry;
    mn_triplets_indices column;
    mn_triplets_numbers value;
} mn_triplets_matrix;

/// The sum of the entries as a square matrix; `result` lives in `matrix` until the next time.
mn_status mn_triplets_build(mn_context *ctx, int32_t size, const mn_triplets *list,
                            mn_triplets_matrix *matrix, mn_sparse *result);
void mn_triplets_free(mn_context *ctx, mn_triplets_matrix *matrix);

#endif
