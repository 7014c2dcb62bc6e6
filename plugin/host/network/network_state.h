// SPDX-License-Identifier: Apache-2.0
//
// What a network holds; for the network_*.c and scene_*.c files only.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_NETWORK_STATE_H
#define MENISCUS_PLUGIN_HOST_NETWORK_NETWORK_STATE_H

#include "meniscus/array.h"
#include "plugin/host/network/cooked.h"
#include "plugin/host/network/network.h"
#include "plugin/host/sim/sim.h"

// Bounds that no artist meets, so that a hostile scene ends in a sentence instead of a full stack or an hour.
enum { MN_NETWORK_MAX_NODES = 10000, MN_NETWORK_MAX_DEPTH = 500, MN_NETWORK_MAX_INPUTS = 10000 };
enum { MN_NETWORK_BUCKETS = 1024 };

typedef struct mn_link {
    int32_t source; ///< -1: nothing connected
    int32_t output;
} mn_link;

typedef struct mn_parm_state {
    double number[4];
    char *string; ///< string and file only
    char *path;   ///< file only: with the network's folder in front
    MN_ARRAY(mn_key) keys;
    bool is_set; ///< somebody gave it a value: it does not follow the network's dx
} mn_parm_state;

/// Numbers that follow from the definitions above a node; valid while `revision` is the network's.
typedef struct mn_node_facts {
    uint64_t revision;
    uint64_t definition; ///< of this node alone: type, parameters with their keys, frames per second
    uint64_t recipe;     ///< of this node and all above it
    uint64_t edition;    ///< the same with what was reset in this process
    bool has_sim;        ///< it or something above it simulates
} mn_node_facts;

/// A number that belongs to one frame of one revision.
typedef struct mn_frame_memo {
    uint64_t revision;
    double frame;
    uint64_t value;
} mn_frame_memo;

typedef struct mn_network_node {
    mn_network *network;
    int32_t number;
    const mn_node_type *type;
    char *name;
    int32_t next_in_bucket; ///< the next node whose name has the same hash, or -1
    mn_parm_state *parms;
    MN_ARRAY(mn_link) links;

    uint64_t mark; ///< network->mark when a walk has been here
    mn_node_facts facts;
    mn_frame_memo key, stamp;
    uint64_t epoch; ///< counts resets

    mn_parm_value *values; ///< parameters at the frame that is being cooked
    MN_ARRAY(mn_cooked *) held;
    MN_ARRAY(const mn_geo *) inputs; ///< of the cook, borrowed from `held`
    MN_ARRAY(uint64_t) input_keys;   ///< of each input: equal keys mean equal contents

    mn_cooked *cooked; ///< cook nodes: the last result and what it was made from
    uint64_t cooked_key;
    int64_t cook_count;
    mn_sim *sim;    ///< simulating nodes
    uint64_t asked; ///< bits of the outputs that were cooked by number
    uint64_t read;  ///< bits of the outputs that other nodes take, while read_revision is the network's
    uint64_t read_revision;
    bool sim_worked; ///< since the cook of this node began
    bool has_report;

    char *error;
    MN_ARRAY(char *) warnings;
} mn_network_node;

struct mn_network {
    mn_context *ctx;
    const mn_services *services;
    const mn_node_type *const *types;
    int32_t type_count;
    double fps;
    double dx; ///< that lengths of the grid follow until they are set; 0: none
    bool warned_of_dx;
    int32_t first, last, output;
    int64_t cache_limit;
    char *folder, *title;
    MN_ARRAY(mn_network_node *) nodes; ///< NULL where one was removed
    int32_t buckets[MN_NETWORK_BUCKETS];
    uint64_t revision; ///< raised by every change
    uint64_t mark;     ///< raised by every walk
    mn_cooked *result; ///< what the last mn_network_cook lent out
    bool has_camera;
    mn_camera camera;
    bool has_render;
    mn_render render;
    mn_asset asset; ///< a copy of its own; name NULL when there is none
    int32_t asset_capacity;
};

// ---- network.c ----

/// NULL when the number is not in use.
mn_network_node *mn_network_at(const mn_network *network, int32_t node);
/// The same, with a sentence.
mn_status mn_network_get(const mn_network *network, int32_t number, mn_network_node **node);
/// [A-Za-z_][A-Za-z0-9_]*, at most 128 characters.
bool mn_network_is_name(const char *name);
/// MN_ERROR_NOT_FOUND with the nearest spelling.
mn_status mn_network_find_type(const mn_network *network, const char *name, const mn_node_type **type);

// ---- network_links.c ----

/// Checks and sets a connection, loops not looked at.
mn_status mn_network_link(mn_network *network, int32_t node, int32_t input, int32_t source,
                          int32_t source_output);
/// Fails when the connections loop or are too deep; *culprit is a node on the way.
mn_status mn_network_check_order(const mn_network *network, int32_t *culprit);

// ---- network_parms.c ----

mn_status mn_network_init_parms(mn_network_node *node);
void mn_network_free_parms(mn_network_node *node);
/// The folder has changed.
mn_status mn_network_resolve_paths(mn_network_node *node, const char *folder);
/// A parameter by its place in the table, at a frame.
void mn_network_evaluate(const mn_network_node *node, int32_t parm, double frame, mn_parm_value *value);
/// All of them into node->values.
void mn_network_evaluate_all(mn_network_node *node, double frame);
/// Whether its value is a multiple of the network's dx now.
bool mn_network_is_following(const mn_network_node *node, int32_t parm);
/// Once, where dx is set and nothing follows it. In network.c; a scene calls it when its nodes are there.
void mn_network_warn_of_dx(mn_network *network);
bool mn_network_is_animated(const mn_network_node *node);
bool mn_network_is_default(const mn_network_node *node, int32_t parm);

// ---- network_facts.c ----

const mn_node_facts *mn_network_facts(mn_network_node *node);
/// Equal keys mean equal outputs.
uint64_t mn_network_key(mn_network_node *node, double frame);

// ---- network_cook.c ----

/// One reference to what the node gives at a frame.
mn_status mn_network_cook_node(mn_network_node *node, double frame, mn_cooked **cooked);
/// What reaches the node at a frame, in node->held and node->inputs, until mn_network_let_go().
mn_status mn_network_gather(mn_network_node *node, double frame);
void mn_network_let_go(mn_network_node *node);
void mn_network_warn(void *node, const char *sentence);
void mn_network_parm_at(void *node, int32_t parm, double frame, mn_parm_value *value);
void mn_network_clear_messages(mn_network_node *node);
/// Keeps the context's sentence as the node's error.
void mn_network_note_error(mn_network_node *node);

// ---- network_sim.c ----

mn_sim_host mn_network_sim_host(mn_network_node *node);
mn_status mn_network_cook_sim(mn_network_node *node, double frame, mn_cooked **cooked);
/// Shares the cache limit out to the simulating nodes.
void mn_network_share_cache(mn_network *network);

// ---- network_asset.c ----

void mn_network_free_asset(mn_network *network);
/// A node goes: its promoted parameters too.
void mn_network_drop_from_asset(mn_network *network, int32_t node);

#endif
