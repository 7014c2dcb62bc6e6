// SPDX-License-Identifier: Apache-2.0
//
// JSON out, as text or binary. Reals are written with as many digits as bring them back exactly.
#include "plugin/json/write.h"

#include <stdio.h>
#include <string.h>

static void put(mn_json_writer *json, const void *bytes, size_t size)
{
    if (json->status != MN_OK) return;
    json->written += (int64_t)size;
    if (size > sizeof json->buffer - json->used) {
        json->status = json->out.write(json->out.user, json->buffer, json->used);
        json->used = 0;
        if (json->status == MN_OK && size >= sizeof json->buffer) {
            json->status = json->out.write(json->out.user, bytes, size);
            return;
        }
        if (json->status != MN_OK) return;
    }
    if (size > 0) memcpy(json->buffer + json->used, bytes, size);
    json->used += size;
}

static void put_byte(mn_json_writer *json, int byte)
{
    const uint8_t b = (uint8_t)byte;
    put(json, &b, 1);
}

void mn_json_write_begin(mn_json_writer *json, mn_writer out, bool is_binary)
{
    json->out = out;
    json->is_binary = is_binary;
    json->status = MN_OK;
    json->written = 0;
    json->depth = json->token_count = 0;
    json->used = 0;
    if (is_binary) put(json, "\x7fNSJb", 5);
}

mn_status mn_json_write_finish(mn_json_writer *json)
{
    if (!json->is_binary) put_byte(json, '\n');
    if (json->status == MN_OK && json->used > 0)
        json->status = json->out.write(json->out.user, json->buffer, json->used);
    json->used = 0;
    return json->status;
}

// ---- layout of text ----

/// Houdini's: four columns a level, eight are a tab.
static void put_line(mn_json_writer *json, int32_t depth)
{
    put_byte(json, '\n');
    for (int32_t i = 0; i < depth / 2; i++) put_byte(json, '\t');
    if (depth % 2) put(json, "    ", 4);
}

/// What stands before a value.
static void put_separator(mn_json_writer *json, bool is_container)
{
    if (json->is_binary || json->depth == 0) return;
    const int32_t depth = json->depth;
    if (json->levels[depth - 1].after_key) {
        put_byte(json, ':');
    } else {
        if (json->levels[depth - 1].started) put_byte(json, ',');
        if (is_container || json->levels[depth - 1].is_map) put_line(json, depth);
    }
    json->levels[depth - 1].started = true;
    if (json->levels[depth - 1].is_map)
        json->levels[depth - 1].after_key = !json->levels[depth - 1].after_key;
}

static void enter(mn_json_writer *json, bool is_map)
{
    put_separator(json, true);
    put_byte(json, is_map ? '{' : '[');
    json->levels[json->depth].is_map = is_map;
    json->levels[json->depth].started = json->levels[json->depth].after_key = false;
    json->depth++;
}

static void leave(mn_json_writer *json, bool is_map)
{
    json->depth--;
    if (!json->is_binary) put_line(json, json->depth);
    put_byte(json, is_map ? '}' : ']');
}

void mn_json_begin_array(mn_json_writer *json)
{
    enter(json, false);
}

void mn_json_end_array(mn_json_writer *json)
{
    leave(json, false);
}

void mn_json_begin_map(mn_json_writer *json)
{
    enter(json, true);
}

void mn_json_end_map(mn_json_writer *json)
{
    leave(json, true);
}

// ---- strings ----

static void put_length(mn_json_writer *json, int64_t length)
{
    const uint16_t u16 = (uint16_t)length;
    const uint32_t u32 = (uint32_t)length;
    if (length < 0xf1) {
        put_byte(json, (int)length);
    } else if (length <= UINT16_MAX) {
        put_byte(json, 0xf2);
        put(json, &u16, sizeof u16);
    } else if (length <= UINT32_MAX) {
        put_byte(json, 0xf4);
        put(json, &u32, sizeof u32);
    } else {
        put_byte(json, 0xf8);
        put(json, &length, sizeof length);
    }
}

static void put_quoted(mn_json_writer *json, const char *string)
{
    put_byte(json, '"');
    for (const char *c = string; *c; c++) {
        char escape[8];
        switch (*c) {
        case '"':
        case '\\':
            put_byte(json, '\\');
            put_byte(json, *c);
            break;
        case '\n':
            put(json, "\\n", 2);
            break;
        case '\t':
            put(json, "\\t", 2);
            break;
        case '\r':
            put(json, "\\r", 2);
            break;
        default:
            if ((unsigned char)*c >= ' ') {
                put_byte(json, *c);
            } else {
                snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c);
                put(json, escape, 6);
            }
        }
    }
    put_byte(json, '"');
}

void mn_json_write_string(mn_json_writer *json, const char *string)
{
    put_separator(json, false);
    if (!json->is_binary) {
        put_quoted(json, string);
        return;
    }
    const size_t length = strlen(string);
    put_byte(json, 0x27);
    put_length(json, (int64_t)length);
    put(json, string, length);
}

