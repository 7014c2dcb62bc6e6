// SPDX-License-Identifier: Apache-2.0
//
// A wedge on a farm: Slurm's job arrays. Other schedulers' command lines are printed by wedge_print.c.
//
//   DIR/farm/3.list     names of the members of the third submission; task k of the array cooks the k-th
//   DIR/farm/3.sh       what each task runs
//   DIR/farm/3.jobs     numbers of its jobs
//   DIR/farm/*.out      what they said
//
// Each task is a `meniscus wedge member`, so that jobs may be requeued, preempted, killed and submitted
// twice: a member that is done is not cooked again, one that somebody cooks is left to him, one that was
// stopped resumes.
//
// Slurm takes MaxArraySize tasks in one array and MaxJobCount jobs in all. What does not fit waits: the job
// that collects the tables after the last array submits the next ones.
#define _GNU_SOURCE
#include "plugin/headless/wedge_farm.h"
#include "plugin/headless/command.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARRAY_LIMIT = 1000 };          ///< tasks of one array: Slurm's own default allows 1001
enum { REST_TRIES = 60 };             ///< a minute apart: ended jobs stay in Slurm's books for five minutes
static const double MEMORY_SPARE = 2; ///< times what doctor finds at the first frames, for what comes later
static const double MEMORY_LEAST = 512 * 1048576.0;
static const double TIME_SPARE = 4;       ///< times what doctor expects: nodes differ, and splashes come late
static const double TIME_LEAST = 15 * 60; ///< s

/// The member stops itself at its own limit, over all tries; the scheduler's is for one that cannot.
void mn_farm_choose_limits(mn_farm_job *job)
{
    const mn_wedge *wedge = job->wedge;
    const mn_member_needs needs = mn_wedge_estimate(wedge, job->session, job->command.bytes.data);
    const double told = wedge->time_limit * (double)(wedge->retries + 1) * 1.25;
    const double memory = fmax(needs.memory * MEMORY_SPARE, MEMORY_LEAST);
    const double seconds = told > 0 ? told : fmax(needs.seconds * TIME_SPARE, TIME_LEAST);
    if (needs.memory > 0) job->megabytes = rint(memory / 1048576);
    if (told > 0 || needs.seconds > 0) job->minutes = rint(1 + seconds / 60);
    if (told > 0) job->then_minutes = job->minutes;
}

// ---- submissions ----

mn_status mn_farm_open(mn_farm_job *job)
{
    mn_context *ctx = job->session->ctx;
    mn_wedge_words words = {0};
    if (!mn_canonical_path(job->wedge->folder, job->folder))
        return mn_fail(ctx, MN_ERROR_IO, "The folder %s cannot be found.", job->wedge->folder);
    mn_status status = mn_command_words(ctx, &words);
    job->command.ctx = ctx;
    for (int64_t i = 0; i < words.count && status == MN_OK; i++) {
        if (i > 0) mn_json_text_put(&job->command, " ");
        mn_put_quoted(&job->command, words.data[i]);
    }
    mn_wedge_free_words(ctx, &words);
    MN_TRY(status);
    const char end = 0;
    return mn_array_push(ctx, &job->command.bytes, &end);
}

mn_status mn_farm_list_waiting(const mn_wedge *wedge, mn_wedge_words *names)
{
    for (int64_t i = 0; i < wedge->members.count; i++) {
        bool waits;
        MN_TRY(mn_member_waits(wedge, &wedge->members.data[i], &waits));
        if (waits) MN_TRY(mn_wedge_add_word(wedge->ctx, names, wedge->members.data[i].name));
    }
    return MN_OK;
}

/// A number that no submission has, and FOLDER/farm.
mn_status mn_farm_next_number(const mn_farm_job *job, int *number)
{
    char path[MN_PATH_SIZE + 64];
    struct stat info;
    snprintf(path, sizeof path, "%s/farm", job->folder);
    MN_TRY(mn_make_folder(job->session->ctx, path));
    for (*number = 1; *number < 1000000; ++*number) {
        snprintf(path, sizeof path, "%s/farm/%d.list", job->folder, *number);
        if (stat(path, &info) != 0) return MN_OK;
    }
    return mn_fail(job->session->ctx, MN_ERROR_IO, "%s/farm is full of old submissions; remove them.",
                   job->folder);
}

static mn_status write_file(const mn_farm_job *job, int number, const char *ending, mn_json_text *out)
{
    char path[MN_PATH_SIZE + 64], *text;
    snprintf(path, sizeof path, "%s/farm/%d.%s", job->folder, number, ending);
    MN_TRY(mn_json_text_finish(out, &text));
    const mn_status status = mn_write_text(job->session->ctx, path, text);
    mn_scene_free_text(job->session->ctx, text);
    return status;
}

