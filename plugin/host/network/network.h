// SPDX-License-Identifier: Apache-2.0
//
// A network of nodes: made in code or read from a scene, cooked frame by frame. This is the whole interface
// that the command, the Python module and the Blender add-on use. A network is used by one thread at a time.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_NETWORK_H
#define MENISCUS_PLUGIN_HOST_NETWORK_NETWORK_H

#include "nodes/node.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_network mn_network;

/// The services of this build: plugin/io and plugin/vdb.
MN_API const mn_services *mn_host_services(void);

/// `services` NULL: mn_host_services(). Both must outlive the network.
MN_API mn_status mn_network_create(mn_context *ctx, const mn_services *services, mn_network **network);
/// With node types of the caller's own instead of mn_node_types(); they must outlive the network.
MN_API mn_status mn_network_create_with_types(mn_context *ctx, const mn_services *services,
                                              const mn_node_type *const *types, int32_t type_count,
                                              mn_network **network);
MN_API void mn_network_free(mn_network *network);
MN_API mn_context *mn_network_context(const mn_network *network);

// ---- settings ----

/// Frames per second, in [0.001, 100000]; 24 unless told otherwise.
MN_API mn_status mn_network_set_fps(mn_network *network, double fps);
MN_API double mn_network_fps(const mn_network *network);
/// The grid spacing of the whole network, m: parameters whose rows say that they follow it (`of_dx`) have a
/// multiple of it until they are set themselves, and again when they are reset. 0, as at first: none. Warns
/// (by the log, once) where there are nodes and nothing follows.
MN_API mn_status mn_network_set_dx(mn_network *network, double dx);
MN_API double mn_network_dx(const mn_network *network);
/// Whether the parameter follows it now.
MN_API bool mn_network_follows_dx(const mn_network *network, int32_t node, const char *parm);
/// What a scene wants cooked by default: first <= last, both in [-100000, 1000000]. 1 to 1 unless told
/// otherwise.
MN_API mn_status mn_network_set_range(mn_network *network, int32_t first, int32_t last);
MN_API void mn_network_range(const mn_network *network, int32_t *first, int32_t *last);
/// Simulated frames are kept in memory up to this many bytes, shared equally by the simulating nodes; the
/// longest unused go out first. Default 1 GiB.
MN_API void mn_network_set_cache_limit(mn_network *network, int64_t bytes);
/// Nodes get relative paths of file parameters with this in front; "" is the working directory.
MN_API mn_status mn_network_set_folder(mn_network *network, const char *folder);
MN_API const char *mn_network_folder(const mn_network *network);
MN_API const char *mn_network_title(const mn_network *network);
MN_API mn_status mn_network_set_title(mn_network *network, const char *title);
/// The node a scene names as its output; -1 when none.
MN_API int32_t mn_network_output(const mn_network *network);
MN_API mn_status mn_network_set_output(mn_network *network, int32_t node);

// ---- nodes ----

/// Fails with the nearest valid spelling for an unknown type, and for a name that is taken or not
/// [A-Za-z_][A-Za-z0-9_]*.
MN_API mn_status mn_network_add_node(mn_network *network, const char *type, const char *name, int32_t *node);
/// Node numbers stay; the removed one is not used again. Connections from it are cut.
MN_API mn_status mn_network_remove_node(mn_network *network, int32_t node);
/// One past the largest node number; check mn_network_node_type() for NULL (removed).
MN_API int32_t mn_network_node_limit(const mn_network *network);
MN_API const mn_node_type *mn_network_node_type(const mn_network *network, int32_t node);
MN_API const char *mn_network_node_name(const mn_network *network, int32_t node);
/// -1 when there is none.
MN_API int32_t mn_network_find(const mn_network *network, const char *name);
/// The same, or MN_ERROR_NOT_FOUND with the nearest spelling.
MN_API mn_status mn_network_require(const mn_network *network, const char *name, int32_t *node);
/// True when `node` is `source` or gets something from it, directly or not.
MN_API bool mn_network_depends(mn_network *network, int32_t node, int32_t source);
/// source -1 disconnects. Fails when it would make a loop, or a chain of more than 500 nodes. Inputs beyond
/// the table's are allowed when its last one takes many.
MN_API mn_status mn_network_connect(mn_network *network, int32_t node, int32_t input, int32_t source,
                                    int32_t source_output);
/// The table's inputs, or up to the last connected one when that is more.
MN_API int32_t mn_network_input_count(const mn_network *network, int32_t node);
/// *source is -1 when nothing is connected.
MN_API void mn_network_input(const mn_network *network, int32_t node, int32_t input, int32_t *source,
                             int32_t *source_output);

// ---- parameters: by name, checked against the table ----

