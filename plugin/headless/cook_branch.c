// SPDX-License-Identifier: Apache-2.0
//
// A branch is a network like the one it comes from, but for keys at the branch's frame f:
//
//   v(t) = old(t) for t <= f,  new for t >= f + 1,  linear between
//
// so the states at f are the same, and from there on it is simulated as if it had been cooked with these keys
// from the beginning. What cannot have keys (menus, files, words) is new from the beginning; the states at f
// still are the old ones.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/cook_branch.h"
#include "plugin/headless/cook_journal.h"
#include "plugin/host/network/spelling.h"
#include "plugin/json/text.h"
#include "plugin/json/tree.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mn_read_branch(const mn_subcommand *command, const char *text, mn_cook_branch *branch)
{
    const char *at = strrchr(text, '@');
    int64_t frame = 0;
    mn_shown shown;
    if (!at || at == text || at - text >= MN_PATH_SIZE) {
        mn_usage_error(command, "--from: '%s' is not FOLDER@FRAME.", mn_show(&shown, text));
        return false;
    }
    if (!mn_read_integer(command, "--from", at + 1, MN_FRAME_MIN, MN_FRAME_MAX, &frame)) return false;
    snprintf(branch->folder, sizeof branch->folder, "%.*s", (int)(at - text), text);
    branch->frame = (int32_t)frame;
    return true;
}

// ---- the scene that was cooked ----

/// The name of a target whose scene lies there, `only` or the first by name; "" when there is none.
static void find_scene(const char *folder, const char *only, char name[MN_TARGET_NAME])
{
    static const char ENDING[] = ".scene";
    DIR *all = opendir(folder);
    *name = 0;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        const size_t length = strlen(entry->d_name), ending = sizeof ENDING - 1;
        char found[MN_TARGET_NAME];
        if (*entry->d_name != '.' || length < ending + 2 || length >= sizeof found) continue;
        if (strcmp(entry->d_name + length - ending, ENDING) != 0) continue;
        snprintf(found, sizeof found, "%.*s", (int)(length - ending - 1), entry->d_name + 1);
        if (only ? strcmp(found, only) == 0 : !*name || strcmp(found, name) < 0)
            snprintf(name, MN_TARGET_NAME, "%s", found);
    }
    if (all) closedir(all);
}

static mn_status origin_path(mn_context *ctx, const char *folder, const char *name, const char *ending,
                             char path[MN_PATH_SIZE])
{
    if (snprintf(path, MN_PATH_SIZE, "%s/.%s.%s", folder, name, ending) < MN_PATH_SIZE) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "A path is longer than %d bytes; use a shorter folder.",
                   MN_PATH_SIZE);
}

static mn_status read_scene(mn_session *session, const char *path, const char *folder, mn_network **network)
{
    char *text;
    size_t size;
    MN_TRY(mn_read_text(session->ctx, path, &text, &size));
    if (!text) return mn_fail(session->ctx, MN_ERROR_NOT_FOUND, "%s has gone.", path);
    mn_status status = mn_scene_read_memory(session->ctx, NULL, text, size, path, network);
    mn_release(session->ctx, text, size + 1);
    if (status == MN_OK) status = mn_network_set_folder(*network, folder);
    return status;
}

/// Where relative paths begin, and whether only a state knows what the scene was before a branch.
static mn_status read_origin(mn_context *ctx, const char *path, char folder[MN_PATH_SIZE], bool *unkeyed)
{
    char *text;
    size_t size;
    mn_json_tree *json = NULL;
    *folder = 0, *unkeyed = false;
    MN_TRY(mn_read_text(ctx, path, &text, &size));
    if (!text) return MN_OK;
    const mn_status status = mn_json_tree_read(ctx, text, size, path, &json);
    mn_release(ctx, text, size + 1);
    MN_TRY(status);
    const mn_json_tree_value *root = mn_json_tree_root(json), *value = NULL, *from = NULL;
    if (root->kind == MN_JSON_TREE_OBJECT) value = mn_json_tree_find(json, root, "folder");
    if (value && value->kind == MN_JSON_TREE_STRING) snprintf(folder, MN_PATH_SIZE, "%s", value->string);
    if (root->kind == MN_JSON_TREE_OBJECT) from = mn_json_tree_find(json, root, "from");
    if (from && from->kind == MN_JSON_TREE_OBJECT) value = mn_json_tree_find(json, from, "unkeyed");
    *unkeyed = from && value && value->kind == MN_JSON_TREE_BOOL && value->number != 0;
    mn_json_tree_free(json);
    return MN_OK;
}

