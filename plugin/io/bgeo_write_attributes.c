// SPDX-License-Identifier: Apache-2.0
//
// Attributes and groups as Houdini writes them (see bgeo_attributes.c and bgeo_values.c): tuples in text,
// pages in binary, with pages whose elements are all the same kept as one.
#include "plugin/io/bgeo_write.h"

#include <string.h>

static const char *storage_name(mn_type type)
{
    static const char *const names[] = {"fpreal32", "fpreal64", "int32", "int64", "int32"};
    return names[type];
}

static mn_json_number number_type(mn_type type)
{
    return type == MN_STRING ? MN_JSON_I32 : (mn_json_number)type;
}

// ---- values ----

typedef struct values {
    mn_type type;
    int32_t size;
    int64_t count;
    const void *data;
} values;

static int64_t page_elements(const values *v, int64_t page)
{
    const int64_t left = v->count - page * MN_BGEO_PAGE;
    return left < MN_BGEO_PAGE ? left : MN_BGEO_PAGE;
}

static const char *page_data(const values *v, int64_t page)
{
    return (const char *)v->data + mn_bytes(page * MN_BGEO_PAGE, mn_type_bytes(v->type) * (size_t)v->size);
}

static bool is_constant(const values *v, int64_t page)
{
    const size_t bytes = mn_type_bytes(v->type) * (size_t)v->size;
    const char *first = page_data(v, page);
    const int64_t count = page_elements(v, page);
    for (int64_t i = 1; i < count; i++)
        if (memcmp(first, first + mn_bytes(i, bytes), bytes) != 0) return false;
    return true;
}

/// "pagesize", 1024, ["constantpageflags", [[...]],] "rawpagedata", [...]
static mn_status write_pages(mn_json_writer *json, const values *v)
{
    const int64_t pages = (v->count + MN_BGEO_PAGE - 1) / MN_BGEO_PAGE;
    uint8_t *flags = mn_allocate(json->out.ctx, (size_t)pages);
    if (!flags && pages > 0) return MN_ERROR_MEMORY;
    int64_t elements = 0;
    for (int64_t page = 0; page < pages; page++) {
        flags[page] = is_constant(v, page);
        elements += flags[page] ? 1 : page_elements(v, page);
    }
    bool any = false;
    for (int64_t page = 0; page < pages; page++) any = any || flags[page];

    mn_json_write_key(json, "pagesize");
    mn_json_write_int(json, MN_BGEO_PAGE);
    if (any) {
        mn_json_write_key(json, "constantpageflags");
        mn_json_begin_array(json);
        mn_json_write_bools(json, flags, pages);
        mn_json_end_array(json);
    }
    mn_json_write_key(json, "rawpagedata");
    const mn_json_number type = number_type(v->type);
    mn_json_begin_numbers(json, type, elements * v->size);
    if (!any)
        mn_json_add_numbers(json, type, v->data, v->count * v->size);
    else
        for (int64_t page = 0; page < pages; page++)
            mn_json_add_numbers(json, type, page_data(v, page),
                                (flags[page] ? 1 : page_elements(v, page)) * v->size);
    mn_json_end_numbers(json);
    mn_release(json->out.ctx, flags, (size_t)pages);
    return MN_OK;
}

/// "arrays", [[...]] for single numbers, "tuples", [[...], ...] otherwise
static void write_text(mn_json_writer *json, const values *v)
{
    const mn_json_number type = number_type(v->type);
    const size_t bytes = mn_type_bytes(v->type) * (size_t)v->size;
    mn_json_write_key(json, v->size == 1 ? "arrays" : "tuples");
    mn_json_begin_array(json);
    if (v->size == 1) mn_json_write_numbers(json, type, v->data, v->count);
    for (int64_t i = 0; v->size > 1 && i < v->count && json->status == MN_OK; i++)
        mn_json_write_numbers(json, type, (const char *)v->data + mn_bytes(i, bytes), v->size);
    mn_json_end_array(json);
}

