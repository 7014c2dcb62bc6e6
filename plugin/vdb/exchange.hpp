// SPDX-License-Identifier: Apache-2.0
//
// Volumes for hosts that hold OpenVDB grids themselves (Houdini). A volume has a grid of its own over the
// same tree: the host sees that the tree has another owner and copies it before it writes. No exception comes
// out.
#ifndef MENISCUS_PLUGIN_VDB_EXCHANGE_HPP
#define MENISCUS_PLUGIN_VDB_EXCHANGE_HPP

#include "plugin/vdb/vdb.h"

#include <openvdb/openvdb.h>

namespace mn_vdb
{

/// Whether volume_from_grid() takes it.
bool is_known_grid(const openvdb::GridBase &grid);
/// The grid's own name and transform count. Grids of other types than float, double and vec3 are
/// MN_ERROR_UNSUPPORTED.
mn_status volume_from_grid(mn_context *ctx, const openvdb::GridBase::ConstPtr &grid, const char *name,
                           mn_volume *volume) noexcept;
/// With the volume's name and transform.
mn_status grid_from_volume(mn_context *ctx, mn_volume volume, openvdb::GridBase::Ptr *grid) noexcept;

} // namespace mn_vdb

#endif
