// SPDX-License-Identifier: Apache-2.0
//
// The stress of an elastic and plastic tetrahedron [clausen2013] section 4.1, with another energy and state.
//
//   b = F P F^T,   F = sum x_k (grad_X N_k)^T,   det b = (V/V0)^2          P: metric, I where it never flowed
//   energy  V0 (G/2 (tr b - 3) - G (V/V0 - 1)); the rest of the volume's energy is that of the pressures
//   force on node k  -(G V0/V b - G) g_k,   g = dV/dx
//   Hessian          W_kl I - G d2V,   W_kl = G V0/V^2 g_k . b g_l, positive and constant in x
//
// At rest this has the bulk modulus -G/3, which shear outweighs, but not where the solid flows: what can
// yield gets more than that back, as an energy of the tetrahedron's own volume.
//
// Yield (von Mises), on s = G dev b, q = sqrt(3/2) |s|, where q > y = yield + hardening * strain:
//
//   dev b <- r dev b,   r = 1 - 3 G' dg/q,   dg = (q - y)/(3 G' + hardening),   G' = G tr b/3
//
// with the trace that leaves det b. Its Hessian is W r I - r G d2V less a part along dev b. dg is the plastic
// strain that comes. Flow inside of the solve keeps the stress on the yield surface however long the step is.
// Creep (Maxwell), over a step of length dt: dev b <- dev b/(1 + G dt/eta). For G dt well above eta this is
// 2 eta times the rate of strain, the stress of a liquid of viscosity eta.
// Tested: force by differences of the energy, return to the yield surface
// (tests/unit/tet/test_solid_elements.c).
#ifndef MENISCUS_TET_SOLID_ELEMENTS_H
#define MENISCUS_TET_SOLID_ELEMENTS_H

#include "base/simd.h"
#include "meniscus/vec.h"

#include <math.h>

/// A tetrahedron of a solid at rest; moduli in the units of the caller.
typedef struct mn_tet_solid_shape {
    mn_vec3 gradient[4]; ///< grad_X N
    double metric[6];    ///< P: xx yy zz yz zx xy, as all symmetric matrices here
    double volume;       ///< V0
    double shear;        ///< G; 0: a liquid, and the rest of this is not used
    double yield;        ///< y at the start of the step; INFINITY: elastic
    double hardening;    ///< dy/d(plastic strain)
    double creep;        ///< G dt/eta, how much of its shear stress a step takes: it creeps; 0: it does not
    double bulk;         ///< of the tetrahedron's own volume, V0 bulk/2 (V/V0 - 1)^2
    double stretch;      ///< s where P = s^2 I and it cannot yield; 0: no such s
    double share;        ///< of its energy of shape, that is not at nodes (nodal.h)
} mn_tet_solid_shape;

/// What the stress of a tetrahedron is made of.
typedef struct mn_tet_solid_state {
    double b[6];
    double secant;     ///< r
    double flow;       ///< dg
    double tangent[6]; ///< where it flows: the stress resists what goes along dev b by |tangent|^2 less
} mn_tet_solid_state;

MN_INLINE mn_mat3 mn_tet_symmetric(const double s[6])
{
    return (mn_mat3){{{s[0], s[5], s[4]}, {s[5], s[1], s[3]}, {s[4], s[3], s[2]}}};
}

MN_INLINE void mn_tet_pack_symmetric(mn_mat3 m, double s[6])
{
    s[0] = m.m[0][0], s[1] = m.m[1][1], s[2] = m.m[2][2];
    s[3] = 0.5 * (m.m[1][2] + m.m[2][1]), s[4] = 0.5 * (m.m[0][2] + m.m[2][0]);
    s[5] = 0.5 * (m.m[0][1] + m.m[1][0]);
}

/// |s|^2 of a symmetric matrix.
MN_INLINE double mn_tet_symmetric_norm2(const double s[6])
{
    return s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 2 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
}

/// F at places x, with differences from the first corner: far from the origin nothing is lost.
MN_INLINE mn_mat3 mn_tet_deformation(const mn_tet_solid_shape *shape, const mn_vec3 x[4])
{
    mn_mat3 f = mn_outer(mn_sub(x[1], x[0]), shape->gradient[1]);
    f = mn_m3_add(f, mn_outer(mn_sub(x[2], x[0]), shape->gradient[2]));
    return mn_m3_add(f, mn_outer(mn_sub(x[3], x[0]), shape->gradient[3]));
}

