// SPDX-License-Identifier: Apache-2.0
//
// Blocks near a surface: cubes of blocks are halved until the distance at their centre says that the surface,
// with its band, stays away from them,
//
//   |phi(center)| > half diagonal + width.
//
// A distance that is clamped to the band cannot say so for large cubes; those are halved on.
#include "levelset/band.h"

typedef struct search {
    mn_context *ctx;
    const mn_region *region;
    double dx, width;
    int64_t limit;
    mn_origin_array *origins;
    int32_t low[3], high[3];
} search;

static mn_status visit(search *s, const int32_t origin[3], int32_t size)
{
    for (int k = 0; k < 3; k++)
        if (origin[k] > s->high[k] || origin[k] + size <= s->low[k]) return MN_OK;
    const double half = 0.5 * size;
    const mn_vec3 center = mn_scale(s->dx, mn_v3(origin[0] + half, origin[1] + half, origin[2] + half));
    double distance;
    s->region->distance(s->region->user, 1, &center, &distance);
    if (fabs(distance) > sqrt(3) * half * s->dx + s->width) return MN_OK;
    if (size == MN_BAND_BLOCK) {
        const mn_ivec3 block = mn_iv3(origin[0], origin[1], origin[2]);
        if (s->origins->count >= s->limit)
            return mn_fail(
                s->ctx, MN_ERROR_ARGUMENT,
                "A voxel size of %g m needs more than %.3g voxels around the surface; make it larger.", s->dx,
                (double)s->limit * MN_BAND_BLOCK * MN_BAND_BLOCK * MN_BAND_BLOCK);
        return mn_array_push(s->ctx, s->origins, &block);
    }
    for (int child = 0; child < 8; child++) {
        const int32_t step = size / 2;
        const int32_t corner[3] = {origin[0] + (child & 1 ? step : 0), origin[1] + (child & 2 ? step : 0),
                                   origin[2] + (child & 4 ? step : 0)};
        MN_TRY(visit(s, corner, step));
    }
    return MN_OK;
}

mn_status mn_band_blocks(mn_context *ctx, const mn_region *region, double dx, double width, int64_t limit,
                         mn_origin_array *origins)
{
    search s = {.ctx = ctx, .region = region, .dx = dx, .width = width, .limit = limit, .origins = origins};
    if (mn_box_is_empty(region->bounds)) return MN_OK;
    const mn_box box = mn_box_grow(region->bounds, width);
    const double lows[3] = {box.min.x, box.min.y, box.min.z}, highs[3] = {box.max.x, box.max.y, box.max.z};
    int32_t origin[3], size = MN_BAND_BLOCK;
    for (int k = 0; k < 3; k++) {
        const double a = floor(lows[k] / dx), b = floor(highs[k] / dx);
        if (!(a > -5e8 && b < 5e8))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "A voxel size of %g m is too small for a surface %g m from the origin.", dx,
                           fmax(fabs(lows[k]), fabs(highs[k])));
        s.low[k] = (int32_t)a, s.high[k] = (int32_t)b;
        origin[k] = (int32_t)floor(a / MN_BAND_BLOCK) * MN_BAND_BLOCK;
    }
    for (int k = 0; k < 3; k++)
        while (origin[k] + size <= s.high[k]) size *= 2;
    return visit(&s, origin, size);
}
