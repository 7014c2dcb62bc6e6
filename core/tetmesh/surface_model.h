// SPDX-License-Identifier: Apache-2.0
//
// The smooth surface that the boundary of a mesh samples, kept while the mesh is being repaired, so that
// boundary vertices slide on it instead of wearing it down [clausen2013] section 6.1.
#ifndef MENISCUS_TETMESH_SURFACE_MODEL_H
#define MENISCUS_TETMESH_SURFACE_MODEL_H

#include "meniscus/tetmesh.h"
#include "tetmesh/edit/edit.h"

typedef struct mn_tet_surface_model mn_tet_surface_model;

typedef enum mn_tet_feature {
    MN_TET_INTERIOR, ///< not on the boundary when the model was made
    MN_TET_SMOOTH,   ///< slides on the surface
    MN_TET_CURVE,    ///< on a sharp edge: slides along it
    MN_TET_CORNER,   ///< where three or more sharp edges meet, or one ends: stays
} mn_tet_feature;

typedef struct mn_tet_surface_def {
    double feature_cosine; ///< faces whose normals have a smaller scalar product meet in a sharp edge; 0.3
    double band;           ///< how far the boundary may leave the surface, of the local edge length; 0.1
} mn_tet_surface_def;

mn_status mn_tet_surface_model_create(mn_tet_mesh *mesh, mn_tet_surface_def def,
                                      mn_tet_surface_model **model);
void mn_tet_surface_model_free(mn_tet_surface_model *model);

mn_tet_feature mn_tet_surface_feature(const mn_tet_surface_model *model, int32_t v);
double mn_tet_surface_band(const mn_tet_surface_model *model);
double mn_tet_surface_feature_cosine(const mn_tet_surface_model *model);
/// The place on the surface, or for a vertex on a sharp edge on that edge, near x; x itself for interior
/// vertices.
mn_vec3 mn_tet_surface_project(mn_tet_surface_model *model, int32_t v, mn_vec3 x);
/// A new vertex on the edge or face of others: it lives where its parents do, as smooth as the smoothest.
mn_status mn_tet_surface_adopt(mn_tet_surface_model *model, int32_t v, const int32_t *parents,
                               int32_t parent_count, bool on_sharp_edge);
/// Vertex `kept` takes over the duties of `gone`: the sharper of the two decides.
void mn_tet_surface_inherit(mn_tet_surface_model *model, int32_t kept, int32_t gone);

/// Area-weighted normal of boundary face k of t, pointing out.
mn_vec3 mn_tet_face_normal(const mn_tet_mesh *mesh, int32_t t, int32_t face);

/// With boundary vertex v at `place`, its boundary faces keep their normals within 60 degrees; a face that
/// has both skip_a and skip_b (-1 for none) does not count.
bool mn_tet_normals_stay(const mn_tet_mesh *mesh, int32_t v, int32_t skip_a, int32_t skip_b, mn_vec3 place);

#endif
