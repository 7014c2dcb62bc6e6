// SPDX-License-Identifier: Apache-2.0
//
// Exact predicates against integer determinants of any length, on inputs made to defeat floating point:
// points on common planes and spheres, moved by one unit in the last place.
#include "base/predicates.h"
#include "base/random.h"
#include "support/check.h"

// ---- integers of any length: sign and magnitude, little-endian words ----

enum { WORDS = 40 };

typedef struct integer {
    int sign; ///< -1, 0, 1
    uint32_t word[WORDS];
} integer;

static int compare_magnitude(const integer *a, const integer *b)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

static integer negative(integer a)
{
    a.sign = -a.sign;
    return a;
}

static integer plus(integer a, integer b)
{
    if (a.sign == 0) return b;
    if (b.sign == 0) return a;
    integer r = {0};
    if (a.sign == b.sign) {
        uint64_t carry = 0;
        for (int i = 0; i < WORDS; i++) {
            carry += (uint64_t)a.word[i] + b.word[i];
            r.word[i] = (uint32_t)carry;
            carry >>= 32;
        }
        assert_true(carry == 0);
        r.sign = a.sign;
        return r;
    }
    const int order = compare_magnitude(&a, &b);
    if (order == 0) return r;
    if (order < 0) {
        const integer swap = a;
        a = b;
        b = swap;
    }
    int64_t borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        int64_t d = (int64_t)a.word[i] - b.word[i] + borrow;
        borrow = d < 0 ? -1 : 0;
        r.word[i] = (uint32_t)d;
    }
    r.sign = a.sign;
    return r;
}

static integer minus(integer a, integer b)
{
    return plus(a, negative(b));
}

static integer times(integer a, integer b)
{
    integer r = {0};
    r.sign = a.sign * b.sign;
    if (r.sign == 0) return r;
    for (int i = 0; i < WORDS; i++) {
        uint64_t carry = 0;
        for (int j = 0; i + j < WORDS; j++) {
            carry += (uint64_t)a.word[i] * b.word[j] + r.word[i + j];
            r.word[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return r;
}

/// x 2^160 as an integer; x must be a multiple of 2^-160 below 2^60.
static integer scaled(double x)
{
    integer r = {0};
    if (x == 0) return r;
    r.sign = x < 0 ? -1 : 1;
    int exponent;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(x), &exponent), 53);
    const int shift = exponent - 53 + 160;
    assert_true(shift >= 0);
    for (int bit = 0; bit < 53; bit++)
        if (mantissa >> bit & 1) r.word[(bit + shift) / 32] |= 1u << (bit + shift) % 32;
    return r;
}

typedef struct integer3 {
    integer x, y, z;
} integer3;

static integer3 difference(mn_vec3 a, mn_vec3 b)
{
    return (integer3){minus(scaled(a.x), scaled(b.x)), minus(scaled(a.y), scaled(b.y)),
                      minus(scaled(a.z), scaled(b.z))};
}

static integer triple(integer3 a, integer3 b, integer3 c)
{
    const integer x = times(c.x, minus(times(a.y, b.z), times(a.z, b.y)));
    const integer y = times(c.y, minus(times(a.z, b.x), times(a.x, b.z)));
    const integer z = times(c.z, minus(times(a.x, b.y), times(a.y, b.x)));
    return plus(plus(x, y), z);
}

static integer square(integer3 a)
{
    return plus(plus(times(a.x, a.x), times(a.y, a.y)), times(a.z, a.z));
}

static int orient3d_sign(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
    return triple(difference(b, a), difference(c, a), difference(d, a)).sign;
}

static int sign_of(double x)
{
    return (x > 0) - (x < 0);
}

static double nudge(double x, uint64_t id, uint32_t draw)
{
    const int steps = (int)(mn_random_unit(7, id, draw) * 5) - 2;
    for (int i = 0; i < abs(steps); i++) x = nextafter(x, steps > 0 ? INFINITY : -INFINITY);
    return x;
}

static mn_vec3 nudge3(mn_vec3 a, uint64_t id, uint32_t draw)
{
    return mn_v3(nudge(a.x, id, draw), nudge(a.y, id, draw + 1), nudge(a.z, id, draw + 2));
}

/// A random double of random size between 2^-20 and 2^20.
static double any(uint64_t id, uint32_t draw)
{
    const double size = ldexp(1.0, (int)(mn_random_unit(5, id, draw) * 40) - 20);
    return size * (2 * mn_random_unit(6, id, draw) - 1);
}

static mn_vec3 any3(uint64_t id, uint32_t draw)
{
    return mn_v3(any(id, draw), any(id, draw + 1), any(id, draw + 2));
}

static void test_orient3d_is_exact(void **state)
{
    (void)state;
    int zeros = 0, negatives = 0;
    for (uint64_t id = 0; id < 20000; id++) {
        const mn_vec3 a = any3(id, 0), b = any3(id, 3), c = any3(id, 6);
        // A point of the plane through a, b, c up to rounding, then moved by up to two units in the last
        // place.
        const double s = mn_random_unit(1, id, 0), t = mn_random_unit(1, id, 1);
        mn_vec3 d = mn_axpy(mn_axpy(a, s, mn_sub(b, a)), t, mn_sub(c, a));
        if (id % 3 == 0) d = id % 2 ? mn_lerp(a, b, 0.5) : c;
        d = id % 5 == 0 ? d : nudge3(d, id, 0);
        const int expected = orient3d_sign(a, b, c, d), sign = sign_of(mn_orient3d(a, b, c, d));
        assert_int_equal(sign, expected);
        assert_int_equal(sign_of(mn_orient3d(b, a, c, d)), -expected);
        zeros += expected == 0;
        negatives += expected < 0;
    }
    // The inputs do reach every answer.
    assert_true(zeros > 100 && negatives > 1000);
}

static void test_orient3d_on_a_line_of_grid_points(void **state)
{
    (void)state;
    // The classic picture: a plane through far points and a fan of neighbours of 0.5 in steps of 2^-53.
    const mn_vec3 a = {12, 12, 0}, b = {24, 24, 0}, c = {18, 18, 7};
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            const mn_vec3 d = {0.5 + i * 0x1p-53, 0.5 + j * 0x1p-53, 0};
            assert_int_equal(sign_of(mn_orient3d(a, b, c, d)), orient3d_sign(a, b, c, d));
        }
}