/// The trace/3 that gives m I + dev the determinant d: m^3 - |dev|^2/2 m + det dev = d, by Newton from above.
MN_INLINE double mn_tet_mean_of(const double dev[6], double d, double m)
{
    const double half = 0.5 * mn_tet_symmetric_norm2(dev);
    const double rest = mn_m3_determinant(mn_tet_symmetric(dev)) - d;
    for (int i = 0; i < 30; i++) {
        const double value = m * m * m - half * m + rest, slope = 3 * m * m - half;
        if (!(slope > 0)) break;
        const double change = value / slope;
        m -= change;
        if (fabs(change) <= 1e-15 * fabs(m)) break;
    }
    return m;
}

/// Takes out of b what creeps in a step.
MN_INLINE void mn_tet_creep(const mn_tet_solid_shape *shape, mn_tet_solid_state *s)
{
    const double mean = (s->b[0] + s->b[1] + s->b[2]) / 3, part = 1 / (1 + shape->creep);
    double dev[6] = {s->b[0] - mean, s->b[1] - mean, s->b[2] - mean, s->b[3], s->b[4], s->b[5]};
    s->secant = part, s->flow = 0;
    const double det = mn_m3_determinant(mn_tet_symmetric(s->b));
    for (int i = 0; i < 6; i++) dev[i] *= part;
    const double m = mn_tet_mean_of(dev, det, mean);
    for (int i = 0; i < 6; i++) s->b[i] = dev[i] + (i < 3 ? m : 0);
}

/// Takes plastic flow out of b.
MN_INLINE void mn_tet_return_to_yield(const mn_tet_solid_shape *shape, mn_tet_solid_state *s)
{
    s->secant = 1, s->flow = 0;
    if (shape->creep > 0) mn_tet_creep(shape, s);
    const double mean = (s->b[0] + s->b[1] + s->b[2]) / 3, crept = s->secant;
    double dev[6] = {s->b[0] - mean, s->b[1] - mean, s->b[2] - mean, s->b[3], s->b[4], s->b[5]};
    const double q = shape->shear * sqrt(1.5 * mn_tet_symmetric_norm2(dev));
    if (!(q > shape->yield)) return;
    const double det = mn_m3_determinant(mn_tet_symmetric(s->b)), modulus = 3 * shape->shear * mean;
    s->flow = (q - shape->yield) / (modulus + shape->hardening);
    s->secant = 1 - modulus * s->flow / q;
    // The algorithmic tangent: 2 G (r I - (3G'/(3G' + H) - 1 + r) n n), n = dev b/|dev b|.
    const double less = 2 * shape->shear * (modulus / (modulus + shape->hardening) - 1 + s->secant);
    const double along = sqrt(fmax(less, 0) / mn_tet_symmetric_norm2(dev));
    for (int i = 0; i < 6; i++) s->tangent[i] = along * dev[i], dev[i] *= s->secant;
    s->secant *= crept;
    const double m = mn_tet_mean_of(dev, det, mean);
    for (int i = 0; i < 6; i++) s->b[i] = dev[i] + (i < 3 ? m : 0);
}

/// b at places x, after plastic flow.
MN_INLINE void mn_tet_solid_measure(const mn_tet_solid_shape *shape, const mn_vec3 x[4],
                                    mn_tet_solid_state *s)
{
    const mn_mat3 f = mn_tet_deformation(shape, x);
    mn_tet_pack_symmetric(mn_m3_mul(f, mn_m3_mul(mn_tet_symmetric(shape->metric), mn_m3_transpose(f))), s->b);
    mn_tet_return_to_yield(shape, s);
}

/// Energy, without that of the pressures.
MN_INLINE double mn_tet_solid_energy(const mn_tet_solid_shape *shape, const mn_tet_solid_state *s,
                                     double volume)
{
    const double grown = volume - shape->volume;
    return shape->share * shape->shear * (0.5 * shape->volume * (s->b[0] + s->b[1] + s->b[2] - 3) - grown) +
           0.5 * shape->bulk * grown * grown / shape->volume;
}

/// grad_X N of a tetrahedron with corners X; its volume. False for one without volume.
MN_INLINE bool mn_tet_rest_gradients(const mn_vec3 x[4], mn_vec3 gradient[4], double *volume)
{
    const mn_vec3 e1 = mn_sub(x[1], x[0]), e2 = mn_sub(x[2], x[0]), e3 = mn_sub(x[3], x[0]);
    const double six = mn_dot(mn_cross(e2, e3), e1);
    *volume = six / 6;
    if (!(fabs(six) > 0)) return false;
    gradient[1] = mn_scale(1 / six, mn_cross(e2, e3));
    gradient[2] = mn_scale(1 / six, mn_cross(e3, e1));
    gradient[3] = mn_scale(1 / six, mn_cross(e1, e2));
    gradient[0] = mn_scale(-1, mn_add(gradient[1], mn_add(gradient[2], gradient[3])));
    return true;
}

#endif
