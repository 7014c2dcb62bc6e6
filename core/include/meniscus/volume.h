// SPDX-License-Identifier: Apache-2.0
//
// A volume is an opaque handle with a small table of operations; plugin/vdb implements it on OpenVDB. Core
// and nodes see level sets and velocity fields through this table only. Handles are immutable and counted: a
// change makes a new one, so copies of geometry can share them.
#ifndef MENISCUS_VOLUME_H
#define MENISCUS_VOLUME_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_volume_kind {
    MN_VOLUME_FOG,       ///< zero outside
    MN_VOLUME_LEVEL_SET, ///< signed distance, negative inside, metres, clamped to +-background outside its
                         ///< band
} mn_volume_kind;

typedef struct mn_volume_info {
    const char *name; ///< "surface", "vel", "density"; lives as long as the handle
    mn_volume_kind kind;
    int32_t components; ///< 1 or 3
    mn_mat4 index_to_world;
    double voxel_size; ///< m, the mean edge length of a voxel
    double background; ///< value outside the active voxels (first component)
    int64_t active_voxels;
    mn_box bounds; ///< world box of the active voxels, empty when there are none
    size_t bytes;
} mn_volume_info;

typedef struct mn_volume_ops {
    void (*retain)(void *handle);
    void (*release)(void *handle);
    void (*info)(const void *handle, mn_volume_info *info);
    /// Trilinear values at world positions: `components` doubles each. Safe to call from many threads at
    /// once.
    void (*sample)(const void *handle, int64_t count, const mn_vec3 *positions, double *values);
    /// A new handle: the same voxels seen through world -> transform world. A level set keeps its distances,
    /// so only rigid motions and uniform scales (which scale the distances) are allowed for it.
    mn_status (*transform)(mn_context *ctx, const void *handle, mn_mat4 transform, void **result);
    /// A new handle under another name.
    mn_status (*rename)(mn_context *ctx, const void *handle, const char *name, void **result);
    /// Optional: a hash of every voxel's value and whether it is active, chained like mn_hash_bytes().
    /// Without it a change of values alone goes unnoticed by mn_geo_hash().
    uint64_t (*hash)(const void *handle, uint64_t seed);
} mn_volume_ops;

/// Held by value; who holds one owns a reference. {0} is no volume.
typedef struct mn_volume {
    const mn_volume_ops *ops;
    void *handle;
} mn_volume;

MN_API mn_volume mn_volume_retain(mn_volume volume);
/// Gives the reference back and zeroes *volume. NULL and {0} are fine.
MN_API void mn_volume_release(mn_volume *volume);
MN_API mn_volume_info mn_volume_get_info(mn_volume volume);
MN_API double mn_volume_sample(mn_volume volume, mn_vec3 position);
MN_API mn_vec3 mn_volume_sample_vec3(mn_volume volume, mn_vec3 position);
/// Central differences over one voxel.
MN_API mn_vec3 mn_volume_gradient(mn_volume volume, mn_vec3 position);

#ifdef __cplusplus
}
#endif
#endif
