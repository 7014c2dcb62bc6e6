// SPDX-License-Identifier: Apache-2.0
//
// Putting two geometries together.
#include "geo/geo_state.h"

#include <string.h>

// Every attribute and group of `source` exists in `geo`, of the same type; detail values that were not there
// are copied.
static mn_status unite_tables(mn_geo *geo, const mn_geo *source)
{
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        for (int64_t i = 0; i < source->attributes[owner].count; i++) {
            const mn_attribute *from = source->attributes[owner].data[i];
            const mn_attribute *found = mn_geo_find(geo, (mn_owner)owner, from->name);
            if (found && (found->type != from->type || found->size != from->size))
                return mn_fail(
                    geo->ctx, MN_ERROR_INPUT,
                    "The %s attribute '%s' is %s with %d components in one part and %s with %d in another; "
                    "rename or remove one of them.",
                    mn_owner_name((mn_owner)owner), from->name, mn_type_name(found->type), (int)found->size,
                    mn_type_name(from->type), (int)from->size);
        }
    }
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        for (int64_t i = 0; i < source->attributes[owner].count; i++) {
            const mn_attribute *from = source->attributes[owner].data[i];
            if (mn_geo_find(geo, (mn_owner)owner, from->name)) continue;
            mn_attribute *made;
            if (owner == MN_DETAIL)
                MN_TRY(mn_geo_share_attribute(geo, from));
            else
                MN_TRY(mn_geo_add_attribute(geo, from->owner, from->name, from->type, from->size, from->hint,
                                            &made));
        }
        for (int64_t i = 0; i < source->groups[owner].count; i++) {
            mn_group *made;
            MN_TRY(mn_geo_add_group(geo, (mn_owner)owner, source->groups[owner].data[i]->name, &made));
        }
    }
    return MN_OK;
}

// Copies the string indices of `from` behind `old` elements of `to`, with its strings interned there.
static mn_status append_strings(mn_geo *geo, mn_attribute *to, const mn_attribute *from, int64_t old)
{
    const int32_t count = mn_string_table_count(from->strings);
    int32_t *map = mn_allocate(geo->ctx, mn_bytes(count, sizeof *map));
    if (count > 0 && !map) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    for (int32_t i = 0; i < count && status == MN_OK; i++)
        status = mn_string_table_intern(&to->strings, mn_string_table_at(from->strings, i), &map[i]);
    if (status == MN_OK && from->values.count > 0) {
        const int32_t *source = mn_column_data(&from->values);
        int32_t *target = (int32_t *)mn_column_write(geo->ctx, &to->values) + old * to->size;
        for (int64_t i = 0; i < from->values.count * from->size; i++)
            target[i] = source[i] >= 0 && source[i] < count ? map[source[i]] : -1;
    }
    mn_release(geo->ctx, map, mn_bytes(count, sizeof *map));
    return status;
}

static void append_column(mn_context *ctx, mn_column *to, const mn_column *from, int64_t old)
{
    if (from->count == 0) return;
    memcpy((char *)mn_column_write(ctx, to) + mn_bytes(old, to->element_bytes), mn_column_data(from),
           mn_bytes(from->count, from->element_bytes));
}

static mn_status append_values(mn_geo *geo, const mn_geo *source, mn_owner owner, int64_t old)
{
    for (int64_t i = 0; i < source->attributes[owner].count; i++) {
        const mn_attribute *from = source->attributes[owner].data[i];
        mn_attribute *to = (mn_attribute *)(uintptr_t)mn_geo_find(geo, owner, from->name);
        if (from->type == MN_STRING)
            MN_TRY(append_strings(geo, to, from, old));
        else
            append_column(geo->ctx, &to->values, &from->values, old);
    }
    for (int64_t i = 0; i < source->groups[owner].count; i++) {
        const mn_group *from = source->groups[owner].data[i];
        mn_group *to = (mn_group *)(uintptr_t)mn_geo_find_group(geo, owner, from->name);
        append_column(geo->ctx, &to->members, &from->members, old);
    }
    return MN_OK;
}

static void append_topology(mn_geo *geo, const mn_geo *source, const int64_t old[MN_OWNER_COUNT])
{
    if (source->counts[MN_PRIMITIVE] == 0) return;
    int64_t *points = (int64_t *)mn_column_write(geo->ctx, &geo->vertex_points) + old[MN_VERTEX];
    int64_t *starts = (int64_t *)mn_column_write(geo->ctx, &geo->primitive_starts) + old[MN_PRIMITIVE];
    const int64_t *source_points = mn_geo_vertex_points(source),
                  *source_starts = mn_geo_primitive_starts(source);
    for (int64_t v = 0; v < source->counts[MN_VERTEX]; v++) points[v] = source_points[v] + old[MN_POINT];
    for (int64_t p = 0; p <= source->counts[MN_PRIMITIVE]; p++) starts[p] = source_starts[p] + old[MN_VERTEX];
    append_column(geo->ctx, &geo->primitive_kinds, &source->primitive_kinds, old[MN_PRIMITIVE]);
    for (int64_t i = 0; i < source->volumes.count; i++) {
        const mn_volume_entry *entry = &source->volumes.data[i];
        geo->volumes.data[geo->volumes.count++] =
            (mn_volume_entry){entry->primitive + old[MN_PRIMITIVE], mn_volume_retain(entry->volume)};
    }
}

static mn_status append_other(mn_geo *geo, const mn_geo *source)
{
    MN_TRY(unite_tables(geo, source));
    int64_t old[MN_OWNER_COUNT];
    memcpy(old, geo->counts, sizeof old);
    MN_TRY(mn_array_reserve(geo->ctx, &geo->volumes, geo->volumes.count + source->volumes.count));
    for (int owner = 0; owner < MN_DETAIL; owner++)
        MN_TRY(mn_geo_reserve(geo, (mn_owner)owner, old[owner] + source->counts[owner]));
    for (int owner = 0; owner < MN_DETAIL; owner++)
        mn_geo_set_count(geo, (mn_owner)owner, old[owner] + source->counts[owner]);
    append_topology(geo, source, old);
    mn_status status = MN_OK;
    for (int owner = 0; owner < MN_DETAIL && status == MN_OK; owner++)
        status = append_values(geo, source, (mn_owner)owner, old[owner]);
    return status;
}

mn_status mn_geo_append(mn_geo *geo, const mn_geo *source)
{
    if (geo != source) return append_other(geo, source);
    mn_geo *copy;
    MN_TRY(mn_geo_copy(source, &copy));
    const mn_status status = append_other(geo, copy);
    mn_geo_free(copy);
    return status;
}
