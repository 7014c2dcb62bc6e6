// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices by rows, orderings and factorisations. Symbolic work (pattern, ordering, supernodes) is
// apart from numeric work, so that a matrix whose pattern stays is factored again without it.
#ifndef MENISCUS_LINEAR_SPARSE_H
#define MENISCUS_LINEAR_SPARSE_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Row i holds entries [start[i], start[i+1]), columns rising. Zero-initialised is the empty matrix; give
/// back with mn_sparse_free.
typedef struct mn_sparse {
    int32_t rows, columns;
    int64_t *start;  ///< [rows + 1]
    int32_t *column; ///< [start[rows]]
    double *value;   ///< [start[rows]]
    int64_t start_room, column_room, value_room;
} mn_sparse;

/// Makes a matrix of this size without entries, start[] zero. A matrix that was larger before keeps its room.
mn_status mn_sparse_set_size(mn_context *ctx, mn_sparse *matrix, int32_t rows, int32_t columns);
/// Makes room for entries, their values zero; columns and start[] are the caller's to fill.
mn_status mn_sparse_set_entries(mn_context *ctx, mn_sparse *matrix, int64_t entries);

/// The sum of `count` entries (row[k], column[k], value[k]), added in their order. `slots` (may be NULL, else
/// [count]) is where each entry went, so that the same pattern is filled again by value[slots[k]] += ...
mn_status mn_sparse_from_triplets(mn_context *ctx, int32_t rows, int32_t columns, int64_t count,
                                  const int32_t *row, const int32_t *column, const double *value,
                                  int64_t *slots, mn_sparse *matrix);
void mn_sparse_free(mn_context *ctx, mn_sparse *matrix);
int64_t mn_sparse_entries(const mn_sparse *matrix);
/// y = A x
mn_status mn_sparse_apply(mn_context *ctx, const mn_sparse *matrix, const double *x, double *y);
mn_status mn_sparse_transpose(mn_context *ctx, const mn_sparse *matrix, mn_sparse *transpose);
/// The pattern of C = A B, its values zero.
mn_status mn_sparse_product_pattern(mn_context *ctx, const mn_sparse *a, const mn_sparse *b, mn_sparse *c);
/// The values of C = A B, in the pattern found for these two before.
mn_status mn_sparse_product(mn_context *ctx, const mn_sparse *a, const mn_sparse *b, mn_sparse *c);

/// Supernodal sparse Cholesky, P A P^T = L L^T [ng1993]. Analysed again for a matrix no larger than those
/// before, it allocates nothing.
typedef struct mn_cholesky mn_cholesky;
mn_status mn_cholesky_create(mn_context *ctx, mn_cholesky **cholesky);
void mn_cholesky_free(mn_cholesky *cholesky);
/// An order of elimination for the graph of a symmetric matrix whose rows have positions: nested dissection
/// by coordinates [george1973, heath1995]. order[k] is the row eliminated k-th.
mn_status mn_cholesky_order(mn_cholesky *cholesky, const mn_sparse *matrix, const mn_vec3 *positions,
                            int32_t *order);
/// Symbolic work for this pattern (symmetric, whole pattern stored). `order` may be NULL for the order as it
/// is.
mn_status mn_cholesky_analyze(mn_cholesky *cholesky, const mn_sparse *matrix, const int32_t *order);
/// Numeric work for a matrix of the pattern analysed. A matrix that is not positive definite fails with
/// MN_ERROR_INPUT, which names the row.
mn_status mn_cholesky_factor(mn_cholesky *cholesky, const mn_sparse *matrix);
/// x = A^-1 b; b and x may be the same.
mn_status mn_cholesky_solve(mn_cholesky *cholesky, const double *b, double *x);
/// Numbers held in the factor.
int64_t mn_cholesky_entries(const mn_cholesky *cholesky);

#ifdef __cplusplus
}
#endif
#endif
