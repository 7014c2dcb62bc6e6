// SPDX-License-Identifier: Apache-2.0
//
// Grids in and out of handles, as they are.
#include "plugin/vdb/exchange.hpp"
#include "plugin/vdb/grid.hpp"

namespace mn_vdb
{

static mn_mat4 matrix_of(const openvdb::GridBase &grid)
{
    if (!grid.transform().isLinear())
        refuse(MN_ERROR_UNSUPPORTED, "it has a frustum transform; resample it to a linear one first.");
    const openvdb::Mat4R rows = grid.transform().baseMap()->getAffineMap()->getMat4();
    mn_mat4 m;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) m.m[j][i] = rows(i, j);
    return m;
}

/// A copy in single precision.
template <typename Single, typename Double> static typename Single::ConstPtr narrowed(const Double &grid)
{
    typename Single::Ptr made(new Single(grid));
    return made;
}

static mn_volume wrap_any(const openvdb::GridBase::ConstPtr &grid, const char *name)
{
    using namespace openvdb;
    const mn_mat4 to_world = matrix_of(*grid);
    if (grid->isType<FloatGrid>()) return wrap(gridConstPtrCast<FloatGrid>(grid), name, to_world);
    if (grid->isType<Vec3SGrid>()) return wrap(gridConstPtrCast<Vec3SGrid>(grid), name, to_world);
    if (grid->isType<DoubleGrid>())
        return wrap(narrowed<FloatGrid>(*gridConstPtrCast<DoubleGrid>(grid)), name, to_world);
    if (grid->isType<Vec3DGrid>())
        return wrap(narrowed<Vec3SGrid>(*gridConstPtrCast<Vec3DGrid>(grid)), name, to_world);
    refuse(MN_ERROR_UNSUPPORTED, "it is a grid of type '%.60s'; only float, double and vec3 grids are known.",
           grid->type().c_str());
}

bool is_known_grid(const openvdb::GridBase &grid)
{
    using namespace openvdb;
    return grid.isType<FloatGrid>() || grid.isType<Vec3SGrid>() || grid.isType<DoubleGrid>() ||
           grid.isType<Vec3DGrid>();
}

mn_status volume_from_grid(mn_context *ctx, const openvdb::GridBase::ConstPtr &grid, const char *name,
                           mn_volume *volume) noexcept
{
    return guarded(ctx, name, MN_ERROR_UNSUPPORTED, [&] { *volume = wrap_any(grid->copyGrid(), name); });
}

mn_status grid_from_volume(mn_context *ctx, mn_volume volume, openvdb::GridBase::Ptr *grid) noexcept
{
    return guarded(ctx, "a volume", MN_ERROR_UNSUPPORTED,
                   [&] { *grid = std::const_pointer_cast<openvdb::GridBase>(grid_of(volume)); });
}

} // namespace mn_vdb