mn_status mn_branch_open(mn_session *session, mn_cook_branch *branch, const char *node, mn_network **network)
{
    char name[MN_TARGET_NAME], path[MN_PATH_SIZE], folder[MN_PATH_SIZE];
    find_scene(branch->folder, node, name);
    if (!*name) find_scene(branch->folder, NULL, name);
    if (!*name)
        return mn_fail(session->ctx, MN_ERROR_SCENE, "There is no cook in %s to branch from.",
                       branch->folder);
    MN_TRY(origin_path(session->ctx, branch->folder, name, "origin", path));
    MN_TRY(read_origin(session->ctx, path, folder, &branch->source_unkeyed));
    MN_TRY(origin_path(session->ctx, branch->folder, name, "scene", path));
    MN_TRY(read_scene(session, path, folder, &branch->source));
    return read_scene(session, path, folder, network);
}

void mn_branch_close(mn_context *ctx, mn_cook_branch *branch)
{
    mn_network_free(branch->source);
    branch->source = NULL;
    mn_array_free(ctx, &branch->settings);
}

// ---- what changes ----

static mn_status set_keys(mn_network *network, const mn_network *source, int32_t node, const mn_parm_def *def,
                          int32_t frame)
{
    mn_context *ctx = mn_network_context(network);
    const mn_key *old;
    const int32_t count = mn_network_keys(source, node, def->name, &old);
    MN_ARRAY(mn_key) keys = {0};
    mn_parm_value before, after;
    mn_key key = {.frame = frame};
    MN_TRY(mn_network_parm(source, node, def->name, frame, &before));
    MN_TRY(mn_network_parm(network, node, def->name, frame, &after));
    mn_status status = MN_OK;
    for (int32_t i = 0; i < count && old[i].frame < frame && status == MN_OK; i++)
        status = mn_array_push(ctx, &keys, &old[i]);
    for (int32_t i = 0; i < 4; i++) key.value[i] = before.number[i];
    if (status == MN_OK) status = mn_array_push(ctx, &keys, &key);
    for (int32_t i = 0; i < 4; i++) key.value[i] = after.number[i];
    key.frame = frame + 1.0;
    if (status == MN_OK) status = mn_array_push(ctx, &keys, &key);
    if (status == MN_OK)
        status = mn_network_set_keys(network, node, def->name, (int32_t)keys.count, keys.data);
    mn_array_free(ctx, &keys);
    return status;
}

mn_status mn_branch_set(mn_session *session, mn_cook_branch *branch, mn_network *network, const char *setting)
{
    char path[512];
    int32_t node, parm;
    MN_TRY(mn_apply_setting(session, network, setting));
    snprintf(path, sizeof path, "%.*s", (int)strcspn(setting, "="), setting);
    MN_TRY(mn_network_find_parm(network, path, &node, &parm));
    MN_TRY(mn_array_push(session->ctx, &branch->settings, &setting));
    const mn_node_type *type = mn_network_node_type(network, node);
    const mn_parm_def *def = &type->parms[parm];
    if (type->sim && strcmp(def->name, "start_frame") == 0)
        return mn_fail(session->ctx, MN_ERROR_SCENE, "--set %s: a branch cannot have another start frame.",
                       setting);
    if (def->kind == MN_PARM_FLOAT || def->kind == MN_PARM_INT || def->kind == MN_PARM_TOGGLE)
        return set_keys(network, branch->source, node, def, branch->frame);
    branch->unkeyed = true;
    return MN_OK;
}

// ---- the states ----

mn_status mn_kept_folder(mn_context *ctx, const char *folder, int32_t frame, bool make,
                         char path[MN_PATH_SIZE])
{
    if (snprintf(path, MN_PATH_SIZE, "%s/checkpoints/%04d", folder, (int)frame) >= MN_PATH_SIZE)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "A path is longer than %d bytes; use a shorter folder.",
                       MN_PATH_SIZE);
    return make ? mn_make_folder(ctx, path) : MN_OK;
}

/// The latest frame at or before `limit` whose states were kept, or INT32_MIN.
static int32_t find_kept(const char *folder, int32_t limit)
{
    char path[MN_PATH_SIZE + 16];
    int32_t best = INT32_MIN;
    snprintf(path, sizeof path, "%s/checkpoints", folder);
    DIR *all = opendir(path);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        char *end;
        const long frame = strtol(entry->d_name, &end, 10);
        if (end == entry->d_name || *end || frame > limit || frame < MN_FRAME_MIN) continue;
        if (frame > best) best = (int32_t)frame;
    }
    if (all) closedir(all);
    return best;
}

