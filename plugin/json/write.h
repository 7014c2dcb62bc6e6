// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON as text, laid out as Houdini does, or in Houdini's binary form (see json_binary.c). The first
// failure stays in `status` and nothing is written after it, so callers check once at the end.
#ifndef MENISCUS_PLUGIN_JSON_WRITE_H
#define MENISCUS_PLUGIN_JSON_WRITE_H

#include "meniscus/stream.h"
#include "plugin/json/read.h"

enum { MN_JSON_WRITE_DEPTH = 32, MN_JSON_WRITE_TOKENS = 128, MN_JSON_WRITE_BUFFER = 1 << 16 };

typedef struct mn_json_writer {
    mn_writer out;
    bool is_binary;
    mn_status status;
    int64_t written; ///< bytes so far

    int32_t depth;
    struct {
        bool is_map, started, after_key;
    } levels[MN_JSON_WRITE_DEPTH];
    int32_t token_count;
    const char *tokens[MN_JSON_WRITE_TOKENS];
    size_t used;
    char buffer[MN_JSON_WRITE_BUFFER];
} mn_json_writer;

void mn_json_write_begin(mn_json_writer *json, mn_writer out, bool is_binary);
/// Hands on what is buffered.
mn_status mn_json_write_finish(mn_json_writer *json);

void mn_json_begin_array(mn_json_writer *json);
void mn_json_end_array(mn_json_writer *json);
void mn_json_begin_map(mn_json_writer *json);
void mn_json_end_map(mn_json_writer *json);
/// A key, or another string that may come again: a literal, since its address is kept.
void mn_json_write_key(mn_json_writer *json, const char *literal);
void mn_json_write_string(mn_json_writer *json, const char *string);
void mn_json_write_bool(mn_json_writer *json, bool value);
void mn_json_write_int(mn_json_writer *json, int64_t value);
/// Always eight bytes in binary, for what is filled in by arithmetic on sizes.
void mn_json_write_i64(mn_json_writer *json, int64_t value);
void mn_json_write_real(mn_json_writer *json, double value);

/// A whole array of numbers; uniform in binary.
void mn_json_write_numbers(mn_json_writer *json, mn_json_number type, const void *values, int64_t count);
/// The same in pieces: `count` numbers in all.
void mn_json_begin_numbers(mn_json_writer *json, mn_json_number type, int64_t count);
void mn_json_add_numbers(mn_json_writer *json, mn_json_number type, const void *values, int64_t count);
void mn_json_end_numbers(mn_json_writer *json);
/// An array of bools, one byte each; bits in binary.
void mn_json_write_bools(mn_json_writer *json, const uint8_t *values, int64_t count);

#endif
