// SPDX-License-Identifier: Apache-2.0
//
// The thread behind cook_job.h: for each frame every result is cooked and written whole, now and then with a
// checkpoint, as the command does it (plugin/headless/cook_frames.c), so that both give the same bytes.
#define _POSIX_C_SOURCE 200809L
#include "plugin/python/cook_job.h"
#include "meniscus/array.h"
#include "meniscus/report.h"
#include "plugin/host/network/network.h"
#include "plugin/io/io.h"
#include "plugin/python/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/// A checkpoint is written when this many times what the last one took has passed, and at least
/// CHECKPOINT_WAIT.
static const double CHECKPOINT_SHARE = 15, CHECKPOINT_WAIT = 5;
enum { PATH_SIZE = 4096, SENTENCE_SIZE = 2048 };

typedef struct result_state {
    char *node, *stem;
    int32_t output, number; ///< number of the node in the network
    int32_t kinds;          ///< written by the thread, under the mutex
} result_state;

typedef struct note {
    char *node, *sentence;
    int32_t is_error;
} note;

struct mn_cook_thread {
    mn_cook_thread_def def;
    char *scene, *folder, *branch_scene, *branch_folder;
    int32_t *frames;
    result_state *results;
    mn_plugin_session *session;
    mn_context *ctx;
    mn_network *network;
    MN_ARRAY(note) notes;
    mn_status status;
    char message[SENTENCE_SIZE];
    _Atomic double fraction;
    double checkpoint_time, checkpoint_seconds;
    pthread_t thread;
    pthread_mutex_t mutex; ///< of what follows
    pthread_cond_t changed;
    int32_t state, done, frame;
    int32_t released, cancelled;
};

// ---- on the thread ----

static void store_progress(void *user, double fraction, const char *what)
{
    mn_cook_thread *job = user;
    (void)what;
    atomic_store_explicit(&job->fraction, fraction, memory_order_relaxed);
}

static void set_state(mn_cook_thread *job, int32_t state)
{
    pthread_mutex_lock(&job->mutex);
    job->state = state;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->mutex);
}

// Errors replace each other; a warning is kept once per node, the latest.
static void take_note(mn_cook_thread *job, const char *node, const char *sentence, int32_t is_error)
{
    for (int64_t i = 0; i < job->notes.count; i++) {
        note *old = &job->notes.data[i];
        if (strcmp(old->node, node) != 0 || old->is_error != is_error) continue;
        char *copy = strdup(sentence);
        if (copy) free(old->sentence), old->sentence = copy;
        return;
    }
    note made = {strdup(node), strdup(sentence), is_error};
    // Without memory a note is lost; the failure that follows says why.
    if (made.node && made.sentence && mn_array_push(job->ctx, &job->notes, &made) == MN_OK) return;
    free(made.node), free(made.sentence);
}

static void collect_notes(mn_cook_thread *job)
{
    for (int32_t node = 0; node < mn_network_node_limit(job->network); node++) {
        if (!mn_network_node_type(job->network, node)) continue;
        const char *name = mn_network_node_name(job->network, node);
        const char *error = mn_network_node_error(job->network, node);
        if (*error) take_note(job, name, error, 1);
        for (int32_t i = 0; i < mn_network_warning_count(job->network, node); i++)
            take_note(job, name, mn_network_warning(job->network, node, i), 0);
    }
}

static mn_status kinds_of(mn_context *ctx, const mn_geo *geo, int32_t *kinds)
{
    const int64_t points = mn_geo_point_count(geo), vertices = mn_geo_count(geo, MN_VERTEX);
    if (mn_geo_kind_count(geo, MN_POLYGON) > 0 || mn_geo_kind_count(geo, MN_POLYLINE) > 0 ||
        mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0)
        *kinds |= MN_SHOWN_MESH;
    if (mn_geo_kind_count(geo, MN_VOLUME) > 0) *kinds |= MN_SHOWN_VOLUME;
    if (*kinds & MN_SHOWN_POINTS || points == 0) return MN_OK;
    uint8_t *used = mn_allocate_zero(ctx, (size_t)points);
    if (!used) return MN_ERROR_MEMORY;
    const int64_t *corners = mn_geo_vertex_points(geo);
    for (int64_t i = 0; i < vertices; i++) used[corners[i]] = 1;
    if (memchr(used, 0, (size_t)points)) *kinds |= MN_SHOWN_POINTS;
    mn_release(ctx, used, (size_t)points);
    return MN_OK;
}

