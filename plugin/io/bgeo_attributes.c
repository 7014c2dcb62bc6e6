// SPDX-License-Identifier: Apache-2.0
//
// Attributes and groups of a geometry file:
//
//   [["scope", "public", "type", "numeric", "name", "v", "options", {...}],
//    ["size", 3, "storage", "fpreal32", "defaults", [...], "values", [...]]]
//   [[..., "type", "string", ...], ["size", 1, "storage", "int32", "strings", [...], "indices", [...]]]
//   [["name", "wet"], ["selection", ["unordered", ["boolRLE", [3, true, 5, false]]]]]
//
// Kinds of attribute that mn_geo does not have are left out with a warning.
#include "plugin/io/bgeo_read.h"

#include <string.h>

enum { CHUNK = 4096 };

static mn_status read_name(mn_bgeo_reader *reader, const char *what, char *name)
{
    MN_TRY(mn_json_expect_string(reader->json, what, MN_BGEO_NAME_MAX));
    if (reader->json->string.count == 0) return mn_json_fail(reader->json, "%s is empty", what);
    memcpy(name, reader->json->string.data, (size_t)reader->json->string.count + 1);
    return MN_OK;
}

// ---- definition ----

static mn_hint hint_of(const mn_json *json)
{
    static const struct {
        const char *name;
        mn_hint hint;
    } hints[] = {
        {"point", MN_HINT_POINT},          {"hpoint", MN_HINT_POINT}, {"vector", MN_HINT_VECTOR},
        {"normal", MN_HINT_NORMAL},        {"color", MN_HINT_COLOR},  {"quaternion", MN_HINT_QUATERNION},
        {"texturecoord", MN_HINT_TEXTURE},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (mn_json_is(json, hints[i].name)) return hints[i].hint;
    return MN_HINT_NONE;
}

/// {"type": {"type": "string", "value": "vector"}, ...}
static mn_status read_options(mn_bgeo_reader *reader, mn_hint *hint)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_MAP, "the options of an attribute"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        const bool is_type = mn_json_is(json, "type");
        MN_TRY(mn_json_next(json));
        if (!is_type || json->kind != MN_JSON_MAP) {
            MN_TRY(mn_json_skip(json));
            continue;
        }
        for (;;) {
            MN_TRY(mn_json_next_key(json, &more));
            if (!more) break;
            const bool is_value = mn_json_is(json, "value");
            MN_TRY(mn_json_next(json));
            if (is_value && json->kind == MN_JSON_STRING) *hint = hint_of(json);
            MN_TRY(mn_json_skip(json));
        }
    }
}

typedef struct definition {
    bool is_public, is_numeric, is_string;
    char kind[64]; ///< the type as the file names it, for messages
} definition;

static mn_status read_definition(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, definition *found)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the definition of an attribute"));
    found->is_public = true;
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (mn_json_is(json, "name")) {
            MN_TRY(read_name(reader, "the name of an attribute", attribute->name));
        } else if (mn_json_is(json, "options")) {
            MN_TRY(read_options(reader, &attribute->hint));
        } else if (mn_json_is(json, "type")) {
            MN_TRY(mn_json_expect_string(json, "the type of an attribute", MN_BGEO_NAME_MAX));
            found->is_numeric = mn_json_is(json, "numeric");
            found->is_string = mn_json_is(json, "string");
            strncpy(found->kind, json->string.data, sizeof found->kind - 1);
        } else if (mn_json_is(json, "scope")) {
            MN_TRY(mn_json_expect_string(json, "the scope of an attribute", MN_BGEO_NAME_MAX));
            found->is_public = mn_json_is(json, "public");
        } else {
            MN_TRY(mn_json_skip_next(json));
        }
    }
    // Positions move with their geometry, whether the file says so or not.
    if (attribute->owner == MN_POINT && strcmp(attribute->name, "P") == 0) attribute->hint = MN_HINT_POINT;
    return attribute->name[0] ? MN_OK : mn_json_fail(json, "an attribute has no name");
}

// ---- data ----

static mn_status read_strings(mn_bgeo_reader *reader, mn_bgeo_strings *strings)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the strings of an attribute"));
    for (;;) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) return MN_OK;
        if (json->kind != MN_JSON_STRING || strlen(json->string.data) != (size_t)json->string.count)
            return mn_json_fail(json, "the strings of an attribute hold something else");
        const int64_t start = strings->text.count, size = json->string.count + 1;
        if (strings->starts.count == INT32_MAX) return mn_json_fail(json, "there are too many strings");
        MN_TRY(mn_array_push(reader->ctx, &strings->starts, &start));
        MN_TRY(mn_array_resize(reader->ctx, &strings->text, start + size));
        memcpy(strings->text.data + start, json->string.data, (size_t)size);
    }
}

