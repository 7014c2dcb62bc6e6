// SPDX-License-Identifier: Apache-2.0
//
// JSON out: text that grows, strings escaped, numbers as short as they can be. The layout is the caller's.
// The first failure stays; check `status` at the end.
#ifndef MENISCUS_PLUGIN_JSON_TEXT_H
#define MENISCUS_PLUGIN_JSON_TEXT_H

#include "meniscus/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_json_text {
    mn_context *ctx;
    mn_status status;
    MN_ARRAY(char) bytes;
} mn_json_text;

/// Brackets, commas, spaces: as they are.
void mn_json_text_put(mn_json_text *out, const char *raw);
/// In quotes; a string that is not valid UTF-8 is MN_ERROR_UNSUPPORTED.
void mn_json_text_put_string(mn_json_text *out, const char *string);
/// Infinity and NaN, which JSON does not have, become null.
void mn_json_text_put_number(mn_json_text *out, double number);
/// "key": with the separator before it unless `*first`, which it clears.
void mn_json_text_put_key(mn_json_text *out, bool *first, const char *separator, const char *key);
/// "key": "string", with the separator in the same way.
void mn_json_text_put_member(mn_json_text *out, bool *first, const char *separator, const char *key,
                             const char *string);

/// The text with its zero, in memory that mn_scene_free_text() takes back. `out` is empty after it.
mn_status mn_json_text_finish(mn_json_text *out, char **text);

#ifdef __cplusplus
}
#endif
#endif
