// SPDX-License-Identifier: Apache-2.0
//
// Volumes from a formula.
#include "nodes/bake.h"

#include "base/parallel.h"

enum { BLOCK_VOXELS = MN_BAND_BLOCK * MN_BAND_BLOCK * MN_BAND_BLOCK, VOXEL_LIMIT = 1 << 26 };

typedef struct bake_job {
    const mn_origin_array *origins;
    double dx;
    int32_t components;
    mn_bake_fn *fn;
    void *user;
    double *values;
} bake_job;

mn_status mn_bake_blocks(const mn_cook *cook, mn_box box, double dx, mn_origin_array *origins)
{
    const double edge = dx * MN_BAND_BLOCK;
    const double low[3] = {floor(box.min.x / edge), floor(box.min.y / edge), floor(box.min.z / edge)};
    const double high[3] = {ceil(box.max.x / edge), ceil(box.max.y / edge), ceil(box.max.z / edge)};
    const double voxels = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]) * (double)BLOCK_VOXELS;
    if (!(voxels <= VOXEL_LIMIT))
        return mn_cook_fail(
            cook, MN_ERROR_ARGUMENT,
            "a voxel size of %g m would need %.3g voxels; use dx above %.2g m, or a smaller box.", dx, voxels,
            dx * cbrt(voxels / VOXEL_LIMIT));
    origins->count = 0;
    for (double z = low[2]; z < high[2]; z++)
        for (double y = low[1]; y < high[1]; y++)
            for (double x = low[0]; x < high[0]; x++) {
                const mn_ivec3 origin = {(int32_t)x * MN_BAND_BLOCK, (int32_t)y * MN_BAND_BLOCK,
                                         (int32_t)z * MN_BAND_BLOCK};
                MN_TRY(mn_array_push(cook->ctx, origins, &origin));
            }
    return MN_OK;
}

static mn_status bake_range(void *user, mn_range range)
{
    const bake_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_ivec3 o = job->origins->data[i / BLOCK_VOXELS];
        const int32_t n = (int32_t)(i % BLOCK_VOXELS), b = MN_BAND_BLOCK;
        const mn_vec3 x = mn_v3(o.x + n % b + 0.5, o.y + n / b % b + 0.5, o.z + n / (b * b) + 0.5);
        job->fn(job->user, mn_scale(job->dx, x), job->values + i * job->components);
    }
    return MN_OK;
}

mn_status mn_bake(const mn_cook *cook, const char *name, int32_t components, double dx,
                  const mn_origin_array *origins, mn_bake_fn *fn, void *user, mn_volume *volume)
{
    const mn_services *services = cook->services;
    if (!services || !services->volume_from_blocks)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED, "this host has no volumes.");
    const int64_t voxels = origins->count * BLOCK_VOXELS;
    const size_t bytes = mn_bytes(voxels * components, sizeof(double));
    bake_job job = {origins, dx, components, fn, user, mn_allocate(cook->ctx, bytes)};
    if (!job.values && voxels > 0) return MN_ERROR_MEMORY;
    mn_status status = mn_parallel_long(cook->ctx, voxels, BLOCK_VOXELS, bake_range, &job);
    if (status == MN_OK)
        status = services->volume_from_blocks(services->user, cook->ctx, name, MN_VOLUME_FOG, dx, 0,
                                              components, MN_BAND_BLOCK, origins->count,
                                              (const int32_t(*)[3])origins->data, job.values, volume);
    mn_release(cook->ctx, job.values, bytes);
    return status;
}
