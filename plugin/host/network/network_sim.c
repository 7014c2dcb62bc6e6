// SPDX-License-Identifier: Apache-2.0
//
// Simulating nodes of a network: what the driver (sim.h) is told about them, and their checkpoints.
//
// A network knows everything above a node, so its recipe is whole. The stamp of the inputs is only for
// checkpoints, where it notices files that have changed on disk between two runs, and is taken when one is
// written: it is the contents of what reaches the node without passing through another simulation. What a
// simulation gives follows from its own recipe and stamp, which its own checkpoint carries; asking for its
// contents could mean to simulate it.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meniscus/stream.h"
#include "plugin/host/network/network_state.h"
#include "plugin/host/network/text.h"

// ---- stamps ----

static mn_status stamp_inputs(mn_network_node *node, double frame, uint64_t *stamp);

static mn_status stamp_output(mn_network_node *node, int32_t output, double frame, uint64_t *stamp)
{
    *stamp = 0;
    if (node->sim) return MN_OK;
    if (mn_network_facts(node)->has_sim) return stamp_inputs(node, frame, stamp);
    mn_cooked *cooked;
    MN_TRY(mn_network_cook_node(node, frame, &cooked));
    *stamp = mn_cooked_hash(cooked, output);
    mn_cooked_release(cooked);
    return MN_OK;
}

static mn_status stamp_inputs(mn_network_node *node, double frame, uint64_t *stamp)
{
    mn_frame_memo *memo = &node->stamp;
    const uint64_t revision = node->network->revision;
    if (memo->revision != revision || memo->frame != frame) {
        uint64_t hash = 0;
        for (int64_t i = 0; i < node->links.count; i++) {
            const mn_link link = node->links.data[i];
            mn_network_node *source = mn_network_at(node->network, link.source);
            uint64_t one = 0;
            if (source) MN_TRY(stamp_output(source, link.output, frame, &one));
            hash = mn_hash_u64(hash, one);
        }
        const mn_frame_memo made = {revision, frame, hash};
        *memo = made;
    }
    *stamp = memo->value;
    return MN_OK;
}

// ---- what the driver asks ----

static mn_status sample(void *user, int32_t frame, mn_sim_want want, mn_sim_sample *taken)
{
    mn_network_node *node = user;
    if (want == MN_SIM_INPUTS) {
        if (!node->sim_worked) mn_network_clear_messages(node);
        node->sim_worked = true;
        MN_TRY(mn_network_gather(node, frame));
        taken->inputs = node->inputs.data;
        taken->input_count = (int32_t)node->inputs.count;
        taken->input_keys = node->input_keys.data;
    }
    if (want == MN_SIM_STAMP) MN_TRY(stamp_inputs(node, frame, &taken->stamp));
    mn_network_evaluate_all(node, frame);
    taken->parms = node->values;
    return MN_OK;
}

// Outputs that a node of the network takes, or that were asked for by number.
static uint64_t outputs_read(mn_network_node *node)
{
    const mn_network *network = node->network;
    if (node->read_revision != network->revision) {
        node->read = 0;
        for (int64_t i = 0; i < network->nodes.count; i++) {
            const mn_network_node *reader = network->nodes.data[i];
            for (int64_t k = 0; reader && k < reader->links.count; k++) {
                const mn_link link = reader->links.data[k];
                if (link.source == node->number && link.output < 64) node->read |= (uint64_t)1 << link.output;
            }
        }
        node->read_revision = network->revision;
    }
    return node->read | node->asked;
}

mn_sim_host mn_network_sim_host(mn_network_node *node)
{
    const mn_sim_host host = {
        .user = node,
        .node_name = node->name,
        .services = node->network->services,
        .fps = node->network->fps,
        .recipe = mn_network_facts(node)->edition,
        .recipe_is_whole = true,
        .outputs = outputs_read(node),
        .sample = sample,
        .warn = mn_network_warn,
        .parm_at = mn_network_parm_at,
    };
    return host;
}

// The context's sentence names the node that failed; it may be one above.
static bool is_mine(const mn_network_node *node)
{
    char start[192];
    const int length = snprintf(start, sizeof start, "%s '%s'", node->type->name, node->name);
    return length > 0 && strncmp(mn_context_message(node->network->ctx), start, (size_t)length) == 0;
}

mn_status mn_network_cook_sim(mn_network_node *node, double frame, mn_cooked **cooked)
{
    const mn_sim_host host = mn_network_sim_host(node);
    node->sim_worked = false;
    const mn_status status = mn_sim_cook(node->sim, &host, frame, cooked);
    mn_network_let_go(node);
    if (status == MN_OK) {
        node->has_report = true;
        mn_text_free(node->network->ctx, &node->error);
    } else if (status != MN_ERROR_CANCELLED && is_mine(node)) {
        mn_network_note_error(node);
    }
    return status;
}

void mn_network_share_cache(mn_network *network)
{
    int64_t sims = 0;
    for (int64_t i = 0; i < network->nodes.count; i++)
        if (network->nodes.data[i] && network->nodes.data[i]->sim) sims++;
    for (int64_t i = 0; i < network->nodes.count; i++)
        if (network->nodes.data[i] && network->nodes.data[i]->sim)
            mn_sim_set_cache_limit(network->nodes.data[i]->sim, network->cache_limit / sims);
}

