// SPDX-License-Identifier: Apache-2.0
//
// The files that a scene reads: the file parameters of the nodes that a target needs, and a stamp of what
// they hold at a frame, by which a later cook knows whether it would read the same.
#ifndef MENISCUS_PLUGIN_HEADLESS_SCENE_FILES_H
#define MENISCUS_PLUGIN_HEADLESS_SCENE_FILES_H

#include "meniscus/array.h"
#include "plugin/host/network/network.h"

enum { MN_PATH_SIZE = 4096 };

typedef struct mn_scene_file {
    int32_t node;
    const char *path; ///< as the node gets it, borrowed from the network; may hold $F
} mn_scene_file;
typedef MN_ARRAY(mn_scene_file) mn_scene_files;

/// What a file that serves all frames held when it was first asked for.
typedef struct mn_file_stamp {
    uint64_t path, contents; ///< hashes
} mn_file_stamp;

typedef struct mn_file_stamps {
    mn_context *ctx;
    MN_ARRAY(mn_file_stamp) known;
} mn_file_stamps;

/// Adds the files of the node's own parameters.
mn_status mn_scene_files_add_of(mn_network *network, int32_t node, mn_scene_files *files);
/// Adds every file that `node` or a node above it reads.
mn_status mn_scene_files_add(mn_network *network, int32_t node, mn_scene_files *files);
/// A number that is another when one of the files holds other bytes at `frame`. 0 when there are none; a file
/// that is missing or cannot be read has a stamp of its own.
mn_status mn_scene_files_stamp(const mn_scene_files *files, double frame, mn_file_stamps *stamps,
                               uint64_t *stamp);
void mn_file_stamps_free(mn_file_stamps *stamps);

/// The path without links and dots; of a file that is not there, of its folder with the name behind it. False
/// when not even the folder is there, or when it does not fit.
bool mn_canonical_path(const char *path, char canonical[MN_PATH_SIZE]);

/// Makes it with all folders above it; fine when it is there.
mn_status mn_make_folder(mn_context *ctx, const char *folder);

#endif
