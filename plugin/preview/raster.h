// SPDX-License-Identifier: Apache-2.0
//
// Which element each sample of the picture sees, and at what depth. The picture is cut into square tiles;
// elements are sorted into the tiles that they may touch, in their own order, and each tile is drawn by one
// thread: the result does not depend on how many there are.
#ifndef MENISCUS_PLUGIN_PREVIEW_RASTER_H
#define MENISCUS_PLUGIN_PREVIEW_RASTER_H

#include "plugin/preview/scene.h"

enum {
    MN_PREVIEW_TILE = 96,       ///< samples along a tile at most
    MN_PREVIEW_SUBSAMPLE = 256, ///< steps per sample of the fixed-point positions
    MN_PREVIEW_CLIPPED_MAX = 8, ///< corners of a triangle after it is cut at five planes
};
#define MN_PREVIEW_NOTHING UINT32_MAX

/// A corner on the screen: x to the right, y down, in 1/256 samples.
typedef struct mn_preview_screen_point {
    int32_t x, y;
    float inverse_z;
} mn_preview_screen_point;

/// Elements are numbered triangles first, then spheres, then tubes.
typedef struct mn_preview_raster {
    const mn_preview_scene *scene;
    int32_t samples;       ///< per pixel and axis
    int32_t width, height; ///< samples
    int32_t tile;          ///< samples per tile and axis, a whole number of pixels
    int32_t tiles_x, tiles_y;
    float focal;              ///< samples per unit of x / z
    float center_x, center_y; ///< samples
    float guard;              ///< samples from the centre: what lies beyond is cut before it is projected
    mn_preview_screen_point *screen; ///< by scene point; x is INT32_MIN when it must be cut first
    int64_t *tile_starts;            ///< tiles + 1 places in `items`
    uint32_t *items;
} mn_preview_raster;

/// Projects the scene and sorts it into tiles, in memory of the scene's arena.
mn_status mn_preview_raster_make(const mn_preview_scene *scene, const mn_preview_def *def,
                                 const mn_preview_view *view, mn_preview_raster *raster);

/// What the samples of one tile see.
typedef struct mn_preview_tile {
    int32_t x, y, width, height;                        ///< in samples of the picture
    float inverse_z[MN_PREVIEW_TILE * MN_PREVIEW_TILE]; ///< 0: nothing
    uint32_t element[MN_PREVIEW_TILE * MN_PREVIEW_TILE];
} mn_preview_tile;

void mn_preview_tile_draw(const mn_preview_raster *raster, int32_t tile_x, int32_t tile_y,
                          mn_preview_tile *tile);

// ---- what drawing and shading agree on ----

/// Corners of a triangle on the screen, three or more when it had to be cut; 0 when nothing is left.
int32_t mn_preview_screen_corners(const mn_preview_raster *raster, int64_t triangle,
                                  mn_preview_screen_point corners[MN_PREVIEW_CLIPPED_MAX]);
/// The radius that is drawn: no less than half a pixel. 0: not at all.
float mn_preview_drawn_radius(const mn_preview_raster *raster, const mn_preview_sphere *sphere);

/// A tube on the screen.
typedef struct mn_preview_screen_tube {
    float x[2], y[2], half_width[2], inverse_z[2]; ///< samples
    float radius;                                  ///< scene units, as drawn
} mn_preview_screen_tube;
/// False when it lies behind the camera.
bool mn_preview_screen_tube_of(const mn_preview_raster *raster, int64_t tube, mn_preview_screen_tube *screen);
/// Where the sample (x, y) lies across the tube: (0, 0) is its axis, 1 its edge. Returns the square of the
/// distance to the axis, and how far along the tube.
float mn_preview_across_tube(const mn_preview_screen_tube *tube, float x, float y, float across[2],
                             float *along);

/// The box of samples that a sphere may cover, cut to the picture; false when it is empty.
bool mn_preview_sphere_box(const mn_preview_raster *raster, const mn_preview_sphere *sphere, float radius,
                           int32_t box[4]);

/// The camera's ray through the middle of a sample, with z = 1.
static inline f3 mn_preview_ray(const mn_preview_raster *raster, int32_t x, int32_t y)
{
    return (f3){((float)x + 0.5f - raster->center_x) / raster->focal,
                (raster->center_y - (float)y - 0.5f) / raster->focal, 1.0f};
}

#endif
