// SPDX-License-Identifier: Apache-2.0
//
// Version, status, and the context: the host's hooks and the last error, carried into everything that the
// core does.
//
// A context serves one caller at a time: two simulations that run side by side take a context each. Inside a
// parallel loop its allocator and mn_fail() may be used from every worker; nothing else may.
// The context must outlive everything that was created with it. After a fork the child may use its copy.
#ifndef MENISCUS_CONTEXT_H
#define MENISCUS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- version ----

/// Before 1.0 a new minor version may change the interface; a patch never does. See docs/c.md.
#define MN_VERSION_MAJOR 0
#define MN_VERSION_MINOR 1
#define MN_VERSION_PATCH 0

/// Stands before every function of the public headers; everything else stays inside the library.
#if defined(_WIN32) && defined(MN_SHARED)
#if defined(MN_BUILDING)
#define MN_API __declspec(dllexport)
#else
#define MN_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define MN_API __attribute__((visibility("default")))
#else
#define MN_API
#endif

/// "0.1.0": of the library that is linked, which a program may compare with the macros it was compiled with.
MN_API const char *mn_version(void);

// ---- status ----
//
// What a call that can fail returns. One list gives code, name and message; the context keeps the sentence
// that says what went wrong this time.

// X(code, what it means in general)
#define MN_STATUS_LIST(X)                                                                                    \
    X(MN_OK, "done")                                                                                         \
    X(MN_ERROR_MEMORY, "out of memory")                                                                      \
    X(MN_ERROR_CANCELLED, "cancelled")                                                                       \
    X(MN_ERROR_ARGUMENT, "a parameter is outside what it may be")                                            \
    X(MN_ERROR_INPUT, "the input geometry cannot be used as it is")                                          \
    X(MN_ERROR_FORMAT, "the file is damaged or not of the format it claims")                                 \
    X(MN_ERROR_UNSUPPORTED, "this cannot be represented here")                                               \
    X(MN_ERROR_IO, "reading or writing failed")                                                              \
    X(MN_ERROR_NOT_FOUND, "no such thing")                                                                   \
    X(MN_ERROR_SCENE, "the scene is not valid")                                                              \
    X(MN_ERROR_DIVERGED, "the solver could not take the step even at its smallest time step")

typedef enum mn_status {
#define X(code, message) code,
    MN_STATUS_LIST(X)
#undef X
        MN_STATUS_COUNT
} mn_status;

/// The code's own name, "MN_ERROR_IO"; never NULL.
MN_API const char *mn_status_name(mn_status status);

/// What the code means in general, "reading or writing failed"; never NULL.
MN_API const char *mn_status_message(mn_status status);

/// Hand a failure up the stack from a function that has nothing to clean up.
#define MN_TRY(call)                                                                                         \
    do {                                                                                                     \
        const mn_status mn_try_status_ = (call);                                                             \
        if (mn_try_status_ != MN_OK) return mn_try_status_;                                                  \
    } while (0)

/// Hand a failure to the one clean-up exit of a function: sets `status` and goes to `label`.
#define MN_TRY_TO(label, status, call)                                                                       \
    do {                                                                                                     \
        (status) = (call);                                                                                   \
        if ((status) != MN_OK) goto label;                                                                   \
    } while (0)

// ---- hooks ----

typedef struct mn_context mn_context;

/// One piece of a parallel loop: call it once with each task index, from any thread, each concurrent caller
/// with a worker number of its own in [0, worker_count).
typedef void mn_task_fn(void *task_user, int64_t task, int32_t worker);

/// A way to run tasks in parallel. The built-in one is a context's own threads; a host may hand in
/// its own.
typedef struct mn_scheduler {
    void *user;
    /// How many workers at most call tasks at the same time; at least 1. May change between loops.
    int32_t (*worker_count)(void *user);
    /// Runs task(task_user, i, worker) for every i in [0, task_count) and returns when all are done.
    void (*run)(void *user, int64_t task_count, mn_task_fn *task, void *task_user);
} mn_scheduler;

typedef enum mn_log_level { MN_LOG_DEBUG, MN_LOG_INFO, MN_LOG_WARNING } mn_log_level;