const mn_report *mn_network_report(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    return found && found->has_report ? mn_sim_report(found->sim) : NULL;
}

// ---- checkpoints ----

// FOLDER/NODE.checkpoint; to be freed with mn_text_free().
static mn_status checkpoint_path(const mn_network_node *node, const char *folder, char **path)
{
    if (!*folder) folder = ".";
    const size_t size = strlen(folder) + strlen(node->name) + sizeof "/.checkpoint";
    *path = mn_allocate(node->network->ctx, size);
    if (!*path) return MN_ERROR_MEMORY;
    snprintf(*path, size, "%s/%s.checkpoint", folder, node->name);
    return MN_OK;
}

// The next simulating node after `after` that `node` is or gets something from; NULL when there is none.
static mn_network_node *next_sim(mn_network *network, int32_t node, int32_t after)
{
    for (int32_t i = after + 1; i < network->nodes.count; i++) {
        mn_network_node *found = network->nodes.data[i];
        if (found && found->sim && mn_network_depends(network, node, i)) return found;
    }
    return NULL;
}

static mn_status save_one(mn_network_node *node, const char *folder, int32_t frame)
{
    const mn_sim_host host = mn_network_sim_host(node);
    char *path = NULL;
    MN_TRY(mn_sim_stamp_snapshot(node->sim, &host, frame));
    MN_TRY(checkpoint_path(node, folder, &path));
    const mn_status status = mn_sim_write_checkpoint(node->sim, mn_network_facts(node)->recipe, frame, path);
    mn_text_free(node->network->ctx, &path);
    return status;
}

mn_status mn_network_save_checkpoint(mn_network *network, int32_t node, const char *folder)
{
    mn_network_node *sim;
    MN_TRY(mn_network_get(network, node, &sim));
    int32_t common = INT32_MAX;
    for (int32_t at = -1; (sim = next_sim(network, node, at)); at = sim->number) {
        const int32_t newest = mn_sim_snapshot_frame(sim->sim, INT32_MAX);
        if (newest != INT32_MIN && newest < common) common = newest;
    }
    for (int32_t at = -1; (sim = next_sim(network, node, at)); at = sim->number) {
        int32_t frame = mn_sim_snapshot_frame(sim->sim, common);
        // One that is ahead of the others and has let go of their frame serves them as well: they go on after
        // theirs with what it gives at its own.
        if (frame != common) frame = mn_sim_snapshot_frame(sim->sim, INT32_MAX);
        if (frame == INT32_MIN) continue;
        MN_TRY(save_one(sim, folder, frame));
    }
    return MN_OK;
}

static mn_status load_one(mn_network_node *node, const char *folder, int32_t *frame)
{
    char *path = NULL;
    MN_TRY(checkpoint_path(node, folder, &path));
    const mn_sim_host host = mn_network_sim_host(node);
    const mn_status status =
        mn_sim_read_checkpoint(node->sim, &host, mn_network_facts(node)->recipe, path, frame);
    mn_network_let_go(node);
    mn_text_free(node->network->ctx, &path);
    return status;
}

mn_status mn_network_load_checkpoint(mn_network *network, int32_t node, const char *folder, int32_t *frame)
{
    *frame = INT32_MIN;
    mn_network_node *sim;
    MN_TRY(mn_network_get(network, node, &sim));
    int32_t common = INT32_MAX;
    mn_status status = MN_OK;
    for (int32_t at = -1; status == MN_OK && (sim = next_sim(network, node, at)); at = sim->number) {
        int32_t loaded = INT32_MIN;
        status = load_one(sim, folder, &loaded);
        if (loaded < common) common = loaded;
    }
    if (status == MN_OK) {
        if (common != INT32_MAX) *frame = common;
        return MN_OK;
    }
    // All or nothing: a part of them would only make the others simulate from the beginning.
    for (int32_t at = -1; (sim = next_sim(network, node, at)); at = sim->number) mn_sim_reset(sim->sim);
    return status == MN_ERROR_NOT_FOUND ? MN_OK : status;
}

mn_status mn_network_branch(mn_network *network, mn_network *source, int32_t node, int32_t frame)
{
    mn_network_node *sim;
    mn_status status = mn_network_get(network, node, &sim);
    for (int32_t at = -1; status == MN_OK && (sim = next_sim(network, node, at)); at = sim->number) {
        const mn_network_node *from = mn_network_at(source, sim->number);
        const mn_sim_host host = mn_network_sim_host(sim);
        if (!from || !from->sim)
            status = mn_fail(network->ctx, MN_ERROR_NOT_FOUND, "There is no simulation '%s' to branch from.",
                             sim->name);
        else
            status = mn_sim_branch(sim->sim, &host, from->sim, frame);
        mn_network_let_go(sim);
    }
    if (status == MN_OK) return MN_OK;
    for (int32_t at = -1; (sim = next_sim(network, node, at)); at = sim->number) mn_sim_reset(sim->sim);
    return status;
}
