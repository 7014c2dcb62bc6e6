// SPDX-License-Identifier: Apache-2.0
//
// Weighted least squares by an orthogonal factorisation,
//
//   sqrt(W) B = Q R,     coefficients = R^-1 Q^T sqrt(W) s,
//
// never by the normal equations B^T W B, which square the condition number. The columns of B are monomials in
// rising degree, so the factors of a lower degree are the first columns of those of a higher: degrading a fit
// costs nothing. Modified Gram-Schmidt [bjorck1967] keeps to whole columns, which are vectors of four.
#ifndef MENISCUS_MLS_WEIGHTED_FIT_H
#define MENISCUS_MLS_WEIGHTED_FIT_H

#include "base/simd.h"
#include "meniscus/vec.h"

enum {
    MN_FIT_DEGREE_MAX = 4,
    MN_FIT_COLUMNS_MAX = 15 ///< of a surface; a curve has degree + 1
};

/// A column that keeps less of its length than this after the ones before it are taken out adds only noise.
#define MN_FIT_LEAST_PIVOT 1e-4
/// And a column this short beside the first is rounding: points on a line, or all in one place.
#define MN_FIT_LEAST_COLUMN 1e-12

typedef struct weighted_fit {
    int32_t columns; ///< of B
    int64_t stride;  ///< doubles from one column to the next: the neighbours, padded with zeros to fours
    double *q;       ///< [columns][stride] sqrt(W) B, then Q
    double *root;    ///< [stride] sqrt(W)
    double r[MN_FIT_COLUMNS_MAX][MN_FIT_COLUMNS_MAX];
} weighted_fit;

MN_INLINE double fit_dot(const double *a, const double *b, int64_t n)
{
    mn_double4 s = {0, 0, 0, 0}, t = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        s += *(const mn_double4 *)(a + i) * *(const mn_double4 *)(b + i);
        t += *(const mn_double4 *)(a + i + 4) * *(const mn_double4 *)(b + i + 4);
    }
    if (i < n) s += *(const mn_double4 *)(a + i) * *(const mn_double4 *)(b + i);
    s += t;
    return (s[0] + s[1]) + (s[2] + s[3]);
}

MN_INLINE void fit_subtract(double *a, double factor, const double *b, int64_t n)
{
    const mn_double4 f = {factor, factor, factor, factor};
    for (int64_t i = 0; i < n; i += 4) *(mn_double4 *)(a + i) -= f * *(const mn_double4 *)(b + i);
}

/// Two such products at once, with the same bits: the loads of `a` are shared, and the sums do not wait for
/// each other.
MN_INLINE void fit_dot2(const double *a, const double *b, const double *c, int64_t n, double dots[2])
{
    mn_double4 s = {0, 0, 0, 0}, t = s, u = s, v = s;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const mn_double4 x = *(const mn_double4 *)(a + i), y = *(const mn_double4 *)(a + i + 4);
        s += x * *(const mn_double4 *)(b + i);
        u += x * *(const mn_double4 *)(c + i);
        t += y * *(const mn_double4 *)(b + i + 4);
        v += y * *(const mn_double4 *)(c + i + 4);
    }
    if (i < n) {
        s += *(const mn_double4 *)(a + i) * *(const mn_double4 *)(b + i);
        u += *(const mn_double4 *)(a + i) * *(const mn_double4 *)(c + i);
    }
    s += t, u += v;
    dots[0] = (s[0] + s[1]) + (s[2] + s[3]);
    dots[1] = (u[0] + u[1]) + (u[2] + u[3]);
}

MN_INLINE void fit_subtract2(double *a, double *b, const double factors[2], const double *c, int64_t n)
{
    const mn_double4 f = {factors[0], factors[0], factors[0], factors[0]};
    const mn_double4 g = {factors[1], factors[1], factors[1], factors[1]};
    for (int64_t i = 0; i < n; i += 4) {
        const mn_double4 x = *(const mn_double4 *)(c + i);
        *(mn_double4 *)(a + i) -= f * x;
        *(mn_double4 *)(b + i) -= g * x;
    }
}

/// Factors in place; gives how many leading columns are sound.
MN_INLINE int32_t fit_factor(weighted_fit *fit)
{
    const int64_t n = fit->stride;
    double length[MN_FIT_COLUMNS_MAX];
    for (int32_t k = 0; k < fit->columns; k++) {
        const double *column = fit->q + k * n;
        length[k] = sqrt(fit_dot(column, column, n));
    }
    for (int32_t k = 0; k < fit->columns; k++) {
        double *column = fit->q + k * n;
        const double pivot = sqrt(fit_dot(column, column, n));
        if (!(pivot > MN_FIT_LEAST_PIVOT * length[k] && pivot > MN_FIT_LEAST_COLUMN * length[0])) return k;
        fit->r[k][k] = pivot;
        const mn_double4 scale = {1 / pivot, 1 / pivot, 1 / pivot, 1 / pivot};
        for (int64_t i = 0; i < n; i += 4) *(mn_double4 *)(column + i) *= scale;
        int32_t j = k + 1;
        for (; j + 1 < fit->columns; j += 2) {
            double *other = fit->q + j * n;
            fit_dot2(column, other, other + n, n, &fit->r[k][j]);
            fit_subtract2(other, other + n, &fit->r[k][j], column, n);
        }
        if (j < fit->columns) {
            double *other = fit->q + j * n;
            fit->r[k][j] = fit_dot(column, other, n);
            fit_subtract(other, fit->r[k][j], column, n);
        }
    }
    return fit->columns;
}

/// coefficients = R^-1 Q^T sqrt(W) s on the first `columns`; `scaled` is sqrt(W) s.
MN_INLINE void fit_solve(const weighted_fit *fit, int32_t columns, const double *scaled, double *coefficients)
{
    for (int32_t k = columns - 1; k >= 0; k--) {
        double sum = fit_dot(fit->q + k * fit->stride, scaled, fit->stride);
        for (int32_t j = k + 1; j < columns; j++) sum -= fit->r[k][j] * coefficients[j];
        coefficients[k] = sum / fit->r[k][k];
    }
}

/// row = sqrt(W) Q R^-T g: what each neighbour's value weighs in the functional g of the coefficients.
MN_INLINE void fit_row(const weighted_fit *fit, int32_t columns, const double *g, double *row)
{
    double y[MN_FIT_COLUMNS_MAX];
    for (int32_t k = 0; k < columns; k++) {
        double sum = g[k];
        for (int32_t j = 0; j < k; j++) sum -= fit->r[j][k] * y[j];
        y[k] = sum / fit->r[k][k];
    }
    const int64_t n = fit->stride;
    for (int64_t i = 0; i < n; i += 4) *(mn_double4 *)(row + i) = (mn_double4){0, 0, 0, 0};
    for (int32_t k = 0; k < columns; k++) fit_subtract(row, -y[k], fit->q + k * n, n);
    for (int64_t i = 0; i < n; i += 4) *(mn_double4 *)(row + i) *= *(const mn_double4 *)(fit->root + i);
}

#endif
