// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions from IEEE operations alone: an argument is brought near zero by an exact or doubled
// subtraction, then a power series is summed from its smallest term.
//
//   exp(x)  = 2^k exp(r),               k = round(x / ln 2), r = x - k ln 2,   |r| <= 0.35
//   ln(x)   = k ln 2 + 2 artanh(s),     x = 2^k (1 + f), s = f / (2 + f),      |s| <= 0.172
//   sin, cos                            r = x - k pi / 2,                      |r| <= 0.79
//   atan(x) = atan(c) + atan(t),        c = i / 8, t = (x - c) / (1 + x c),    |t| <= 1 / 16
//   erf(x)  = 2 / sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (2n+1)!!             all terms of one sign
//
// ln 2, pi / 2 and atan(c) are sums of two doubles; the high one of ln 2 and pi / 2 has so few bits that k
// times it is exact. This room is compiled without contraction of products and sums, as all of the core
// (core/CMakeLists.txt).
#include "base/elementary.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
static const double half_pi_short = 0x1.921fb54400000p+0, half_pi_rest = 0x1.0b4611a626331p-34;
static const double half_pi_high = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

/// c[0] + x (c[1] + x (...)).
static double series(double x, const double *c, int count)
{
    double sum = c[count - 1];
    for (int i = count - 2; i >= 0; i--) sum = sum * x + c[i];
    return sum;
}

/// 2^k for -1022 <= k <= 1023.
static double power_of_two(int k)
{
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- exponentials ----

/// (exp(r) - 1 - r) / r^2 for |r| <= 0.35: 1/2 + r/6 + ...
static double exp_rest(double r)
{
    static const double c[] = {
        1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,
        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0,
    };
    return series(r, c, sizeof c / sizeof *c);
}

double mn_exp(double x)
{
    if (isnan(x)) return x;
    if (x > 710) return INFINITY;
    if (x < -746) return 0;
    const double k = floor(x * 0x1.71547652b82fep+0 + 0.5);
    const double high = x - k * ln2_high, low = k * ln2_low;
    const double r = high - low, lost = (high - r) - low;
    const double value = 1 + (r + (r * r * exp_rest(r) + lost));
    return k > -1000 && k < 1000 ? value * power_of_two((int)k) : ldexp(value, (int)k);
}

double mn_expm1(double x)
{
    if (fabs(x) < 1e-16) return x;
    if (fabs(x) < 0.34) return x + x * x * exp_rest(x);
    return mn_exp(x) - 1;
}

// ---- logarithms ----

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); x is positive and finite.
static double take_apart(double x, int *k)
{
    double m = frexp(x, k);
    if (m < 0.70710678118654752) m *= 2, (*k)--;
    return m - 1;
}

/// ln(1 + f) = f - (f^2/2 - s (f^2/2 + R)), R = s^2 (2/3 + 2/5 s^2 + ...). Gives the bracket, without what
/// `more` adds.
static double log_bracket(double f, double more)
{
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                               2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
    const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    return half - (s * (half + z * series(z, c, sizeof c / sizeof *c)) + more);
}

double mn_ln(double x)
{
    if (isnan(x) || x == INFINITY) return x;
    if (x <= 0) return x == 0 ? -INFINITY : NAN;
    int k;
    const double f = take_apart(x, &k);
    return k * ln2_high + (f - log_bracket(f, k * ln2_low));
}

double mn_log2(double x)
{
    if (isnan(x) || x == INFINITY) return x;
    if (x <= 0) return x == 0 ? -INFINITY : NAN;
    int k;
    const double f = take_apart(x, &k);
    return k + (f - log_bracket(f, 0)) * 0x1.71547652b82fep+0;
}

// ---- powers and roots ----

static double whole_power(double x, int n)
{
    double result = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) result *= x;
    return result;
}

double mn_pow(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (isnan(x) || isnan(y)) return NAN;
    const double size = fabs(y);
    if (size <= 64 && size == floor(size)) {
        const double power = whole_power(x, (int)size);
        return y < 0 ? 1 / power : power;
    }
    const double value = x == 0 ? (y > 0 ? 0 : INFINITY) : mn_exp(y * mn_ln(fabs(x)));
    if (x >= 0) return value;
    if (size != floor(size)) return isinf(x) || x == 0 ? value : NAN;
    return fmod(size, 2) == 1 ? -value : value;
}

double mn_cbrt(double x)
{
    if (x == 0 || !isfinite(x)) return x;
    int k;
    double m = frexp(fabs(x), &k);
    while (k % 3 != 0) m *= 0.5, k++; // m in (1/8, 1)
    double t = 0.4 + 0.62 * m;        // within 13 percent; Newton's steps double the digits
    for (int i = 0; i < 5; i++) t -= (t - m / (t * t)) / 3;
    return copysign(ldexp(t, k / 3), x);
}

