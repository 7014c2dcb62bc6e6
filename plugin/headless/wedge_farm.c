// SPDX-License-Identifier: Apache-2.0
//
// A wedge on a farm: Slurm's job arrays, submitted; command lines for other schedulers, printed.
//
//   DIR/farm/3.list     names of the members of the third submission; task k of the array cooks the k-th
//   DIR/farm/3.sh       what each task runs
//   DIR/farm/3.jobs     numbers of its jobs
//   DIR/farm/*.out      what they said
//
// Each task is a `meniscus wedge member`, so that jobs may be requeued, preempted, killed and submitted
// twice: a member that is done is not cooked again, one that somebody cooks is left to him, one that was
// stopped resumes.
#define _GNU_SOURCE
#include "plugin/headless/command.h"
#include "plugin/headless/wedge.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARRAY_LIMIT = 1000 };          ///< tasks of one array: Slurm's own default allows 1001
static const double MEMORY_SPARE = 2; ///< times what doctor finds at the first frames, for what comes later
static const double MEMORY_LEAST = 512 * 1048576.0;
static const double TIME_SPARE = 4;       ///< times what doctor expects: nodes differ, and splashes come late
static const double TIME_LEAST = 15 * 60; ///< s

typedef struct farm_job {
    const mn_wedge *wedge;
    mn_session *session;
    char folder[MN_PATH_SIZE]; ///< absolute
    mn_json_text command;      ///< "/usr/bin/meniscus" quoted for a shell, with the words before `wedge`
    char memory[64], time[64]; ///< options for sbatch, or ""
    char then_time[64];        ///< the same for the commands after the cooks, of which doctor knows nothing
} farm_job;

/// The member stops itself at its own limit, over all tries; the scheduler's is for one that cannot.
static void choose_limits(farm_job *job)
{
    const mn_wedge *wedge = job->wedge;
    const mn_member_needs needs = mn_wedge_estimate(wedge, job->session, job->command.bytes.data);
    const double told = wedge->time_limit * (double)(wedge->retries + 1) * 1.25;
    const double memory = fmax(needs.memory * MEMORY_SPARE, MEMORY_LEAST);
    const double seconds = told > 0 ? told : fmax(needs.seconds * TIME_SPARE, TIME_LEAST);
    if (needs.memory > 0) snprintf(job->memory, sizeof job->memory, "--mem=%.0fM", memory / 1048576);
    if (told > 0 || needs.seconds > 0) snprintf(job->time, sizeof job->time, "--time=%.0f", 1 + seconds / 60);
    if (told > 0) snprintf(job->then_time, sizeof job->then_time, "%s", job->time);
}

// ---- submissions ----

static mn_status open_job(farm_job *job)
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

static mn_status list_waiting(const mn_wedge *wedge, mn_wedge_words *names)
{
    for (int64_t i = 0; i < wedge->members.count; i++) {
        bool waits;
        MN_TRY(mn_member_waits(wedge, &wedge->members.data[i], &waits));
        if (waits) MN_TRY(mn_wedge_add_word(wedge->ctx, names, wedge->members.data[i].name));
    }
    return MN_OK;
}

/// A number that no submission has, and FOLDER/farm.
static mn_status next_number(const farm_job *job, int *number)
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

static mn_status write_file(const farm_job *job, int number, const char *ending, mn_json_text *out)
{
    char path[MN_PATH_SIZE + 64], *text;
    snprintf(path, sizeof path, "%s/farm/%d.%s", job->folder, number, ending);
    MN_TRY(mn_json_text_finish(out, &text));
    const mn_status status = mn_write_text(job->session->ctx, path, text);
    mn_scene_free_text(job->session->ctx, text);
    return status;
}

/// "meniscus wedge member DIR --list DIR/farm/3.list --index " without the index.
static void put_member_command(const farm_job *job, int number, mn_json_text *out)
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

static mn_status write_submission(const farm_job *job, const mn_wedge_words *names, int64_t first,
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
    put_member_command(job, number, &script);
    mn_json_text_put(&script, "\"$SLURM_ARRAY_TASK_ID\" \"$@\"\n");
    return write_file(job, number, "sh", &script);
}

/// The line for sbatch; `after` is a dependency or "" for the cooks.
static mn_status sbatch_line(const farm_job *job, int number, int64_t count, const char *after,
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
    const char *const rest[] = {job->memory, *after ? job->then_time : job->time, after};
    for (int i = 0; i < 3; i++) {
        if (*rest[i]) mn_json_text_put(&out, " ");
        mn_json_text_put(&out, rest[i]);
    }
    mn_json_text_put(&out, " ");
    snprintf(word, sizeof word, "%s/farm/%d.sh", job->folder, number);
    mn_put_quoted(&out, word);
    mn_json_text_put(&out, more);
    return mn_json_text_finish(&out, text);
}

/// Runs a line of sbatch; its job's number is in `id`.
static mn_status submit_line(const farm_job *job, const char *line, char id[64])
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

static mn_status submit_sbatch(const farm_job *job, int number, int64_t count, const char *after,
                               const char *more, char id[64])
{
    char *line;
    MN_TRY(sbatch_line(job, number, count, after, more, &line));
    const mn_status status = submit_line(job, line, id);
    mn_scene_free_text(job->session->ctx, line);
    return status;
}

/// An array of cooks, and one of the commands after them, each task after its own cook. *ids gets their
/// numbers.
static mn_status submit_array(const farm_job *job, int number, int64_t count, mn_json_text *ids)
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

