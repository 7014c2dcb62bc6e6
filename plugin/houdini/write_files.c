// SPDX-License-Identifier: Apache-2.0
//
// meniscus_houdini_files DIR SCENE...: the text part of the Houdini package.
//   DIR/otls/            an expanded asset of every scene that has an "asset" block
//   DIR/help/nodes/sop/  a help card of every node type and asset
//   DIR/toolbar/         the shelf
//   DIR/viewer_states/   handles of node types that have a middle and a size
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/houdini/text_files.h"
#include "plugin/io/io.h"

enum { MAX_SCENES = 256, MAX_PATH = 4096 };

static mn_status make_folders(mn_context *ctx, const char *root)
{
    static const char *const folders[] = {
        "", "/otls", "/help", "/help/nodes", "/help/nodes/sop", "/toolbar", "/viewer_states"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[MAX_PATH];
        if ((size_t)snprintf(path, sizeof path, "%s%s", root, folders[i]) >= sizeof path)
            return mn_fail(ctx, MN_ERROR_IO, "%s: the path is too long.", root);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return mn_fail(ctx, MN_ERROR_IO, "%s: cannot make the folder: %s.", path, strerror(errno));
    }
    return MN_OK;
}

/// Writes `text` to ROOT/name and frees it.
static mn_status write_text(mn_context *ctx, const char *root, const char *name, char *text)
{
    char path[MAX_PATH];
    mn_safe_file *file;
    snprintf(path, sizeof path, "%s/%s", root, name);
    mn_status status = mn_safe_file_open(ctx, path, &file);
    if (status == MN_OK) {
        status = mn_safe_file_write(file, text, strlen(text));
        if (status == MN_OK)
            status = mn_safe_file_commit(file);
        else
            mn_safe_file_abandon(file);
    }
    mn_scene_free_text(ctx, text);
    return status;
}

static mn_status write_card(mn_context *ctx, const char *root, const char *name, char *text)
{
    char file[MN_HOUDINI_NAME + 64];
    snprintf(file, sizeof file, "help/nodes/sop/meniscus--%s-1.0.txt", name);
    return write_text(ctx, root, file, text);
}

static mn_status write_types(mn_context *ctx, const char *root)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++) {
        char *text;
        MN_TRY(mn_houdini_help(ctx, types[i], &text));
        MN_TRY(write_card(ctx, root, types[i]->name, text));
        if (!mn_houdini_has_handles(types[i])) continue;
        char file[MN_HOUDINI_NAME + 64];
        snprintf(file, sizeof file, "viewer_states/meniscus_%s.py", types[i]->name);
        MN_TRY(mn_houdini_state(ctx, types[i], &text));
        MN_TRY(write_text(ctx, root, file, text));
    }
    char *text;
    MN_TRY(mn_houdini_help(ctx, &mn_houdini_render_geometry, &text));
    MN_TRY(write_card(ctx, root, MN_HOUDINI_RENDER, text));
    MN_TRY(mn_houdini_output_help(ctx, &text));
    return write_card(ctx, root, MN_HOUDINI_OUTPUT, text);
}

static mn_status write_all(mn_context *ctx, const char *root, int32_t count, char **scenes,
                           mn_network **assets, int32_t *made)
{
    char otls[MAX_PATH], *text;
    MN_TRY(make_folders(ctx, root));
    MN_TRY(write_types(ctx, root));
    snprintf(otls, sizeof otls, "%s/otls", root);
    for (int32_t i = 0; i < count; i++) {
        mn_network **asset = &assets[*made];
        MN_TRY(mn_scene_read(ctx, NULL, scenes[i], asset));
        if (!mn_network_asset(*asset)) {
            mn_network_free(*asset);
            *asset = NULL;
            continue;
        }
        (*made)++;
        MN_TRY(mn_houdini_write_asset(*asset, otls));
        MN_TRY(mn_houdini_asset_help(*asset, &text));
        MN_TRY(write_card(ctx, root, mn_network_asset(*asset)->name, text));
    }
    MN_TRY(mn_houdini_shelf(ctx, (const mn_network *const *)assets, *made, &text));
    return write_text(ctx, root, "toolbar/meniscus.shelf", text);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc - 2 > MAX_SCENES) {
        fprintf(stderr, "usage: meniscus_houdini_files DIR SCENE...\n");
        return 2;
    }
    mn_context *ctx = mn_context_create(NULL);
    mn_network *assets[MAX_SCENES] = {NULL};
    const int32_t count = argc - 2;
    int32_t made = 0;
    const mn_status status = ctx ? write_all(ctx, argv[1], count, argv + 2, assets, &made) : MN_ERROR_MEMORY;
    if (status != MN_OK)
        fprintf(stderr, "meniscus_houdini_files: %s\n", ctx ? mn_context_message(ctx) : "out of memory");
    for (int32_t i = 0; i < count; i++) mn_network_free(assets[i]); // NULL where there is none
    mn_context_free(ctx);
    return status == MN_OK ? 0 : 1;
}