double mn_hypot(double x, double y)
{
    if (isinf(x) || isinf(y)) return INFINITY;
    const double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
    if (isnan(x) || isnan(y)) return NAN;
    if (a == 0 || (a > 1e-140 && a < 1e140)) return sqrt(a * a + b * b);
    int k;
    frexp(a, &k);
    const double c = ldexp(a, -k), d = ldexp(b, -k);
    return ldexp(sqrt(c * c + d * d), k);
}

// ---- angles ----

/// x = k pi / 2 + r + *rest; gives r, and k modulo 4.
static double quarter_turns(double x, int *k, double *rest)
{
    if (fabs(x) > 1.6e6) x = fmod(x, 4 * half_pi_high);
    const double turns = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    const double near = x - turns * half_pi_short, w = turns * half_pi_rest;
    const double r = near - w;
    *rest = (near - r) - w;
    *k = (int)((int64_t)turns & 3);
    return r;
}

static double sine_of(double r, double rest)
{
    static const double c[] = {-1.0 / 6,
                               1.0 / 120,
                               -1.0 / 5040,
                               1.0 / 362880,
                               -1.0 / 39916800,
                               1.0 / 6227020800.0,
                               -1.0 / 1307674368000.0,
                               1.0 / 355687428096000.0};
    const double z = r * r;
    return r + (r * z * series(z, c, sizeof c / sizeof *c) + rest * (1 - 0.5 * z));
}

static double cosine_of(double r, double rest)
{
    static const double c[] = {1.0 / 24,        -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800,
                               1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    const double z = r * r, half = 0.5 * z, w = 1 - half;
    return w + (((1 - w) - half) + (z * z * series(z, c, sizeof c / sizeof *c) - r * rest));
}

double mn_sin(double x)
{
    if (!isfinite(x)) return NAN;
    if (fabs(x) < 1e-8) return x;
    int k;
    double rest;
    const double r = quarter_turns(x, &k, &rest), value = k & 1 ? cosine_of(r, rest) : sine_of(r, rest);
    return k & 2 ? -value : value;
}

double mn_cos(double x)
{
    if (!isfinite(x)) return NAN;
    int k;
    double rest;
    const double r = quarter_turns(x, &k, &rest), value = k & 1 ? sine_of(r, rest) : cosine_of(r, rest);
    return k == 1 || k == 2 ? -value : value;
}

double mn_tan(double x)
{
    if (!isfinite(x)) return NAN;
    if (fabs(x) < 1e-8) return x;
    int k;
    double rest;
    const double r = quarter_turns(x, &k, &rest), s = sine_of(r, rest), c = cosine_of(r, rest);
    return k & 1 ? -c / s : s / c;
}

/// atan(a / b) for 0 <= a <= b, b > 0, as high + *low.
static double arc_of(double a, double b, double *low)
{
    static const double high[] = {0,
                                  0x1.fd5ba9aac2f6ep-4,
                                  0x1.f5b75f92c80ddp-3,
                                  0x1.6f61941e4def1p-2,
                                  0x1.dac670561bb4fp-2,
                                  0x1.1e00babdefeb4p-1,
                                  0x1.4978fa3269ee1p-1,
                                  0x1.700a7c5784634p-1,
                                  0x1.921fb54442d18p-1};
    static const double rest[] = {0,
                                  -0x1.cd37686760c17p-59,
                                  0x1.8ab6e3cf7afbdp-57,
                                  -0x1.c63aae6f6e918p-56,
                                  0x1.a2b7f222f65e2p-56,
                                  -0x1.928df287a668fp-58,
                                  0x1.2419a87f2a458p-56,
                                  -0x1.8c34d25aadef6p-56,
                                  0x1.1a62633145c07p-55};
    static const double c[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,
                               -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17};
    const double x = a / b;
    const int i = (int)(8 * x + 0.5);
    const double t = i == 0 ? x : (x - i / 8.0) / (1 + x * (i / 8.0)), z = t * t;
    *low = rest[i] + (t + t * z * series(z, c, sizeof c / sizeof *c));
    return high[i];
}

double mn_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) return NAN;
    double a = fabs(y), b = fabs(x), low = 0, high = 0;
    if (isinf(a) && isinf(b)) a = 1, b = 1;
    if (a > b) {
        high = arc_of(b, a, &low);
        low = half_pi_low - low, high = half_pi_high - high;
    } else if (b > 0) {
        high = arc_of(a, b, &low);
    }
    if (signbit(x)) low = 2 * half_pi_low - low, high = 2 * half_pi_high - high;
    return copysign(high + low, y);
}

double mn_acos(double x)
{
    return mn_atan2(sqrt((1 - x) * (1 + x)), x);
}

// ---- the error function ----

double mn_erf(double x)
{
    if (isnan(x)) return x;
    const double a = fabs(x);
    if (a > 6) return copysign(1, x);
    double term = a, sum = 0;
    for (int n = 1; sum + term != sum; n++) sum += term, term *= 2 * a * a / (2 * n + 1);
    return copysign(fmin(1, 1.1283791670955126 * mn_exp(-a * a) * sum), x);
}
