// SPDX-License-Identifier: Apache-2.0
//
// The frames of a cook, in an order that a kill at any moment cannot spoil:
//
//   1  the simulations advance to the frame, and their lines go into the report
//   2  the frame of each target is written under a temporary name, synced and renamed, then noted in its
//   journal 3  now and then, after the report is synced, the simulations' states go into checkpoints
//
// So a checkpoint never holds a frame whose report or files are missing, and going on from it repeats at most
// what came after. Frames before the first wanted one are simulated, with checkpoints, but not written.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/cook_frames.h"
#include "meniscus/stream.h"
#include "plugin/headless/cook_branch.h"
#include "plugin/headless/cook_notes.h"
#include "plugin/headless/cook_outputs.h"
#include "plugin/headless/cook_stamps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// A checkpoint is written when this many times what the last one took has passed.
static const double CHECKPOINT_SHARE = 15;

// ---- paths ----

static mn_status fail_path(mn_context *ctx)
{
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "A path is longer than %d bytes; use a shorter folder.",
                   MN_PATH_SIZE);
}

mn_status mn_cook_frame_path(const mn_cook_job *job, const mn_cook_target *target, int32_t frame,
                             char path[MN_PATH_SIZE])
{
    const int length = snprintf(path, MN_PATH_SIZE, "%s/%s.%04d.%s", job->folder, target->name, (int)frame,
                                mn_format_ending(job->format));
    return length < MN_PATH_SIZE ? MN_OK : fail_path(job->session->ctx);
}

// ---- begin ----

static mn_status list_sims(mn_cook_job *job)
{
    mn_network *network = job->network;
    for (int32_t node = 0; node < mn_network_node_limit(network); node++) {
        const mn_node_type *type = mn_network_node_type(network, node);
        bool wanted = false;
        for (int64_t i = 0; type && type->sim && i < job->targets.count; i++)
            wanted = wanted || mn_network_depends(network, job->targets.data[i].target.node, node);
        if (!wanted) continue;
        // In front of the first that needs it.
        int64_t at = 0;
        while (at < job->sims.count && !mn_network_depends(network, job->sims.data[at], node)) at++;
        MN_TRY(mn_array_push(job->session->ctx, &job->sims, &node));
        memmove(&job->sims.data[at + 1], &job->sims.data[at],
                sizeof node * (size_t)(job->sims.count - 1 - at));
        job->sims.data[at] = node;
    }
    return MN_OK;
}

static bool simulates(const mn_cook_job *job, int32_t node)
{
    for (int64_t i = 0; i < job->sims.count; i++)
        if (mn_network_depends(job->network, node, job->sims.data[i])) return true;
    return false;
}

static int32_t start_frame(const mn_cook_job *job, int32_t sim)
{
    mn_parm_value value;
    const bool told = mn_network_parm(job->network, sim, "start_frame", job->first, &value) == MN_OK;
    return told ? (int32_t)value.number[0] : job->first;
}

/// What each target reads, and from which frame on.
static mn_status describe_targets(mn_cook_job *job)
{
    for (int64_t i = 0; i < job->targets.count; i++) {
        mn_cook_target *target = &job->targets.data[i];
        target->simulates = simulates(job, target->target.node);
        target->start = job->first;
        for (int64_t k = 0; k < job->sims.count; k++) {
            const int32_t sim = job->sims.data[k], start = start_frame(job, sim);
            if (mn_network_depends(job->network, target->target.node, sim) && start < target->start)
                target->start = start;
        }
        MN_TRY(mn_scene_files_add(job->network, target->target.node, &target->files));
    }
    return MN_OK;
}

static mn_status open_journals(mn_cook_job *job)
{
    for (int64_t i = 0; i < job->targets.count; i++) {
        mn_cook_target *target = &job->targets.data[i];
        char path[MN_PATH_SIZE];
        if (snprintf(path, sizeof path, "%s/.%s.cook", job->folder, target->name) >= MN_PATH_SIZE)
            return fail_path(job->session->ctx);
        MN_TRY(mn_journal_open(job->session->ctx, path, job->share, &target->journal));
    }
    return MN_OK;
}

/// With --resume, what the journals hold, if it fits what would be cooked now. *found: one of them does.
static mn_status read_journals(mn_cook_job *job, uint64_t key, bool *found)
{
    *found = false;
    for (int64_t i = 0; job->resume && i < job->targets.count; i++) {
        mn_cook_target *target = &job->targets.data[i];
        bool one;
        MN_TRY(mn_journal_read(&target->journal, key, &one));
        if (one) MN_TRY(mn_cook_check_stamps(job, target));
        *found = *found || one;
    }
    return MN_OK;
}

