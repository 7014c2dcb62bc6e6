// SPDX-License-Identifier: Apache-2.0
//
// A context for Python, and a picture in one call.
#define _POSIX_C_SOURCE 200809L
#include "plugin/python/library.h"
#include "plugin/headless/command.h"
#include "plugin/headless/cook_report.h"
#include "plugin/host/network/network.h"
#include "plugin/preview/preview.h"
#include "plugin/tbb/tbb_scheduler.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static const double PROGRESS_INTERVAL = 0.05; ///< seconds

struct mn_plugin_session {
    mn_context *ctx;
    mn_scheduler *tbb;
    atomic_int cancelled;
    mn_plugin_progress *progress;
    mn_plugin_log *log;
    void (*native_progress)(void *user, double fraction, const char *what);
    void *native_user;
    double last_progress;
    atomic_int interrupted;
    struct sigaction before; ///< what SIGINT did
};

int mn_plugin_version(void)
{
    return MN_PLUGIN_VERSION;
}

const char *mn_plugin_release(void)
{
    return MN_VERSION;
}

int mn_plugin_command(int argc, char **argv)
{
    return mn_command_run(argc, argv);
}

mn_status mn_plugin_report(mn_network *network, int32_t node, int32_t frame, char **text)
{
    const mn_geo *geo;
    *text = NULL;
    MN_TRY(mn_network_cook(network, node, 0, frame, &geo));
    return mn_report_line(network, node, frame, geo, text);
}

static bool is_cancelled(void *user)
{
    mn_plugin_session *session = user;
    return atomic_load_explicit(&session->cancelled, memory_order_relaxed) != 0;
}

static void report_progress(void *user, double fraction, const char *what)
{
    mn_plugin_session *session = user;
    const double now = mn_seconds();
    if (session->native_progress) session->native_progress(session->native_user, fraction, what);
    // An interrupt waits for Python to look at it: what is called now would meet it at the wrong place.
    if (atomic_load_explicit(&session->interrupted, memory_order_relaxed)) return;
    if (!session->progress || now - session->last_progress < PROGRESS_INTERVAL) return;
    session->last_progress = now;
    session->progress(fraction, what);
}

static void pass_log(void *user, mn_log_level level, const char *sentence)
{
    mn_plugin_session *session = user;
    if (session->log) session->log((int32_t)level, sentence);
}

mn_plugin_session *mn_plugin_session_create(int32_t threads, int32_t tbb, mn_plugin_progress *progress,
                                            mn_plugin_log *log)
{
    mn_plugin_session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->progress = progress;
    session->log = log;
    if (tbb) session->tbb = mn_tbb_scheduler_create(threads);
    const mn_hooks hooks = {.user = session,
                            .log = pass_log,
                            .cancelled = is_cancelled,
                            .progress = report_progress,
                            .scheduler = session->tbb,
                            .max_workers = threads};
    if (!tbb || session->tbb) session->ctx = mn_context_create(&hooks);
    if (session->ctx) return session;
    mn_plugin_session_free(session);
    return NULL;
}

mn_plugin_session *
mn_plugin_session_create_native(int32_t threads,
                                void (*progress)(void *user, double fraction, const char *what), void *user)
{
    mn_plugin_session *session = mn_plugin_session_create(threads, 1, NULL, NULL);
    if (!session) return NULL;
    session->native_progress = progress;
    session->native_user = user;
    return session;
}

bool mn_plugin_start_thread(pthread_t *thread, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    const bool started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void mn_plugin_session_free(mn_plugin_session *session)
{
    if (!session) return;
    mn_context_free(session->ctx);
    mn_tbb_scheduler_free(session->tbb);
    free(session);
}

mn_context *mn_plugin_session_context(mn_plugin_session *session)
{
    return session->ctx;
}

void mn_plugin_session_cancel(mn_plugin_session *session, int32_t cancel)
{
    atomic_store_explicit(&session->cancelled, cancel != 0, memory_order_relaxed);
}

// A signal has no other way to find whom it is for.
static _Atomic(mn_plugin_session *) interruptible;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
    mn_plugin_session *session = atomic_load(&interruptible);
    if (!session) return;
    atomic_store(&session->interrupted, 1);
    atomic_store(&session->cancelled, 1);
    const struct sigaction before = session->before;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
}

int32_t mn_plugin_session_catch_interrupt(mn_plugin_session *session, int32_t on)
{
    if (!on) {
        sigaction(SIGINT, &session->before, NULL);
        atomic_store(&interruptible, NULL);
        return atomic_exchange(&session->interrupted, 0);
    }
    mn_plugin_session *nobody = NULL;
    if (!atomic_compare_exchange_strong(&interruptible, &nobody, session)) return 0;
    struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, NULL, &session->before);
    sigaction(SIGINT, &action, NULL);
    return 1;
}

static mn_status draw(mn_context *ctx, const mn_preview_survey *survey, const mn_geo *const *geos,
                      int32_t count, const mn_preview_def *def, const char *path)
{
    mn_preview_view view;
    mn_picture picture;
    MN_TRY(mn_preview_survey_view(survey, def, &view));
    MN_TRY(mn_preview_render(ctx, mn_host_services(), geos, count, def, &view, NULL, &picture));
    const mn_status status = mn_picture_write_png(&picture, path, false);
    mn_picture_free(&picture);
    return status;
}

mn_status mn_plugin_preview(mn_context *ctx, const mn_geo *const *geos, int32_t count, int32_t width,
                            int32_t height, const char *path)
{
    mn_preview_def def = mn_preview_default_def();
    def.width = width, def.height = height;
    mn_preview_survey *survey;
    MN_TRY(mn_preview_survey_create(ctx, NULL, &survey));
    mn_status status = MN_OK;
    for (int32_t i = 0; i < count && status == MN_OK; i++) status = mn_preview_survey_add(survey, geos[i]);
    if (status == MN_OK) status = draw(ctx, survey, geos, count, &def, path);
    mn_preview_survey_free(survey);
    return status;
}
