// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions against the C library's in extended precision, which is 11 bits finer, and their
// special values.
#include "base/elementary.h"

#include "support/check.h"

#include <float.h>
#include <math.h>

typedef double function(double);
typedef long double reference(long double);

static double arc(double x)
{
    return mn_atan2(x, 1);
}

/// The largest error over [low, high], in units in the last place of the reference.
static double worst(function *f, reference *g, double low, double high)
{
    double most = 0;
    for (int i = 0; i <= 200000; i++) {
        const double x = low + (high - low) * ((double)i + 0.37 * sin((double)i)) / 200001.0;
        const long double right = g(x);
        if (fabsl(right) < DBL_MIN) continue;
        int k;
        frexpl(right, &k);
        most = fmax(most, (double)fabsl(ldexpl((long double)f(x) - right, 53 - k)));
    }
    return most;
}

static void values_are_right_to_the_last_place(void **state)
{
    (void)state;
    const struct {
        const char *name;
        function *f;
        reference *g;
        double low, high, bound;
    } cases[] = {
        {"exp", mn_exp, expl, -700, 700, 1},   {"exp", mn_exp, expl, -1, 1, 1},
        {"expm1", mn_expm1, expm1l, -1, 1, 4}, {"ln", mn_ln, logl, 1e-9, 3, 1},
        {"ln", mn_ln, logl, 1, 1e9, 1},        {"log2", mn_log2, log2l, 1e-3, 1e3, 2},
        {"cbrt", mn_cbrt, cbrtl, -30, 30, 1},  {"cbrt", mn_cbrt, cbrtl, 1e-30, 1e-20, 1},
        {"sin", mn_sin, sinl, -10, 10, 1},     {"sin", mn_sin, sinl, -1e5, 1e5, 1},
        {"cos", mn_cos, cosl, -10, 10, 1},     {"cos", mn_cos, cosl, -1e5, 1e5, 1},
        {"tan", mn_tan, tanl, -1.6, 1.6, 3},   {"atan", arc, atanl, -1.2, 1.2, 3},
        {"atan", arc, atanl, -40, 40, 3},      {"acos", mn_acos, acosl, -1, 1, 3},
        {"erf", mn_erf, erfl, -1, 1, 8},       {"erf", mn_erf, erfl, 1, 6.5, 48},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double error = worst(cases[i].f, cases[i].g, cases[i].low, cases[i].high);
        if (!(error <= cases[i].bound))
            print_error("%s in [%g, %g]: %g\n", cases[i].name, cases[i].low, cases[i].high, error);
        assert_true(error <= cases[i].bound);
    }
}

static void powers_are_right(void **state)
{
    (void)state;
    for (int i = 1; i < 20000; i++) {
        const double x = 0.003 * i, y = 3.5 * sin(i);
        const long double right = powl(x, y);
        const double bound = (2 + 3 * fabs(y * log(x))) * 0x1p-53;
        assert_true(fabsl((long double)mn_pow(x, y) / right - 1) <= bound);
        assert_true(fabs(mn_pow(x, 3) / (x * x * x) - 1) <= 4 * 0x1p-53);
    }
    assert_true(mn_pow(-2, 3) == -8 && mn_pow(-2, -2) == 0.25 && isnan(mn_pow(-2, 0.5)));
    assert_true(mn_pow(0, 0) == 1 && mn_pow(0, 2.5) == 0 && mn_pow(0, -2.5) == INFINITY && mn_pow(5, 0) == 1);
    assert_true(mn_pow(-1, 101) == -1 && mn_pow(-1, 100) == 1);
}

static void special_values_are_those_of_c(void **state)
{
    (void)state;
    function *const fs[] = {mn_exp, mn_expm1, mn_ln, mn_log2, mn_cbrt, mn_sin,
                            mn_cos, mn_tan,   arc,   mn_acos, mn_erf};
    function *const gs[] = {exp, expm1, log, log2, cbrt, sin, cos, tan, atan, acos, erf};
    const double xs[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-300, -1e-300, 800, -800, 2};
    for (size_t f = 0; f < sizeof fs / sizeof *fs; f++)
        for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
            const double ours = fs[f](xs[i]), theirs = gs[f](xs[i]);
            if (isnan(theirs)) {
                assert_true(isnan(ours));
                continue;
            }
            if (!(ours == theirs || fabs(ours - theirs) <= 4e-16 * fabs(theirs)))
                print_error("%zu of %g: %g, not %g\n", f, xs[i], ours, theirs);
            assert_true(ours == theirs || fabs(ours - theirs) <= 4e-16 * fabs(theirs));
            if (!signbit(ours) != !signbit(theirs)) print_error("%zu of %g: sign\n", f, xs[i]);
            assert_true(!signbit(ours) == !signbit(theirs));
        }
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
        for (size_t j = 0; j < sizeof xs / sizeof *xs; j++) {
            const double ours = mn_atan2(xs[i], xs[j]), theirs = atan2(xs[i], xs[j]);
            assert_true(isnan(theirs) ? isnan(ours)
                                      : fabs(ours - theirs) <= 5e-16 && !signbit(ours) == !signbit(theirs));
            const double length = hypot(xs[i], xs[j]), our_length = mn_hypot(xs[i], xs[j]);
            assert_true(isnan(length) ? isnan(our_length)
                                      : length == our_length || fabs(our_length / length - 1) < 4e-16);
        }
    assert_true(fabs(mn_hypot(3e200, 4e200) / 5e200 - 1) < 4e-16 &&
                fabs(mn_hypot(3e-200, 4e-200) / 5e-200 - 1) < 4e-16);
    for (int k = -1000; k <= 1000; k++) assert_true(mn_log2(ldexp(1, k)) == k);
    assert_true(mn_cbrt(27) == 3 && mn_cbrt(-8) == -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_right_to_the_last_place),
        cmocka_unit_test(powers_are_right),
        cmocka_unit_test(special_values_are_those_of_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
