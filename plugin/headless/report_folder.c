// SPDX-License-Identifier: Apache-2.0
//
// NODE.0012.EXT is a frame and NODE.0012.png its picture. Names that are longer than any of ours are passed
// over.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/report_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *ending)
{
    const size_t a = strlen(name), b = strlen(ending);
    return a > b && strcmp(name + a - b, ending) == 0;
}

/// "skin" and 12 of "skin.0012.EXT"; false when it is not of that form.
static bool split_name(const char *name, const char *ending, char stem[MN_FOLDER_NAME], int32_t *frame)
{
    const size_t length = strlen(name) - strlen(ending) - 1;
    char *end;
    if (length >= MN_FOLDER_NAME) return false;
    memcpy(stem, name, length);
    stem[length] = 0;
    char *dot = strrchr(stem, '.');
    if (!dot || dot == stem || !dot[1]) return false;
    const long number = strtol(dot + 1, &end, 10);
    if (*end || number < INT32_MIN || number > INT32_MAX) return false;
    *dot = 0;
    *frame = (int32_t)number;
    return true;
}

static mn_status find_node(mn_folder *folder, const char *name, mn_folder_node **node)
{
    for (int64_t i = 0; i < folder->nodes.count; i++)
        if (strcmp(folder->nodes.data[i].name, name) == 0) {
            *node = &folder->nodes.data[i];
            return MN_OK;
        }
    mn_folder_node made = {0};
    snprintf(made.name, sizeof made.name, "%s", name);
    MN_TRY(mn_array_push(folder->ctx, &folder->nodes, &made));
    *node = &folder->nodes.data[folder->nodes.count - 1];
    return MN_OK;
}

static mn_status add_frame(mn_folder *folder, const char *name, const char *ending, bool picture)
{
    mn_folder_frame made = {0};
    char stem[MN_FOLDER_NAME];
    mn_folder_node *node;
    mn_format format;
    if (!split_name(name, ending, stem, &made.frame)) return MN_OK;
    const bool readable = !picture && mn_format_from_path(name, &format) && mn_format_is_read(format);
    if (picture || readable) snprintf(picture ? made.picture : made.geometry, MN_FOLDER_NAME, "%s", name);
    MN_TRY(find_node(folder, stem, &node));
    return mn_array_push(folder->ctx, &node->frames, &made);
}

static mn_status add_name(mn_folder *folder, const char *name)
{
    mn_format format;
    if (*name == '.' || strlen(name) >= MN_FOLDER_NAME) return MN_OK;
    if (strcmp(name, "wedge.json") == 0) folder->is_wedge = true;
    if (ends_with(name, ".png")) return add_frame(folder, name, "png", true);
    if (ends_with(name, ".jsonl") && strcmp(name, "notes.jsonl") != 0) {
        mn_folder_file file;
        snprintf(file.name, sizeof file.name, "%s", name);
        return mn_array_push(folder->ctx, &folder->reports, &file);
    }
    return mn_format_from_path(name, &format) ? add_frame(folder, name, mn_format_ending(format), false)
                                              : MN_OK;
}

// ---- in order ----

static int compare_frames(const void *a, const void *b)
{
    const mn_folder_frame *x = a, *y = b;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static int compare_nodes(const void *a, const void *b)
{
    return strcmp(((const mn_folder_node *)a)->name, ((const mn_folder_node *)b)->name);
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const mn_folder_file *)a)->name, ((const mn_folder_file *)b)->name);
}

/// One entry per frame, with what its files have in common.
static void join_frames(mn_folder_node *node)
{
    mn_folder_frame *frames = node->frames.data;
    int64_t count = 0;
    if (node->frames.count > 1) qsort(frames, (size_t)node->frames.count, sizeof *frames, compare_frames);
    for (int64_t i = 0; i < node->frames.count; i++) {
        if (count == 0 || frames[count - 1].frame != frames[i].frame) {
            frames[count++] = frames[i];
            continue;
        }
        mn_folder_frame *kept = &frames[count - 1];
        if (!*kept->geometry) memcpy(kept->geometry, frames[i].geometry, MN_FOLDER_NAME);
        if (!*kept->picture) memcpy(kept->picture, frames[i].picture, MN_FOLDER_NAME);
    }
    node->frames.count = count;
}

mn_status mn_folder_read(mn_context *ctx, const char *path, mn_folder *folder)
{
    memset(folder, 0, sizeof *folder);
    folder->ctx = ctx;
    DIR *directory = opendir(path);
    if (!directory)
        return mn_fail(ctx, MN_ERROR_IO, "The folder %s cannot be opened: %s.", path, strerror(errno));
    mn_status status = MN_OK;
    for (struct dirent *entry; status == MN_OK && (entry = readdir(directory));)
        status = add_name(folder, entry->d_name);
    closedir(directory);
    if (folder->nodes.count > 1)
        qsort(folder->nodes.data, (size_t)folder->nodes.count, sizeof *folder->nodes.data, compare_nodes);
    if (folder->reports.count > 1)
        qsort(folder->reports.data, (size_t)folder->reports.count, sizeof *folder->reports.data,
              compare_files);
    for (int64_t i = 0; i < folder->nodes.count; i++) join_frames(&folder->nodes.data[i]);
    return status;
}

void mn_folder_free(mn_folder *folder)
{
    if (!folder->ctx) return;
    for (int64_t i = 0; i < folder->nodes.count; i++)
        mn_array_free(folder->ctx, &folder->nodes.data[i].frames);
    mn_array_free(folder->ctx, &folder->nodes);
    mn_array_free(folder->ctx, &folder->reports);
}
