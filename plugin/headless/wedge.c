// SPDX-License-Identifier: Apache-2.0
//
// meniscus wedge: the command line; the plan of a new wedge, or more members for one that is there.
#define _DEFAULT_SOURCE
#include "plugin/headless/wedge.h"
#include "plugin/headless/command.h"
#include "plugin/host/network/spelling.h"
#include "plugin/host/network/text.h"
#include "plugin/io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_VARY,
    OPTION_CSV,
    OPTION_SAMPLES,
    OPTION_SEED,
    OPTION_OUTPUT,
    OPTION_LOCAL,
    OPTION_SLURM,
    OPTION_PRINT,
    OPTION_PLAN,
    OPTION_RETRIES,
    OPTION_RETRY_WAIT,
    OPTION_TIME_LIMIT,
    OPTION_THEN,
    OPTION_FRAMES,
    OPTION_NODE,
    OPTION_SET,
    OPTION_FORMAT,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_PREVIEW,
    OPTION_JSON,
    OPTION_ONLY_COOK,
    OPTION_LIST,
    OPTION_INDEX,
    OPTION_QUIET,
};
static const mn_option options[] = {
    [OPTION_VARY] =
        {"--vary", NULL, "NODE.PARM=VALUES",
         "A,B,C or FROM:TO:COUNT or log:FROM:TO:COUNT or random:FROM:TO or lograndom:FROM:TO or seed; may be given many times"},
    [OPTION_CSV] = {"--csv", NULL, "FILE",
                    "a member for each row; node.parm over the columns, and perhaps name"},
    [OPTION_SAMPLES] = {"--samples", NULL, "N", "so many samples of random values, default 10"},
    [OPTION_SEED] = {"--seed", NULL, "N", "of random values and of the members, default 0"},
    [OPTION_OUTPUT] = {"--output", "-o", "DIR",
                       "the wedge's folder; more members are added to one that is there"},
    [OPTION_LOCAL] = {"--local", NULL, "N", "cook on this machine, N members at a time, default 1"},
    [OPTION_SLURM] = {"--slurm", NULL, NULL, "hand the members to Slurm as a job array and return"},
    [OPTION_PRINT] = {"--print", NULL, "SCHEDULER",
                      "print how to hand them to slurm, hqueue, deadline or opencue; cook nothing"},
    [OPTION_LIST] = {"--list", NULL, "FILE", "member: names, a line each"},
    [OPTION_INDEX] = {"--index", NULL, "N", "member: the N-th of them, from 0"},
    [OPTION_PLAN] = {"--plan", NULL, NULL, "write the plan and cook nothing; 'wedge run DIR' cooks it"},
    [OPTION_RETRIES] = {"--retries", NULL, "N", "try a member that failed so often again, default 2"},
    [OPTION_RETRY_WAIT] = {"--retry-wait", NULL, "SECONDS",
                           "before the first of these, doubled each time; default 2"},
    [OPTION_TIME_LIMIT] = {"--time-limit", NULL, "SECONDS",
                           "stop a member after this long; 0 (default): never"},
    [OPTION_THEN] = {"--then", NULL, "COMMAND", "run this in the folder of each member when it is cooked"},
    [OPTION_FRAMES] = {"--frames", "-f", "A-B", "as for cook"},
    [OPTION_NODE] = {"--node", NULL, "NAME", "as for cook"},
    [OPTION_SET] = {"--set", NULL, "NODE.PARM=VALUE", "for all members; may be given many times"},
    [OPTION_FORMAT] = {"--format", NULL, "EXT", "as for cook"},
    [OPTION_THREADS] = {"--threads", NULL, "N",
                        "for each member; default: the processors divided by --local"},
    [OPTION_MEMORY] = {"--memory", NULL, "SIZE",
                       "for each member; default: the machine's divided by --local"},
    [OPTION_PREVIEW] = {"--preview", NULL, NULL, "draw pictures of the frames of each member"},
    [OPTION_JSON] = {"--json", NULL, NULL, "status as JSON"},
    [OPTION_ONLY_COOK] = {"--only-cook", NULL, NULL, "member: leave the command after it to another job"},
    [OPTION_QUIET] = {"--quiet", "-q", NULL, "no progress"},
};

typedef enum wedge_verb {
    VERB_START,
    VERB_RUN,
    VERB_STATUS,
    VERB_CANCEL,
    VERB_RETRY,
    VERB_COLLECT,
    VERB_MEMBER
} wedge_verb;
static const char *const verbs[] = {NULL, "run", "status", "cancel", "retry", "collect", "member"};

