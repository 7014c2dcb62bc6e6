// SPDX-License-Identifier: Apache-2.0
//
// What reading JSON as text and in binary have in common: levels, strings, expectations and their sentences.
#include "plugin/json/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mn_status mn_json_fail(mn_json *json, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (json->is_strict)
        return mn_fail(json->ctx, MN_ERROR_SCENE, "%.300s:%d: %s.", json->source->name, (int)json->line,
                       sentence);
    return mn_fail(json->ctx, MN_ERROR_FORMAT, "%s: at byte %lld: %s.", json->source->name,
                   (long long)mn_source_offset(json->source), sentence);
}

mn_status mn_json_fail_expected(mn_json *json, const char *expected, int c)
{
    if (c < 0 && !json->is_strict) return mn_json_fail(json, "the file ends too early; it is truncated");
    if (c < 0) return mn_json_fail(json, "expected %s but the text ends", expected);
    if (c < ' ' || c >= 0x7f) return mn_json_fail(json, "expected %s but found something else", expected);
    return mn_json_fail(json, "expected %s but found '%c'", expected, c);
}

static void begin(mn_context *ctx, mn_source *source, int32_t depth_max, mn_json *json)
{
    memset(json, 0, sizeof *json);
    json->ctx = ctx;
    json->source = source;
    json->line = 1;
    json->depth_max = depth_max;
}

mn_status mn_json_open_strict(mn_context *ctx, mn_source *source, int32_t most, mn_json *json)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    begin(ctx, source, most < MN_JSON_DEPTH_MAX ? most : MN_JSON_DEPTH_MAX, json);
    json->is_strict = true;
    if (source->end - source->at >= 3 && memcmp(source->at, mark, sizeof mark) == 0)
        source->at += sizeof mark;
    return MN_OK;
}

mn_status mn_json_open(mn_context *ctx, mn_source *source, mn_json *json)
{
    begin(ctx, source, MN_JSON_DEPTH_MAX, json);
    json->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!json->locale) return mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory.");
    MN_TRY(mn_source_fill(source));
    if (source->at == source->end) return mn_json_fail(json, "the file is empty");
    json->is_binary = *source->at == 0x7f;
    if (!json->is_binary) return MN_OK;
    uint8_t magic[5];
    MN_TRY(mn_source_read(source, magic, sizeof magic));
    if (memcmp(magic + 1, "bJSN", 4) == 0)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "%s: the file was written on a big-endian machine; save it again on a current one.",
                       source->name);
    if (memcmp(magic + 1, "NSJb", 4) != 0) return mn_json_fail(json, "this is not a geometry file");
    return MN_OK;
}

void mn_json_close(mn_json *json)
{
    for (int64_t i = 0; i < json->tokens.count; i++)
        if (json->tokens.data[i])
            mn_release(json->ctx, json->tokens.data[i], strlen(json->tokens.data[i]) + 1);
    mn_array_free(json->ctx, &json->tokens);
    mn_array_free(json->ctx, &json->string);
    if (json->locale) freelocale(json->locale);
    json->locale = (locale_t)0;
}

mn_status mn_json_finish(mn_json *json)
{
    int c;
    if (json->is_binary) {
        MN_TRY(mn_source_fill(json->source));
        c = json->source->at == json->source->end ? -1 : *json->source->at;
    } else {
        MN_TRY(mn_json_skip_space(json, &c));
    }
    if (c < 0) return MN_OK;
    if (json->is_strict) return mn_json_fail_expected(json, "nothing after the end", c);
    return mn_json_fail(json, "there is more data after the end of the geometry");
}

// ---- levels and strings ----

mn_status mn_json_enter(mn_json *json, bool is_map)
{
    if (json->depth == json->depth_max)
        return mn_json_fail(json, "values are nested more than %d levels deep", (int)json->depth_max);
    json->levels[json->depth++] = (mn_json_level){.is_map = is_map};
    json->kind = is_map ? MN_JSON_MAP : MN_JSON_ARRAY;
    return MN_OK;
}