static mn_status frame_path(mn_cook_thread *job, const char *stem, int32_t frame, const char *ending,
                            char *path)
{
    if (snprintf(path, PATH_SIZE, "%s/%s.%04d.%s", job->folder, stem, (int)frame, ending) < PATH_SIZE)
        return MN_OK;
    return mn_fail(job->ctx, MN_ERROR_ARGUMENT,
                   "The cache's path is longer than %d bytes; use a shorter folder.", PATH_SIZE);
}

// The volumes once more, in a file that Blender reads by itself.
static mn_status write_volumes(mn_cook_thread *job, const char *stem, int32_t frame, const mn_geo *geo)
{
    char path[PATH_SIZE];
    mn_geo *alone;
    MN_TRY(frame_path(job, stem, frame, "vdb", path));
    MN_TRY(mn_geo_create(job->ctx, &alone));
    mn_status status = MN_OK;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo) && status == MN_OK; i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        if (volume.ops) status = mn_geo_add_volume(alone, volume, -1, NULL);
    }
    if (status == MN_OK) status = mn_io_write(job->ctx, path, alone);
    mn_geo_free(alone);
    return status;
}

static mn_status cook_result(mn_cook_thread *job, const result_state *result, int32_t frame,
                             const mn_geo **geo)
{
    const mn_status status = mn_network_cook(job->network, result->number, result->output, frame, geo);
    collect_notes(job);
    return status;
}

static mn_status write_frame(mn_cook_thread *job, int32_t frame)
{
    for (int32_t i = 0; i < job->def.result_count; i++) {
        result_state *result = &job->results[i];
        char path[PATH_SIZE];
        const mn_geo *geo;
        MN_TRY(frame_path(job, result->stem, frame, "bgeo.sc", path));
        MN_TRY(cook_result(job, result, frame, &geo));
        MN_TRY(mn_io_write(job->ctx, path, geo));
        if (mn_geo_kind_count(geo, MN_VOLUME) > 0) MN_TRY(write_volumes(job, result->stem, frame, geo));
        int32_t kinds = result->kinds;
        MN_TRY(kinds_of(job->ctx, geo, &kinds));
        pthread_mutex_lock(&job->mutex);
        result->kinds = kinds;
        pthread_mutex_unlock(&job->mutex);
    }
    return MN_OK;
}

// Everything that the first frame needs is cooked; its writing waits for release or cancel.
static mn_status hold(mn_cook_thread *job)
{
    const mn_geo *geo;
    for (int32_t i = 0; i < job->def.result_count; i++)
        MN_TRY(cook_result(job, &job->results[i], job->frames[0], &geo));
    pthread_mutex_lock(&job->mutex);
    job->state = MN_COOK_IS_HELD;
    pthread_cond_broadcast(&job->changed);
    while (!job->released && !job->cancelled) pthread_cond_wait(&job->changed, &job->mutex);
    job->state = MN_COOK_RUNS;
    pthread_mutex_unlock(&job->mutex);
    return mn_check_cancelled(job->ctx);
}

static void leave_checkpoints(mn_cook_thread *job)
{
    const double begun = mn_seconds();
    // Without them a resumed cook takes longer, and is the same.
    for (int32_t i = 0; i < job->def.result_count; i++)
        (void)mn_network_save_checkpoint(job->network, job->results[i].number, job->folder);
    job->checkpoint_time = mn_seconds();
    job->checkpoint_seconds = job->checkpoint_time - begun;
}

/// The states of a network that suit going on after `limit`: the latest ones, or those that a branch began
/// with. One that does not fit is no loss: the simulation runs through from its start and gives the same
/// frames.
static mn_status load_states(mn_cook_thread *job, mn_network *network, int32_t limit)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/branch", job->folder) >= PATH_SIZE) return MN_OK;
    for (int32_t i = 0; i < job->def.result_count; i++) {
        const int32_t node = job->results[i].number;
        int32_t frame = INT32_MIN;
        mn_status status = mn_network_load_checkpoint(network, node, job->folder, &frame);
        if (status != MN_ERROR_CANCELLED && status != MN_ERROR_MEMORY &&
            (status != MN_OK || frame == INT32_MIN || frame > limit))
            status = mn_network_load_checkpoint(network, node, path, &frame);
        if (status == MN_ERROR_CANCELLED || status == MN_ERROR_MEMORY) return status;
    }
    return MN_OK;
}

/// Whoever resumes a branch must not start from the beginning.
static mn_status keep_branch(mn_cook_thread *job)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/branch.new", job->folder) >= PATH_SIZE ||
        (mkdir(path, 0777) != 0 && errno != EEXIST))
        return mn_fail(job->ctx, MN_ERROR_IO, "The folder branch.new cannot be made in %s: %s.", job->folder,
                       strerror(errno));
    for (int32_t i = 0; i < job->def.result_count; i++)
        MN_TRY(mn_network_save_checkpoint(job->network, job->results[i].number, path));
    return MN_OK;
}

