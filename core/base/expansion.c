// SPDX-License-Identifier: Apache-2.0
//
// Expansion arithmetic: every rounding error is kept as a further term [shewchuk1997].
//
//   two_sum      a + b = x + y with x = fl(a + b)                              [knuth] 4.2.2
//   two_product  a b   = x + y with x = fl(a b), by splitting into 26-bit halves [dekker1971]
//   grow         e + b: one two_sum per term; the result does not overlap
//   compress     a sweep down and one up leaves each term the best double of what lies below it
//
// This file must be compiled without contraction to fused multiply-add and without reassociation.
#include "base/expansion.h"

static inline void two_sum(double a, double b, double *x, double *y)
{
    *x = a + b;
    const double b_virtual = *x - a, a_virtual = *x - b_virtual;
    *y = (a - a_virtual) + (b - b_virtual);
}

/// As two_sum when |a| >= |b|.
static inline void fast_two_sum(double a, double b, double *x, double *y)
{
    *x = a + b;
    *y = b - (*x - a);
}

static inline void split(double a, double *high, double *low)
{
    const double c = 134217729.0 * a; // 2^27 + 1
    *high = c - (c - a);
    *low = a - *high;
}

static inline void two_product(double a, double b, double *x, double *y)
{
    double a_high, a_low, b_high, b_low;
    *x = a * b;
    split(a, &a_high, &a_low);
    split(b, &b_high, &b_low);
    *y = a_low * b_low - (((*x - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/// The same number in as few terms as possible; in place.
static void compress(mn_expansion *e)
{
    if (e->count == 0) return;
    double kept[MN_EXPANSION_MAX], sum = e->term[e->count - 1], error;
    int32_t first = e->count - 1;
    for (int32_t i = e->count - 2; i >= 0; i--) {
        fast_two_sum(sum, e->term[i], &sum, &error);
        if (error != 0) {
            kept[first--] = sum;
            sum = error;
        }
    }
    kept[first] = sum;
    int32_t count = 0;
    sum = kept[first];
    for (int32_t i = first + 1; i < e->count; i++) {
        fast_two_sum(kept[i], sum, &sum, &error);
        if (error != 0) e->term[count++] = error;
    }
    if (sum != 0) e->term[count++] = sum;
    e->count = count;
}

/// e += b, terms in order, zeros dropped. The caller compresses before the terms run out.
static void grow(mn_expansion *e, double b)
{
    int32_t count = 0;
    for (int32_t i = 0; i < e->count; i++) {
        double error;
        two_sum(b, e->term[i], &b, &error);
        if (error != 0) e->term[count++] = error;
    }
    if (b != 0) e->term[count++] = b;
    e->count = count;
    if (e->count >= MN_EXPANSION_MAX - 2) compress(e);
}

mn_expansion mn_expansion_difference(double a, double b)
{
    mn_expansion e = {.count = 0};
    double x, y;
    two_sum(a, -b, &x, &y);
    if (y != 0) e.term[e.count++] = y;
    if (x != 0) e.term[e.count++] = x;
    return e;
}

mn_expansion mn_expansion_sum(const mn_expansion *a, const mn_expansion *b)
{
    mn_expansion e = *a;
    for (int32_t i = 0; i < b->count; i++) grow(&e, b->term[i]);
    compress(&e);
    return e;
}

mn_expansion mn_expansion_product(const mn_expansion *a, const mn_expansion *b)
{
    mn_expansion e = {.count = 0};
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t j = 0; j < b->count; j++) {
            double x, y;
            two_product(a->term[i], b->term[j], &x, &y);
            grow(&e, y);
            grow(&e, x);
        }
    compress(&e);
    return e;
}

mn_expansion mn_expansion_negative(mn_expansion a)
{
    for (int32_t i = 0; i < a.count; i++) a.term[i] = -a.term[i];
    return a;
}

double mn_expansion_value(const mn_expansion *a)
{
    return a->count ? a->term[a->count - 1] : 0.0;
}
