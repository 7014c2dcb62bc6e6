// SPDX-License-Identifier: Apache-2.0
//
// Scratch and small steps common to the Krylov solvers.
#include "linear/krylov_state.h"

mn_krylov_def mn_krylov_default_def(void)
{
    return (mn_krylov_def){.tolerance = 1e-8, .absolute = 0, .max_iterations = 1000, .restart = 30};
}

mn_status mn_krylov_create(mn_context *ctx, mn_krylov **krylov)
{
    *krylov = mn_allocate_zero(ctx, sizeof **krylov);
    if (!*krylov) return MN_ERROR_MEMORY;
    (*krylov)->ctx = ctx;
    return MN_OK;
}

void mn_krylov_free(mn_krylov *krylov)
{
    if (!krylov) return;
    mn_array_free(krylov->ctx, &krylov->scratch);
    mn_array_free(krylov->ctx, &krylov->small);
    mn_release(krylov->ctx, krylov, sizeof *krylov);
}

mn_status mn_krylov_vectors(mn_krylov *krylov, int64_t n, int64_t count, double **vectors)
{
    MN_TRY(mn_array_reserve(krylov->ctx, &krylov->scratch, n * count));
    *vectors = krylov->scratch.data;
    return MN_OK;
}

mn_status mn_krylov_precondition(mn_krylov *krylov, const mn_linear_problem *problem, const double *r,
                                 double *z)
{
    if (problem->precondition) return problem->precondition(problem->precondition_user, r, z);
    return mn_vector_scale(krylov->ctx, problem->size, 1, r, z);
}

mn_status mn_krylov_residual(mn_krylov *krylov, const mn_linear_problem *problem, const double *b,
                             const double *x, double *r)
{
    MN_TRY(problem->apply(problem->apply_user, x, r));
    return mn_vector_xpby(krylov->ctx, problem->size, b, -1, r);
}
