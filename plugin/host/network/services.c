// SPDX-License-Identifier: Apache-2.0
//
// What nodes get from this build: files through plugin/io, volumes through plugin/vdb.
#include "plugin/host/network/network.h"
#include "plugin/io/io.h"
#include "plugin/vdb/vdb.h"

static mn_status read_geometry(void *user, mn_context *ctx, const char *path, mn_geo **geo)
{
    (void)user;
    return mn_io_read(ctx, path, geo);
}

static mn_status mesh_to_level_set(void *user, mn_context *ctx, const mn_geo *mesh, double voxel_size,
                                   double band, const char *name, mn_volume *volume)
{
    (void)user;
    return mn_vdb_from_mesh(ctx, mesh, voxel_size, band, name, volume);
}

static mn_status level_set_to_mesh(void *user, mn_context *ctx, mn_volume volume, double isovalue,
                                   double adaptivity, mn_geo **mesh)
{
    (void)user;
    return mn_vdb_to_mesh(ctx, volume, isovalue, adaptivity, mesh);
}

static mn_status volume_from_blocks(void *user, mn_context *ctx, const char *name, mn_volume_kind kind,
                                    double voxel_size, double background, int32_t components,
                                    int32_t block_size, int64_t block_count, const int32_t (*origins)[3],
                                    const double *values, mn_volume *volume)
{
    (void)user;
    return mn_vdb_from_blocks(ctx, name, kind, voxel_size, background, components, block_size, block_count,
                              origins, values, volume);
}

const mn_services *mn_host_services(void)
{
    static const mn_services services = {.read_geometry = read_geometry,
                                         .mesh_to_level_set = mesh_to_level_set,
                                         .level_set_to_mesh = level_set_to_mesh,
                                         .volume_from_blocks = volume_from_blocks};
    return &services;
}
