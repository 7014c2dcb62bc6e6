// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of volume and area by central differences; the positive part of the area's Hessian against an
// eigenvalue decomposition.
#include "base/random.h"
#include "support/check.h"
#include "tet/elements.h"

static mn_vec3 random_vector(uint64_t seed, uint64_t i)
{
    return mn_v3(mn_random_normal(seed, i, 0), mn_random_normal(seed, i, 1), mn_random_normal(seed, i, 2));
}

static void add_to(mn_vec3 *x, int axis, double step)
{
    (&x->x)[axis] += step;
}

// Central differences with step 1e-5 on quantities of order 1: truncation 1e-10, rounding 1e-11.
static const double step = 1e-5, tolerance = 2e-9;

static void volume_derivatives(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        mn_vec3 x[4], g[4], low[4], high[4];
        for (uint64_t i = 0; i < 4; i++) x[i] = random_vector(seed, i);
        const double volume = mn_tet_volume_gradient(x, g);
        check_close(volume, mn_tet_volume(x[0], x[1], x[2], x[3]), 1e-13);
        for (int j = 0; j < 4; j++)
            for (int axis = 0; axis < 3; axis++) {
                mn_vec3 y[4];
                memcpy(y, x, sizeof y);
                add_to(&y[j], axis, step);
                const double up = mn_tet_volume_gradient(y, high);
                add_to(&y[j], axis, -2 * step);
                const double down = mn_tet_volume_gradient(y, low);
                check_close((&g[j].x)[axis], (up - down) / (2 * step), tolerance);
                for (int k = 0; k < 4; k++) {
                    mn_vec3 e = {0};
                    add_to(&e, axis, 1);
                    const mn_vec3 column = j == k ? mn_v3(0, 0, 0) : mn_cross(mn_tet_volume_curl(x, k, j), e);
                    const mn_vec3 difference = mn_scale(0.5 / step, mn_sub(high[k], low[k]));
                    check_close(mn_distance(column, difference), 0, tolerance);
                }
            }
    }
}

static void area_derivatives(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        mn_vec3 x[3];
        for (uint64_t i = 0; i < 3; i++) x[i] = random_vector(seed + 100, i);
        const mn_triangle_shape s = mn_triangle_measure(x[0], x[1], x[2]);
        if (s.area < 0.2) continue; // differences lose digits on slivers
        for (int j = 0; j < 3; j++)
            for (int axis = 0; axis < 3; axis++) {
                mn_vec3 y[3];
                memcpy(y, x, sizeof y);
                add_to(&y[j], axis, step);
                const mn_triangle_shape up = mn_triangle_measure(y[0], y[1], y[2]);
                add_to(&y[j], axis, -2 * step);
                const mn_triangle_shape down = mn_triangle_measure(y[0], y[1], y[2]);
                const mn_vec3 gradient = mn_triangle_area_gradient(&s, j);
                check_close((&gradient.x)[axis], (up.area - down.area) / (2 * step), 10 * tolerance);
                for (int i = 0; i < 3; i++) {
                    double h[9] = {0};
                    mn_triangle_add_hessian(&s, i, j, false, 1, h);
                    const mn_vec3 difference =
                        mn_scale(0.5 / step, mn_sub(mn_triangle_area_gradient(&up, i),
                                                    mn_triangle_area_gradient(&down, i)));
                    const mn_vec3 column = mn_v3(h[axis], h[3 + axis], h[6 + axis]);
                    check_close(mn_distance(column, difference), 0, 100 * tolerance);
                }
            }
    }
}

// Jacobi's method for a symmetric matrix of size 9; the positive part is put together from what it finds.
static void positive_part(double a[9][9], double out[9][9])
{
    double v[9][9] = {{0}};
    for (int i = 0; i < 9; i++) v[i][i] = 1;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 9; p++)
            for (int q = p + 1; q < 9; q++) {
                const double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]), c = cos(angle),
                             s = sin(angle);
                for (int k = 0; k < 9; k++) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 9; k++) {
                    const double x = a[p][k], y = a[q][k], z = v[k][p], w = v[k][q];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                    v[k][p] = c * z - s * w, v[k][q] = s * z + c * w;
                }
            }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 9; k++) out[i][j] += fmax(a[k][k], 0) * v[i][k] * v[j][k];
        }
}

static void area_hessian_positive_part(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        mn_vec3 x[3];
        for (uint64_t i = 0; i < 3; i++) x[i] = random_vector(seed + 200, i);
        const mn_triangle_shape s = mn_triangle_measure(x[0], x[1], x[2]);
        double full[9][9], positive[9][9], expected[9][9], largest = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double h[9] = {0}, plus[9] = {0};
                mn_triangle_add_hessian(&s, i, j, false, 1, h);
                mn_triangle_add_hessian(&s, i, j, true, 1, plus);
                for (int k = 0; k < 9; k++) {
                    full[3 * i + k / 3][3 * j + k % 3] = h[k];
                    positive[3 * i + k / 3][3 * j + k % 3] = plus[k];
                    largest = fmax(largest, fabs(h[k]));
                }
            }
        positive_part(full, expected);
        for (int i = 0; i < 81; i++)
            check_close(positive[i / 9][i % 9], expected[i / 9][i % 9], 1e-12 * (1 + largest));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_derivatives),
        cmocka_unit_test(area_derivatives),
        cmocka_unit_test(area_hessian_positive_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
