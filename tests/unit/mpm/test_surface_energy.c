// SPDX-License-Identifier: Apache-2.0
//
// The surface energy's stress and second derivative against differences, its eigenvalues and its projection
// against a dense eigensolver, and the majorant's defining properties.
#include "support/check.h"

#include "base/random.h"
#include "mpm/surface_energy.h"

enum { CASES = 400 };

static double random_in(uint64_t id, uint32_t draw, double low, double high)
{
    return low + (high - low) * mn_random_unit(7, id, draw);
}

static mn_mat3 random_matrix(uint64_t id, uint32_t first, double size)
{
    mn_mat3 a;
    for (int i = 0; i < 9; i++) a.m[i / 3][i % 3] = random_in(id, first + (uint32_t)i, -size, size);
    return a;
}

// A random sample of either sign and a random F that does not crush it.
static bool random_case(uint64_t id, mn_surface_patch *patch, mn_mat3 *f)
{
    const double area = random_in(id, 0, 0.1, 3.0);
    const double sigma = random_in(id, 1, 0.2, 2.0) * (id % 2 ? 1 : -1);
    *patch = mn_surface_patch_make(mn_scale(area, mn_random_direction(7, id, 40)), sigma);
    *f = mn_m3_add(mn_m3_identity(), random_matrix(id, 4, 0.8));
    return mn_surface_energy(*patch, *f) / patch->s > 0.15;
}

static double inner(mn_mat3 a, mn_mat3 b)
{
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += a.m[i / 3][i % 3] * b.m[i / 3][i % 3];
    return sum;
}

static void energy_is_sigma_times_the_area_of_the_moved_patch(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < CASES; id++) {
        const mn_vec3 area = mn_scale(random_in(id, 0, 0.1, 3.0), mn_random_direction(7, id, 40));
        const mn_mat3 f = mn_m3_add(mn_m3_identity(), random_matrix(id, 4, 0.8));
        const mn_surface_patch patch = mn_surface_patch_make(area, 0.7);
        const double expected = 0.7 * mn_norm(mn_m3_apply(mn_m3_cofactor(f), area));
        check_close(mn_surface_energy(patch, f), expected, 1e-13 * (1 + expected));
    }
}

static void stress_is_the_derivative_of_the_energy(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < CASES; id++) {
        mn_surface_patch patch;
        mn_mat3 f;
        if (!random_case(id, &patch, &f)) continue;
        const mn_mat3 d = random_matrix(id, 20, 1.0);
        const double h = 1e-5; // truncation h^2, rounding 1e-16 / h
        const double up = mn_surface_energy(patch, mn_m3_add(f, mn_m3_scale(h, d)));
        const double down = mn_surface_energy(patch, mn_m3_add(f, mn_m3_scale(-h, d)));
        check_close(inner(mn_surface_stress(patch, f), d), (up - down) / (2 * h), 1e-8 * fabs(patch.s));
    }
}

static void exact_hessian_is_the_derivative_of_the_stress(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < CASES; id++) {
        mn_surface_patch patch;
        mn_mat3 f;
        if (!random_case(id, &patch, &f)) continue;
        const mn_surface_hessian hessian = mn_surface_linearize(patch, f);
        const mn_mat3 d = random_matrix(id, 20, 1.0);
        const mn_mat3 dp = mn_surface_hessian_apply(&hessian, MN_SURFACE_EXACT, d);
        const double h = 1e-5;
        const mn_mat3 up = mn_surface_stress(patch, mn_m3_add(f, mn_m3_scale(h, d)));
        const mn_mat3 down = mn_surface_stress(patch, mn_m3_add(f, mn_m3_scale(-h, d)));
        for (int i = 0; i < 9; i++) {
            const double difference = (up.m[i / 3][i % 3] - down.m[i / 3][i % 3]) / (2 * h);
            check_close(dp.m[i / 3][i % 3], difference, 1e-6 * fabs(patch.s));
        }
    }
}

// ---- against a dense eigensolver ----

typedef struct dense {
    double a[9][9];
} dense;

static dense dense_hessian(const mn_surface_hessian *hessian, mn_surface_curvature kind)
{
    dense h;
    for (int j = 0; j < 9; j++) {
        mn_mat3 unit = {{{0}}};
        unit.m[j / 3][j % 3] = 1;
        const mn_mat3 column = mn_surface_hessian_apply(hessian, kind, unit);
        for (int i = 0; i < 9; i++) h.a[i][j] = column.m[i / 3][i % 3];
    }
    return h;
}

