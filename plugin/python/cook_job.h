// SPDX-License-Identifier: Apache-2.0
//
// A cook into files on a thread of its own, which never touches Python: whoever started it looks at a few
// numbers now and then. So no lock of an interpreter can stop it, and no program around it can be stopped by
// it.
//
// A job may be a branch: it goes on from the state that another scene, with the same nodes, has at a frame,
// which is loaded or simulated again. That state is written to FOLDER/branch.new before the job is held;
// whoever makes the branch the folder's own renames it to FOLDER/branch, from where a job resumes at any
// frame after it.
//
// A job may be held: it cooks its first frame, and waits before it writes anything. Whatever makes a network
// fail shows by then, so that files of an earlier cook need not go before the new one has proved itself.
#ifndef MENISCUS_PLUGIN_PYTHON_COOK_JOB_H
#define MENISCUS_PLUGIN_PYTHON_COOK_JOB_H

#include "meniscus/context.h"

#include <stddef.h>
#include <stdint.h>

typedef struct mn_cook_thread mn_cook_thread;

/// What a result's frames hold, as bits.
enum { MN_SHOWN_MESH = 1, MN_SHOWN_POINTS = 2, MN_SHOWN_VOLUME = 4 };

typedef struct mn_cook_thread_def {
    const char *scene;  ///< as text
    size_t scene_size;  ///< bytes
    const char *folder; ///< where frames go and relative paths start; must be there
    int32_t result_count;
    const char *const *nodes; ///< the node of each result
    const int32_t *outputs;   ///< its output
    const char *const *stems; ///< its frames are FOLDER/STEM.0001.bgeo.sc, and .vdb for volumes
    int32_t frame_count;
    const int32_t *frames;     ///< that are cooked, in order
    int32_t threads;           ///< 0: all
    int32_t resume;            ///< not 0: from the checkpoints in the folder, if they fit
    int32_t hold;              ///< not 0: wait once before the first frame is written
    int64_t memory;            ///< bytes that simulated frames may take
    const char *branch_scene;  ///< what it branches from, as text, or NULL
    size_t branch_scene_size;  ///< bytes
    const char *branch_folder; ///< where relative paths of that scene start; its checkpoints are in `folder`
    int32_t branch_frame;      ///< the last frame that is still the other scene's
} mn_cook_thread_def;

typedef enum mn_cook_thread_state { MN_COOK_RUNS, MN_COOK_IS_HELD, MN_COOK_ENDED } mn_cook_thread_state;

typedef struct mn_cook_thread_view {
    int32_t state;   ///< mn_cook_thread_state
    int32_t done;    ///< frames that are written
    int32_t frame;   ///< the one that is cooked now
    double fraction; ///< of it, in [0, 1]
} mn_cook_thread_view;

/// Copies the def and starts. NULL only when memory or threads are out.
MN_API mn_cook_thread *mn_cook_thread_start(const mn_cook_thread_def *def);
MN_API void mn_cook_thread_look(mn_cook_thread *job, mn_cook_thread_view *view);
/// Waits until it is held or has ended, at most this many seconds; returns its state.
MN_API int32_t mn_cook_thread_wait(mn_cook_thread *job, double seconds);
/// A held job goes on.
MN_API void mn_cook_thread_release(mn_cook_thread *job);
/// Stops within a substep, held or not; frames that are written stay.
MN_API void mn_cook_thread_cancel(mn_cook_thread *job);
/// Cancels, waits for the end and frees. NULL is fine.
MN_API void mn_cook_thread_free(mn_cook_thread *job);

/// MN_SHOWN_ bits of what has been written for a result.
MN_API int32_t mn_cook_thread_kinds(mn_cook_thread *job, int32_t result);

// ---- once it has ended ----

MN_API mn_status mn_cook_thread_status(const mn_cook_thread *job);
/// Why it failed; "" when it did not.
MN_API const char *mn_cook_thread_message(const mn_cook_thread *job);
/// What nodes said: errors, and each warning once.
MN_API int32_t mn_cook_thread_note_count(const mn_cook_thread *job);
MN_API const char *mn_cook_thread_note(const mn_cook_thread *job, int32_t index, const char **node,
                                       int32_t *is_error);

#endif
