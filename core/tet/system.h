// SPDX-License-Identifier: Apache-2.0
//
// The coupled system of velocities and pressures on one mesh: who neighbours whom, the residual of a stage,
// its derivative as blocks by rows, and a preconditioner.
//
// A stage is one implicit solve of a time step. Everything in it is in units of the mesh size, the liquid's
// density and the length h of the stage, so that h, density and lengths are of order 1 whatever the scale:
//
//   find u, p with   M (u - drift) = F(x) + B(x)^T p - D(x) u,   C(x) = C0,   x = start + u
//
// M consistent mass, F = -d(surface energy)/dx - d(soft volume energy)/dx + weight, D viscosity,
// C_i = a quarter of the volumes around node i, B = dC/dx [clausen2013] eq. 12, section 5.2, here on the
// geometry at the end of the stage.
#ifndef MENISCUS_TET_SYSTEM_H
#define MENISCUS_TET_SYSTEM_H

#include "linear/krylov.h"
#include "linear/multigrid.h"
#include "linear/sparse.h"
#include "meniscus/array.h"
#include "meniscus/tetmesh.h"
#include "tet/nodal.h"
#include "tet/phases.h"
#include "tet/solid_elements.h"

/// What row i has at column j.
typedef struct mn_tet_block {
    double a[9];  ///< velocity against velocity
    double b[3];  ///< dC_i/dx_j
    double bt[3]; ///< dC_j/dx_i
} mn_tet_block;

/// A tetrahedron at the current place.
typedef struct mn_tet_element {
    mn_vec3 g[4]; ///< dV/dx
    double volume;
    double mass;     ///< a twentieth of it: M_kj = mass (1 + delta_kj)
    double viscous;  ///< viscosity / volume
    double stiff;    ///< of the soft volume energy
    double pressing; ///< what multiplies dV in the energy: soft pressure less pressure
    double
        stress[6]; ///< of pressure, soft volume and viscosity: force on k is -stress g_k; xx yy zz yz zx xy
} mn_tet_element;

/// The pressure gradients of a tetrahedron in a halfway stage.
typedef struct mn_tet_ends {
    mn_vec3 first[4], last[4]; ///< dV/dx at its start and its end
    double volume;             ///< at its end
} mn_tet_ends;

/// A node and the three of a face of another solid that it may come to touch (solid_contact.c).
typedef struct mn_tet_pair {
    int32_t v[4];
    double weight; ///< N/m
    double rest;   ///< in units of length, 0 or below: from which distance on it pushes
} mn_tet_pair;

/// What contacts and friction add to the Hessian at the iterate: weight r r^T, r at four nodes.
typedef struct mn_tet_pair_row {
    int32_t v[4];
    mn_vec3 r[4];
    double weight;
} mn_tet_pair_row;

/// Friction of a contact, with the force that presses at the start of the step.
typedef struct mn_tet_slip {
    int32_t v[4];
    double rows[2][12]; ///< how far it has slipped, from the motion of the four
    double force;       ///< N/m, as the weight of a pair: of it times unit of length
    double smooth;      ///< in units of length: below it friction grows with the slip
} mn_tet_slip;

typedef struct mn_tet_barrier mn_tet_barrier; // solid_barrier.c

/// Given for a stage, in its units. Arrays belong to the caller.
typedef struct mn_tet_stage {
    double sigma, viscosity, stiffness;
    mn_vec3 gravity;
    const mn_vec3 *field;             ///< per node, what a force field adds to gravity; NULL: nothing
    const mn_vec3 *start, *drift;     ///< per node
    const double *mass, *soft_volume; ///< per tetrahedron; density 1
    const double *node_volume;        ///< C0
    const double *volume_before; ///< per tetrahedron, of the last good state: what min_volume is relative to
    const double *face_sigma;    ///< per boundary face, in units of sigma; NULL: 1
    const mn_mat3 *freedom;      ///< per node, the projector on where it may go; NULL: anywhere
    const double *drag;          ///< per node, force over what it moves along the solid; NULL: none
    const mn_vec3 *push;         ///< per node, force from outside; with drag
    const mn_vec3 *solid;        ///< per node, what the solid moves; with drag
    double *reaction; ///< per node, 3 numbers: the residual before the projection; NULL: not wanted
    bool convex;      ///< only the positive part of the Hessian
    bool halfway;     ///< forces at start + u/2, pressures by B(start); volumes at start + u as ever
    mn_vec3 *u;       ///< the unknowns: where to start, and what was found
    double *p;
    // With materials; NULL for a liquid alone.
    const mn_tet_solid_shape *shapes; ///< per tetrahedron
    const double *tet_viscosity;      ///< per tetrahedron
    const double *compliance;         ///< per pressure: volume that one unit of it takes away
    mn_tet_nodal *nodal;              ///< what nodes have of the elastic energy; NULL: nothing
    const mn_tet_pair *pairs;         ///< solids that may touch
    int64_t pair_count;
    double pair_unit;        ///< turns their weights into the stage's units
    mn_tet_barrier *barrier; ///< bodies that may come near each other; NULL: none
    double barrier_unit;     ///< turns Pa into the stage's units
    const mn_tet_slip *slips;
    int64_t slip_count;
    const mn_vec3 *before; ///< per node, where it was at the start of the step; with slips
} mn_tet_stage;

