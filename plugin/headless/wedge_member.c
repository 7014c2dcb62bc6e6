// SPDX-License-Identifier: Apache-2.0
//
// One member: a cook in a process of its own, so that whatever becomes of it there is somebody left to say
// so.
//
//   lock -> state running -> cook --resume -> the command after it -> state done, failed, stopped or
//   cancelled
//
// SIGTERM is passed on, and the cook leaves its checkpoint. The time limit and a file named `cancel` send the
// same, and SIGKILL when that does not help. A member that fails is tried again; one that fails because the
// disk is full or away waits for the disk.
#define _GNU_SOURCE
#include "meniscus/report.h"
#include "plugin/headless/wedge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const double GRACE = 30;      ///< s from SIGTERM to SIGKILL
static const double DISK_WAIT = 600; ///< s that the disk may be away
static const double DISK_RETRY = 2;  ///< s between tries while it is
static const double LOOK = 0.1;      ///< s between looks at everything
static const double CANCEL_LOOK = 1; ///< s between looks for a cancel file

// ---- how we were started ----

mn_status mn_command_words(mn_context *ctx, mn_wedge_words *words)
{
    char path[MN_PATH_SIZE], line[65536];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    FILE *file = fopen("/proc/self/cmdline", "rb");
    const size_t size = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) fclose(file);
    if (length <= 0 || size == 0)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "The command cannot find itself in /proc, which must be mounted.");
    path[length] = 0, line[size] = 0;
    // One that was replaced while it ran is called so; MN_OWN_PROGRAM still starts what runs.
    static const char REPLACED[] = " (deleted)";
    const size_t ending = sizeof REPLACED - 1;
    if ((size_t)length > ending && strcmp(path + length - ending, REPLACED) == 0)
        path[(size_t)length - ending] = 0;
    MN_TRY(mn_wedge_add_word(ctx, words, path));
    for (const char *word = line + strlen(line) + 1; word < line + size; word += strlen(word) + 1) {
        if (strcmp(word, "wedge") == 0) return MN_OK;
        MN_TRY(mn_wedge_add_word(ctx, words, word));
    }
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                   "The command line holds no 'wedge'; start it as 'meniscus wedge'.");
}

static mn_status cook_words(const mn_wedge *wedge, const mn_wedge_member *member, mn_wedge_words *words)
{
    mn_context *ctx = wedge->ctx;
    char path[MN_PATH_SIZE], frames[64];
    snprintf(frames, sizeof frames, "%d-%dx%d", (int)wedge->first, (int)wedge->last, (int)wedge->step);
    MN_TRY(mn_command_words(ctx, words));
    MN_TRY(mn_wedge_add_word(ctx, words, "cook"));
    MN_TRY(mn_wedge_path(wedge, NULL, "scene.json", path));
    MN_TRY(mn_wedge_add_word(ctx, words, path));
    MN_TRY(mn_wedge_add_word(ctx, words, "--resume"));
    MN_TRY(mn_wedge_add_word(ctx, words, "-f"));
    MN_TRY(mn_wedge_add_word(ctx, words, frames));
    MN_TRY(mn_wedge_add_word(ctx, words, "-o"));
    MN_TRY(mn_wedge_path(wedge, member, "", path));
    MN_TRY(mn_wedge_add_word(ctx, words, path));
    MN_TRY(mn_wedge_add_word(ctx, words, "--report"));
    MN_TRY(mn_wedge_path(wedge, member, "report.jsonl", path));
    MN_TRY(mn_wedge_add_word(ctx, words, path));
    for (int64_t i = 0; i < wedge->cook.count; i++)
        MN_TRY(mn_wedge_add_word(ctx, words, wedge->cook.data[i]));
    for (int64_t i = 0; i < member->settings.count; i++) {
        char setting[2048];
        snprintf(setting, sizeof setting, "%s=%s", member->settings.data[i].path,
                 member->settings.data[i].value);
        MN_TRY(mn_wedge_add_word(ctx, words, "--set"));
        MN_TRY(mn_wedge_add_word(ctx, words, setting));
    }
    return MN_OK;
}

// ---- one process ----

