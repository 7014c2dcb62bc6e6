// SPDX-License-Identifier: Apache-2.0
//
// meniscus cook SCENE: the command line, then cook_frames.c.
#include "meniscus/stream.h"
#include "plugin/headless/command.h"
#include "plugin/headless/cook_branch.h"
#include "plugin/headless/cook_cache.h"
#include "plugin/headless/cook_frames.h"
#include "plugin/headless/cook_stage.h"
#include "plugin/host/network/spelling.h"
#include "plugin/preview/sequence.h"

#include <stdio.h>
#include <string.h>

enum {
    OPTION_FRAMES,
    OPTION_OUTPUT,
    OPTION_NODE,
    OPTION_SET,
    OPTION_FORMAT,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_RESUME,
    OPTION_REPORT,
    OPTION_PREVIEW,
    OPTION_QUIET,
    OPTION_SCHEDULER,
    OPTION_FOLDER,
    OPTION_FROM,
    OPTION_KEEP,
    OPTION_CACHE,
    OPTION_SHARE,
};
static const mn_option options[] = {
    [OPTION_FRAMES] = {"--frames", "-f", "A-B",
                       "these frames instead of the scene's; A-BxN writes every N-th"},
    [OPTION_OUTPUT] = {"--output", "-o", "DIR", "write DIR/NODE.0001.EXT; made when missing, default ."},
    [OPTION_NODE] = {"--node", NULL, "NAME",
                     "this node instead of the scene's output; may be given many times"},
    [OPTION_SET] = {"--set", NULL, "NODE.PARM=VALUE", "with another value; may be given many times"},
    [OPTION_FORMAT] = {"--format", NULL, "EXT",
                       "bgeo.sc (default), bgeo.gz, bgeo, geo, ply, obj, vdb, usd or glb"},
    [OPTION_THREADS] = MN_OPTION_THREADS,
    [OPTION_MEMORY] = MN_OPTION_MEMORY,
    [OPTION_RESUME] = {"--resume", NULL, NULL, "continue an earlier cook into DIR that was stopped"},
    [OPTION_REPORT] = {"--report", NULL, "FILE", "one JSON object per line, per frame and simulating node"},
    [OPTION_PREVIEW] = {"--preview", NULL, NULL, "draw pictures of the frames when they are done"},
    [OPTION_QUIET] = {"--quiet", "-q", NULL, "no progress"},
    [OPTION_SCHEDULER] = MN_OPTION_SCHEDULER,
    [OPTION_FOLDER] = {"--folder", NULL, "DIR", "relative paths in the scene begin here, not at the scene"},
    [OPTION_FROM] =
        {"--from", NULL, "DIR@FRAME",
         "instead of a scene: go on from that frame of an earlier cook, with --set from there on"},
    [OPTION_CACHE] = {"--cache", NULL, "DIR", "read simulations from frames that were cooked into DIR"},
    [OPTION_SHARE] = {"--share", NULL, NULL,
                      "with others that cook frames of the same nodes into DIR at the same time"},
    [OPTION_KEEP] = {"--checkpoint-every", NULL, "N", "keep the states of every N-th frame, for --from"},
};

typedef struct cook_arguments {
    const char *scene, *frames, *report, *folder, *cache;
    mn_session_def session;
    mn_cook_branch branch;
} cook_arguments;

