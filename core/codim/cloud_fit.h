// SPDX-License-Identifier: Apache-2.0
//
// How a cloud of points lies that is a surface (codimension 1) or a curve (codimension 2): its normals or
// tangents and its curvature at each point, by moving least squares [liang2013, wang2020].
//
// Every point gets a frame and a polynomial of the cloud around it. Where the cloud is too poor for the
// degree asked for (an edge, few neighbours, neighbours on a line) a lower one is taken; where it is too poor
// for any, `degree` is 0.
#ifndef MENISCUS_CODIM_CLOUD_FIT_H
#define MENISCUS_CODIM_CLOUD_FIT_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_codim_cloud_fit mn_codim_cloud_fit;

typedef struct mn_codim_cloud_fit_def {
    double radius;       ///< m, of the neighbourhood, > 0; 4.2 times the spacing serves degree 3
    int32_t degree;      ///< of the polynomial, 1 to 4; curvature needs 2
    double other_weight; ///< factor on the weight of neighbours of another codimension, in [0, 1]
    double same_side;    ///< neighbours whose `toward` has a cosine below this with one's own are not seen;
                         ///< -1: all are
} mn_codim_cloud_fit_def;

/// Degree 3, neighbours of another codimension at 0.25, all sides; the radius is to be set.
mn_codim_cloud_fit_def mn_codim_cloud_fit_default_def(void);

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
    int32_t degree;    ///< that was taken; 0: none, and the normal is that of the frame
} mn_codim_fit;

mn_status mn_codim_cloud_fit_create(mn_context *ctx, mn_codim_cloud_fit **fit);
/// NULL is fine.
void mn_codim_cloud_fit_free(mn_codim_cloud_fit *fit);

/// Positions that are not finite are an error.
mn_status mn_codim_cloud_fit_build(mn_codim_cloud_fit *fit, const mn_codim_cloud_fit_def *def,
                                   const mn_codim_cloud *cloud);

/// One for each point; valid until the next build.
const mn_codim_fit *mn_codim_cloud_fit_found(const mn_codim_cloud_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
