// SPDX-License-Identifier: Apache-2.0
//
// How a scene wants to be photographed: "render": {"studio": "table", "stills": [12, 48], "looks": {"dish":
// "glass"}, ...}. Nothing is cooked differently for it; scripts/render.sh and Blender use it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/spelling.h"
#include "plugin/host/scene/scene.h"

static const char *const studios[] = {"bright", "table", "dark", NULL};

// ---- the network's ----

mn_render mn_render_default(void)
{
    return (mn_render){.studio = "bright", .size = {960, 720}, .samples = 96, .shutter = 0.5};
}

static mn_status check_studio(mn_context *ctx, const char *studio)
{
    mn_nearest nearest = mn_nearest_to(studio);
    mn_shown shown, hint;
    for (const char *const *known = studios; *known; known++) {
        if (strcmp(*known, studio) == 0) return MN_OK;
        mn_nearest_try(&nearest, *known);
    }
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "There is no studio '%s'%s There are bright, table and dark.",
                   mn_show(&shown, studio), mn_nearest_hint(&nearest, &hint));
}

static mn_status check_range(mn_context *ctx, const char *what, double value, double least, double most)
{
    if (value >= least && value <= most) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "The \"%s\" of \"render\" is %g; it must be %g to %g.", what,
                   value, least, most);
}

mn_status mn_network_set_render(mn_network *network, const mn_render *render)
{
    mn_context *ctx = network->ctx;
    network->has_render = false;
    if (!render) return MN_OK;
    MN_TRY(check_studio(ctx, render->studio));
    for (int i = 0; i < 2; i++) MN_TRY(check_range(ctx, "size", render->size[i], 16, 16384));
    MN_TRY(check_range(ctx, "samples", render->samples, 1, 1 << 20));
    MN_TRY(check_range(ctx, "shutter", render->shutter, 0, 1));
    MN_TRY(check_range(ctx, "aperture", render->aperture, 0, 1));
    MN_TRY(check_range(ctx, "stills", render->still_count, 0, MN_RENDER_STILLS));
    MN_TRY(check_range(ctx, "looks", render->look_count, 0, MN_RENDER_LOOKS));
    for (int32_t i = 0; i < render->look_count; i++) {
        int32_t node;
        MN_TRY(mn_network_require(network, render->looks[i].node, &node));
    }
    network->render = *render;
    network->has_render = true;
    return MN_OK;
}

const mn_render *mn_network_render(const mn_network *network)
{
    return network->has_render ? &network->render : NULL;
}

// ---- in ----

static mn_status read_name(const mn_scene_reader *in, const mn_json_tree_value *value, const char *what,
                           char name[MN_RENDER_NAME])
{
    MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_STRING, what));
    if (strlen(value->string) >= MN_RENDER_NAME)
        return mn_scene_fail(in, value, "%s is longer than %d letters.", what, MN_RENDER_NAME - 1);
    snprintf(name, MN_RENDER_NAME, "%s", value->string);
    return MN_OK;
}

static mn_status read_number(const mn_scene_reader *in, const mn_json_tree_value *object, const char *key,
                             const char *what, double *number)
{
    const mn_json_tree_value *value = mn_json_tree_find(in->json, object, key);
    if (!value) return MN_OK;
    MN_TRY(mn_scene_expect(in, value, MN_JSON_TREE_NUMBER, what));
    *number = value->number;
    return MN_OK;
}

// A list of at most `capacity` whole numbers; *count stays where there is none.
static mn_status read_list(const mn_scene_reader *in, const mn_json_tree_value *object, const char *key,
                           const char *what, int32_t capacity, int32_t *numbers, int32_t *count)
{
    const mn_json_tree_value *list = mn_json_tree_find(in->json, object, key);
    if (!list) return MN_OK;
    MN_TRY(mn_scene_expect(in, list, MN_JSON_TREE_ARRAY, what));
    if (list->count > capacity)
        return mn_scene_fail(in, list, "%s has %d numbers; %d is the most.", what, (int)list->count,
                             (int)capacity);
    *count = 0;
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, list); at;
         at = mn_json_tree_next(in->json, at))
        MN_TRY(mn_scene_whole(in, at, what, &numbers[(*count)++]));
    return MN_OK;
}

