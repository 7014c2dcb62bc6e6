// SPDX-License-Identifier: Apache-2.0
//
// Geometry as the renderer wants it: triangles, spheres and tubes in camera space (see preview.h), with a
// packed colour each and a packed normal at every corner.
#ifndef MENISCUS_PLUGIN_PREVIEW_SCENE_H
#define MENISCUS_PLUGIN_PREVIEW_SCENE_H

#include "plugin/preview/arena.h"
#include "plugin/preview/color.h"
#include "plugin/preview/float3.h"
#include "plugin/preview/preview.h"

/// point[0] < 0: left out, since one of its points is not finite or absurdly far away.
typedef struct mn_preview_triangle {
    int32_t point[3];
} mn_preview_triangle;

typedef struct mn_preview_corners {
    uint32_t normal[3], color[3];
} mn_preview_corners;

/// radius 0: left out.
typedef struct mn_preview_sphere {
    f3 center;
    float radius;
    uint32_t color;
} mn_preview_sphere;

/// radius 0: left out.
typedef struct mn_preview_tube {
    f3 end[2];
    float radius;
    uint32_t color[2];
} mn_preview_tube;

/// All memory is the arena's.
typedef struct mn_preview_scene {
    mn_context *ctx;
    mn_arena *arena;
    f3 *points; ///< of the triangles
    int64_t point_count;
    mn_preview_triangle *triangles;
    mn_preview_corners *corners;
    int64_t triangle_count;
    mn_preview_sphere *spheres;
    int64_t sphere_count;
    mn_preview_tube *tubes;
    int64_t tube_count;
} mn_preview_scene;

/// Fills a zeroed scene whose ctx and arena are set. At most INT32_MAX points and triangles in all.
mn_status mn_preview_scene_make(mn_preview_scene *scene, const mn_geo *const *geos, int32_t count,
                                const mn_preview_def *def, const mn_preview_view *view,
                                mn_preview_notes *notes);

/// Surfaces of the volumes in `geos` as polygons, each owned by the caller; *count says how many were made.
/// `capacity` is the number of volume primitives in all.
mn_status mn_preview_mesh_volumes(mn_context *ctx, const mn_services *services, const mn_geo *const *geos,
                                  int32_t geo_count, mn_geo **meshes, int32_t *count,
                                  mn_preview_notes *notes);

/// Cuts a polygon of `count` corners into count - 2 triangles, written as corner numbers: convex ones as a
/// fan, others by clipping ears.
void mn_preview_triangulate(const f3 *corners, int32_t count, int32_t (*triangles)[3]);

/// The faces of tetrahedra that belong to one tetrahedron only, outward: vertex numbers of `geo`, three per
/// face, in the arena.
mn_status mn_preview_tet_skin(mn_context *ctx, mn_arena *arena, const mn_geo *geo, const int64_t (**faces)[3],
                              int64_t *face_count);

/// Corner normals of triangles [begin, end), which use points [first_point, end_point): faces that meet in a
/// point at less than the crease angle share their area-weighted mean.
mn_status mn_preview_smooth_normals(mn_preview_scene *scene, int64_t begin, int64_t end, int64_t first_point,
                                    int64_t end_point);

#endif
