// SPDX-License-Identifier: Apache-2.0
//
// What Python needs beside the functions of core and host, which libmeniscus_plugin exports as they are: a
// context whose cancel flag is set from any thread without Python's help, and progress that calls back seldom
// enough to be free.
#ifndef MENISCUS_PLUGIN_PYTHON_LIBRARY_H
#define MENISCUS_PLUGIN_PYTHON_LIBRARY_H

#include "plugin/host/network/network.h"

#include <pthread.h>

/// Raised whenever a function or struct that the Python module uses changes.
enum { MN_PLUGIN_VERSION = 7 };

MN_API int mn_plugin_version(void);
/// The release, such as "0.1.0".
MN_API const char *mn_plugin_release(void);
/// The `meniscus` command; returns its exit code.
MN_API int mn_plugin_command(int argc, char **argv);
/// What a simulating node says about a frame that it has cooked, as a line of --report; NULL when nothing.
/// Given back with mn_scene_free_text.
MN_API mn_status mn_plugin_report(mn_network *network, int32_t node, int32_t frame, char **text);

typedef struct mn_plugin_session mn_plugin_session;

/// Called from the driving thread, at most twenty times a second.
typedef void mn_plugin_progress(double fraction, const char *what);
typedef void mn_plugin_log(int32_t level, const char *sentence);

/// `threads` 0: all; `tbb` not 0: loops run on TBB. The callbacks may be NULL. NULL only when memory is out.
MN_API mn_plugin_session *mn_plugin_session_create(int32_t threads, int32_t tbb, mn_plugin_progress *progress,
                                                   mn_plugin_log *log);
/// For threads that must not touch Python: on TBB, with progress as often as the core reports it.
mn_plugin_session *
mn_plugin_session_create_native(int32_t threads,
                                void (*progress)(void *user, double fraction, const char *what), void *user);
/// Starts a thread on which none of the host's signals is handled: they are its own business.
bool mn_plugin_start_thread(pthread_t *thread, void *(*run)(void *user), void *user);
/// Everything made with its context must be gone.
MN_API void mn_plugin_session_free(mn_plugin_session *session);
MN_API mn_context *mn_plugin_session_context(mn_plugin_session *session);
/// Asks what runs to stop, from any thread; `cancel` 0 takes it back.
MN_API void mn_plugin_session_cancel(mn_plugin_session *session, int32_t cancel);

/// While it is on, SIGINT cancels what this session runs, before whatever the process does about it. One
/// session at a time: false when another has it. Off again, it says whether an interrupt came.
MN_API int32_t mn_plugin_session_catch_interrupt(mn_plugin_session *session, int32_t on);

/// A picture of some geometry, as `meniscus preview` draws it.
MN_API mn_status mn_plugin_preview(mn_context *ctx, const mn_geo *const *geos, int32_t count, int32_t width,
                                   int32_t height, const char *path);

#endif
