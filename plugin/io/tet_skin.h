// SPDX-License-Identifier: Apache-2.0
//
// The skin of the tetrahedra of a geometry, for what shows or writes surfaces.
#ifndef MENISCUS_PLUGIN_IO_TET_SKIN_H
#define MENISCUS_PLUGIN_IO_TET_SKIN_H

#include "meniscus/geo.h"

typedef struct mn_tet_skin {
    int64_t (*faces)[3]; ///< vertices of the geometry; counter-clockwise from outside for positive tetrahedra
    int64_t count;
    size_t size; ///< bytes allocated
} mn_tet_skin;

mn_status mn_tet_skin_make(mn_context *ctx, const mn_geo *geo, mn_tet_skin *skin);
void mn_tet_skin_free(mn_context *ctx, mn_tet_skin *skin);

#endif