/// Everything but --node and --set, which need the scene.
static int read_arguments(mn_arguments *arguments, cook_arguments *cook, mn_cook_job *job)
{
    const char *value;
    mn_shown shown;
    int64_t keep;
    for (int32_t option; (option = mn_arguments_next(arguments, &value)) != MN_ARGUMENT_END;) {
        switch (option) {
        case MN_ARGUMENT_HELP:
            return MN_ARGUMENT_HELP;
        case MN_ARGUMENT_BAD:
            return MN_EXIT_USAGE;
        case OPTION_FRAMES:
            if (!mn_read_frame_steps(&mn_cook_command, value, &job->first, &job->last, &job->step))
                return MN_EXIT_USAGE;
            cook->frames = value;
            break;
        case OPTION_OUTPUT:
            job->folder = *value ? value : ".";
            break;
        case OPTION_FORMAT:
            if (!mn_format_from_name(value, &job->format))
                return mn_usage_error(&mn_cook_command, "--format: '%s' is none of %s.",
                                      mn_show(&shown, value),
                                      "bgeo.sc, bgeo.gz, bgeo, geo, ply, obj, vdb, usd and glb");
            break;
        case OPTION_THREADS:
            if (!mn_read_threads(&mn_cook_command, value, &cook->session)) return MN_EXIT_USAGE;
            break;
        case OPTION_MEMORY:
            if (!mn_read_memory(&mn_cook_command, value, &cook->session)) return MN_EXIT_USAGE;
            break;
        case OPTION_SCHEDULER:
            if (!mn_read_scheduler(&mn_cook_command, value, &cook->session)) return MN_EXIT_USAGE;
            break;
        case OPTION_RESUME:
            job->resume = true;
            break;
        case OPTION_REPORT:
            cook->report = value;
            break;
        case OPTION_FROM:
            if (!mn_read_branch(&mn_cook_command, value, &cook->branch)) return MN_EXIT_USAGE;
            break;
        case OPTION_KEEP:
            if (!mn_read_integer(&mn_cook_command, "--checkpoint-every", value, 1, MN_FRAME_MAX, &keep))
                return MN_EXIT_USAGE;
            job->keep_every = (int32_t)keep;
            break;
        case OPTION_CACHE:
            cook->cache = value;
            break;
        case OPTION_SHARE:
            job->share = job->resume = true;
            break;
        case OPTION_FOLDER:
            cook->folder = value;
            break;
        case OPTION_PREVIEW:
            job->preview = true;
            break;
        case OPTION_QUIET:
            job->quiet = true;
            break;
        case MN_ARGUMENT_WORD:
            if (cook->scene)
                return mn_usage_error(&mn_cook_command, "it takes one scene; got '%s' and '%s'.", cook->scene,
                                      value);
            cook->scene = value;
            break;
        default:
            break;
        }
    }
    if (job->preview && !mn_format_is_read(job->format))
        return mn_usage_error(
            &mn_cook_command,
            "--preview reads the frames back, which .%s files are not made for; cook .bgeo.sc "
            "with --preview, or leave it out.",
            mn_format_ending(job->format));
    if (job->share && job->preview)
        return mn_usage_error(&mn_cook_command,
                              "--preview wants all frames; use 'meniscus preview' after --share.");
    if (cook->scene && *cook->branch.folder)
        return mn_usage_error(&mn_cook_command, "--from has its scene already; leave out '%s'.", cook->scene);
    char from[MN_PATH_SIZE], to[MN_PATH_SIZE];
    if (*cook->branch.folder && mn_canonical_path(cook->branch.folder, from) &&
        mn_canonical_path(job->folder, to) && strcmp(from, to) == 0)
        return mn_usage_error(&mn_cook_command, "a branch needs a folder of its own; choose one with -o.");
    return cook->scene || *cook->branch.folder ? MN_EXIT_DONE
                                               : mn_usage_error(&mn_cook_command, "which scene?");
}

static mn_status add_target(mn_cook_job *job, const char *name)
{
    mn_cook_target target = {.journal.descriptor = -1};
    MN_TRY(mn_find_target(job->session, job->network, name, &target.target));
    for (int64_t i = 0; i < job->targets.count; i++)
        if (memcmp(&job->targets.data[i].target, &target.target, sizeof target.target) == 0) return MN_OK;
    mn_target_name(job->network, target.target, target.name);
    return mn_array_push(job->session->ctx, &job->targets, &target);
}