/// Those without a line start now.
static mn_status start_journals(mn_cook_job *job, uint64_t key)
{
    for (int64_t i = 0; i < job->targets.count; i++)
        if (job->targets.data[i].journal.lines.count == 0)
            MN_TRY(mn_journal_start(&job->targets.data[i].journal, key));
    return MN_OK;
}

/// Old checkpoints go before the journals start anew: together they would be mistaken for this cook's.
static mn_status remove_checkpoints(const mn_cook_job *job)
{
    for (int64_t i = 0; i < job->sims.count; i++) {
        char path[MN_PATH_SIZE];
        const char *name = mn_network_node_name(job->network, job->sims.data[i]);
        if (snprintf(path, sizeof path, "%s/%s.checkpoint", job->folder, name) >= MN_PATH_SIZE)
            return fail_path(job->session->ctx);
        if (unlink(path) != 0 && errno != ENOENT)
            return mn_fail(job->session->ctx, MN_ERROR_IO, "The old checkpoint %s cannot be removed: %s.",
                           path, strerror(errno));
    }
    return MN_OK;
}

static mn_status load_checkpoints(mn_cook_job *job)
{
    int32_t common = INT32_MAX;
    for (int64_t i = 0; i < job->targets.count; i++) {
        const mn_cook_target *target = &job->targets.data[i];
        int32_t frame;
        // A shape beside the liquid has nothing to go on with, and must not send the liquid back.
        if (!target->simulates) continue;
        MN_TRY(mn_network_load_checkpoint(job->network, target->target.node, job->folder, &frame));
        if (frame < common) common = frame;
    }
    job->simulated = job->checkpoint_frame = common == INT32_MAX ? INT32_MIN : common;
    return MN_OK;
}

mn_status mn_cook_begin(mn_cook_job *job, uint64_t scene_key, const char *scene_path, const char *report_path)
{
    mn_context *ctx = job->session->ctx;
    bool found;
    job->simulated = job->checkpoint_frame = INT32_MIN;
    job->file_stamps.ctx = ctx;
    MN_TRY(list_sims(job));
    if (job->share && job->sims.count > 0)
        return mn_fail(
            ctx, MN_ERROR_SCENE,
            "--share is for nodes without memory, and '%s' simulates. Cook it first, and read its frames with --cache.",
            mn_network_node_name(job->network, job->sims.data[0]));
    MN_TRY(describe_targets(job));
    MN_TRY(mn_make_folder(ctx, job->folder));
    MN_TRY(mn_cook_check_outputs(job, scene_path, report_path));
    MN_TRY(open_journals(job));
    MN_TRY(read_journals(job, scene_key, &found));
    if (!found) MN_TRY(remove_checkpoints(job));
    if (!found) MN_TRY(mn_cook_notes_clear(job));
    MN_TRY(start_journals(job, scene_key));
    MN_TRY(mn_report_open(ctx, report_path, job->resume, &job->report));
    // What is cooked goes to files, and no frame is asked for twice: the last state and frame of each
    // simulation are enough, and always stay.
    mn_network_set_cache_limit(job->network, 0);
    if (found) return load_checkpoints(job);
    if (job->resume && !job->share && !job->quiet)
        mn_session_say(job->session, "there is nothing to resume in %s; starting from the beginning.",
                       job->folder);
    return MN_OK;
}

void mn_cook_let_others_in(mn_cook_job *job)
{
    for (int64_t i = 0; i < job->targets.count; i++) mn_journal_unlock(&job->targets.data[i].journal);
}

void mn_cook_end(mn_cook_job *job)
{
    mn_context *ctx = job->session->ctx;
    for (int64_t i = 0; i < job->targets.count; i++) {
        mn_cook_target *target = &job->targets.data[i];
        mn_journal_close(&target->journal);
        mn_array_free(ctx, &target->files);
        mn_array_free(ctx, &target->stamps);
    }
    mn_file_stamps_free(&job->file_stamps);
    mn_report_close(&job->report);
    mn_array_free(ctx, &job->targets);
    mn_array_free(ctx, &job->sims);
    mn_array_free(ctx, &job->warned);
}

// ---- what to do ----

static bool is_written(const mn_cook_job *job, const mn_cook_target *target, int32_t frame)
{
    char path[MN_PATH_SIZE];
    struct stat info;
    return mn_journal_has(&target->journal, frame) && mn_cook_frame_path(job, target, frame, path) == MN_OK &&
           stat(path, &info) == 0 && info.st_size > 0;
}

static bool is_complete(const mn_cook_job *job, int32_t frame)
{
    for (int64_t i = 0; i < job->targets.count; i++)
        if (!is_written(job, &job->targets.data[i], frame)) return false;
    return true;
}