/// Every kind but string and file; a menu by the index of its item. An animation goes.
MN_API mn_status mn_network_set_number(mn_network *network, int32_t node, const char *parm, int32_t component,
                                       double value);
/// String, file and menu (by token) parameters.
MN_API mn_status mn_network_set_string(mn_network *network, int32_t node, const char *parm,
                                       const char *value);
/// As on the command line: "0.5", "1 2 3", "1,2,3" or "[1, 2, 3]", "sphere", "true". One number stands for
/// all components.
MN_API mn_status mn_network_set_text(mn_network *network, int32_t node, const char *parm, const char *text);
/// "node.parm" as on the command line and in assets; names what is wrong with it, with the nearest spelling.
MN_API mn_status mn_network_find_parm(const mn_network *network, const char *path, int32_t *node,
                                      int32_t *parm);
/// Back to the default, animation gone.
MN_API mn_status mn_network_reset_parm(mn_network *network, int32_t node, const char *parm);

typedef struct mn_key {
    double frame;
    double value[4]; ///< one per component
} mn_key;
/// Linear between keys, constant outside; frames must rise. An int is rounded to the nearest, a toggle holds
/// the key before. Menus, strings, files and start_frame cannot be animated.
MN_API mn_status mn_network_set_keys(mn_network *network, int32_t node, const char *parm, int32_t count,
                                     const mn_key *keys);
/// 0 when it is not animated.
MN_API int32_t mn_network_keys(const mn_network *network, int32_t node, const char *parm,
                               const mn_key **keys);
/// The value at a frame; a file's path as it was set, without the folder. The string lives until it is set
/// again.
MN_API mn_status mn_network_parm(const mn_network *network, int32_t node, const char *parm, double frame,
                                 mn_parm_value *value);

/// The path of a file parameter (by its place in the table) as the node gets it, with the folder in front; ""
/// when it is empty or not a file. Lives until it is set again.
MN_API const char *mn_network_file_path(const mn_network *network, int32_t node, int32_t parm);

// ---- cooking ----

/// The geometry at a frame, borrowed until the next call that changes or cooks the network. Cooks only what
/// is asked for and changed: a node again when its parameters, what it gets from its inputs, or (if it is
/// animated or depends on time) the frame is another than at its last cook. Simulations go on from their
/// cache (see sim.h); between whole frames they give the one before. On failure the message is in the context
/// and on the node that failed.
MN_API mn_status mn_network_cook(mn_network *network, int32_t node, int32_t output, double frame,
                                 const mn_geo **geo);
/// Forgets what the node has cooked or simulated, so that it and what depends on it start again: for a
/// simulation's reset button, or a file that has changed on disk.
MN_API mn_status mn_network_reset_node(mn_network *network, int32_t node);
/// How often this node has really been cooked or advanced: for tests of laziness.
MN_API int64_t mn_network_cook_count(const mn_network *network, int32_t node);

/// What happened to this node in its last cook: "" when nothing.
MN_API const char *mn_network_node_error(const mn_network *network, int32_t node);
MN_API int32_t mn_network_warning_count(const mn_network *network, int32_t node);
MN_API const char *mn_network_warning(const mn_network *network, int32_t node, int32_t index);
/// What a simulating node said about the frame it gave last, with `total` seconds among its phases; NULL for
/// others and before the first.
MN_API const mn_report *mn_network_report(const mn_network *network, int32_t node);
/// Lets the node say what doctor should know, with its inputs at a frame. Nothing when it has nothing to say.
MN_API mn_status mn_network_doctor(mn_network *network, int32_t node, double frame, mn_doctor *doctor);

// ---- checkpoints: the state of simulating nodes on disk ----

/// Writes NODE.checkpoint for every simulating node above `node` (and itself) into `folder`, each whole or
/// not at all, at the latest frame that all of them have reached. Works after a cancelled cook, and asks
/// nothing of the cancel hook. Nodes that have not simulated anything are left out.
MN_API mn_status mn_network_save_checkpoint(mn_network *network, int32_t node, const char *folder);
/// Loads what save wrote. *frame is the last frame that all of them hold, to go on after, or INT32_MIN when a
/// file is missing or there is nothing to simulate. A file that is damaged, or of another node type, build,
/// parameters or inputs, is an error with a sentence; nothing is loaded then, and cooking starts from the
/// beginning. Going on at any frame gives the right result; after *frame it is fast.
MN_API mn_status mn_network_load_checkpoint(mn_network *network, int32_t node, const char *folder,
                                            int32_t *frame);
/// Every simulating node above `node` (and itself) goes on from the state that the node of the same number in
/// `source`, a network of the same nodes with other parameters, holds at exactly `frame`. All or nothing.
MN_API mn_status mn_network_branch(mn_network *network, mn_network *source, int32_t node, int32_t frame);

// ---- camera: where a scene wants to be seen from; nothing is cooked differently for it (scene_camera.c)
// ----