static mn_status read_data(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, bool is_string)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the data of an attribute"));
    bool has_values = false;
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (is_string && mn_json_is(json, "strings")) {
            MN_TRY(read_strings(reader, &attribute->strings));
        } else if (mn_json_is(json, is_string ? "indices" : "values")) {
            if (has_values) return mn_json_fail(json, "an attribute has its values twice");
            MN_TRY(mn_bgeo_read_values(reader, attribute));
            has_values = true;
        } else { // size and storage are said again with the values; defaults matter to none of them
            MN_TRY(mn_json_skip_next(json));
        }
    }
    return has_values ? MN_OK : mn_json_fail(json, "the attribute '%s' has no values", attribute->name);
}

static bool is_taken(const mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute)
{
    const bool is_position = attribute->owner == MN_POINT && strcmp(attribute->name, "P") == 0;
    if (is_position) return reader->has_positions;
    if (mn_geo_find(reader->geo, attribute->owner, attribute->name)) return true;
    for (int64_t i = 0; i < reader->attributes.count; i++)
        if (reader->attributes.data[i].owner == attribute->owner &&
            strcmp(reader->attributes.data[i].name, attribute->name) == 0)
            return true;
    return false;
}

/// `attribute` is at its definition; what is left in it afterwards is the caller's to free.
static mn_status read_attribute(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute)
{
    definition found = {0};
    MN_TRY(read_definition(reader, attribute, &found));
    if (!found.is_public || !(found.is_numeric || found.is_string)) {
        mn_log(reader->ctx, MN_LOG_WARNING, "%s: the %s attribute '%s' is left out: %s is not known here.",
               reader->json->source->name, mn_owner_name(attribute->owner), attribute->name,
               found.is_public ? found.kind : "its scope");
        return mn_json_skip_next(reader->json);
    }
    if (is_taken(reader, attribute))
        return mn_json_fail(reader->json, "there are two %s attributes '%s'", mn_owner_name(attribute->owner),
                            attribute->name);
    attribute->type = found.is_string ? MN_STRING : MN_F32;
    attribute->elements = reader->counts[attribute->owner];
    MN_TRY(read_data(reader, attribute, found.is_string));
    if (attribute->owner == MN_POINT && strcmp(attribute->name, "P") == 0) {
        if (found.is_string || (attribute->size != 3 && attribute->size != 4))
            return mn_json_fail(reader->json, "P should have 3 or 4 numbers per point");
        reader->has_positions = true;
    }
    if (attribute->in_place) return MN_OK;
    if (attribute->owner == MN_POINT || attribute->owner == MN_DETAIL)
        return mn_bgeo_place_attribute(reader, attribute, NULL);
    MN_TRY(mn_array_push(reader->ctx, &reader->attributes, attribute));
    memset(attribute, 0, sizeof *attribute); // it is the reader's now
    return MN_OK;
}

static mn_status read_owner(mn_bgeo_reader *reader, mn_owner owner)
{
    mn_json *json = reader->json;
    mn_bgeo_attribute *attribute = mn_allocate(reader->ctx, sizeof *attribute);
    if (!attribute) return MN_ERROR_MEMORY;
    mn_status status = mn_json_expect(json, MN_JSON_ARRAY, "the attributes");
    for (int count = 0; status == MN_OK; count++) {
        MN_TRY_TO(done, status, mn_json_next(json));
        if (json->kind == MN_JSON_END) break;
        memset(attribute, 0, sizeof *attribute);
        attribute->owner = owner;
        if (count == MN_BGEO_THINGS_MAX)
            status = mn_json_fail(json, "there are more than %d attributes", MN_BGEO_THINGS_MAX);
        else if (json->kind == MN_JSON_ARRAY)
            status = read_attribute(reader, attribute);
        else
            status = mn_json_fail(json, "an attribute should be an array");
        mn_bgeo_free_attribute(reader->ctx, attribute);
        if (status != MN_OK) break;
        MN_TRY_TO(done, status, mn_json_next(json));
        if (json->kind != MN_JSON_END) status = mn_json_fail(json, "an attribute should be two arrays");
    }
done:
    mn_release(reader->ctx, attribute, sizeof *attribute);
    return status;
}

mn_status mn_bgeo_read_attributes(mn_bgeo_reader *reader)
{
    static const char *const keys[] = {"pointattributes", "vertexattributes", "primitiveattributes",
                                       "globalattributes"};
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the attributes"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        int owner = 0;
        while (owner < MN_OWNER_COUNT && !mn_json_is(json, keys[owner])) owner++;
        if (owner == MN_OWNER_COUNT)
            return mn_json_fail(json, "'%.40s' is not known among the attributes", json->string.data);
        if (reader->counts[owner] < 0)
            return mn_json_fail(json, "the number of %ss must come before their attributes",
                                mn_owner_name((mn_owner)owner));
        MN_TRY(read_owner(reader, (mn_owner)owner));
    }
}

// ---- groups ----

static mn_status fail_group(mn_bgeo_reader *reader, const mn_bgeo_group *group, const char *what)
{
    return mn_json_fail(reader->json, "the %s group '%s' %s", mn_owner_name(group->owner), group->name, what);
}