typedef struct wedge_arguments {
    wedge_verb verb;
    const char *scene, *folder, *frames, *then, *list, *print;
    mn_wedge_words names; ///< of members
    mn_wedge_words nodes, settings;
    mn_wedge_words cook; ///< words for the members' cooks
    mn_wedge_variation variation;
    int64_t processes, index, retries; ///< -1: not told
    double retry_wait, time_limit;
    int32_t first, last, step;
    bool slurm, plan, json, only_cook, quiet;
} wedge_arguments;

static void free_arguments(mn_context *ctx, wedge_arguments *a)
{
    mn_wedge_free_words(ctx, &a->names);
    mn_wedge_free_words(ctx, &a->nodes);
    mn_wedge_free_words(ctx, &a->settings);
    mn_wedge_free_words(ctx, &a->cook);
    mn_wedge_free_words(ctx, &a->variation.vary);
}

/// An option that a cook takes as it is.
static mn_status pass_on(mn_context *ctx, wedge_arguments *a, int32_t option, const char *value)
{
    MN_TRY(mn_wedge_add_word(ctx, &a->cook, options[option].name));
    return value ? mn_wedge_add_word(ctx, &a->cook, value) : MN_OK;
}

static bool read_number(int32_t option, const char *value, double high, double *number)
{
    return mn_read_number(&mn_wedge_command, options[option].name, value, 0, high, number);
}

static bool read_integer(int32_t option, const char *value, int64_t low, int64_t high, int64_t *number)
{
    return mn_read_integer(&mn_wedge_command, options[option].name, value, low, high, number);
}

static bool is_scheduler(const char *word)
{
    static const char *const known[] = {"slurm", "hqueue", "deadline", "opencue"};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, known[i]) == 0) return true;
    return false;
}

static mn_status read_word(mn_context *ctx, wedge_arguments *a, const char *word)
{
    for (int i = VERB_RUN; i <= VERB_MEMBER && !a->scene && a->verb == VERB_START; i++)
        if (strcmp(word, verbs[i]) == 0) {
            a->verb = (wedge_verb)i;
            return MN_OK;
        }
    if (a->verb == VERB_START && !a->scene) {
        a->scene = word;
        return MN_OK;
    }
    if (a->verb != VERB_START && !a->folder) {
        a->folder = word;
        return MN_OK;
    }
    return mn_wedge_add_word(ctx, &a->names, word);
}

/// MN_ERROR_ARGUMENT: a sentence was printed.
static mn_status read_option(mn_context *ctx, wedge_arguments *a, int32_t option, const char *value)
{
    mn_session_def checked = {0};
    mn_format format;
    mn_shown shown;
    bool good = true;
    switch (option) {
    case OPTION_VARY:
        return mn_wedge_add_word(ctx, &a->variation.vary, value);
    case OPTION_CSV:
        a->variation.csv = value;
        break;
    case OPTION_SAMPLES:
        good = read_integer(option, value, 1, MN_WEDGE_MEMBERS_MAX, &a->variation.samples);
        break;
    case OPTION_SEED:
        good = read_integer(option, value, 0, INT32_MAX, &a->variation.seed);
        break;
    case OPTION_OUTPUT:
        a->folder = value;
        break;
    case OPTION_LOCAL:
        good = read_integer(option, value, 1, 1024, &a->processes);
        break;
    case OPTION_SLURM:
        a->slurm = true;
        break;
    case OPTION_PRINT:
        a->print = value;
        good = is_scheduler(value);
        if (!good)
            mn_usage_error(&mn_wedge_command, "--print: '%s' is none of slurm, hqueue, deadline and opencue.",
                           mn_show(&shown, value));
        break;
    case OPTION_LIST:
        a->list = value;
        break;
    case OPTION_INDEX:
        good = read_integer(option, value, 0, MN_WEDGE_MEMBERS_MAX, &a->index);
        break;
    case OPTION_PLAN:
        a->plan = true;
        break;
    case OPTION_RETRIES:
        good = read_integer(option, value, 0, 1000, &a->retries);
        break;
    case OPTION_RETRY_WAIT:
        good = read_number(option, value, 1e6, &a->retry_wait);
        break;
    case OPTION_TIME_LIMIT:
        good = read_number(option, value, 1e8, &a->time_limit);
        break;
    case OPTION_THEN:
        a->then = value;
        break;
    case OPTION_FRAMES:
        a->frames = value;
        good = mn_read_frame_steps(&mn_wedge_command, value, &a->first, &a->last, &a->step);
        break;
    case OPTION_NODE:
        MN_TRY(mn_wedge_add_word(ctx, &a->nodes, value));
        return pass_on(ctx, a, option, value);
    case OPTION_SET:
        MN_TRY(mn_wedge_add_word(ctx, &a->settings, value));
        return pass_on(ctx, a, option, value);
    case OPTION_FORMAT:
        if (!mn_format_from_name(value, &format)) {
            mn_usage_error(&mn_wedge_command, "--format: there is no format '%s'.", mn_show(&shown, value));
            return MN_ERROR_ARGUMENT;
        }
        return pass_on(ctx, a, option, value);
    case OPTION_THREADS:
        good = mn_read_threads(&mn_wedge_command, value, &checked);
        return good ? pass_on(ctx, a, option, value) : MN_ERROR_ARGUMENT;
    case OPTION_MEMORY:
        good = mn_read_memory(&mn_wedge_command, value, &checked);
        return good ? pass_on(ctx, a, option, value) : MN_ERROR_ARGUMENT;
    case OPTION_PREVIEW:
        return pass_on(ctx, a, option, NULL);
    case OPTION_JSON:
        a->json = true;
        break;
    case OPTION_ONLY_COOK:
        a->only_cook = true;
        break;
    case OPTION_QUIET:
        a->quiet = true;
        break;
    case MN_ARGUMENT_WORD:
        return read_word(ctx, a, value);
    default:
        break;
    }
    return good ? MN_OK : MN_ERROR_ARGUMENT;
}

