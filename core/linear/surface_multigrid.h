// SPDX-License-Identifier: Apache-2.0
//
// Multigrid for diag(m) + s L on vectors of three, L the weighted graph Laplacian of a mesh. Made for meshes
// that change with every solve: it is built in one pass over the entries of each level. Same bits for any
// number of workers.
#ifndef MENISCUS_LINEAR_SURFACE_MULTIGRID_H
#define MENISCUS_LINEAR_SURFACE_MULTIGRID_H

#include "meniscus/array.h"
#include "meniscus/vec.h"

enum { MN_SURFACE_LEVELS = 10 };

/// A matrix by rows; entries of a row are those of its chunk before it, those after it, then the others.
typedef struct mn_surface_level {
    int32_t rows;
    MN_ARRAY(int64_t) start;               ///< [rows + 1]
    MN_ARRAY(int64_t) before_end, own_end; ///< [rows]
    MN_ARRAY(int32_t) column;
    MN_ARRAY(double) weight; ///< minus what is off the diagonal
    MN_ARRAY(double) mass;   ///< [rows] what the sum of a row is; infinite: held at zero
    MN_ARRAY(double) diagonal;
    MN_ARRAY(double) inverse;    ///< of the diagonal and the sizes of entries in other chunks
    MN_ARRAY(int32_t) aggregate; ///< [rows] its row on the next level, or -1
    MN_ARRAY(int64_t) member_start;
    MN_ARRAY(int32_t) member; ///< rows by aggregate
    MN_ARRAY(mn_vec3) x, right, rest, change;
} mn_surface_level;

/// Zero-initialised is empty; give back with mn_surface_multigrid_free.
typedef struct mn_surface_multigrid {
    mn_context *ctx;
    mn_surface_level level[MN_SURFACE_LEVELS]; ///< finest first
    int32_t count;
    bool direct; ///< the coarsest level is factored
    MN_ARRAY(double) factor;
    MN_ARRAY(int32_t) seen; ///< scratch of a build
} mn_surface_multigrid;

void mn_surface_multigrid_free(mn_context *ctx, mn_surface_multigrid *m);
/// The matrix with rows [start[i], start[i+1]) of `column` and `weight`: (A x)_i = mass_i x_i + scale sum_k
/// weight_k (x_i - x_column_k). Symmetric, positive definite; a row of infinite mass stays at zero.
mn_status mn_surface_multigrid_build(mn_context *ctx, mn_surface_multigrid *m, int32_t rows,
                                     const int64_t *start, const int32_t *column, const double *weight,
                                     double scale, const double *mass);
/// x = M^-1 r, one symmetric cycle. `x` and `r` differ.
mn_status mn_surface_multigrid_apply(mn_surface_multigrid *m, const mn_vec3 *r, mn_vec3 *x);

#endif
