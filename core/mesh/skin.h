// SPDX-License-Identifier: Apache-2.0
//
// The surface of particles as an artist wants to see it: smooth, watertight, holding just the particles'
// volume, with their attributes.
//
// The stages are those of level_set.h: union of spheres, redistance, smooth, and a shift of each connected
// body so that it encloses the volume of its own particles. Spheres larger than the particles close the gaps
// between them; the shift takes back what they add.
#ifndef MENISCUS_MESH_SKIN_H
#define MENISCUS_MESH_SKIN_H

#include "levelset/level_set.h"
#include "mesh/isosurface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_skin_def {
    double dx;           ///< m, spacing of the level set's nodes, > 0
    double radius_scale; ///< radius of a sphere over the particle's, > 0
    int32_t smooth;      ///< smoothing passes, >= 0
    bool keep_volume; ///< shift every body to its particles' volume; otherwise the spheres are what is shown
    bool beads; ///< with keep_volume: drops too small for dx are round meshes of their own, not in the level
                ///< set
} mn_skin_def;

/// radius_scale 2.5, one smoothing, volume kept, beads; dx is to be set.
mn_skin_def mn_skin_default_def(void);

typedef struct mn_skin_facts {
    int64_t bodies;
    int64_t
        small_bodies; ///< less than two cells across, so that they look angular, or off their volume by 1 %
    double volume;    ///< m^3, enclosed
    double wanted_volume; ///< m^3, of the particles
    double area;          ///< m^2
} mn_skin_facts;

typedef struct mn_skin mn_skin;

mn_status mn_skin_create(mn_context *ctx, mn_skin **skin);
/// NULL is fine.
void mn_skin_free(mn_skin *skin);
/// `radii` (m, > 0) one for each particle; `volumes` (m^3, > 0) too, or NULL for those of the balls. Nodes
/// lie at the centres of voxels, dx (i + 0.5).
mn_status mn_skin_run(mn_skin *skin, const mn_skin_def *def, int64_t count, const mn_vec3 *positions,
                      const double *radii, const double *volumes);
/// Valid until the next run.
const mn_level_set *mn_skin_level_set(const mn_skin *skin);
mn_skin_facts mn_skin_get_facts(const mn_skin *skin);
/// The surface as triangles, made by marching cubes; valid until the next call.
mn_status mn_skin_mesh(mn_skin *skin, mn_iso_mesh *mesh);

/// Values of particles blended at other places: the weight of particle p at distance d is (1 - d^2 / h_p^2)^3
/// within its reach h_p, over the sum of them. Where no particle reaches, zero.
typedef struct mn_blend mn_blend;
/// Particles must be finite and `reach` (m) above 0; arrays are copied.
mn_status mn_blend_create(mn_context *ctx, int64_t count, const mn_vec3 *positions, const double *reach,
                          mn_blend **blend);
/// NULL is fine.
void mn_blend_free(mn_blend *blend);
/// values[count][components] at the particles, results[target_count][components].
mn_status mn_blend_values(const mn_blend *blend, int32_t components, const double *values,
                          int64_t target_count, const mn_vec3 *targets, double *results);

#ifdef __cplusplus
}
#endif
#endif