typedef struct member_job {
    const mn_wedge *wedge;
    const mn_wedge_member *member;
    mn_session *session;
    int log;             ///< descriptor, or -1
    char line[1024];     ///< that is being read from the process
    size_t length;       ///< of it
    char sentence[1024]; ///< the last one that matters
    bool stopped, cancelled, timed_out;
} member_job;

/// Never returns. Without a folder the words are for this program.
static void become(char *const *words, const char *folder, int output, pid_t parent)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &usual, NULL);
    sigaction(SIGXFSZ, &usual, NULL);
    sigaction(SIGINT, &usual, NULL);
    sigaction(SIGTERM, &usual, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM); // nobody is left to report: stop with a checkpoint
    const int nothing = open("/dev/null", O_RDONLY);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 &&
        dup2(output, 2) >= 0 && (!folder || chdir(folder) == 0))
        execv(folder ? words[0] : MN_OWN_PROGRAM, words);
    _exit(127);
}

/// What a cook says last and is not a warning is why it failed.
static void note_line(member_job *job)
{
    static const char SAYS[] = "meniscus cook: ";
    job->line[job->length] = 0;
    const bool ours = strncmp(job->line, SAYS, sizeof SAYS - 1) == 0;
    const char *text = ours ? job->line + sizeof SAYS - 1 : job->line;
    job->length = 0;
    if (!*text || strncmp(text, "warning: ", 9) == 0 || strncmp(text, "frame ", 6) == 0) return;
    snprintf(job->sentence, sizeof job->sentence, "%s", text);
    // It goes into JSON, and a cut line may end in half a letter.
    for (char *at = job->sentence; *at; at++)
        if (*at < 32 || *at > 126) *at = '?';
}

/// False at the end.
static bool read_output(member_job *job, int pipe)
{
    char bytes[4096];
    const ssize_t count = read(pipe, bytes, sizeof bytes);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count == 0) return false;
    if (job->log >= 0 && write(job->log, bytes, (size_t)count) < 0) {
        // A full disk takes nothing from us here: the sentence goes into the state.
    }
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || job->length + 1 >= sizeof job->line) note_line(job);
        if (bytes[i] != '\n') job->line[job->length++] = bytes[i];
    }
    return true;
}

/// Sends what has to be sent; *asked is when the process was asked to stop, *killed that it was not asked any
/// more.
static void look_after(member_job *job, pid_t child, double begun, double *next_look, double *asked)
{
    const double now = mn_seconds();
    bool ask = false;
    if (mn_stop_requested() && !job->stopped) job->stopped = ask = true;
    if (job->wedge->time_limit > 0 && now - begun > job->wedge->time_limit && !job->timed_out)
        job->timed_out = ask = true;
    if (now >= *next_look && !job->cancelled) {
        *next_look = now + CANCEL_LOOK;
        if (mn_member_is_cancelled(job->wedge, job->member)) job->cancelled = ask = true;
    }
    if (ask && *asked == 0) {
        *asked = now;
        kill(child, SIGTERM);
    }
    if (*asked > 0 && now - *asked > GRACE) {
        *asked = now;
        kill(child, SIGKILL);
    }
}

/// Runs the words to their end; *code is what waitpid() says.
static mn_status run_process(member_job *job, char *const *words, const char *folder, int *code)
{
    int ends[2];
    mn_context *ctx = job->session->ctx;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return mn_fail(ctx, MN_ERROR_IO, "No pipe can be opened: %s.", strerror(errno));
    const pid_t parent = getpid(), child = fork();
    if (child == 0) become(words, folder, ends[1], parent);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return mn_fail(ctx, MN_ERROR_IO, "No process can be started: %s.", strerror(errno));
    }
    const double begun = mn_seconds();
    double next_look = 0, asked = 0;
    bool open = true;
    for (pid_t ended = 0; ended == 0;) {
        struct pollfd one = {.fd = open ? ends[0] : -1, .events = POLLIN};
        if (poll(&one, 1, (int)(1000 * LOOK)) > 0 && !read_output(job, ends[0])) open = false;
        look_after(job, child, begun, &next_look, &asked);
        ended = waitpid(child, code, WNOHANG);
        if (ended < 0 && errno == EINTR) ended = 0;
    }
    while (open && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
        struct pollfd one = {.fd = ends[0], .events = POLLIN};
        if (poll(&one, 1, 0) <= 0 || !read_output(job, ends[0])) break;
    }
    if (job->length > 0) note_line(job);
    close(ends[0]);
    return MN_OK;
}