static mn_status write_values(mn_json_writer *json, const char *key, const values *v)
{
    mn_status status = MN_OK;
    mn_json_write_key(json, key);
    mn_json_begin_array(json);
    mn_json_write_key(json, "size");
    mn_json_write_int(json, v->size);
    mn_json_write_key(json, "storage");
    mn_json_write_key(json, storage_name(v->type));
    if (json->is_binary)
        status = write_pages(json, v);
    else
        write_text(json, v);
    mn_json_end_array(json);
    return status;
}

// ---- attributes ----

/// {"type": {"type": "string", "value": "vector"}}
static void write_options(mn_json_writer *json, mn_hint hint)
{
    static const char *const names[] = {NULL,    "point",      "vector",      "normal",
                                        "color", "quaternion", "texturecoord"};
    mn_json_begin_map(json);
    if (hint != MN_HINT_NONE) {
        mn_json_write_key(json, "type");
        mn_json_begin_map(json);
        mn_json_write_key(json, "type");
        mn_json_write_key(json, "string");
        mn_json_write_key(json, "value");
        mn_json_write_key(json, names[hint]);
        mn_json_end_map(json);
    }
    mn_json_end_map(json);
}

static void write_definition(mn_json_writer *json, const char *name, mn_type type, mn_hint hint)
{
    mn_json_begin_array(json);
    mn_json_write_key(json, "scope");
    mn_json_write_key(json, "public");
    mn_json_write_key(json, "type");
    mn_json_write_key(json, type == MN_STRING ? "string" : "numeric");
    mn_json_write_key(json, "name");
    mn_json_write_string(json, name);
    mn_json_write_key(json, "options");
    write_options(json, hint);
    mn_json_end_array(json);
}

static void write_defaults(mn_json_writer *json, mn_type type)
{
    const bool is_real = type == MN_F32 || type == MN_F64;
    const double real = 0;
    const int64_t integer = 0;
    mn_json_write_key(json, "defaults");
    mn_json_begin_array(json);
    mn_json_write_key(json, "size");
    mn_json_write_int(json, 1);
    mn_json_write_key(json, "storage");
    mn_json_write_key(json, is_real ? "fpreal64" : "int64");
    mn_json_write_key(json, "values");
    mn_json_write_numbers(json, is_real ? MN_JSON_F64 : MN_JSON_I64, is_real ? (const void *)&real : &integer,
                          1);
    mn_json_end_array(json);
}

static void begin_data(mn_json_writer *json, mn_type type, int32_t size)
{
    mn_json_begin_array(json);
    mn_json_write_key(json, "size");
    mn_json_write_int(json, size);
    mn_json_write_key(json, "storage");
    mn_json_write_key(json, storage_name(type));
    if (type != MN_STRING) write_defaults(json, type);
}

static mn_status write_attribute(mn_json_writer *json, const mn_attribute *attribute)
{
    const values v = {mn_attribute_type(attribute), mn_attribute_size(attribute),
                      mn_attribute_count(attribute), mn_attribute_data(attribute)};
    mn_json_begin_array(json);
    write_definition(json, mn_attribute_name(attribute), v.type, mn_attribute_hint(attribute));
    begin_data(json, v.type, v.size);
    if (v.type == MN_STRING) {
        mn_json_write_key(json, "strings");
        mn_json_begin_array(json);
        for (int32_t i = 0; i < mn_attribute_table_count(attribute); i++)
            mn_json_write_string(json, mn_attribute_table_at(attribute, i));
        mn_json_end_array(json);
    }
    const mn_status status = write_values(json, v.type == MN_STRING ? "indices" : "values", &v);
    mn_json_end_array(json);
    mn_json_end_array(json);
    return status;
}

