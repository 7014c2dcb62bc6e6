// SPDX-License-Identifier: Apache-2.0
//
// Preconditioned conjugate gradients [hestenes1952].
//
//   alpha = r.z / p.A p,   x += alpha p,   r -= alpha A p,   z = M^-1 r,   p = z + (r.z / old r.z) p
//
// With M the mass matrix and x starting at zero every update keeps sum(M x) at what b gives it, whatever the
// tolerance: so linear momentum stays exact in the implicit solvers.
#include "linear/krylov_state.h"

#include <math.h>

static const double LEAST_GAIN = 0.1; // of the first residual: `square` asks for no less

mn_status mn_conjugate_gradients(mn_krylov *krylov, const mn_linear_problem *problem,
                                 const mn_krylov_def *def, const double *b, double *x,
                                 mn_krylov_result *result)
{
    mn_context *ctx = krylov->ctx;
    const int64_t n = problem->size;
    double *r, bz = 0, rz;
    MN_TRY(mn_krylov_vectors(krylov, n, def->product ? 3 : 4, &r));
    double *z = r + n, *p = z + n, *ap = def->product ? def->product : p + n;
    *result = (mn_krylov_result){.end = MN_KRYLOV_ITERATIONS};

    if (!(def->norm > 0) && !def->from_zero) {
        MN_TRY(mn_krylov_precondition(krylov, problem, b, z));
        MN_TRY(mn_vector_dot(ctx, n, b, z, &bz));
    }
    if (def->from_zero)
        MN_TRY(mn_vector_scale(ctx, n, 1, b, r));
    else
        MN_TRY(mn_krylov_residual(krylov, problem, b, x, r));
    MN_TRY(mn_krylov_precondition(krylov, problem, r, z));
    MN_TRY(mn_vector_dot(ctx, n, r, z, &rz));
    if (def->from_zero) bz = rz;
    result->norm = def->norm > 0 ? def->norm : sqrt(fmax(bz, 0));
    double goal = fmax(def->tolerance * result->norm, def->absolute);
    if (def->square > 0 && result->norm > 0)
        goal = fmax(goal, fmin(def->square * rz / result->norm, LEAST_GAIN * sqrt(fmax(rz, 0))));
    MN_TRY(mn_vector_scale(ctx, n, 1, z, p));

    for (;; result->iterations++) {
        result->residual = sqrt(fmax(rz, 0));
        if (!isfinite(rz) || rz < 0) {
            result->end = MN_KRYLOV_BREAKDOWN;
            return MN_OK;
        }
        if (result->residual <= goal) {
            result->end = MN_KRYLOV_CONVERGED;
            return MN_OK;
        }
        if (result->iterations == def->max_iterations) return MN_OK;
        double pap, next;
        MN_TRY(problem->apply(problem->apply_user, p, ap));
        MN_TRY(mn_vector_dot(ctx, n, p, ap, &pap));
        if (!(pap > 0)) {
            result->end = isfinite(pap) ? MN_KRYLOV_NEGATIVE_CURVATURE : MN_KRYLOV_BREAKDOWN;
            return MN_OK;
        }
        MN_TRY(mn_vector_axpy(ctx, n, rz / pap, p, x));
        MN_TRY(mn_vector_axpy(ctx, n, -rz / pap, ap, r));
        MN_TRY(mn_krylov_precondition(krylov, problem, r, z));
        MN_TRY(mn_vector_dot(ctx, n, r, z, &next));
        MN_TRY(mn_vector_xpby(ctx, n, z, next / rz, p));
        rz = next;
    }
}
