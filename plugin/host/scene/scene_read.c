// SPDX-License-Identifier: Apache-2.0
//
// A scene into a network: the outline, nodes and connections. Everything wrong is said with its line. Values
// of parameters are read in scene_parms.c.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/host/network/spelling.h"
#include "plugin/host/scene/scene.h"

enum { SCENE_VERSION = 1 };

// ---- sentences ----

mn_status mn_scene_fail(const mn_scene_reader *in, const mn_json_tree_value *at, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return mn_fail(in->ctx, MN_ERROR_SCENE, "%.300s:%d: %s", in->name, (int)at->line, sentence);
}

mn_status mn_scene_locate(const mn_scene_reader *in, const mn_json_tree_value *at, mn_status status)
{
    if (status == MN_OK || status == MN_ERROR_MEMORY || status == MN_ERROR_CANCELLED) return status;
    return mn_scene_fail(in, at, "%s", mn_context_message(in->ctx));
}

mn_status mn_scene_check_keys(const mn_scene_reader *in, const mn_json_tree_value *object, const char *what,
                              const char *const *keys)
{
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, object); at;
         at = mn_json_tree_next(in->json, at)) {
        mn_nearest nearest = mn_nearest_to(at->key);
        bool known = false;
        for (const char *const *key = keys; *key && !known; key++) {
            known = strcmp(*key, at->key) == 0;
            mn_nearest_try(&nearest, *key);
        }
        mn_shown shown, hint;
        if (!known)
            return mn_scene_fail(in, at, "%s has no key \"%s\"%s", what, mn_show(&shown, at->key),
                                 mn_nearest_hint(&nearest, &hint));
    }
    return MN_OK;
}

mn_status mn_scene_expect(const mn_scene_reader *in, const mn_json_tree_value *value, mn_json_tree_kind kind,
                          const char *what)
{
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "a list in [ ]", "an object in { }"};
    char buffer[64];
    if (value->kind == kind) return MN_OK;
    return mn_scene_fail(in, value, "%s must be %s, not %s.", what, names[kind],
                         mn_json_tree_describe(value, buffer, sizeof buffer));
}

mn_status mn_scene_whole(const mn_scene_reader *in, const mn_json_tree_value *value, const char *what,
                         int32_t *whole)
{
    MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_NUMBER, what));
    if (value->number != floor(value->number) || fabs(value->number) > 1e9)
        return mn_scene_fail(in, value, "%s must be a whole number, not %.10g.", what, value->number);
    *whole = (int32_t)value->number;
    return MN_OK;
}

// ---- the outline ----

static mn_status read_version(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    const mn_json_tree_value *version = mn_json_tree_find(in->json, root, "meniscus");
    int32_t number;
    if (!version)
        return mn_scene_fail(in, root,
                             "a scene begins with {\"meniscus\": %d, ...}; this text does not say so.",
                             SCENE_VERSION);
    MN_TRY(mn_scene_whole(in, version, "\"meniscus\"", &number));
    if (number != SCENE_VERSION)
        return mn_scene_fail(in, version, "the scene is of version %d; this build reads version %d.",
                             (int)number, SCENE_VERSION);
    return MN_OK;
}

static mn_status read_settings(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    const mn_json_tree_value *value = mn_json_tree_find(in->json, root, "title");
    if (value) {
        MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_STRING, "\"title\""));
        MN_TRY(mn_network_set_title(in->network, value->string));
    }
    value = mn_json_tree_find(in->json, root, "fps");
    if (value) {
        MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_NUMBER, "\"fps\""));
        MN_TRY(mn_scene_locate(in, value, mn_network_set_fps(in->network, value->number)));
    }
    value = mn_json_tree_find(in->json, root, "dx");
    if (value) {
        MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_NUMBER, "\"dx\""));
        MN_TRY(mn_scene_locate(in, value, mn_network_set_dx(in->network, value->number)));
    }
    value = mn_json_tree_find(in->json, root, "frames");
    if (value) {
        int32_t first, last;
        MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_ARRAY, "\"frames\""));
        if (value->count != 2)
            return mn_scene_fail(in, value, "\"frames\" must be [first, last], not a list of %d.",
                                 (int)value->count);
        const mn_json_tree_value *from = mn_json_tree_first(in->json, value),
                                 *to = mn_json_tree_next(in->json, from);
        MN_TRY(mn_scene_whole(in, from, "the first of \"frames\"", &first));
        MN_TRY(mn_scene_whole(in, to, "the last of \"frames\"", &last));
        MN_TRY(mn_scene_locate(in, value, mn_network_set_range(in->network, first, last)));
    }
    return MN_OK;
}

