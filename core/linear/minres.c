// SPDX-License-Identifier: Apache-2.0
//
// MINRES [paige1975]: Lanczos vectors v_k of A in the inner product of M^-1, and the QR factors of their
// tridiagonal matrix by one Givens rotation a step. Minimises sqrt(r.M^-1 r) over the Krylov space, for
// indefinite A too.
//
//   beta_{k+1} v_{k+1} = A z_k - alpha_k v_k - beta_k v_{k-1},   z = M^-1 v,  v_k.z_k = 1
//   w_k = (z_k - rho_3 w_{k-2} - rho_2 w_{k-1}) / rho_1,   x += c eta w_k,   |r| = |s eta|
#include "base/elementary.h"
#include "linear/krylov_state.h"

#include <math.h>
#include <string.h>

mn_status mn_minres(mn_krylov *krylov, const mn_linear_problem *problem, const mn_krylov_def *def,
                    const double *b, double *x, mn_krylov_result *result)
{
    mn_context *ctx = krylov->ctx;
    const int64_t n = problem->size;
    double *storage, beta2;
    MN_TRY(mn_krylov_vectors(krylov, n, 7, &storage));
    double *v_old = storage, *v = v_old + n, *v_new = v + n, *z = v_new + n, *z_new = z + n,
           *w_old = z_new + n, *w = w_old + n;
    memset(x, 0, mn_bytes(n, sizeof *x));
    memset(v_old, 0, mn_bytes(n, sizeof *x));
    memset(w_old, 0, mn_bytes(2 * n, sizeof *x)); // w as well
    *result = (mn_krylov_result){.end = MN_KRYLOV_ITERATIONS};

    MN_TRY(mn_vector_scale(ctx, n, 1, b, v));
    MN_TRY(mn_krylov_precondition(krylov, problem, v, z));
    MN_TRY(mn_vector_dot(ctx, n, v, z, &beta2));
    if (!(beta2 >= 0)) {
        result->end = MN_KRYLOV_BREAKDOWN;
        return MN_OK;
    }
    double beta = sqrt(beta2), eta = beta;
    const double goal = fmax(def->tolerance * beta, def->absolute);
    double c = 1, c_old = 1, s = 0, s_old = 0;
    result->residual = beta;
    if (beta > 0) {
        MN_TRY(mn_vector_scale(ctx, n, 1 / beta, v, v));
        MN_TRY(mn_vector_scale(ctx, n, 1 / beta, z, z));
    }
    double beta_k = 0; // couples v to v_old; there is none at first
    while (result->residual > goal && result->iterations < def->max_iterations) {
        double alpha, next2;
        MN_TRY(problem->apply(problem->apply_user, z, v_new));
        MN_TRY(mn_vector_dot(ctx, n, z, v_new, &alpha));
        MN_TRY(mn_vector_combine(ctx, n, -alpha, v, -beta_k, v_old, 1, v_new));
        MN_TRY(mn_krylov_precondition(krylov, problem, v_new, z_new));
        MN_TRY(mn_vector_dot(ctx, n, v_new, z_new, &next2));
        const double beta_next =
            next2 < 0 ? 0 : sqrt(next2); // rounding may go below zero; a NaN comes through
        // Apply the two last rotations to the new column (beta_k, alpha, beta_next), then the one that clears
        // beta_next.
        const double rho3 = s_old * beta_k, mixed = c_old * beta_k;
        const double rho2 = c * mixed + s * alpha, low = -s * mixed + c * alpha;
        const double rho1 = mn_hypot(low, beta_next);
        if (!(rho1 > 0) || !isfinite(rho1)) {
            result->end = MN_KRYLOV_BREAKDOWN;
            return MN_OK;
        }
        c_old = c, s_old = s, c = low / rho1, s = beta_next / rho1;
        MN_TRY(mn_vector_combine(ctx, n, 1 / rho1, z, -rho2 / rho1, w, -rho3 / rho1, w_old));
        double *swap = w_old;
        w_old = w, w = swap;
        MN_TRY(mn_vector_axpy(ctx, n, c * eta, w, x));
        eta *= -s;
        result->residual = fabs(eta);
        result->iterations++;
        if (beta_next > 0) {
            MN_TRY(mn_vector_scale(ctx, n, 1 / beta_next, v_new, v_new));
            MN_TRY(mn_vector_scale(ctx, n, 1 / beta_next, z_new, z_new));
        }
        swap = v_old, v_old = v, v = v_new, v_new = swap;
        swap = z, z = z_new, z_new = swap;
        beta_k = beta_next;
    }
    if (result->residual <= goal) result->end = MN_KRYLOV_CONVERGED;
    return MN_OK;
}
