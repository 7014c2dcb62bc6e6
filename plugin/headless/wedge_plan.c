// SPDX-License-Identifier: Apache-2.0
//
// plan.json: what a wedge cooks, and with which settings.
#include "plugin/headless/wedge.h"
#include "plugin/host/network/text.h"
#include "plugin/json/tree.h"

#include <stdio.h>
#include <string.h>

static const char PLAN[] = "plan.json";

// ---- the wedge ----

mn_status mn_wedge_add_word(mn_context *ctx, mn_wedge_words *words, const char *word)
{
    char *copy = NULL;
    MN_TRY(mn_text_set(ctx, &copy, word));
    const mn_status status = mn_array_push(ctx, words, &copy);
    if (status != MN_OK) mn_text_free(ctx, &copy);
    return status;
}

void mn_wedge_free_words(mn_context *ctx, mn_wedge_words *words)
{
    for (int64_t i = 0; i < words->count; i++) mn_text_free(ctx, &words->data[i]);
    mn_array_free(ctx, words);
}

void mn_wedge_free_member(mn_context *ctx, mn_wedge_member *member)
{
    for (int64_t i = 0; i < member->settings.count; i++) {
        mn_text_free(ctx, &member->settings.data[i].path);
        mn_text_free(ctx, &member->settings.data[i].value);
    }
    mn_array_free(ctx, &member->settings);
    mn_text_free(ctx, &member->name);
}

mn_status mn_wedge_add_setting(mn_context *ctx, mn_wedge_member *member, const char *path, const char *value)
{
    mn_wedge_setting setting = {0};
    mn_status status = mn_text_set(ctx, &setting.path, path);
    if (status == MN_OK) status = mn_text_set(ctx, &setting.value, value);
    if (status == MN_OK) status = mn_array_push(ctx, &member->settings, &setting);
    if (status == MN_OK) return MN_OK;
    mn_text_free(ctx, &setting.path);
    mn_text_free(ctx, &setting.value);
    return status;
}

void mn_wedge_free(mn_wedge *wedge)
{
    mn_context *ctx = wedge->ctx;
    if (!ctx) return;
    for (int64_t i = 0; i < wedge->members.count; i++) mn_wedge_free_member(ctx, &wedge->members.data[i]);
    mn_array_free(ctx, &wedge->members);
    mn_wedge_free_words(ctx, &wedge->targets);
    mn_wedge_free_words(ctx, &wedge->cook);
    mn_text_free(ctx, &wedge->source);
    mn_text_free(ctx, &wedge->then);
}

mn_status mn_wedge_path(const mn_wedge *wedge, const mn_wedge_member *member, const char *file,
                        char path[MN_PATH_SIZE])
{
    const int length = snprintf(path, MN_PATH_SIZE, "%s/%s%s%s", wedge->folder, member ? member->name : "",
                                member && *file ? "/" : "", file);
    if (length < MN_PATH_SIZE) return MN_OK;
    return mn_fail(wedge->ctx, MN_ERROR_ARGUMENT, "A path is longer than %d bytes; use a shorter folder.",
                   MN_PATH_SIZE);
}

int32_t mn_wedge_frame_count(const mn_wedge *wedge)
{
    return (wedge->last - wedge->first) / wedge->step + 1;
}

int64_t mn_wedge_find(const mn_wedge *wedge, const char *name)
{
    for (int64_t i = 0; i < wedge->members.count; i++)
        if (strcmp(wedge->members.data[i].name, name) == 0) return i;
    return -1;
}

bool mn_wedge_is_taken(const char *name)
{
    static const char *const taken[] = {"plan.json", "scene.json", "wedge.json",
                                        "wedge.csv", "cancel",     "farm"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0) return true;
    return false;
}

// ---- writing ----

void mn_wedge_put_number(mn_json_text *out, bool *first, const char *separator, const char *key,
                         double number)
{
    mn_json_text_put_key(out, first, separator, key);
    mn_json_text_put_number(out, number);
}

void mn_wedge_put_words(mn_json_text *out, bool *first, const char *key, const mn_wedge_words *words)
{
    mn_json_text_put_key(out, first, ",\n  ", key);
    mn_json_text_put(out, "[");
    for (int64_t i = 0; i < words->count; i++) {
        if (i > 0) mn_json_text_put(out, ", ");
        mn_json_text_put_string(out, words->data[i]);
    }
    mn_json_text_put(out, "]");
}

static void put_member(mn_json_text *out, const mn_wedge_member *member)
{
    bool first = true, first_setting = true;
    mn_json_text_put(out, "{");
    mn_json_text_put_member(out, &first, ", ", "name", member->name);
    mn_wedge_put_number(out, &first, ", ", "seed", member->seed);
    mn_json_text_put_key(out, &first, ", ", "parameters");
    mn_json_text_put(out, "{");
    for (int64_t i = 0; i < member->settings.count; i++)
        mn_json_text_put_member(out, &first_setting, ", ", member->settings.data[i].path,
                                member->settings.data[i].value);
    mn_json_text_put(out, "}}");
}