/// The first frame that the simulations have to pass, before any that is written.
static int32_t first_simulated(const mn_cook_job *job)
{
    int32_t first = job->first;
    for (int64_t i = 0; i < job->sims.count; i++) {
        const int32_t start = start_frame(job, job->sims.data[i]);
        if (start < first) first = start;
    }
    return job->simulated != INT32_MIN && job->simulated + 1 > first ? job->simulated + 1 : first;
}

// ---- one frame ----

/// A hash of the sentence without its numbers: what a node says at every frame with other counts is one
/// warning.
static uint64_t warning_hash(const char *name, const char *sentence)
{
    uint64_t hash = mn_hash_string(0, name);
    for (const char *at = sentence; *at; at++)
        if (!strchr("0123456789.", *at)) hash = mn_hash_u64(hash, (uint64_t)(unsigned char)*at);
    return hash;
}

static void print_warnings(mn_cook_job *job, int32_t frame)
{
    for (int32_t node = 0; node < mn_network_node_limit(job->network); node++)
        for (int32_t i = 0; i < mn_network_warning_count(job->network, node); i++) {
            const char *name = mn_network_node_name(job->network, node);
            const char *sentence = mn_network_warning(job->network, node, i);
            const uint64_t hash = warning_hash(name, sentence);
            bool known = false;
            for (int64_t k = 0; k < job->warned.count; k++) known = known || job->warned.data[k] == hash;
            if (known) continue;
            mn_session_say(job->session, "warning: %s: %s", name, sentence);
            mn_cook_note(job, frame, "warning", name, sentence);
            // Without memory to remember it, it may be said twice.
            (void)mn_array_push(job->session->ctx, &job->warned, &hash);
        }
}

static mn_status simulate(mn_cook_job *job, int32_t frame, bool report)
{
    for (int64_t i = 0; i < job->sims.count; i++) {
        const mn_geo *geo;
        MN_TRY(mn_network_cook(job->network, job->sims.data[i], 0, frame, &geo));
        if (report) MN_TRY(mn_report_add(&job->report, job->network, job->sims.data[i], frame, geo));
    }
    job->simulated = frame;
    return MN_OK;
}

static mn_status write_frame(mn_cook_job *job, mn_cook_target *target, int32_t frame, int64_t *points)
{
    char path[MN_PATH_SIZE];
    const mn_geo *geo;
    if (is_written(job, target, frame)) return MN_OK;
    mn_journal_line line = {.frame = frame};
    MN_TRY(mn_cook_stamp(job, target, frame, &line.stamp));
    MN_TRY(mn_cook_frame_path(job, target, frame, path));
    MN_TRY(mn_network_cook(job->network, target->target.node, target->target.output, frame, &geo));
    MN_TRY(mn_io_write_as(job->session->ctx, path, job->format, geo));
    *points = mn_geo_point_count(geo);
    return mn_journal_add(&target->journal, line);
}

static mn_status write_target(mn_cook_job *job, mn_cook_target *target, int32_t frame, int64_t *points)
{
    bool held;
    *points = 0;
    if (!job->share || is_written(job, target, frame)) return write_frame(job, target, frame, points);
    MN_TRY(mn_journal_hold(&target->journal, frame, &held));
    if (!held) {
        job->busy += !is_written(job, target, frame);
        return MN_OK;
    }
    const mn_status status = write_frame(job, target, frame, points);
    mn_journal_let_go(&target->journal, frame);
    return status;
}

static mn_status save_checkpoint(mn_cook_job *job)
{
    if (job->sims.count == 0) return MN_OK;
    const double begun = mn_seconds();
    MN_TRY(mn_report_sync(&job->report));
    for (int64_t i = 0; i < job->targets.count; i++) {
        mn_cook_target *target = &job->targets.data[i];
        if (!target->simulates) continue;
        // Noted first: a checkpoint whose inputs nobody remembers could be of others than those of today.
        mn_journal_line line = {.frame = job->simulated, .checkpoint = true};
        MN_TRY(mn_cook_running_stamp(job, target, line.frame, &line.stamp));
        MN_TRY(mn_journal_add(&target->journal, line));
        MN_TRY(mn_network_save_checkpoint(job->network, target->target.node, job->folder));
    }
    job->checkpoint_time = mn_seconds();
    job->checkpoint_seconds = job->checkpoint_time - begun;
    job->checkpoint_frame = job->simulated;
    return MN_OK;
}