// ---- nodes ----

static mn_status read_required_string(const mn_scene_reader *in, const mn_json_tree_value *object,
                                      const char *what, const char *key, const char **string)
{
    const mn_json_tree_value *value = mn_json_tree_find(in->json, object, key);
    char label[96];
    *string = NULL;
    if (!value) return mn_scene_fail(in, object, "%s needs a \"%s\".", what, key);
    snprintf(label, sizeof label, "the \"%s\" of %s", key, what);
    MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_STRING, label));
    *string = value->string;
    return MN_OK;
}

static mn_status read_node(const mn_scene_reader *in, const mn_json_tree_value *object)
{
    static const char *const keys[] = {"name", "type", "inputs", "parms", NULL};
    const char *name, *type;
    int32_t node;
    MN_TRY(mn_scene_expect(in, object, MN_JSON_TREE_OBJECT, "a node"));
    MN_TRY(mn_scene_check_keys(in, object, "a node", keys));
    MN_TRY(read_required_string(in, object, "a node", "name", &name));
    MN_TRY(read_required_string(in, object, "a node", "type", &type));
    mn_status status = mn_network_add_node(in->network, type, name, &node);
    const char *wrong = status == MN_ERROR_NOT_FOUND ? "type" : "name";
    MN_TRY(mn_scene_locate(in, mn_json_tree_find(in->json, object, wrong), status));
    const mn_json_tree_value *parms = mn_json_tree_find(in->json, object, "parms");
    return parms ? mn_scene_read_parms(in, node, parms) : MN_OK;
}

// "name" or "name:1".
static mn_status find_source(const mn_scene_reader *in, const mn_json_tree_value *value, int32_t *source,
                             int32_t *output)
{
    char name[160];
    const char *colon = strrchr(value->string, ':');
    *output = 0;
    if (colon) {
        const size_t digits = strspn(colon + 1, "0123456789");
        mn_shown shown;
        if (digits == 0 || digits > 4 || colon[1 + digits])
            return mn_scene_fail(in, value,
                                 "the input '%s' must be a node's name, or name:1 for its second output.",
                                 mn_show(&shown, value->string));
        for (size_t i = 1; i <= digits; i++) *output = *output * 10 + (colon[i] - '0');
    }
    const size_t length = colon ? (size_t)(colon - value->string) : strlen(value->string);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1,
             value->string);
    return mn_scene_locate(in, value, mn_network_require(in->network, name, source));
}

static mn_status read_inputs(const mn_scene_reader *in, int32_t node, const mn_json_tree_value *inputs)
{
    char what[192];
    int32_t index = 0;
    snprintf(what, sizeof what, "\"inputs\" of '%s'", mn_network_node_name(in->network, node));
    MN_TRY(mn_scene_expect(in, inputs, MN_JSON_TREE_ARRAY, what));
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, inputs); at;
         at = mn_json_tree_next(in->json, at)) {
        int32_t source = -1, output = 0;
        if (at->kind != MN_JSON_TREE_NULL) {
            snprintf(what, sizeof what, "an input of '%s'", mn_network_node_name(in->network, node));
            MN_TRY(mn_scene_expect(in, at, MN_JSON_TREE_STRING, what));
            MN_TRY(find_source(in, at, &source, &output));
        }
        const mn_status status = mn_network_link(in->network, node, index++, source, output);
        MN_TRY(mn_scene_locate(in, at, status));
    }
    return MN_OK;
}

// The value that describes node `number`: nodes are added in the order of the list.
static const mn_json_tree_value *value_of_node(const mn_scene_reader *in, const mn_json_tree_value *nodes,
                                               int32_t number)
{
    const mn_json_tree_value *at = mn_json_tree_first(in->json, nodes);
    while (number-- > 0) at = mn_json_tree_next(in->json, at);
    return at;
}