mn_status mn_wedge_write_plan(const mn_wedge *wedge)
{
    mn_json_text out = {.ctx = wedge->ctx};
    bool first = true;
    char path[MN_PATH_SIZE], *text;
    MN_TRY(mn_wedge_path(wedge, NULL, PLAN, path));
    mn_json_text_put(&out, "{\n  ");
    mn_wedge_put_number(&out, &first, ",\n  ", "meniscus_wedge", 1);
    mn_json_text_put_member(&out, &first, ",\n  ", "source", wedge->source);
    mn_wedge_put_number(&out, &first, ",\n  ", "first", wedge->first);
    mn_wedge_put_number(&out, &first, ",\n  ", "last", wedge->last);
    mn_wedge_put_number(&out, &first, ",\n  ", "step", wedge->step);
    mn_wedge_put_words(&out, &first, "targets", &wedge->targets);
    mn_wedge_put_words(&out, &first, "cook", &wedge->cook);
    mn_wedge_put_number(&out, &first, ",\n  ", "retries", (double)wedge->retries);
    mn_wedge_put_number(&out, &first, ",\n  ", "retry_wait", wedge->retry_wait);
    mn_wedge_put_number(&out, &first, ",\n  ", "time_limit", wedge->time_limit);
    mn_json_text_put_member(&out, &first, ",\n  ", "then", wedge->then);
    mn_json_text_put_key(&out, &first, ",\n  ", "members");
    mn_json_text_put(&out, "[");
    for (int64_t i = 0; i < wedge->members.count; i++) {
        mn_json_text_put(&out, i > 0 ? ",\n    " : "\n    ");
        put_member(&out, &wedge->members.data[i]);
    }
    mn_json_text_put(&out, "\n  ]\n}\n");
    MN_TRY(mn_json_text_finish(&out, &text));
    const mn_status status = mn_write_text(wedge->ctx, path, text);
    mn_scene_free_text(wedge->ctx, text);
    return status;
}

// ---- reading ----

/// What is read, and the sentence when it is not what it should be.
typedef struct plan_reader {
    mn_wedge *wedge;
    const mn_json_tree *json;
    const char *path;
} plan_reader;

static mn_status fail_plan(const plan_reader *reader, const char *key)
{
    return mn_fail(reader->wedge->ctx, MN_ERROR_FORMAT,
                   "%s is damaged, or of another version of Meniscus: '%s' is missing or wrong.",
                   reader->path, key);
}

static mn_status find_kind(const plan_reader *reader, const mn_json_tree_value *in, const char *key,
                           mn_json_tree_kind kind, const mn_json_tree_value **value)
{
    *value = in->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(reader->json, in, key) : NULL;
    return *value && (*value)->kind == kind ? MN_OK : fail_plan(reader, key);
}

static mn_status read_number(const plan_reader *reader, const mn_json_tree_value *in, const char *key,
                             double low, double high, double *number)
{
    const mn_json_tree_value *value;
    MN_TRY(find_kind(reader, in, key, MN_JSON_TREE_NUMBER, &value));
    if (!(value->number >= low && value->number <= high)) return fail_plan(reader, key);
    *number = value->number;
    return MN_OK;
}

static mn_status read_string(const plan_reader *reader, const mn_json_tree_value *in, const char *key,
                             char **text)
{
    const mn_json_tree_value *value;
    MN_TRY(find_kind(reader, in, key, MN_JSON_TREE_STRING, &value));
    return mn_text_set(reader->wedge->ctx, text, value->string);
}

static mn_status read_words(const plan_reader *reader, const mn_json_tree_value *in, const char *key,
                            mn_wedge_words *words)
{
    const mn_json_tree_value *value;
    MN_TRY(find_kind(reader, in, key, MN_JSON_TREE_ARRAY, &value));
    for (value = mn_json_tree_first(reader->json, value); value;
         value = mn_json_tree_next(reader->json, value)) {
        if (value->kind != MN_JSON_TREE_STRING) return fail_plan(reader, key);
        MN_TRY(mn_wedge_add_word(reader->wedge->ctx, words, value->string));
    }
    return MN_OK;
}

