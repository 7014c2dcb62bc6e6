// SPDX-License-Identifier: Apache-2.0
//
// GU_Detail <-> mn_geo. Points, vertices, primitives, attributes of every type, groups. Polygons turn the
// other way in Houdini; they are turned round at this border and nowhere else.
#ifndef MENISCUS_PLUGIN_HOUDINI_GEOMETRY_HPP
#define MENISCUS_PLUGIN_HOUDINI_GEOMETRY_HPP

#include <functional>
#include <string>
#include <vector>

#include "meniscus/geo.h"

class GU_Detail;

namespace mn_houdini
{

/// Says what could not be taken along.
using warning = std::function<void(const std::string &)>;

/// Polygons, open polygons (polylines), polygon soups, tetrahedra and VDBs. Packed primitives are unpacked,
/// dense volumes become VDBs, spheres and other surfaces polygons, behind the rest; what Houdini cannot
/// convert is left out with a warning that names it.
mn_status read_detail(mn_context *ctx, const GU_Detail &detail, const warning &warn, mn_geo **geo);
/// Replaces what is in the detail.
mn_status write_detail(mn_context *ctx, const mn_geo *geo, GU_Detail &detail);

/// The same, into a detail that holds `last` (NULL: anything): what is the same stays as it is.
mn_status update_detail(mn_context *ctx, const mn_geo *geo, const mn_geo *last, GU_Detail &detail);

/// Calls `block(index of the first, first offset, one past the last)` for every stretch of offsets that
/// follow each other.
template <typename Offset, typename Block>
void for_blocks(const std::vector<Offset> &offsets, const Block &block)
{
    for (size_t first = 0, end; first < offsets.size(); first = end) {
        for (end = first + 1; end < offsets.size() && offsets[end] == offsets[end - 1] + 1;) end++;
        block(first, offsets[first], offsets[end - 1] + 1);
    }
}

} // namespace mn_houdini

#endif
