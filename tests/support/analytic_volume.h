// SPDX-License-Identifier: Apache-2.0
//
// A volume that is a formula, for tests of what reads volumes without OpenVDB: exact values everywhere,
// clamped to its band like a narrow-band level set.
//
//   mn_volume plane = analytic_plane(0.01);                  y < 0 is solid
//   mn_volume ball  = analytic_ball(center, radius, 0.01);
//   mn_volume vel   = analytic_motion(linear, angular, center);
#ifndef MENISCUS_TESTS_SUPPORT_ANALYTIC_VOLUME_H
#define MENISCUS_TESTS_SUPPORT_ANALYTIC_VOLUME_H

#include <stdlib.h>
#include <string.h>

#include "meniscus/collider.h"
#include "meniscus/geo.h"

typedef struct analytic_volume {
    int count; ///< references
    char name[32];
    mn_volume_kind kind;
    int components;
    double voxel_size, band;
    mn_box bounds;
    mn_vec3 a, b, c; ///< parameters of the formula
    double r;
    void (*value)(const struct analytic_volume *, mn_vec3 x, double *out);
} analytic_volume;

static inline void analytic_retain(void *handle)
{
    ((analytic_volume *)handle)->count++;
}

static inline void analytic_release(void *handle)
{
    if (--((analytic_volume *)handle)->count == 0) free(handle);
}

static inline void analytic_info(const void *handle, mn_volume_info *info)
{
    const analytic_volume *v = (const analytic_volume *)handle;
    memset(info, 0, sizeof *info);
    info->name = v->name;
    info->kind = v->kind;
    info->components = v->components;
    info->index_to_world =
        mn_m4_affine(mn_m3_diagonal(v->voxel_size, v->voxel_size, v->voxel_size), mn_v3(0, 0, 0));
    info->voxel_size = v->voxel_size;
    info->background = v->band;
    info->active_voxels = 1;
    info->bounds = v->bounds;
}

static inline void analytic_sample(const void *handle, int64_t count, const mn_vec3 *positions,
                                   double *values)
{
    const analytic_volume *v = (const analytic_volume *)handle;
    for (int64_t i = 0; i < count; i++) {
        v->value(v, positions[i], values + i * v->components);
        if (v->components == 1) {
            if (values[i] > v->band) values[i] = v->band;
            if (values[i] < -v->band) values[i] = -v->band;
        }
    }
}

static inline mn_status analytic_transform(mn_context *ctx, const void *handle, mn_mat4 transform,
                                           void **result)
{
    (void)handle, (void)transform, (void)result;
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "analytic volumes do not move");
}

static inline mn_status analytic_rename(mn_context *ctx, const void *handle, const char *name, void **result)
{
    analytic_volume *copy = (analytic_volume *)malloc(sizeof *copy);
    if (!copy) return mn_fail(ctx, MN_ERROR_MEMORY, "out of memory");
    memcpy(copy, handle, sizeof *copy);
    copy->count = 1;
    strncpy(copy->name, name, sizeof copy->name - 1);
    *result = copy;
    return MN_OK;
}

static inline mn_volume analytic_make(const char *name, int components, double voxel_size, double band)
{
    static const mn_volume_ops ops = {analytic_retain,    analytic_release, analytic_info, analytic_sample,
                                      analytic_transform, analytic_rename,  NULL};
    analytic_volume *v = (analytic_volume *)calloc(1, sizeof *v);
    v->count = 1;
    strncpy(v->name, name, sizeof v->name - 1);
    v->kind = components == 1 ? MN_VOLUME_LEVEL_SET : MN_VOLUME_FOG;
    v->components = components;
    v->voxel_size = voxel_size;
    v->band = band;
    v->bounds.min = mn_v3(-10, -10, -10);
    v->bounds.max = mn_v3(10, 10, 10);
    const mn_volume volume = {&ops, v};
    return volume;
}

static inline void analytic_plane_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = mn_dot(mn_sub(x, v->a), v->b);
}

/// The half space below `point` against `normal`.
static inline mn_volume analytic_half_space(mn_vec3 point, mn_vec3 normal, double voxel_size)
{
    const mn_volume volume = analytic_make("surface", 1, voxel_size, 3 * voxel_size);
    analytic_volume *v = (analytic_volume *)volume.handle;
    v->a = point, v->b = mn_normalize(normal);
    v->value = analytic_plane_value;
    return volume;
}

static inline mn_volume analytic_plane(double voxel_size)
{
    return analytic_half_space(mn_v3(0, 0, 0), mn_v3(0, 1, 0), voxel_size);
}

static inline void analytic_ball_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = mn_distance(x, v->a) - v->r;
}

static inline mn_volume analytic_ball(mn_vec3 center, double radius, double voxel_size)
{
    const mn_volume volume = analytic_make("surface", 1, voxel_size, 3 * voxel_size);
    analytic_volume *v = (analytic_volume *)volume.handle;
    v->a = center, v->r = radius;
    const double reach = radius + 3 * voxel_size;
    v->bounds.min = mn_sub(center, mn_v3(reach, reach, reach));
    v->bounds.max = mn_add(center, mn_v3(reach, reach, reach));
    v->value = analytic_ball_value;
    return volume;
}

static inline void analytic_box_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    const mn_vec3 r = mn_sub(x, v->a), q = mn_v3(fabs(r.x) - v->b.x, fabs(r.y) - v->b.y, fabs(r.z) - v->b.z);
    out[0] = mn_norm(mn_v3(fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0))) + fmin(fmax(q.x, fmax(q.y, q.z)), 0);
}

static inline mn_volume analytic_box(mn_vec3 center, mn_vec3 half, double voxel_size)
{
    const mn_volume volume = analytic_make("surface", 1, voxel_size, 3 * voxel_size);
    analytic_volume *v = (analytic_volume *)volume.handle;
    v->a = center, v->b = half;
    const mn_vec3 reach = mn_add(half, mn_v3(3 * voxel_size, 3 * voxel_size, 3 * voxel_size));
    v->bounds = (mn_box){mn_sub(center, reach), mn_add(center, reach)};
    v->value = analytic_box_value;
    return volume;
}

static inline void analytic_motion_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    const mn_vec3 u = mn_add(v->a, mn_cross(v->b, mn_sub(x, v->c)));
    out[0] = u.x, out[1] = u.y, out[2] = u.z;
}

static inline mn_volume analytic_motion(mn_vec3 linear, mn_vec3 angular, mn_vec3 center)
{
    const mn_volume volume = analytic_make("vel", 3, 0.01, 0);
    analytic_volume *v = (analytic_volume *)volume.handle;
    v->a = linear, v->b = angular, v->c = center;
    v->value = analytic_motion_value;
    return volume;
}

/// Adds the volume to the geo and gives the caller's reference up.
static inline mn_status analytic_add(mn_geo *geo, mn_volume volume)
{
    const mn_status status = mn_geo_add_volume(geo, volume, -1, NULL);
    mn_volume_release(&volume);
    return status;
}

/// The floor y < 0, in `geo`, and the collider of it; both for the caller to free.
static inline mn_status analytic_open_floor(mn_context *ctx, double voxel_size, mn_geo **geo,
                                            mn_collider **collider)
{
    mn_collider_def def = mn_collider_default_def();
    *collider = NULL;
    MN_TRY(mn_geo_create(ctx, geo));
    MN_TRY(analytic_add(*geo, analytic_plane(voxel_size)));
    def.geo = *geo;
    return mn_collider_create(ctx, &def, collider);
}

#endif
