// SPDX-License-Identifier: Apache-2.0
//
// What a geo holds. For core/geo only.
#ifndef MENISCUS_GEO_GEO_STATE_H
#define MENISCUS_GEO_GEO_STATE_H

#include "geo/column.h"
#include "geo/string_table.h"
#include "meniscus/array.h"
#include "meniscus/geo.h"

struct mn_attribute {
    char *name;
    mn_owner owner;
    mn_type type;
    int32_t size;
    mn_hint hint;
    mn_column values;         ///< one element holds all components
    mn_string_table *strings; ///< string attributes only
};

struct mn_group {
    char *name;
    mn_owner owner;
    mn_column members; ///< a byte per element
};

/// Which primitive a volume belongs to; sorted by primitive.
typedef struct mn_volume_entry {
    int64_t primitive;
    mn_volume volume;
} mn_volume_entry;

struct mn_geo {
    mn_context *ctx;
    int64_t counts[MN_OWNER_COUNT];
    mn_column vertex_points;    ///< int64_t per vertex
    mn_column primitive_starts; ///< int64_t, one more than primitives once there are any
    mn_column primitive_kinds;  ///< uint8_t per primitive
    MN_ARRAY(mn_attribute *) attributes[MN_OWNER_COUNT];
    MN_ARRAY(mn_group *) groups[MN_OWNER_COUNT];
    MN_ARRAY(mn_volume_entry) volumes;
};

/// A copy of the string in the context's memory; NULL when memory is out.
char *mn_geo_copy_name(mn_context *ctx, const char *name);
void mn_geo_free_name(mn_context *ctx, char *name);

/// Makes room for this many elements in every column of an owner, so that the counts can then be set without
/// failing.
mn_status mn_geo_reserve(mn_geo *geo, mn_owner owner, int64_t count);
/// After mn_geo_reserve.
void mn_geo_set_count(mn_geo *geo, mn_owner owner, int64_t count);

void mn_attribute_free(mn_context *ctx, mn_attribute *attribute);
void mn_group_free(mn_context *ctx, mn_group *group);
/// Appends a copy that shares its values.
mn_status mn_geo_share_attribute(mn_geo *geo, const mn_attribute *source);
mn_status mn_geo_share_group(mn_geo *geo, const mn_group *source);

#endif