/// A number or bool per element.
static mn_status read_flags(mn_bgeo_reader *reader, mn_bgeo_group *group)
{
    uint8_t *members = group->members.data;
    int64_t got;
    MN_TRY(mn_json_numbers(reader->json, MN_JSON_U8, members, group->members.count, &got));
    if (got == group->members.count && reader->json->kind != MN_JSON_END) MN_TRY(mn_json_next(reader->json));
    if (got < group->members.count || reader->json->kind != MN_JSON_END)
        return fail_group(reader, group, "has another number of members than there are elements");
    for (int64_t i = 0; i < got; i++) members[i] = members[i] != 0;
    return MN_OK;
}

/// [count, bool, count, bool, ...]
static mn_status read_runs(mn_bgeo_reader *reader, mn_bgeo_group *group)
{
    mn_json *json = reader->json;
    for (int64_t done = 0;;) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) {
            if (done == group->members.count) return MN_OK;
            return fail_group(reader, group, "has fewer members than there are elements");
        }
        const int64_t length = json->integer;
        if (json->kind != MN_JSON_INT || length < 0 || length > group->members.count - done)
            return fail_group(reader, group, "has a run that does not fit");
        MN_TRY(mn_json_next(json));
        if (json->kind != MN_JSON_BOOL && json->kind != MN_JSON_INT)
            return fail_group(reader, group, "has a run without a value");
        if (length > 0) memset(group->members.data + done, json->integer != 0, (size_t)length);
        done += length;
    }
}

/// Element numbers in the artist's order, which mn_geo does not keep.
static mn_status read_ordered(mn_bgeo_reader *reader, mn_bgeo_group *group)
{
    int64_t numbers[CHUNK], got;
    mn_log(reader->ctx, MN_LOG_WARNING, "%s: the order of the %s group '%s' is not kept.",
           reader->json->source->name, mn_owner_name(group->owner), group->name);
    do {
        MN_TRY(mn_json_numbers(reader->json, MN_JSON_I64, numbers, CHUNK, &got));
        for (int64_t i = 0; i < got; i++) {
            if (numbers[i] < 0 || numbers[i] >= group->members.count)
                return fail_group(reader, group, "holds an element that does not exist");
            group->members.data[numbers[i]] = 1;
        }
    } while (reader->json->kind != MN_JSON_END);
    return MN_OK;
}

static mn_status read_unordered(mn_bgeo_reader *reader, mn_bgeo_group *group)
{
    mn_json *json = reader->json;
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        const bool is_flags = mn_json_is(json, "i8"), is_runs = mn_json_is(json, "boolRLE");
        if (!is_flags && !is_runs)
            return mn_json_fail(json, "'%.40s' is not known in a group", json->string.data);
        MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the members of a group"));
        MN_TRY(is_flags ? read_flags(reader, group) : read_runs(reader, group));
    }
}

static mn_status read_selection(mn_bgeo_reader *reader, mn_bgeo_group *group)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the selection of a group"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        const bool is_unordered = mn_json_is(json, "unordered"), is_ordered = mn_json_is(json, "ordered");
        if (!is_unordered && !is_ordered) {
            MN_TRY(mn_json_skip_next(json)); // defaults
            continue;
        }
        MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the members of a group"));
        MN_TRY(is_unordered ? read_unordered(reader, group) : read_ordered(reader, group));
    }
}

/// At its definition.
static mn_status read_group(mn_bgeo_reader *reader, mn_bgeo_group *group)
{
    mn_json *json = reader->json;
    bool more;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the definition of a group"));
    for (;;) {
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (mn_json_is(json, "name"))
            MN_TRY(read_name(reader, "the name of a group", group->name));
        else
            MN_TRY(mn_json_skip_next(json));
    }
    if (!group->name[0]) return mn_json_fail(json, "a group has no name");
    MN_TRY(mn_array_resize(reader->ctx, &group->members, reader->counts[group->owner]));
    if (group->members.count > 0) memset(group->members.data, 0, (size_t)group->members.count);
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the data of a group"));
    for (;;) {
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (mn_json_is(json, "selection"))
            MN_TRY(read_selection(reader, group));
        else
            MN_TRY(mn_json_skip_next(json));
    }
    MN_TRY(mn_json_next(json));
    return json->kind == MN_JSON_END ? MN_OK : mn_json_fail(json, "a group should be two arrays");
}

mn_status mn_bgeo_read_groups(mn_bgeo_reader *reader, mn_owner owner)
{
    mn_json *json = reader->json;
    // By now the counts are known to be true.
    if (!reader->has_primitives) return mn_json_fail(json, "the groups must come after the primitives");
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the groups"));
    for (;;) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) return MN_OK;
        if (json->kind != MN_JSON_ARRAY) return mn_json_fail(json, "a group should be an array");
        if (reader->groups.count == MN_BGEO_THINGS_MAX)
            return mn_json_fail(json, "there are more than %d groups", MN_BGEO_THINGS_MAX);
        const mn_bgeo_group group = {.owner = owner};
        MN_TRY(mn_array_push(reader->ctx, &reader->groups, &group));
        MN_TRY(read_group(reader, &reader->groups.data[reader->groups.count - 1]));
    }
}
