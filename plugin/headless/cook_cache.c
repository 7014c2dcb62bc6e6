// SPDX-License-Identifier: Apache-2.0
//
// A simulation that is read instead of simulated: a file node with DIR/NODE.$F4.EXT takes its place with all
// who read from it. Nodes without memory can then be cooked frame by frame in any order, on as many machines
// as there are.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/cook_cache.h"
#include "plugin/headless/scene_files.h"
#include "plugin/io/io.h"

#include <stdio.h>
#include <unistd.h>

/// The frames of a node's output as a sequence, or false when there are none.
static bool find_frames(const char *folder, const char *name, int32_t frame, char path[MN_PATH_SIZE])
{
    static const mn_format formats[] = {MN_FORMAT_BGEO_SC, MN_FORMAT_BGEO_GZ, MN_FORMAT_BGEO, MN_FORMAT_GEO,
                                        MN_FORMAT_VDB,     MN_FORMAT_PLY,     MN_FORMAT_OBJ};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *ending = mn_format_ending(formats[i]);
        if (snprintf(path, MN_PATH_SIZE, "%s/%s.%04d.%s", folder, name, (int)frame, ending) >= MN_PATH_SIZE)
            return false;
        if (access(path, R_OK) != 0) continue;
        return snprintf(path, MN_PATH_SIZE, "%s/%s.$F4.%s", folder, name, ending) < MN_PATH_SIZE;
    }
    return false;
}

static mn_status read_instead(mn_network *network, mn_target target, const char *path)
{
    char name[MN_TARGET_NAME + 32], output[MN_TARGET_NAME];
    int32_t file;
    mn_target_name(network, target, output);
    snprintf(name, sizeof name, "%.100s_cached", output);
    for (int i = 2; mn_network_find(network, name) >= 0; i++)
        snprintf(name, sizeof name, "%.100s_cached_%d", output, i);
    MN_TRY(mn_network_add_node(network, "file", name, &file));
    MN_TRY(mn_network_set_string(network, file, "path", path));
    for (int32_t node = 0; node < mn_network_node_limit(network); node++) {
        if (!mn_network_node_type(network, node)) continue;
        for (int32_t i = 0; i < mn_network_input_count(network, node); i++) {
            mn_target from;
            mn_network_input(network, node, i, &from.node, &from.output);
            if (from.node == target.node && from.output == target.output)
                MN_TRY(mn_network_connect(network, node, i, file, 0));
        }
    }
    return MN_OK;
}

mn_status mn_network_read_cache(mn_network *network, const char *folder, int32_t frame)
{
    char path[MN_PATH_SIZE], absolute[MN_PATH_SIZE], name[MN_TARGET_NAME];
    int32_t found = 0;
    const int32_t nodes = mn_network_node_limit(network);
    mn_context *ctx = mn_network_context(network);
    if (!mn_canonical_path(folder, absolute))
        return mn_fail(ctx, MN_ERROR_SCENE, "There is no folder %s.", folder);
    for (int32_t node = 0; node < nodes; node++) {
        const mn_node_type *type = mn_network_node_type(network, node);
        for (int32_t output = 0; type && type->sim && output < type->output_count; output++) {
            const mn_target target = {node, output};
            mn_target_name(network, target, name);
            if (!find_frames(absolute, name, frame, path)) continue;
            MN_TRY(read_instead(network, target, path));
            found++;
        }
    }
    if (found > 0) return MN_OK;
    return mn_fail(
        ctx, MN_ERROR_SCENE,
        "%s holds no simulation of this scene at frame %d. Cook it first, with --node and the name of the solver.",
        folder, (int)frame);
}
