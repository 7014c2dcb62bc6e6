// SPDX-License-Identifier: Apache-2.0
//
// Local remeshing: repairs what is below the wanted quality or outside the wanted edge lengths and touches
// nothing else.
#ifndef MENISCUS_TETMESH_REMESH_H
#define MENISCUS_TETMESH_REMESH_H

#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_tet_remesh_def {
    double quality;  ///< tetrahedra below this volume-length ratio are repaired, [0, 1); 0.35
    double min_edge; ///< shorter edges are contracted, m; 0: none
    double max_edge; ///< longer edges are split, m; 0: none; at least 2.5 times min_edge
    /// Faces whose normals differ by more than this angle meet in a sharp edge that is kept, degrees, (0,
    /// 180); 72.5
    double feature_angle;
    double
        surface_band; ///< how far the surface may move, as a fraction of the local edge length, [0, 0.5]; 0.1
    bool fixed_surface; ///< leave every boundary face as it is
    /// A field of values, 1 a tetrahedron: those of different values are never mixed, so that the faces
    /// between them stay, and those below 0 stay as they are; NULL: none
    const char *region;
    int32_t max_passes; ///< sweeps over what is still bad, >= 1; 5
} mn_tet_remesh_def;
mn_tet_remesh_def mn_tet_remesh_default_def(void);

typedef enum mn_tet_operation {
    MN_TET_OP_SMOOTH,
    MN_TET_OP_EDGE_REMOVAL,
    MN_TET_OP_FACE_REMOVAL,
    MN_TET_OP_PEEL,
    MN_TET_OP_EDGE_CONTRACTION,
    MN_TET_OP_FACE_CONTRACTION,
    MN_TET_OP_TET_CONTRACTION,
    MN_TET_OP_INSERTION,
    MN_TET_OP_SPLIT,
    MN_TET_OP_COUNT
} mn_tet_operation;
/// "edge_removal"
const char *mn_tet_operation_name(mn_tet_operation operation);

typedef struct mn_tet_remesh_report {
    int64_t bad_before, bad_after; ///< tetrahedra below the quality
    double worst_before, worst_after;
    int64_t operations[MN_TET_OP_COUNT];
    int64_t attempts;
    int32_t passes;
    /// Why what is left is left: tetrahedra whose four vertices are all on the surface or fixed, and others.
    int64_t left_on_surface, left_inside;
    int64_t inverted_after; ///< flat or inverted ones that could not be untangled
    int32_t first_left;     ///< the worst that is left, -1 for none
} mn_tet_remesh_report;

/// Repairs the mesh in place. Fields are carried by every operation; amounts keep their sums to rounding.
/// Every accepted operation raises the worst quality of what it replaces, or contracts an edge that is too
/// short, so no state comes twice, and the work is bounded by max_passes. On failure (memory, cancel) the
/// mesh is valid, between two operations. All tetrahedra must be positive.
mn_status mn_tet_remesh(mn_tet_mesh *mesh, const mn_tet_remesh_def *def, mn_tet_remesh_report *report);

#ifdef __cplusplus
}
#endif
#endif
