// SPDX-License-Identifier: Apache-2.0
//
// Voxels near colliders made of polygons:
//
//   distance   min(|x - nearest point of the walls| - half thickness, distance to what is solid)
//   velocity   given + sampled + that of the nearest point, blended over its triangle
#include "levelset/wall_band.h"

#include "base/parallel.h"

#include <string.h>

// A voxel takes microseconds where the mesh is large: a quarter of a block keeps a cancel waiting for less
// than a tenth of a second.
enum { VOXELS = MN_BAND_BLOCK * MN_BAND_BLOCK * MN_BAND_BLOCK, GRAIN = VOXELS / 4 };

typedef struct band_job {
    const mn_wall_band *band;
    double *values;
} band_job;

static mn_vec3 voxel_center(const mn_wall_band *b, int64_t voxel)
{
    const mn_ivec3 o = b->origins->data[voxel / VOXELS];
    const int32_t n = (int32_t)(voxel % VOXELS);
    return mn_scale(b->dx, mn_v3(o.x + n % MN_BAND_BLOCK + 0.5, o.y + n / MN_BAND_BLOCK % MN_BAND_BLOCK + 0.5,
                                 o.z + n / (MN_BAND_BLOCK * MN_BAND_BLOCK) + 0.5));
}

static mn_status distance_range(void *user, mn_range range)
{
    const band_job *job = user;
    const mn_wall_band *b = job->band;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x = voxel_center(b, i);
        mn_mesh_point p;
        mn_triangles_closest(b->walls, x, INFINITY, &p);
        double distance = p.distance - b->half_thickness;
        if (b->solid.ops) {
            double solid;
            b->solid.ops->sample(b->solid.handle, 1, &x, &solid);
            distance = fmin(distance, solid);
        }
        job->values[i] = fmin(b->width, fmax(-b->width, distance));
    }
    return MN_OK;
}

static mn_status velocity_range(void *user, mn_range range)
{
    const band_job *job = user;
    const mn_wall_band *b = job->band;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x = voxel_center(b, i);
        mn_vec3 sum = b->velocity;
        if (b->vel.ops) sum = mn_add(sum, mn_volume_sample_vec3(b->vel, x));
        if (b->v) {
            mn_mesh_point p;
            mn_triangles_closest(b->mesh, x, INFINITY, &p);
            for (int k = 0; k < 3; k++) {
                mn_vec3 corner;
                mn_attribute_get(b->v, p.vertices[k], 1, &corner.x);
                sum = mn_axpy(sum, p.weights[k], corner);
            }
        }
        memcpy(job->values + 3 * i, &sum, sizeof sum);
    }
    return MN_OK;
}

mn_status mn_wall_band_distances(mn_context *ctx, const mn_wall_band *band, double *values)
{
    band_job job = {band, values};
    return mn_parallel_long(ctx, band->origins->count * VOXELS, GRAIN, distance_range, &job);
}

mn_status mn_wall_band_velocities(mn_context *ctx, const mn_wall_band *band, double *values)
{
    band_job job = {band, values};
    return mn_parallel_long(ctx, band->origins->count * VOXELS, GRAIN, velocity_range, &job);
}