/// Houdini knows a volume by the primitive attribute `name`; this is the one that the volumes' own names
/// make.
static mn_status write_volume_names(mn_json_writer *json, const mn_geo *geo)
{
    const int64_t count = mn_geo_primitive_count(geo);
    const size_t bytes = mn_bytes(count, sizeof(int32_t));
    int32_t *indices = mn_allocate(json->out.ctx, bytes);
    if (!indices) return MN_ERROR_MEMORY;
    int32_t names = 0;
    for (int64_t i = 0; i < count; i++) indices[i] = mn_geo_volume(geo, i).ops ? names++ : -1;
    mn_json_begin_array(json);
    write_definition(json, "name", MN_STRING, MN_HINT_NONE);
    begin_data(json, MN_STRING, 1);
    mn_json_write_key(json, "strings");
    mn_json_begin_array(json);
    for (int64_t i = 0; i < count; i++)
        if (indices[i] >= 0) mn_json_write_string(json, mn_volume_get_info(mn_geo_volume(geo, i)).name);
    mn_json_end_array(json);
    const mn_status status = write_values(json, "indices", &(values){MN_STRING, 1, count, indices});
    mn_json_end_array(json);
    mn_json_end_array(json);
    mn_release(json->out.ctx, indices, bytes);
    return status;
}

mn_status mn_bgeo_write_attributes(mn_json_writer *json, const mn_geo *geo)
{
    static const struct {
        mn_owner owner;
        const char *key;
    } owners[] = {{MN_VERTEX, "vertexattributes"},
                  {MN_POINT, "pointattributes"},
                  {MN_PRIMITIVE, "primitiveattributes"},
                  {MN_DETAIL, "globalattributes"}};
    const bool needs_names = mn_geo_find_volume(geo, NULL).ops && !mn_geo_find(geo, MN_PRIMITIVE, "name");
    mn_json_write_key(json, "attributes");
    mn_json_begin_array(json);
    for (int o = 0; o < MN_OWNER_COUNT; o++) {
        const mn_owner owner = owners[o].owner;
        const bool adds_names = owner == MN_PRIMITIVE && needs_names;
        if (mn_geo_attribute_count(geo, owner) == 0 && !adds_names) continue;
        mn_json_write_key(json, owners[o].key);
        mn_json_begin_array(json);
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, owner); i++)
            MN_TRY(write_attribute(json, mn_geo_attribute_at(geo, owner, i)));
        if (adds_names) MN_TRY(write_volume_names(json, geo));
        mn_json_end_array(json);
    }
    mn_json_end_array(json);
    return MN_OK;
}

// ---- groups ----

/// Runs when they are shorter, a number per element otherwise.
static void write_members(mn_json_writer *json, const uint8_t *members, int64_t count)
{
    int64_t runs = count > 0;
    for (int64_t i = 1; i < count; i++) runs += members[i] != members[i - 1];
    if (2 * runs >= count) {
        mn_json_write_key(json, "i8");
        mn_json_write_numbers(json, MN_JSON_U8, members, count);
        return;
    }
    mn_json_write_key(json, "boolRLE");
    mn_json_begin_array(json);
    for (int64_t i = 0, start = 0; i < count; i++) {
        if (i + 1 < count && members[i + 1] == members[i]) continue;
        mn_json_write_int(json, i + 1 - start);
        mn_json_write_bool(json, members[i]);
        start = i + 1;
    }
    mn_json_end_array(json);
}

void mn_bgeo_write_groups(mn_json_writer *json, const mn_geo *geo, mn_owner owner, const char *key)
{
    if (mn_geo_group_count(geo, owner) == 0) return;
    mn_json_write_key(json, key);
    mn_json_begin_array(json);
    for (int32_t i = 0; i < mn_geo_group_count(geo, owner); i++) {
        const mn_group *group = mn_geo_group_at(geo, owner, i);
        mn_json_begin_array(json);
        mn_json_begin_array(json);
        mn_json_write_key(json, "name");
        mn_json_write_string(json, mn_group_name(group));
        mn_json_end_array(json);
        mn_json_begin_array(json);
        mn_json_write_key(json, "selection");
        mn_json_begin_array(json);
        mn_json_write_key(json, "unordered");
        mn_json_begin_array(json);
        write_members(json, mn_group_data(group), mn_geo_count(geo, owner));
        mn_json_end_array(json);
        mn_json_end_array(json);
        mn_json_end_array(json);
        mn_json_end_array(json);
    }
    mn_json_end_array(json);
}
