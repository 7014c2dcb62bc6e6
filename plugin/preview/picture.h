// SPDX-License-Identifier: Apache-2.0
//
// A picture in memory: 8-bit sRGB with coverage, rows from the top.
#ifndef MENISCUS_PLUGIN_PREVIEW_PICTURE_H
#define MENISCUS_PLUGIN_PREVIEW_PICTURE_H

#include "meniscus/context.h"

/// Zero-initialised is no picture. `rgba` holds 4 bytes per pixel, colour not multiplied by alpha.
typedef struct mn_picture {
    mn_context *ctx;
    int32_t width, height;
    uint8_t *rgba;
} mn_picture;

/// All zero. Sides from 1 to 32768.
mn_status mn_picture_create(mn_context *ctx, int32_t width, int32_t height, mn_picture *picture);
void mn_picture_free(mn_picture *picture);

/// Copies `tile` to (x, y) of `sheet`; what lies outside is left out.
void mn_picture_paste(mn_picture *sheet, const mn_picture *tile, int32_t x, int32_t y);
/// Writes a whole number in small digits with their top left at (x, y), `scale` pixels per dot.
void mn_picture_draw_number(mn_picture *picture, int64_t number, int32_t x, int32_t y, int32_t scale);

/// A PNG, whole or not at all; `with_alpha` keeps the coverage.
mn_status mn_picture_write_png(const mn_picture *picture, const char *path, bool with_alpha);

#endif
