// SPDX-License-Identifier: Apache-2.0
//
// The network inside an asset while it is written, part by part.
#ifndef MENISCUS_PLUGIN_HOUDINI_ASSET_PARTS_H
#define MENISCUS_PLUGIN_HOUDINI_ASSET_PARTS_H

#include "plugin/houdini/text_files.h"
#include "plugin/json/text.h"

typedef struct mn_asset_contents {
    mn_json_text out;
    const mn_network *network;
    const mn_asset *asset;
    double first_frame;
    bool shared_start; ///< the asset shows one start frame for all
    int32_t sims;      ///< inside
} mn_asset_contents;

typedef struct mn_asset_wire {
    int32_t input;
    char source[MN_HOUDINI_NAME + 32];
    int32_t output;
} mn_asset_wire;

void mn_asset_open_part(mn_asset_contents *c, const char *node, const char *ending);
void mn_asset_put_int(mn_asset_contents *c, int64_t number);
void mn_asset_put_init(mn_asset_contents *c, const char *path, const char *type);
void mn_asset_put_userdata(mn_asset_contents *c, const char *path);
void mn_asset_put_def(mn_asset_contents *c, const char *path, int32_t row, bool shown, int32_t outputs,
                      int32_t wire_count, const mn_asset_wire *wires);
void mn_asset_open_channel(mn_asset_contents *c, const char *name);
/// Where a wire starts: at the node, or, for another than its first output, at a node that gives that one.
void mn_asset_source_of(const mn_asset_contents *c, int32_t node, int32_t output, char *text, size_t size);

// ---- what is shown (asset_shown.c) ----

/// The scene's output is a merge, and this is it: each of its inputs is shown under its own name.
bool mn_asset_is_last_merge(const mn_asset_contents *c, int32_t node);
/// The node that makes an output ready to render.
void mn_asset_render_name(const mn_asset_contents *c, int32_t node, int32_t output, char *text, size_t size);
/// The asset's second output takes the surface from this one.
bool mn_asset_surface_needs(const mn_asset_contents *c, int32_t node, int32_t output);
/// Render nodes, and the output nodes of the asset.
void mn_asset_put_shown(mn_asset_contents *c, int32_t row);
/// Their names, one a line, and how many there are; `out` may be NULL.
int32_t mn_asset_put_shown_names(mn_asset_contents *c, mn_json_text *out);

#endif
