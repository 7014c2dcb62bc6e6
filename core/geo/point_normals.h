// SPDX-License-Identifier: Apache-2.0
//
// Smooth normals of polygons.
#ifndef MENISCUS_CORE_GEO_POINT_NORMALS_H
#define MENISCUS_CORE_GEO_POINT_NORMALS_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Gives points a unit `N`, out of the polygons around them; zero where there are none. Nothing where `N` is
/// already there, or where there is no polygon.
mn_status mn_geo_add_point_normals(mn_geo *geo);

#ifdef __cplusplus
}
#endif
#endif
