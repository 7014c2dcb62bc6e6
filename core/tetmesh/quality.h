// SPDX-License-Identifier: Apache-2.0
//
// How good tetrahedra are.
#ifndef MENISCUS_TETMESH_QUALITY_H
#define MENISCUS_TETMESH_QUALITY_H

#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Volume-length ratio 6 sqrt(2) V / l_rms^3: 1 for a regular tetrahedron, 0 for a flat one, negative when
/// inverted [parthasarathy1994].
double mn_tet_quality(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d);
/// The same and its derivative with respect to a.
double mn_tet_quality_gradient(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, mn_vec3 *gradient);
/// Longest edge over 2 sqrt(6) times the radius of the inscribed sphere: 1 for a regular one, INFINITY when
/// flat.
double mn_tet_aspect(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d);
/// The six dihedral angles in radians, at the edges in the order of mn_tet_edge_corners.
void mn_tet_dihedrals(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, double angles[6]);
/// Smallest and largest of them.
void mn_tet_dihedral_range(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, double *smallest, double *largest);

double mn_tet_mesh_quality_of(const mn_tet_mesh *mesh, int32_t t);

enum { MN_TET_ANGLE_BINS = 18, MN_TET_QUALITY_BINS = 10 };

/// A mesh's quality at a glance.
typedef struct mn_tet_quality_report {
    int64_t tets, inverted; ///< inverted: volume not above zero
    double volume;          ///< sum, m^3
    double worst_quality, mean_quality;
    double smallest_dihedral, largest_dihedral; ///< degrees
    double worst_aspect;
    double shortest_edge, longest_edge;             ///< m
    int64_t dihedral_histogram[MN_TET_ANGLE_BINS];  ///< 10 degrees each
    int64_t quality_histogram[MN_TET_QUALITY_BINS]; ///< 0.1 each, [0, 1]; inverted ones in the first
} mn_tet_quality_report;
mn_status mn_tet_mesh_quality(const mn_tet_mesh *mesh, mn_tet_quality_report *report);

/// The same piece by piece, for tetrahedra that are in no mesh: begin, add each, end.
void mn_tet_quality_begin(mn_tet_quality_report *report);
void mn_tet_quality_add(mn_tet_quality_report *report, const mn_vec3 corners[4]);
void mn_tet_quality_end(mn_tet_quality_report *report);

/// quality[t] of every slot; 2 in free ones. The sweep that decides what to touch.
mn_status mn_tet_mesh_quality_sweep(const mn_tet_mesh *mesh, double *quality);

#ifdef __cplusplus
}
#endif
#endif
