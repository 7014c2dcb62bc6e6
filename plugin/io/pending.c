// SPDX-License-Identifier: Apache-2.0
//
// Stand-ins for formats that are being built. Whoever lands the real one deletes its stand-in here.
#include "plugin/io/formats.h"
#include "plugin/vdb/vdb.h"

static mn_status pending(mn_context *ctx, const char *name)
{
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%s: this format is not built yet.", name);
}

#define PENDING_PAIR(format)                                                                                 \
    mn_status mn_##format##_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,   \
                                        mn_geo **geo)                                                        \
    {                                                                                                        \
        (void)bytes, (void)size, (void)geo;                                                                  \
        return pending(ctx, name);                                                                           \
    }

PENDING_PAIR(vdb_file)

mn_status mn_vdb_file_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    (void)geo, (void)file;
    return pending(ctx, name);
}

mn_status mn_vdb_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name, mn_geo **geo)
{
    (void)bytes, (void)size, (void)geo;
    return pending(ctx, name);
}

mn_status mn_vdb_write_volume(mn_context *ctx, mn_volume volume, mn_vdb_sink *sink, void *user)
{
    (void)volume, (void)sink, (void)user;
    return pending(ctx, "VDB");
}

bool mn_vdb_is(mn_volume volume)
{
    (void)volume;
    return false;
}

mn_status mn_vdb_from_dense(mn_context *ctx, const char *name, mn_volume_kind kind, mn_mat4 index_to_world,
                            double background, int32_t components, const int32_t size[3], const float *values,
                            mn_volume *volume)
{
    (void)name, (void)kind, (void)index_to_world, (void)background, (void)components, (void)size,
        (void)values, (void)volume;
    return pending(ctx, name);
}
