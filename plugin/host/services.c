// SPDX-License-Identifier: Apache-2.0
//
// What nodes get from this build: files through plugin/io, volumes through plugin/vdb.
#include "plugin/host/network.h"
#include "plugin/io/io.h"
#include "plugin/vdb/vdb.h"

static mn_status read_geometry(void *user, mn_context *ctx, const char *path, mn_geo **geo)
{
    (void)user;
    return mn_io_read(ctx, path, geo);
}

const mn_services *mn_host_services(void)
{
    static const mn_services services = {.read_geometry = read_geometry};
    return &services;
}
