// SPDX-License-Identifier: Apache-2.0
//
// What a cook has left in its folder, found by the names of its files alone.
#ifndef MENISCUS_PLUGIN_HEADLESS_REPORT_FOLDER_H
#define MENISCUS_PLUGIN_HEADLESS_REPORT_FOLDER_H

#include "meniscus/array.h"
#include "plugin/io/io.h"

enum { MN_FOLDER_NAME = 256 };

typedef struct mn_folder_frame {
    int32_t frame;
    char geometry[MN_FOLDER_NAME]; ///< the file's name; "": none that can be read
    char picture[MN_FOLDER_NAME];  ///< the PNG's; "": none
} mn_folder_frame;

typedef struct mn_folder_node {
    char name[MN_FOLDER_NAME];
    MN_ARRAY(mn_folder_frame) frames; ///< rising
} mn_folder_node;

typedef struct mn_folder_file {
    char name[MN_FOLDER_NAME];
} mn_folder_file;

typedef struct mn_folder {
    mn_context *ctx;
    MN_ARRAY(mn_folder_node) nodes;   ///< with frames; by name
    MN_ARRAY(mn_folder_file) reports; ///< *.jsonl but notes.jsonl; by name
    bool is_wedge;                    ///< it has a wedge.json
} mn_folder;

/// Free it in any case.
mn_status mn_folder_read(mn_context *ctx, const char *path, mn_folder *folder);
void mn_folder_free(mn_folder *folder);

#endif
