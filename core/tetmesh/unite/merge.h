// SPDX-License-Identifier: Apache-2.0
//
// Uniting parts of a tetrahedral mesh that overlap [clausen2013] section 7.2.
#ifndef MENISCUS_TETMESH_UNITE_MERGE_H
#define MENISCUS_TETMESH_UNITE_MERGE_H

#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_tet_merge_def {
    const char *velocity; ///< linear field whose momentum is conserved, 3 components; NULL: none
    const char *mass;     ///< amount that weighs it; NULL: none
    mn_box region;        ///< where to look, m; what overlaps there is united as a whole; empty: everywhere
    bool within_parts;    ///< also look for parts that overlap themselves; true
    int32_t max_merges;   ///< pairs of overlapping regions to unite, >= 0; 1000
} mn_tet_merge_def;
mn_tet_merge_def mn_tet_merge_default_def(void);

typedef struct mn_tet_merge_report {
    int64_t merges;        ///< pairs of regions united
    int64_t swallowed;     ///< parts that lay inside others altogether
    int64_t old_tets;      ///< tetrahedra that overlapped
    int64_t new_tets;      ///< tetrahedra in their place
    int64_t new_vertices;  ///< where edges of one met faces of the other
    int64_t retries;       ///< attempts given up for a degenerate place and made again, slightly moved
    double moved;          ///< how far a retry moved vertices at most, m; from 5e-6 of an edge up
    int64_t left;          ///< overlapping pairs of regions that were left as they are
    double overlap_volume; ///< what was covered twice, m^3
    mn_vec3 impulse;       ///< momentum that the correction put back
} mn_tet_merge_report;

/// Finds tetrahedra that overlap others with which they share no vertex, and unites the regions: the surface
/// of one is cut into the other until both have the same faces there, one of the two layers goes, and equal
/// vertices become one. The result covers exactly the union. Rest volumes, masses and other amounts of both
/// layers go to what lies in the same place, linear fields are averaged, momentum stays to rounding. Elements
/// at the seam can be small: remesh afterwards (mn_tet_remesh with min_edge). Work and memory follow the
/// overlap. A pair that cannot be united (its layers are connected through common vertices) is counted in
/// `left` and stays. On failure the mesh is valid, between two merges. All tetrahedra must be positive.
mn_status mn_tet_mesh_merge(mn_tet_mesh *mesh, const mn_tet_merge_def *def, mn_tet_merge_report *report);

#ifdef __cplusplus
}
#endif
#endif
