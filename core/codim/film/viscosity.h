// SPDX-License-Identifier: Apache-2.0
//
// Viscous stress in a film. In a triangle of area A and thickness h with the velocity linear in it, D the
// rate of strain in its plane (P the projector onto it), the film thins as it spreads, and so
//
//   D = P (L + L^T)/2 P,   L = sum_i u_i grad(phi_i)^T,   S = 2 mu h (D + tr(D) P)          [ribe2002]
//   force on corner i = -A S grad(phi_i)
//
// the gradient of a power that is never negative and is zero for rigid motions: momentum and angular momentum
// are kept. grad(phi_i) = n x e_i / (2 A), e_i the edge opposite to the corner.
#ifndef MENISCUS_CODIM_FILM_VISCOSITY_H
#define MENISCUS_CODIM_FILM_VISCOSITY_H

#include "codim/film/surface.h"

/// A S grad(phi_i) of each corner of a triangle with corners x and velocities u; `strength` is mu h.
static inline void mn_codim_film_viscous_pulls(const mn_vec3 x[3], const mn_vec3 u[3], double strength,
                                               mn_vec3 pulls[3])
{
    const mn_vec3 twice = mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]));
    const double size = mn_norm(twice);
    const mn_vec3 long_edge = mn_sub(x[2], x[1]);
    pulls[0] = pulls[1] = pulls[2] = mn_v3(0, 0, 0);
    if (!(size > 1e-3 * mn_norm2(long_edge))) return; // a needle has no plane
    const mn_vec3 n = mn_scale(1 / size, twice);
    mn_vec3 slope[3];
    mn_mat3 l = {{{0}}};
    for (int i = 0; i < 3; i++) {
        slope[i] = mn_scale(1 / size, mn_cross(n, mn_sub(x[(i + 2) % 3], x[(i + 1) % 3])));
        l = mn_m3_add(
            l, mn_outer(mn_axpy(u[i], -mn_dot(u[i], n), n), slope[i])); // P L: its rows lie in the plane
    }
    const double spread = mn_m3_trace(l); // tr(D)
    const mn_mat3 twice_d = mn_m3_add(l, mn_m3_transpose(l));
    for (int i = 0; i < 3; i++)
        pulls[i] =
            mn_scale(0.5 * size * strength, mn_axpy(mn_m3_apply(twice_d, slope[i]), 2 * spread, slope[i]));
}

/// The same of the first corner alone.
static inline mn_vec3 mn_codim_film_viscous_pull(const mn_vec3 x[3], const mn_vec3 u[3], double strength)
{
    mn_vec3 pulls[3];
    mn_codim_film_viscous_pulls(x, u, strength, pulls);
    return pulls[0];
}

#endif