static mn_status read_nodes(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    const mn_json_tree_value *nodes = mn_json_tree_find(in->json, root, "nodes");
    if (!nodes) return mn_scene_fail(in, root, "the scene needs \"nodes\".");
    MN_TRY(mn_scene_expect(in, nodes, MN_JSON_TREE_ARRAY, "\"nodes\""));
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, nodes); at;
         at = mn_json_tree_next(in->json, at))
        MN_TRY(read_node(in, at));
    int32_t node = 0;
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, nodes); at;
         at = mn_json_tree_next(in->json, at)) {
        const mn_json_tree_value *inputs = mn_json_tree_find(in->json, at, "inputs");
        if (inputs) MN_TRY(read_inputs(in, node, inputs));
        node++;
    }
    int32_t culprit = 0;
    const mn_status status = mn_network_check_order(in->network, &culprit);
    if (status == MN_OK) return MN_OK;
    const mn_json_tree_value *wrong = value_of_node(in, nodes, culprit);
    const mn_json_tree_value *inputs = mn_json_tree_find(in->json, wrong, "inputs");
    return mn_scene_locate(in, inputs ? inputs : wrong, status);
}

// ---- output and asset ----

static mn_status read_output(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    const mn_json_tree_value *value = mn_json_tree_find(in->json, root, "output");
    int32_t node;
    if (!value) return MN_OK;
    MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_STRING, "\"output\""));
    MN_TRY(mn_scene_locate(in, value, mn_network_require(in->network, value->string, &node)));
    return mn_network_set_output(in->network, node);
}

static mn_status optional_string(const mn_scene_reader *in, const mn_json_tree_value *object, const char *key,
                                 const char *what, const char **string)
{
    const mn_json_tree_value *value = mn_json_tree_find(in->json, object, key);
    *string = NULL;
    if (!value) return MN_OK;
    MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_STRING, what));
    *string = value->string;
    return MN_OK;
}

// {"parm": "node.parm", "name": ..., "label": ...}
static mn_status read_promoted(const mn_scene_reader *in, const mn_json_tree_value *object,
                               mn_asset_parm *promoted)
{
    static const char *const keys[] = {"parm", "name", "label", NULL};
    const char *path;
    MN_TRY(mn_scene_expect(in, object, MN_JSON_TREE_OBJECT, "a promoted parameter"));
    MN_TRY(mn_scene_check_keys(in, object, "a promoted parameter", keys));
    MN_TRY(read_required_string(in, object, "a promoted parameter", "parm", &path));
    MN_TRY(optional_string(in, object, "name", "the \"name\" of a promoted parameter", &promoted->name));
    MN_TRY(optional_string(in, object, "label", "the \"label\" of a promoted parameter", &promoted->label));
    const mn_json_tree_value *at = mn_json_tree_find(in->json, object, "parm");
    return mn_scene_locate(in, at, mn_network_find_parm(in->network, path, &promoted->node, &promoted->parm));
}

static mn_status read_asset(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    static const char *const keys[] = {"name", "label", "parms", NULL};
    const mn_json_tree_value *object = mn_json_tree_find(in->json, root, "asset");
    if (!object) return MN_OK;
    mn_asset asset = {0};
    MN_TRY(mn_scene_expect(in, object, MN_JSON_TREE_OBJECT, "\"asset\""));
    MN_TRY(mn_scene_check_keys(in, object, "\"asset\"", keys));
    MN_TRY(read_required_string(in, object, "\"asset\"", "name", &asset.name));
    MN_TRY(optional_string(in, object, "label", "the \"label\" of \"asset\"", &asset.label));
    const mn_json_tree_value *parms = mn_json_tree_find(in->json, object, "parms");
    if (parms) MN_TRY(mn_scene_expect(in, parms, MN_JSON_TREE_ARRAY, "the \"parms\" of \"asset\""));
    const int32_t count = parms ? parms->count : 0;
    mn_asset_parm *list = mn_allocate_zero(in->ctx, mn_bytes(count, sizeof *list));
    if (!list && count > 0) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    for (const mn_json_tree_value *at = parms ? mn_json_tree_first(in->json, parms) : NULL;
         at && status == MN_OK; at = mn_json_tree_next(in->json, at))
        status = read_promoted(in, at, &list[asset.parm_count++]);
    asset.parms = list;
    if (status == MN_OK) status = mn_scene_locate(in, object, mn_network_set_asset(in->network, &asset));
    mn_release(in->ctx, list, mn_bytes(count, sizeof *list));
    return status;
}