/// "meniscus wedge member DIR --list DIR/farm/3.list --index " without the index.
void mn_farm_put_member_command(const mn_farm_job *job, int number, mn_json_text *out)
{
    char path[MN_PATH_SIZE + 64];
    mn_json_text_put(out, job->command.bytes.data);
    mn_json_text_put(out, " wedge member ");
    mn_put_quoted(out, job->folder);
    mn_json_text_put(out, " --list ");
    snprintf(path, sizeof path, "%s/farm/%d.list", job->folder, number);
    mn_put_quoted(out, path);
    mn_json_text_put(out, " --index ");
}

mn_status mn_farm_write_submission(const mn_farm_job *job, const mn_wedge_words *names, int64_t first,
                                   int64_t count, int number)
{
    mn_json_text list = {.ctx = job->session->ctx}, script = {.ctx = job->session->ctx};
    for (int64_t i = first; i < first + count; i++) {
        mn_json_text_put(&list, names->data[i]);
        mn_json_text_put(&list, "\n");
    }
    MN_TRY(write_file(job, number, "list", &list));
    // exec, so that Slurm's signals reach the member.
    mn_json_text_put(&script, "#!/bin/sh\nexec ");
    mn_farm_put_member_command(job, number, &script);
    mn_json_text_put(&script, "\"$SLURM_ARRAY_TASK_ID\" \"$@\"\n");
    return write_file(job, number, "sh", &script);
}

/// The line for sbatch; `after` is a dependency or "" for the cooks.
mn_status mn_farm_sbatch_line(const mn_farm_job *job, int number, int64_t count, const char *after,
                              const char *more, char **text)
{
    mn_json_text out = {.ctx = job->session->ctx};
    char word[MN_PATH_SIZE + 128];
    const char *name = strrchr(job->folder, '/');
    mn_json_text_put(&out, "sbatch --parsable --requeue --open-mode=append ");
    snprintf(word, sizeof word, "--array=0-%lld --job-name=", (long long)count - 1);
    mn_json_text_put(&out, word);
    mn_put_quoted(&out, name ? name + 1 : job->folder);
    mn_json_text_put(&out, " --output=");
    snprintf(word, sizeof word, "%s/farm/%%A_%%a.out", job->folder);
    mn_put_quoted(&out, word);
    const double minutes = *after ? job->then_minutes : job->minutes;
    if (job->megabytes > 0) snprintf(word, sizeof word, " --mem=%.0fM", job->megabytes);
    if (job->megabytes > 0) mn_json_text_put(&out, word);
    if (minutes > 0) snprintf(word, sizeof word, " --time=%.0f", minutes);
    if (minutes > 0) mn_json_text_put(&out, word);
    if (*after) mn_json_text_put(&out, " ");
    mn_json_text_put(&out, after);
    mn_json_text_put(&out, " ");
    snprintf(word, sizeof word, "%s/farm/%d.sh", job->folder, number);
    mn_put_quoted(&out, word);
    mn_json_text_put(&out, more);
    return mn_json_text_finish(&out, text);
}

/// Runs a line of sbatch; its job's number is in `id`.
static mn_status submit_line(const mn_farm_job *job, const char *line, char id[64])
{
    mn_context *ctx = job->session->ctx;
    char said[2048], *whole = mn_allocate(ctx, strlen(line) + 16);
    if (!whole) return MN_ERROR_MEMORY;
    snprintf(whole, strlen(line) + 16, "%s 2>&1", line);
    const int code = mn_run_shell(whole, said, sizeof said);
    mn_release(ctx, whole, strlen(line) + 16);
    if (code == 127)
        return mn_fail(
            ctx, MN_ERROR_NOT_FOUND,
            "There is no sbatch on this machine, so Slurm cannot be asked. Use --local, or --print slurm for its command lines.");
    for (char *at = said; *at; at++)
        if (*at == '\n') *at = at[1] ? ' ' : 0;
    snprintf(id, 64, "%.*s", (int)strspn(said, "0123456789"), said);
    if (code == 0 && *id) return MN_OK;
    return mn_fail(
        ctx, MN_ERROR_IO,
        "Slurm did not take the jobs: %s. The members wait; 'meniscus wedge run %s --slurm' submits them again.",
        said, job->wedge->folder);
}

static mn_status submit_sbatch(const mn_farm_job *job, int number, int64_t count, const char *after,
                               const char *more, char id[64])
{
    char *line;
    MN_TRY(mn_farm_sbatch_line(job, number, count, after, more, &line));
    const mn_status status = submit_line(job, line, id);
    mn_scene_free_text(job->session->ctx, line);
    return status;
}

