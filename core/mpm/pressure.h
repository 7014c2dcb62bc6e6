// SPDX-License-Identifier: Apache-2.0
//
// Pressure of a weakly compressible liquid.
//
//   psi(J) = K/2 (J - 1)^2,   p = -d psi / d J = K (1 - J)       [hyde2020] eq. 3
//   J(t + dt) = J (1 + dt div v)
//   V0 d psi / d F = -p J V0 I                                   Kirchhoff stress times rest volume
//
// J follows the motion of the step linearly, so psi is a convex quadratic of the grid's velocity and its
// second derivative  V0 K J^2 (div dv)^2  needs no projection. K is chosen so that the largest pressure of
// the flow changes the volume by less than a given fraction. Tested: tests/unit/mpm/test_pressure.c.
#ifndef MENISCUS_MPM_PRESSURE_H
#define MENISCUS_MPM_PRESSURE_H

#include "meniscus/vec.h"

/// p, Pa
static inline double mn_pressure(double bulk_modulus, double j)
{
    return bulk_modulus * (1.0 - j);
}

/// psi V0, J
static inline double mn_pressure_energy(double bulk_modulus, double rest_volume, double j)
{
    return 0.5 * bulk_modulus * rest_volume * (j - 1.0) * (j - 1.0);
}

/// J at the end of a step of dt with velocity gradient trace `divergence`.
static inline double mn_pressure_advance(double j, double dt, double divergence)
{
    return j * (1.0 + dt * divergence);
}

/// d(psi V0)/d(dt grad v) = k I at the volume ratio `j_new` that the step ends with: k, J
static inline double mn_pressure_stress(double bulk_modulus, double rest_volume, double j, double j_new)
{
    return -mn_pressure(bulk_modulus, j_new) * j * rest_volume;
}

/// d2(psi V0)/d(dt div v)^2, J
static inline double mn_pressure_hessian(double bulk_modulus, double rest_volume, double j)
{
    return bulk_modulus * rest_volume * j * j;
}

/// What presses on the liquid: its surface, the weight of the column, and the stagnation pressure of the
/// motion.
typedef struct mn_pressure_scales {
    double capillary; ///< Pa, 2 sigma/R of a ball
    double density;   ///< kg/m^3
    double gravity;   ///< m/s^2
    double height;    ///< m, of the liquid along gravity
    double speed;     ///< m/s
} mn_pressure_scales;

/// K such that the sum of those pressures changes the volume by `compression` (0.01: one percent).
double mn_pressure_bulk_modulus(mn_pressure_scales scales, double compression);

#endif
