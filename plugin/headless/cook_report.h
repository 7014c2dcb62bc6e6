// SPDX-License-Identifier: Apache-2.0
//
// --report FILE: one JSON object per line, per frame and simulating node.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_REPORT_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_REPORT_H

#include "plugin/host/network/network.h"

typedef struct mn_report_file {
    mn_context *ctx;
    const char *path;        ///< "-" is stdout
    int descriptor;          ///< -1: no report is wanted
    MN_ARRAY(uint64_t) seen; ///< frame and node of every line that is there
} mn_report_file;

/// Starts the file, or with `resume` goes on after the last whole line of the one that is there. A NULL path
/// gives a file that takes everything and keeps nothing.
mn_status mn_report_open(mn_context *ctx, const char *path, bool resume, mn_report_file *file);
/// What the node said about the frame it gave last, unless that line is there already. `geo` is its output.
mn_status mn_report_add(mn_report_file *file, const mn_network *network, int32_t node, int32_t frame,
                        const mn_geo *geo);
/// The same line alone, given back with mn_scene_free_text; NULL when the node has nothing to report.
mn_status mn_report_line(const mn_network *network, int32_t node, int32_t frame, const mn_geo *geo,
                         char **text);
/// On disk before anything that relies on it.
mn_status mn_report_sync(mn_report_file *file);
void mn_report_close(mn_report_file *file);

#endif
