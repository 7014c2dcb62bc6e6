// SPDX-License-Identifier: Apache-2.0
//
// Krylov solvers on a Poisson matrix, an indefinite shift of it and an unsymmetric one: they solve, in no
// more steps than theory allows, with the same bits for any number of workers.
#include "linear/krylov.h"

#include "base/parallel.h"
#include "base/random.h"
#include "support/check.h"
#include "support/out_of_memory.h"

enum { SIDE = 40, N = SIDE * SIDE };

typedef struct stencil {
    double shift; ///< added to the diagonal
    double wind;  ///< makes it unsymmetric
    int64_t calls;
} stencil;

// The five-point Laplacian with zero walls.
static mn_status apply_stencil(void *user, const double *x, double *y)
{
    stencil *s = user;
    s->calls++;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const int k = i * SIDE + j;
            const double left = j > 0 ? x[k - 1] : 0, right = j < SIDE - 1 ? x[k + 1] : 0;
            const double below = i > 0 ? x[k - SIDE] : 0, above = i < SIDE - 1 ? x[k + SIDE] : 0;
            y[k] = (4 + s->shift) * x[k] - (1 + s->wind) * left - (1 - s->wind) * right - below - above;
        }
    return MN_OK;
}

static mn_status jacobi(void *user, const double *r, double *z)
{
    const stencil *s = user;
    for (int k = 0; k < N; k++) z[k] = r[k] / fabs(4 + s->shift);
    return MN_OK;
}

// A preconditioner that is another one at every call.
static mn_status fickle(void *user, const double *r, double *z)
{
    stencil *s = user;
    for (int k = 0; k < N; k++) z[k] = r[k] / (4 + s->shift) * (1 + 0.5 * (double)((s->calls + k) % 2));
    return MN_OK;
}

// Both signs, as those of the diagonal, in turns.
static mn_status apply_saddle(void *user, const double *x, double *y)
{
    MN_TRY(apply_stencil(user, x, y));
    for (int k = 0; k < N; k++)
        if ((k / SIDE + k) % 2) y[k] -= 2 * (4 + ((stencil *)user)->shift) * x[k];
    return MN_OK;
}

static mn_status signed_jacobi(void *user, const double *r, double *z, double square[2])
{
    const stencil *s = user;
    square[0] = square[1] = 0;
    for (int k = 0; k < N; k++) {
        const int negative = (k / SIDE + k) % 2;
        square[negative] += r[k] * r[k] / (4 + s->shift);
        z[k] = (negative ? -r[k] : r[k]) / (4 + s->shift);
    }
    return MN_OK;
}

typedef mn_status solver(mn_krylov *, const mn_linear_problem *, const mn_krylov_def *, const double *,
                         double *, mn_krylov_result *);

static double error_of(stencil s, const double *b, const double *x)
{
    double r[N], sum = 0, scale = 0;
    apply_stencil(&s, x, r);
    for (int k = 0; k < N; k++) sum += (b[k] - r[k]) * (b[k] - r[k]), scale += b[k] * b[k];
    return sqrt(sum / scale);
}

static mn_krylov_result solve(solver *method, stencil s, mn_apply_fn *precondition, int32_t workers,
                              double *x)
{
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = workers});
    mn_krylov *krylov;
    check_ok(ctx, mn_krylov_create(ctx, &krylov));
    const mn_linear_problem problem = {N, apply_stencil, &s, precondition, &s};
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = 1e-10;
    double b[N];
    for (int k = 0; k < N; k++) b[k] = mn_random_normal(1, (uint64_t)k, 0), x[k] = 0;
    mn_krylov_result result;
    check_ok(ctx, method(krylov, &problem, &def, b, x, &result));
    if (result.end == MN_KRYLOV_CONVERGED) assert_true(error_of(s, b, x) < 1e-9);
    mn_krylov_free(krylov);
    mn_context_free(ctx);
    return result;
}

