// SPDX-License-Identifier: Apache-2.0
//
// A network of nodes: made in code or read from a scene, cooked frame by frame. This is the whole interface
// that the command, the Python module and the Blender add-on use. A network is used by one thread at a time.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_H
#define MENISCUS_PLUGIN_HOST_NETWORK_H

#include "nodes/node.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_network mn_network;

/// The services of this build: plugin/io and plugin/vdb.
const mn_services *mn_host_services(void);

/// `services` NULL: mn_host_services(). Both must outlive the network.
mn_status mn_network_create(mn_context *ctx, const mn_services *services, mn_network **network);
void mn_network_free(mn_network *network);
mn_context *mn_network_context(const mn_network *network);

// ---- settings ----

void mn_network_set_fps(mn_network *network, double fps);
double mn_network_fps(const mn_network *network);
void mn_network_set_range(mn_network *network, int32_t first, int32_t last);
void mn_network_range(const mn_network *network, int32_t *first, int32_t *last);
/// Simulated frames are kept in memory up to this many bytes, oldest out first. Default 1 GiB.
void mn_network_set_cache_limit(mn_network *network, int64_t bytes);
/// Relative paths in file parameters start here; "" is the working directory.
mn_status mn_network_set_folder(mn_network *network, const char *folder);
const char *mn_network_title(const mn_network *network);
mn_status mn_network_set_title(mn_network *network, const char *title);
/// The node a scene names as its output; -1 when none.
int32_t mn_network_output(const mn_network *network);
mn_status mn_network_set_output(mn_network *network, int32_t node);

// ---- nodes ----

/// Fails with the nearest valid spelling for an unknown type, and for a name that is taken or not
/// [A-Za-z_][A-Za-z0-9_]*.
mn_status mn_network_add_node(mn_network *network, const char *type, const char *name, int32_t *node);
/// Node numbers stay; the removed one is not used again. Connections from it are cut.
mn_status mn_network_remove_node(mn_network *network, int32_t node);
/// One past the largest node number; check mn_network_node_type() for NULL (removed).
int32_t mn_network_node_limit(const mn_network *network);
const mn_node_type *mn_network_node_type(const mn_network *network, int32_t node);
const char *mn_network_node_name(const mn_network *network, int32_t node);
/// -1 when there is none.
int32_t mn_network_find(const mn_network *network, const char *name);
/// source -1 disconnects. Fails when it would make a loop.
mn_status mn_network_connect(mn_network *network, int32_t node, int32_t input, int32_t source,
                             int32_t source_output);
int32_t mn_network_input_count(const mn_network *network, int32_t node);
void mn_network_input(const mn_network *network, int32_t node, int32_t input, int32_t *source,
                      int32_t *source_output);

// ---- parameters: by name, checked against the table ----

mn_status mn_network_set_number(mn_network *network, int32_t node, const char *parm, int32_t component,
                                double value);
/// String, file and menu (by token) parameters.
mn_status mn_network_set_string(mn_network *network, int32_t node, const char *parm, const char *value);
/// As on the command line: "0.5", "1 2 3" or "1,2,3", "sphere", "true".
mn_status mn_network_set_text(mn_network *network, int32_t node, const char *parm, const char *text);
/// Back to the default, animation gone.
mn_status mn_network_reset_parm(mn_network *network, int32_t node, const char *parm);

typedef struct mn_key {
    double frame;
    double value[4]; ///< one per component
} mn_key;
/// Linear between keys, constant outside. Frames must rise. Numeric parameters only.
mn_status mn_network_set_keys(mn_network *network, int32_t node, const char *parm, int32_t count,
                              const mn_key *keys);
/// 0 when it is not animated.
int32_t mn_network_keys(const mn_network *network, int32_t node, const char *parm, const mn_key **keys);
/// The value at a frame.
mn_status mn_network_parm(const mn_network *network, int32_t node, const char *parm, double frame,
                          mn_parm_value *value);

// ---- cooking ----

/// The geometry at a frame, borrowed until the next call that changes or cooks the network. Cooks only what
/// is asked for and changed; simulations go on from their cache (see sim.h). On failure the message is in the
/// context and on the node that failed.
mn_status mn_network_cook(mn_network *network, int32_t node, int32_t output, double frame,
                          const mn_geo **geo);
/// Forgets the cached frames of a simulating node.
mn_status mn_network_reset_node(mn_network *network, int32_t node);
/// How often this node has really been cooked or advanced: for tests of laziness.
int64_t mn_network_cook_count(const mn_network *network, int32_t node);

/// What happened to this node in its last cook: "" when nothing.
const char *mn_network_node_error(const mn_network *network, int32_t node);
int32_t mn_network_warning_count(const mn_network *network, int32_t node);
const char *mn_network_warning(const mn_network *network, int32_t node, int32_t index);
/// The report of the last frame a simulating node advanced to; NULL for others.
const mn_report *mn_network_report(const mn_network *network, int32_t node);

// ---- checkpoints: the state of simulating nodes on disk ----

/// Writes NODE.checkpoint for every simulating node above `node` (and itself) into `folder`, each whole or
/// not at all.
mn_status mn_network_save_checkpoint(mn_network *network, int32_t node, const char *folder);
/// Loads what is there and fits (same node type, parameters, inputs and build); *frame is the frame to go on
/// after, or the smallest int when there is nothing to resume.
mn_status mn_network_load_checkpoint(mn_network *network, int32_t node, const char *folder, int32_t *frame);

// ---- scenes (JSON, DESIGN section 5) ----

mn_status mn_scene_read(mn_context *ctx, const mn_services *services, const char *path, mn_network **network);
/// `text` need not end with a zero; `name` stands in messages.
mn_status mn_scene_read_memory(mn_context *ctx, const mn_services *services, const char *text, size_t size,
                               const char *name, mn_network **network);
/// Writes what was read or built, defaults left out; reading it back gives the same network.
mn_status mn_scene_write(const mn_network *network, const char *path);
/// The same as a string, to be given back with mn_scene_free_text.
mn_status mn_scene_write_text(const mn_network *network, char **text);
void mn_scene_free_text(mn_context *ctx, char *text);
/// All node tables as JSON: what `meniscus nodes --json` prints. Given back with mn_scene_free_text.
mn_status mn_node_types_json(mn_context *ctx, const char *only, char **text);

#ifdef __cplusplus
}
#endif
#endif