static int check_arguments(const wedge_arguments *a)
{
    const mn_subcommand *command = &mn_wedge_command;
    const bool varies = a->variation.vary.count > 0 || a->variation.csv;
    if (a->verb == VERB_START && !a->scene) return mn_usage_error(command, "which scene?");
    if (a->verb == VERB_START && !a->folder)
        return mn_usage_error(command, "which folder? Say so with -o DIR.");
    if (a->verb == VERB_START && !varies)
        return mn_usage_error(command, "nothing is varied; use --vary or --csv.");
    if (a->verb == VERB_START && a->names.count > 0)
        return mn_usage_error(command, "it takes one scene; got '%s' and '%s'.", a->scene, a->names.data[0]);
    if (a->verb != VERB_START && !a->folder) return mn_usage_error(command, "which wedge? Give its folder.");
    if (a->verb != VERB_START && (varies || a->cook.count > 0 || a->frames))
        return mn_usage_error(command, "what is cooked is in the plan; give the scene to change it.");
    if (a->verb == VERB_MEMBER && a->names.count != (a->list ? 0 : 1))
        return mn_usage_error(command, "which member?");
    return MN_EXIT_DONE;
}

// ---- the plan ----

/// What the command line asks for, without members.
static mn_status describe(mn_session *session, const wedge_arguments *a, mn_network *network, mn_wedge *wedge)
{
    char path[MN_PATH_SIZE], folder[MN_PATH_SIZE];
    mn_context *ctx = session->ctx;
    wedge->ctx = ctx;
    if (snprintf(wedge->folder, sizeof wedge->folder, "%s", a->folder) >= MN_PATH_SIZE)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The folder's path is too long.");
    if (!a->frames) mn_network_range(network, &wedge->first, &wedge->last);
    if (a->frames) wedge->first = a->first, wedge->last = a->last;
    wedge->step = a->frames ? a->step : 1;
    for (int64_t i = 0; i < a->settings.count; i++)
        MN_TRY(mn_apply_setting(session, network, a->settings.data[i]));
    for (int64_t i = 0; i < a->nodes.count || i == 0; i++) {
        mn_target target;
        char name[MN_TARGET_NAME];
        MN_TRY(mn_find_target(session, network, a->nodes.count > 0 ? a->nodes.data[i] : NULL, &target));
        mn_target_name(network, target, name);
        MN_TRY(mn_wedge_add_word(ctx, &wedge->targets, name));
    }
    for (int64_t i = 0; i < a->cook.count; i++) MN_TRY(mn_wedge_add_word(ctx, &wedge->cook, a->cook.data[i]));
    // The copy of the scene lies elsewhere.
    if (!mn_canonical_path(*mn_network_folder(network) ? mn_network_folder(network) : ".", folder) ||
        !mn_canonical_path(a->scene, path))
        return mn_fail(ctx, MN_ERROR_IO, "The scene's folder cannot be found.");
    MN_TRY(mn_wedge_add_word(ctx, &wedge->cook, "--folder"));
    MN_TRY(mn_wedge_add_word(ctx, &wedge->cook, folder));
    MN_TRY(mn_text_set(ctx, &wedge->source, strcmp(a->scene, "-") == 0 ? "-" : path));
    return mn_text_set(ctx, &wedge->then, a->then ? a->then : "");
}

