// SPDX-License-Identifier: Apache-2.0
//
// OpenVDB behind a C header. Makes, samples, reads and writes grids as mn_volume handles; no C++ exception
// crosses it and no OpenVDB type shows. Float and vec3 grids (double ones are converted on reading); others
// are refused by name.
//
// Conventions, of all functions here:
//   voxels     A value stands at the centre of its voxel. Voxel (i, j, k) is centred at index_to_world (i, j,
//   k);
//              where a function takes a voxel size, that is ((i, j, k) + 0.5) * voxel_size, so that voxels
//              fill the boxes between multiples of the voxel size. Files made elsewhere may have any affine
//              transform.
//   active     Level sets: the narrow band, where |value| < background; beyond it the value is -background
//              inside and +background outside, and inactive. Fogs and vectors: what differs from the
//              background; voxels given one by one are active whatever their value. Bounds, counts and
//              mn_vdb_voxels() see active voxels only, sampling sees all.
//   sign       Level sets are negative inside, in metres.
//   polygons   Counter-clockwise seen from outside: normals by the right hand point out. Closed polygons that
//              are all turned the other way are taken for the same solid. Houdini's files turn them the other
//              way round; plugin/io does that at its border, not here.
//   vectors    Turn with transforms unless the file says that they are invariant. Components of staggered
//   grids
//              stand on the faces of their voxel, half a voxel below its centre.
#ifndef MENISCUS_PLUGIN_VDB_VDB_H
#define MENISCUS_PLUGIN_VDB_VDB_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Every grid of the file as a volume primitive.
MN_API mn_status mn_vdb_read(mn_context *ctx, const char *path, mn_geo **geo);
MN_API mn_status mn_vdb_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,
                                    mn_geo **geo);
/// Takes bytes as the file grows; fails with a sentence in ctx.
typedef mn_status mn_vdb_sink(void *user, const void *bytes, size_t size);
/// All volume primitives as one .vdb stream; other primitives and free points are the caller's to refuse.
/// `ctx` may differ from the geo's.
MN_API mn_status mn_vdb_write(mn_context *ctx, const mn_geo *geo, mn_vdb_sink *sink, void *user);
/// One volume as a .vdb stream.
MN_API mn_status mn_vdb_write_volume(mn_context *ctx, mn_volume volume, mn_vdb_sink *sink, void *user);
/// True when the handle is one of ours.
MN_API bool mn_vdb_is(mn_volume volume);

/// A grid filled with `value`s at `count` voxels (i, j, k); components 1 or 3.
MN_API mn_status mn_vdb_from_voxels(mn_context *ctx, const char *name, mn_volume_kind kind, double voxel_size,
                                    double background, int32_t components, int64_t count,
                                    const int32_t (*voxels)[3], const double *values, mn_volume *volume);
/// See mn_services.volume_from_blocks.
MN_API mn_status mn_vdb_from_blocks(mn_context *ctx, const char *name, mn_volume_kind kind, double voxel_size,
                                    double background, int32_t components, int32_t block_size,
                                    int64_t block_count, const int32_t (*origins)[3], const double *values,
                                    mn_volume *volume);
/// A dense box of nx * ny * nz voxels, x fastest, whose voxel (0,0,0) is centred at index_to_world * 0.
MN_API mn_status mn_vdb_from_dense(mn_context *ctx, const char *name, mn_volume_kind kind,
                                   mn_mat4 index_to_world, double background, int32_t components,
                                   const int32_t size[3], const float *values, mn_volume *volume);
/// Active voxels in order: gives up to `capacity` of them after skipping `skip`; *count is how many were
/// given.
MN_API mn_status mn_vdb_voxels(mn_context *ctx, mn_volume volume, int64_t skip, int64_t capacity,
                               int32_t (*voxels)[3], double *values, int64_t *count);

/// Level set of closed polygons, `band` voxels each side.
MN_API mn_status mn_vdb_from_mesh(mn_context *ctx, const mn_geo *mesh, double voxel_size, double band,
                                  const char *name, mn_volume *volume);
MN_API mn_status mn_vdb_to_mesh(mn_context *ctx, mn_volume volume, double isovalue, double adaptivity,
                                mn_geo **mesh);

#ifdef __cplusplus
}
#endif
#endif