static void each_solves_what_it_is_for(void **state)
{
    (void)state;
    double x[N];
    const stencil poisson = {0}, indefinite = {.shift = -0.9}, windy = {.wind = 0.3};
    // CG needs at most about sqrt(cond)/2 ln(2/eps) steps; cond is about (2 SIDE / pi)^2.
    const int32_t bound = (int32_t)(SIDE / 3.1416 * log(2e10)) + 5;
    mn_krylov_result r = solve(mn_conjugate_gradients, poisson, NULL, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_CONVERGED);
    assert_in_range(r.iterations, 20, bound);
    r = solve(mn_conjugate_gradients, poisson, jacobi, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_CONVERGED);
    r = solve(mn_minres, poisson, NULL, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_CONVERGED);
    assert_in_range(r.iterations, 20, bound);
    r = solve(mn_minres, indefinite, jacobi, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_CONVERGED);
    r = solve(mn_flexible_gmres, windy, NULL, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_CONVERGED);
    r = solve(mn_flexible_gmres, windy, fickle, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_CONVERGED);
}

static void cg_says_when_the_matrix_is_not_definite(void **state)
{
    (void)state;
    double x[N];
    const mn_krylov_result r = solve(mn_conjugate_gradients, (stencil){.shift = -0.9}, NULL, 1, x);
    assert_int_equal(r.end, MN_KRYLOV_NEGATIVE_CURVATURE);
    for (int k = 0; k < N; k++) assert_true(isfinite(x[k]));
}

// A guess that is worse than zero has a residual above |b|, and its square is no reason to stop.
static void cg_gains_a_digit_however_bad_the_guess_is(void **state)
{
    (void)state;
    stencil s = {0};
    mn_context *ctx = mn_context_create(NULL);
    mn_krylov *krylov;
    check_ok(ctx, mn_krylov_create(ctx, &krylov));
    const mn_linear_problem problem = {N, apply_stencil, &s, NULL, NULL};
    mn_krylov_def def = mn_krylov_default_def();
    def.square = 1;
    double b[N], x[N], before;
    for (int k = 0; k < N; k++) b[k] = mn_random_normal(1, (uint64_t)k, 0), x[k] = 10 * b[k];
    before = error_of(s, b, x);
    assert_true(before > 1);
    mn_krylov_result result;
    check_ok(ctx, mn_conjugate_gradients(krylov, &problem, &def, b, x, &result));
    assert_int_equal(result.end, MN_KRYLOV_CONVERGED);
    assert_true(error_of(s, b, x) <= 0.1 * before * (1 + 1e-12));
    mn_krylov_free(krylov);
    mn_context_free(ctx);
}

static void the_bits_do_not_depend_on_the_workers(void **state)
{
    (void)state;
    solver *const methods[] = {mn_conjugate_gradients, mn_minres, mn_flexible_gmres};
    for (int m = 0; m < 3; m++) {
        double reference[N], x[N];
        solve(methods[m], (stencil){0}, jacobi, 1, reference);
        for (int32_t workers = 2; workers <= 8; workers *= 2) {
            solve(methods[m], (stencil){0}, jacobi, workers, x);
            assert_memory_equal(x, reference, sizeof x);
        }
    }
}

static mn_status cancel(void *user, const double *x, double *y)
{
    (void)x, (void)y;
    return mn_fail(user, MN_ERROR_CANCELLED, "Cancelled.");
}

// The same solution as MINRES has, from another start and on any number of workers.
static void symmetric_qmr_solves_with_signs(void **state)
{
    (void)state;
    double b[N], x[4][N], y[N];
    stencil s = {.shift = 1};
    for (int k = 0; k < N; k++) b[k] = mn_random_normal(1, (uint64_t)k, 0);
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    def.tolerance = 1e-10;
    for (int run = 0; run < 4; run++) {
        mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1 << run});
        mn_krylov *krylov;
        check_ok(ctx, mn_krylov_create(ctx, &krylov));
        const mn_split_problem split = {N, apply_saddle, &s, signed_jacobi, &s};
        for (int k = 0; k < N; k++) x[run][k] = 0.5 * b[k];
        check_ok(ctx, mn_symmetric_qmr(krylov, &split, &def, b, x[run], &result));
        assert_int_equal(result.end, MN_KRYLOV_CONVERGED);
        assert_memory_equal(x[run], x[0], sizeof b);
        const mn_linear_problem problem = {N, apply_saddle, &s, jacobi, &s};
        check_ok(ctx, mn_minres(krylov, &problem, &def, b, y, &result));
        // All eigenvalues are 5 or larger in size, and |b| is about sqrt(N) = 40.
        for (int k = 0; k < N; k++) check_close(x[run][k], y[k], 1e-8);
        mn_krylov_free(krylov);
        mn_context_free(ctx);
    }
}

