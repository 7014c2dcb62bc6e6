// SPDX-License-Identifier: Apache-2.0
//
// Stresses and Hessians of elastic energies by central differences, for stretched, sheared and inverted
// elements; the projected Hessian by its quadratic form; small strains against Hooke's law.
#include "base/random.h"
#include "elastic/material.h"
#include "support/check.h"

static const mn_lame lame = {0.7, 1.9};
static const mn_elastic_model models[3] = {MN_ELASTIC_COROTATED, MN_ELASTIC_NEO_HOOKEAN,
                                           MN_ELASTIC_ST_VENANT_KIRCHHOFF};

/// I + spread times a random matrix; every third is turned inside out.
static mn_mat3 random_motion(uint64_t seed, double spread)
{
    mn_mat3 f = mn_m3_identity();
    for (uint64_t i = 0; i < 9; i++) f.m[i / 3][i % 3] += spread * mn_random_normal(seed, i, 0);
    if (seed % 3 == 2)
        for (int i = 0; i < 3; i++) f.m[i][0] = -f.m[i][0];
    return f;
}

/// Differences lose their order where two stretches cancel or the tangent of the strain begins.
static bool is_smooth_at(mn_mat3 f)
{
    mn_mat3 u, v;
    mn_vec3 s;
    mn_m3_svd(f, &u, &s, &v);
    return s.y + s.z > 0.15 && fabs(s.x - 0.6) > 0.01 && fabs(s.y - 0.6) > 0.01 && fabs(s.z - 0.6) > 0.01;
}

static const mn_vec3 gradients[4] = {{-1.1, -0.4, -0.8}, {0.9, 0.2, 0}, {0.1, 0.7, -0.3}, {0.1, -0.5, 1.1}};

static mn_mat3 motion_of(const mn_vec3 x[4])
{
    mn_mat3 f = {{{0}}};
    for (int a = 0; a < 4; a++) f = mn_m3_add(f, mn_outer(x[a], gradients[a]));
    return f;
}

// Central differences with step 1e-5 on quantities of order 1 to 30.
static void stress_is_the_gradient(void **state)
{
    (void)state;
    int32_t tried = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int k = 0; k < 3; k++) {
            const mn_mat3 f = random_motion(seed, 0.3);
            mn_mat3 stress;
            if (!is_smooth_at(f)) continue;
            tried++;
            mn_solid_energy(models[k], lame, f, &stress, NULL, false);
            for (int i = 0; i < 9; i++) {
                mn_mat3 up = f, down = f;
                up.m[i / 3][i % 3] += 1e-5, down.m[i / 3][i % 3] -= 1e-5;
                const double slope = (mn_solid_energy(models[k], lame, up, NULL, NULL, false) -
                                      mn_solid_energy(models[k], lame, down, NULL, NULL, false)) /
                                     2e-5;
                check_close(stress.m[i / 3][i % 3], slope, 2e-8);
            }
        }
    assert_true(tried > 90);
}

static mn_vec3 force_on(mn_elastic_model model, const mn_vec3 x[4], int a)
{
    mn_mat3 stress;
    mn_solid_energy(model, lame, motion_of(x), &stress, NULL, false);
    return mn_m3_apply(stress, gradients[a]);
}

static void stiffness_is_the_gradient_of_forces(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int model = 0; model < 3; model++) {
            mn_vec3 x[4];
            for (uint64_t a = 0; a < 4; a++)
                x[a] = mn_v3(mn_random_normal(seed, a, 1), mn_random_normal(seed, a, 2),
                             mn_random_normal(seed, a, 3));
            mn_solid_tangent t;
            double k[144] = {0};
            if (!is_smooth_at(motion_of(x))) continue;
            mn_solid_energy(models[model], lame, motion_of(x), NULL, &t, false);
            mn_solid_add_stiffness(&t, gradients, 1, k);
            for (int j = 0; j < 12; j++) {
                mn_vec3 up[4], down[4];
                memcpy(up, x, sizeof x), memcpy(down, x, sizeof x);
                (&up[j / 3].x)[j % 3] += 1e-5, (&down[j / 3].x)[j % 3] -= 1e-5;
                for (int a = 0; a < 4; a++) {
                    const mn_vec3 slope = mn_scale(
                        0.5e5, mn_sub(force_on(models[model], up, a), force_on(models[model], down, a)));
                    for (int i = 0; i < 3; i++)
                        check_close(k[12 * (3 * a + i) + j], (&slope.x)[i], 2e-6 * (1 + fabs(k[12 * j + j])));
                }
            }
        }
}

/// x.K x
static double form(const double *k, int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += x[i] * k[n * i + j] * x[j];
    return sum;
}

