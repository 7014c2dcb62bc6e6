// SPDX-License-Identifier: Apache-2.0
//
// A triangle mesh to ask questions of: nearest point, distance with a sign, inside or not; and whether it is
// closed. A tree of boxes makes each question logarithmic. Nothing changes between creation and
// mn_triangles_rebuild, so many threads may ask at once.
//
//   - Vertices in exactly the same place are one; triangles that then have a corner twice are dropped.
//   - A sign needs a closed mesh. mn_triangles_check says how one fails to be closed; signed distances of
//     such a mesh are refused, not guessed. The winding number is defined for any mesh, and its nearest
//     whole number is the robust answer for meshes with small holes or overlaps: a caller who accepts that
//     asks for it by name.
#ifndef MENISCUS_TRIMESH_TRIANGLES_H
#define MENISCUS_TRIMESH_TRIANGLES_H

#include "meniscus/geo.h"
#include "space/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_triangles mn_triangles;

/// How a mesh fails to be closed: all counts 0 when it is.
typedef struct mn_mesh_flaws {
    int64_t open_edges;      ///< with one triangle
    int64_t crowded_edges;   ///< with more than two
    int64_t flipped_edges;   ///< with two that run along it in the same direction: their normals disagree
    int64_t dropped;         ///< triangles that were dropped; no flaw by itself
    mn_vec3 example[2];      ///< the ends of the first such edge
    int64_t example_element; ///< triangle (of creation) or primitive (of a geo) on it, -1 when there is none
} mn_mesh_flaws;

/// `triangles` index `positions`; both are copied. Indices out of range and positions that are not finite are
/// errors. At most 2^31 - 1 triangles and vertices.
mn_status mn_triangles_create(mn_context *ctx, int64_t vertex_count, const mn_vec3 *positions,
                              int64_t triangle_count, const int32_t (*triangles)[3], mn_triangles **result);
/// The same for a mesh that there is already: it becomes this one, in the memory that it has. On failure it
/// is empty.
mn_status mn_triangles_rebuild(mn_triangles *mesh, int64_t vertex_count, const mn_vec3 *positions,
                               int64_t triangle_count, const int32_t (*triangles)[3]);
/// The polygons of a geo, cut into fans.
mn_status mn_triangles_create_from_geo(mn_context *ctx, const mn_geo *geo, mn_triangles **result);
void mn_triangles_free(mn_triangles *triangles);

int64_t mn_triangles_count(const mn_triangles *triangles);
mn_box mn_triangles_bounds(const mn_triangles *triangles);
mn_mesh_flaws mn_triangles_check(const mn_triangles *triangles);
bool mn_triangles_is_closed(const mn_triangles *triangles);
/// MN_OK, or MN_ERROR_INPUT with a sentence that says what is wrong and where; `what` names the input in it.
mn_status mn_triangles_require_closed(mn_context *ctx, const mn_triangles *triangles, const char *what);

/// A point of the mesh.
typedef struct mn_mesh_point {
    int64_t element;     ///< triangle (of creation) or primitive (of a geo)
    int32_t vertices[3]; ///< indices (of creation) or points (of a geo) of the triangle's corners
    double weights[3];   ///< of the corners, sum 1
    mn_vec3 position;
    mn_vec3 normal;  ///< of the triangle, unit length
    double distance; ///< from the question's point
} mn_mesh_point;

/// The nearest point no further than `most` (INFINITY: however far). False when there is none.
bool mn_triangles_closest(const mn_triangles *triangles, mn_vec3 x, double most, mn_mesh_point *nearest);

/// How often the mesh winds around x: 1 inside and 0 outside of a closed mesh with normals outward, fractions
/// for open ones [jacobson2013]; far parts by their dipoles [barill2018], within 0.02.
double mn_triangles_winding(const mn_triangles *triangles, mn_vec3 x);

/// Distance to a closed mesh, negative inside, the sign by angle-weighted normals [baerentzen2005]; at most
/// +-most (INFINITY: exact everywhere). A mesh that is not closed is refused with
/// mn_triangles_require_closed's sentence. Normals that point inward make the outside negative: check
/// mn_triangles_volume first.
mn_status mn_triangles_signed_distance(mn_context *ctx, const mn_triangles *triangles, mn_points positions,
                                       double most, double *distances);

/// The same for one position, safe inside a parallel loop. The mesh must be closed: nothing is checked.
double mn_triangles_signed_distance_at(const mn_triangles *triangles, mn_vec3 x);

/// Numbers the parts that are connected by their vertices, in the order of their first vertices: parts[i] is
/// that of vertex i (of creation) or point i (of a geo), -1 for one of no triangle.
mn_status mn_triangles_parts(mn_context *ctx, const mn_triangles *triangles, int64_t vertex_count,
                             int32_t *parts, int32_t *part_count);

/// Enclosed volume, m^3: negative when the normals point inward. Means nothing when the mesh is open.
double mn_triangles_volume(const mn_triangles *triangles);
double mn_triangles_area(const mn_triangles *triangles);

#ifdef __cplusplus
}
#endif
#endif