static mn_status read_scene(const mn_scene_reader *in)
{
    static const char *const keys[] = {"meniscus", "title",  "fps",    "frames", "dx", "nodes",
                                       "output",   "camera", "render", "asset",  NULL};
    const mn_json_tree_value *root = mn_json_tree_root(in->json);
    MN_TRY(mn_scene_expect(in, root, MN_JSON_TREE_OBJECT, "a scene"));
    MN_TRY(read_version(in, root));
    MN_TRY(mn_scene_check_keys(in, root, "a scene", keys));
    MN_TRY(read_settings(in, root));
    MN_TRY(read_nodes(in, root));
    mn_network_warn_of_dx(in->network);
    MN_TRY(read_output(in, root));
    MN_TRY(mn_scene_read_camera(in, root));
    MN_TRY(mn_scene_read_render(in, root));
    return read_asset(in, root);
}

// ---- public ----

mn_status mn_scene_read_into(mn_network *network, const char *text, size_t size, const char *name)
{
    mn_scene_reader in = {network->ctx, network, NULL, name};
    MN_TRY(mn_json_tree_read(in.ctx, text, size, name, &in.json));
    const mn_status status = read_scene(&in);
    mn_json_tree_free(in.json);
    return status;
}

mn_status mn_scene_read_memory(mn_context *ctx, const mn_services *services, const char *text, size_t size,
                               const char *name, mn_network **network)
{
    MN_TRY(mn_network_create(ctx, services, network));
    const mn_status status = mn_scene_read_into(*network, text, size, name);
    if (status == MN_OK) return MN_OK;
    mn_network_free(*network);
    *network = NULL;
    return status;
}

static mn_status read_whole_file(mn_context *ctx, const char *path, FILE *file, mn_scene_text *text)
{
    enum { PIECE = 1 << 16 };
    for (;;) {
        MN_TRY(mn_array_reserve(ctx, text, text->count + PIECE));
        const size_t got = fread(text->data + text->count, 1, PIECE, file);
        text->count += (int64_t)got;
        if (text->count > MN_JSON_TREE_MAX_BYTES)
            return mn_fail(ctx, MN_ERROR_SCENE, "%.300s:1: the text has more than %d MB.", path,
                           MN_JSON_TREE_MAX_BYTES >> 20);
        if (got == PIECE) continue;
        if (ferror(file)) return mn_fail(ctx, MN_ERROR_IO, "%s cannot be read: %s.", path, strerror(errno));
        return MN_OK;
    }
}

// Everything before the last slash.
static mn_status set_folder_of(mn_network *network, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return MN_OK;
    const size_t length = slash == path ? 1 : (size_t)(slash - path);
    char *folder = mn_allocate(network->ctx, length + 1);
    if (!folder) return MN_ERROR_MEMORY;
    memcpy(folder, path, length);
    folder[length] = '\0';
    const mn_status status = mn_network_set_folder(network, folder);
    mn_release(network->ctx, folder, length + 1);
    return status;
}

mn_status mn_scene_read(mn_context *ctx, const mn_services *services, const char *path, mn_network **network)
{
    *network = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return mn_fail(ctx, MN_ERROR_IO, "%s cannot be opened: %s.", path, strerror(errno));
    mn_scene_text text = {0};
    mn_status status = read_whole_file(ctx, path, file, &text);
    fclose(file);
    if (status == MN_OK)
        status = mn_scene_read_memory(ctx, services, text.data, (size_t)text.count, path, network);
    mn_array_free(ctx, &text);
    if (status == MN_OK) status = set_folder_of(*network, path);
    if (status != MN_OK) {
        mn_network_free(*network);
        *network = NULL;
    }
    return status;
}