static void projected_stiffness_is_positive_and_at_least_the_true_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++)
        for (int model = 0; model < 3; model++) {
            mn_solid_tangent t;
            double positive[144] = {0}, whole[144] = {0}, x[12];
            const mn_mat3 f = random_motion(seed, 0.6);
            mn_solid_energy(models[model], lame, f, NULL, &t, true);
            mn_solid_add_stiffness(&t, gradients, 1, positive);
            mn_solid_energy(models[model], lame, f, NULL, &t, false);
            mn_solid_add_stiffness(&t, gradients, 1, whole);
            for (uint64_t trial = 0; trial < 20; trial++) {
                for (uint64_t i = 0; i < 12; i++) x[i] = mn_random_normal(seed, i, 10 + trial);
                assert_true(form(positive, 12, x) >= -1e-10);
                assert_true(form(positive, 12, x) >= form(whole, 12, x) - 1e-9 * form(positive, 12, x));
            }
        }
}

static void small_strains_follow_hooke(void **state)
{
    (void)state;
    const double e = 1e-5;
    for (int k = 0; k < 3; k++) {
        mn_mat3 f = mn_m3_identity(), stress;
        f.m[0][0] += e, f.m[1][1] -= 0.4 * e, f.m[0][2] += 0.6 * e;
        mn_solid_energy(models[k], lame, f, &stress, NULL, false);
        check_close(stress.m[0][0] / e, 2 * lame.mu + lame.lambda * 0.6, 1e-4);
        check_close(stress.m[2][2] / e, lame.lambda * 0.6, 1e-4);
        check_close(stress.m[0][2] / e, lame.mu * 0.6, 1e-4);
    }
}

/// A flattened or inverted element is pushed back: the force along the normal of an inverted axis opens it.
static void inverted_elements_are_pushed_back(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        for (double s = -0.9; s < 0.95; s += 0.1) {
            mn_mat3 stress;
            mn_solid_energy(models[k], lame, mn_m3_diagonal(1, 1, s), &stress, NULL, false);
            assert_true(stress.m[2][2] < 0);
        }
}

// ---- sheets ----

static const double plane[3][2] = {{-1.2, -0.3}, {1.0, -0.4}, {0.2, 0.7}};

static mn_sheet_motion sheet_of(const mn_vec3 x[3])
{
    mn_sheet_motion f = {{{0}}};
    for (int a = 0; a < 3; a++)
        for (int j = 0; j < 2; j++) f.f[j] = mn_axpy(f.f[j], plane[a][j], x[a]);
    return f;
}

static void sheet_derivatives(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        mn_vec3 x[3];
        for (uint64_t a = 0; a < 3; a++)
            x[a] = mn_v3(mn_random_normal(seed, a, 1), mn_random_normal(seed, a, 2),
                         mn_random_normal(seed, a, 3));
        const mn_sheet_motion f = sheet_of(x);
        if (mn_norm(mn_cross(f.f[0], f.f[1])) < 0.3) continue;
        mn_sheet_motion stress;
        mn_sheet_tangent t;
        double k[81] = {0};
        mn_sheet_energy(lame, f, &stress, &t, false);
        mn_sheet_add_stiffness(&t, plane, 1, k);
        for (int j = 0; j < 9; j++) {
            mn_vec3 up[3], down[3];
            mn_sheet_motion high, low;
            memcpy(up, x, sizeof x), memcpy(down, x, sizeof x);
            (&up[j / 3].x)[j % 3] += 1e-5, (&down[j / 3].x)[j % 3] -= 1e-5;
            const double slope = (mn_sheet_energy(lame, sheet_of(up), &high, NULL, false) -
                                  mn_sheet_energy(lame, sheet_of(down), &low, NULL, false)) /
                                 2e-5;
            const mn_vec3 force =
                mn_axpy(mn_scale(plane[j / 3][0], stress.f[0]), plane[j / 3][1], stress.f[1]);
            check_close((&force.x)[j % 3], slope, 1e-6 * (1 + fabs(slope)));
            for (int i = 0; i < 9; i++) {
                double difference = 0;
                for (int c = 0; c < 2; c++)
                    difference += plane[i / 3][c] * ((&high.f[c].x)[i % 3] - (&low.f[c].x)[i % 3]) / 2e-5;
                check_close(k[9 * i + j], difference, 2e-6 * (1 + fabs(k[10 * j])));
            }
        }
        double positive[81] = {0}, z[9];
        mn_sheet_energy(lame, f, NULL, &t, true);
        mn_sheet_add_stiffness(&t, plane, 1, positive);
        for (uint64_t trial = 0; trial < 20; trial++) {
            for (uint64_t i = 0; i < 9; i++) z[i] = mn_random_normal(seed, i, 10 + trial);
            assert_true(form(positive, 9, z) >= -1e-10);
            assert_true(form(positive, 9, z) >= form(k, 9, z) - 1e-9 * (1 + form(positive, 9, z)));
        }
    }
}

