// SPDX-License-Identifier: Apache-2.0
//
// What the files that read scenes share.
#ifndef MENISCUS_PLUGIN_HOST_SCENE_SCENE_H
#define MENISCUS_PLUGIN_HOST_SCENE_SCENE_H

#include "plugin/host/network/network_state.h"
#include "plugin/json/text.h"
#include "plugin/json/tree.h"

typedef MN_ARRAY(char) mn_scene_text;

typedef struct mn_scene_reader {
    mn_context *ctx;
    mn_network *network;
    mn_json_tree *json;
    const char *name; ///< of the text, in sentences
} mn_scene_reader;

// ---- scene_read.c ----

/// MN_ERROR_SCENE with "name:line: " in front.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
mn_status
mn_scene_fail(const mn_scene_reader *in, const mn_json_tree_value *at, const char *format, ...);
/// The context's sentence again, with its line, when `status` is the scene's fault.
mn_status mn_scene_locate(const mn_scene_reader *in, const mn_json_tree_value *at, mn_status status);
/// Every key of the object is one of `keys`, which ends with NULL.
mn_status mn_scene_check_keys(const mn_scene_reader *in, const mn_json_tree_value *object, const char *what,
                              const char *const *keys);
mn_status mn_scene_expect(const mn_scene_reader *in, const mn_json_tree_value *value, mn_json_tree_kind kind,
                          const char *what);
mn_status mn_scene_whole(const mn_scene_reader *in, const mn_json_tree_value *value, const char *what,
                         int32_t *whole);

// ---- scene_parms.c ----

mn_status mn_scene_read_parms(const mn_scene_reader *in, int32_t node, const mn_json_tree_value *parms);

// ---- scene_camera.c ----

mn_status mn_scene_read_camera(const mn_scene_reader *in, const mn_json_tree_value *root);
void mn_scene_put_camera(mn_json_text *out, const mn_camera *camera);

// ---- scene_render.c ----

mn_status mn_scene_read_render(const mn_scene_reader *in, const mn_json_tree_value *root);
/// Of a network that has one.
void mn_scene_put_render(mn_json_text *out, const mn_network *network);

#endif
