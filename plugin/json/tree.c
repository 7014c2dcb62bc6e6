// SPDX-License-Identifier: Apache-2.0
//
// A recursive-descent reader of JSON (RFC 8259) with line numbers and bounds on everything.
#include "plugin/json/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "meniscus/array.h"
#include "plugin/host/network/spelling.h"
#include "plugin/json/number_text.h"
#include "plugin/json/utf8.h"

struct mn_json_tree {
    mn_context *ctx;
    MN_ARRAY(mn_json_tree_value) values; // the first is the root
    char *strings;                       // all of them, each with its zero; never more bytes than the text
    size_t string_capacity, string_bytes;
};

typedef struct reader {
    mn_json_tree *json;
    const char *at, *end;
    int32_t line;
    const char *name;
} reader;

// ---- sentences ----

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static mn_status
fail_here(const reader *in, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return mn_fail(in->json->ctx, MN_ERROR_SCENE, "%.300s:%d: %s", in->name, (int)in->line, sentence);
}

static mn_status fail_expected(const reader *in, const char *expected)
{
    if (in->at == in->end) return fail_here(in, "expected %s but the text ends.", expected);
    const char one[2] = {*in->at, '\0'};
    mn_shown shown;
    if ((unsigned char)*in->at >= 0x80)
        return fail_here(in, "expected %s but found something else.", expected);
    return fail_here(in, "expected %s but found '%s'.", expected, mn_show(&shown, one));
}

// ---- the small pieces ----

static void skip_space(reader *in)
{
    for (; in->at < in->end; in->at++) {
        const char c = *in->at;
        if (c == '\n')
            in->line++;
        else if (c != ' ' && c != '\t' && c != '\r')
            break;
    }
}

static bool take(reader *in, char c)
{
    if (in->at == in->end || *in->at != c) return false;
    in->at++;
    return true;
}

static bool take_word(reader *in, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0) return false;
    in->at += length;
    return true;
}

static mn_status read_hex(reader *in, uint32_t *value)
{
    int digits = 0;
    while (digits < 4 && in->at + digits < in->end && isxdigit((unsigned char)in->at[digits])) digits++;
    const bool whole = digits == 4 && mn_json_hex4(in->at, value);
    in->at += digits;
    return whole ? MN_OK : fail_expected(in, "four hexadecimal digits after \\u");
}

static mn_status read_unicode_escape(reader *in)
{
    uint32_t character, low;
    MN_TRY(read_hex(in, &character));
    if (character == 0) return fail_here(in, "a string holds the character zero.");
    if (mn_utf16_is_high(character)) {
        if (!take(in, '\\') || !take(in, 'u'))
            return fail_here(in, "a string holds half of a surrogate pair.");
        MN_TRY(read_hex(in, &low));
        if (!mn_utf16_is_low(low)) return fail_here(in, "a string holds half of a surrogate pair.");
        character = mn_utf16_join(character, low);
    } else if (mn_utf16_is_low(character)) {
        return fail_here(in, "a string holds half of a surrogate pair.");
    }
    // Its escape took more bytes of the text than this.
    in->json->string_bytes += mn_utf8_put(character, in->json->strings + in->json->string_bytes);
    return MN_OK;
}

static mn_status read_escape(reader *in)
{
    if (take(in, 'u')) return read_unicode_escape(in);
    const char meaning = in->at < in->end ? mn_json_unescape(*in->at) : '\0';
    if (!meaning) return fail_expected(in, "one of \" \\ / b f n r t u after a backslash");
    in->json->strings[in->json->string_bytes++] = meaning;
    in->at++;
    return MN_OK;
}

static mn_status read_string(reader *in, const char **string)
{
    mn_json_tree *json = in->json;
    *string = json->strings + json->string_bytes;
    if (!take(in, '"')) return fail_expected(in, "a string in \"quotes\"");
    while (!take(in, '"')) {
        if (in->at == in->end || *in->at == '\n') return fail_here(in, "a string has no \" at its end.");
        if ((unsigned char)*in->at < 0x20)
            return fail_here(in, "a string holds a control character; write it as an escape, like \\t.");
        if (take(in, '\\')) {
            MN_TRY(read_escape(in));
            continue;
        }
        const size_t length = mn_utf8_length(in->at, (size_t)(in->end - in->at));
        if (length == 0) return fail_here(in, "a string is not valid UTF-8.");
        memcpy(json->strings + json->string_bytes, in->at, length);
        json->string_bytes += length;
        in->at += length;
    }
    json->strings[json->string_bytes++] = '\0';
    return MN_OK;
}

