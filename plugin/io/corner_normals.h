// SPDX-License-Identifier: Apache-2.0
//
// Normals of polygons for formats whose readers would shade each face flat without them.
#ifndef MENISCUS_PLUGIN_IO_CORNER_NORMALS_H
#define MENISCUS_PLUGIN_IO_CORNER_NORMALS_H

#include "meniscus/geo.h"

typedef struct mn_corner_normals {
    float (*normal)[3]; ///< by vertex of the geometry; of unit length, or zero where there is no polygon
    size_t size;        ///< bytes allocated
} mn_corner_normals;

/// Smooth everywhere, so that the corners of a point agree, or with creases where faces meet at more than 45
/// degrees.
mn_status mn_corner_normals_make(mn_context *ctx, const mn_geo *geo, bool creases,
                                 mn_corner_normals *normals);
/// What moves is liquid and smooth; what stands still may have edges. The same for all frames of a node.
bool mn_has_creases(const mn_geo *geo);
void mn_corner_normals_free(mn_context *ctx, mn_corner_normals *normals);

#endif
