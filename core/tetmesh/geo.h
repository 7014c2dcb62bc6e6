// SPDX-License-Identifier: Apache-2.0
//
// Tetrahedral meshes from and to geometry.
#ifndef MENISCUS_TETMESH_GEO_H
#define MENISCUS_TETMESH_GEO_H

#include "meniscus/geo.h"
#include "meniscus/tetmesh.h"
#include "tetmesh/quality.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What was wrong with tetrahedra and was put right.
typedef struct mn_tet_repairs {
    int64_t turned;     ///< inverted: two vertices changed places
    int64_t flat;       ///< no volume: left out
    int64_t duplicates; ///< the same four points again: left out
    int64_t first;      ///< primitive of the first of these, -1 for none
} mn_tet_repairs;

/// The tetrahedra of `geo`. Numeric point attributes become linear fields, numeric primitive attributes
/// values, except `rest_volume` and `mass`, which are amounts. With `repair`, inverted tetrahedra are turned
/// and flat and duplicate ones left out; without it they are taken as they are. A position that is not a
/// number, or a face with three tetrahedra, is an error that names it.
mn_status mn_tet_mesh_from_geo(const mn_geo *geo, bool repair, mn_tet_mesh **mesh, mn_tet_repairs *repairs);

/// Points, tetrahedra and all fields. `like` (may be NULL) gives attributes of the same name their type and
/// hint.
mn_status mn_tet_mesh_to_geo(const mn_tet_mesh *mesh, const mn_geo *like, mn_geo **geo);

/// The boundary as triangles that face out, with the linear fields on points and the element fields of the
/// tetrahedron behind on primitives.
mn_status mn_tet_mesh_boundary_to_geo(const mn_tet_mesh *mesh, const mn_geo *like, mn_geo **geo);

/// The quality of all tetrahedra of a geo, whatever they are: inverted, flat and crowded ones are counted,
/// not refused.
mn_status mn_tet_geo_quality(const mn_geo *geo, mn_tet_quality_report *report);

#ifdef __cplusplus
}
#endif
#endif
