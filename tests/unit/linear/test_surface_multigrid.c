// SPDX-License-Identifier: Apache-2.0
//
// Multigrid for mass and Laplacian on meshes: symmetric, positive, good at any scale, same bits for any
// number of workers.
#include "support/check.h"

#include "base/random.h"
#include "linear/krylov.h"
#include "linear/surface_multigrid.h"

enum { SIDE = 70, ROWS = SIDE * SIDE };

/// A torus of SIDE by SIDE points with edges along both axes and one diagonal, weights uneven.
typedef struct torus {
    int64_t start[ROWS + 1];
    int32_t column[6 * ROWS];
    double weight[6 * ROWS], mass[ROWS];
    double scale;
    mn_surface_multigrid grid;
    mn_context *ctx;
} torus;

static torus t;

static int32_t at(int32_t i, int32_t k)
{
    return (i + SIDE) % SIDE * SIDE + (k + SIDE) % SIDE;
}

static void make(int workers, double scale)
{
    static const int step[6][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 0}, {0, -1}, {-1, -1}};
    const mn_hooks hooks = {.max_workers = workers};
    t.ctx = mn_context_create(&hooks);
    t.scale = scale;
    for (int32_t i = 0; i < SIDE; i++)
        for (int32_t k = 0; k < SIDE; k++) {
            const int32_t row = at(i, k);
            t.start[row] = 6 * row, t.start[row + 1] = 6 * row + 6;
            t.mass[row] = 0.5 + mn_random_unit(1, (uint64_t)row, 0);
            for (int s = 0; s < 6; s++) {
                const int32_t other = at(i + step[s][0], k + step[s][1]);
                const int32_t low = row < other ? row : other, high = row < other ? other : row;
                t.column[6 * row + s] = other;
                t.weight[6 * row + s] = 0.3 + mn_random_unit(2, (uint64_t)low, (uint32_t)high);
            }
        }
    t.mass[at(3, 5)] = INFINITY; // held
    assert_int_equal(
        mn_surface_multigrid_build(t.ctx, &t.grid, ROWS, t.start, t.column, t.weight, scale, t.mass), MN_OK);
}

static void drop(void)
{
    mn_surface_multigrid_free(t.ctx, &t.grid);
    memset(&t.grid, 0, sizeof t.grid);
    mn_context_free(t.ctx);
}

static mn_status apply(void *user, const double *x, double *y)
{
    (void)user;
    const mn_vec3 *u = (const mn_vec3 *)x;
    mn_vec3 *out = (mn_vec3 *)y;
    for (int32_t i = 0; i < ROWS; i++) {
        out[i] = mn_v3(0, 0, 0);
        if (!isfinite(t.mass[i])) continue;
        out[i] = mn_scale(t.mass[i], u[i]);
        for (int64_t e = t.start[i]; e < t.start[i + 1]; e++)
            out[i] = mn_axpy(out[i], t.scale * t.weight[e], mn_sub(u[i], u[t.column[e]]));
    }
    return MN_OK;
}

static mn_status precondition(void *user, const double *r, double *z)
{
    (void)user;
    return mn_surface_multigrid_apply(&t.grid, (const mn_vec3 *)r, (mn_vec3 *)z);
}

static void fill(mn_vec3 *x, uint64_t seed)
{
    for (int32_t i = 0; i < ROWS; i++)
        x[i] = mn_v3(mn_random_unit(seed, (uint64_t)i, 0) - 0.5, mn_random_unit(seed, (uint64_t)i, 1) - 0.5,
                     mn_random_unit(seed, (uint64_t)i, 2) - 0.5);
    x[at(3, 5)] = mn_v3(0, 0, 0);
}

static double dot(const mn_vec3 *a, const mn_vec3 *b)
{
    double sum = 0;
    for (int32_t i = 0; i < ROWS; i++) sum += mn_dot(a[i], b[i]);
    return sum;
}

static void test_symmetric_and_positive(void **state)
{
    (void)state;
    static mn_vec3 a[ROWS], b[ROWS], ma[ROWS], mb[ROWS];
    make(1, 50);
    fill(a, 3), fill(b, 4);
    assert_int_equal(mn_surface_multigrid_apply(&t.grid, a, ma), MN_OK);
    assert_int_equal(mn_surface_multigrid_apply(&t.grid, b, mb), MN_OK);
    assert_true(dot(a, ma) > 0 && dot(b, mb) > 0);
    assert_true(fabs(dot(a, mb) - dot(b, ma)) <= 1e-12 * sqrt(dot(a, ma) * dot(b, mb)));
    assert_true(mn_norm(ma[at(3, 5)]) == 0); // held
    drop();
}

// From mass alone to almost only the Laplacian: a diagonal needs up to 300 iterations here.
static void test_iterations_at_any_scale(void **state)
{
    (void)state;
    static mn_vec3 right[ROWS], x[ROWS];
    for (double scale = 1e-3; scale < 2e4; scale *= 10) {
        mn_krylov *krylov;
        mn_krylov_result result;
        make(1, scale);
        fill(right, 5);
        memset(x, 0, sizeof x);
        assert_int_equal(mn_krylov_create(t.ctx, &krylov), MN_OK);
        const mn_linear_problem problem = {3 * ROWS, apply, NULL, precondition, NULL};
        const mn_krylov_def def = mn_krylov_default_def();
        assert_int_equal(mn_conjugate_gradients(krylov, &problem, &def, &right[0].x, &x[0].x, &result),
                         MN_OK);
        assert_int_equal(result.end, MN_KRYLOV_CONVERGED);
        assert_true(result.iterations <= 25);
        mn_krylov_free(krylov);
        drop();
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    static mn_vec3 right[ROWS], x[3][ROWS];
    fill(right, 6);
    for (int i = 0; i < 3; i++) {
        make(i == 0 ? 1 : 4 * i, 100);
        assert_int_equal(mn_surface_multigrid_apply(&t.grid, right, x[i]), MN_OK);
        assert_memory_equal(x[i], x[0], sizeof x[0]);
        drop();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symmetric_and_positive),
        cmocka_unit_test(test_iterations_at_any_scale),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
