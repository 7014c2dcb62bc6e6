// SPDX-License-Identifier: Apache-2.0
//
// The triangles of a level set phi, for what wants polygons: marching cubes on the blocks near phi = 0, and
// points brought to it,
//
//   x <- x - phi(x) grad phi / |grad phi|^2       a few times; phi is a distance, so once is nearly enough
//
// Marching cubes cut corners off voxels: vertices nearer to each other than a fifth of a voxel become one,
// and triangles with fewer than three corners left go.
// Tested: tests/unit/mesh/test_level_set_mesh.c.
#include "mesh/level_set_mesh.h"
#include "levelset/band.h"
#include "mesh/isosurface.h"

enum { BLOCK_LIMIT = 1 << 18, PROJECTIONS = 6 };
static const double shortest = 0.2; ///< edge, of a voxel

void mn_level_set_mesh_free(mn_context *ctx, mn_level_set_mesh *mesh)
{
    mn_array_free(ctx, &mesh->positions);
    mn_array_free(ctx, &mesh->corners);
}

bool mn_level_set_project(mn_volume level_set, mn_vec3 *x)
{
    const mn_volume_info info = mn_volume_get_info(level_set);
    for (int i = 0; i < PROJECTIONS; i++) {
        const double phi = mn_volume_sample(level_set, *x);
        const mn_vec3 gradient = mn_volume_gradient(level_set, *x);
        const double slope = mn_norm(gradient);
        if (!(fabs(phi) < 0.99 * info.background) || !(slope > 1e-3)) return false;
        *x = mn_axpy(*x, -phi / slope, mn_normalize(gradient));
    }
    return true;
}

static void sample(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const mn_volume *volume = user;
    volume->ops->sample(volume->handle, count, positions, distances);
}

/// The blocks of 4^3 nodes near the zero, and phi at their nodes.
static mn_status sample_blocks(mn_context *ctx, mn_volume *volume, mn_blocks *blocks, double **phi,
                               int64_t *count)
{
    const mn_volume_info info = mn_volume_get_info(*volume);
    const mn_region region = {volume, sample, info.bounds};
    const double dx = info.voxel_size;
    mn_origin_array origins = {0};
    MN_ARRAY(mn_ivec3) coords = {0};
    mn_status status;
    MN_TRY_TO(done, status,
              mn_band_blocks(ctx, &region, dx, fmin(2 * dx, 0.99 * info.background), BLOCK_LIMIT, &origins));
    for (int64_t i = 0; i < 8 * origins.count; i++) {
        const mn_ivec3 o = origins.data[i / 8];
        const mn_ivec3 at = mn_iv3(o.x / 4 + (int32_t)(i & 1), o.y / 4 + (int32_t)(i >> 1 & 1),
                                   o.z / 4 + (int32_t)(i >> 2 & 1));
        MN_TRY_TO(done, status, mn_array_push(ctx, &coords, &at));
    }
    MN_TRY_TO(done, status,
              mn_blocks_build_from_coords(blocks, mn_v3(0.5 * dx, 0.5 * dx, 0.5 * dx), dx, coords.count,
                                          coords.data, 0));
    const mn_block_table table = mn_blocks_table(blocks);
    *count = (int64_t)table.count * MN_BLOCK_CELLS;
    *phi = mn_allocate(ctx, mn_bytes(*count, sizeof **phi));
    status = *phi || *count == 0 ? MN_OK : MN_ERROR_MEMORY;
    for (int64_t i = 0; status == MN_OK && i < *count; i++) {
        const mn_vec3 x =
            mn_block_node_position(&table, (int32_t)(i / MN_BLOCK_CELLS), (int32_t)(i % MN_BLOCK_CELLS));
        volume->ops->sample(volume->handle, 1, &x, &(*phi)[i]);
    }
done:
    mn_array_free(ctx, &origins);
    mn_array_free(ctx, &coords);
    return status;
}

static int32_t root_of(const int32_t *same, int32_t i)
{
    while (same[i] != i) i = same[i];
    return i;
}

/// Copies the mesh without its short edges: an edge's ends become the lower one.
static mn_status copy_mesh(mn_context *ctx, mn_iso_mesh from, double least, mn_level_set_mesh *mesh)
{
    MN_ARRAY(int32_t) same = {0}, number = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &same, from.vertex_count));
    MN_TRY_TO(done, status, mn_array_resize(ctx, &number, from.vertex_count));
    for (int32_t i = 0; i < from.vertex_count; i++) same.data[i] = i, number.data[i] = -1;
    for (int32_t t = 0; t < from.triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = root_of(same.data, from.triangles[t][k]),
                          b = root_of(same.data, from.triangles[t][(k + 1) % 3]);
            if (a != b && mn_distance(from.positions[a], from.positions[b]) < least)
                same.data[a > b ? a : b] = a > b ? b : a;
        }
    for (int32_t t = 0; t < from.triangle_count; t++) {
        int32_t corner[3];
        for (int k = 0; k < 3; k++) corner[k] = root_of(same.data, from.triangles[t][k]);
        if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
        for (int k = 0; k < 3; k++) {
            int32_t *at = &number.data[corner[k]];
            if (*at < 0) {
                *at = (int32_t)mesh->positions.count;
                MN_TRY_TO(done, status, mn_array_push(ctx, &mesh->positions, &from.positions[corner[k]]));
            }
            MN_TRY_TO(done, status, mn_array_push(ctx, &mesh->corners, at));
        }
    }
    status = MN_OK;
done:
    mn_array_free(ctx, &same);
    mn_array_free(ctx, &number);
    return status;
}

mn_status mn_level_set_mesh_make(mn_context *ctx, mn_volume level_set, mn_level_set_mesh *mesh)
{
    const double dx = mn_volume_get_info(level_set).voxel_size;
    mn_blocks *blocks = NULL;
    mn_isosurface *iso = NULL;
    double *phi = NULL;
    int64_t count = 0;
    mn_status status;
    mesh->positions.count = mesh->corners.count = 0;
    MN_TRY_TO(done, status, mn_blocks_create(ctx, &blocks));
    MN_TRY_TO(done, status, mn_isosurface_create(ctx, &iso));
    MN_TRY_TO(done, status, sample_blocks(ctx, &level_set, blocks, &phi, &count));
    MN_TRY_TO(done, status, mn_isosurface_run(iso, blocks, phi, 0, MN_ISO_CUBES));
    status = copy_mesh(ctx, mn_isosurface_mesh(iso), shortest * dx, mesh);
done:
    mn_release(ctx, phi, mn_bytes(count, sizeof *phi));
    mn_isosurface_free(iso);
    mn_blocks_free(blocks);
    return status;
}
