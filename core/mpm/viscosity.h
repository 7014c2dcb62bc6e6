// SPDX-License-Identifier: Apache-2.0
//
// Newtonian viscosity as a dissipation potential of the velocity gradient L of the step.
//
//   phi(L) = mu/4 |L + L^T|^2,   tau = d phi / d L = mu (L + L^T)   [marquez2021] eq. 5.21, 5.22
//
// per current volume V = J V0, which is held over the step, so phi is a convex quadratic: the stress is its
// own second derivative. A rotation (L = -L^T) is not resisted.
// Tested: tests/unit/mpm/test_viscosity.c.
#ifndef MENISCUS_MPM_VISCOSITY_H
#define MENISCUS_MPM_VISCOSITY_H

#include "meniscus/vec.h"

/// phi V, W
static inline double mn_viscosity_dissipation(double viscosity, double volume, mn_mat3 l)
{
    const mn_mat3 d = mn_m3_add(l, mn_m3_transpose(l));
    double square = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) square += d.m[i][j] * d.m[i][j];
    return 0.25 * viscosity * volume * square;
}

/// V tau, J
static inline mn_mat3 mn_viscosity_stress(double viscosity, double volume, mn_mat3 l)
{
    return mn_m3_scale(viscosity * volume, mn_m3_add(l, mn_m3_transpose(l)));
}

/// The largest explicit step: dt <= dx^2 / (8 nu) keeps the stiffest grid mode from overshooting; 0 nu is no
/// limit.
static inline double mn_viscosity_step_limit(double kinematic_viscosity, double dx)
{
    return kinematic_viscosity > 0 ? dx * dx / (8.0 * kinematic_viscosity) : INFINITY;
}

#endif