/// When all have ended, the table of all.
static mn_status submit_collect(const farm_job *job, int number, const char *ids)
{
    mn_json_text out = {.ctx = job->session->ctx}, script = {.ctx = job->session->ctx};
    char word[MN_PATH_SIZE + 64], id[64], *line;
    mn_json_text_put(&script, "#!/bin/sh\nexec ");
    mn_json_text_put(&script, job->command.bytes.data);
    mn_json_text_put(&script, " wedge collect -q ");
    mn_put_quoted(&script, job->folder);
    mn_json_text_put(&script, "\n");
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
    return status;
}

static mn_status submit_all(farm_job *job, const mn_wedge_words *names, bool quiet)
{
    mn_context *ctx = job->session->ctx;
    int number = 0;
    choose_limits(job);
    for (int64_t first = 0; first < names->count; first += ARRAY_LIMIT) {
        const int64_t count = names->count - first < ARRAY_LIMIT ? names->count - first : ARRAY_LIMIT;
        mn_json_text ids = {.ctx = ctx};
        char *text;
        MN_TRY(next_number(job, &number));
        MN_TRY(write_submission(job, names, first, count, number));
        mn_status status = submit_array(job, number, count, &ids);
        const mn_status finished = mn_json_text_finish(&ids, &text);
        if (status == MN_OK) status = finished;
        char path[MN_PATH_SIZE + 64];
        snprintf(path, sizeof path, "%s/farm/%d.jobs", job->folder, number);
        if (text && *text) {
            const mn_status noted = mn_write_text(ctx, path, text);
            if (status == MN_OK) status = noted;
        }
        if (status == MN_OK) status = submit_collect(job, number, text);
        if (status == MN_OK && !quiet)
            mn_session_say(job->session, "%lld members are in Slurm's queue as job %.*s.", (long long)count,
                           (int)strcspn(text, "\n"), text);
        mn_scene_free_text(ctx, text);
        MN_TRY(status);
    }
    if (names->count == 0 && !quiet) mn_session_say(job->session, "no member waits.");
    return MN_OK;
}

static void close_job(farm_job *job)
{
    mn_array_free(job->session->ctx, &job->command.bytes);
}

int mn_wedge_submit(const mn_wedge *wedge, mn_session *session, bool quiet)
{
    farm_job job = {.wedge = wedge, .session = session};
    mn_wedge_words names = {0};
    mn_status status = open_job(&job);
    if (status == MN_OK) status = list_waiting(wedge, &names);
    if (status == MN_OK) status = submit_all(&job, &names, quiet);
    mn_wedge_free_words(session->ctx, &names);
    close_job(&job);
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

// ---- other schedulers ----

static mn_status print_for(farm_job *job, const char *scheduler, int number, int64_t count)
{
    mn_json_text command = {.ctx = job->session->ctx};
    char *member, *line;
    const char *name = strrchr(job->folder, '/') ? strrchr(job->folder, '/') + 1 : job->folder;
    put_member_command(job, number, &command);
    MN_TRY(mn_json_text_finish(&command, &member));
    if (strcmp(scheduler, "slurm") == 0) {
        const mn_status status = sbatch_line(job, number, count, "", "", &line);
        if (status == MN_OK) printf("%s\n", line);
        if (status == MN_OK) mn_scene_free_text(job->session->ctx, line);
    } else {
        printf("# Not run by the tests of Meniscus, which have no %s.\n", scheduler);
    }
    if (strcmp(scheduler, "deadline") == 0)
        printf(
            "deadlinecommand -SubmitCommandLineJob -name '%s' -executable /bin/sh -arguments \"-c <QUOTE>exec %s<STARTFRAME><QUOTE>\" "
            "-frames 0-%lld -chunksize 1\n",
            name, member, (long long)count - 1);
    if (strcmp(scheduler, "hqueue") == 0)
        printf(
            "python3 - <<'END'\nimport xmlrpc.client\nhq = xmlrpc.client.ServerProxy('http://hqueue:5000')\n"
            "hq.newjob({'name': '''%s''', 'shell': 'bash', 'command': '', 'children': [\n"
            "    {'name': str(i), 'shell': 'bash', 'command': r\"\"\"exec %s\"\"\" + str(i)} for i in range(%lld)]})\nEND\n",
            name, member, (long long)count);
    if (strcmp(scheduler, "opencue") == 0)
        printf(
            "python3 - <<'END'\nimport outline, outline.cuerun\nfrom outline.modules.shell import Shell\n"
            "job = outline.Outline('''%s''')\n"
            "job.add_layer(Shell('cook', command=['/bin/sh', '-c', r\"\"\"exec %s#IFRAME#\"\"\"], range='0-%lld'))\n"
            "outline.cuerun.launch(job, use_pycuerun=False)\nEND\n",
            name, member, (long long)count - 1);
    mn_scene_free_text(job->session->ctx, member);
    return MN_OK;
}

int mn_wedge_print(const mn_wedge *wedge, mn_session *session, const char *scheduler)
{
    farm_job job = {.wedge = wedge, .session = session};
    mn_wedge_words names = {0};
    int number = 0;
    mn_status status = open_job(&job);
    if (status == MN_OK) status = list_waiting(wedge, &names);
    if (status == MN_OK) choose_limits(&job);
    if (status == MN_OK && names.count > 0) status = next_number(&job, &number);
    if (status == MN_OK && names.count > 0) status = write_submission(&job, &names, 0, names.count, number);
    if (status == MN_OK && names.count > 0) status = print_for(&job, scheduler, number, names.count);
    if (status == MN_OK && names.count == 0) mn_session_say(session, "no member waits.");
    mn_wedge_free_words(session->ctx, &names);
    close_job(&job);
    const int code = mn_session_fail(session, status);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_wedge_command) : code;
}