void mn_json_leave(mn_json *json)
{
    json->depth--;
    json->kind = MN_JSON_END;
}

mn_status mn_json_string_begin(mn_json *json)
{
    json->string.count = 0;
    MN_TRY(mn_array_reserve(json->ctx, &json->string, 1));
    json->string.data[0] = '\0';
    return MN_OK;
}

mn_status mn_json_string_add(mn_json *json, const void *bytes, size_t size)
{
    if (size > (size_t)(MN_JSON_STRING_MAX - json->string.count))
        return mn_json_fail(json, "a string is longer than %d bytes", MN_JSON_STRING_MAX);
    const int64_t count = json->string.count + (int64_t)size;
    MN_TRY(mn_array_reserve(json->ctx, &json->string, count + 1));
    if (size > 0) memcpy(json->string.data + json->string.count, bytes, size);
    json->string.data[count] = '\0';
    json->string.count = count;
    return MN_OK;
}

// ---- values ----

mn_status mn_json_next(mn_json *json)
{
    if (json->depth > 0 && json->levels[json->depth - 1].is_uniform) return mn_json_next_uniform(json);
    return json->is_binary ? mn_json_next_binary(json) : mn_json_next_text(json);
}

mn_status mn_json_skip(mn_json *json)
{
    if (json->kind != MN_JSON_ARRAY && json->kind != MN_JSON_MAP) return MN_OK;
    const int32_t outside = json->depth - 1;
    while (json->depth > outside) {
        if (json->levels[json->depth - 1].is_uniform)
            MN_TRY(mn_json_skip_uniform(json));
        else
            MN_TRY(mn_json_next(json));
    }
    return MN_OK;
}

mn_status mn_json_skip_next(mn_json *json)
{
    MN_TRY(mn_json_next(json));
    if (json->kind == MN_JSON_END) return mn_json_fail(json, "a value is missing");
    return mn_json_skip(json);
}

static const char *kind_name(mn_json_kind kind)
{
    static const char *const names[] = {"nothing",  "null",     "true or false", "a whole number",
                                        "a number", "a string", "an array",      "a map"};
    return names[kind];
}

mn_status mn_json_expect(mn_json *json, mn_json_kind kind, const char *what)
{
    MN_TRY(mn_json_next(json));
    if (json->kind == kind) return MN_OK;
    return mn_json_fail(json, "%s should be %s but is %s", what, kind_name(kind), kind_name(json->kind));
}

mn_status mn_json_expect_int(mn_json *json, const char *what, int64_t *value)
{
    MN_TRY(mn_json_expect(json, MN_JSON_INT, what));
    *value = json->integer;
    return MN_OK;
}

mn_status mn_json_expect_real(mn_json *json, const char *what, double *value)
{
    MN_TRY(mn_json_next(json));
    if (json->kind != MN_JSON_INT && json->kind != MN_JSON_REAL)
        return mn_json_fail(json, "%s should be a number but is %s", what, kind_name(json->kind));
    *value = json->real;
    return MN_OK;
}

mn_status mn_json_expect_string(mn_json *json, const char *what, int64_t length_max)
{
    MN_TRY(mn_json_expect(json, MN_JSON_STRING, what));
    if (json->string.count > length_max)
        return mn_json_fail(json, "%s is %lld bytes long; at most %lld are allowed", what,
                            (long long)json->string.count, (long long)length_max);
    if (strlen(json->string.data) != (size_t)json->string.count)
        return mn_json_fail(json, "%s holds a zero byte", what);
    return MN_OK;
}

mn_status mn_json_next_key(mn_json *json, bool *more)
{
    MN_TRY(mn_json_next(json));
    *more = json->kind != MN_JSON_END;
    if (*more && json->kind != MN_JSON_STRING)
        return mn_json_fail(json, "a key should be here but there is %s", kind_name(json->kind));
    return MN_OK;
}

bool mn_json_is(const mn_json *json, const char *string)
{
    const size_t length = strlen(string);
    return (size_t)json->string.count == length && memcmp(json->string.data, string, length) == 0;
}
