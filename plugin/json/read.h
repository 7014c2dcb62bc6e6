// SPDX-License-Identifier: Apache-2.0
//
// A pull reader of JSON, as text and in Houdini's binary form: ask for the next value, look at its kind.
//
//   [1, "two", {"three": 3}]   gives   ARRAY, INT, STRING, MAP, STRING (the key), INT, END, END
//
// Nothing is kept but the value at hand, nesting is bounded and nothing recurses, so a hostile file can cost
// no more memory than a few of its own strings. Scenes are read by it too, into a tree (tree.h): a strict
// reader takes RFC 8259 to the letter and speaks of lines instead of bytes.
#ifndef MENISCUS_PLUGIN_JSON_READ_H
#define MENISCUS_PLUGIN_JSON_READ_H

#include <locale.h>

#include "meniscus/array.h"
#include "meniscus/geo.h"
#include "plugin/io/source.h"

enum {
    MN_JSON_DEPTH_MAX = 256,
    MN_JSON_STRING_MAX = 16 << 20, ///< bytes of one string
    MN_JSON_NUMBER_MAX = 400,      ///< characters of one number in text
};

typedef enum mn_json_kind {
    MN_JSON_END, ///< of the array or map we were in, which is left by this
    MN_JSON_NULL,
    MN_JSON_BOOL,
    MN_JSON_INT,
    MN_JSON_REAL,
    MN_JSON_STRING,
    MN_JSON_ARRAY, ///< entered by this
    MN_JSON_MAP,   ///< the same; keys and values alternate
} mn_json_kind;

/// What numbers are stored as; the first four are mn_type's.
typedef enum mn_json_number {
    MN_JSON_F32 = MN_F32,
    MN_JSON_F64 = MN_F64,
    MN_JSON_I32 = MN_I32,
    MN_JSON_I64 = MN_I64,
    MN_JSON_U8 = MN_TYPE_COUNT,
} mn_json_number;

typedef struct mn_json_level {
    bool is_map, is_uniform;
    bool started;   ///< a value was there already
    bool after_key; ///< in a map: the value comes next
} mn_json_level;

typedef struct mn_json {
    mn_context *ctx;
    mn_source *source; ///< the caller's
    bool is_binary;
    bool is_strict; ///< text of a scene: all of it is in the source's buffer
    int32_t line;   ///< of text, from 1

    mn_json_kind kind;     ///< of the last value
    int64_t integer;       ///< INT, and BOOL as 0 or 1
    double real;           ///< INT, BOOL and REAL
    MN_ARRAY(char) string; ///< STRING and keys, closed by a zero that is not counted

    int32_t depth, depth_max;
    mn_json_level levels[MN_JSON_DEPTH_MAX];
    MN_ARRAY(char *) tokens; ///< binary: strings by number; NULL when not defined
    int64_t token_definitions;
    struct {
        uint8_t type;
        int64_t left;      ///< elements still to come
        uint32_t bits;     ///< of bools: the word at hand
        int32_t bits_left; ///< of it
    } uniform;
    locale_t locale; ///< "C", whatever the host has set
} mn_json;

/// Looks at the first bytes for text or binary. Close it in any case.
mn_status mn_json_open(mn_context *ctx, mn_source *source, mn_json *json);
void mn_json_close(mn_json *json);
/// The text of a scene, `size` bytes at source->at; a byte order mark is skipped. `most` levels.
mn_status mn_json_open_strict(mn_context *ctx, mn_source *source, int32_t most, mn_json *json);
/// After the outermost value: fails when anything but space follows.
mn_status mn_json_finish(mn_json *json);

mn_status mn_json_next(mn_json *json);
/// Leaves the array or map that was just entered; other values are behind us already.
mn_status mn_json_skip(mn_json *json);
/// The next value, whatever it is, and all in it.
mn_status mn_json_skip_next(mn_json *json);

/// In an array of numbers (or bools): up to `capacity` of them, converted. Fewer than `capacity`, or kind ==
/// END, means that the array has ended and is left. A number that the type cannot hold is an error.
mn_status mn_json_numbers(mn_json *json, mn_json_number type, void *values, int64_t capacity, int64_t *count);
/// Enters an array and reads exactly `count` numbers; `what` stands in the sentence when there are more or
/// fewer.
mn_status mn_json_exact_numbers(mn_json *json, mn_json_number type, void *values, int64_t count,
                                const char *what);

/// The next value, which must be of this kind; `what` names it in the sentence.
mn_status mn_json_expect(mn_json *json, mn_json_kind kind, const char *what);
mn_status mn_json_expect_int(mn_json *json, const char *what, int64_t *value);
/// INT or REAL.
mn_status mn_json_expect_real(mn_json *json, const char *what, double *value);
/// A string without a zero byte in it, at most `length_max` long.
mn_status mn_json_expect_string(mn_json *json, const char *what, int64_t length_max);
/// The next key in a map or in an array of alternating keys and values; false at the end.
mn_status mn_json_next_key(mn_json *json, bool *more);
/// Whether the string at hand is this one.
bool mn_json_is(const mn_json *json, const char *string);

/// MN_ERROR_FORMAT with "file: at byte n: ...", or MN_ERROR_SCENE with "file:line: ..."; a stop is added.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
mn_status
mn_json_fail(mn_json *json, const char *format, ...);

// ---- between read.c, read_text.c, read_binary.c and read_numbers.c ----

mn_status mn_json_next_text(mn_json *json);
/// The next character after space, not yet taken; -1 at the end.
mn_status mn_json_skip_space(mn_json *json, int *c);
/// "expected ... but found 'c'"; c < 0: "but the text ends".
mn_status mn_json_fail_expected(mn_json *json, const char *expected, int c);
mn_status mn_json_next_binary(mn_json *json);
/// One element of the uniform array we are in.
mn_status mn_json_next_uniform(mn_json *json);
mn_status mn_json_skip_uniform(mn_json *json);
mn_status mn_json_enter(mn_json *json, bool is_map);
/// Sets kind END.
void mn_json_leave(mn_json *json);
/// Empties the string at hand.
mn_status mn_json_string_begin(mn_json *json);
mn_status mn_json_string_add(mn_json *json, const void *bytes, size_t size);
/// Bytes of an element of a uniform array; 0 for strings, bools and what is no number.
size_t mn_json_element_bytes(uint8_t type);
float mn_half_to_float(uint16_t half);

#endif
