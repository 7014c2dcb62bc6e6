// SPDX-License-Identifier: Apache-2.0
//
// Tetrahedra that fill a level set: isosurface stuffing [labelle2007]. Every dihedral angle lies
// between 10.78 and 164.74 degrees whatever the surface does, as long as the elements at the surface have one
// size.
#ifndef MENISCUS_TETMESH_FILL_STUFFING_H
#define MENISCUS_TETMESH_FILL_STUFFING_H

#include "meniscus/array.h"
#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Signed distance at `count` places, negative inside, metres. Called from several threads at once.
typedef void mn_level_fn(void *user, int64_t count, const mn_vec3 *positions, double *values);

typedef struct mn_tet_stuffing_def {
    mn_level_fn *level;
    void *user;
    mn_box bounds; ///< contains the surface
    double size;   ///< edge of the cubes of the lattice at the surface, m, > 0; edges are 0.87 and 1 of it
    /// How fast the size may grow with the distance from the surface, m per m, [0, 2]; 0: the same
    /// everywhere. Needs a true distance inside: one that is clamped to a band keeps the size below the
    /// band's.
    double gradation;
    /// Where the surface is curved, elements get smaller than `size`: down to this fraction of the radius of
    /// curvature, and to an eighth of `size` at least, [0, 2]; 0: one size. Between sizes the surface is cut
    /// without the angle bound (uneven_cuts); remeshing restores good angles.
    double curvature_refine;
    int64_t max_tets; ///< fails with a sentence instead of making more than this
} mn_tet_stuffing_def;
mn_tet_stuffing_def mn_tet_stuffing_default_def(void);

typedef struct mn_tet_stuffing {
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(mn_tet_indices) tets; ///< all positive
    int64_t lost_features;         ///< places where a sheet or blob is too thin for the lattice: lost or torn
    int64_t lost_gaps;             ///< places where a gap is too thin: closed or bridged
    mn_vec3 first_lost;            ///< where the first of either is
    int64_t uneven_cuts;           ///< cut tetrahedra without the angle bound; 0 for a true distance
} mn_tet_stuffing;

/// `result` is zero-initialised; free it in any case.
mn_status mn_tet_stuff(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_stuffing *result);
void mn_tet_stuffing_free(mn_context *ctx, mn_tet_stuffing *result);

typedef struct mn_tet_fit_report {
    int64_t moves;   ///< vertices moved, each time counted
    int64_t left;    ///< boundary vertices whose faces are still further away than asked for
    double distance; ///< of the boundary from the surface, largest, m
} mn_tet_fit_report;

/// Filling cuts off sharp edges and corners. Moves boundary vertices of the mesh made of a filling onto them,
/// wherever a boundary face is further than `within` (of def->size; 0.15 leaves smooth surfaces alone) from
/// the surface, as far as every dihedral angle stays between 10.8 and 164.7 degrees.
mn_status mn_tet_mesh_fit(mn_tet_mesh *mesh, const mn_tet_stuffing_def *def, double within,
                          mn_tet_fit_report *report);

#ifdef __cplusplus
}
#endif
#endif
