// SPDX-License-Identifier: Apache-2.0
//
// Houdini's binary JSON: a byte says what follows, numbers are little-endian, strings that come again are
// defined once as numbered tokens, and arrays of one type can be stored as plain memory.
//
//   00 null   10 bool   11 12 13 14 i8 i16 i32 i64   21 22 u8 u16   18 19 1a f16 f32 f64   27 string
//   30 false  31 true   2b define token   26 token   2d forget token   40 uniform array   [ ] { }
//   length: a byte below f1 is itself; f2 u16, f4 u32, f8 i64 follow
#include "plugin/json/read.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "binary JSON is read as it lies in memory");

enum {
    TOKEN_SLACK = 1 << 16, ///< how far token numbers may run ahead of the definitions seen
    PIECE = 1 << 16,       ///< of a long string at a time
};

/// A few bytes, nearly always from the buffer.
static inline mn_status take(mn_json *json, void *bytes, size_t size)
{
    mn_source *source = json->source;
    if ((size_t)(source->end - source->at) < size) return mn_source_read(source, bytes, size);
    memcpy(bytes, source->at, size);
    source->at += size;
    return MN_OK;
}

static mn_status read_length(mn_json *json, int64_t *length)
{
    uint8_t code;
    MN_TRY(take(json, &code, 1));
    *length = code;
    if (code < 0xf1) return MN_OK;
    uint16_t u16;
    uint32_t u32;
    switch (code) {
    case 0xf2:
        MN_TRY(take(json, &u16, sizeof u16));
        *length = u16;
        return MN_OK;
    case 0xf4:
        MN_TRY(take(json, &u32, sizeof u32));
        *length = u32;
        return MN_OK;
    case 0xf8:
        MN_TRY(take(json, length, sizeof *length));
        if (*length >= 0) return MN_OK;
        return mn_json_fail(json, "a length is negative");
    default:
        return mn_json_fail(json, "0x%02x is not a length", code);
    }
}

/// Into the string at hand, piece by piece, so that a length alone allocates nothing.
static mn_status read_string(mn_json *json)
{
    int64_t length;
    MN_TRY(read_length(json, &length));
    if (length > MN_JSON_STRING_MAX)
        return mn_json_fail(json, "a string is longer than %d bytes", MN_JSON_STRING_MAX);
    MN_TRY(mn_json_string_begin(json));
    while (length > 0) {
        MN_TRY(mn_source_fill(json->source));
        int64_t some = json->source->end - json->source->at;
        if (some == 0) return mn_json_fail(json, "the file ends too early; it is truncated");
        if (some > length) some = length;
        if (some > PIECE) some = PIECE;
        MN_TRY(mn_json_string_add(json, json->source->at, (size_t)some));
        json->source->at += some;
        length -= some;
    }
    json->kind = MN_JSON_STRING;
    return MN_OK;
}

// ---- tokens ----

static void forget_token(mn_json *json, int64_t id)
{
    char **token = &json->tokens.data[id];
    if (*token) mn_release(json->ctx, *token, strlen(*token) + 1);
    *token = NULL;
}

static mn_status define_token(mn_json *json)
{
    int64_t id;
    MN_TRY(read_length(json, &id));
    MN_TRY(read_string(json));
    if (id >= json->token_definitions + TOKEN_SLACK)
        return mn_json_fail(json, "token number %lld is far beyond those before it", (long long)id);
    const size_t length = (size_t)json->string.count;
    if (strlen(json->string.data) != length) return mn_json_fail(json, "a token holds a zero byte");
    if (id >= json->tokens.count) {
        const int64_t old = json->tokens.count;
        MN_TRY(mn_array_resize(json->ctx, &json->tokens, id + 1));
        memset(json->tokens.data + old, 0, mn_bytes(id + 1 - old, sizeof(char *)));
    }
    forget_token(json, id);
    char *token = mn_allocate(json->ctx, length + 1);
    if (!token) return MN_ERROR_MEMORY;
    memcpy(token, json->string.data, length + 1);
    json->tokens.data[id] = token;
    json->token_definitions++;
    return MN_OK;
}

static mn_status read_token_id(mn_json *json, int64_t *id)
{
    MN_TRY(read_length(json, id));
    if (*id >= json->tokens.count || !json->tokens.data[*id])
        return mn_json_fail(json, "token %lld is used before it is defined", (long long)*id);
    return MN_OK;
}

static mn_status read_token(mn_json *json)
{
    int64_t id;
    MN_TRY(read_token_id(json, &id));
    MN_TRY(mn_json_string_begin(json));
    MN_TRY(mn_json_string_add(json, json->tokens.data[id], strlen(json->tokens.data[id])));
    json->kind = MN_JSON_STRING;
    return MN_OK;
}

// ---- numbers ----

static mn_status set_int(mn_json *json, mn_json_kind kind, int64_t value)
{
    json->kind = kind;
    json->integer = value;
    json->real = (double)value;
    return MN_OK;
}

static mn_status set_real(mn_json *json, double value)
{
    json->kind = MN_JSON_REAL;
    json->real = value;
    return MN_OK;
}

