// SPDX-License-Identifier: Apache-2.0
//
// A network as a scene: what is not a default, one node after the other, so that reading it back gives the
// same network and a version-control diff shows what an artist changed.
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/host/scene/scene.h"
#include "plugin/io/io.h"

// ---- parameters ----

// One value, as it stands without animation: a number, a list, a token or true.
static void put_value(mn_json_text *out, const mn_parm_def *def, const double *number)
{
    if (def->kind == MN_PARM_TOGGLE) {
        mn_json_text_put(out, number[0] != 0 ? "true" : "false");
    } else if (def->kind == MN_PARM_MENU) {
        mn_json_text_put_string(out, def->items[(int32_t)number[0]].token);
    } else if (def->size == 1) {
        mn_json_text_put_number(out, number[0]);
    } else {
        for (int32_t k = 0; k < def->size; k++) {
            mn_json_text_put(out, k > 0 ? ", " : "[");
            mn_json_text_put_number(out, number[k]);
        }
        mn_json_text_put(out, "]");
    }
}

static void put_keys(mn_json_text *out, const mn_parm_def *def, const mn_parm_state *state)
{
    mn_json_text_put(out, "{\"keys\": [");
    for (int64_t i = 0; i < state->keys.count; i++) {
        mn_json_text_put(out, i > 0 ? ", [" : "[");
        mn_json_text_put_number(out, state->keys.data[i].frame);
        mn_json_text_put(out, ", ");
        put_value(out, def, state->keys.data[i].value);
        mn_json_text_put(out, "]");
    }
    mn_json_text_put(out, "]}");
}

static void put_parms(mn_json_text *out, const mn_network_node *node)
{
    bool first = true;
    for (int32_t i = 0; i < node->type->parm_count; i++) {
        if (mn_network_is_default(node, i)) continue;
        const mn_parm_def *def = &node->type->parms[i];
        const mn_parm_state *state = &node->parms[i];
        if (first) mn_json_text_put(out, ",\n     \"parms\": {");
        mn_json_text_put_key(out, &first, ", ", def->name);
        if (mn_parm_is_text(def))
            mn_json_text_put_string(out, state->string);
        else if (state->keys.count > 0)
            put_keys(out, def, state);
        else
            put_value(out, def, state->number);
    }
    if (!first) mn_json_text_put(out, "}");
}

// ---- nodes ----

static void put_inputs(mn_json_text *out, const mn_network_node *node)
{
    int64_t count = node->links.count;
    while (count > 0 && node->links.data[count - 1].source < 0) count--;
    if (count == 0) return;
    mn_json_text_put(out, ", \"inputs\": [");
    for (int64_t i = 0; i < count; i++) {
        const mn_link link = node->links.data[i];
        const mn_network_node *source = mn_network_at(node->network, link.source);
        char name[160];
        if (i > 0) mn_json_text_put(out, ", ");
        if (!source) {
            mn_json_text_put(out, "null");
            continue;
        }
        if (link.output == 0)
            snprintf(name, sizeof name, "%s", source->name);
        else
            snprintf(name, sizeof name, "%s:%d", source->name, (int)link.output);
        mn_json_text_put_string(out, name);
    }
    mn_json_text_put(out, "]");
}

static void put_nodes(mn_json_text *out, const mn_network *network)
{
    bool first = true;
    mn_json_text_put(out, "  \"nodes\": [");
    for (int64_t i = 0; i < network->nodes.count; i++) {
        const mn_network_node *node = network->nodes.data[i];
        if (!node) continue;
        mn_json_text_put(out, first ? "\n    {" : ",\n    {");
        first = false;
        bool first_member = true;
        mn_json_text_put_member(out, &first_member, ", ", "name", node->name);
        mn_json_text_put_member(out, &first_member, ", ", "type", node->type->name);
        put_inputs(out, node);
        put_parms(out, node);
        mn_json_text_put(out, "}");
    }
    mn_json_text_put(out, first ? "]" : "\n  ]");
}

static void put_asset(mn_json_text *out, const mn_network *network, const mn_asset *asset)
{
    bool first = true;
    mn_json_text_put(out, ",\n  \"asset\": {");
    mn_json_text_put_member(out, &first, ", ", "name", asset->name);
    if (strcmp(asset->label, asset->name) != 0)
        mn_json_text_put_member(out, &first, ", ", "label", asset->label);
    if (asset->parm_count > 0) mn_json_text_put(out, ",\n    \"parms\": [");
    for (int32_t i = 0; i < asset->parm_count; i++) {
        const mn_asset_parm *parm = &asset->parms[i];
        const mn_network_node *node = mn_network_at(network, parm->node);
        const mn_parm_def *def = &node->type->parms[parm->parm];
        char path[256];
        snprintf(path, sizeof path, "%s.%s", node->name, def->name);
        bool first_member = true;
        mn_json_text_put(out, i > 0 ? ",\n      {" : "\n      {");
        mn_json_text_put_member(out, &first_member, ", ", "parm", path);
        if (strcmp(parm->name, def->name) != 0)
            mn_json_text_put_member(out, &first_member, ", ", "name", parm->name);
        if (strcmp(parm->label, def->label) != 0)
            mn_json_text_put_member(out, &first_member, ", ", "label", parm->label);
        mn_json_text_put(out, "}");
    }
    mn_json_text_put(out, asset->parm_count > 0 ? "\n    ]}" : "}");
}

// ---- the scene ----

mn_status mn_scene_write_text(const mn_network *network, char **text)
{
    mn_json_text out = {.ctx = network->ctx};
    bool first = true;
    mn_json_text_put(&out, "{\n  ");
    mn_json_text_put_key(&out, &first, ",\n  ", "meniscus");
    mn_json_text_put(&out, "1");
    if (*network->title) mn_json_text_put_member(&out, &first, ",\n  ", "title", network->title);
    mn_json_text_put_key(&out, &first, ",\n  ", "fps");
    mn_json_text_put_number(&out, network->fps);
    if (network->dx > 0) {
        mn_json_text_put_key(&out, &first, ", ", "dx");
        mn_json_text_put_number(&out, network->dx);
    }
    mn_json_text_put_key(&out, &first, ", ", "frames");
    char frames[64];
    snprintf(frames, sizeof frames, "[%d, %d],\n", (int)network->first, (int)network->last);
    mn_json_text_put(&out, frames);
    put_nodes(&out, network);
    const mn_network_node *output = mn_network_at(network, network->output);
    if (output) mn_json_text_put_member(&out, &first, ",\n  ", "output", output->name);
    if (mn_network_camera(network)) mn_scene_put_camera(&out, mn_network_camera(network));
    if (mn_network_render(network)) mn_scene_put_render(&out, network);
    if (mn_network_asset(network)) put_asset(&out, network, mn_network_asset(network));
    mn_json_text_put(&out, "\n}\n");
    return mn_json_text_finish(&out, text);
}

mn_status mn_scene_write(const mn_network *network, const char *path)
{
    char *text;
    mn_safe_file *file;
    MN_TRY(mn_scene_write_text(network, &text));
    mn_status status = mn_safe_file_open(network->ctx, path, &file);
    if (status == MN_OK) {
        status = mn_safe_file_write(file, text, strlen(text));
        if (status == MN_OK)
            status = mn_safe_file_commit(file);
        else
            mn_safe_file_abandon(file);
    }
    mn_scene_free_text(network->ctx, text);
    return status;
}

void mn_scene_free_text(mn_context *ctx, char *text)
{
    if (text) mn_release(ctx, text, strlen(text) + 1);
}