static mn_status read_member(const plan_reader *reader, const mn_json_tree_value *in, mn_wedge_member *member)
{
    const mn_json_tree_value *value;
    double seed;
    MN_TRY(read_string(reader, in, "name", &member->name));
    // It becomes a path: nothing that leads out of the folder.
    if (!*member->name || *member->name == '.' || strchr(member->name, '/')) return fail_plan(reader, "name");
    MN_TRY(read_number(reader, in, "seed", 0, INT32_MAX, &seed));
    member->seed = (int32_t)seed;
    MN_TRY(find_kind(reader, in, "parameters", MN_JSON_TREE_OBJECT, &value));
    for (value = mn_json_tree_first(reader->json, value); value;
         value = mn_json_tree_next(reader->json, value)) {
        if (value->kind != MN_JSON_TREE_STRING) return fail_plan(reader, "parameters");
        MN_TRY(mn_wedge_add_setting(reader->wedge->ctx, member, value->key, value->string));
    }
    return MN_OK;
}

static mn_status read_members(const plan_reader *reader, const mn_json_tree_value *root)
{
    mn_wedge *wedge = reader->wedge;
    const mn_json_tree_value *value;
    MN_TRY(find_kind(reader, root, "members", MN_JSON_TREE_ARRAY, &value));
    for (value = mn_json_tree_first(reader->json, value); value;
         value = mn_json_tree_next(reader->json, value)) {
        mn_wedge_member member = {0};
        mn_status status = read_member(reader, value, &member);
        if (status == MN_OK) status = mn_array_push(wedge->ctx, &wedge->members, &member);
        if (status == MN_OK) continue;
        mn_wedge_free_member(wedge->ctx, &member);
        return status;
    }
    return MN_OK;
}

static mn_status read_plan(const plan_reader *reader)
{
    mn_wedge *wedge = reader->wedge;
    const mn_json_tree_value *root = mn_json_tree_root(reader->json);
    double version, first, last, step, retries;
    MN_TRY(read_number(reader, root, "meniscus_wedge", 1, 1, &version));
    MN_TRY(read_number(reader, root, "first", MN_FRAME_MIN, MN_FRAME_MAX, &first));
    MN_TRY(read_number(reader, root, "last", first, MN_FRAME_MAX, &last));
    MN_TRY(read_number(reader, root, "step", 1, MN_FRAME_MAX, &step));
    MN_TRY(read_number(reader, root, "retries", 0, 1000, &retries));
    MN_TRY(read_number(reader, root, "retry_wait", 0, 1e9, &wedge->retry_wait));
    MN_TRY(read_number(reader, root, "time_limit", 0, 1e9, &wedge->time_limit));
    wedge->first = (int32_t)first, wedge->last = (int32_t)last, wedge->step = (int32_t)step;
    wedge->retries = (int64_t)retries;
    MN_TRY(read_string(reader, root, "source", &wedge->source));
    MN_TRY(read_string(reader, root, "then", &wedge->then));
    MN_TRY(read_words(reader, root, "targets", &wedge->targets));
    MN_TRY(read_words(reader, root, "cook", &wedge->cook));
    return read_members(reader, root);
}

mn_status mn_wedge_read_plan(mn_context *ctx, const char *folder, mn_wedge *wedge)
{
    char path[MN_PATH_SIZE], *text;
    size_t size;
    memset(wedge, 0, sizeof *wedge);
    wedge->ctx = ctx;
    if (snprintf(wedge->folder, sizeof wedge->folder, "%s", folder) >= MN_PATH_SIZE)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The folder's path is too long.");
    MN_TRY(mn_wedge_path(wedge, NULL, PLAN, path));
    MN_TRY(mn_read_text(ctx, path, &text, &size));
    if (!text)
        return mn_fail(ctx, MN_ERROR_NOT_FOUND, "There is no wedge in %s: it has no %s.", folder, PLAN);
    mn_json_tree *json = NULL;
    mn_status status = mn_json_tree_read(ctx, text, size, path, &json);
    mn_release(ctx, text, size + 1);
    const plan_reader reader = {wedge, json, path};
    if (status == MN_OK) status = read_plan(&reader);
    mn_json_tree_free(json);
    return status;
}

static bool same_words(const mn_wedge_words *a, const mn_wedge_words *b)
{
    if (a->count != b->count) return false;
    for (int64_t i = 0; i < a->count; i++)
        if (strcmp(a->data[i], b->data[i]) != 0) return false;
    return true;
}

mn_status mn_wedge_compare(const mn_wedge *wedge, const mn_wedge *fresh)
{
    if (wedge->first == fresh->first && wedge->last == fresh->last && wedge->step == fresh->step &&
        same_words(&wedge->cook, &fresh->cook) && same_words(&wedge->targets, &fresh->targets))
        return MN_OK;
    return mn_fail(
        wedge->ctx, MN_ERROR_SCENE,
        "The wedge in %s cooks other frames, nodes or formats than this command asks for. Ask for the same to "
        "add members, or choose another folder with -o.",
        wedge->folder);
}
