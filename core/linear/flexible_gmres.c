// SPDX-License-Identifier: Apache-2.0
//
// Flexible GMRES [saad1993]: A Z_m = V_{m+1} H_m with Z_m = M_k^-1 V_m kept, so that the preconditioner may
// change from step to step. Modified Gram-Schmidt with one repetition; the least-squares problem by Givens
// rotations; restarted.
#include "base/elementary.h"
#include "linear/krylov_state.h"

#include <math.h>

enum { RESTART_MAX = 200 };

typedef struct least_squares {
    double h[RESTART_MAX + 1]; ///< the new column
    double r[RESTART_MAX][RESTART_MAX];
    double c[RESTART_MAX], s[RESTART_MAX];
    double g[RESTART_MAX + 1];
} least_squares;

// Orthogonalises w = V[m + 1] against the basis; the coefficients go to h, the remaining length to h[m + 1].
static mn_status orthogonalise(mn_context *ctx, int64_t n, double *basis, int32_t m, double *h)
{
    double *w = basis + (m + 1) * n;
    for (int32_t i = 0; i <= m; i++) h[i] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i <= m; i++) {
            double dot;
            MN_TRY(mn_vector_dot(ctx, n, basis + i * n, w, &dot));
            MN_TRY(mn_vector_axpy(ctx, n, -dot, basis + i * n, w));
            h[i] += dot;
        }
    double length2;
    MN_TRY(mn_vector_dot(ctx, n, w, w, &length2));
    h[m + 1] = sqrt(length2);
    return MN_OK;
}

// Adds column m to the triangular factor; g[m + 1] becomes the residual's length.
static void rotate_column(least_squares *ls, int32_t m)
{
    for (int32_t i = 0; i < m; i++) {
        const double x = ls->h[i], y = ls->h[i + 1];
        ls->h[i] = ls->c[i] * x + ls->s[i] * y;
        ls->h[i + 1] = -ls->s[i] * x + ls->c[i] * y;
    }
    const double length = mn_hypot(ls->h[m], ls->h[m + 1]);
    ls->c[m] = length > 0 ? ls->h[m] / length : 1;
    ls->s[m] = length > 0 ? ls->h[m + 1] / length : 0;
    ls->h[m] = length;
    for (int32_t i = 0; i <= m; i++) ls->r[i][m] = ls->h[i];
    ls->g[m + 1] = -ls->s[m] * ls->g[m];
    ls->g[m] *= ls->c[m];
}

// x += Z y with R y = g.
static mn_status add_solution(mn_context *ctx, int64_t n, least_squares *ls, const double *z, int32_t count,
                              double *x)
{
    double y[RESTART_MAX];
    for (int32_t i = count - 1; i >= 0; i--) {
        double sum = ls->g[i];
        for (int32_t j = i + 1; j < count; j++) sum -= ls->r[i][j] * y[j];
        y[i] = ls->r[i][i] != 0 ? sum / ls->r[i][i] : 0;
    }
    for (int32_t i = 0; i < count; i++) MN_TRY(mn_vector_axpy(ctx, n, y[i], z + i * n, x));
    return MN_OK;
}

// One cycle of at most `restart` steps from the residual in V[0], whose length is result->residual.
static mn_status run_cycle(mn_krylov *krylov, const mn_linear_problem *problem, const mn_krylov_def *def,
                           least_squares *ls, int32_t restart, double goal, double *x,
                           mn_krylov_result *result)
{
    mn_context *ctx = krylov->ctx;
    const int64_t n = problem->size;
    double *v = krylov->scratch.data, *z = v + (restart + 1) * n;
    ls->g[0] = result->residual;
    MN_TRY(mn_vector_scale(ctx, n, 1 / result->residual, v, v));
    int32_t m = 0;
    while (m < restart && result->iterations < def->max_iterations) {
        if (n >= MN_KRYLOV_LONG) MN_TRY(mn_check_cancelled(ctx));
        MN_TRY(mn_krylov_precondition(krylov, problem, v + m * n, z + m * n));
        MN_TRY(problem->apply(problem->apply_user, z + m * n, v + (m + 1) * n));
        MN_TRY(orthogonalise(ctx, n, v, m, ls->h));
        const double length = ls->h[m + 1];
        if (!isfinite(length)) {
            result->end = MN_KRYLOV_BREAKDOWN;
            break;
        }
        rotate_column(ls, m++);
        result->iterations++;
        result->residual = fabs(ls->g[m]);
        if (result->residual <= goal || length == 0) break;
        MN_TRY(mn_vector_scale(ctx, n, 1 / length, v + m * n, v + m * n));
    }
    return add_solution(ctx, n, ls, z, m, x);
}

mn_status mn_flexible_gmres(mn_krylov *krylov, const mn_linear_problem *problem, const mn_krylov_def *def,
                            const double *b, double *x, mn_krylov_result *result)
{
    mn_context *ctx = krylov->ctx;
    const int64_t n = problem->size;
    const int32_t restart = def->restart < 2 ? 2 : def->restart > RESTART_MAX ? RESTART_MAX : def->restart;
    double *v, b2;
    MN_TRY(mn_krylov_vectors(krylov, n, 2 * restart + 1, &v));
    MN_TRY(mn_array_reserve(ctx, &krylov->small, (int64_t)(sizeof(least_squares) / sizeof(double) + 1)));
    least_squares *ls = (least_squares *)(void *)krylov->small.data;
    *result = (mn_krylov_result){.end = MN_KRYLOV_ITERATIONS};
    MN_TRY(mn_vector_dot(ctx, n, b, b, &b2));
    const double goal = fmax(def->tolerance * sqrt(b2), def->absolute);
    for (;;) {
        double r2;
        const int32_t before = result->iterations;
        MN_TRY(mn_krylov_residual(krylov, problem, b, x, v));
        MN_TRY(mn_vector_dot(ctx, n, v, v, &r2));
        result->residual = sqrt(r2);
        if (!isfinite(r2))
            result->end = MN_KRYLOV_BREAKDOWN;
        else if (result->residual <= goal)
            result->end = MN_KRYLOV_CONVERGED;
        if (result->end != MN_KRYLOV_ITERATIONS || result->iterations >= def->max_iterations) break;
        MN_TRY(run_cycle(krylov, problem, def, ls, restart, goal, x, result));
        if (result->end == MN_KRYLOV_BREAKDOWN || result->iterations == before) break;
    }
    return MN_OK;
}