/// What an elastic tetrahedron adds to the Hessian.
typedef struct mn_tet_elastic {
    double w[6]; ///< W_kl = g_k . w g_l
    double turn; ///< what multiplies -d2V beside the pressure
    double less; ///< where it flows or creeps: less g_k g_l^T, since the volume does not
    bool flows;
    double f[6]; ///< where it flows: less (f g_k) (f g_l)^T
} mn_tet_elastic;

enum { MN_TET_STIFF_MOST = 200000000 }; ///< numbers of the factor of stiff solids, 1.6 GB

typedef struct mn_tet_system {
    mn_context *ctx;
    // The mesh, borrowed, and its neighbourhoods.
    int32_t node_count, tet_count, face_count;
    const int32_t (*tet)[4];
    mn_tet_phases phases;
    MN_ARRAY(int32_t) corner_start, corner;    ///< node -> 4 t + k
    MN_ARRAY(int32_t) face;                    ///< three nodes each, counter-clockwise from outside
    MN_ARRAY(int32_t) face_start, face_corner; ///< node -> 3 f + k
    MN_ARRAY(int32_t) row_start, column, diagonal;
    MN_ARRAY(int32_t) tet_slot, face_slot; ///< where (k, j) of an element goes: 16 and 9 each
    // The stage at its current iterate.
    const mn_tet_stage *stage;
    MN_ARRAY(mn_vec3) x; ///< where forces act
    MN_ARRAY(mn_tet_element) elements;
    MN_ARRAY(mn_tet_ends) ends;       ///< of a halfway stage
    MN_ARRAY(mn_tet_elastic) elastic; ///< of a stage with shapes
    MN_ARRAY(mn_tet_pair_row) pair_rows;
    MN_ARRAY(mn_vec3) pair_pull; ///< per node, of a stage with pairs
    MN_ARRAY(mn_tet_block) blocks;
    bool even; ///< blocks of a halfway stage with dV/dx at its start on both sides, so that S is symmetric
    double min_volume;  ///< of a tetrahedron, relative to the last good state
    double force_scale; ///< largest force on a node
    // The preconditioner (schur.c).
    MN_ARRAY(mn_mat3) diagonal_inverse;
    MN_ARRAY(mn_vec3) schur_b, schur_bt; ///< b and bt of the blocks that S was made of
    MN_ARRAY(int32_t) schur_scratch;     ///< of its pattern and of each worker's products
    mn_sparse schur;
    int32_t direct_most; ///< nodes up to which S is factored, above it is solved by iteration; 0: 6000
    mn_cholesky *cholesky;
    mn_multigrid *multigrid;
    bool analyzed, built, factored; ///< the pattern, the multigrid, the numbers
    // A factor in the place of the diagonal blocks of solids that are stiff (stiff.c).
    bool stiff, stiff_analyzed;
    double fresh_rate;                   ///< iterations for a digit that the fresh factor took
    int64_t stiff_most;                  ///< numbers that the factor may have; 0: MN_TET_STIFF_MOST
    MN_ARRAY(int32_t) stiff_row;         ///< of each node; -1: it has none
    MN_ARRAY(int32_t) stiff_part;        ///< of each node that has a row
    MN_ARRAY(int64_t) stiff_slot;        ///< of each column of the rows of nodes; -1: none
    mn_sparse stiff_nodes, stiff_blocks; ///< who neighbours whom; three rows a node
    mn_cholesky *stiff_factor;
    MN_ARRAY(double) stiff_side;
    MN_ARRAY(double) scratch;
} mn_tet_system;