/// The other scene's state at the branch's frame becomes this network's.
static mn_status branch_off(mn_cook_thread *job)
{
    mn_network *source = NULL;
    mn_status status;
    MN_TRY_TO(out, status,
              mn_scene_read_memory(job->ctx, NULL, job->branch_scene, job->def.branch_scene_size,
                                   "scene.json", &source));
    MN_TRY_TO(out, status, mn_network_set_folder(source, job->branch_folder));
    mn_network_set_cache_limit(source, job->def.memory);
    MN_TRY_TO(out, status, load_states(job, source, job->def.branch_frame));
    for (int32_t i = 0; i < job->def.result_count; i++) {
        const result_state *result = &job->results[i];
        const mn_geo *geo;
        MN_TRY_TO(out, status,
                  mn_network_cook(source, result->number, result->output, job->def.branch_frame, &geo));
        MN_TRY_TO(out, status,
                  mn_network_branch(job->network, source, result->number, job->def.branch_frame));
    }
    status = keep_branch(job);
out:
    mn_network_free(source);
    return status;
}

static mn_status prepare(mn_cook_thread *job)
{
    MN_TRY(
        mn_scene_read_memory(job->ctx, NULL, job->scene, job->def.scene_size, "scene.json", &job->network));
    MN_TRY(mn_network_set_folder(job->network, job->folder));
    mn_network_set_cache_limit(job->network, job->def.memory);
    for (int32_t i = 0; i < job->def.result_count; i++)
        MN_TRY(mn_network_require(job->network, job->results[i].node, &job->results[i].number));
    if (job->branch_scene) return branch_off(job);
    const int32_t first = job->def.frame_count > 0 ? job->frames[0] : INT32_MAX;
    return job->def.resume ? load_states(job, job->network, first - 1) : MN_OK;
}

static mn_status cook_frames(mn_cook_thread *job)
{
    job->checkpoint_time = mn_seconds();
    if (job->def.hold && job->def.frame_count > 0) MN_TRY(hold(job));
    if (job->branch_scene) leave_checkpoints(job); // those of the other scene do not fit any more
    for (int32_t i = 0; i < job->def.frame_count; i++) {
        MN_TRY(mn_check_cancelled(job->ctx));
        atomic_store_explicit(&job->fraction, 0, memory_order_relaxed);
        pthread_mutex_lock(&job->mutex);
        job->frame = job->frames[i];
        pthread_mutex_unlock(&job->mutex);
        MN_TRY(write_frame(job, job->frames[i]));
        pthread_mutex_lock(&job->mutex);
        job->done++;
        pthread_mutex_unlock(&job->mutex);
        const double wait = CHECKPOINT_SHARE * job->checkpoint_seconds;
        if (mn_seconds() - job->checkpoint_time > (wait > CHECKPOINT_WAIT ? wait : CHECKPOINT_WAIT))
            leave_checkpoints(job);
    }
    return MN_OK;
}

static void *run(void *user)
{
    mn_cook_thread *job = user;
    job->status = prepare(job);
    const bool begun = job->status == MN_OK;
    if (begun) job->status = cook_frames(job);
    if (job->status != MN_OK) {
        const char *sentence = mn_context_message(job->ctx);
        snprintf(job->message, sizeof job->message, "%s",
                 *sentence ? sentence : mn_status_message(job->status));
    }
    if (begun && job->done > 0) leave_checkpoints(job);
    mn_network_free(job->network);
    job->network = NULL;
    set_state(job, MN_COOK_ENDED);
    return NULL;
}

// ---- of the caller ----

static void free_all(mn_cook_thread *job)
{
    for (int32_t i = 0; job->results && i < job->def.result_count; i++)
        free(job->results[i].node), free(job->results[i].stem);
    for (int64_t i = 0; i < job->notes.count; i++)
        free(job->notes.data[i].node), free(job->notes.data[i].sentence);
    if (job->ctx) mn_array_free(job->ctx, &job->notes);
    mn_plugin_session_free(job->session);
    free(job->results), free(job->frames), free(job->scene), free(job->folder);
    free(job->branch_scene), free(job->branch_folder);
    free(job);
}

