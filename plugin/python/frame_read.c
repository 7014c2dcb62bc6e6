// SPDX-License-Identifier: Apache-2.0
//
// The thread behind frame_read.h.
#define _POSIX_C_SOURCE 200809L
#include "plugin/python/frame_read.h"
#include "plugin/io/io.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct mn_frame_read {
    char *path;
    mn_mat4 matrix;
    mn_plugin_session *session;
    pthread_t thread;
    // Written by the thread, read when it has ended.
    mn_geo *geo;
    mn_shown_mesh *mesh;
    mn_status status;
};

static void drop_results(mn_frame_read *read)
{
    mn_shown_mesh_free(read->mesh);
    mn_geo_free(read->geo);
    read->mesh = NULL, read->geo = NULL;
}

static mn_status read_and_lay_out(mn_frame_read *read)
{
    mn_context *ctx = mn_plugin_session_context(read->session);
    MN_TRY(mn_io_read(ctx, read->path, &read->geo));
    MN_TRY(mn_geo_transform(read->geo, read->matrix));
    return mn_shown_mesh_create(ctx, read->geo, &read->mesh);
}

static void *run(void *user)
{
    mn_frame_read *read = user;
    read->status = read_and_lay_out(read);
    if (read->status != MN_OK) drop_results(read);
    return NULL;
}

mn_frame_read *mn_frame_read_start(const char *path, mn_mat4 matrix)
{
    mn_frame_read *read = calloc(1, sizeof *read);
    if (!read) return NULL;
    read->matrix = matrix;
    read->path = strdup(path);
    // One thread is enough: the others are Blender's, which draws meanwhile.
    read->session = mn_plugin_session_create_native(1, NULL, NULL);
    if (read->path && read->session && mn_plugin_start_thread(&read->thread, run, read)) return read;
    mn_plugin_session_free(read->session);
    free(read->path), free(read);
    return NULL;
}

mn_status mn_frame_read_take(mn_frame_read *read, mn_plugin_session **session, mn_geo **geo,
                             mn_shown_mesh **mesh)
{
    pthread_join(read->thread, NULL);
    const mn_status status = read->status;
    *session = read->session, *geo = read->geo, *mesh = read->mesh;
    free(read->path), free(read);
    return status;
}

void mn_frame_read_free(mn_frame_read *read)
{
    if (!read) return;
    mn_plugin_session_cancel(read->session, 1);
    pthread_join(read->thread, NULL);
    drop_results(read);
    mn_plugin_session_free(read->session);
    free(read->path), free(read);
}
