// SPDX-License-Identifier: Apache-2.0
//
// Small matrices and their decompositions, on random, singular, reflected, tiny, huge and nearly degenerate
// matrices.
#include "base/random.h"
#include "support/check.h"

static double difference(mn_mat3 a, mn_mat3 b)
{
    return mn_m3_norm(mn_m3_add(a, mn_m3_scale(-1, b)));
}

static void check_rotation(mn_mat3 r)
{
    check_close(difference(mn_m3_mul(r, mn_m3_transpose(r)), mn_m3_identity()), 0, 1e-14);
    check_close(mn_m3_determinant(r), 1, 1e-14);
}

// Random entries; by case also singular, rank one, zero, with equal singular values, or badly scaled.
static mn_mat3 random_matrix(uint64_t i)
{
    mn_mat3 a;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) a.m[r][c] = mn_random_normal(9, i, (uint32_t)(3 * r + c));
    const mn_vec3 x = mn_m3_column(a, 0), y = mn_m3_column(a, 1);
    switch (i % 10) {
    case 1:
        return mn_outer(x, y);
    case 2:
        return mn_m3_columns(x, y, mn_add(x, y));
    case 3:
        return mn_m3_scale(1e-12, a);
    case 4:
        return mn_m3_scale(1e12, a);
    case 5:
        return mn_m3_rotation(mn_scale(100, x));
    case 6:
        return mn_m3_add(mn_m3_identity(), mn_m3_scale(1e-9, a));
    case 7:
        return mn_m3_diagonal(1, -1, 1e-14);
    case 8:
        return i == 8 ? mn_m3_scale(0, a) : mn_m3_columns(x, y, mn_scale(1e-10, mn_m3_column(a, 2)));
    default:
        return a;
    }
}

static void symmetric_matrices_are_diagonalised(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const mn_mat3 b = random_matrix(i), a = mn_m3_add(b, mn_m3_transpose(b));
        mn_vec3 l;
        mn_mat3 v;
        mn_m3_eigen_symmetric(a, &l, &v);
        assert_true(l.x >= l.y && l.y >= l.z);
        check_rotation(v);
        const mn_mat3 back = mn_m3_mul(v, mn_m3_mul(mn_m3_diagonal(l.x, l.y, l.z), mn_m3_transpose(v)));
        check_close(difference(back, a), 0, 4e-15 * mn_m3_norm(a));
    }
}

static void singular_values_fall_and_carry_the_determinants_sign(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const mn_mat3 a = random_matrix(i);
        mn_mat3 u, v;
        mn_vec3 s;
        mn_m3_svd(a, &u, &s, &v);
        check_rotation(u);
        check_rotation(v);
        assert_true(s.x >= s.y && s.y >= 0 && s.y >= fabs(s.z) * (1 - 1e-12));
        const double determinant = mn_m3_determinant(a);
        if (fabs(determinant) > 1e-12 * s.x * s.x * s.x) assert_true((s.z < 0) == (determinant < 0));
        const mn_mat3 back = mn_m3_mul(u, mn_m3_mul(mn_m3_diagonal(s.x, s.y, s.z), mn_m3_transpose(v)));
        check_close(difference(back, a), 0, 8e-15 * mn_m3_norm(a));
    }
}

static void small_singular_values_are_accurate(void **state)
{
    (void)state;
    // Columns scaled by 1, 1e-5, 1e-10 of an orthogonal matrix: known singular values that A^T A would lose.
    const mn_mat3 q = mn_m3_rotation(mn_v3(20, 30, 40));
    const mn_mat3 a = mn_m3_mul(q, mn_m3_diagonal(1, 1e-5, 1e-10));
    mn_mat3 u, v;
    mn_vec3 s;
    mn_m3_svd(a, &u, &s, &v);
    check_close(s.x, 1, 1e-15);
    check_close(s.y / 1e-5, 1, 1e-14);
    check_close(s.z / 1e-10, 1, 1e-14);
}

static void polar_gives_a_rotation_and_a_symmetric_matrix(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const mn_mat3 a = random_matrix(i);
        mn_mat3 r, s;
        mn_m3_polar(a, &r, &s);
        check_rotation(r);
        check_close(difference(s, mn_m3_transpose(s)), 0, 4e-15 * mn_m3_norm(a));
        check_close(difference(mn_m3_mul(r, s), a), 0, 1e-14 * mn_m3_norm(a));
    }
}

static void inverse_cofactor_and_frames(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 500; i += 10) {
        const mn_mat3 a = random_matrix(i);
        mn_mat3 inverse;
        assert_true(mn_m3_inverse(a, &inverse));
        check_close(difference(mn_m3_mul(a, inverse), mn_m3_identity()), 0,
                    1e-13 * mn_m3_norm(a) * mn_m3_norm(inverse));
        const mn_mat3 adjugate = mn_m3_transpose(mn_m3_cofactor(a));
        check_close(difference(mn_m3_mul(a, adjugate), mn_m3_scale(mn_m3_determinant(a), mn_m3_identity())),
                    0, 1e-13 * mn_m3_norm(a) * mn_m3_norm(adjugate));
        mn_vec3 n = mn_random_direction(4, i, 0), x, y;
        mn_frame(n, &x, &y);
        check_rotation(mn_m3_columns(x, y, n));
        mn_frame(mn_v3(0, 0, -1), &x, &y);
        check_rotation(mn_m3_columns(x, y, mn_v3(0, 0, -1)));
    }
    mn_mat3 untouched = mn_m3_identity();
    assert_false(mn_m3_inverse(mn_outer(mn_v3(1, 2, 3), mn_v3(1, 1, 1)), &untouched));
    check_close(difference(untouched, mn_m3_identity()), 0, 0);
}

static void rotations_turn_the_way_houdini_does(void **state)
{
    (void)state;
    // x first: (0,1,0) turned by 90 deg about x points along z, then about y it points along x.
    const mn_vec3 v = mn_m3_apply(mn_m3_rotation(mn_v3(90, 90, 0)), mn_v3(0, 1, 0));
    check_close(mn_distance(v, mn_v3(1, 0, 0)), 0, 1e-15);
    const mn_mat4 m = mn_m4_affine(mn_m3_rotation(mn_v3(0, 0, 90)), mn_v3(1, 2, 3));
    check_close(mn_distance(mn_m4_apply_point(mn_m4_mul(m, m), mn_v3(1, 0, 0)), mn_v3(-2, 3, 6)), 0, 1e-14);
}

static void boxes_join_and_grow(void **state)
{
    (void)state;
    mn_box box = mn_box_empty();
    assert_true(mn_box_is_empty(box));
    box = mn_box_add(mn_box_add(box, mn_v3(1, 2, 3)), mn_v3(-1, 5, 0));
    assert_false(mn_box_is_empty(box));
    box = mn_box_grow(mn_box_join(box, mn_box_empty()), 1);
    check_close(mn_distance(box.min, mn_v3(-2, 1, -1)), 0, 0);
    check_close(mn_distance(box.max, mn_v3(2, 6, 4)), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_matrices_are_diagonalised),
        cmocka_unit_test(singular_values_fall_and_carry_the_determinants_sign),
        cmocka_unit_test(small_singular_values_are_accurate),
        cmocka_unit_test(polar_gives_a_rotation_and_a_symmetric_matrix),
        cmocka_unit_test(inverse_cofactor_and_frames),
        cmocka_unit_test(rotations_turn_the_way_houdini_does),
        cmocka_unit_test(boxes_join_and_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
