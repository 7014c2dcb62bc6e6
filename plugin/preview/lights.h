// SPDX-License-Identifier: Apache-2.0
//
// The lights of the preview and what stands in their way. All lie infinitely far away, so each sees the scene
// through a square depth map: one large map for the key light, and a few dozen small ones for the sky. The
// rig turns with the camera around the scene.
#ifndef MENISCUS_PLUGIN_PREVIEW_LIGHTS_H
#define MENISCUS_PLUGIN_PREVIEW_LIGHTS_H

#include "plugin/preview/scene.h"

enum {
    MN_PREVIEW_SKY_COUNT = 40,
    MN_PREVIEW_SEARCH_TAPS = 24,
    MN_PREVIEW_PENUMBRA_TAPS = 64,
    MN_PREVIEW_GROUND_SIDE = 320, ///< nodes of the ground's own map of the sky
};

/// A square depth map. Its outermost texels stay empty, so that what lies outside finds nothing in its way.
typedef struct mn_preview_map {
    f3 direction; ///< from the scene to the light
    f3 u, v;      ///< complete it to an orthonormal frame
    float offset_u, offset_v;
    float scale;  ///< texels per scene unit: p is at texel (scale u.p + offset_u, scale v.p + offset_v)
    int32_t side; ///< texels
    float *depth; ///< the largest direction.p of what covers a texel; very negative when nothing does
} mn_preview_map;

/// The sky's maps once more, component by component, for loops over all of them.
typedef struct mn_preview_sky_axes {
    float x[MN_PREVIEW_SKY_COUNT], y[MN_PREVIEW_SKY_COUNT], z[MN_PREVIEW_SKY_COUNT];
} mn_preview_sky_axes;

typedef struct mn_preview_lights {
    mn_preview_map key;
    mn_preview_map sky[MN_PREVIEW_SKY_COUNT];
    mn_preview_sky_axes direction, u, v;
    float offset_u[MN_PREVIEW_SKY_COUNT], offset_v[MN_PREVIEW_SKY_COUNT];
    f3 key_radiance; ///< what a surface receives that faces the light, for the key and the whole sky
    f3 sky_radiance;
    float sky_weight[MN_PREVIEW_SKY_COUNT]; ///< of each part of the sky
    f3 up, right, front;
    f3 rim;  ///< direction of a strip light that shows in reflections only
    f3 open; ///< what arrives at the ground where nothing stands: the measure of its shadows
    float ground;
    bool has_ground;
    f3 ground_center;                        ///< below the middle of the scene
    float *ground_sky;                       ///< what the sky sends to the ground, in units of sky_radiance
    float search[MN_PREVIEW_SEARCH_TAPS][2]; ///< points of a unit disc
    float penumbra[MN_PREVIEW_PENUMBRA_TAPS][2];
} mn_preview_lights;

/// Sets the lights up and draws their maps, in memory of the scene's arena.
mn_status mn_preview_lights_make(const mn_preview_scene *scene, const mn_preview_view *view,
                                 mn_preview_lights *lights);
/// The second half of that: what each light sees.
mn_status mn_preview_draw_depth_maps(const mn_preview_scene *scene, mn_preview_lights *lights);

/// What arrives at a point.
typedef struct mn_preview_light_sample {
    f3 irradiance; ///< from the key light, the sky and the ground
    float key;     ///< share of the key light that is visible
    float sky;     ///< share of the sky's light that is visible
} mn_preview_light_sample;

mn_preview_light_sample mn_preview_light_at(const mn_preview_lights *lights, f3 position, f3 normal);
/// What arrives at the ground there.
f3 mn_preview_ground_light(const mn_preview_lights *lights, f3 position);
/// Scene radii from the middle of the ground at which it has faded out.
#define MN_PREVIEW_GROUND_FAR 3.2f
/// What a mirror in the scene would show in this direction.
f3 mn_preview_environment(const mn_preview_lights *lights, f3 direction, float key_visible);

#endif
