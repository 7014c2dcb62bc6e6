// SPDX-License-Identifier: Apache-2.0
//
// What one geometry becomes in glTF: triangles, lines and points. A vertex stands for a point, or for a
// corner where values differ from corner to corner.
#ifndef MENISCUS_PLUGIN_IO_GLB_H
#define MENISCUS_PLUGIN_IO_GLB_H

#include "meniscus/array.h"
#include "plugin/io/corner_normals.h"

/// A vertex of the file.
typedef struct mn_glb_vertex {
    int64_t point, corner, primitive; ///< of the geometry; corner and primitive may be -1
} mn_glb_vertex;

typedef struct mn_glb_part {
    int32_t mode;
    bool has_normals;
    MN_ARRAY(mn_glb_vertex) vertices;
    MN_ARRAY(uint32_t) indices;
    mn_box box;
} mn_glb_part;

enum { MN_GLB_SURFACE, MN_GLB_LINES, MN_GLB_POINTS, MN_GLB_PART_COUNT };

typedef struct mn_glb {
    mn_context *ctx;
    const mn_geo *geo;
    const char *name;
    const mn_attribute *normal, *color, *alpha, *texture; ///< NULL: none
    mn_corner_normals computed;                           ///< when there is no `normal`
    bool by_corner;                                       ///< a vertex for each corner of the surface
    int64_t *index;                                       ///< by point, -1 none yet; of a surface by point
    int64_t left_out;                                     ///< primitives and points that are not finite
    mn_glb_part parts[MN_GLB_PART_COUNT];
} mn_glb;

/// The geometry with the skin of its tetrahedra as triangles; the caller's.
mn_status mn_glb_with_skin(mn_context *ctx, const mn_geo *geo, mn_geo **made);
/// Chooses the vertices of glb->geo. Free it in any case.
mn_status mn_glb_make(mn_glb *g);
void mn_glb_free(mn_glb *g);

#endif
