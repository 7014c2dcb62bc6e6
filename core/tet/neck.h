// SPDX-License-Identifier: Apache-2.0
//
// Necks: where a liquid is about to come apart, found as plane sections that carry too much.
#ifndef MENISCUS_TET_NECK_H
#define MENISCUS_TET_NECK_H

#include "tet/state.h"
#include "tetmesh/internal.h"

/// The mean of a tetrahedron's vertices.
static inline mn_vec3 mn_tet_middle(const mn_tet_mesh *mesh, int32_t t)
{
    mn_vec3 sum = {0};
    for (int k = 0; k < 4; k++) sum = mn_axpy(sum, 0.25, mesh->position[mesh->tet[t][k]]);
    return sum;
}

/// A plane through a neck.
typedef struct mn_tet_neck {
    mn_vec3 point, normal; ///< m; unit, along the neck
    double area;           ///< m^2, of the section
} mn_tet_neck;
typedef MN_ARRAY(mn_tet_neck) mn_tet_necks;

/// What a plane cuts out of one stretch of liquid.
typedef struct mn_tet_section {
    bool closed;      ///< it ends at the surface on all sides, not at the patch
    bool wetted;      ///< a part of its rim lies on a solid
    double area;      ///< m^2
    double perimeter; ///< m
    double force;     ///< N, that pulls the two sides towards each other: pressure, viscosity, surface
    double rate;      ///< 1/s, of stretching along the normal, mean
    mn_vec3 center;
} mn_tet_section;

/// A set of tetrahedra around a place, in which planes are tried.
typedef struct mn_tet_patch {
    const mn_tet_liquid *liquid;
    MN_ARRAY(int32_t) tets;
    MN_ARRAY(int32_t) member, seen; ///< per tetrahedron: the patch, the walk that met it last
    MN_ARRAY(int32_t) queue;
    int32_t patches, walks;
} mn_tet_patch;

mn_status mn_tet_patch_begin(mn_tet_patch *patch, const mn_tet_liquid *liquid);
void mn_tet_patch_free(mn_tet_patch *patch);
/// The tetrahedra that are connected with `seed` and whose middles are nearer to it than `radius`.
mn_status mn_tet_patch_gather(mn_tet_patch *patch, int32_t seed, double radius);
/// The section nearest to `point`; area 0 when the plane misses the patch.
mn_status mn_tet_patch_cut(mn_tet_patch *patch, mn_vec3 point, mn_vec3 normal, mn_tet_section *section);

/// The necks to cut now, narrowest first, none near another.
mn_status mn_tet_liquid_find_necks(mn_tet_liquid *liquid, mn_tet_necks *necks);

/// Cuts `mesh`, a copy of the liquid's, at the necks and pulls the ends apart.
mn_status mn_tet_liquid_cut_necks(mn_tet_liquid *liquid, const mn_tet_necks *necks, mn_tet_mesh *mesh);
/// Gives what parts too small for a tetrahedron hold to what is nearest, and takes them out.
mn_status mn_tet_liquid_sweep_crumbs(mn_tet_liquid *liquid, mn_tet_mesh *mesh, bool *swept);

/// 3 V / largest face, m.
double mn_tet_height(const mn_tet_mesh *mesh, int32_t t);
/// The tetrahedra of sheets that have become too thin for a mesh.
mn_status mn_tet_liquid_list_thin(mn_tet_liquid *liquid, const mn_tet_mesh *mesh, mn_tet_list *thin);
/// Tetrahedra at the surface that overlap others: the thinner one of each pair.
mn_status mn_tet_liquid_list_folds(mn_tet_liquid *liquid, const mn_tet_mesh *mesh, mn_tet_list *thinner);
/// Takes tetrahedra out of `mesh`, a copy of the liquid's, and gives what they held to the liquid around.
mn_status mn_tet_liquid_shed(mn_tet_liquid *liquid, mn_tet_mesh *mesh, const mn_tet_list *going, bool *shed);

#endif
