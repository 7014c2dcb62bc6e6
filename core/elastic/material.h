// SPDX-License-Identifier: Apache-2.0
//
// Elastic energies of solids and sheets per rest volume or rest area, their first Piola stress and their
// Hessian with its negative eigenvalues at zero, in closed form.
//
// Solids, s the principal stretches of F (the smallest carries the sign of J = s0 s1 s2):
//   corotated     mu |S - I|^2 + lambda/2 (J - 1)^2                              [stomakhin2012]
//   neo-Hookean   mu/2 (|S|^2 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2
//   St. Venant-Kirchhoff   mu sum e_i^2 + lambda/2 (sum e_i)^2,  e = (s^2 - 1)/2, below s = 0.6 its tangent
// Sheets, F of three rows and two columns, J = |f0 x f1|:
//   mu/2 (|F|^2 - 2) - mu ln J + lambda/2 ln^2 J
// All are finite and push back when an element is turned inside out, but for the sheet's, which is infinite
// where a triangle has no area. The usual logarithm of the neo-Hookean solid is left out for that reason;
// lambda + mu gives it the same small strains. The tangent of e keeps St. Venant-Kirchhoff from softening
// under pressure, which it does below 0.577.
//
// Hessian: in the frame of U and V it is a 3 x 3 block for stretches and, for each pair of axes, the
// eigenvalues (psi_i - psi_j)/(s_i - s_j) of shear and (psi_i + psi_j)/(s_i + s_j) of turns
// [teran2005, smith2019].
// Tested: differences, eigenvalues, small strains (tests/unit/elastic/test_material.c).
#ifndef MENISCUS_ELASTIC_MATERIAL_H
#define MENISCUS_ELASTIC_MATERIAL_H

#include "meniscus/elastic.h"
#include "meniscus/vec.h"

/// Lame's parameters: Pa for solids, N/m for sheets.
typedef struct mn_lame {
    double mu, lambda;
} mn_lame;

static inline mn_lame mn_lame_of_solid(double young, double poisson)
{
    return (mn_lame){young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

/// Plane stress, times the thickness.
static inline mn_lame mn_lame_of_sheet(double young, double poisson, double thickness)
{
    return (mn_lame){thickness * young / (2 * (1 + poisson)),
                     thickness * young * poisson / (1 - poisson * poisson)};
}

/// A Hessian in the frame of its stretches: c[ii][kk] = stretch[i][k], and for the pair p of axes (1,2),
/// (2,0), (0,1): c[ij][ij] = shear[p], c[ij][ji] = turn[p].
typedef struct mn_solid_tangent {
    mn_mat3 u, v;
    double stretch[3][3], shear[3], turn[3];
} mn_solid_tangent;

/// J/m^3; `stress` (may be NULL) is the first Piola stress in Pa; `tangent` (may be NULL) the Hessian,
/// projected or as it is.
double mn_solid_energy(mn_elastic_model model, mn_lame lame, mn_mat3 f, mn_mat3 *stress,
                       mn_solid_tangent *tangent, bool projected);

/// Adds weight d2 psi/dx_a dx_b of a tetrahedron to k, 12 x 12 in rows; `gradients` are those of its shape
/// functions in the rest shape.
void mn_solid_add_stiffness(const mn_solid_tangent *tangent, const mn_vec3 gradients[4], double weight,
                            double k[144]);

/// F of three rows and two columns.
typedef struct mn_sheet_motion {
    mn_vec3 f[2];
} mn_sheet_motion;

typedef struct mn_sheet_tangent {
    mn_vec3 u[3];   ///< two axes of stretch and the normal
    double v[2][2]; ///< v[j] is axis j in the rest plane
    double stretch[2][2], shear, turn, lift[2];
} mn_sheet_tangent;

/// J/m^2, INFINITY where the area is zero; the others as for solids.
double mn_sheet_energy(mn_lame lame, mn_sheet_motion f, mn_sheet_motion *stress, mn_sheet_tangent *tangent,
                       bool projected);

/// As for solids, 9 x 9; `gradients` are in the rest plane.
void mn_sheet_add_stiffness(const mn_sheet_tangent *tangent, const double gradients[3][2], double weight,
                            double k[81]);

/// The angle of two triangles (x0 x1 x2) and (x1 x0 x3) across the edge x0 x1, positive where they bend away
/// from their normals, zero when flat; `gradient` (may be NULL) with respect to the four [bridson2003].
double mn_hinge_angle(const mn_vec3 x[4], mn_vec3 gradient[4]);

#endif
