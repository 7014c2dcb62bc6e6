// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions that give the same bits on every machine. Those of the C library choose between
// variants with and without fused multiply-add by the processor, and differ between versions of the library;
// these are made of IEEE sums, products, quotients and roots alone, in one order.
//
// Errors are below one unit in the last place (2^-53 relative) unless said otherwise. Signs of zero,
// infinities and NaN are as C wants them. sqrt, floor, fmod, ldexp, frexp and the like are exact everywhere:
// take the C library's.
#ifndef MENISCUS_BASE_ELEMENTARY_H
#define MENISCUS_BASE_ELEMENTARY_H

double mn_exp(double x);
/// exp(x) - 1 without cancellation near 0. Four units in the last place.
double mn_expm1(double x);
/// The natural logarithm.
double mn_ln(double x);
/// Exact for powers of two.
double mn_log2(double x);
/// Relative error below (2 + 3 |y ln x|) 2^-53; whole powers up to 64 by multiplication. A negative x wants a
/// whole y.
double mn_pow(double x, double y);
double mn_cbrt(double x);
/// sqrt(x^2 + y^2) without overflow.
double mn_hypot(double x, double y);
/// |x| beyond 1.6e6 is first taken modulo the double nearest to 2 pi.
double mn_sin(double x);
double mn_cos(double x);
/// Two to three units in the last place.
double mn_tan(double x);
double mn_atan2(double y, double x);
double mn_acos(double x);
/// Eight units in the last place up to 1, 48 beyond.
double mn_erf(double x);

#endif