typedef struct mn_camera {
    mn_vec3 position; ///< m
    mn_vec3 target;   ///< m, what it looks at; y is up in the picture
    double fov;       ///< degrees over the height of the picture, 1 to 170
} mn_camera;

/// NULL when the scene has none.
MN_API const mn_camera *mn_network_camera(const mn_network *network);
/// NULL: none.
MN_API mn_status mn_network_set_camera(mn_network *network, const mn_camera *camera);

// ---- render: how a scene wants to be photographed; nothing is cooked differently for it (scene_render.c)
// ----

enum { MN_RENDER_STILLS = 8, MN_RENDER_LOOKS = 32, MN_RENDER_NAME = 129 };

typedef struct mn_render_look {
    char node[MN_RENDER_NAME];
    char look[MN_RENDER_NAME]; ///< a material preset, or one of the renderer's own for solids
} mn_render_look;

typedef struct mn_render {
    char studio[MN_RENDER_NAME]; ///< light and what stands around: bright, table or dark
    int32_t size[2];             ///< pixels, of stills
    int32_t samples;             ///< per pixel, of stills
    double shutter;              ///< of a frame, 0 to 1: motion blur
    double aperture; ///< of the lens over its distance to the target, 0 to 1; 0: everything is sharp
    int32_t still_count, stills[MN_RENDER_STILLS]; ///< frames
    int32_t look_count;
    mn_render_look looks[MN_RENDER_LOOKS];
} mn_render;

MN_API mn_render mn_render_default(void);
/// NULL when the scene says nothing.
MN_API const mn_render *mn_network_render(const mn_network *network);
/// NULL: nothing. Nodes with a look must be there.
MN_API mn_status mn_network_set_render(mn_network *network, const mn_render *render);

// ---- digital assets: what a scene shows of itself as one node ----

typedef struct mn_asset_parm {
    int32_t node;
    int32_t parm;      ///< its place in the node type's table
    const char *name;  ///< in the asset; parameters of one type under one name are driven together
    const char *label; ///< for artists
} mn_asset_parm;

typedef struct mn_asset {
    const char *name;  ///< lower_snake
    const char *label; ///< for artists
    int32_t parm_count;
    const mn_asset_parm *parms; ///< promoted parameters, in order
} mn_asset;

/// NULL when the scene is no asset. Removing a node takes its promoted parameters along.
MN_API const mn_asset *mn_network_asset(const mn_network *network);
/// Copies it; a name or label that is NULL is taken from the parameter. NULL: no asset.
MN_API mn_status mn_network_set_asset(mn_network *network, const mn_asset *asset);

// ---- scenes (JSON, DESIGN section 5) ----

/// Relative paths in the scene start at the scene's folder. Everything wrong with the scene is
/// MN_ERROR_SCENE and a sentence that begins with "FILE:LINE: ".
MN_API mn_status mn_scene_read(mn_context *ctx, const mn_services *services, const char *path,
                               mn_network **network);
/// `text` need not end with a zero; `name` stands in messages.
MN_API mn_status mn_scene_read_memory(mn_context *ctx, const mn_services *services, const char *text,
                                      size_t size, const char *name, mn_network **network);
/// The same into an empty network, which may have node types of its own. Of no use after a failure but to be
/// freed.
MN_API mn_status mn_scene_read_into(mn_network *network, const char *text, size_t size, const char *name);
/// Writes what was read or built, defaults left out; reading it back gives the same network.
MN_API mn_status mn_scene_write(const mn_network *network, const char *path);
/// The same as a string, to be given back with mn_scene_free_text.
MN_API mn_status mn_scene_write_text(const mn_network *network, char **text);
MN_API void mn_scene_free_text(mn_context *ctx, char *text);

// ---- node tables ----

/// All node tables as JSON: what `meniscus nodes --json` prints; `only` NULL or one type's name. Given back
/// with mn_scene_free_text.
MN_API mn_status mn_node_types_json(mn_context *ctx, const char *only, char **text);
/// The same of any tables.
MN_API mn_status mn_node_table_json(mn_context *ctx, const mn_node_type *const *types, int32_t count,
                                    char **text);
/// The JSON Schema of scenes with these tables, for editors; `types` NULL: all of this build.
MN_API mn_status mn_scene_schema_json(mn_context *ctx, const mn_node_type *const *types, int32_t count,
                                      char **text);
/// MN_ERROR_NOT_FOUND with the nearest spelling unless there is a type of that name.
MN_API mn_status mn_node_type_require(mn_context *ctx, const char *name, const mn_node_type **type);
/// Fails with what a node's table lacks: for the test that walks every table.
MN_API mn_status mn_node_type_check(mn_context *ctx, const mn_node_type *type);

#ifdef __cplusplus
}
#endif
#endif
