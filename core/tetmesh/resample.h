// SPDX-License-Identifier: Apache-2.0
//
// Fields from a mesh before remeshing to the same mesh after it, by exact overlap volumes, conserving amounts
// and linear momentum [clausen2013] section 6.3.
#ifndef MENISCUS_TETMESH_RESAMPLE_H
#define MENISCUS_TETMESH_RESAMPLE_H

#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Volume that two positive tetrahedra have in common.
double mn_tet_overlap(const mn_vec3 a[4], const mn_vec3 b[4]);

typedef struct mn_tet_resample_def {
    const char *velocity; ///< linear field whose momentum is conserved, 3 components; NULL: none
    const char *mass;     ///< amount that weighs it; NULL: none
    const char *region;   ///< value: only tetrahedra of equal ones give to each other; NULL: none
    const char *reaching; ///< linear field that goes on outside of what was there; the others end; NULL: none
} mn_tet_resample_def;

typedef struct mn_tet_resample_report {
    int64_t sources, targets; ///< tetrahedra that went and came; the rest kept their values
    int64_t pairs;            ///< overlapping ones
    int64_t orphans;          ///< sources that overlap nothing; what they held went to the nearest target
    mn_vec3 impulse;          ///< momentum that the correction put back
} mn_tet_resample_report;

/// `before` is a copy (mn_tet_mesh_copy) taken before the changes to `mesh`. Amounts are divided among what
/// covers them, values averaged over what covers it, linear fields interpolated at new and moved vertices;
/// then nodes of changed tetrahedra get the velocity that restores each one's momentum.
mn_status mn_tet_resample(const mn_tet_mesh *before, mn_tet_mesh *mesh, const mn_tet_resample_def *def,
                          mn_tet_resample_report *report);

#ifdef __cplusplus
}
#endif
#endif
