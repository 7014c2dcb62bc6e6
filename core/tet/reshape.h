// SPDX-License-Identifier: Apache-2.0
//
// What changes the mesh after a step: remeshing (adapt.c), what has passed through itself (self_overlap.c),
// thin sheets (sheet_detection.c, sheet_removal.c), small bodies (small_bodies.c), nodes that slide along a
// calm surface (tangential_smoothing.c).
#ifndef MENISCUS_TET_RESHAPE_H
#define MENISCUS_TET_RESHAPE_H

#include "meniscus/tet.h"
#include "mesh/box_grid.h"
#include "tet/arrays.h"
#include "tetmesh/internal.h"

/// Scratch memory of self_overlap.c.
typedef struct mn_tet_folds {
    MN_ARRAY(int32_t) tets; ///< behind each boundary face
    mn_tet_vectors normals;
    mn_box_grid grid; ///< of the boxes of those tetrahedra
    mn_tet_list found;
} mn_tet_folds;

/// Scratch memory of sheet_detection.c.
typedef struct mn_tet_sheets {
    MN_ARRAY(uint8_t) fixed, mark;
} mn_tet_sheets;

/// Remeshes what the last step left bad.
mn_status mn_tet_liquid_adapt(mn_tet_liquid *liquid);
/// Whether liquid lies in one place twice: bodies that have met, or one that has folded onto itself.
mn_status mn_tet_liquid_overlaps(mn_tet_liquid *liquid, bool *overlaps);
void mn_tet_folds_free(mn_context *ctx, mn_tet_folds *folds);
/// Gives the nodes of bodies too small for their own motion that of a rigid one; momentum stays.
mn_status mn_tet_liquid_hold_small(mn_tet_liquid *liquid);
/// Whether a body is as small as that.
bool mn_tet_liquid_is_small(const mn_tet_liquid *liquid, int32_t body);
/// Which bodies are grains: small solids of what breaks. After every change of the mesh or of phases.
mn_status mn_tet_liquid_find_grains(mn_tet_liquid *liquid);
bool mn_tet_liquid_is_grain(const mn_tet_liquid *liquid, int32_t node);
/// Where a step of length dt leads the grains, into trial.place and trial.velocity.
mn_status mn_tet_liquid_fly_grains(mn_tet_liquid *liquid, double dt);
/// Slides the nodes of the surface along it towards where surface tension has no part along it.
mn_status mn_tet_liquid_slide(mn_tet_liquid *liquid);

#endif
