// SPDX-License-Identifier: Apache-2.0
//
// The tree of a scene, from the strict pull reader (read.h), with bounds on everything.
#include "plugin/json/tree.h"

#include <stdio.h>
#include <string.h>

#include "meniscus/array.h"
#include "plugin/host/network/spelling.h"
#include "plugin/json/read.h"

struct mn_json_tree {
    mn_context *ctx;
    MN_ARRAY(mn_json_tree_value) values; // the first is the root
    char *strings;                       // all of them, each with its zero; never more bytes than the text
    size_t string_capacity, string_bytes;
};

// The string at hand; all of them together are shorter than the text, which has their quotes.
static const char *keep_string(const mn_json *in, mn_json_tree *json)
{
    char *kept = json->strings + json->string_bytes;
    const size_t size = (size_t)in->string.count + 1;
    memcpy(kept, in->string.data, size);
    json->string_bytes += size;
    return kept;
}

static mn_status check_new_key(mn_json *in, const mn_json_tree *json, int32_t object, const char *key)
{
    const mn_json_tree_value *values = json->values.data;
    mn_shown shown;
    for (int32_t at = values[object].first; at >= 0; at = values[at].next)
        if (strcmp(values[at].key, key) == 0)
            return mn_json_fail(in, "the key '%s' appears twice; the first is in line %d",
                                mn_show(&shown, key), (int)values[at].line);
    if (values[object].count == MN_JSON_TREE_MAX_KEYS)
        return mn_json_fail(in, "an object has more than %d keys", MN_JSON_TREE_MAX_KEYS);
    return MN_OK;
}

static mn_status add_value(mn_json *in, mn_json_tree *json, const char *key);

// What stands between the brackets of an array or object, which is value `parent`.
static mn_status add_members(mn_json *in, mn_json_tree *json, int32_t parent)
{
    const bool object = json->values.data[parent].kind == MN_JSON_TREE_OBJECT;
    for (int32_t last = -1;;) {
        const char *key = NULL;
        MN_TRY(mn_json_next(in));
        if (in->kind == MN_JSON_END) return MN_OK;
        if (object) {
            key = keep_string(in, json);
            MN_TRY(check_new_key(in, json, parent, key));
            MN_TRY(mn_json_next(in));
        }
        const int32_t child = (int32_t)json->values.count;
        MN_TRY(add_value(in, json, key));
        mn_json_tree_value *values = json->values.data;
        *(last < 0 ? &values[parent].first : &values[last].next) = child;
        values[parent].count++;
        last = child;
    }
}

// The value at hand.
static mn_status add_value(mn_json *in, mn_json_tree *json, const char *key)
{
    static const mn_json_tree_kind kinds[] = {
        [MN_JSON_NULL] = MN_JSON_TREE_NULL,     [MN_JSON_BOOL] = MN_JSON_TREE_BOOL,
        [MN_JSON_INT] = MN_JSON_TREE_NUMBER,    [MN_JSON_REAL] = MN_JSON_TREE_NUMBER,
        [MN_JSON_STRING] = MN_JSON_TREE_STRING, [MN_JSON_ARRAY] = MN_JSON_TREE_ARRAY,
        [MN_JSON_MAP] = MN_JSON_TREE_OBJECT};
    mn_json_tree_value value = {
        .kind = kinds[in->kind], .line = in->line, .key = key, .first = -1, .next = -1};
    const int32_t index = (int32_t)json->values.count;
    if (in->kind == MN_JSON_STRING) value.string = keep_string(in, json);
    if (in->kind == MN_JSON_BOOL || in->kind == MN_JSON_REAL) value.number = in->real;
    MN_TRY(mn_array_push(json->ctx, &json->values, &value));
    const bool has_members = in->kind == MN_JSON_ARRAY || in->kind == MN_JSON_MAP;
    return has_members ? add_members(in, json, index) : MN_OK;
}

static mn_status read_text(mn_json *in, mn_json_tree *json)
{
    MN_TRY(mn_json_next(in));
    MN_TRY(add_value(in, json, NULL));
    return mn_json_finish(in);
}

mn_status mn_json_tree_read(mn_context *ctx, const char *text, size_t size, const char *name,
                            mn_json_tree **json)
{
    *json = NULL;
    if (size > MN_JSON_TREE_MAX_BYTES)
        return mn_fail(ctx, MN_ERROR_SCENE, "%.300s:1: the text has more than %d MB.", name,
                       MN_JSON_TREE_MAX_BYTES >> 20);
    mn_json_tree *made = mn_allocate_zero(ctx, sizeof *made);
    if (!made) return MN_ERROR_MEMORY;
    made->ctx = ctx;
    made->string_capacity = size + 1;
    made->strings = mn_allocate(ctx, made->string_capacity);
    mn_source source = {.ctx = ctx, .name = name, .at = (const uint8_t *)text};
    source.end = source.at + size;
    mn_json in;
    mn_status status = mn_json_open_strict(ctx, &source, MN_JSON_TREE_MAX_DEPTH, &in);
    if (status == MN_OK) status = made->strings ? read_text(&in, made) : MN_ERROR_MEMORY;
    mn_json_close(&in);
    if (status != MN_OK) {
        mn_json_tree_free(made);
        return status;
    }
    *json = made;
    return MN_OK;
}

void mn_json_tree_free(mn_json_tree *json)
{
    if (!json) return;
    mn_context *ctx = json->ctx;
    mn_array_free(ctx, &json->values);
    mn_release(ctx, json->strings, json->string_capacity);
    mn_release(ctx, json, sizeof *json);
}

const mn_json_tree_value *mn_json_tree_root(const mn_json_tree *json)
{
    return json->values.data;
}

const mn_json_tree_value *mn_json_tree_first(const mn_json_tree *json, const mn_json_tree_value *in)
{
    return in->first < 0 ? NULL : &json->values.data[in->first];
}

const mn_json_tree_value *mn_json_tree_next(const mn_json_tree *json, const mn_json_tree_value *value)
{
    return value->next < 0 ? NULL : &json->values.data[value->next];
}

const mn_json_tree_value *mn_json_tree_find(const mn_json_tree *json, const mn_json_tree_value *object,
                                            const char *key)
{
    if (object->kind != MN_JSON_TREE_OBJECT) return NULL;
    const mn_json_tree_value *value = mn_json_tree_first(json, object);
    while (value && strcmp(value->key, key) != 0) value = mn_json_tree_next(json, value);
    return value;
}

const char *mn_json_tree_describe(const mn_json_tree_value *value, char *buffer, size_t size)
{
    static const char *const names[] = {"null", "true or false", "a number", "a string", "", "an object"};
    if (value->kind != MN_JSON_TREE_ARRAY) return names[value->kind];
    snprintf(buffer, size, "a list of %d", (int)value->count);
    return buffer;
}