/// Pulled by e along one axis and let free along the other, a sheet has Young's modulus and Poisson's ratio.
static void sheet_has_young_and_poisson(void **state)
{
    (void)state;
    const double young = 3, poisson = 0.3, thickness = 0.5, e = 1e-5;
    const mn_lame sheet = mn_lame_of_sheet(young, poisson, thickness);
    const mn_sheet_motion f = {{{1 + e, 0, 0}, {0, 1 - poisson * e, 0}}};
    mn_sheet_motion stress;
    mn_sheet_energy(sheet, f, &stress, NULL, false);
    check_close(stress.f[0].x / e, young * thickness, 1e-4);
    check_close(stress.f[1].y / e, 0, 1e-4);
    const mn_sheet_motion none = {{{1, 0, 0}, {2, 0, 0}}};
    assert_true(isinf(mn_sheet_energy(sheet, none, NULL, NULL, false)));
}

static void hinge_gradient(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        mn_vec3 x[4], g[4], force = {0}, torque = {0};
        for (uint64_t a = 0; a < 4; a++)
            x[a] = mn_v3(mn_random_normal(seed, a, 1), mn_random_normal(seed, a, 2),
                         mn_random_normal(seed, a, 3));
        const double angle = mn_hinge_angle(x, g);
        if (fabs(angle) > 3 || mn_distance(x[0], x[1]) < 0.4) continue;
        for (int i = 0; i < 4; i++) {
            force = mn_add(force, g[i]), torque = mn_add(torque, mn_cross(x[i], g[i]));
            for (int axis = 0; axis < 3; axis++) {
                mn_vec3 up[4], down[4];
                memcpy(up, x, sizeof x), memcpy(down, x, sizeof x);
                (&up[i].x)[axis] += 1e-6, (&down[i].x)[axis] -= 1e-6;
                const double slope = (mn_hinge_angle(up, NULL) - mn_hinge_angle(down, NULL)) / 2e-6;
                check_close((&g[i].x)[axis], slope, 1e-6 * (1 + slope * slope * slope * slope));
            }
        }
        check_close(mn_norm(force), 0, 1e-12 * (1 + mn_norm(g[2]) + mn_norm(g[3])));
        check_close(mn_norm(torque), 0, 1e-11 * (1 + mn_norm(g[2]) + mn_norm(g[3])));
    }
}

/// A strip of equilateral triangles on a cylinder has the energy of a plate, D/2 curvature^2 per area.
static void hinges_of_a_cylinder(void **state)
{
    (void)state;
    const double radius = 5, side = 0.2, height = side * 0.86602540378443865;
    for (double degrees = 0; degrees < 90; degrees += 15) {
        const double turn = degrees * 3.14159265358979 / 180;
        double energy = 0, area = 0;
        // The three edges of one triangle, each with the wing of its neighbour, bent around the axis x.
        for (int edge = 0; edge < 3; edge++) {
            const double a = edge * 2.0943951023931953 + turn;
            const double local[4][2] = {{-side / 2, 0}, {side / 2, 0}, {0, height}, {0, -height}};
            mn_vec3 x[4];
            for (int i = 0; i < 4; i++) {
                const double p = cos(a) * local[i][0] - sin(a) * local[i][1];
                const double q = sin(a) * local[i][0] + cos(a) * local[i][1];
                x[i] = mn_v3(p, radius * sin(q / radius), radius * cos(q / radius));
            }
            const double angle = mn_hinge_angle(x, NULL), triangle = 0.5 * side * height;
            energy += 0.5 * side * side / (2 * triangle) * angle * angle;
            area += 2 * triangle / 3; // each edge has a third of its two triangles
        }
        check_close(energy / (0.5 / (radius * radius) * area), 1, 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_the_gradient),
        cmocka_unit_test(stiffness_is_the_gradient_of_forces),
        cmocka_unit_test(projected_stiffness_is_positive_and_at_least_the_true_one),
        cmocka_unit_test(small_strains_follow_hooke),
        cmocka_unit_test(inverted_elements_are_pushed_back),
        cmocka_unit_test(sheet_derivatives),
        cmocka_unit_test(sheet_has_young_and_poisson),
        cmocka_unit_test(hinge_gradient),
        cmocka_unit_test(hinges_of_a_cylinder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