// ---- one try ----

static void describe_end(const member_job *job, int code, const char *what, mn_member_status *status)
{
    char limit[32];
    mn_format_duration(job->wedge->time_limit, limit);
    if (job->timed_out)
        snprintf(
            status->error, sizeof status->error,
            "The time limit of %s has passed. Raise it with --time-limit, and 'wedge retry' continues from there.",
            limit);
    else if (WIFSIGNALED(code))
        snprintf(status->error, sizeof status->error, "%s was killed by signal %d (%s)%s.", what,
                 WTERMSIG(code), strsignal(WTERMSIG(code)),
                 WTERMSIG(code) == SIGKILL ? ", perhaps for want of memory" : "");
    else if (*job->sentence)
        snprintf(status->error, sizeof status->error, "%s", job->sentence);
    else
        snprintf(status->error, sizeof status->error, "%s failed with exit code %d and said nothing.", what,
                 WEXITSTATUS(code));
}

/// One process, and what its end means. *again: another try may help.
static mn_status try_process(member_job *job, char *const *words, const char *folder, const char *what,
                             mn_member_status *status, bool *again)
{
    int code = 0;
    *again = false;
    job->length = 0, *job->sentence = 0, *status->error = 0;
    MN_TRY(run_process(job, words, folder, &code));
    status->state = MN_MEMBER_DONE;
    if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return MN_OK;
    const bool told = WIFEXITED(code) && WEXITSTATUS(code) == MN_EXIT_CANCELLED;
    status->state = MN_MEMBER_FAILED;
    if (job->cancelled) {
        status->state = MN_MEMBER_CANCELLED;
    } else if (job->stopped || (told && !job->timed_out)) {
        status->state = MN_MEMBER_STOPPED;
    } else {
        describe_end(job, code, what, status);
        *again = !job->timed_out && !(WIFEXITED(code) && WEXITSTATUS(code) == MN_EXIT_USAGE);
    }
    return MN_OK;
}

static mn_status try_cook(member_job *job, mn_member_status *status, bool *again)
{
    mn_wedge_words words = {0};
    char *end = NULL;
    mn_status done = cook_words(job->wedge, job->member, &words);
    if (done == MN_OK) done = mn_array_push(job->session->ctx, &words, &end);
    if (done == MN_OK) done = try_process(job, words.data, NULL, "The cook", status, again);
    mn_wedge_free_words(job->session->ctx, &words);
    return done;
}

static mn_status try_then(member_job *job, mn_member_status *status, bool *again)
{
    static char shell[] = "/bin/sh", option[] = "-c";
    char path[MN_PATH_SIZE];
    char *const words[] = {shell, option, job->wedge->then, NULL};
    MN_TRY(mn_wedge_path(job->wedge, job->member, "", path));
    return try_process(job, words, path, "The command after the cook", status, again);
}

// ---- until it is done ----

static void wait_seconds(double seconds)
{
    const double end = mn_seconds() + seconds;
    while (mn_seconds() < end && !mn_stop_requested()) poll(NULL, 0, (int)(1000 * LOOK));
}

/// A disk that is full or away takes the state when it is back.
static mn_status note_patiently(const member_job *job, const mn_member_status *status)
{
    const double begun = mn_seconds();
    for (bool said = false;;) {
        const mn_status noted = mn_member_note(job->wedge, job->member, status);
        if (noted != MN_ERROR_IO || mn_stop_requested() || mn_seconds() - begun > DISK_WAIT) return noted;
        if (!said)
            mn_session_say(job->session, "%s: %s Waiting for the disk.", job->member->name,
                           mn_context_message(job->session->ctx));
        said = true;
        wait_seconds(1);
    }
}

/// Whether the sentence is about a disk that may come back or be emptied.
static bool is_about_the_disk(const char *sentence)
{
    static const int errors[] = {ENOSPC, EDQUOT, EIO, ESTALE, EROFS, ENOTCONN, ETIMEDOUT, EREMOTEIO};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strstr(sentence, strerror(errors[i]))) return true;
    return false;
}

