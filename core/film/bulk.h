// SPDX-License-Identifier: Apache-2.0
//
// The volumes of a film solver: its tetrahedra for a step (bulk.c) and their pressures (pressure.c).
#ifndef MENISCUS_FILM_BULK_H
#define MENISCUS_FILM_BULK_H

#include "linear/krylov.h"
#include "linear/multigrid.h"
#include "linear/sparse.h"
#include "meniscus/array.h"
#include "meniscus/vec.h"

typedef struct mn_film mn_film;
typedef struct mn_film_step_job mn_film_step_job;

/// A tetrahedron where forces act.
typedef struct mn_film_tet {
    mn_vec3 g[4];     ///< dV/dx
    double volume;    ///< m^3
    mn_vec3 sum;      ///< of what is multiplied by the mass, over its corners
    double stress[6]; ///< force on corner k is -stress g_k, times time; xx yy zz yz zx xy
    double flux;      ///< what its volume changes by
} mn_film_tet;

typedef struct mn_film_bulk {
    int64_t node_count;             ///< vertices of tetrahedra, each with a pressure
    MN_ARRAY(int32_t) node;         ///< [vertices] its pressure, or -1
    MN_ARRAY(int32_t) vertex;       ///< [nodes]
    MN_ARRAY(int64_t) start;        ///< [nodes + 1]
    MN_ARRAY(int32_t) corner;       ///< 4 tetrahedron + corner, by nodes, rising
    MN_ARRAY(mn_film_tet) tets;     ///< [tetrahedra]
    MN_ARRAY(double) rest;          ///< [nodes] m^3 that it is to have: a quarter of those of its tetrahedra
    MN_ARRAY(double) owed;          ///< [nodes] m^3 of it that a step leaves to the next ones
    MN_ARRAY(double) pressure;      ///< [nodes] Pa s over the step, times scale
    MN_ARRAY(double) unknown, side; ///< 3 a vertex, 1 a pressure
    MN_ARRAY(double) inverse;       ///< [vertices] of the diagonal D
    MN_ARRAY(double) light;         ///< [vertices] the same of the mass alone
    MN_ARRAY(double) schur_side;    ///< [nodes]
    double scale;                   ///< of the rows of volume, so that all rows are momenta
    double stiffness;               ///< Pa, of the soft volumes
    mn_sparse gradient, turned, schur; ///< B, D^-1 B^T, and B D^-1 B^T
    mn_cholesky *cholesky;
    mn_multigrid *multigrid;
    bool analyzed, built, factored;
    double left_quality, left_shortest, left_longest; ///< what the last repair had to leave; m
} mn_film_bulk;

// ---- bulk.c ----

void mn_film_bulk_free(mn_context *ctx, mn_film_bulk *bulk);
/// Lists of the mesh as it is.
mn_status mn_film_bulk_pattern(mn_film *film);
/// dV/dx and volumes at positions x.
mn_status mn_film_bulk_measure(mn_film *film, const mn_vec3 *x);
/// out += (M - lumped M + theta dt D + theta^2 dt^2 soft) u - B^T p; volumes -= B u, both in momenta. p and
/// volumes may be NULL, `mass_only` leaves the rest of the first out.
mn_status mn_film_bulk_apply(mn_film *film, const mn_film_step_job *job, bool mass_only, const mn_vec3 *u,
                             const double *p, mn_vec3 *out, double *volumes);
/// out += dt (soft forces at the positions measured, D u0) + the part of the Hessian that d has.
mn_status mn_film_bulk_force(mn_film *film, const mn_film_step_job *job, mn_vec3 *out);
/// What tetrahedra add to the diagonal of the matrix at a vertex whose mass is lumped in it.
double mn_film_bulk_diagonal(const mn_film *film, const mn_film_step_job *job, int32_t vertex);
/// Of its own volume at x that a tetrahedron has left at y: the least.
double mn_film_bulk_least(const mn_film *film, const mn_vec3 *x, const mn_vec3 *y);
/// What the consistent mass has more of angular momentum and of kinetic energy than the lumped one.
mn_vec3 mn_film_bulk_angular(const mn_film *film, const mn_vec3 *x, const mn_vec3 *v, mn_vec3 about);
/// The same of the inertia.
mn_mat3 mn_film_bulk_inertia(const mn_film *film, const mn_vec3 *x, mn_vec3 about);
double mn_film_bulk_kinetic(const mn_film *film);
/// Soft volumes forget.
void mn_film_bulk_relax(mn_film *film, double dt);
/// s, of waves of one size.
double mn_film_bulk_time(const mn_film *film);

// ---- overlap.c ----

/// Whether volumes overlap, each other or themselves.
mn_status mn_film_volumes_overlap(mn_film *film, bool *overlap);

// ---- bulk_remesh.c ----

/// Unites volumes that overlap, and repairs tetrahedra where their quality or the lengths of their edges ask
/// for it.
mn_status mn_film_bulk_remesh(mn_film *film, bool *changed);

// ---- pressure.c ----

/// Factors B D^-1 B^T at the tetrahedra measured, D the diagonal of the matrix.
mn_status mn_film_pressure_factor(mn_film_step_job *job);
/// Solves A d - B^T p = right, B d = (what volumes at x1 want), from d and the pressure.
mn_status mn_film_pressure_solve(mn_film_step_job *job, const mn_vec3 *right, mn_vec3 *d);
/// The largest error of a node's volume at x1, of the mean of all.
double mn_film_pressure_error(mn_film *film, const mn_vec3 *x1);
/// Takes out of u0 + d what changes volumes at x1.
mn_status mn_film_pressure_project(mn_film_step_job *job);

#endif