static mn_status apply_arguments(mn_cook_job *job, mn_arguments *arguments, mn_cook_branch *branch)
{
    const char *value;
    arguments->at = 0, arguments->words_only = false;
    for (int32_t option; (option = mn_arguments_next(arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == OPTION_SET)
            MN_TRY(branch->source ? mn_branch_set(job->session, branch, job->network, value)
                                  : mn_apply_setting(job->session, job->network, value));
        if (option == OPTION_NODE) MN_TRY(add_target(job, value));
    }
    return job->targets.count > 0 ? MN_OK : add_target(job, NULL);
}

/// A number that is another when the scene gives other frames: a hash of it as text, without its title,
/// range, output, asset, camera and render block, of the format, and of the build that cooks it.
static mn_status scene_key(const mn_cook_job *job, uint64_t *key)
{
    mn_network *copy = NULL;
    char *text = NULL;
    mn_context *ctx = job->session->ctx;
    MN_TRY(mn_scene_write_text(job->network, &text));
    mn_status status = mn_network_create(ctx, NULL, &copy);
    if (status == MN_OK) status = mn_scene_read_into(copy, text, strlen(text), "scene");
    mn_scene_free_text(ctx, text);
    if (status == MN_OK) status = mn_network_set_title(copy, "");
    if (status == MN_OK) status = mn_network_set_range(copy, 1, 1);
    if (status == MN_OK) status = mn_network_set_output(copy, -1);
    if (status == MN_OK) status = mn_network_set_asset(copy, NULL);
    if (status == MN_OK) status = mn_network_set_camera(copy, NULL);
    if (status == MN_OK) status = mn_network_set_render(copy, NULL);
    if (status == MN_OK) status = mn_scene_write_text(copy, &text);
    if (status == MN_OK) {
        *key = mn_hash_string(mn_hash_string(0, text), mn_format_ending(job->format));
        *key = mn_hash_string(*key, MN_VERSION " " __VERSION__);
        mn_scene_free_text(ctx, text);
    }
    mn_network_free(copy);
    return status;
}

/// Pictures of all frames of each target, and a sheet of them.
static mn_status draw_previews(mn_cook_job *job)
{
    for (int64_t i = 0; i < job->targets.count; i++) {
        const mn_cook_target *target = &job->targets.data[i];
        mn_preview_sequence sequence = {.session = job->session, .def = mn_preview_default_def()};
        char path[MN_PATH_SIZE], frames[MN_PATH_SIZE], sheet[MN_PATH_SIZE];
        mn_status status = MN_OK;
        for (int32_t frame = job->first; frame <= job->last && status == MN_OK; frame += job->step) {
            status = mn_cook_frame_path(job, target, frame, path);
            if (status == MN_OK) status = mn_preview_sequence_add(&sequence, path, true, frame);
        }
        const int a = snprintf(frames, sizeof frames, "%s/%s.$F4.png", job->folder, target->name);
        const int b = snprintf(sheet, sizeof sheet, "%s/%s.png", job->folder, target->name);
        if (status == MN_OK && (a >= MN_PATH_SIZE || b >= MN_PATH_SIZE))
            status = mn_fail(job->session->ctx, MN_ERROR_ARGUMENT, "The path of the pictures is too long.");
        if (status == MN_OK) {
            mn_progress_bar_begin(&job->session->bar, job->quiet, job->last - job->first + 1.0);
            status = mn_preview_sequence_draw(&sequence, frames, job->first < job->last ? sheet : NULL);
        }
        mn_preview_sequence_free(&sequence);
        MN_TRY(status);
    }
    return MN_OK;
}

static mn_status open_scene(mn_cook_job *job, cook_arguments *arguments)
{
    if (arguments->scene) return mn_open_scene(job->session, arguments->scene, &job->network);
    return mn_branch_open(job->session, &arguments->branch, NULL, &job->network);
}

static mn_status read_cache(const mn_cook_job *job, const cook_arguments *arguments)
{
    int32_t first = job->first, last;
    if (!arguments->frames) mn_network_range(job->network, &first, &last);
    return mn_network_read_cache(job->network, arguments->cache, first);
}

/// The scene's frames, or those of a branch after it; what a branch cooks is not what its scene alone would.
static mn_status settle_frames(mn_cook_job *job, const cook_arguments *arguments, uint64_t *key)
{
    const mn_cook_branch *branch = &arguments->branch;
    if (!arguments->frames) mn_network_range(job->network, &job->first, &job->last);
    if (!branch->source) return MN_OK;
    if (!arguments->frames) job->first = branch->frame + 1;
    if (job->first < branch->frame || job->last < job->first)
        return mn_fail(job->session->ctx, MN_ERROR_SCENE,
                       "A branch at frame %d has the frames after it; choose them with -f.",
                       (int)branch->frame);
    *key = mn_hash_u64(mn_hash_string(*key, "branch"), (uint64_t)(int64_t)branch->frame);
    return MN_OK;
}

static int cook(mn_cook_job *job, cook_arguments *arguments, mn_arguments *words)
{
    uint64_t key = 0;
    mn_cook_branch *branch = &arguments->branch;
    const double begun = mn_seconds();
    mn_status status = open_scene(job, arguments);
    if (status == MN_OK && arguments->folder) status = mn_network_set_folder(job->network, arguments->folder);
    if (status == MN_OK) status = apply_arguments(job, words, branch);
    if (status == MN_OK && arguments->cache) status = read_cache(job, arguments);
    if (status == MN_OK) status = scene_key(job, &key);
    if (status == MN_OK) status = settle_frames(job, arguments, &key);
    if (status == MN_OK) status = mn_cook_begin(job, key, arguments->scene, arguments->report);
    if (status == MN_OK) status = mn_cook_note_scene(job, branch, arguments->scene);
    if (status == MN_OK) mn_cook_let_others_in(job);
    if (status == MN_OK && branch->source && job->simulated == INT32_MIN)
        status = mn_branch_start(job, branch);
    if (status == MN_OK) status = mn_cook_frames(job);
    if (status == MN_OK && job->format == MN_FORMAT_USD) status = mn_cook_write_stage(job);
    if (status == MN_OK && job->preview) status = draw_previews(job);
    const int code = mn_session_fail(job->session, status);
    char duration[32];
    mn_format_duration(mn_seconds() - begun, duration);
    if (status == MN_ERROR_CANCELLED)
        mn_session_say(job->session, "stopped; finished frames are kept. Use --resume to continue.");
    if (status == MN_OK && !job->quiet)
        mn_session_say(job->session, "frames %d to %d are in %s, %s.", (int)job->first, (int)job->last,
                       job->folder, duration);
    return code;
}

static int run(int argc, char **argv)
{
    mn_arguments words = {.command = &mn_cook_command, .argc = argc, .argv = argv};
    cook_arguments arguments = {0};
    mn_cook_job job = {.folder = ".", .format = MN_FORMAT_BGEO_SC, .step = 1};
    const int usage = read_arguments(&words, &arguments, &job);
    if (usage != MN_EXIT_DONE) return usage == MN_ARGUMENT_HELP ? mn_finish_output(&mn_cook_command) : usage;
    mn_catch_signals();
    mn_session session;
    if (!mn_session_open(&session, &mn_cook_command, &arguments.session)) return MN_EXIT_FAILED;
    job.session = &session;
    const int code = cook(&job, &arguments, &words);
    mn_cook_end(&job);
    mn_branch_close(session.ctx, &arguments.branch);
    mn_network_free(job.network);
    mn_session_close(&session);
    return code;
}

const mn_subcommand mn_cook_command = {
    "cook",  "SCENE [-f A-B] [-o DIR] ...", "cooks frames of a scene into files; - is a scene from stdin",
    options, MN_COUNT_OF_OPTIONS(options),  run};
