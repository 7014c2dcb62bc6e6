// SPDX-License-Identifier: Apache-2.0
//
// A shaded picture of geometry without any host. Polygons, the skin of tetrahedra, level sets, points as
// spheres and polylines as tubes stand on a soft ground under a key light and a sky.
//
//   survey   what the camera must see, gathered over one frame or over all frames of a sequence
//   view     the camera, the ground and the colour ramp that follow from it
//   render   a picture of some geometry through that view
//
// The picture is the same, bit for bit, for any number of threads.
#ifndef MENISCUS_PLUGIN_PREVIEW_PREVIEW_H
#define MENISCUS_PLUGIN_PREVIEW_PREVIEW_H

#include "nodes/node.h"
#include "plugin/preview/picture.h"

typedef struct mn_preview_def {
    int32_t width, height; ///< pixels, 16 to 8192
    int32_t samples;       ///< samples per pixel along each axis, 1 to 8
    double azimuth;        ///< degrees that the camera stands to the right of +z
    double elevation;      ///< degrees that it stands above the scene, -89 to 89
    double field_of_view;  ///< degrees across the picture's height, 1 to 120
    double zoom;           ///< 1 fits the scene, 2 is twice as close, 0.01 to 100
    bool ground;           ///< a soft ground under the scene, seen from above it only
    bool transparent;      ///< no background: coverage and shadows in the alpha channel
    const char *color;     ///< NULL: Cd, else the speed, else plain; "": plain; otherwise an attribute's name
} mn_preview_def;

mn_preview_def mn_preview_default_def(void);

typedef struct mn_preview_survey mn_preview_survey;
mn_status mn_preview_survey_create(mn_context *ctx, const char *color, mn_preview_survey **survey);
/// Remembers what matters of `geo`, a few thousand numbers at most.
mn_status mn_preview_survey_add(mn_preview_survey *survey, const mn_geo *geo);
void mn_preview_survey_free(mn_preview_survey *survey);

/// How the scene is seen. Camera space is x right, y up, z forward, scaled so that the framed scene has
/// radius 1.
typedef struct mn_preview_view {
    mn_mat4 to_camera;
    double scale;        ///< camera-space units per metre
    double focal;        ///< pixels per unit of x / z
    mn_vec3 center;      ///< of the framed scene, camera space
    mn_vec3 up;          ///< the world's y, camera space
    double ground;       ///< the ground is where dot(up, p) is this
    bool has_ground;     ///< false also when the camera is below it
    double point_radius; ///< for points without pscale, m
    double ramp_low;     ///< the attribute's values at both ends of the colour ramp
    double ramp_high;
    const mn_box
        *still; ///< what stands still while other things move, as the survey has seen it and keeps it
    int32_t still_count;
    int64_t surveyed; ///< how many geometries the survey has seen
} mn_preview_view;
enum { MN_PREVIEW_STILL_MAX = 64 };

/// Fails with a sentence when there is nothing to see. A few points far from all others do not shrink the
/// rest to a dot: they may fall outside the picture.
mn_status mn_preview_survey_view(const mn_preview_survey *survey, const mn_preview_def *def,
                                 mn_preview_view *view);

/// Points without a primitive are drawn as spheres; but a few of them without pscale beside a surface are
/// what modelling left behind.
bool mn_preview_draws_free_points(const mn_geo *geo, int64_t free_points);

/// What could not be drawn.
typedef struct mn_preview_notes {
    int64_t bad_points;     ///< NaN or infinite positions
    int64_t hidden_volumes; ///< volumes without a surface to show (velocities)
} mn_preview_notes;

/// Draws all of `geos` into a new picture. `notes` may be NULL.
mn_status mn_preview_render(mn_context *ctx, const mn_services *services, const mn_geo *const *geos,
                            int32_t count, const mn_preview_def *def, const mn_preview_view *view,
                            mn_preview_notes *notes, mn_picture *picture);

#endif
