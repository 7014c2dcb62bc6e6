// SPDX-License-Identifier: Apache-2.0
//
// Trilinear samples of a grid at world positions.
//
//   v(x) = sum over the corners c of x's voxel cell of w_c(x) v_c,  in double precision
//
// Eight voxels that share a leaf (two in three random positions) are read from it directly; the others one by
// one through the accessor. Both ways see the same eight numbers, so they give the same bits.
#ifndef MENISCUS_PLUGIN_VDB_SAMPLE_HPP
#define MENISCUS_PLUGIN_VDB_SAMPLE_HPP

#include "plugin/vdb/grid.hpp"

namespace mn_vdb
{

/// handle.info.components doubles per position. A position that is not finite, or absurdly far away, sees the
/// background.
void sample(const handle &h, int64_t count, const mn_vec3 *positions, double *values);

} // namespace mn_vdb

#endif
