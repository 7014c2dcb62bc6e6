// SPDX-License-Identifier: Apache-2.0
//
// Particles to a level set: the core's union of spheres, made a distance again, block by block into a grid.
// The core numbers a block's nodes z fastest, grids take them x fastest.
#include "plugin/vdb/vdb.h"

#include <cmath>

#include "levelset/level_set.h"
#include "meniscus/array.h"

namespace
{

/// Freed together, whatever happened.
struct scratch {
    mn_context *ctx;
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(double) radii;
    MN_ARRAY(double) values;
    MN_ARRAY(mn_ivec3) origins;
    mn_level_set *set;

    explicit scratch(mn_context *context)
        : ctx(context), positions(), radii(), values(), origins(), set(nullptr)
    {
    }
    ~scratch()
    {
        mn_array_free(ctx, &positions);
        mn_array_free(ctx, &radii);
        mn_array_free(ctx, &values);
        mn_array_free(ctx, &origins);
        mn_level_set_free(set);
    }
};

mn_status collect(scratch &s, const mn_geo *points, double radius_scale)
{
    const int64_t count = mn_geo_point_count(points);
    MN_TRY(mn_array_resize(s.ctx, &s.positions, count));
    for (int64_t i = 0; i < count; i++) s.positions.data[i] = mn_geo_position(points, i);
    const mn_attribute *pscale = mn_geo_find_numeric(points, MN_POINT, "pscale", 1);
    if (!pscale) return MN_OK;
    MN_TRY(mn_array_resize(s.ctx, &s.radii, count));
    mn_attribute_get(pscale, 0, count, s.radii.data);
    for (int64_t i = 0; i < count; i++) s.radii.data[i] *= radius_scale;
    return MN_OK;
}

mn_status reorder(scratch &s, const mn_level_set_view &view)
{
    const mn_block_table &blocks = view.blocks;
    MN_TRY(mn_array_resize(s.ctx, &s.values, int64_t{blocks.count} * MN_BLOCK_CELLS));
    MN_TRY(mn_array_resize(s.ctx, &s.origins, int64_t{blocks.count}));
    for (int32_t b = 0; b < blocks.count; b++) {
        const double *from = view.phi + int64_t{b} * MN_BLOCK_CELLS;
        double *to = s.values.data + int64_t{b} * MN_BLOCK_CELLS;
        for (int c = 0; c < MN_BLOCK_CELLS; c++) to[(c >> 4) | (c & 12) | (c & 3) << 4] = from[c];
        const mn_ivec3 at = blocks.coords[b];
        s.origins.data[b] = mn_iv3(MN_BLOCK_SIDE * at.x, MN_BLOCK_SIDE * at.y, MN_BLOCK_SIDE * at.z);
    }
    return MN_OK;
}

} // namespace

extern "C" mn_status mn_vdb_from_particles(mn_context *ctx, const mn_geo *points, double voxel_size,
                                           double radius, double radius_scale, const char *name,
                                           mn_volume *volume)
{
    *volume = mn_volume{};
    if (!(voxel_size > 0) || !std::isfinite(voxel_size))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s: the voxel size is %g; it must be greater than zero.",
                       name, voxel_size);
    scratch s(ctx);
    MN_TRY(collect(s, points, radius_scale));
    mn_union_def def = mn_union_default_def();
    def.dx = voxel_size;
    def.origin = mn_v3(0.5 * voxel_size, 0.5 * voxel_size, 0.5 * voxel_size); // voxels are centred
    def.radius = radius;
    def.radii = s.radii.data;
    mn_level_set_view view = {};
    if (s.positions.count > 0) {
        MN_TRY(mn_level_set_create(ctx, &s.set));
        MN_TRY(mn_level_set_union(s.set, &def, mn_points_of(s.positions.data, s.positions.count)));
        MN_TRY(mn_level_set_redistance(s.set));
        view = mn_level_set_get(s.set);
        MN_TRY(reorder(s, view));
    }
    static_assert(sizeof(mn_ivec3) == 3 * sizeof(int32_t), "an origin is three numbers");
    return mn_vdb_from_blocks(ctx, name, MN_VOLUME_LEVEL_SET, voxel_size, def.band * voxel_size, 1,
                              MN_BLOCK_SIDE, view.blocks.count,
                              reinterpret_cast<const int32_t(*)[3]>(s.origins.data), s.values.data, volume);
}
