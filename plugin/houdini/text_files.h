// SPDX-License-Identifier: Apache-2.0
//
// What Houdini reads as text, made from the node tables and from scenes: parameter dialogs, help cards, and
// digital assets as expanded folders. The plugin itself hands the dialogs to PRM_TemplateBuilder when it is
// loaded; the tool `meniscus_houdini_files` writes the rest.
#ifndef MENISCUS_PLUGIN_HOUDINI_TEXT_FILES_H
#define MENISCUS_PLUGIN_HOUDINI_TEXT_FILES_H

#include "plugin/host/network/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Room for any operator name.
enum { MN_HOUDINI_NAME = 128 };

/// "meniscus::mpm_solver::1.0" of "mpm_solver".
void mn_houdini_operator_name(const char *name, char operator_name[MN_HOUDINI_NAME]);
/// The other way, in place: "mpm_solver", or false when it is not one of ours.
bool mn_houdini_type_name(const char *operator_name, char name[MN_HOUDINI_NAME]);

/// Parameters that simulating nodes have in Houdini besides those of the table.
#define MN_HOUDINI_RESET "reset_simulation"
#define MN_HOUDINI_CACHE "cache_memory"
#define MN_HOUDINI_RESET_HELP "Forgets every frame and starts again."
#define MN_HOUDINI_CACHE_HELP                                                                                \
    "Frames and snapshots are kept up to this much; those unused for longest go first."

/// True unless an earlier promoted parameter has the same name: the asset then shows only that one.
bool mn_houdini_is_first(const mn_asset *asset, int32_t index);

/// DialogScript of a node type. Given back with mn_scene_free_text().
mn_status mn_houdini_dialog(mn_context *ctx, const mn_node_type *type, char **text);
/// Of an asset: its promoted parameters, with the values of the scene as defaults. The network is an asset.
mn_status mn_houdini_asset_dialog(const mn_network *network, char **text);

/// The help card of a node type, for help/nodes/sop/meniscus--NAME-1.0.txt.
mn_status mn_houdini_help(mn_context *ctx, const mn_node_type *type, char **text);
/// Of an asset.
mn_status mn_houdini_asset_help(const mn_network *network, char **text);

/// The network inside an asset: Contents.mime of its folder.
mn_status mn_houdini_asset_contents(const mn_network *network, char **text);
/// Writes folder/meniscus_NAME.1.0.hda/ with everything in it. The network is an asset.
mn_status mn_houdini_write_asset(const mn_network *network, const char *folder);

/// Shelf tools that place each node type and asset: for toolbar/meniscus.shelf. `assets` are networks.
mn_status mn_houdini_shelf(mn_context *ctx, const mn_network *const *assets, int32_t count, char **text);

#ifdef __cplusplus
}
#endif
#endif