/// The source's states at or before the branch's frame, from where they are nearest. *frame is INT32_MIN when
/// it has to start.
static mn_status load_source(mn_cook_branch *branch, int32_t node, int32_t *frame)
{
    char path[MN_PATH_SIZE];
    const int32_t kept = find_kept(branch->folder, branch->frame);
    MN_TRY(mn_network_load_checkpoint(branch->source, node, branch->folder, frame));
    if (*frame <= branch->frame && *frame >= kept) return MN_OK;
    *frame = INT32_MIN;
    if (kept == INT32_MIN) return MN_OK;
    MN_TRY(mn_kept_folder(mn_network_context(branch->source), branch->folder, kept, false, path));
    return mn_network_load_checkpoint(branch->source, node, path, frame);
}

mn_status mn_branch_start(mn_cook_job *job, mn_cook_branch *branch)
{
    mn_session *session = job->session;
    for (int64_t i = 0; i < job->targets.count; i++) {
        const mn_cook_target *target = &job->targets.data[i];
        const mn_geo *geo;
        int32_t frame;
        if (!target->simulates) continue;
        MN_TRY(load_source(branch, target->target.node, &frame));
        if (frame == INT32_MIN && branch->source_unkeyed)
            return mn_fail(
                session->ctx, MN_ERROR_NOT_FOUND,
                "%s is a branch itself and keeps no state at or before frame %d. Branch from the cook that it came "
                "from, or cook it again with --checkpoint-every.",
                branch->folder, (int)branch->frame);
        if (frame < branch->frame && !job->quiet)
            mn_session_say(session, "%s keeps no state of frame %d; simulating it again from %s.",
                           branch->folder, (int)branch->frame,
                           frame == INT32_MIN ? "the beginning" : "an earlier one");
        MN_TRY(
            mn_network_cook(branch->source, target->target.node, target->target.output, branch->frame, &geo));
        MN_TRY(mn_network_branch(job->network, branch->source, target->target.node, branch->frame));
    }
    job->simulated = branch->frame;
    return MN_OK;
}

// ---- for later branches ----

static mn_status origin_text(const mn_cook_job *job, const mn_cook_branch *branch, const char *scene_path,
                             char **text)
{
    mn_json_text out = {.ctx = job->session->ctx};
    bool first = true, first_member = true;
    char folder[MN_PATH_SIZE], path[MN_PATH_SIZE];
    const char *own = mn_network_folder(job->network);
    if (!mn_canonical_path(*own ? own : ".", folder)) *folder = 0;
    mn_json_text_put(&out, "{");
    if (scene_path && strcmp(scene_path, "-") != 0 && mn_canonical_path(scene_path, path))
        mn_json_text_put_member(&out, &first, ", ", "source", path);
    mn_json_text_put_member(&out, &first, ", ", "folder", folder);
    if (*branch->folder) {
        mn_json_text_put_key(&out, &first, ", ", "from");
        mn_json_text_put(&out, "{");
        mn_json_text_put_member(&out, &first_member, ", ", "cook",
                                mn_canonical_path(branch->folder, path) ? path : branch->folder);
        mn_json_text_put_key(&out, &first_member, ", ", "frame");
        mn_json_text_put_number(&out, branch->frame);
        mn_json_text_put_key(&out, &first_member, ", ", "unkeyed");
        mn_json_text_put(&out, branch->unkeyed || branch->source_unkeyed ? "true" : "false");
        mn_json_text_put_key(&out, &first_member, ", ", "settings");
        for (int64_t i = 0; i < branch->settings.count; i++) {
            mn_json_text_put(&out, i > 0 ? ", " : "[");
            mn_json_text_put_string(&out, branch->settings.data[i]);
        }
        mn_json_text_put(&out, branch->settings.count > 0 ? "]}" : "[]}");
    }
    mn_json_text_put(&out, "}\n");
    return mn_json_text_finish(&out, text);
}

mn_status mn_cook_note_scene(const mn_cook_job *job, const mn_cook_branch *branch, const char *scene_path)
{
    mn_context *ctx = job->session->ctx;
    char *scene = NULL, *origin = NULL, path[MN_PATH_SIZE];
    mn_status status = mn_scene_write_text(job->network, &scene);
    if (status == MN_OK) status = origin_text(job, branch, scene_path, &origin);
    for (int64_t i = 0; i < job->targets.count && status == MN_OK; i++) {
        const char *name = job->targets.data[i].name;
        status = origin_path(ctx, job->folder, name, "scene", path);
        if (status == MN_OK) status = mn_write_text(ctx, path, scene);
        if (status == MN_OK) status = origin_path(ctx, job->folder, name, "origin", path);
        if (status == MN_OK) status = mn_write_text(ctx, path, origin);
    }
    mn_scene_free_text(ctx, scene);
    mn_scene_free_text(ctx, origin);
    return status;
}
