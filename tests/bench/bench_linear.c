// SPDX-License-Identifier: Apache-2.0
//
// Sparse solvers on the 7-point Poisson matrix of a cube: plain CG as the baseline, CG with IC(0) and with
// multigrid, and Cholesky.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "linear/krylov.h"
#include "linear/multigrid.h"
#include "linear/sparse.h"
#include "meniscus/meniscus.h"
#include "support/poisson.h"

static mn_status apply_matrix(void *user, const double *x, double *y)
{
    void **pair = user;
    return mn_sparse_apply(pair[0], pair[1], x, y);
}

static void run(int32_t side)
{
    mn_context *ctx = mn_context_create(NULL);
    const int32_t n = side * side * side;
    mn_vec3 *positions = malloc((size_t)n * sizeof *positions);
    double *b = malloc((size_t)n * sizeof *b), *x = calloc((size_t)n, sizeof *x);
    int32_t *order = malloc((size_t)n * sizeof *order);
    for (int32_t i = 0; i < n; i++) b[i] = mn_random_normal(1, (uint64_t)i, 0);
    mn_sparse a = {0};
    for (int32_t i = 0; i < n; i++) positions[i] = mn_v3(i % side, i / side % side, i / side / side);
    if (poisson(ctx, side, 1, 0, &a) != MN_OK) exit(1);
    void *pair[] = {ctx, &a};
    mn_linear_problem problem = {n, apply_matrix, pair, NULL, NULL};
    const mn_krylov_def def = mn_krylov_default_def();
    mn_krylov *krylov;
    mn_krylov_result result;
    mn_cholesky *c;
    mn_krylov_create(ctx, &krylov);
    double t = mn_seconds();
    mn_conjugate_gradients(krylov, &problem, &def, b, x, &result);
    const double plain = mn_seconds() - t;
    printf("| %d^3 | CG, no preconditioner (baseline) | %.3f s | %d iterations | 1.0 |\n", side, plain,
           result.iterations);
    const mn_multigrid_def multigrid_def = mn_multigrid_default_def();
    mn_multigrid *multigrid;
    memset(x, 0, (size_t)n * sizeof *x);
    t = mn_seconds();
    if (mn_multigrid_create(ctx, &multigrid) != MN_OK) exit(1);
    if (mn_multigrid_build(multigrid, &multigrid_def, &a) != MN_OK) exit(1);
    const double built = mn_seconds() - t;
    problem.precondition = mn_multigrid_apply, problem.precondition_user = multigrid;
    mn_conjugate_gradients(krylov, &problem, &def, b, x, &result);
    const double multi = mn_seconds() - t;
    printf("| %d^3 | CG with multigrid, set-up of %.3f s included | %.3f s | %d iterations | %.1f |\n", side,
           built, multi, result.iterations, plain / multi);
    mn_multigrid_free(multigrid);
    if (side > 32) goto done; // the factor's work grows like the square
    mn_cholesky_create(ctx, &c);
    t = mn_seconds();
    mn_cholesky_order(c, &a, positions, order);
    mn_cholesky_analyze(c, &a, order);
    const double analyze = mn_seconds() - t;
    t = mn_seconds();
    if (mn_cholesky_factor(c, &a) != MN_OK) exit(1);
    const double factor = mn_seconds() - t;
    t = mn_seconds();
    mn_cholesky_solve(c, b, x);
    const double solve = mn_seconds() - t;
    printf("| %d^3 | Cholesky: order and analyse | %.3f s | %.1f M entries | |\n", side, analyze,
           1e-6 * (double)mn_cholesky_entries(c));
    printf("| %d^3 | Cholesky: factor | %.3f s | | %.1f |\n| %d^3 | Cholesky: solve | %.3f s | | %.1f |\n",
           side, factor, plain / factor, side, solve, plain / solve);
    mn_cholesky_free(c);
done:
    mn_krylov_free(krylov);
    mn_sparse_free(ctx, &a);
    mn_context_free(ctx);
    free(positions), free(b), free(x), free(order);
}

int main(void)
{
    printf("| size | solver, to 1e-8 | time | | times faster than the baseline |\n|---|---|---|---|---|\n");
    run(16), run(32), run(64);
    return 0;
}