/// An array of cooks, and one of the commands after them, each task after its own cook. *ids gets their
/// numbers.
static mn_status submit_array(const mn_farm_job *job, int number, int64_t count, mn_json_text *ids)
{
    char id[64], after[128];
    const bool then = *job->wedge->then != 0;
    MN_TRY(submit_sbatch(job, number, count, "", then ? " --only-cook" : "", id));
    mn_json_text_put(ids, id);
    mn_json_text_put(ids, "\n");
    if (!then) return MN_OK;
    snprintf(after, sizeof after, "--dependency=aftercorr:%s --kill-on-invalid-dep=yes", id);
    MN_TRY(submit_sbatch(job, number, count, after, "", id));
    mn_json_text_put(ids, id);
    mn_json_text_put(ids, "\n");
    return MN_OK;
}

/// What is left for later: the tables, and the members that the queue had no room for.
static void put_collect_script(const mn_farm_job *job, bool rest, mn_json_text *script)
{
    char word[64];
    mn_json_text_put(script, "#!/bin/sh\n");
    mn_json_text_put(script, job->command.bytes.data);
    mn_json_text_put(script, " wedge collect -q ");
    mn_put_quoted(script, job->folder);
    mn_json_text_put(script, "\n");
    if (!rest) return;
    snprintf(word, sizeof word, "i=0\nwhile [ $i -lt %d ] && [ ! -e ", REST_TRIES);
    mn_json_text_put(script, word);
    mn_put_quoted(script, job->folder);
    mn_json_text_put(script, "/cancel ]; do\n  ");
    mn_json_text_put(script, job->command.bytes.data);
    mn_json_text_put(script, " wedge run --slurm -q ");
    mn_put_quoted(script, job->folder);
    mn_json_text_put(script, " && exit 0\n  i=$((i + 1)); sleep 60\ndone\nexit 1\n");
}

/// When all have ended: the table of all, and with `rest` the members that wait. *jobs gets its number.
static mn_status submit_collect(const mn_farm_job *job, int number, const char *ids, bool rest,
                                mn_json_text *jobs)
{
    mn_json_text out = {.ctx = job->session->ctx}, script = {.ctx = job->session->ctx};
    char word[MN_PATH_SIZE + 64], id[64], *line;
    put_collect_script(job, rest, &script);
    MN_TRY(write_file(job, number, "collect.sh", &script));
    mn_json_text_put(&out, "sbatch --parsable --requeue --job-name=collect --dependency=afterany");
    for (const char *at = ids; *at;) {
        const size_t length = strcspn(at, "\n");
        snprintf(word, sizeof word, ":%.*s", (int)length, at);
        mn_json_text_put(&out, word);
        at += length + (at[length] == '\n');
    }
    mn_json_text_put(&out, " --output=");
    snprintf(word, sizeof word, "%s/farm/collect.out", job->folder);
    mn_put_quoted(&out, word);
    mn_json_text_put(&out, " ");
    snprintf(word, sizeof word, "%s/farm/%d.collect.sh", job->folder, number);
    mn_put_quoted(&out, word);
    MN_TRY(mn_json_text_finish(&out, &line));
    const mn_status status = submit_line(job, line, id);
    mn_scene_free_text(job->session->ctx, line);
    if (status != MN_OK || !rest) return status;
    mn_json_text_put(jobs, id);
    mn_json_text_put(jobs, "\n");
    return MN_OK;
}

// ---- room ----

typedef struct slurm_room {
    int64_t tasks;      ///< that one array may have
    int64_t jobs, most; ///< in the queue, and that it takes; most = 0: not known
} slurm_room;

static slurm_room ask_for_room(void)
{
    slurm_room room = {.tasks = ARRAY_LIMIT};
    char said[1024];
    long long tasks = 0, jobs = 0, most = 0;
    // Jobs that have ended are in Slurm's books for some minutes, and count.
    if (mn_run_shell(
            "scontrol show config 2>/dev/null | sed -n -e 's/^MaxArraySize *= */array /p' -e 's/^MaxJobCount *= */most /p'; "
            "echo jobs $(squeue -h -r -t all -o %i 2>/dev/null | wc -l)",
            said, sizeof said) != 0)
        return room;
    const char *array = strstr(said, "array "), *all = strstr(said, "most "), *queued = strstr(said, "jobs ");
    if (array && sscanf(array, "array %lld", &tasks) == 1 && tasks > 0 && tasks < room.tasks)
        room.tasks = tasks;
    if (all && queued && sscanf(all, "most %lld", &most) == 1 && sscanf(queued, "jobs %lld", &jobs) == 1)
        room.jobs = jobs, room.most = most;
    return room;
}

