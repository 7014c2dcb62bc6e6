// SPDX-License-Identifier: Apache-2.0
//
// Weighted least squares by an orthogonal factorisation,
//
//   sqrt(W) B = Q R,     coefficients = R^-1 Q^T sqrt(W) s,
//
// The normal equations B^T W B give the same R in half the time, but square the condition number: they are
// taken only where it is small, and otherwise columns are made orthogonal one by one. The columns of B are
// monomials in rising degree, so the factors of a lower degree are the first columns of those of a higher:
// degrading a fit costs nothing. Modified Gram-Schmidt [bjorck1967] keeps to whole columns, which are vectors
// of four.
#ifndef MENISCUS_CODIM_WEIGHTED_FIT_H
#define MENISCUS_CODIM_WEIGHTED_FIT_H

#include "base/simd.h"
#include "meniscus/vec.h"

enum {
    MN_FIT_DEGREE_MAX = 4,
    MN_FIT_COLUMNS_MAX = 15 ///< of a surface; a curve has degree + 1
};

/// A column that keeps less of its length than this after the ones before it are taken out adds only noise.
#define MN_FIT_LEAST_PIVOT 1e-4
/// One that keeps more than this is safe with the normal equations too: their error is its inverse square.
#define MN_FIT_SAFE_PIVOT 1e-3
/// And a column this short beside the first is rounding: points on a line, or all in one place.
#define MN_FIT_LEAST_COLUMN 1e-12

typedef struct weighted_fit {
    int32_t columns; ///< of B
    int64_t stride;  ///< doubles from one column to the next: the neighbours, padded with zeros to fours
    double *q;       ///< [columns][stride] sqrt(W) B, then Q
    double *root;    ///< [stride] sqrt(W)
    bool formed;     ///< q is Q; or it is sqrt(W) B still, and R is all there is
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

/// Four products of two columns each with two others.
MN_INLINE void fit_dots(const double *a, const double *b, const double *c, const double *d, int64_t n,
                        double dots[2][2])
{
    mn_double4 s = {0, 0, 0, 0}, t = s, u = s, v = s;
    for (int64_t i = 0; i < n; i += 4) {
        const mn_double4 w = *(const mn_double4 *)(a + i), x = *(const mn_double4 *)(b + i),
                         y = *(const mn_double4 *)(c + i), z = *(const mn_double4 *)(d + i);
        s += w * y, t += w * z, u += x * y, v += x * z;
    }
    dots[0][0] = (s[0] + s[1]) + (s[2] + s[3]), dots[0][1] = (t[0] + t[1]) + (t[2] + t[3]);
    dots[1][0] = (u[0] + u[1]) + (u[2] + u[3]), dots[1][1] = (v[0] + v[1]) + (v[2] + v[3]);
}

/// R alone, by Cholesky's factors of B^T W B; false where a column keeps so little of its length that the
/// squared condition number would show. Then R is good to MN_FIT_SAFE_PIVOT^-2 times rounding, 1e-10.
MN_INLINE bool fit_factor_fast(weighted_fit *fit)
{
    const int64_t n = fit->stride;
    const int32_t columns = fit->columns;
    double g[MN_FIT_COLUMNS_MAX + 1][MN_FIT_COLUMNS_MAX + 1];
    for (int32_t i = 0; i < columns; i += 2)
        for (int32_t j = i; j < columns; j += 2) { // an odd last column meets itself twice
            const int32_t k = i + 1 < columns ? i + 1 : i, l = j + 1 < columns ? j + 1 : j;
            double dots[2][2];
            fit_dots(fit->q + i * n, fit->q + k * n, fit->q + j * n, fit->q + l * n, n, dots);
            g[i][j] = dots[0][0], g[i][l] = dots[0][l == j ? 0 : 1];
            g[k][j] = dots[k == i ? 0 : 1][0], g[k][l] = dots[k == i ? 0 : 1][l == j ? 0 : 1];
        }
    for (int32_t k = 0; k < columns; k++) {
        double pivot = g[k][k];
        for (int32_t i = 0; i < k; i++) pivot -= fit->r[i][k] * fit->r[i][k];
        if (!(pivot > MN_FIT_SAFE_PIVOT * MN_FIT_SAFE_PIVOT * g[k][k]) || !(pivot > 1e-12 * g[0][0]))
            return false;
        const double scale = 1 / sqrt(pivot);
        fit->r[k][k] = pivot * scale;
        for (int32_t j = k + 1; j < columns; j++) {
            double sum = g[k][j];
            for (int32_t i = 0; i < k; i++) sum -= fit->r[i][k] * fit->r[i][j];
            fit->r[k][j] = sum * scale;
        }
    }
    return true;
}

/// Factors in place; gives how many leading columns are sound.
MN_INLINE int32_t fit_factor(weighted_fit *fit)
{
    const int64_t n = fit->stride;
    fit->formed = !fit_factor_fast(fit);
    if (!fit->formed) return fit->columns;
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

/// x = R^-1 y; they may be one array.
MN_INLINE void fit_back(const weighted_fit *fit, int32_t columns, const double *y, double *x)
{
    for (int32_t k = columns - 1; k >= 0; k--) {
        double sum = y[k];
        for (int32_t j = k + 1; j < columns; j++) sum -= fit->r[k][j] * x[j];
        x[k] = sum / fit->r[k][k];
    }
}

/// coefficients = R^-1 Q^T sqrt(W) s on the first `columns`; `scaled` is sqrt(W) s.
MN_INLINE void fit_solve(const weighted_fit *fit, int32_t columns, const double *scaled, double *coefficients)
{
    double y[MN_FIT_COLUMNS_MAX]; // Q^T sqrt(W) s, or R^-T B^T W s, which is the same
    for (int32_t k = 0; k < columns; k++) {
        y[k] = fit_dot(fit->q + k * fit->stride, scaled, fit->stride);
        for (int32_t j = 0; j < k && !fit->formed; j++) y[k] -= fit->r[j][k] * y[j];
        if (!fit->formed) y[k] /= fit->r[k][k];
    }
    fit_back(fit, columns, y, coefficients);
}

#endif
