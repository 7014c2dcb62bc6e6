// SPDX-License-Identifier: Apache-2.0
//
// Surface energy of a liquid carried by the grid over one step.
//
//   psi(F) = sigma |cof(F) dA|                                   [hyde2020] eq. 2
//   P      = d psi / d F                                         first Piola stress, per sample
//   d2 psi = second derivative, exact or with its negative part removed   [hyde2020] table 1
//
// F is the motion of one step, not of the whole history, so it starts at I. dA is the area-weighted normal of
// the sample. With N = dA/|dA|, w0 x w1 = N orthonormal, f_a = F w_a, m = f0 x f1 = cof(F) N, E = |m|,
// n = m/E and s = sigma |dA|:
//
//   psi = s E
//   P   = s [ (f1 x n) w0^T + (n x f0) w1^T ]                    s (I - N N^T) at F = I
//
// For the second derivative let t0 = f0/|f0|, t1 = n x t0 and split d_a = dF w_a into
//   a0 = t0.d0, a1 = t1.d0, a2 = n.d0,  b0 = t0.d1, b1 = t1.d1, b2 = n.d1
//   c1 = a0 + b1, c2 = a1 - b0 (conformal),  e1 = a0 - b1, e2 = a1 + b0 (anti-conformal)
//   h = adj(C)/E with C_ab = f_a . f_b
//   d2psi(dF, dF) = s [ (c1^2 + c2^2)/2 - (e1^2 + e2^2)/2 + h00 a2^2 + 2 h01 a2 b2 + h11 b2^2 ]
//
// The eigenvalues are s {1, 1, -1, -1, l1/l0, l0/l1, 0, 0, 0} with l the stretches of the tangent plane. The
// two spaces of +-1 do not depend on the frames, so no principal frame is ever computed: for sigma > 0 the
// positive part is the same sum without e1, e2; for sigma < 0 it is that term alone. (The table printed in
// [hyde2020] swaps which vectors are orthogonal to dA and to cof(F) dA, and writes |J F^-T| for |J F^-T dA|.)
//
// The energy is not convex in F: anti-conformal strain of order one lowers the area of a lonely sample. For
// steps that large the majorant  psi_D = s/2 (|f0|^2 + |f1|^2) >= psi  (sigma > 0) takes its place: equal to
// psi with equal gradient at F = I, quadratic, convex.
// Tested: gradient and Hessian by differences, eigenvalues and projection against a dense solver
// (tests/unit/mpm/test_surface_energy.c).
#ifndef MENISCUS_MPM_SURFACE_ENERGY_H
#define MENISCUS_MPM_SURFACE_ENERGY_H

#include "meniscus/vec.h"

/// A piece of surface at the start of the step: its tangent frame and s = sigma |dA|, J.
typedef struct mn_surface_patch {
    mn_vec3 w0, w1;
    double s;
} mn_surface_patch;

/// Which second derivative: the exact one, its positive part, or that of the convex majorant psi_D.
typedef enum mn_surface_curvature {
    MN_SURFACE_EXACT,
    MN_SURFACE_PROJECTED,
    MN_SURFACE_MAJORANT
} mn_surface_curvature;

/// The second derivative at some F, ready to be applied: 16 numbers.
typedef struct mn_surface_hessian {
    mn_vec3 w0, w1, t0, t1;
    double s, h00, h01, h11;
} mn_surface_hessian;

/// A sample without area, or with one that has no direction, has no energy.
static inline mn_surface_patch mn_surface_patch_make(mn_vec3 area_normal, double sigma)
{
    const double area = mn_norm(area_normal);
    mn_surface_patch patch = {{1, 0, 0}, {0, 1, 0}, 0};
    if (!(area > 1e-150) || !isfinite(area)) return patch;
    mn_frame(mn_scale(1.0 / area, area_normal), &patch.w0, &patch.w1);
    patch.s = sigma * area;
    return patch;
}

static inline double mn_surface_energy(mn_surface_patch patch, mn_mat3 f)
{
    const mn_vec3 f0 = mn_m3_apply(f, patch.w0), f1 = mn_m3_apply(f, patch.w1);
    return patch.s * mn_norm(mn_cross(f0, f1));
}

static inline mn_mat3 mn_surface_stress(mn_surface_patch patch, mn_mat3 f)
{
    const mn_vec3 f0 = mn_m3_apply(f, patch.w0), f1 = mn_m3_apply(f, patch.w1);
    const mn_vec3 n = mn_normalize(mn_cross(f0, f1));
    const mn_mat3 p = mn_m3_add(mn_outer(mn_cross(f1, n), patch.w0), mn_outer(mn_cross(n, f0), patch.w1));
    return mn_m3_scale(patch.s, p);
}