/// How many members the queue takes now. One job is kept for the tables after each array, and Slurm stops one
/// short of its limit.
static int64_t members_that_fit(const mn_farm_job *job, const slurm_room *room, int64_t wanted)
{
    if (room->most == 0) return wanted;
    const int64_t each = *job->wedge->then ? 2 : 1, free = room->most - 1 - room->jobs;
    const int64_t arrays = 1 + (wanted - 1) / room->tasks, fit = (free - arrays) / each;
    return fit < 0 ? 0 : fit < wanted ? fit : wanted;
}

/// One array with what follows it. `rest`: others wait for room.
static mn_status submit_part(const mn_farm_job *job, const mn_wedge_words *names, int64_t first,
                             int64_t count, bool rest, bool quiet)
{
    mn_context *ctx = job->session->ctx;
    mn_json_text ids = {.ctx = ctx}, jobs = {.ctx = ctx};
    char *text = NULL, *all = NULL, path[MN_PATH_SIZE + 64];
    int number = 0;
    MN_TRY(mn_farm_next_number(job, &number));
    MN_TRY(mn_farm_write_submission(job, names, first, count, number));
    mn_status status = submit_array(job, number, count, &ids);
    const mn_status finished = mn_json_text_finish(&ids, &text);
    if (status == MN_OK) status = finished;
    if (text) mn_json_text_put(&jobs, text);
    if (status == MN_OK) status = submit_collect(job, number, text, rest, &jobs);
    const mn_status listed = mn_json_text_finish(&jobs, &all);
    if (status == MN_OK) status = listed;
    snprintf(path, sizeof path, "%s/farm/%d.jobs", job->folder, number);
    if (all && *all) {
        const mn_status noted = mn_write_text(ctx, path, all);
        if (status == MN_OK) status = noted;
    }
    if (status == MN_OK && !quiet)
        mn_session_say(job->session, "%lld members are in Slurm's queue as job %.*s.", (long long)count,
                       (int)strcspn(text, "\n"), text);
    mn_scene_free_text(ctx, text);
    mn_scene_free_text(ctx, all);
    return status;
}

static mn_status submit_all(mn_farm_job *job, const mn_wedge_words *names, bool quiet)
{
    mn_context *ctx = job->session->ctx;
    if (names->count == 0) {
        if (!quiet) mn_session_say(job->session, "no member waits.");
        return MN_OK;
    }
    const slurm_room room = ask_for_room();
    const int64_t fit = members_that_fit(job, &room, names->count);
    if (fit == 0)
        return mn_fail(
            ctx, MN_ERROR_IO,
            "Slurm's queue is full: it holds %lld jobs and takes %lld. The members wait; 'meniscus wedge run %s --slurm' submits them again.",
            (long long)room.jobs, (long long)room.most, job->wedge->folder);
    mn_farm_choose_limits(job);
    for (int64_t first = 0; first < fit; first += room.tasks) {
        const int64_t count = fit - first < room.tasks ? fit - first : room.tasks;
        MN_TRY(submit_part(job, names, first, count, fit < names->count && first + count == fit, quiet));
    }
    if (fit < names->count && !quiet)
        mn_session_say(
            job->session,
            "Slurm's queue has no room for the other %lld members: it takes %lld jobs. They are submitted when the last of these have ended.",
            (long long)(names->count - fit), (long long)room.most);
    return MN_OK;
}

void mn_farm_close(mn_farm_job *job)
{
    mn_array_free(job->session->ctx, &job->command.bytes);
}

int mn_wedge_submit(const mn_wedge *wedge, mn_session *session, bool quiet)
{
    mn_farm_job job = {.wedge = wedge, .session = session};
    mn_wedge_words names = {0};
    mn_status status = mn_farm_open(&job);
    if (status == MN_OK) status = mn_farm_list_waiting(wedge, &names);
    if (status == MN_OK) status = submit_all(&job, &names, quiet);
    mn_wedge_free_words(session->ctx, &names);
    mn_farm_close(&job);
    return mn_session_fail(session, status);
}

void mn_wedge_cancel_jobs(const mn_wedge *wedge)
{
    char path[MN_PATH_SIZE], line[MN_PATH_SIZE + 64], said[256];
    if (mn_wedge_path(wedge, NULL, "farm", path) != MN_OK) return;
    DIR *all = opendir(path);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strspn(entry->d_name, "0123456789") != length - 5 ||
            strcmp(entry->d_name + length - 5, ".jobs") != 0)
            continue;
        snprintf(line, sizeof line, "%s/farm/%.20s", wedge->folder, entry->d_name);
        FILE *file = fopen(line, "re");
        for (long id; file && fscanf(file, "%ld", &id) == 1;) {
            // Pending ones leave the queue; a member that runs stops by itself, and with its checkpoint.
            snprintf(line, sizeof line, "scancel --state=PENDING %ld 2>&1", id);
            (void)mn_run_shell(line, said, sizeof said);
        }
        if (file) fclose(file);
    }
    if (all) closedir(all);
}