/// What may be said again at any time.
static mn_status take_limits(const wedge_arguments *a, mn_wedge *wedge)
{
    if (a->retries >= 0) wedge->retries = a->retries;
    if (a->retry_wait >= 0) wedge->retry_wait = a->retry_wait;
    if (a->time_limit >= 0) wedge->time_limit = a->time_limit;
    return a->then ? mn_text_set(wedge->ctx, &wedge->then, a->then) : MN_OK;
}

/// The scene in the folder is the one at hand, or is written now.
static mn_status keep_scene(const mn_wedge *wedge, const char *scene, bool is_new)
{
    char path[MN_PATH_SIZE], *there;
    size_t size;
    MN_TRY(mn_wedge_path(wedge, NULL, "scene.json", path));
    if (is_new) return mn_write_text(wedge->ctx, path, scene);
    MN_TRY(mn_read_text(wedge->ctx, path, &there, &size));
    const bool same = there && strcmp(there, scene) == 0;
    if (there) mn_release(wedge->ctx, there, size + 1);
    if (same) return MN_OK;
    return mn_fail(
        wedge->ctx, MN_ERROR_SCENE,
        "The wedge in %s is of another scene, or the scene has changed since. Choose another folder with -o.",
        wedge->folder);
}

static mn_status plan_locked(mn_session *session, const wedge_arguments *a, mn_network *network,
                             const char *scene, mn_wedge *fresh, mn_wedge *wedge)
{
    int64_t added, counts[MN_MEMBER_STATES];
    mn_status status = mn_wedge_read_plan(session->ctx, a->folder, wedge);
    const bool is_new = status == MN_ERROR_NOT_FOUND;
    if (is_new) {
        *wedge = *fresh;
        memset(fresh, 0, sizeof *fresh);
        wedge->retries = 2, wedge->retry_wait = 2;
    } else {
        MN_TRY(status);
        MN_TRY(mn_wedge_compare(wedge, fresh));
    }
    MN_TRY(take_limits(a, wedge));
    MN_TRY(mn_wedge_vary(wedge, session, network, &a->variation, &added));
    MN_TRY(keep_scene(wedge, scene, is_new));
    MN_TRY(mn_wedge_write_plan(wedge));
    MN_TRY(mn_wedge_write_tables(wedge, counts));
    if (!a->quiet)
        mn_session_say(session, "%lld members in %s, %lld of them new.", (long long)wedge->members.count,
                       wedge->folder, (long long)added);
    return MN_OK;
}

static mn_status plan(mn_session *session, const wedge_arguments *a, mn_wedge *wedge)
{
    mn_network *network = NULL;
    mn_wedge fresh = {0};
    char *scene = NULL;
    int lock = -1;
    mn_status status = mn_open_scene(session, a->scene, &network);
    if (status == MN_OK) status = mn_scene_write_text(network, &scene);
    if (status == MN_OK) status = describe(session, a, network, &fresh);
    // Wrong values show before a folder is made.
    if (status == MN_OK) {
        mn_wedge trial = {.ctx = session->ctx};
        int64_t count;
        status = mn_wedge_vary(&trial, session, network, &a->variation, &count);
        mn_wedge_free(&trial);
    }
    if (status == MN_OK) status = mn_make_folder(session->ctx, a->folder);
    if (status == MN_OK) status = mn_wedge_lock(&fresh, ".plan", &lock);
    if (status == MN_OK) status = plan_locked(session, a, network, scene, &fresh, wedge);
    if (lock >= 0) close(lock);
    mn_wedge_free(&fresh);
    mn_scene_free_text(session->ctx, scene);
    mn_network_free(network);
    return status;
}

// ---- verbs ----

static int run_wedge(const mn_wedge *wedge, mn_session *session, const wedge_arguments *a)
{
    const mn_status status = mn_wedge_allow(wedge);
    if (status != MN_OK) return mn_session_fail(session, status);
    if (a->print) return mn_wedge_print(wedge, session, a->print);
    if (a->slurm) return mn_wedge_submit(wedge, session, a->quiet);
    return mn_wedge_run_local(wedge, session, (int32_t)a->processes, a->quiet);
}

