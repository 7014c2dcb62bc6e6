// SPDX-License-Identifier: Apache-2.0
//
// Iterative solvers for A x = b with A given by what it does to a vector. Vectors are plain arrays of
// doubles; every dot product adds its chunks in order, so the iterates are the same bits for any number of
// workers.
#ifndef MENISCUS_LINEAR_KRYLOV_H
#define MENISCUS_LINEAR_KRYLOV_H

#include "meniscus/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// y = A x, or z = M^-1 r. x and y never overlap.
typedef mn_status mn_apply_fn(void *user, const double *x, double *y);

typedef struct mn_linear_problem {
    int64_t size; ///< of the vectors
    mn_apply_fn *apply;
    void *apply_user;
    mn_apply_fn *precondition; ///< NULL: none
    void *precondition_user;
} mn_linear_problem;

typedef struct mn_krylov_def {
    double tolerance; ///< relative to |b|, in (0, 1); the norm is that of the residual unless said otherwise
    double absolute;  ///< stop as well when the residual is below this; >= 0
    int32_t max_iterations; ///< at least 1
    int32_t restart;        ///< GMRES: vectors kept, at least 2
    bool from_zero;  ///< conjugate gradients: x holds zeros, which saves a product; b is read once, before
                     ///< the first precondition, which may use its room
    double *product; ///< conjugate gradients: room for A p, which precondition may use; NULL: their own
    double norm;     ///< conjugate gradients: |b| in the norm tested, where it is known; 0: it is found
    double square;   ///< conjugate gradients: stop as well below this times |r|^2/|b|, r the first residual,
                     ///< once |r| is a tenth of that; for Newton's method, whose next step leaves as much
                     ///< whatever is done now
} mn_krylov_def;

/// 1e-8, 0, 1000, 30, false, NULL, 0, 0
mn_krylov_def mn_krylov_default_def(void);

typedef enum mn_krylov_end {
    MN_KRYLOV_CONVERGED,
    MN_KRYLOV_ITERATIONS,         ///< max_iterations reached; x is the best so far
    MN_KRYLOV_NEGATIVE_CURVATURE, ///< CG met p.A p <= 0: A is not positive definite; x is the iterate before
                                  ///< it
    MN_KRYLOV_BREAKDOWN,          ///< a NaN or a zero where none can be
} mn_krylov_end;

typedef struct mn_krylov_result {
    mn_krylov_end end;
    int32_t iterations;
    double residual; ///< last |r|, as the method sees it
    double norm;     ///< conjugate gradients: |b| that the tolerance was of
} mn_krylov_result;

/// Scratch that grows to the largest problem solved with it and stays.
typedef struct mn_krylov mn_krylov;
mn_status mn_krylov_create(mn_context *ctx, mn_krylov **krylov);
void mn_krylov_free(mn_krylov *krylov);

/// Conjugate gradients [hestenes1952] for symmetric positive definite A and M, from x. The norm tested is
/// sqrt(r.M^-1 r) against that of b. Not converging is a result, not a failure; the status fails only when a
/// callback does or memory is out.
mn_status mn_conjugate_gradients(mn_krylov *krylov, const mn_linear_problem *problem,
                                 const mn_krylov_def *def, const double *b, double *x,
                                 mn_krylov_result *result);

/// MINRES [paige1975] for symmetric, possibly indefinite A and positive definite M, from x = 0 (x is
/// overwritten). The norm tested is sqrt(r.M^-1 r) against that of b.
mn_status mn_minres(mn_krylov *krylov, const mn_linear_problem *problem, const mn_krylov_def *def,
                    const double *b, double *x, mn_krylov_result *result);

/// A symmetric preconditioner in two halves, M = N S N^T with S a diagonal of signs: z = M^-1 r, and the
/// squares of the elements of N^-1 r, added up where S is positive and where it is negative.
typedef mn_status mn_split_fn(void *user, const double *r, double *z, double square[2]);

typedef struct mn_split_problem {
    int64_t size; ///< of the vectors
    mn_apply_fn *apply;
    void *apply_user;
    mn_split_fn *precondition;
    void *precondition_user;
} mn_split_problem;

/// Symmetric QMR [freund1994] for symmetric A with a preconditioner that is as indefinite as A, from x. The
/// norm tested is a bound of |N^-1 r| against |N^-1 b|. Unlike MINRES it can break down; x is then the last
/// iterate.
mn_status mn_symmetric_qmr(mn_krylov *krylov, const mn_split_problem *problem, const mn_krylov_def *def,
                           const double *b, double *x, mn_krylov_result *result);

/// Flexible GMRES [saad1993], preconditioned from the right by what may change from call to call, from x. The
/// norm tested is |r|.
mn_status mn_flexible_gmres(mn_krylov *krylov, const mn_linear_problem *problem, const mn_krylov_def *def,
                            const double *b, double *x, mn_krylov_result *result);

#ifdef __cplusplus
}
#endif
#endif