static void symmetric_qmr_says_how_it_ended(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_krylov *krylov;
    check_ok(ctx, mn_krylov_create(ctx, &krylov));
    stencil s = {.shift = 1};
    mn_split_problem problem = {N, apply_saddle, &s, signed_jacobi, &s};
    mn_krylov_def def = mn_krylov_default_def();
    double b[N] = {0}, x[N] = {0};
    mn_krylov_result result;
    check_ok(ctx, mn_symmetric_qmr(krylov, &problem, &def, b, x, &result));
    assert_int_equal(result.end, MN_KRYLOV_CONVERGED);
    assert_int_equal(result.iterations, 0);
    b[3] = 1, def.max_iterations = 3;
    check_ok(ctx, mn_symmetric_qmr(krylov, &problem, &def, b, x, &result));
    assert_int_equal(result.end, MN_KRYLOV_ITERATIONS);
    assert_int_equal(result.iterations, 3);
    b[4] = NAN;
    check_ok(ctx, mn_symmetric_qmr(krylov, &problem, &def, b, x, &result));
    assert_int_equal(result.end, MN_KRYLOV_BREAKDOWN);
    b[4] = 0, problem.apply = cancel, problem.apply_user = ctx;
    check_fails(ctx, mn_symmetric_qmr(krylov, &problem, &def, b, x, &result), MN_ERROR_CANCELLED,
                "Cancelled");
    mn_krylov_free(krylov);
    mn_context_free(ctx);
}

static void zero_right_hand_sides_iteration_limits_and_failures(void **state)
{
    (void)state;
    solver *const methods[] = {mn_conjugate_gradients, mn_minres, mn_flexible_gmres};
    for (int m = 0; m < 3; m++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_krylov *krylov;
        check_ok(ctx, mn_krylov_create(ctx, &krylov));
        stencil s = {0};
        mn_linear_problem problem = {N, apply_stencil, &s, NULL, NULL};
        mn_krylov_def def = mn_krylov_default_def();
        double b[N] = {0}, x[N] = {0};
        mn_krylov_result result;
        check_ok(ctx, methods[m](krylov, &problem, &def, b, x, &result));
        assert_int_equal(result.end, MN_KRYLOV_CONVERGED);
        assert_int_equal(result.iterations, 0);
        for (int k = 0; k < N; k++) assert_true(x[k] == 0);
        b[3] = 1;
        def.max_iterations = 3;
        check_ok(ctx, methods[m](krylov, &problem, &def, b, x, &result));
        assert_int_equal(result.end, MN_KRYLOV_ITERATIONS);
        assert_int_equal(result.iterations, 3);
        b[4] = NAN;
        check_ok(ctx, methods[m](krylov, &problem, &def, b, x, &result));
        assert_int_not_equal(result.end, MN_KRYLOV_CONVERGED);
        b[4] = 0, memset(x, 0, sizeof x);
        problem.apply = cancel, problem.apply_user = ctx;
        check_fails(ctx, methods[m](krylov, &problem, &def, b, x, &result), MN_ERROR_CANCELLED, "Cancelled");
        mn_krylov_free(krylov);
        mn_context_free(ctx);
    }
}

static mn_status solve_once(mn_context *ctx)
{
    mn_krylov *krylov = NULL;
    stencil s = {0};
    const mn_linear_problem problem = {N, apply_stencil, &s, NULL, NULL};
    const mn_krylov_def def = mn_krylov_default_def();
    double b[N] = {1}, x[N] = {0};
    mn_krylov_result result;
    mn_status status = mn_krylov_create(ctx, &krylov);
    if (status == MN_OK) status = mn_flexible_gmres(krylov, &problem, &def, b, x, &result);
    mn_krylov_free(krylov);
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    check_memory_may_run_out(solve_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_solves_what_it_is_for),
        cmocka_unit_test(cg_says_when_the_matrix_is_not_definite),
        cmocka_unit_test(cg_gains_a_digit_however_bad_the_guess_is),
        cmocka_unit_test(the_bits_do_not_depend_on_the_workers),
        cmocka_unit_test(zero_right_hand_sides_iteration_limits_and_failures),
        cmocka_unit_test(symmetric_qmr_solves_with_signs),
        cmocka_unit_test(symmetric_qmr_says_how_it_ended),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
