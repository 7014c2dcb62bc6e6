// SPDX-License-Identifier: Apache-2.0
//
// Stand-ins for formats that are being built. Whoever lands the real one deletes its stand-in here.
#include "plugin/io/formats.h"

static mn_status pending(mn_context *ctx, const char *name)
{
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%s: this format is not built yet.", name);
}

mn_status mn_bgeo_read(mn_context *ctx, mn_source *source, mn_format format, mn_geo **geo)
{
    (void)format, (void)geo;
    return pending(ctx, source->name);
}

mn_status mn_bgeo_write(mn_context *ctx, const mn_geo *geo, mn_format format, const char *name,
                        mn_safe_file *file)
{
    (void)format, (void)geo, (void)file;
    return pending(ctx, name);
}

#define PENDING_PAIR(format)                                                                                 \
    mn_status mn_##format##_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,   \
                                        mn_geo **geo)                                                        \
    {                                                                                                        \
        (void)bytes, (void)size, (void)geo;                                                                  \
        return pending(ctx, name);                                                                           \
    }

PENDING_PAIR(obj)
PENDING_PAIR(ply)
PENDING_PAIR(vdb_file)

mn_status mn_obj_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    (void)geo, (void)file;
    return pending(ctx, name);
}

mn_status mn_ply_write(mn_context *ctx, const mn_geo *geo, bool ascii, const char *name, mn_safe_file *file)
{
    (void)geo, (void)ascii, (void)file;
    return pending(ctx, name);
}

mn_status mn_vdb_file_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    (void)geo, (void)file;
    return pending(ctx, name);
}
