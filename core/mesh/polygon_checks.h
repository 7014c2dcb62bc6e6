// SPDX-License-Identifier: Apache-2.0
//
// Whether the polygons of a geometry have an inside.
#ifndef MENISCUS_MESH_POLYGON_CHECKS_H
#define MENISCUS_MESH_POLYGON_CHECKS_H

#include "meniscus/geo.h"

/// How many edges of the polygons are not shared by exactly two in opposite directions; 0 for a closed
/// surface. `point` (may be NULL) receives an end of the first.
mn_status mn_polygons_open_edges(const mn_geo *geo, int64_t *open, int64_t *point);

/// How many pairs of triangles (polygons cut into fans) pass through each other, and the first two such
/// polygons, -1 for none.
mn_status mn_polygons_crossing(const mn_geo *geo, int64_t *count, int64_t polygons[2]);

#endif