/// psi_D = s/2 (|F w0|^2 + |F w1|^2)
static inline double mn_surface_majorant_energy(mn_surface_patch patch, mn_mat3 f)
{
    return 0.5 * patch.s * (mn_norm2(mn_m3_apply(f, patch.w0)) + mn_norm2(mn_m3_apply(f, patch.w1)));
}

static inline mn_mat3 mn_surface_majorant_stress(mn_surface_patch patch, mn_mat3 f)
{
    const mn_vec3 f0 = mn_m3_apply(f, patch.w0), f1 = mn_m3_apply(f, patch.w1);
    return mn_m3_scale(patch.s, mn_m3_add(mn_outer(f0, patch.w0), mn_outer(f1, patch.w1)));
}

/// At F given by f_a = F w_a.
static inline mn_surface_hessian mn_surface_linearize_frame(mn_surface_patch patch, mn_vec3 f0, mn_vec3 f1)
{
    // A patch crushed to a line has no normal: below this area ratio the curvature of a thin patch stands in.
    const double smallest_ratio = 1e-6;
    const mn_vec3 m = mn_cross(f0, f1);
    const double ratio = fmax(mn_norm(m), smallest_ratio);
    const mn_vec3 n = mn_normalize(m), t0 = mn_normalize(f0);
    return (mn_surface_hessian){patch.w0,
                                patch.w1,
                                t0,
                                mn_cross(n, t0),
                                patch.s,
                                mn_norm2(f1) / ratio,
                                -mn_dot(f0, f1) / ratio,
                                mn_norm2(f0) / ratio};
}

static inline mn_surface_hessian mn_surface_linearize(mn_surface_patch patch, mn_mat3 f)
{
    return mn_surface_linearize_frame(patch, mn_m3_apply(f, patch.w0), mn_m3_apply(f, patch.w1));
}

/// dP = (d2 psi / dF2) dF as two vectors: dP = y0 w0^T + y1 w1^T, for dF given by d_a = dF w_a.
static inline void mn_surface_hessian_apply_frame(const mn_surface_hessian *h, mn_surface_curvature kind,
                                                  mn_vec3 d0, mn_vec3 d1, mn_vec3 *y0, mn_vec3 *y1)
{
    if (kind == MN_SURFACE_MAJORANT) {
        const double s = fmax(h->s, 0.0);
        *y0 = mn_scale(s, d0), *y1 = mn_scale(s, d1);
        return;
    }
    const mn_vec3 t0 = h->t0, t1 = h->t1, n = mn_cross(t0, t1);
    const double a0 = mn_dot(t0, d0), a1 = mn_dot(t1, d0), a2 = mn_dot(n, d0);
    const double b0 = mn_dot(t0, d1), b1 = mn_dot(t1, d1), b2 = mn_dot(n, d1);
    const bool exact = kind == MN_SURFACE_EXACT;
    // Half the weights of the conformal and anti-conformal parts, and that of the normal part.
    const double c = exact || h->s > 0 ? 0.5 * h->s : 0.0;
    const double e = exact || h->s < 0 ? -0.5 * h->s : 0.0;
    const double k = exact || h->s > 0 ? h->s : 0.0;
    const double c1 = c * (a0 + b1), c2 = c * (a1 - b0), e1 = e * (a0 - b1), e2 = e * (a1 + b0);
    const double n0 = k * (h->h00 * a2 + h->h01 * b2), n1 = k * (h->h01 * a2 + h->h11 * b2);
    *y0 = mn_axpy(mn_axpy(mn_scale(c1 + e1, t0), c2 + e2, t1), n0, n);
    *y1 = mn_axpy(mn_axpy(mn_scale(e2 - c2, t0), c1 - e1, t1), n1, n);
}

static inline mn_mat3 mn_surface_hessian_apply(const mn_surface_hessian *h, mn_surface_curvature kind,
                                               mn_mat3 df)
{
    mn_vec3 y0, y1;
    mn_surface_hessian_apply_frame(h, kind, mn_m3_apply(df, h->w0), mn_m3_apply(df, h->w1), &y0, &y1);
    return mn_m3_add(mn_outer(y0, h->w0), mn_outer(y1, h->w1));
}

#endif
