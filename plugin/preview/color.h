// SPDX-License-Identifier: Apache-2.0
//
// What colour things have in a preview: their own Cd, a ramp over a quantity, or a plain one.
#ifndef MENISCUS_PLUGIN_PREVIEW_COLOR_H
#define MENISCUS_PLUGIN_PREVIEW_COLOR_H

#include "plugin/preview/arena.h"
#include "plugin/preview/float3.h"
#include "plugin/preview/preview.h"

/// The attribute that a ramp shows: with `color` NULL the points' v, unless there is Cd; otherwise the
/// numeric attribute of that name, whoever owns it. NULL when there is none.
const mn_attribute *mn_preview_ramp_attribute(const mn_geo *geo, const char *color);
/// The number that a ramp shows: the value, or the length of a vector.
double mn_preview_ramp_value(const mn_attribute *attribute, int64_t element);

/// The colours of one geo: of each element of `owner`, or of everything when `packed` is NULL.
typedef struct mn_preview_colors {
    const uint32_t *packed;
    mn_owner owner;
    uint32_t everything;
} mn_preview_colors;

/// Memory comes from `arena` and lives as long as that.
mn_status mn_preview_colors_make(mn_arena *arena, const mn_geo *geo, const char *color,
                                 const mn_preview_view *view, mn_preview_colors *colors);

static inline uint32_t mn_preview_color_of(const mn_preview_colors *colors, int64_t point, int64_t vertex,
                                           int64_t primitive)
{
    if (!colors->packed) return colors->everything;
    return colors->packed[colors->owner == MN_POINT    ? point
                          : colors->owner == MN_VERTEX ? vertex
                          : colors->owner == MN_DETAIL ? 0
                                                       : primitive];
}

/// A byte per point: it belongs to large polygons that stand for good. NULL when there are none.
mn_status mn_preview_mark_still(mn_arena *arena, const mn_geo *geo, const mn_attribute *velocity,
                                const mn_preview_view *view, const uint8_t **still);
/// Boxes of the largest pieces of polygons that stand still while others move; none when nothing does.
mn_status mn_preview_list_still(mn_context *ctx, const mn_geo *geo, const mn_attribute *velocity,
                                mn_box boxes[MN_PREVIEW_STILL_MAX], int32_t *count);

/// Linear light.
extern const f3 mn_preview_liquid, mn_preview_clay;

#endif