/// What a host hands in. Every hook may be NULL; `user` is given back to each but the scheduler, which has
/// its own.
typedef struct mn_hooks {
    void *user;
    /// At least `size` bytes aligned to 64, or NULL. Both or neither of allocate and release.
    void *(*allocate)(void *user, size_t size);
    /// Gives back what allocate gave; `size` is what was asked for.
    void (*release)(void *user, void *memory, size_t size);
    void (*log)(void *user, mn_log_level level, const char *sentence);
    /// True as soon as the artist wants to stop. Asked often, so it must be cheap; called from the driving
    /// thread.
    bool (*cancelled)(void *user);
    /// `fraction` of the running job that is done, in [0, 1]; called from the driving thread.
    void (*progress)(void *user, double fraction, const char *what);
    const mn_scheduler *scheduler; ///< NULL: the context's own threads. Must outlive the context.
    int32_t max_workers;           ///< at most this many workers; 0: as many as the scheduler has, or
                                   ///< OMP_NUM_THREADS says, or there are processors
    /// Bytes that may be held at once through this context; what would pass it is refused with a sentence.
    /// 0: what MENISCUS_MEMORY in the environment says ("500M", "16G"), else as much as the machine has.
    int64_t memory_limit;
} mn_hooks;

/// `hooks` may be NULL for malloc, threads of its own, no log, no cancel. NULL only when memory is out.
MN_API mn_context *mn_context_create(const mn_hooks *hooks);
MN_API void mn_context_free(mn_context *ctx);

/// The sentence of the last failure, for the artist: what is wrong, with which input, what to do. "" if none.
MN_API const char *mn_context_message(const mn_context *ctx);
MN_API void mn_context_clear_message(mn_context *ctx);

/// Records the sentence and returns `status`, so that a failing function ends in `return mn_fail(...)`.
/// Inside parallel loops the sentence of whichever worker came last stands.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
MN_API mn_status
mn_fail(mn_context *ctx, mn_status status, const char *format, ...);

/// MN_ERROR_ARGUMENT with a sentence unless a def has the size that this library knows.
MN_API mn_status mn_check_def_size(mn_context *ctx, const char *name, size_t size, size_t wanted);
/// MN_ERROR_ARGUMENT with a sentence unless low < value <= high, or value == low where that is allowed.
MN_API mn_status mn_check_number(mn_context *ctx, const char *name, double value, double low, double high,
                                 bool low_allowed);

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
MN_API void
mn_log(mn_context *ctx, mn_log_level level, const char *format, ...);

/// MN_OK, or MN_ERROR_CANCELLED with its sentence when the host wants to stop.
MN_API mn_status mn_check_cancelled(mn_context *ctx);
/// Whether a cancel is heeded, which it is at first; gives what it was before. For what must be finished
/// after one: the state of a simulation is saved.
MN_API bool mn_context_heed_cancel(mn_context *ctx, bool heed);
MN_API void mn_progress(mn_context *ctx, double fraction, const char *what);

/// A part of a larger job: until mn_progress_leave(), fractions from 0 to 1 reach the host as `begin` to
/// `end` of the part around it. Called from the driving thread.
typedef struct mn_progress_part {
    double begin, end;
} mn_progress_part;
/// Gives the part around it, which mn_progress_leave() wants back.
MN_API mn_progress_part mn_progress_enter(mn_context *ctx, double begin, double end);
MN_API void mn_progress_leave(mn_context *ctx, mn_progress_part around);

/// Memory from the host, aligned to 64 bytes. `size` 0 gives NULL, which is not a failure; on failure NULL
/// and the sentence is recorded, so that the caller returns MN_ERROR_MEMORY.
MN_API void *mn_allocate(mn_context *ctx, size_t size);
/// The same, filled with zeros.
MN_API void *mn_allocate_zero(mn_context *ctx, size_t size);
/// `memory` may be NULL; `size` is what was asked for.
MN_API void mn_release(mn_context *ctx, void *memory, size_t size);
/// count * element_size, or SIZE_MAX (which no allocator grants) when that does not fit or count is negative.
MN_API size_t mn_bytes(int64_t count, size_t element_size);

/// MN_ERROR_MEMORY with "WHAT would need about ..." when so much more would pass the limit: for an estimate
/// before the work. `advice` says what to change, as a clause: "use dx above 0.01 m".
MN_API mn_status mn_check_memory(mn_context *ctx, double bytes, const char *what, const char *advice);
/// What the artist allows; *given: by hand, not just because the machine has it.
MN_API int64_t mn_context_memory_limit(const mn_context *ctx, bool *given);
/// "500M", "16G", "1.5T" or plain bytes, decimal units. False for anything else.
MN_API bool mn_bytes_from_text(const char *text, int64_t *bytes);

/// Bytes held now, and the most ever held, through this context.
MN_API int64_t mn_context_bytes(const mn_context *ctx);
MN_API int64_t mn_context_peak_bytes(const mn_context *ctx);
/// How many times the allocator has been called: constant from step to step once a solver has warmed up.
MN_API int64_t mn_context_allocation_count(const mn_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