static mn_status take_lock(const mn_wedge *wedge, const mn_wedge_member *member, int *lock)
{
    char path[MN_PATH_SIZE];
    MN_TRY(mn_wedge_path(wedge, member, "", path));
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return mn_fail(wedge->ctx, MN_ERROR_IO, "The folder %s cannot be made: %s.", path, strerror(errno));
    // Somebody who only looks has it for a moment.
    for (int i = 0; i < 10; i++) {
        MN_TRY(mn_member_lock(wedge, member, lock));
        if (*lock >= 0) return MN_OK;
        poll(NULL, 0, 100);
    }
    return MN_OK;
}

static mn_status run_tries(member_job *job, mn_member_status *status, bool only_cook)
{
    const mn_wedge *wedge = job->wedge;
    const bool then = *wedge->then && !only_cook;
    double disk_waited = 0;
    for (int64_t failures = 0;;) {
        bool again = false;
        const double begun = mn_seconds();
        status->state = MN_MEMBER_RUNNING, status->tries++;
        job->timed_out = false;
        MN_TRY(note_patiently(job, status));
        mn_status done = try_cook(job, status, &again);
        if (done == MN_OK && status->state == MN_MEMBER_DONE && *wedge->then) {
            if (then)
                done = try_then(job, status, &again);
            else
                status->state = MN_MEMBER_COOKED;
        }
        status->seconds += mn_seconds() - begun;
        MN_TRY(done);
        double wait = wedge->retry_wait * (double)(1 << (failures < 16 ? failures : 16));
        const bool disk = again && is_about_the_disk(status->error) && disk_waited < DISK_WAIT;
        if (disk)
            disk_waited += wait = DISK_RETRY;
        else if (again)
            failures++;
        if (!disk && (!again || failures > wedge->retries)) return note_patiently(job, status);
        MN_TRY(note_patiently(job, status));
        wait_seconds(wait);
        if (!mn_stop_requested()) continue;
        status->state = MN_MEMBER_STOPPED;
        return note_patiently(job, status);
    }
}

static mn_status run_locked(member_job *job, mn_member_status *status, bool only_cook)
{
    const mn_wedge *wedge = job->wedge;
    char path[MN_PATH_SIZE];
    MN_TRY(mn_member_look(wedge, job->member, status));
    const bool whole = status->frames == mn_wedge_frame_count(wedge);
    if (whole && (status->state == MN_MEMBER_DONE || (only_cook && status->state == MN_MEMBER_COOKED)))
        return MN_OK;
    status->process = getpid();
    if (gethostname(status->host, sizeof status->host) != 0) snprintf(status->host, sizeof status->host, "?");
    status->host[sizeof status->host - 1] = 0;
    if (mn_member_is_cancelled(wedge, job->member)) {
        status->state = MN_MEMBER_CANCELLED;
        return note_patiently(job, status);
    }
    MN_TRY(mn_wedge_path(wedge, job->member, "log.txt", path));
    job->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    setenv("MENISCUS_MEMBER", job->member->name, 1);
    const mn_status done = run_tries(job, status, only_cook);
    if (job->log >= 0) close(job->log);
    return done;
}

int mn_member_run(const mn_wedge *wedge, mn_session *session, const mn_wedge_member *member, bool only_cook)
{
    member_job job = {.wedge = wedge, .member = member, .session = session, .log = -1};
    mn_member_status status = {0};
    int lock;
    mn_status done = take_lock(wedge, member, &lock);
    if (done == MN_OK && lock < 0) return MN_EXIT_BUSY;
    if (done == MN_OK) done = run_locked(&job, &status, only_cook);
    if (lock >= 0) close(lock);
    if (done != MN_OK) return mn_session_fail(session, done);
    switch (status.state) {
    case MN_MEMBER_DONE:
    case MN_MEMBER_COOKED:
        return MN_EXIT_DONE;
    case MN_MEMBER_FAILED:
        return MN_EXIT_FAILED;
    default:
        return MN_EXIT_CANCELLED;
    }
}
