// SPDX-License-Identifier: Apache-2.0
//
// Lines drawn on meshes, for hosts that show an artist where things are.
#ifndef MENISCUS_MESH_MESH_LINES_H
#define MENISCUS_MESH_MESH_LINES_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Edges of the polygons, and of the skin of the tetrahedra, that only one face has or at which two faces
/// turn by more than `crease` degrees; polylines as they are. Smooth closed polygons, which have no such
/// edge, give every edge. One polyline of two points each, but for the polylines.
mn_status mn_mesh_outline(const mn_geo *geo, double crease, mn_geo **lines);

/// Where a number that each point has passes `level` on the polygons, taken as fans of triangles and the
/// number as linear on each. Pieces of two points that share their ends: on a closed mesh every point of the
/// line has two pieces. A point at the level counts as above; one that is not finite has no line near it.
mn_status mn_mesh_level_line(const mn_geo *geo, const double *values, double level, mn_geo **lines);

#ifdef __cplusplus
}
#endif
#endif
