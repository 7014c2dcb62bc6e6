// SPDX-License-Identifier: Apache-2.0
//
// Simple shapes as polygons. Closed ones are watertight, with polygons counter-clockwise as seen from
// outside, so that (p1-p0) x (p2-p0) points out. Round ones have their points on the true surface and enclose
// a little less. The axis of symmetry is y.
#ifndef MENISCUS_MESH_SHAPE_H
#define MENISCUS_MESH_SHAPE_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_shape_kind {
    MN_SHAPE_SPHERE,    ///< radius.x; triangles of nearly one size
    MN_SHAPE_ELLIPSOID, ///< half axes `radius`; triangles
    MN_SHAPE_BOX,       ///< edges `size`; quads
    MN_SHAPE_TUBE,      ///< closed cylinder of radii radius.x and radius.z, height size.y; quads, caps of
                        ///< triangles
    MN_SHAPE_TORUS,     ///< ring of radius.x, tube of radius.y; quads
    MN_SHAPE_GRID,      ///< flat, size.x by size.z, facing +y; quads; open
    MN_SHAPE_RING, ///< closed pipe between radius.x outside and radius.y inside, height size.y; quads. With
                   ///< size.y of 0 a flat disc with a hole that faces +y; open
    MN_SHAPE_KIND_COUNT
} mn_shape_kind;

typedef struct mn_shape_def {
    mn_shape_kind kind;
    mn_vec3 center; ///< m
    mn_vec3 radius; ///< m, > 0 where it is used
    mn_vec3 size;   ///< m, > 0 where it is used
    mn_vec3 rotate; ///< degrees, about x, then y, then z, around the center
    /// 0: chosen for the kind. Round shapes: [0] around (spheres take the nearest multiple of 5), [1] along
    /// the height or around the tube, [2] across caps and walls. Box and grid: along x, y, z.
    int32_t divisions[3];
} mn_shape_def;

/// A sphere of 1 cm.
mn_shape_def mn_shape_default_def(void);

/// Fails on sizes that are zero or not finite, and on more than 2^28 polygons.
mn_status mn_shape_create(mn_context *ctx, const mn_shape_def *def, mn_geo **geo);

#ifdef __cplusplus
}
#endif
#endif
