// SPDX-License-Identifier: Apache-2.0
//
// Boolean operations on level sets, voxel by voxel:
//
//   union a, b = min(a, b)    intersection = max(a, b)    difference = max(a, -b)
#include "plugin/vdb/grid.hpp"

#include <cmath>

#include <openvdb/tools/Composite.h>

namespace mn_vdb
{

using openvdb::FloatGrid;

/// Throws unless the voxels of both lie on each other.
static void check_same_voxels(const handle &a, const handle &b)
{
    const double tolerance = 1e-6 * a.info.voxel_size;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            if (!(std::fabs(a.info.index_to_world.m[i][j] - b.info.index_to_world.m[i][j]) <= tolerance))
                refuse(MN_ERROR_INPUT,
                       "the voxels of '%.60s' (size %g) and '%.60s' (size %g) do not lie on each other; make "
                       "both with "
                       "the same voxel size and transform.",
                       a.name.c_str(), a.info.voxel_size, b.name.c_str(), b.info.voxel_size);
    if (!(std::fabs(a.info.background - b.info.background) <= 1e-5 * a.info.background))
        refuse(MN_ERROR_INPUT,
               "the bands of '%.60s' (%g m) and '%.60s' (%g m) differ; make both with the same band.",
               a.name.c_str(), a.info.background, b.name.c_str(), b.info.background);
}

static mn_volume combine(mn_csg operation, mn_volume a, mn_volume b, const char *name)
{
    const FloatGrid &first = unwrap_level_set(a, "the first input"),
                    &second = unwrap_level_set(b, "the second input");
    check_same_voxels(unwrap(a), unwrap(b));
    FloatGrid::Ptr grid;
    switch (operation) {
    case MN_CSG_UNION:
        grid = openvdb::tools::csgUnionCopy(first, second);
        break;
    case MN_CSG_INTERSECTION:
        grid = openvdb::tools::csgIntersectionCopy(first, second);
        break;
    case MN_CSG_DIFFERENCE:
        grid = openvdb::tools::csgDifferenceCopy(first, second);
        break;
    default:
        refuse(MN_ERROR_ARGUMENT, "there is no boolean operation %d.", static_cast<int>(operation));
    }
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    return wrap(FloatGrid::ConstPtr(grid), name, unwrap(a).info.index_to_world);
}

} // namespace mn_vdb

using namespace mn_vdb;

extern "C" mn_status mn_vdb_csg(mn_context *ctx, mn_csg operation, mn_volume a, mn_volume b, const char *name,
                                mn_volume *volume)
{
    *volume = mn_volume{};
    return guarded(ctx, name, MN_ERROR_INPUT, [&] { *volume = combine(operation, a, b, name); });
}