static mn_status read_number(reader *in, double *number)
{
    const char *begin = in->at;
    while (in->at < in->end && strchr("+-.eE0123456789", *in->at) && *in->at) in->at++;
    if (in->at == begin) return fail_expected(in, "a value");
    if (in->at - begin > MN_NUMBER_LONGEST)
        return fail_here(in, "a number has %lld digits; write it with at most %d.",
                         (long long)(in->at - begin), MN_NUMBER_LONGEST);
    if (!mn_number_from_text(begin, (size_t)(in->at - begin), number))
        return fail_here(in, "'%.*s' is not a number as JSON has it.",
                         (int)(in->at - begin > 40 ? 40 : in->at - begin), begin);
    if (!isfinite(*number)) return fail_here(in, "a number is too large.");
    return MN_OK;
}

// ---- values ----

static mn_status read_value(reader *in, int32_t depth, const char *key, int32_t *index);

static mn_status check_new_key(const reader *in, int32_t first, int32_t count, const char *key)
{
    const mn_json_tree_value *values = in->json->values.data;
    mn_shown shown;
    for (int32_t at = first; at >= 0; at = values[at].next)
        if (strcmp(values[at].key, key) == 0)
            return fail_here(in, "the key '%s' stands twice; the first is in line %d.", mn_show(&shown, key),
                             (int)values[at].line);
    if (count == MN_JSON_TREE_MAX_KEYS)
        return fail_here(in, "an object has more than %d keys.", MN_JSON_TREE_MAX_KEYS);
    return MN_OK;
}

// What stands between the brackets of an array or object, which is value `parent`.
static mn_status read_members(reader *in, int32_t depth, int32_t parent, char close)
{
    const bool object = close == '}';
    if (depth == MN_JSON_TREE_MAX_DEPTH)
        return fail_here(in, "values are nested more than %d levels deep.", MN_JSON_TREE_MAX_DEPTH);
    int32_t last = -1;
    skip_space(in);
    if (take(in, close)) return MN_OK;
    for (;;) {
        const char *key = NULL;
        skip_space(in);
        if (object) {
            if (in->at == in->end || *in->at != '"') return fail_expected(in, "a key in \"quotes\"");
            MN_TRY(read_string(in, &key));
            const mn_json_tree_value *self = &in->json->values.data[parent];
            MN_TRY(check_new_key(in, self->first, self->count, key));
            skip_space(in);
            if (!take(in, ':')) return fail_expected(in, "':' after a key");
        }
        int32_t child;
        MN_TRY(read_value(in, depth + 1, key, &child));
        mn_json_tree_value *values = in->json->values.data;
        *(last < 0 ? &values[parent].first : &values[last].next) = child;
        values[parent].count++;
        last = child;
        skip_space(in);
        if (take(in, close)) return MN_OK;
        if (!take(in, ',')) return fail_expected(in, object ? "',' or '}'" : "',' or ']'");
    }
}

static mn_status read_value(reader *in, int32_t depth, const char *key, int32_t *index)
{
    skip_space(in);
    mn_json_tree_value value = {
        .kind = MN_JSON_TREE_NULL, .line = in->line, .key = key, .first = -1, .next = -1};
    const char first = in->at < in->end ? *in->at : '\0';
    *index = (int32_t)in->json->values.count;
    if (first == '[' || first == '{') {
        in->at++;
        value.kind = first == '[' ? MN_JSON_TREE_ARRAY : MN_JSON_TREE_OBJECT;
        MN_TRY(mn_array_push(in->json->ctx, &in->json->values, &value));
        return read_members(in, depth, *index, first == '[' ? ']' : '}');
    }
    if (first == '"') {
        value.kind = MN_JSON_TREE_STRING;
        MN_TRY(read_string(in, &value.string));
    } else if (take_word(in, "true")) {
        value.kind = MN_JSON_TREE_BOOL;
        value.number = 1;
    } else if (take_word(in, "false")) {
        value.kind = MN_JSON_TREE_BOOL;
    } else if (!take_word(in, "null")) {
        value.kind = MN_JSON_TREE_NUMBER;
        MN_TRY(read_number(in, &value.number));
    }
    return mn_array_push(in->json->ctx, &in->json->values, &value);
}

static mn_status read_text(reader *in)
{
    int32_t root;
    take_word(in, "\xef\xbb\xbf");
    MN_TRY(read_value(in, 0, NULL, &root));
    skip_space(in);
    return in->at == in->end ? MN_OK : fail_expected(in, "nothing after the end");
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
    reader in = {made, text, text + size, 1, name};
    const mn_status status = made->strings ? read_text(&in) : MN_ERROR_MEMORY;
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
