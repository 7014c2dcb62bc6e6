// SPDX-License-Identifier: Apache-2.0
//
// Geometric predicates whose signs are exact for finite coordinates: a floating-point filter answers nearly
// every call, expansion arithmetic the rest [shewchuk1997]. Everything topological decides by them.
//
// The value returned has the exact sign (zero exactly when the determinant is zero); its size is only good to
// rounding. Exact as long as no product underflows after scaling to unit size: coordinates whose lowest bits
// lie within 2^-200 of the largest coordinate always do. A NaN or infinite coordinate gives 0.
#ifndef MENISCUS_BASE_PREDICATES_H
#define MENISCUS_BASE_PREDICATES_H

#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Six times the signed volume: (b-a) x (c-a) . (d-a). Positive when a, b, c turn counter-clockwise as seen
/// from d.
double mn_orient3d(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d);

/// Twice the signed area of a, b, c in the plane; positive when counter-clockwise.
double mn_orient2d(const double a[2], const double b[2], const double c[2]);

/// Positive when d lies inside the circle through a, b, c, which must be counter-clockwise.
double mn_incircle(const double a[2], const double b[2], const double c[2], const double d[2]);

#ifdef __cplusplus
}
#endif
#endif
