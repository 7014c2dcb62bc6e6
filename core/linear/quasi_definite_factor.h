// SPDX-License-Identifier: Apache-2.0
//
// Incomplete factors of a symmetric quasi-definite matrix, as a preconditioner (quasi_definite_factor.c).
#ifndef MENISCUS_LINEAR_QUASI_DEFINITE_FACTOR_H
#define MENISCUS_LINEAR_QUASI_DEFINITE_FACTOR_H

#include "linear/krylov.h"
#include "linear/triplets.h"
#include "trimesh/halving.h"

/// Incomplete factors N S N^T of a matrix (linear/quasi_definite_factor.c), whose rows are sorted by parts.
typedef struct mn_quasi_definite_factor {
    mn_context *ctx;
    int64_t negative;                   ///< rows before this have the sign -1
    mn_triplets_indices order, place;   ///< the row at a place, and the place of a row
    mn_triplets_indices part;           ///< of a site
    MN_ARRAY(mn_site) sites;            ///< while the parts are found
    mn_triplets_indices part_start;     ///< places
    MN_ARRAY(int64_t) start;            ///< entries of N left of the diagonal, by places
    mn_triplets_indices column;         ///< a place
    mn_triplets_numbers value, inverse; ///< of them, and of the diagonal
    mn_triplets_numbers rest;           ///< of a solve that symmetric QMR has not finished
    mn_triplets_numbers work, square;   ///< N^-1 r, and the sum of its squares in each part, by sign
} mn_quasi_definite_factor;

/// `matrix` is symmetric with its whole pattern; its first `negative` rows are the negative ones. `at`: where
/// the unknowns are, one for each three of those and one for each of the others; NULL: all in one part.
mn_status mn_quasi_definite_factor_build(mn_context *ctx, const mn_sparse *matrix, int64_t negative,
                                         const mn_vec3 *at, mn_quasi_definite_factor *factor);
void mn_quasi_definite_factor_free(mn_context *ctx, mn_quasi_definite_factor *factor);
/// An mn_split_fn: z = (N S N^T)^-1 r.
mn_status mn_quasi_definite_factor_split(void *factor, const double *r, double *z, double square[2]);
/// An mn_apply_fn: z = (N N^T)^-1 r, positive definite.
mn_status mn_quasi_definite_factor_apply(void *factor, const double *r, double *z);
/// Solves A x = b from x, A as `problem` applies it (its own preconditioner is not used), to the tolerance
/// times |N^-1 b|: by symmetric QMR, and where that breaks down or lingers, by MINRES. b may change.
mn_status mn_quasi_definite_factor_solve(mn_quasi_definite_factor *factor, mn_krylov *krylov,
                                         const mn_linear_problem *problem, const mn_krylov_def *def,
                                         double *b, double *x, mn_krylov_result *result);

#endif