/// States for branches, beside the one to resume from.
static mn_status keep_states(mn_cook_job *job, int32_t frame)
{
    char path[MN_PATH_SIZE];
    if (job->keep_every == 0 || frame % job->keep_every != 0) return MN_OK;
    MN_TRY(mn_kept_folder(job->session->ctx, job->folder, frame, true, path));
    for (int64_t i = 0; i < job->targets.count; i++)
        if (job->targets.data[i].simulates)
            MN_TRY(mn_network_save_checkpoint(job->network, job->targets.data[i].target.node, path));
    return MN_OK;
}

static mn_status checkpoint_if_due(mn_cook_job *job)
{
    const double passed = mn_seconds() - job->checkpoint_time;
    if (job->simulated <= job->checkpoint_frame) return MN_OK; // an old frame was made again
    return passed > CHECKPOINT_SHARE * job->checkpoint_seconds ? save_checkpoint(job) : MN_OK;
}

static bool is_asked_for(const mn_cook_job *job, int32_t frame)
{
    return frame >= job->first && frame <= job->last && (frame - job->first) % job->step == 0;
}

static mn_status cook_frame(mn_cook_job *job, int32_t frame)
{
    const double begun = mn_seconds();
    const bool wanted = is_asked_for(job, frame) && !is_complete(job, frame);
    char line[512];
    // Before the nodes read the files, which may change while we cook.
    for (int64_t i = 0; i < job->targets.count; i++)
        if (job->targets.data[i].simulates) {
            uint64_t stamp;
            MN_TRY(mn_cook_running_stamp(job, &job->targets.data[i], frame, &stamp));
        }
    MN_TRY(simulate(job, frame, frame >= job->first));
    int length = snprintf(line, sizeof line, wanted ? "frame %d" : "frame %d: simulated", (int)frame);
    for (int64_t i = 0; wanted && i < job->targets.count; i++) {
        mn_cook_target *target = &job->targets.data[i];
        int64_t points;
        MN_TRY(write_target(job, target, frame, &points));
        if (length < (int)sizeof line)
            length += snprintf(line + length, sizeof line - (size_t)length, "%s %s %lld points",
                               i > 0 ? "," : ":", target->name, (long long)points);
    }
    if (length < (int)sizeof line)
        snprintf(line + length, sizeof line - (size_t)length, ", %.2f s", mn_seconds() - begun);
    print_warnings(job, frame);
    mn_progress_bar_step(&job->session->bar, line);
    MN_TRY(keep_states(job, frame));
    return checkpoint_if_due(job);
}

/// *at: the frame that was in work.
static mn_status cook_missing(mn_cook_job *job, int32_t first, int32_t last, int32_t *at)
{
    job->busy = 0;
    for (int32_t frame = first; frame <= last; frame++) {
        *at = frame;
        // Without simulations, frames that are there already are nobody's business.
        if (job->sims.count == 0 && (!is_asked_for(job, frame) || is_complete(job, frame))) continue;
        MN_TRY(mn_check_cancelled(job->session->ctx));
        MN_TRY(cook_frame(job, frame));
    }
    return MN_OK;
}

mn_status mn_cook_frames(mn_cook_job *job)
{
    int32_t last = INT32_MIN, first = job->sims.count > 0 ? first_simulated(job) : job->first;
    int64_t count = 0;
    for (int32_t frame = job->first; frame <= job->last; frame++)
        if (is_asked_for(job, frame) && !is_complete(job, frame)) {
            if (last == INT32_MIN && frame < first) first = frame;
            last = frame, count++;
        }
    if (count == 0) {
        if (!job->quiet) mn_session_say(job->session, "all frames are there already.");
        return MN_OK;
    }
    mn_progress_bar_begin(&job->session->bar, job->quiet,
                          job->sims.count > 0 ? last - first + 1.0 : (double)count);
    int32_t at = first;
    mn_status status = cook_missing(job, first, last, &at);
    // Frames that somebody else has in work are his; if he is killed they are ours.
    while (status == MN_OK && job->busy > 0) {
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        status = cook_missing(job, first, last, &at);
    }
    mn_progress_bar_clear(&job->session->bar);
    if (status == MN_OK) return job->simulated > job->checkpoint_frame ? save_checkpoint(job) : MN_OK;
    print_warnings(job, at);
    // What was simulated is worth keeping; the first sentence is the one that counts.
    char sentence[2048];
    snprintf(sentence, sizeof sentence, "%s", mn_context_message(job->session->ctx));
    if (status != MN_ERROR_CANCELLED) mn_cook_note(job, at, "error", "", sentence);
    if (job->simulated >= job->checkpoint_frame) (void)save_checkpoint(job);
    return mn_fail(job->session->ctx, status, "%s", sentence);
}
