// SPDX-License-Identifier: Apache-2.0
//
// The energy that keeps surfaces apart, and the one that slows their sliding.
//
//   b(d) = k reach B(d^2/reach^2),   B(r) = -(r - 1)^2 ln r for r < 1, else 0        [li2020], scaled
//   k is a stiffness times an area (Pa m^2 = N), so that b is in joules
//   f(u) = mu lambda f0(|u|),  f0' = 2 y - y^2 with y = |u|/slip below 1, else 1      Coulomb, smoothed
// Tested: tests/unit/contact/test_terms.c
#ifndef MENISCUS_CONTACT_BARRIER_H
#define MENISCUS_CONTACT_BARRIER_H

#include "base/elementary.h"

#include <math.h>

/// b(d) for k = 1; its first and second derivatives by d may be NULL. Zero from `reach` on, INFINITY at 0.
static inline double mn_barrier(double d, double reach, double *first, double *second)
{
    if (first) *first = 0;
    if (second) *second = 0;
    if (d >= reach) return 0;
    if (!(d > 0)) return INFINITY;
    const double r = d * d / (reach * reach), log_r = mn_ln(r), q = r - 1;
    const double slope = -2 * q * log_r - q * q / r;
    const double bend = -2 * log_r - 4 * q / r + q * q / (r * r);
    if (first) *first = slope * 2 * d / reach;
    if (second) *second = (bend * 4 * r + 2 * slope) / reach;
    return -reach * q * q * log_r;
}

/// f0(u) for a slip length u >= 0; f0'(u)/u and f0''(u) in *over and *second.
static inline double mn_friction(double u, double slip, double *over, double *second)
{
    const double y = u / slip;
    if (y >= 1) {
        *over = 1 / u, *second = 0;
        return u - slip / 3;
    }
    *over = (2 - y) / slip, *second = (2 - 2 * y) / slip;
    return slip * y * y * (1 - y / 3);
}

#endif