static mn_status read_looks(const mn_scene_reader *in, const mn_json_tree_value *object, mn_render *render)
{
    const mn_json_tree_value *looks = mn_json_tree_find(in->json, object, "looks");
    if (!looks) return MN_OK;
    MN_TRY(mn_scene_expect(in, looks, MN_JSON_TREE_OBJECT, "the \"looks\" of \"render\""));
    if (looks->count > MN_RENDER_LOOKS)
        return mn_scene_fail(in, looks, "\"looks\" has %d nodes; %d is the most.", (int)looks->count,
                             MN_RENDER_LOOKS);
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, looks); at;
         at = mn_json_tree_next(in->json, at)) {
        mn_render_look *look = &render->looks[render->look_count++];
        int32_t node;
        MN_TRY(mn_scene_locate(in, at, mn_network_require(in->network, at->key, &node)));
        snprintf(look->node, sizeof look->node, "%s", at->key);
        MN_TRY(read_name(in, at, "a look", look->look));
    }
    return MN_OK;
}

mn_status mn_scene_read_render(const mn_scene_reader *in, const mn_json_tree_value *root)
{
    static const char *const keys[] = {"studio",   "size",   "samples", "shutter",
                                       "aperture", "stills", "looks",   NULL};
    const mn_json_tree_value *object = mn_json_tree_find(in->json, root, "render");
    if (!object) return MN_OK;
    mn_render render = mn_render_default();
    MN_TRY(mn_scene_expect(in, object, MN_JSON_TREE_OBJECT, "\"render\""));
    MN_TRY(mn_scene_check_keys(in, object, "\"render\"", keys));
    const mn_json_tree_value *studio = mn_json_tree_find(in->json, object, "studio");
    const mn_json_tree_value *samples = mn_json_tree_find(in->json, object, "samples");
    if (studio) MN_TRY(read_name(in, studio, "the \"studio\" of \"render\"", render.studio));
    if (samples) MN_TRY(mn_scene_whole(in, samples, "the \"samples\" of \"render\"", &render.samples));
    MN_TRY(read_number(in, object, "shutter", "the \"shutter\" of \"render\"", &render.shutter));
    MN_TRY(read_number(in, object, "aperture", "the \"aperture\" of \"render\"", &render.aperture));
    int32_t two = 2;
    MN_TRY(read_list(in, object, "size", "the \"size\" of \"render\"", 2, render.size, &two));
    if (two != 2) return mn_scene_fail(in, object, "the \"size\" of \"render\" must be [width, height].");
    MN_TRY(read_list(in, object, "stills", "the \"stills\" of \"render\"", MN_RENDER_STILLS, render.stills,
                     &render.still_count));
    MN_TRY(read_looks(in, object, &render));
    return mn_scene_locate(in, object, mn_network_set_render(in->network, &render));
}

// ---- out ----

static void put_number(mn_json_text *out, const char *before, double number)
{
    mn_json_text_put(out, before);
    mn_json_text_put_number(out, number);
}

void mn_scene_put_render(mn_json_text *out, const mn_network *network)
{
    const mn_render *render = &network->render;
    bool first = true;
    mn_json_text_put(out, ",\n  \"render\": {");
    mn_json_text_put_member(out, &first, ", ", "studio", render->studio);
    put_number(out, ", \"size\": [", render->size[0]);
    put_number(out, ", ", render->size[1]);
    put_number(out, "], \"samples\": ", render->samples);
    put_number(out, ", \"shutter\": ", render->shutter);
    put_number(out, ", \"aperture\": ", render->aperture);
    mn_json_text_put(out, ", \"stills\": [");
    for (int32_t i = 0; i < render->still_count; i++) put_number(out, i > 0 ? ", " : "", render->stills[i]);
    mn_json_text_put(out, "], \"looks\": {");
    first = true;
    for (int32_t i = 0; i < render->look_count; i++)
        if (mn_network_find(network, render->looks[i].node) >= 0) // a node that was removed has none
            mn_json_text_put_member(out, &first, ", ", render->looks[i].node, render->looks[i].look);
    mn_json_text_put(out, "}}");
}