// Cyclic Jacobi: a becomes diagonal, v its eigenvectors.
static void dense_eigen(dense *a, dense *v)
{
    memset(v, 0, sizeof *v);
    for (int i = 0; i < 9; i++) v->a[i][i] = 1;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 8; p++)
            for (int q = p + 1; q < 9; q++) {
                if (fabs(a->a[p][q]) < 1e-300) continue;
                const double theta = 0.5 * (a->a[q][q] - a->a[p][p]) / a->a[p][q];
                const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(1 + theta * theta));
                const double c = 1 / sqrt(1 + t * t), s = t * c;
                for (int k = 0; k < 9; k++) {
                    const double x = a->a[k][p], y = a->a[k][q];
                    a->a[k][p] = c * x - s * y, a->a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 9; k++) {
                    const double x = a->a[p][k], y = a->a[q][k];
                    a->a[p][k] = c * x - s * y, a->a[q][k] = s * x + c * y;
                }
                for (int k = 0; k < 9; k++) {
                    const double x = v->a[k][p], y = v->a[k][q];
                    v->a[k][p] = c * x - s * y, v->a[k][q] = s * x + c * y;
                }
            }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void eigenvalues_are_those_of_the_stretches(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < CASES; id++) {
        mn_surface_patch patch;
        mn_mat3 f;
        if (!random_case(id, &patch, &f)) continue;
        const mn_surface_hessian hessian = mn_surface_linearize(patch, f);
        dense a = dense_hessian(&hessian, MN_SURFACE_EXACT), v;
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < i; j++) check_close(a.a[i][j], a.a[j][i], 1e-13 * fabs(patch.s) * 20);
        dense_eigen(&a, &v);
        // Stretches of the tangent plane: singular values of the 3 x 2 matrix (f0, f1).
        const mn_vec3 f0 = mn_m3_apply(f, patch.w0), f1 = mn_m3_apply(f, patch.w1);
        const double mean = 0.5 * (mn_norm2(f0) + mn_norm2(f1));
        const double radius = hypot(0.5 * (mn_norm2(f0) - mn_norm2(f1)), mn_dot(f0, f1));
        const double ratio = sqrt((mean + radius) / (mean - radius));
        const double s = patch.s;
        double expected[9] = {s, s, -s, -s, s * ratio, s / ratio, 0, 0, 0}, found[9];
        for (int i = 0; i < 9; i++) found[i] = a.a[i][i];
        qsort(expected, 9, sizeof(double), by_value);
        qsort(found, 9, sizeof(double), by_value);
        for (int i = 0; i < 9; i++) check_close(found[i], expected[i], 1e-12 * fabs(s) * ratio);
    }
}

static void projection_is_the_positive_part_of_the_dense_hessian(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < CASES; id++) {
        mn_surface_patch patch;
        mn_mat3 f;
        if (!random_case(id, &patch, &f)) continue;
        const mn_surface_hessian hessian = mn_surface_linearize(patch, f);
        dense a = dense_hessian(&hessian, MN_SURFACE_EXACT), v;
        const dense projected = dense_hessian(&hessian, MN_SURFACE_PROJECTED);
        dense_eigen(&a, &v);
        double largest = 0;
        for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(a.a[i][i]));
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++) {
                double clamped = 0;
                for (int k = 0; k < 9; k++) clamped += v.a[i][k] * fmax(a.a[k][k], 0) * v.a[j][k];
                check_close(projected.a[i][j], clamped, 1e-12 * largest);
            }
    }
}

static void majorant_bounds_the_energy_and_touches_it_at_rest(void **state)
{
    (void)state;
    for (uint64_t id = 1; id < CASES; id += 2) { // sigma > 0
        mn_surface_patch patch;
        mn_mat3 f;
        random_case(id, &patch, &f);
        const mn_mat3 one = mn_m3_identity();
        assert_true(mn_surface_majorant_energy(patch, f) >= mn_surface_energy(patch, f) * (1 - 1e-14));
        check_close(mn_surface_majorant_energy(patch, one), mn_surface_energy(patch, one), 1e-14 * patch.s);
        const mn_mat3 difference =
            mn_m3_add(mn_surface_majorant_stress(patch, one), mn_m3_scale(-1, mn_surface_stress(patch, one)));
        check_close(mn_m3_norm(difference), 0, 1e-14 * patch.s);
        // Quadratic: the stress is linear in F with the majorant's second derivative.
        const mn_surface_hessian hessian = mn_surface_linearize(patch, one);
        const mn_mat3 linear = mn_surface_hessian_apply(&hessian, MN_SURFACE_MAJORANT, f);
        const mn_mat3 stress = mn_surface_majorant_stress(patch, f);
        check_close(mn_m3_norm(mn_m3_add(linear, mn_m3_scale(-1, stress))), 0, 1e-13 * patch.s);
    }
}

static void a_patch_without_area_has_no_energy(void **state)
{
    (void)state;
    const mn_vec3 areas[] = {{0, 0, 0}, {1e-200, 0, 0}, {NAN, 0, 0}, {INFINITY, 0, 0}};
    for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
        const mn_surface_patch patch = mn_surface_patch_make(areas[i], 1.0);
        assert_true(mn_surface_energy(patch, mn_m3_identity()) == 0);
        assert_true(mn_m3_norm(mn_surface_stress(patch, mn_m3_identity())) == 0);
    }
    // A patch crushed to a line keeps a finite second derivative.
    const mn_surface_patch patch = mn_surface_patch_make(mn_v3(0, 0, 1), 1.0);
    const mn_surface_hessian hessian = mn_surface_linearize(patch, mn_m3_diagonal(1, 0, 1));
    const mn_mat3 dp = mn_surface_hessian_apply(&hessian, MN_SURFACE_PROJECTED, mn_m3_identity());
    assert_true(isfinite(mn_m3_norm(dp)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_sigma_times_the_area_of_the_moved_patch),
        cmocka_unit_test(stress_is_the_derivative_of_the_energy),
        cmocka_unit_test(exact_hessian_is_the_derivative_of_the_stress),
        cmocka_unit_test(eigenvalues_are_those_of_the_stretches),
        cmocka_unit_test(projection_is_the_positive_part_of_the_dense_hessian),
        cmocka_unit_test(majorant_bounds_the_energy_and_touches_it_at_rest),
        cmocka_unit_test(a_patch_without_area_has_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
