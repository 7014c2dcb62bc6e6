// SPDX-License-Identifier: Apache-2.0
//
// Arrays of numbers in bulk: from whatever the file holds to the type asked for. A uniform array of that very
// type is copied as memory; everything else is converted value by value, with its range checked.
#include "plugin/json/read.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1024 }; // values converted at a time

size_t mn_json_element_bytes(uint8_t type)
{
    switch (type) {
    case 0x11:
    case 0x21:
        return 1;
    case 0x12:
    case 0x22:
    case 0x18:
        return 2;
    case 0x13:
    case 0x19:
        return 4;
    case 0x14:
    case 0x1a:
        return 8;
    default:
        return 0;
    }
}

float mn_half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, fraction = half & 0x3ff;
    const int exponent = half >> 10 & 0x1f;
    uint32_t bits;
    float value;
    if (exponent == 0) { // zero or subnormal: fraction * 2^-24
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    if (exponent == 31)
        bits = sign | 0x7f800000u | fraction << 13;
    else
        bits = sign | (uint32_t)(exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t number_bytes(mn_json_number type)
{
    return type == MN_JSON_U8 ? 1 : mn_type_bytes((mn_type)type);
}

static mn_status fail_range(mn_json *json, mn_json_number type, double value)
{
    static const char *const names[] = {"32-bit reals", "64-bit reals", "32-bit integers", "64-bit integers",
                                        "bytes"};
    const int at = type == MN_JSON_U8 ? 4 : (int)type;
    return mn_json_fail(json, "the number %.17g is not one of the %s that are due here", value, names[at]);
}

static inline mn_status store_int(mn_json *json, mn_json_number type, void *values, int64_t i, int64_t value)
{
    switch (type) {
    case MN_JSON_F32:
        ((float *)values)[i] = (float)value;
        return MN_OK;
    case MN_JSON_F64:
        ((double *)values)[i] = (double)value;
        return MN_OK;
    case MN_JSON_I32:
        if (value < INT32_MIN || value > INT32_MAX) break;
        ((int32_t *)values)[i] = (int32_t)value;
        return MN_OK;
    case MN_JSON_I64:
        ((int64_t *)values)[i] = value;
        return MN_OK;
    case MN_JSON_U8:
        if (value < 0 || value > 255) break;
        ((uint8_t *)values)[i] = (uint8_t)value;
        return MN_OK;
    }
    return fail_range(json, type, (double)value);
}

/// Reals go to integers only when they are whole.
static inline mn_status store_real(mn_json *json, mn_json_number type, void *values, int64_t i, double value)
{
    if (type == MN_JSON_F32) {
        ((float *)values)[i] = (float)value;
        return MN_OK;
    }
    if (type == MN_JSON_F64) {
        ((double *)values)[i] = value;
        return MN_OK;
    }
    if (!(fabs(value) < 0x1p63) || value != floor(value)) return fail_range(json, type, value);
    return store_int(json, type, values, i, (int64_t)value);
}

/// The uniform type whose memory is that of `type`.
static uint8_t twin(mn_json_number type)
{
    static const uint8_t twins[] = {[MN_JSON_F32] = 0x19,
                                    [MN_JSON_F64] = 0x1a,
                                    [MN_JSON_I32] = 0x13,
                                    [MN_JSON_I64] = 0x14,
                                    [MN_JSON_U8] = 0x21};
    return twins[type];
}

static mn_status convert(mn_json *json, mn_json_number type, void *values, int64_t count, const void *raw)
{
#define CONVERT(code, c_type, store, expression)                                                             \
    case code:                                                                                               \
        for (int64_t i = 0; i < count; i++) {                                                                \
            const c_type x = ((const c_type *)raw)[i];                                                       \
            MN_TRY(store(json, type, values, i, expression));                                                \
        }                                                                                                    \
        return MN_OK;
    switch (json->uniform.type) {
        CONVERT(0x11, int8_t, store_int, x)
        CONVERT(0x12, int16_t, store_int, x)
        CONVERT(0x13, int32_t, store_int, x)
        CONVERT(0x14, int64_t, store_int, x)
        CONVERT(0x21, uint8_t, store_int, x)
        CONVERT(0x22, uint16_t, store_int, x)
        CONVERT(0x18, uint16_t, store_real, (double)mn_half_to_float(x))
        CONVERT(0x19, float, store_real, (double)x)
        CONVERT(0x1a, double, store_real, x)
    default:
        return mn_json_fail(json, "numbers should be here");
    }
#undef CONVERT
}

/// `count` elements of the uniform array we are in, which has as many.
static mn_status read_uniform(mn_json *json, mn_json_number type, void *values, int64_t count)
{
    const size_t from = mn_json_element_bytes(json->uniform.type), to = number_bytes(type);
    if (json->uniform.type == twin(type)) {
        MN_TRY(mn_source_read(json->source, values, mn_bytes(count, from)));
    } else {
        double raw[CHUNK]; // of any type; double for its alignment
        for (int64_t done = 0; done < count; done += CHUNK) {
            const int64_t some = count - done < CHUNK ? count - done : CHUNK;
            MN_TRY(mn_source_read(json->source, raw, mn_bytes(some, from)));
            MN_TRY(convert(json, type, (char *)values + (size_t)done * to, some, raw));
        }
    }
    json->uniform.left -= count;
    return MN_OK;
}

mn_status mn_json_numbers(mn_json *json, mn_json_number type, void *values, int64_t capacity, int64_t *count)
{
    *count = 0;
    json->kind = MN_JSON_NULL;
    if (json->levels[json->depth - 1].is_uniform && mn_json_element_bytes(json->uniform.type) > 0) {
        *count = json->uniform.left < capacity ? json->uniform.left : capacity;
        MN_TRY(read_uniform(json, type, values, *count));
        if (*count < capacity) mn_json_leave(json);
        return MN_OK;
    }
    for (; *count < capacity; ++*count) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) return MN_OK;
        if (json->kind == MN_JSON_INT || json->kind == MN_JSON_BOOL)
            MN_TRY(store_int(json, type, values, *count, json->integer));
        else if (json->kind == MN_JSON_REAL)
            MN_TRY(store_real(json, type, values, *count, json->real));
        else
            return mn_json_fail(json, "numbers should be here");
    }
    return MN_OK;
}

mn_status mn_json_exact_numbers(mn_json *json, mn_json_number type, void *values, int64_t count,
                                const char *what)
{
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, what));
    int64_t got;
    MN_TRY(mn_json_numbers(json, type, values, count, &got));
    if (got == count && json->kind != MN_JSON_END) MN_TRY(mn_json_next(json));
    if (got == count && json->kind == MN_JSON_END) return MN_OK;
    return mn_json_fail(json, "%s should hold %lld numbers but holds %s", what, (long long)count,
                        got < count ? "fewer" : "more");
}
