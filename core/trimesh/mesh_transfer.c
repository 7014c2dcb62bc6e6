// SPDX-License-Identifier: Apache-2.0
//
// Attributes of polygons, handed on to points near them (mesh_transfer.h):
//
//   value = sum_k w_k value_k      w: weights of the corners at the nearest place of the mesh
//
// Tested: tests/unit/nodes/test_particle_nodes.c, tests/unit/nodes/test_tet_nodes.c.
#include "trimesh/mesh_transfer.h"

#include "base/parallel.h"

#include <string.h>

typedef struct transfer {
    const mn_triangles *mesh;
    const mn_vec3 *positions;
    mn_mesh_point *closest;
} transfer;

static mn_status find_closest(void *user, mn_range range)
{
    const transfer *t = user;
    for (int64_t i = range.begin; i < range.end; i++)
        mn_triangles_closest(t->mesh, t->positions[i], INFINITY, &t->closest[i]);
    return MN_OK;
}

static mn_status transfer_attribute(const mn_attribute *from, const mn_mesh_point *closest, int64_t count,
                                    mn_geo *geo)
{
    const int32_t size = mn_attribute_size(from);
    const bool is_velocity = strcmp(mn_attribute_name(from), "v") == 0 && size == 3;
    mn_attribute *to;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, mn_attribute_name(from),
                                is_velocity ? MN_F32 : mn_attribute_type(from), size, mn_attribute_hint(from),
                                &to));
    for (int64_t i = 0; i < count; i++) {
        double sum[16] = {0}, corner[16];
        if (is_velocity) mn_attribute_get(to, i, 1, sum); // what the parameter has put there
        for (int k = 0; k < 3; k++) {
            mn_attribute_get(from, closest[i].vertices[k], 1, corner);
            for (int32_t m = 0; m < size; m++) sum[m] += closest[i].weights[k] * corner[m];
        }
        MN_TRY(mn_attribute_set(geo, to, i, 1, sum));
    }
    return MN_OK;
}

mn_status mn_mesh_transfer(mn_context *ctx, const mn_geo *input, const mn_triangles *mesh, int64_t count,
                           const mn_vec3 *positions, mn_transfer_wants *wants, mn_geo *geo)
{
    bool any = false;
    for (int32_t i = 0; i < mn_geo_attribute_count(input, MN_POINT); i++)
        any |= wants(mn_geo_attribute_at(input, MN_POINT, i));
    if (!any || count == 0) return MN_OK;
    transfer t = {mesh, positions, mn_allocate(ctx, mn_bytes(count, sizeof *t.closest))};
    if (!t.closest) return MN_ERROR_MEMORY;
    mn_status status = mn_parallel_long(ctx, count, 128, find_closest, &t);
    for (int32_t i = 0; status == MN_OK && i < mn_geo_attribute_count(input, MN_POINT); i++) {
        const mn_attribute *from = mn_geo_attribute_at(input, MN_POINT, i);
        if (wants(from)) status = transfer_attribute(from, t.closest, count, geo);
    }
    mn_release(ctx, t.closest, mn_bytes(count, sizeof *t.closest));
    return status;
}