void mn_json_write_key(mn_json_writer *json, const char *literal)
{
    int32_t id = 0;
    while (id < json->token_count && strcmp(json->tokens[id], literal) != 0) id++;
    if (!json->is_binary || id == MN_JSON_WRITE_TOKENS) {
        mn_json_write_string(json, literal);
        return;
    }
    if (id == json->token_count) {
        json->tokens[json->token_count++] = literal;
        put_byte(json, 0x2b);
        put_length(json, id);
        put_length(json, (int64_t)strlen(literal));
        put(json, literal, strlen(literal));
    }
    put_byte(json, 0x26);
    put_length(json, id);
}

// ---- numbers ----

void mn_json_write_bool(mn_json_writer *json, bool value)
{
    put_separator(json, false);
    if (json->is_binary)
        put_byte(json, value ? 0x31 : 0x30);
    else
        put(json, value ? "true" : "false", value ? 4 : 5);
}

static void put_text_int(mn_json_writer *json, int64_t value)
{
    char text[32];
    put(json, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

/// 9 and 17 digits tell any two floats and doubles apart.
static void put_text_real(mn_json_writer *json, double value, int digits)
{
    char text[40];
    put(json, text, (size_t)snprintf(text, sizeof text, "%.*g", digits, value));
}

void mn_json_write_i64(mn_json_writer *json, int64_t value)
{
    if (!json->is_binary) {
        mn_json_write_int(json, value);
        return;
    }
    put_byte(json, 0x14);
    put(json, &value, sizeof value);
}

void mn_json_write_int(mn_json_writer *json, int64_t value)
{
    put_separator(json, false);
    if (!json->is_binary) {
        put_text_int(json, value);
        return;
    }
    const int8_t i8 = (int8_t)value;
    const int16_t i16 = (int16_t)value;
    const int32_t i32 = (int32_t)value;
    if (i8 == value) {
        put_byte(json, 0x11);
        put(json, &i8, sizeof i8);
    } else if (i16 == value) {
        put_byte(json, 0x12);
        put(json, &i16, sizeof i16);
    } else if (i32 == value) {
        put_byte(json, 0x13);
        put(json, &i32, sizeof i32);
    } else {
        put_byte(json, 0x14);
        put(json, &value, sizeof value);
    }
}

void mn_json_write_real(mn_json_writer *json, double value)
{
    put_separator(json, false);
    if (!json->is_binary) {
        put_text_real(json, value, 17);
        return;
    }
    put_byte(json, 0x1a);
    put(json, &value, sizeof value);
}

static size_t number_bytes(mn_json_number type)
{
    return type == MN_JSON_U8 ? 1 : mn_type_bytes((mn_type)type);
}

void mn_json_begin_numbers(mn_json_writer *json, mn_json_number type, int64_t count)
{
    static const uint8_t codes[] = {[MN_JSON_F32] = 0x19,
                                    [MN_JSON_F64] = 0x1a,
                                    [MN_JSON_I32] = 0x13,
                                    [MN_JSON_I64] = 0x14,
                                    [MN_JSON_U8] = 0x21};
    if (!json->is_binary) {
        enter(json, false);
        return;
    }
    put_byte(json, 0x40);
    put_byte(json, codes[type]);
    put_length(json, count);
}

void mn_json_end_numbers(mn_json_writer *json)
{
    if (!json->is_binary) leave(json, false);
}

void mn_json_add_numbers(mn_json_writer *json, mn_json_number type, const void *values, int64_t count)
{
    if (json->is_binary) {
        put(json, values, mn_bytes(count, number_bytes(type)));
        return;
    }
    for (int64_t i = 0; i < count && json->status == MN_OK; i++) {
        put_separator(json, false);
        switch (type) {
        case MN_JSON_F32:
            put_text_real(json, (double)((const float *)values)[i], 9);
            break;
        case MN_JSON_F64:
            put_text_real(json, ((const double *)values)[i], 17);
            break;
        case MN_JSON_I32:
            put_text_int(json, ((const int32_t *)values)[i]);
            break;
        case MN_JSON_I64:
            put_text_int(json, ((const int64_t *)values)[i]);
            break;
        case MN_JSON_U8:
            put_text_int(json, ((const uint8_t *)values)[i]);
        }
    }
}

void mn_json_write_numbers(mn_json_writer *json, mn_json_number type, const void *values, int64_t count)
{
    mn_json_begin_numbers(json, type, count);
    mn_json_add_numbers(json, type, values, count);
    mn_json_end_numbers(json);
}

void mn_json_write_bools(mn_json_writer *json, const uint8_t *values, int64_t count)
{
    if (!json->is_binary) {
        enter(json, false);
        for (int64_t i = 0; i < count; i++) mn_json_write_bool(json, values[i]);
        leave(json, false);
        return;
    }
    put_byte(json, 0x40);
    put_byte(json, 0x10);
    put_length(json, count);
    for (int64_t i = 0; i < count; i += 32) {
        uint32_t word = 0;
        for (int64_t bit = 0; bit < 32 && i + bit < count; bit++)
            word |= (uint32_t)(values[i + bit] != 0) << bit;
        put(json, &word, sizeof word);
    }
}