static mn_status read_number(mn_json *json, uint8_t type)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        float f32;
        double f64;
    } n;
    const size_t size = type == 0x10 ? 1 : mn_json_element_bytes(type);
    if (size == 0) return mn_json_fail(json, "the byte 0x%02x does not start a value", type);
    MN_TRY(take(json, &n, size));
    switch (type) {
    case 0x10:
        return set_int(json, MN_JSON_BOOL, n.u8 != 0);
    case 0x11:
        return set_int(json, MN_JSON_INT, n.i8);
    case 0x12:
        return set_int(json, MN_JSON_INT, n.i16);
    case 0x13:
        return set_int(json, MN_JSON_INT, n.i32);
    case 0x14:
        return set_int(json, MN_JSON_INT, n.i64);
    case 0x21:
        return set_int(json, MN_JSON_INT, n.u8);
    case 0x22:
        return set_int(json, MN_JSON_INT, n.u16);
    case 0x18:
        return set_real(json, (double)mn_half_to_float(n.u16));
    case 0x19:
        return set_real(json, (double)n.f32);
    default:
        return set_real(json, n.f64);
    }
}

// ---- uniform arrays ----

static bool is_uniform_type(uint8_t type)
{
    return type == 0x10 || type == 0x26 || type == 0x27 || mn_json_element_bytes(type) > 0;
}

static mn_status enter_uniform(mn_json *json)
{
    MN_TRY(take(json, &json->uniform.type, 1));
    if (!is_uniform_type(json->uniform.type))
        return mn_json_fail(json, "there is no array type 0x%02x", json->uniform.type);
    MN_TRY(read_length(json, &json->uniform.left));
    json->uniform.bits_left = 0;
    MN_TRY(mn_json_enter(json, false));
    json->levels[json->depth - 1].is_uniform = true;
    return MN_OK;
}

static mn_status next_bit(mn_json *json)
{
    if (json->uniform.bits_left == 0) {
        MN_TRY(take(json, &json->uniform.bits, sizeof json->uniform.bits));
        json->uniform.bits_left = 32;
    }
    const uint32_t bit = json->uniform.bits & 1;
    json->uniform.bits >>= 1;
    json->uniform.bits_left--;
    return set_int(json, MN_JSON_BOOL, bit);
}

mn_status mn_json_next_uniform(mn_json *json)
{
    if (json->uniform.left == 0) {
        mn_json_leave(json);
        return MN_OK;
    }
    json->uniform.left--;
    switch (json->uniform.type) {
    case 0x10:
        return next_bit(json);
    case 0x26:
        return read_token(json);
    case 0x27:
        return read_string(json);
    default:
        return read_number(json, json->uniform.type);
    }
}

mn_status mn_json_skip_uniform(mn_json *json)
{
    const int64_t size = (int64_t)mn_json_element_bytes(json->uniform.type);
    if (size == 0) return mn_json_next_uniform(json);
    while (json->uniform.left > 0) {
        mn_source *source = json->source;
        int64_t some = (source->end - source->at) / size;
        if (some == 0) {
            MN_TRY(mn_json_next_uniform(json));
            continue;
        }
        if (some > json->uniform.left) some = json->uniform.left;
        source->at += some * size;
        json->uniform.left -= some;
    }
    mn_json_leave(json);
    return MN_OK;
}

// ---- values ----

/// Checks that a value may stand here, and whether it is the key that a map wants.
static mn_status check_place(mn_json *json, uint8_t type)
{
    if (json->depth == 0) return MN_OK;
    mn_json_level *level = &json->levels[json->depth - 1];
    if (!level->is_map) return MN_OK;
    level->after_key = !level->after_key;
    if (level->after_key && type != 0x26 && type != 0x27)
        return mn_json_fail(json, "a key in a map must be a string");
    return MN_OK;
}

static mn_status leave(mn_json *json, bool is_map)
{
    const mn_json_level *level = json->depth > 0 ? &json->levels[json->depth - 1] : NULL;
    if (!level || level->is_map != is_map || level->after_key)
        return mn_json_fail(json, "the end of %s does not belong here", is_map ? "a map" : "an array");
    mn_json_leave(json);
    return MN_OK;
}

mn_status mn_json_next_binary(mn_json *json)
{
    uint8_t type;
    for (;;) {
        MN_TRY(take(json, &type, 1));
        if (type == 0x2b) {
            MN_TRY(define_token(json));
        } else if (type == 0x2d) {
            int64_t id;
            MN_TRY(read_token_id(json, &id));
            forget_token(json, id);
        } else if (type != ',' && type != ':') {
            break;
        }
    }
    if (type == ']' || type == '}') return leave(json, type == '}');
    MN_TRY(check_place(json, type));
    switch (type) {
    case '[':
    case '{':
        return mn_json_enter(json, type == '{');
    case 0x40:
        return enter_uniform(json);
    case 0x26:
        return read_token(json);
    case 0x27:
        return read_string(json);
    case 0x30:
    case 0x31:
        return set_int(json, MN_JSON_BOOL, type == 0x31);
    case 0x00:
        json->kind = MN_JSON_NULL;
        return MN_OK;
    default:
        return read_number(json, type);
    }
}
