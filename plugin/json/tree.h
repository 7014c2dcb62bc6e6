// SPDX-License-Identifier: Apache-2.0
//
// JSON as a tree whose every value knows its line, for sentences about scenes. (cJSON keeps no positions,
// takes the first of two equal keys in silence, and allocates behind the context's back.)
#ifndef MENISCUS_PLUGIN_JSON_TREE_H
#define MENISCUS_PLUGIN_JSON_TREE_H

#include "meniscus/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_json_tree mn_json_tree;

typedef enum mn_json_tree_kind {
    MN_JSON_TREE_NULL,
    MN_JSON_TREE_BOOL,
    MN_JSON_TREE_NUMBER,
    MN_JSON_TREE_STRING,
    MN_JSON_TREE_ARRAY,
    MN_JSON_TREE_OBJECT
} mn_json_tree_kind;

typedef struct mn_json_tree_value {
    mn_json_tree_kind kind;
    int32_t line;       ///< where it begins, from 1
    const char *key;    ///< in an object, otherwise NULL
    const char *string; ///< UTF-8 without zeros inside; NULL for other kinds
    double number;      ///< finite; 0 or 1 for a bool
    int32_t count;      ///< of what is in an array or object
    int32_t first, next;
} mn_json_tree_value;

/// At most so many levels, keys in one object, and bytes of text.
enum { MN_JSON_TREE_MAX_DEPTH = 32, MN_JSON_TREE_MAX_KEYS = 256, MN_JSON_TREE_MAX_BYTES = 32 << 20 };

/// Fails with MN_ERROR_SCENE and "name:line: what is wrong". UTF-8 (a byte order mark is skipped), keys of
/// one object differ, nothing after the end.
mn_status mn_json_tree_read(mn_context *ctx, const char *text, size_t size, const char *name,
                            mn_json_tree **json);
void mn_json_tree_free(mn_json_tree *json);

const mn_json_tree_value *mn_json_tree_root(const mn_json_tree *json);
/// The first value in an array or object, and the one after another; NULL at the end.
const mn_json_tree_value *mn_json_tree_first(const mn_json_tree *json, const mn_json_tree_value *in);
const mn_json_tree_value *mn_json_tree_next(const mn_json_tree *json, const mn_json_tree_value *value);
/// The value of a key, or NULL.
const mn_json_tree_value *mn_json_tree_find(const mn_json_tree *json, const mn_json_tree_value *object,
                                            const char *key);
/// "a number", "a list of 3": for sentences.
const char *mn_json_tree_describe(const mn_json_tree_value *value, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
