// SPDX-License-Identifier: Apache-2.0
//
// Hooks, signals and exit codes of the command.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/session.h"
#include "meniscus/report.h"
#include "meniscus/stream.h"
#include "plugin/host/network/spelling.h"
#include "plugin/tbb/tbb_scheduler.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Written by the signal handler: nothing but a global can be.
static volatile sig_atomic_t stop_requested;

static void request_stop(int number)
{
    (void)number;
    stop_requested = 1;
}

void mn_catch_signals(void)
{
    // For SIGINT the handler goes after its first call, so that a second one ends the process. Schedulers
    // send SIGTERM to a whole family, whose members pass it on: it may come as often as it likes.
    struct sigaction stop = {.sa_handler = request_stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&stop.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    stop.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &stop, NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

bool mn_stop_requested(void)
{
    return stop_requested != 0;
}

static bool is_cancelled(void *user)
{
    const mn_session *session = user;
    return mn_stop_requested() || (session->deadline > 0 && mn_seconds() > session->deadline);
}

static void show_progress(void *user, double fraction, const char *what)
{
    mn_session *session = user;
    session->fraction = fraction;
    mn_progress_bar_part(&session->bar, fraction, what);
}

static void print_log(void *user, mn_log_level level, const char *sentence)
{
    mn_session *session = user;
    const uint64_t hash = mn_hash_string(1, sentence);
    if (level < MN_LOG_WARNING) return;
    for (size_t i = 0; i < sizeof session->warned / sizeof *session->warned; i++)
        if (session->warned[i] == hash) return;
    memmove(session->warned + 1, session->warned, sizeof session->warned - sizeof *session->warned);
    session->warned[0] = hash;
    mn_session_say(session, "warning: %s", sentence);
}

bool mn_read_threads(const mn_subcommand *command, const char *text, mn_session_def *def)
{
    return mn_read_integer(command, "--threads", text, 1, 1024, &def->threads);
}

bool mn_read_memory(const mn_subcommand *command, const char *text, mn_session_def *def)
{
    mn_shown shown;
    if (mn_bytes_from_text(text, &def->memory)) return true;
    mn_usage_error(command, "--memory: '%s' is not a size such as 500M or 16G.", mn_show(&shown, text));
    return false;
}

bool mn_read_scheduler(const mn_subcommand *command, const char *text, mn_session_def *def)
{
    def->tbb = strcmp(text, "tbb") == 0;
    if (def->tbb || strcmp(text, "threads") == 0) return true;
    mn_shown shown;
    mn_usage_error(command, "--scheduler: '%s' is neither threads nor tbb.", mn_show(&shown, text));
    return false;
}

bool mn_session_open(mn_session *session, const mn_subcommand *command, const mn_session_def *def)
{
    const char *told = getenv("MENISCUS_MEMORY");
    int64_t bytes;
    mn_shown shown;
    memset(session, 0, sizeof *session);
    session->command = command;
    if (told && !mn_bytes_from_text(told, &bytes))
        fprintf(stderr, "meniscus %s: warning: MENISCUS_MEMORY: '%s' is not a size such as 500M or 16G.\n",
                command->name, mn_show(&shown, told));
    if (def->tbb) session->tbb = mn_tbb_scheduler_create((int32_t)def->threads);
    const mn_hooks hooks = {.user = session,
                            .log = print_log,
                            .cancelled = is_cancelled,
                            .progress = show_progress,
                            .scheduler = session->tbb,
                            .max_workers = (int32_t)def->threads,
                            .memory_limit = def->memory};
    if (!def->tbb || session->tbb) session->ctx = mn_context_create(&hooks);
    if (session->ctx) return true;
    mn_session_close(session);
    fprintf(stderr, "meniscus %s: out of memory.\n", command->name);
    return false;
}

void mn_session_close(mn_session *session)
{
    mn_progress_bar_clear(&session->bar);
    mn_context_free(session->ctx);
    mn_tbb_scheduler_free(session->tbb);
    session->ctx = NULL, session->tbb = NULL;
}

void mn_session_say(mn_session *session, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mn_progress_bar_clear(&session->bar);
    fprintf(stderr, "meniscus %s: ", session->command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

int mn_session_fail(mn_session *session, mn_status status)
{
    if (status == MN_OK) return MN_EXIT_DONE;
    const char *sentence = mn_context_message(session->ctx);
    if (status != MN_ERROR_CANCELLED)
        mn_session_say(session, "%s", *sentence ? sentence : mn_status_message(status));
    if (status == MN_ERROR_CANCELLED) return MN_EXIT_CANCELLED;
    return status == MN_ERROR_SCENE ? MN_EXIT_USAGE : MN_EXIT_FAILED;
}

int mn_finish_output(const mn_subcommand *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return MN_EXIT_DONE;
    fprintf(stderr, "meniscus %s: the output cannot be written: %s.\n", command->name, strerror(errno));
    return MN_EXIT_FAILED;
}
