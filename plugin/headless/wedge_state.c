// SPDX-License-Identifier: Apache-2.0
//
// state.json of a member, its lock, and whether somebody wants it to stop.
#define _DEFAULT_SOURCE
#include "plugin/headless/wedge.h"
#include "plugin/json/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char STATE[] = "state.json";

static const char *const names[MN_MEMBER_STATES] = {"waiting", "running",   "done",  "failed",
                                                    "stopped", "cancelled", "cooked"};

const char *mn_member_state_name(mn_member_state state)
{
    return names[state];
}

// ---- the lock ----

mn_status mn_wedge_lock(const mn_wedge *wedge, const char *name, int *lock)
{
    char path[MN_PATH_SIZE];
    MN_TRY(mn_wedge_path(wedge, NULL, name, path));
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (*lock < 0) return mn_fail(wedge->ctx, MN_ERROR_IO, "%s cannot be opened: %s.", path, strerror(errno));
    (void)flock(*lock, LOCK_EX); // a file system that knows no locks is no reason not to cook
    return MN_OK;
}

mn_status mn_member_lock(const mn_wedge *wedge, const mn_wedge_member *member, int *lock)
{
    char path[MN_PATH_SIZE];
    *lock = -1;
    MN_TRY(mn_wedge_path(wedge, member, ".member", path));
    // Children inherit it: as long as a cook lives, its member is not free.
    const int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
    if (descriptor < 0)
        return mn_fail(wedge->ctx, MN_ERROR_IO, "%s cannot be opened: %s.", path, strerror(errno));
    // A file system that knows no locks cannot keep two apart; the journals of the cooks may.
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        close(descriptor);
    else
        *lock = descriptor;
    return MN_OK;
}

static bool is_locked(const mn_wedge *wedge, const mn_wedge_member *member)
{
    int lock;
    if (mn_member_lock(wedge, member, &lock) != MN_OK) return false;
    if (lock >= 0) close(lock);
    return lock < 0;
}

bool mn_member_is_cancelled(const mn_wedge *wedge, const mn_wedge_member *member)
{
    char path[MN_PATH_SIZE];
    if (mn_wedge_path(wedge, NULL, "cancel", path) == MN_OK && access(path, F_OK) == 0) return true;
    return mn_wedge_path(wedge, member, "cancel", path) == MN_OK && access(path, F_OK) == 0;
}

// ---- the file ----

mn_status mn_member_note(const mn_wedge *wedge, const mn_wedge_member *member, const mn_member_status *status)
{
    mn_json_text out = {.ctx = wedge->ctx};
    bool first = true;
    char path[MN_PATH_SIZE], *text;
    MN_TRY(mn_wedge_path(wedge, member, STATE, path));
    mn_json_text_put(&out, "{");
    mn_json_text_put_member(&out, &first, ", ", "state", names[status->state]);
    mn_wedge_put_number(&out, &first, ", ", "tries", status->tries);
    mn_wedge_put_number(&out, &first, ", ", "seconds", status->seconds);
    mn_json_text_put_member(&out, &first, ", ", "host", status->host);
    mn_wedge_put_number(&out, &first, ", ", "process", (double)status->process);
    mn_json_text_put_member(&out, &first, ", ", "error", status->error);
    mn_json_text_put(&out, "}\n");
    MN_TRY(mn_json_text_finish(&out, &text));
    const mn_status written = mn_write_text(wedge->ctx, path, text);
    mn_scene_free_text(wedge->ctx, text);
    return written;
}

static double number_of(const mn_json_tree *json, const char *key)
{
    const mn_json_tree_value *value = mn_json_tree_find(json, mn_json_tree_root(json), key);
    return value && value->kind == MN_JSON_TREE_NUMBER ? value->number : 0;
}

static const char *string_of(const mn_json_tree *json, const char *key)
{
    const mn_json_tree_value *value = mn_json_tree_find(json, mn_json_tree_root(json), key);
    return value && value->kind == MN_JSON_TREE_STRING ? value->string : "";
}

static void read_state(const mn_json_tree *json, mn_member_status *status)
{
    const char *state = string_of(json, "state");
    const double tries = number_of(json, "tries"), process = number_of(json, "process");
    for (int i = 0; i < MN_MEMBER_STATES; i++)
        if (strcmp(state, names[i]) == 0) status->state = (mn_member_state)i;
    status->tries = tries > 0 && tries < 1e6 ? (int32_t)tries : 0;
    status->process = process > 0 && process < 1e15 ? (int64_t)process : 0;
    status->seconds = number_of(json, "seconds");
    snprintf(status->host, sizeof status->host, "%s", string_of(json, "host"));
    snprintf(status->error, sizeof status->error, "%s", string_of(json, "error"));
}

static mn_status count_frames(const mn_wedge *wedge, const mn_wedge_member *member, int32_t *frames)
{
    *frames = wedge->targets.count > 0 ? mn_wedge_frame_count(wedge) : 0;
    for (int64_t i = 0; i < wedge->targets.count; i++) {
        char path[MN_PATH_SIZE], file[512];
        int32_t count;
        snprintf(file, sizeof file, ".%s.cook", wedge->targets.data[i]);
        MN_TRY(mn_wedge_path(wedge, member, file, path));
        MN_TRY(mn_journal_count(wedge->ctx, path, wedge->first, wedge->last, wedge->step, &count));
        if (count < *frames) *frames = count;
    }
    return MN_OK;
}

mn_status mn_member_look(const mn_wedge *wedge, const mn_wedge_member *member, mn_member_status *status)
{
    char path[MN_PATH_SIZE], *text;
    size_t size;
    memset(status, 0, sizeof *status);
    MN_TRY(mn_wedge_path(wedge, member, STATE, path));
    MN_TRY(mn_read_text(wedge->ctx, path, &text, &size));
    if (!text) return MN_OK; // nobody has begun
    mn_json_tree *json = NULL;
    const mn_status read = mn_json_tree_read(wedge->ctx, text, size, path, &json);
    mn_release(wedge->ctx, text, size + 1);
    if (read == MN_ERROR_MEMORY) return read;
    // One that is damaged says nothing: the member is looked at as if it had not begun, and resumes.
    if (read == MN_OK && mn_json_tree_root(json)->kind == MN_JSON_TREE_OBJECT) read_state(json, status);
    mn_json_tree_free(json);
    if (status->state == MN_MEMBER_RUNNING && !is_locked(wedge, member)) {
        status->state = MN_MEMBER_STOPPED;
        snprintf(status->error, sizeof status->error, "Its process ended without a word on %.100s.",
                 status->host);
    }
    return count_frames(wedge, member, &status->frames);
}

mn_status mn_member_waits(const mn_wedge *wedge, const mn_wedge_member *member, bool *waits)
{
    mn_member_status status;
    MN_TRY(mn_member_look(wedge, member, &status));
    const bool whole = status.frames == mn_wedge_frame_count(wedge);
    *waits = !(status.state == MN_MEMBER_DONE && whole) && status.state != MN_MEMBER_FAILED &&
             status.state != MN_MEMBER_CANCELLED;
    return MN_OK;
}