static void test_in_the_plane(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 10000; id++) {
        const double a[2] = {any(id, 0), any(id, 1)}, b[2] = {any(id, 2), any(id, 3)};
        const double s = mn_random_unit(1, id, 0);
        const double c[2] = {nudge(a[0] + s * (b[0] - a[0]), id, 4), nudge(a[1] + s * (b[1] - a[1]), id, 5)};
        const mn_vec3 p = {a[0], a[1], 0}, q = {b[0], b[1], 0}, r = {c[0], c[1], 0};
        const integer3 u = difference(q, p), v = difference(r, p);
        assert_int_equal(sign_of(mn_orient2d(a, b, c)), minus(times(u.x, v.y), times(u.y, v.x)).sign);

        double circle[4][2];
        mn_vec3 x[4];
        for (uint32_t i = 0; i < 4; i++) {
            const double angle = 6.283185307179586 * mn_random_unit(2, id, i);
            circle[i][0] = nudge(s + cos(angle), id, 2 * i), circle[i][1] = nudge(sin(angle), id, 2 * i + 1);
            x[i] = mn_v3(circle[i][0], circle[i][1], 0);
        }
        integer3 e[3];
        for (int i = 0; i < 3; i++) {
            e[i] = difference(x[i], x[3]);
            e[i].z = square(e[i]);
        }
        assert_int_equal(sign_of(mn_incircle(circle[0], circle[1], circle[2], circle[3])),
                         triple(e[0], e[1], e[2]).sign);
    }
}

static void test_any_scale_and_bad_numbers(void **state)
{
    (void)state;
    // Nearly flat: the fourth point is one unit above the plane x + y + z = 1.
    const mn_vec3 a = {1, 0, 0}, b = {0, 1, 0}, c = {0, 0, 1};
    const mn_vec3 d = {0.25, 0.25, nextafter(0.5, 1)};
    const int expected = orient3d_sign(a, b, c, d);
    assert_int_not_equal(expected, 0);
    for (int e = -900; e <= 900; e += 100) {
        const double s = ldexp(1, e);
        assert_int_equal(sign_of(mn_orient3d(mn_scale(s, a), mn_scale(s, b), mn_scale(s, c), mn_scale(s, d))),
                         expected);
    }
    assert_true(mn_orient3d(a, b, c, mn_v3(NAN, 0, 0)) == 0);
    assert_true(mn_orient3d(a, b, c, mn_v3(INFINITY, 0, 0)) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orient3d_is_exact),
        cmocka_unit_test(test_orient3d_on_a_line_of_grid_points),
        cmocka_unit_test(test_in_the_plane),
        cmocka_unit_test(test_any_scale_and_bad_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
