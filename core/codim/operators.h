// SPDX-License-Identifier: Apache-2.0
//
// Differential operators on clouds of points that lie on a surface (codimension 1) or on a curve (codimension
// 2): frames, curvature, gradient, divergence and Laplacian by moving least squares [liang2013, wang2020].
//
// Every point gets a frame, a polynomial of the cloud around it, and one row of weights: an operator applied
// to a field is the sum of weight times value over the row. Where the cloud is too poor for the polynomial
// asked for (an edge, few neighbours, neighbours on a line) a lower degree is taken; where it is too poor for
// any, the rows are zero and `degree` says so.
#ifndef MENISCUS_CODIM_OPERATORS_H
#define MENISCUS_CODIM_OPERATORS_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_codim_operators mn_codim_operators;

typedef struct mn_codim_operators_def {
    double radius;       ///< m, of the neighbourhood, > 0; 4.2 times the spacing serves degree 3
    int32_t degree;      ///< of the polynomial, 1 to 4; the Laplacian needs 2
    double other_weight; ///< factor on the weight of neighbours of another codimension, in [0, 1]
    double same_side;    ///< neighbours whose `toward` has a cosine below this with one's own are not seen;
                         ///< -1: all are
} mn_codim_operators_def;

/// Degree 3, neighbours of another codimension at 0.25, all sides; the radius is to be set.
mn_codim_operators_def mn_codim_operators_default_def(void);

/// Read during the build only.
typedef struct mn_codim_cloud {
    int64_t count;
    const mn_vec3 *positions; ///< m
    const mn_vec3 *toward;    ///< unit vectors: the side that normals, or the way that tangents, shall face;
                              ///< NULL: whichever comes out
    const uint8_t *codims;    ///< 1 or 2 for each point; NULL: all 1
} mn_codim_cloud;

/// What the fit at one point found.
typedef struct mn_codim_fit {
    mn_vec3 normal;    ///< unit; of a curve, its tangent
    mn_vec3 curvature; ///< 1/m: the Laplacian of the position, 2 H n on a surface and kappa n on a curve
    mn_vec3 projected; ///< m: the point moved onto the polynomial
    int32_t degree;    ///< that was taken; 0: the point has no operators
    int32_t neighbours;
} mn_codim_fit;

/// Row i holds entries [start[i], start[i + 1]): which point, and what it weighs in each operator.
typedef struct mn_codim_rows {
    int64_t count;
    const int64_t *start;
    const int32_t *point; ///< the first of a row is its own
    const double *laplacian;
    const mn_vec3 *gradient;
} mn_codim_rows;

mn_status mn_codim_operators_create(mn_context *ctx, mn_codim_operators **operators);
/// NULL is fine.
void mn_codim_operators_free(mn_codim_operators *operators);

/// Positions that are not finite are an error.
mn_status mn_codim_operators_build(mn_codim_operators *operators, const mn_codim_operators_def *def,
                                   const mn_codim_cloud *cloud);

/// Both valid until the next build.
const mn_codim_fit *mn_codim_operators_fits(const mn_codim_operators *operators);
mn_codim_rows mn_codim_operators_rows(const mn_codim_operators *operators);

/// result = Laplacian of a field of one number a point.
mn_status mn_codim_laplacian(const mn_codim_operators *operators, const double *field, double *result);
/// result = gradient along the surface or curve.
mn_status mn_codim_gradient(const mn_codim_operators *operators, const double *field, mn_vec3 *result);
/// result = divergence along the surface or curve of any field of vectors, tangential or not.
mn_status mn_codim_divergence(const mn_codim_operators *operators, const mn_vec3 *field, double *result);

#ifdef __cplusplus
}
#endif
#endif
