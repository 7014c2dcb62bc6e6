// SPDX-License-Identifier: Apache-2.0
//
// From what the samples of a tile see to the colours of its pixels.
#ifndef MENISCUS_PLUGIN_PREVIEW_SHADE_H
#define MENISCUS_PLUGIN_PREVIEW_SHADE_H

#include "plugin/preview/lights.h"
#include "plugin/preview/raster.h"

typedef struct mn_preview_shading {
    const mn_preview_raster *raster;
    const mn_preview_lights *lights;
    const mn_preview_view *view;
    bool transparent;
} mn_preview_shading;

/// Colours the pixels that the tile covers.
void mn_preview_shade_tile(const mn_preview_shading *shading, const mn_preview_tile *tile,
                           mn_picture *picture);

#endif
