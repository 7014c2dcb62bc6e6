// SPDX-License-Identifier: Apache-2.0
//
// Colours of points, corners and primitives: Cd as it is (Houdini's is linear light), otherwise a ramp from
// deep blue at rest over cyan to near white at the largest values, otherwise clay.
#include "plugin/preview/color.h"
#include "base/parallel.h"
#include "plugin/preview/arena.h"

#include <string.h>

const f3 mn_preview_liquid = {0.035f, 0.200f, 0.480f};
const f3 mn_preview_clay = {0.430f, 0.415f, 0.395f};

/// Evenly spaced stops of the ramp, linear light.
static const f3 ramp_stops[] = {
    {0.018f, 0.085f, 0.330f}, {0.018f, 0.170f, 0.520f}, {0.024f, 0.320f, 0.660f},
    {0.060f, 0.520f, 0.700f}, {0.280f, 0.720f, 0.740f},
};

static f3 ramp(double t)
{
    const int last = (int)(sizeof ramp_stops / sizeof *ramp_stops) - 1;
    if (!(t > 0)) t = 0;
    if (t > 1) t = 1;
    const double place = t * last;
    const int stop = place >= last ? last - 1 : (int)place;
    return f3_lerp(ramp_stops[stop], ramp_stops[stop + 1], (float)(place - stop));
}

static const mn_attribute *find_anywhere(const mn_geo *geo, const char *name)
{
    static const mn_owner owners[] = {MN_POINT, MN_VERTEX, MN_PRIMITIVE, MN_DETAIL};
    for (int i = 0; i < 4; i++) {
        const mn_attribute *attribute = mn_geo_find(geo, owners[i], name);
        if (attribute && mn_attribute_type(attribute) != MN_STRING) return attribute;
    }
    return NULL;
}

static const mn_attribute *find_cd(const mn_geo *geo)
{
    const mn_attribute *cd = find_anywhere(geo, "Cd");
    return cd && mn_attribute_size(cd) >= 3 && mn_attribute_size(cd) <= 4 ? cd : NULL;
}

const mn_attribute *mn_preview_ramp_attribute(const mn_geo *geo, const char *color)
{
    if (!color) return find_cd(geo) ? NULL : mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    return *color ? find_anywhere(geo, color) : NULL;
}

double mn_preview_ramp_value(const mn_attribute *attribute, int64_t element)
{
    const int32_t size = mn_attribute_size(attribute);
    double value[64] = {0}, square = 0;
    mn_attribute_get(attribute, element, 1, value);
    if (size == 1) return value[0];
    for (int32_t k = 0; k < size; k++) square += value[k] * value[k];
    return sqrt(square);
}

typedef struct coloring {
    const mn_attribute *attribute;
    bool direct;          ///< Cd, not a ramp
    const uint8_t *still; ///< by point: what stands for good is no liquid; or NULL
    double low, high;
    uint32_t *packed;
} coloring;

static mn_status color_range(void *user, mn_range range)
{
    const coloring *c = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        f3 rgb;
        if (c->direct) {
            double cd[4];
            mn_attribute_get(c->attribute, i, 1, cd);
            for (int k = 0; k < 3; k++)
                if (!isfinite(cd[k])) cd[k] = 0;
            rgb = (f3){(float)cd[0], (float)cd[1], (float)cd[2]};
        } else {
            const double value = mn_preview_ramp_value(c->attribute, i);
            if (c->still && c->still[i]) {
                c->packed[i] = f3_pack_color(mn_preview_clay);
                continue;
            }
            // Nothing that differs: everything is at rest.
            rgb = c->high > c->low ? ramp((value - c->low) / (c->high - c->low)) : mn_preview_liquid;
        }
        c->packed[i] = f3_pack_color(rgb);
    }
    return MN_OK;
}

mn_status mn_preview_colors_make(mn_arena *arena, const mn_geo *geo, const char *color,
                                 const mn_preview_view *view, mn_preview_colors *colors)
{
    *colors = (mn_preview_colors){.everything = f3_pack_color(mn_preview_clay)};
    coloring c = {.low = view->ramp_low, .high = view->ramp_high};
    c.attribute = color ? NULL : find_cd(geo);
    c.direct = c.attribute != NULL;
    if (!c.attribute) c.attribute = mn_preview_ramp_attribute(geo, color);
    if (!c.attribute) return MN_OK;
    if (!color && !c.direct) MN_TRY(mn_preview_mark_still(arena, geo, c.attribute, view, &c.still));
    const int64_t count = mn_attribute_count(c.attribute);
    c.packed = mn_arena_array(arena, uint32_t, count > 0 ? count : 1);
    if (!c.packed) return MN_ERROR_MEMORY;
    colors->packed = c.packed;
    colors->owner = mn_attribute_owner(c.attribute);
    return mn_parallel_for(mn_geo_context(geo), count, 4096, color_range, &c);
}