static bool copy_def(mn_cook_thread *job, const mn_cook_thread_def *def)
{
    job->def = *def;
    job->scene = malloc(def->scene_size + 1), job->folder = strdup(def->folder);
    job->frames = malloc(sizeof *job->frames * (size_t)(def->frame_count + 1));
    job->results = calloc((size_t)def->result_count + 1, sizeof *job->results);
    if (!job->scene || !job->folder || !job->frames || !job->results) return false;
    memcpy(job->scene, def->scene, def->scene_size);
    if (def->branch_scene) {
        job->branch_scene = malloc(def->branch_scene_size + 1),
        job->branch_folder = strdup(def->branch_folder);
        if (!job->branch_scene || !job->branch_folder) return false;
        memcpy(job->branch_scene, def->branch_scene, def->branch_scene_size);
    }
    if (def->frame_count > 0)
        memcpy(job->frames, def->frames, sizeof *job->frames * (size_t)def->frame_count);
    for (int32_t i = 0; i < def->result_count; i++) {
        job->results[i] =
            (result_state){strdup(def->nodes[i]), strdup(def->stems[i]), def->outputs[i], -1, 0};
        if (!job->results[i].node || !job->results[i].stem) return false;
    }
    job->def.scene = NULL, job->def.folder = NULL, job->def.frames = NULL;
    job->def.branch_scene = NULL, job->def.branch_folder = NULL;
    job->def.nodes = NULL, job->def.stems = NULL, job->def.outputs = NULL;
    job->frame = def->frame_count > 0 ? job->frames[0] : 0;
    return true;
}

mn_cook_thread *mn_cook_thread_start(const mn_cook_thread_def *def)
{
    mn_cook_thread *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    job->session = mn_plugin_session_create_native(def->threads, store_progress, job);
    if (job->session && copy_def(job, def)) {
        job->ctx = mn_plugin_session_context(job->session);
        pthread_mutex_init(&job->mutex, NULL);
        pthread_condattr_t clock;
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&job->changed, &clock);
        pthread_condattr_destroy(&clock);
        if (mn_plugin_start_thread(&job->thread, run, job)) return job;
        pthread_mutex_destroy(&job->mutex);
        pthread_cond_destroy(&job->changed);
    }
    free_all(job);
    return NULL;
}

void mn_cook_thread_look(mn_cook_thread *job, mn_cook_thread_view *view)
{
    pthread_mutex_lock(&job->mutex);
    *view = (mn_cook_thread_view){job->state, job->done, job->frame,
                                  atomic_load_explicit(&job->fraction, memory_order_relaxed)};
    pthread_mutex_unlock(&job->mutex);
}

int32_t mn_cook_thread_wait(mn_cook_thread *job, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double whole = seconds < 0 ? 0 : seconds > 1e6 ? 1e6 : seconds;
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
    if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
    pthread_mutex_lock(&job->mutex);
    int late = 0;
    while (job->state == MN_COOK_RUNS && late == 0)
        late = pthread_cond_timedwait(&job->changed, &job->mutex, &until);
    const int32_t state = job->state;
    pthread_mutex_unlock(&job->mutex);
    return state;
}

void mn_cook_thread_release(mn_cook_thread *job)
{
    pthread_mutex_lock(&job->mutex);
    job->released = 1;
    if (job->state == MN_COOK_IS_HELD) job->state = MN_COOK_RUNS;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->mutex);
}

void mn_cook_thread_cancel(mn_cook_thread *job)
{
    mn_plugin_session_cancel(job->session, 1);
    pthread_mutex_lock(&job->mutex);
    job->cancelled = 1;
    if (job->state == MN_COOK_IS_HELD) job->state = MN_COOK_RUNS;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->mutex);
}

void mn_cook_thread_free(mn_cook_thread *job)
{
    if (!job) return;
    mn_cook_thread_cancel(job);
    pthread_join(job->thread, NULL);
    pthread_mutex_destroy(&job->mutex);
    pthread_cond_destroy(&job->changed);
    free_all(job);
}

mn_status mn_cook_thread_status(const mn_cook_thread *job)
{
    return job->status;
}

const char *mn_cook_thread_message(const mn_cook_thread *job)
{
    return job->message;
}

int32_t mn_cook_thread_kinds(mn_cook_thread *job, int32_t result)
{
    pthread_mutex_lock(&job->mutex);
    const int32_t kinds = result >= 0 && result < job->def.result_count ? job->results[result].kinds : 0;
    pthread_mutex_unlock(&job->mutex);
    return kinds;
}

int32_t mn_cook_thread_note_count(const mn_cook_thread *job)
{
    return (int32_t)job->notes.count;
}

const char *mn_cook_thread_note(const mn_cook_thread *job, int32_t index, const char **node,
                                int32_t *is_error)
{
    const note *one = &job->notes.data[index];
    *node = one->node, *is_error = one->is_error;
    return one->sentence;
}
