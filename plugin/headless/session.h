// SPDX-License-Identifier: Apache-2.0
//
// One run of the command: a context with this process's hooks, the scheduler that was asked for, signals that
// ask to stop, and exit codes.
#ifndef MENISCUS_PLUGIN_HEADLESS_SESSION_H
#define MENISCUS_PLUGIN_HEADLESS_SESSION_H

#include "meniscus/context.h"
#include "plugin/headless/arguments.h"
#include "plugin/headless/progress.h"

enum { MN_EXIT_DONE = 0, MN_EXIT_FAILED = 1, MN_EXIT_USAGE = 2, MN_EXIT_CANCELLED = 130 };

/// For sentences.
#define MN_FORMAT_ENDINGS ".geo, .bgeo, .bgeo.gz, .bgeo.sc, .obj, .ply, .stl or .vdb"

typedef struct mn_session {
    const mn_subcommand *command;
    mn_context *ctx;
    mn_scheduler *tbb; ///< NULL: the context's own threads
    mn_progress_bar bar;
    uint64_t warned[8]; ///< hashes of the last warnings of the log: each is printed once
    double deadline;    ///< by mn_seconds(): what runs then is cancelled; 0: none
    double fraction;    ///< of what runs, as it told last
} mn_session;

typedef struct mn_session_def {
    int64_t threads; ///< 0: all
    int64_t memory;  ///< bytes at most; 0: MENISCUS_MEMORY, else what the machine has
    bool tbb;        ///< run loops on TBB instead of the context's own threads; the results are the same
} mn_session_def;

/// The options that fill a mn_session_def, for tables of options.
#define MN_OPTION_THREADS                                                                                    \
    {                                                                                                        \
        "--threads", NULL, "N", "at most N threads; the results are the same for any number"                 \
    }
#define MN_OPTION_SCHEDULER                                                                                  \
    {                                                                                                        \
        "--scheduler", NULL, "NAME", "threads (default) or tbb; the results are the same"                    \
    }
#define MN_OPTION_MEMORY                                                                                     \
    {                                                                                                        \
        "--memory", NULL, "SIZE", "use at most this much memory, such as 8G; default: what the machine has"  \
    }
bool mn_read_memory(const mn_subcommand *command, const char *text, mn_session_def *def);
bool mn_read_threads(const mn_subcommand *command, const char *text, mn_session_def *def);
bool mn_read_scheduler(const mn_subcommand *command, const char *text, mn_session_def *def);

/// `session` must stay where it is until it is closed. False, after a sentence, when memory is out.
bool mn_session_open(mn_session *session, const mn_subcommand *command, const mn_session_def *def);
void mn_session_close(mn_session *session);

/// Prints the context's sentence and returns the exit code for `status`.
int mn_session_fail(mn_session *session, mn_status status);
/// A sentence on stderr, with the bar out of its way.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void mn_session_say(mn_session *session, const char *format, ...);

/// From now on SIGINT and SIGTERM ask to stop; a second SIGINT ends the process. A full disk or a closed pipe
/// becomes an error of the call instead of a signal.
void mn_catch_signals(void);
/// True once one has come.
bool mn_stop_requested(void);

/// What was printed to stdout has arrived: 0, otherwise a sentence and MN_EXIT_FAILED.
int mn_finish_output(const mn_subcommand *command);

#endif