static int retry(mn_wedge *wedge, mn_session *session, const wedge_arguments *a)
{
    const mn_status status = mn_wedge_forgive(wedge, &a->names);
    return status == MN_OK ? run_wedge(wedge, session, a) : mn_session_fail(session, status);
}

/// The member's name, from the command line or from the list of a farm.
static mn_status find_member(const mn_wedge *wedge, const wedge_arguments *a, int64_t *member)
{
    char *text = NULL, *name = a->list ? NULL : a->names.data[0];
    size_t size = 0;
    mn_shown shown;
    if (a->list) MN_TRY(mn_read_text(wedge->ctx, a->list, &text, &size));
    if (text) name = strtok(text, "\n");
    for (int64_t i = 0; text && name && i < a->index; i++) name = strtok(NULL, "\n");
    *member = name ? mn_wedge_find(wedge, name) : -1;
    mn_status status = MN_OK;
    if (*member < 0)
        status = mn_fail(wedge->ctx, MN_ERROR_SCENE, "There is no member '%s' in %s.",
                         name ? mn_show(&shown, name) : "", wedge->folder);
    if (text) mn_release(wedge->ctx, text, size + 1);
    return status;
}

static int run_member(const mn_wedge *wedge, mn_session *session, const wedge_arguments *a)
{
    int64_t member;
    const mn_status status = find_member(wedge, a, &member);
    if (status != MN_OK) return mn_session_fail(session, status);
    return mn_member_run(wedge, session, &wedge->members.data[member], a->only_cook);
}

static int do_verb(mn_wedge *wedge, mn_session *session, const wedge_arguments *a)
{
    switch (a->verb) {
    case VERB_STATUS:
        return mn_wedge_status(wedge, session, a->json);
    case VERB_CANCEL:
        return mn_wedge_cancel(wedge, session, &a->names);
    case VERB_COLLECT:
        return mn_wedge_collect(wedge, session, a->quiet);
    case VERB_MEMBER:
        return run_member(wedge, session, a);
    case VERB_RETRY:
        return retry(wedge, session, a);
    default:
        return a->plan ? MN_EXIT_DONE : run_wedge(wedge, session, a);
    }
}

/// Limits that run and retry are told count from now on.
static mn_status open_wedge(mn_session *session, const wedge_arguments *a, mn_wedge *wedge)
{
    if (a->verb == VERB_START) return plan(session, a, wedge);
    MN_TRY(mn_wedge_read_plan(session->ctx, a->folder, wedge));
    MN_TRY(take_limits(a, wedge));
    const bool told = a->retries >= 0 || a->retry_wait >= 0 || a->time_limit >= 0 || a->then;
    return told ? mn_wedge_write_plan(wedge) : MN_OK;
}

static int run(int argc, char **argv)
{
    mn_arguments words = {.command = &mn_wedge_command, .argc = argc, .argv = argv};
    wedge_arguments a = {
        .processes = 1, .retries = -1, .retry_wait = -1, .time_limit = -1, .variation.samples = 10};
    const mn_session_def def = {0};
    mn_session session;
    const char *value;
    if (!mn_session_open(&session, &mn_wedge_command, &def)) return MN_EXIT_FAILED;
    mn_status status = MN_OK;
    int code = MN_EXIT_DONE;
    bool help = false;
    for (int32_t option; status == MN_OK && code == MN_EXIT_DONE && !help &&
                         (option = mn_arguments_next(&words, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_BAD) code = MN_EXIT_USAGE;
        help = option == MN_ARGUMENT_HELP;
        if (code == MN_EXIT_DONE && !help) status = read_option(session.ctx, &a, option, value);
    }
    if (status == MN_ERROR_ARGUMENT) code = MN_EXIT_USAGE;
    if (status == MN_ERROR_MEMORY) code = mn_session_fail(&session, status);
    if (help) code = mn_finish_output(&mn_wedge_command);
    if (code == MN_EXIT_DONE && !help) code = check_arguments(&a);
    if (code == MN_EXIT_DONE && !help) {
        mn_wedge wedge = {0};
        mn_catch_signals();
        status = open_wedge(&session, &a, &wedge);
        code = status == MN_OK ? do_verb(&wedge, &session, &a) : mn_session_fail(&session, status);
        mn_wedge_free(&wedge);
    }
    free_arguments(session.ctx, &a);
    mn_session_close(&session);
    return code;
}

const mn_subcommand mn_wedge_command = {
    "wedge",
    "SCENE --vary ... -o DIR",
    "cooks a scene with many settings; wedge run|status|cancel|retry|collect DIR for one that is there",
    options,
    MN_COUNT_OF_OPTIONS(options),
    run};
