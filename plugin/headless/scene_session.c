// SPDX-License-Identifier: Apache-2.0
//
// Scenes, settings, targets and frames as they are written on the command line.
#include "plugin/headless/scene_session.h"
#include "meniscus/array.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/network/spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All of stdin; a scene of more than 1 GiB is a mistake.
static mn_status read_stdin(mn_session *session, mn_network **network)
{
    const size_t most = (size_t)1 << 30;
    MN_ARRAY(char) text = {0};
    mn_status status = MN_OK;
    for (size_t got = 1; got > 0 && status == MN_OK && (size_t)text.count < most;) {
        const int64_t before = text.count;
        status = mn_array_resize(session->ctx, &text, before + (1 << 16));
        if (status != MN_OK) break;
        got = fread(text.data + before, 1, 1 << 16, stdin);
        text.count = before + (int64_t)got;
    }
    if (status == MN_OK)
        status = mn_scene_read_memory(session->ctx, NULL, text.data, (size_t)text.count, "stdin", network);
    mn_array_free(session->ctx, &text);
    return status;
}

mn_status mn_open_scene(mn_session *session, const char *path, mn_network **network)
{
    const mn_status status = strcmp(path, "-") == 0 ? read_stdin(session, network)
                                                    : mn_scene_read(session->ctx, NULL, path, network);
    const bool ours = status == MN_OK || status == MN_ERROR_MEMORY || status == MN_ERROR_CANCELLED;
    return ours ? status : MN_ERROR_SCENE;
}

/// Whatever is wrong with what the user wrote about the scene.
static mn_status as_scene_error(mn_status status)
{
    return status == MN_OK || status == MN_ERROR_MEMORY ? status : MN_ERROR_SCENE;
}

void mn_warn_of_material(const mn_network *network, int32_t node, const char *parm)
{
    const mn_node_type *type = mn_network_node_type(network, node);
    const char *name = mn_network_node_name(network, node);
    mn_parm_value material;
    const int32_t at = mn_parm_find(type, parm), menu = mn_parm_find(type, "material");
    if (at < 0 || menu < 0 || type->parms[at].property == MN_PROPERTY_NONE) return;
    if (mn_network_parm(network, node, "material", 0, &material) != MN_OK || material.number[0] == 0) return;
    mn_log(mn_network_context(network), MN_LOG_WARNING,
           "%s.%s does nothing while %s.material is %s, which gives it; set %s.material=custom.", name, parm,
           name, type->parms[menu].items[(int32_t)material.number[0]].token, name);
}

/// --set dx=0.0005: of the whole network.
static mn_status set_dx(mn_session *session, mn_network *network, const char *text)
{
    char *end;
    mn_shown shown;
    const double dx = strtod(text, &end);
    if (end == text || *end)
        return mn_fail(session->ctx, MN_ERROR_SCENE, "--set dx: '%s' is not a number.",
                       mn_show(&shown, text));
    return as_scene_error(mn_network_set_dx(network, dx));
}

mn_status mn_apply_setting(mn_session *session, mn_network *network, const char *setting)
{
    const char *dot = strchr(setting, '.'), *equals = strchr(setting, '=');
    char name[256], parm[256];
    mn_shown shown;
    if (strncmp(setting, "dx=", 3) == 0) return set_dx(session, network, setting + 3);
    if (!dot || !equals || dot > equals || dot - setting >= 256 || equals - dot > 256)
        return mn_fail(session->ctx, MN_ERROR_SCENE, "--set %s: write it as node.parm=value.",
                       mn_show(&shown, setting));
    snprintf(name, sizeof name, "%.*s", (int)(dot - setting), setting);
    snprintf(parm, sizeof parm, "%.*s", (int)(equals - dot - 1), dot + 1);
    int32_t node;
    mn_status status = mn_network_require(network, name, &node);
    if (status == MN_OK) status = mn_network_set_text(network, node, parm, equals + 1);
    if (status == MN_OK) mn_warn_of_material(network, node, parm);
    if (status == MN_OK || status == MN_ERROR_MEMORY) return status;
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", mn_context_message(session->ctx));
    return mn_fail(session->ctx, MN_ERROR_SCENE, "--set %s: %s", mn_show(&shown, setting), sentence);
}

mn_status mn_find_target(mn_session *session, const mn_network *network, const char *name, mn_target *target)
{
    target->output = 0;
    target->node = mn_network_output(network);
    if (!name && target->node >= 0) return MN_OK;
    if (!name)
        return mn_fail(session->ctx, MN_ERROR_SCENE,
                       "The scene does not say which node is its output; say so with --node NAME.");
    char plain[256];
    const char *colon = strrchr(name, ':');
    int length = (int)strlen(name);
    if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) && strlen(colon) < 8) {
        length = (int)(colon - name);
        target->output = atoi(colon + 1);
    }
    snprintf(plain, sizeof plain, "%.*s", length, name);
    MN_TRY(as_scene_error(mn_network_require(network, plain, &target->node)));
    const int32_t outputs = mn_network_node_type(network, target->node)->output_count;
    if (target->output < outputs) return MN_OK;
    return mn_fail(session->ctx, MN_ERROR_SCENE, "'%s' has %d output%s, counted from 0; there is no %s.",
                   plain, (int)outputs, outputs == 1 ? "" : "s", colon + 1);
}

void mn_target_name(const mn_network *network, mn_target target, char name[MN_TARGET_NAME])
{
    const char *node = mn_network_node_name(network, target.node);
    if (target.output == 0)
        snprintf(name, MN_TARGET_NAME, "%.200s", node);
    else
        snprintf(name, MN_TARGET_NAME, "%.200s_%d", node, (int)target.output);
}

bool mn_read_frames(const mn_subcommand *command, const char *text, int32_t *first, int32_t *last)
{
    int32_t step;
    if (!mn_read_frame_steps(command, text, first, last, &step)) return false;
    if (step == 1) return true;
    mn_usage_error(command, "--frames: steps are for cook alone; write %d-%d.", (int)*first, (int)*last);
    return false;
}

bool mn_read_frame_steps(const mn_subcommand *command, const char *text, int32_t *first, int32_t *last,
                         int32_t *step)
{
    mn_shown shown;
    long stride = 1;
    char *end;
    long a = strtol(text, &end, 10), b = a;
    bool good = end != text;
    if (good && *end == '-') {
        const char *second = end + 1;
        b = strtol(second, &end, 10);
        good = end != second;
    }
    if (good && *end == 'x' && end[1] >= '1' && end[1] <= '9') stride = strtol(end + 1, &end, 10);
    if (!good || *end != 0 || a < MN_FRAME_MIN || b > MN_FRAME_MAX || b < MN_FRAME_MIN || a > MN_FRAME_MAX) {
        mn_usage_error(command, "--frames: '%s' is not A, A-B or A-BxSTEP, frames from %d to %d.",
                       mn_show(&shown, text), MN_FRAME_MIN, MN_FRAME_MAX);
        return false;
    }
    if (a > b) {
        mn_usage_error(command, "--frames: %s ends before it begins; write %ld-%ld.", mn_show(&shown, text),
                       b, a);
        return false;
    }
    if (stride > MN_FRAME_MAX) stride = MN_FRAME_MAX;
    *first = (int32_t)a, *last = (int32_t)b, *step = (int32_t)stride;
    return true;
}