void mn_tet_system_free(mn_tet_system *system);
/// Neighbourhoods of a mesh without gaps, which must outlive the system or the next build.
mn_status mn_tet_system_build(mn_tet_system *system, const mn_tet_mesh *mesh);

/// Gives nodes a pressure for each class of tetrahedra around them; NULL: one. After every build.
mn_status mn_tet_system_split(mn_tet_system *system, const int32_t *class_of);
/// How many pressures there are.
static inline int32_t mn_tet_system_pressures(const mn_tet_system *s)
{
    return s->phases.split ? s->phases.count : s->node_count;
}
/// The pressures of the corners of tetrahedron t.
static inline const int32_t *mn_tet_system_pressures_of(const mn_tet_system *s, int32_t t)
{
    return s->phases.split ? s->phases.of.data + 4 * (int64_t)t : s->tet[t];
}
void mn_tet_phases_free(mn_context *ctx, mn_tet_phases *phases);

/// Elements and residual at the stage's u and p: 3 numbers a node for momentum, then 1 a pressure for
/// volume.
mn_status mn_tet_system_residual(mn_tet_system *system, const mn_tet_stage *stage, double *residual);
/// Blocks at the place of the last residual.
mn_status mn_tet_system_assemble(mn_tet_system *system);
/// An mn_apply_fn: (A v - B^T q, -B v) for (v, q).
mn_status mn_tet_system_apply(void *system, const double *x, double *y);

/// Factors S = B diag(A)^-1 B^T of the current blocks.
mn_status mn_tet_system_factor(mn_tet_system *system);
/// An mn_apply_fn: the block factorisation with diag(A) and S in the places of A and its Schur complement.
mn_status mn_tet_system_precondition(void *system, const double *r, double *z);
/// stiff.c: factors A' of the solids at the iterate; and solves with it, 3 numbers a node, by the diagonal
/// blocks where there is liquid.
mn_status mn_tet_system_stiffen(mn_tet_system *system);
mn_status mn_tet_system_solve_stiff(mn_tet_system *system, const double *r, double *z);
// ---- nodal.c ----

void mn_tet_nodal_free(mn_context *ctx, mn_tet_nodal *nodal);
/// Gives nodes their half of the energy, from shapes with a share of 1, and takes it from these.
mn_status mn_tet_nodal_fill(const mn_tet_system *system, const int32_t *class_of, mn_tet_solid_shape *shapes,
                            mn_tet_nodal *nodal);
/// Energy of all nodes at places x.
double mn_tet_nodal_energy(const mn_tet_system *system, const mn_tet_solid_shape *shapes,
                           const int32_t *class_of, const mn_vec3 *x);
/// F and stress of nodes at the iterate; then what they pull node k with, into the residual.
mn_status mn_tet_nodal_measure(mn_tet_system *system);
mn_vec3 mn_tet_nodal_pull(const mn_tet_system *system, int32_t k);
/// Their part of the diagonal block of node k, a number times I.
double mn_tet_nodal_diagonal(const mn_tet_system *system, int32_t k);
/// Adds their part of A x to y.
mn_status mn_tet_nodal_apply(mn_tet_system *system, const double *x, double *y);

// ---- solid_contact.c ----

static inline bool mn_tet_stage_touches(const mn_tet_stage *stage)
{
    return stage->pair_count > 0 || stage->slip_count > 0 || stage->barrier;
}
/// Rows of the pairs at the iterate, and what they pull nodes with, into the residual.
mn_status mn_tet_pairs_measure(mn_tet_system *system);
/// Adds their part of A x to y, and of the diagonal blocks.
void mn_tet_pairs_apply(const mn_tet_system *system, const double *x, double *y);
void mn_tet_pairs_add_diagonal(const mn_tet_system *system, mn_mat3 *diagonal);

// ---- solid_barrier.c ----

/// Adds its rows and pulls to those of the pairs.
mn_status mn_tet_barrier_measure(mn_tet_system *system);
/// The fraction, at most 1, of a change of the unknowns (3 numbers a node) along which no body passes through
/// another and none leaves where it was looked for.
mn_status mn_tet_barrier_fraction(const mn_tet_system *system, const double *change, double *fraction);

/// Volumes of the pressures at places x.
void mn_tet_system_node_volumes(const mn_tet_system *system, const mn_vec3 *x, double *volumes);

#endif
