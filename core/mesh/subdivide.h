// SPDX-License-Identifier: Apache-2.0
//
// Smooth subdivision of triangle meshes.
#ifndef MENISCUS_MESH_SUBDIVIDE_H
#define MENISCUS_MESH_SUBDIVIDE_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Divides every triangle into four, `levels` (0 to 6) times, by Loop's rules [loop1987], then moves each
/// closed part along its normals until it has the volume that it had. Numeric point attributes are blended by
/// the same rules (whole numbers and strings come from a parent), primitive attributes go to all four, detail
/// attributes stay. Polygons must be triangles; other primitives are an error.
mn_status mn_geo_subdivide(const mn_geo *geo, int32_t levels, mn_geo **result);

#ifdef __cplusplus
}
#endif
#endif
