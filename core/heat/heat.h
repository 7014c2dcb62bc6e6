// SPDX-License-Identifier: Apache-2.0
//
// Heat in a mesh of tetrahedra: lumped energies of nodes, linear temperatures.
//
//   E_i = sum over tetrahedra around i of m_t/4 e_t(T_i)
//   (E - E^n)/dt + L T(E) = q + sum over faces A/3 (h (T_a - T) + emissivity 5.67e-8 (T_a^4 - T^4))
//   L_ij = sum over tetrahedra k V grad N_i . grad N_j
//
// implicit in time. The energy of a node is the unknown, so latent heat is neither missed nor counted twice,
// however long the step, and what leaves one node arrives at others to rounding.
#ifndef MENISCUS_HEAT_HEAT_H
#define MENISCUS_HEAT_HEAT_H

#include "heat/substance.h"
#include "meniscus/vec.h"

typedef struct mn_heat mn_heat;
mn_status mn_heat_create(mn_context *ctx, mn_heat **heat);
void mn_heat_free(mn_heat *heat);

/// A mesh, where heat comes in, and of what it is made. Everything is borrowed for the time of a call.
typedef struct mn_heat_mesh {
    int32_t node_count, tet_count, face_count;
    const mn_vec3 *x;                     ///< m, per node
    const int32_t (*tet)[4];              ///< positive
    const int32_t *corner_start, *corner; ///< node -> 4 t + k
    const int32_t *row_start, *column;    ///< the nodes around each node, itself included, rising
    const int32_t *tet_slot;              ///< where in `column` the pair (k, j) of a tetrahedron is: 16 each
    const int32_t *face;                  ///< three nodes of each face to the outside
    const int32_t *face_start, *face_corner; ///< node -> 3 f + k

    const double *mass;       ///< kg, per tetrahedron
    const int32_t *substance; ///< per tetrahedron; NULL: the first
    int32_t substance_count;  ///< at most MN_HEAT_SUBSTANCES_MAX
    const mn_heat_substance *substances;

    const double *source;     ///< W, per node; NULL: none
    const double *transfer;   ///< W/(m^2 K), per face; NULL: no heat passes
    const double *outside;    ///< K, per face: of what it touches; with transfer or emissivity
    const double *emissivity; ///< per face; NULL: no radiation
} mn_heat_mesh;

/// Joules that came in during a step; negative ones left.
typedef struct mn_heat_flow {
    double sources, surface;
    int32_t corrections, iterations; ///< of Newton's method, and of conjugate gradients
} mn_heat_flow;

/// Takes one step of dt seconds from the energies of the nodes, J, to those at its end. Where a step cannot
/// be solved it is taken in halves. On failure the energies are those given.
mn_status mn_heat_advance(mn_heat *heat, const mn_heat_mesh *mesh, double dt, double *energy,
                          mn_heat_flow *flow);

/// Temperatures, K, and how much of a node's mass has melted, from energies. `tet_melted`: the mean over the
/// corners of each tetrahedron, of its own substance. Any result may be NULL.
mn_status mn_heat_state(mn_heat *heat, const mn_heat_mesh *mesh, const double *energy, double *temperature,
                        double *melted, double *tet_melted);
/// Energies, J, from temperatures, K. `melted` (NULL: solid) decides where a substance melts at exactly that
/// one.
mn_status mn_heat_energies(mn_heat *heat, const mn_heat_mesh *mesh, const double *temperature,
                           const double *melted, double *energy);

#endif
