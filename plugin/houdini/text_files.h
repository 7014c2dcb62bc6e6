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

/// What simulating nodes, and assets with one inside, have in Houdini besides the parameters of the table: a
/// button, and rows as those of a table.
#define MN_HOUDINI_RESET "reset_simulation"
#define MN_HOUDINI_RESET_HELP "Forgets every frame and starts again."
#define MN_HOUDINI_CACHE "cache_memory"
#define MN_HOUDINI_START "start_frame"                        ///< of the table; assets show it too
#define MN_HOUDINI_SIMULATE "simulate"                        ///< off: no new frames are made
#define MN_HOUDINI_SIMULATE_DEFAULT "hou.simulationEnabled()" ///< what the playbar says, in Python
#define MN_HOUDINI_SUBFRAMES "subframes"
#define MN_HOUDINI_GUIDES "show_guides"
#define MN_HOUDINI_CHECKPOINT "checkpoint"
#define MN_HOUDINI_CHECKPOINT_EVERY "checkpoint_every"
#define MN_HOUDINI_INITIAL "initial_state"
const mn_parm_def *mn_houdini_sim_parms(int32_t *count);

/// The node that gives another output of the solver it is connected to, for versions of Houdini and networks
/// in which a second output cannot be wired.
#define MN_HOUDINI_OUTPUT "solver_output"
#define MN_HOUDINI_OUTPUT_LABEL "Solver Output"
#define MN_HOUDINI_OUTPUT_INPUT "Solver"
extern const mn_parm_def mn_houdini_output_parm;
mn_status mn_houdini_output_dialog(mn_context *ctx, char **text);
mn_status mn_houdini_output_help(mn_context *ctx, char **text);

/// A node type of Houdini alone: what renderers want besides the geometry.
#define MN_HOUDINI_RENDER "render_geometry"
#define MN_HOUDINI_USD_PATH "usd_path"
#define MN_HOUDINI_LOOK "render_material"
#define MN_HOUDINI_LOOK_PATH "material_path"
#define MN_HOUDINI_LOOK_TIME "time_scale"
extern const mn_node_type mn_houdini_render_geometry;
/// Any node type that Houdini has, by its name; NULL when there is none.
const mn_node_type *mn_houdini_find_type(const char *name);

/// The material that an asset's simulations are shown in, as an index into the menu of Render Geometry.
int32_t mn_houdini_asset_look(const mn_network *network);
/// The asset has a second output, the surface of what was simulated.
bool mn_houdini_asset_has_surface(const mn_network *network);

/// How many simulating nodes a network has.
int32_t mn_houdini_sim_count(const mn_network *network);
/// True when an asset can show one start frame for all simulations inside: it promotes none, and they agree.
bool mn_houdini_shared_start(const mn_network *network, mn_parm_value *start);
/// The asset promotes a parameter by this name.
bool mn_houdini_shows(const mn_asset *asset, const char *name);

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

/// A viewer state with handles for what has a middle and a size, for viewer_states/meniscus_NAME.py.
bool mn_houdini_has_handles(const mn_node_type *type);
mn_status mn_houdini_state(mn_context *ctx, const mn_node_type *type, char **text);

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
