// SPDX-License-Identifier: Apache-2.0
//
// Symmetric QMR [freund1994]: conjugate gradients in the indefinite inner product of M^-1, M = N S N^T with S
// a diagonal of signs, and the iterates smoothed by quasi-minimal residuals:
//
//   alpha = r.z / q.A q,   r -= alpha A q,   z = M^-1 r,   q = z + (r.z / old r.z) q
//   theta = |N^-1 r| / tau,   c^2 = 1 / (1 + theta^2),   tau *= theta c
//   d = c^2 (old theta^2 d + alpha q),   x += d
//
// Where M is near to A, signs and all, the eigenvalues of M^-1 A are near to one and not near to one and
// minus one as MINRES has them with the positive definite N N^T: so the iterations are those of conjugate
// gradients, a third to a half of what MINRES takes. The residual of x is (1 - c^2) times the last one plus
// c^2 r, and tau sqrt(k + 1) bounds it, too: the smaller of both bounds is tested.
#include "linear/krylov_state.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 16384 };

typedef struct update {
    double keep, add, beta; ///< of d, of q in d, of q in q
    const double *z;
    double *d, *x, *q;
} update;

// d = keep d + add q,   x += d,   q = z + beta q
static mn_status update_range(void *user, mn_range range)
{
    const update *u = user;
    double *restrict d = u->d, *restrict x = u->x, *restrict q = u->q;
    for (int64_t i = range.begin; i < range.end; i++) {
        d[i] = u->keep * d[i] + u->add * q[i];
        x[i] += d[i];
        q[i] = u->z[i] + u->beta * q[i];
    }
    return MN_OK;
}

mn_status mn_symmetric_qmr(mn_krylov *krylov, const mn_split_problem *problem, const mn_krylov_def *def,
                           const double *b, double *x, mn_krylov_result *result)
{
    mn_context *ctx = krylov->ctx;
    const int64_t n = problem->size;
    double *r, square[2];
    MN_TRY(mn_krylov_vectors(krylov, n, 5, &r));
    double *q = r + n, *t = q + n, *d = t + n, *z = d + n;
    *result = (mn_krylov_result){.end = MN_KRYLOV_ITERATIONS};

    MN_TRY(problem->precondition(problem->precondition_user, b, z, square));
    const double goal = fmax(def->tolerance * sqrt(square[0] + square[1]), def->absolute);
    MN_TRY(problem->apply(problem->apply_user, x, r));
    MN_TRY(mn_vector_xpby(ctx, n, b, -1, r));
    MN_TRY(problem->precondition(problem->precondition_user, r, q, square));
    memset(d, 0, mn_bytes(n, sizeof *d));
    double rho = square[0] - square[1], tau = sqrt(square[0] + square[1]), bound = tau, theta2 = 0;

    for (;; result->iterations++) {
        result->residual = fmin(bound, tau * sqrt(result->iterations + 1));
        if (result->residual <= goal) {
            result->end = MN_KRYLOV_CONVERGED;
            return MN_OK;
        }
        if (result->iterations == def->max_iterations) return MN_OK;
        double curvature;
        if (n >= MN_KRYLOV_LONG) MN_TRY(mn_check_cancelled(ctx));
        MN_TRY(problem->apply(problem->apply_user, q, t));
        MN_TRY(mn_vector_dot(ctx, n, q, t, &curvature));
        const double alpha = rho / curvature;
        if (!isfinite(alpha) || alpha == 0) {
            result->end = MN_KRYLOV_BREAKDOWN;
            return MN_OK;
        }
        MN_TRY(mn_vector_axpy(ctx, n, -alpha, t, r));
        MN_TRY(problem->precondition(problem->precondition_user, r, z, square));
        const double norm = sqrt(square[0] + square[1]), next = square[0] - square[1];
        const double before2 = theta2, theta = norm / tau;
        theta2 = theta * theta;
        const double c2 = 1 / (1 + theta2);
        if (!isfinite(c2 * next)) {
            result->end = MN_KRYLOV_BREAKDOWN;
            return MN_OK;
        }
        tau *= theta * sqrt(c2);
        bound = (1 - c2) * bound + c2 * norm;
        update u = {c2 * before2, c2 * alpha, next / rho, z, d, x, q};
        MN_TRY(mn_parallel_for(ctx, n, GRAIN, update_range, &u));
        rho = next;
    }
}
