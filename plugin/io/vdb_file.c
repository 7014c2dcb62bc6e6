// SPDX-License-Identifier: Apache-2.0
//
// .vdb files through plugin/vdb: every volume primitive is a grid, and a grid is all that such a file can
// hold. The point that a volume's vertex stands on is a handle for the eye and is not kept.
#include "plugin/io/formats.h"
#include "plugin/vdb/vdb.h"

#include <string.h>

mn_status mn_vdb_file_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,
                                  mn_geo **geo)
{
    return mn_vdb_read_memory(ctx, bytes, size, name, geo);
}

static mn_status check_primitives(mn_context *ctx, const mn_geo *geo, const char *name)
{
    for (int kind = 0; kind < MN_PRIMITIVE_KIND_COUNT; kind++) {
        const int64_t count = mn_geo_kind_count(geo, (mn_primitive_kind)kind);
        if (kind != MN_VOLUME && count > 0)
            return mn_fail(
                ctx, MN_ERROR_UNSUPPORTED,
                "%s: a .vdb file holds volumes only, and there is a %s (%lld in all); convert them "
                "to a volume or write .bgeo.sc.",
                name, mn_primitive_kind_name((mn_primitive_kind)kind), (long long)count);
    }
    const int64_t points = mn_geo_point_count(geo);
    if (points > mn_geo_vertex_count(geo))
        return mn_fail(
            ctx, MN_ERROR_UNSUPPORTED,
            "%s: a .vdb file holds volumes only, and there are %lld points besides; write .bgeo.sc.", name,
            (long long)(points - mn_geo_vertex_count(geo)));
    return MN_OK;
}

/// `name` may say again what the volumes are called.
static bool repeats_volume_names(const mn_geo *geo, const mn_attribute *attribute)
{
    if (strcmp(mn_attribute_name(attribute), "name") != 0 || mn_attribute_owner(attribute) != MN_PRIMITIVE ||
        mn_attribute_type(attribute) != MN_STRING || mn_attribute_size(attribute) != 1)
        return false;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        if (strcmp(mn_attribute_string(attribute, i, 0), mn_volume_get_info(mn_geo_volume(geo, i)).name) != 0)
            return false;
    return true;
}

static mn_status check_attributes(mn_context *ctx, const mn_geo *geo, const char *name)
{
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, (mn_owner)owner); i++) {
            const mn_attribute *attribute = mn_geo_attribute_at(geo, (mn_owner)owner, i);
            if (owner == MN_POINT && i == 0) continue; // P
            if (repeats_volume_names(geo, attribute)) continue;
            return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                           "%s: a .vdb file cannot hold the %s attribute '%s'; delete it or write .bgeo.sc.",
                           name, mn_owner_name((mn_owner)owner), mn_attribute_name(attribute));
        }
        if (owner == MN_DETAIL || mn_geo_group_count(geo, (mn_owner)owner) == 0) continue;
        const mn_group *group = mn_geo_group_at(geo, (mn_owner)owner, 0);
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "%s: a .vdb file cannot hold the %s group '%s'; delete it or write .bgeo.sc.", name,
                       mn_owner_name((mn_owner)owner), mn_group_name(group));
    }
    return MN_OK;
}

static mn_status write_bytes(void *user, const void *bytes, size_t size)
{
    return mn_safe_file_write(user, bytes, size);
}

mn_status mn_vdb_file_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    MN_TRY(check_primitives(ctx, geo, name));
    MN_TRY(check_attributes(ctx, geo, name));
    return mn_vdb_write(ctx, geo, write_bytes, file);
}
