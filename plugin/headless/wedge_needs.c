// SPDX-License-Identifier: Apache-2.0
//
// What the members of a wedge need, asked of `meniscus doctor`, and the shell that it is asked through.
#define _GNU_SOURCE
#include "plugin/headless/wedge.h"
#include "plugin/json/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void mn_put_quoted(mn_json_text *out, const char *word)
{
    mn_json_text_put(out, "'");
    for (char one[2] = {0}; *word; word++) {
        one[0] = *word;
        mn_json_text_put(out, *word == '\'' ? "'\\''" : one);
    }
    mn_json_text_put(out, "'");
}

int mn_run_shell(const char *line, char *said, size_t size)
{
    size_t length = 0;
    char rest[4096];
    *said = 0;
    FILE *pipe = popen(line, "re");
    if (!pipe) return -1;
    for (size_t got; (got = fread(rest, 1, sizeof rest, pipe)) > 0;)
        for (size_t i = 0; i < got && length + 1 < size; i++) said[length++] = rest[i];
    said[length] = 0;
    const int code = pclose(pipe);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

// ---- doctor ----

typedef struct doctor_question {
    const mn_wedge *wedge;
    mn_session *session;
    const char *command; ///< quoted for a shell
} doctor_question;

static double number_of(const mn_json_tree *json, const mn_json_tree_value *in, const char *key)
{
    const mn_json_tree_value *value =
        in->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(json, in, key) : NULL;
    return value && value->kind == MN_JSON_TREE_NUMBER ? value->number : 0;
}

static const mn_json_tree_value *first_of(const mn_json_tree *json, const mn_json_tree_value *in,
                                          const char *key)
{
    const mn_json_tree_value *list =
        in->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(json, in, key) : NULL;
    return list && list->kind == MN_JSON_TREE_ARRAY ? mn_json_tree_first(json, list) : NULL;
}

static bool is_word(const mn_json_tree *json, const mn_json_tree_value *in, const char *key, const char *word)
{
    const mn_json_tree_value *value =
        in->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(json, in, key) : NULL;
    return value && value->kind == MN_JSON_TREE_STRING && strcmp(value->string, word) == 0;
}

/// Bytes that nodes expect to hold: {"nodes": [{"numbers": [{"name": "memory", "value": 12, "unit": "MB"}]}]}
static double node_memory(const mn_json_tree *json)
{
    double bytes = 0;
    for (const mn_json_tree_value *node = first_of(json, mn_json_tree_root(json), "nodes"); node;
         node = mn_json_tree_next(json, node))
        for (const mn_json_tree_value *one = first_of(json, node, "numbers"); one;
             one = mn_json_tree_next(json, one))
            if (is_word(json, one, "name", "memory") && is_word(json, one, "unit", "MB"))
                bytes += 1e6 * number_of(json, one, "value");
    return bytes;
}

/// The words of `cook` that matter to `doctor` as well.
static void put_common_words(const doctor_question *job, mn_json_text *line)
{
    static const char *const shared[] = {"--node", "--set", "--threads", "--memory", "--folder"};
    const mn_wedge_words *words = &job->wedge->cook;
    for (int64_t i = 0; i + 1 < words->count; i++)
        for (size_t k = 0; k < sizeof shared / sizeof *shared; k++) {
            if (strcmp(words->data[i], shared[k]) != 0) continue;
            mn_json_text_put(line, " ");
            mn_json_text_put(line, shared[k]);
            mn_json_text_put(line, " ");
            mn_put_quoted(line, words->data[++i]);
            break;
        }
}

static mn_status put_doctor_line(const doctor_question *job, const mn_wedge_member *member,
                                 mn_json_text *line)
{
    char path[MN_PATH_SIZE], word[2048];
    MN_TRY(mn_wedge_path(job->wedge, NULL, "scene.json", path));
    mn_json_text_put(line, job->command);
    snprintf(word, sizeof word, " doctor --json -f %d-%d ", (int)job->wedge->first, (int)job->wedge->last);
    mn_json_text_put(line, word);
    mn_put_quoted(line, path);
    put_common_words(job, line);
    for (int64_t i = 0; i < member->settings.count; i++) {
        snprintf(word, sizeof word, "%s=%s", member->settings.data[i].path, member->settings.data[i].value);
        mn_json_text_put(line, " --set ");
        mn_put_quoted(line, word);
    }
    mn_json_text_put(line, " 2>/dev/null");
    return MN_OK;
}

/// By `meniscus doctor`, which cooks its first frames; *needs grows to what this member needs.
static void ask_doctor(const doctor_question *job, const mn_wedge_member *member, mn_member_needs *needs)
{
    mn_context *ctx = job->session->ctx;
    mn_json_text line = {.ctx = ctx};
    enum { SAID_MAX = 1 << 20 };
    char *text = NULL, *said = mn_allocate(ctx, SAID_MAX);
    mn_json_tree *json = NULL;
    mn_status status = said ? put_doctor_line(job, member, &line) : MN_ERROR_MEMORY;
    const mn_status finished = mn_json_text_finish(&line, &text);
    if (status == MN_OK) status = finished;
    if (status == MN_OK && mn_run_shell(text, said, SAID_MAX) == 0 &&
        mn_json_tree_read(ctx, said, strlen(said), "doctor", &json) == MN_OK) {
        const mn_json_tree_value *root = mn_json_tree_root(json);
        const mn_json_tree_value *probe =
            root->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(json, root, "probe") : NULL;
        needs->memory = fmax(needs->memory, fmax(number_of(json, root, "memory") + node_memory(json),
                                                 number_of(json, root, "resident")));
        if (probe) needs->seconds = fmax(needs->seconds, number_of(json, probe, "seconds_high"));
        mn_json_tree_free(json);
    }
    mn_scene_free_text(ctx, text);
    if (said) mn_release(ctx, said, SAID_MAX);
}

mn_member_needs mn_wedge_estimate(const mn_wedge *wedge, mn_session *session, const char *command)
{
    const doctor_question job = {wedge, session, command};
    mn_member_needs needs = {0};
    const int64_t count = wedge->members.count;
    for (int64_t i = 0; i < 3 && i < count; i++) {
        if (mn_stop_requested()) break;
        ask_doctor(&job, &wedge->members.data[count < 3 ? i : i * (count - 1) / 2], &needs);
    }
    return needs;
}
