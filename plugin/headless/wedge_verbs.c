// SPDX-License-Identifier: Apache-2.0
//
// What can be done with a wedge that is there: look, cancel, forgive, collect.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/command.h"
#include "plugin/headless/wedge.h"
#include "plugin/host/network/spelling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_counts(const int64_t counts[MN_MEMBER_STATES])
{
    const char *separator = "";
    for (int i = 0; i < MN_MEMBER_STATES; i++) {
        if (counts[i] == 0) continue;
        printf("%s%lld %s", separator, (long long)counts[i], mn_member_state_name((mn_member_state)i));
        separator = ", ";
    }
    printf("\n");
}

static mn_status print_status(const mn_wedge *wedge)
{
    int64_t counts[MN_MEMBER_STATES] = {0};
    for (int64_t i = 0; i < wedge->members.count; i++) {
        const mn_wedge_member *member = &wedge->members.data[i];
        mn_member_status status;
        char duration[32];
        MN_TRY(mn_member_look(wedge, member, &status));
        counts[status.state]++;
        if (status.state == MN_MEMBER_WAITING) continue;
        mn_format_duration(status.seconds, duration);
        printf("%-9s %4d/%d  %8s  %s%s%s\n", mn_member_state_name(status.state), (int)status.frames,
               (int)mn_wedge_frame_count(wedge), duration, member->name, *status.error ? ": " : "",
               status.error);
    }
    print_counts(counts);
    return MN_OK;
}

int mn_wedge_status(const mn_wedge *wedge, mn_session *session, bool json)
{
    int64_t counts[MN_MEMBER_STATES];
    char *text = NULL, *csv = NULL;
    mn_status status = json ? mn_wedge_table_texts(wedge, &text, &csv, counts) : print_status(wedge);
    if (status == MN_OK && json) fputs(text, stdout);
    mn_scene_free_text(wedge->ctx, text);
    mn_scene_free_text(wedge->ctx, csv);
    const int code = mn_session_fail(session, status);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_wedge_command) : code;
}

int mn_wedge_collect(const mn_wedge *wedge, mn_session *session, bool quiet)
{
    int64_t counts[MN_MEMBER_STATES];
    const mn_status status = mn_wedge_write_tables(wedge, counts);
    if (status == MN_OK && !quiet) print_counts(counts);
    const int code = mn_session_fail(session, status);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_wedge_command) : code;
}

// ---- cancel and retry ----

static mn_status remove_file(const mn_wedge *wedge, const mn_wedge_member *member, const char *name)
{
    char path[MN_PATH_SIZE];
    MN_TRY(mn_wedge_path(wedge, member, name, path));
    if (unlink(path) == 0 || errno == ENOENT) return MN_OK;
    return mn_fail(wedge->ctx, MN_ERROR_IO, "%s cannot be removed: %s.", path, strerror(errno));
}

mn_status mn_wedge_allow(const mn_wedge *wedge)
{
    return remove_file(wedge, NULL, "cancel");
}

static bool is_named(const mn_wedge_words *names, const mn_wedge_member *member)
{
    for (int64_t i = 0; i < names->count; i++)
        if (strcmp(names->data[i], member->name) == 0) return true;
    return names->count == 0;
}

static mn_status check_names(const mn_wedge *wedge, const mn_wedge_words *names)
{
    for (int64_t i = 0; i < names->count; i++) {
        mn_nearest nearest = mn_nearest_to(names->data[i]);
        mn_shown shown, hint;
        if (mn_wedge_find(wedge, names->data[i]) >= 0) continue;
        for (int64_t k = 0; k < wedge->members.count; k++)
            mn_nearest_try(&nearest, wedge->members.data[k].name);
        return mn_fail(wedge->ctx, MN_ERROR_SCENE, "There is no member '%s' in %s%s",
                       mn_show(&shown, names->data[i]), wedge->folder, mn_nearest_hint(&nearest, &hint));
    }
    return MN_OK;
}

static mn_status forgive(const mn_wedge *wedge, const mn_wedge_member *member, bool named)
{
    mn_member_status status;
    int lock;
    MN_TRY(mn_member_look(wedge, member, &status));
    const bool over = status.state == MN_MEMBER_FAILED || status.state == MN_MEMBER_CANCELLED;
    if (!over && !(named && status.state == MN_MEMBER_DONE)) return MN_OK;
    MN_TRY(remove_file(wedge, member, "cancel"));
    MN_TRY(mn_member_lock(wedge, member, &lock));
    if (lock < 0) return MN_OK; // somebody is at it again already
    status.state = MN_MEMBER_WAITING, *status.error = 0;
    const mn_status noted = mn_member_note(wedge, member, &status);
    close(lock);
    return noted;
}

mn_status mn_wedge_forgive(const mn_wedge *wedge, const mn_wedge_words *names)
{
    MN_TRY(check_names(wedge, names));
    for (int64_t i = 0; i < wedge->members.count; i++)
        if (is_named(names, &wedge->members.data[i]))
            MN_TRY(forgive(wedge, &wedge->members.data[i], names->count > 0));
    return MN_OK;
}

/// One that runs stops when it sees the file; one that does not is cancelled at once.
static mn_status cancel_member(const mn_wedge *wedge, const mn_wedge_member *member, bool named)
{
    char path[MN_PATH_SIZE];
    mn_member_status status;
    int lock;
    MN_TRY(mn_member_look(wedge, member, &status));
    if (status.state == MN_MEMBER_DONE || status.state == MN_MEMBER_FAILED) return MN_OK;
    MN_TRY(mn_wedge_path(wedge, member, "", path));
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return mn_fail(wedge->ctx, MN_ERROR_IO, "The folder %s cannot be made: %s.", path, strerror(errno));
    MN_TRY(mn_wedge_path(wedge, member, "cancel", path));
    if (named) MN_TRY(mn_write_text(wedge->ctx, path, ""));
    MN_TRY(mn_member_lock(wedge, member, &lock));
    if (lock < 0) return MN_OK;
    status.state = MN_MEMBER_CANCELLED;
    const mn_status noted = mn_member_note(wedge, member, &status);
    close(lock);
    return noted;
}

static mn_status cancel(const mn_wedge *wedge, const mn_wedge_words *names)
{
    char path[MN_PATH_SIZE];
    MN_TRY(check_names(wedge, names));
    MN_TRY(mn_wedge_path(wedge, NULL, "cancel", path));
    if (names->count == 0) MN_TRY(mn_write_text(wedge->ctx, path, ""));
    for (int64_t i = 0; i < wedge->members.count; i++)
        if (is_named(names, &wedge->members.data[i]))
            MN_TRY(cancel_member(wedge, &wedge->members.data[i], names->count > 0));
    return MN_OK;
}

int mn_wedge_cancel(const mn_wedge *wedge, mn_session *session, const mn_wedge_words *names)
{
    int64_t counts[MN_MEMBER_STATES];
    mn_status status = cancel(wedge, names);
    if (names->count == 0) mn_wedge_cancel_jobs(wedge);
    if (status == MN_OK) status = mn_wedge_write_tables(wedge, counts);
    return mn_session_fail(session, status);
}
