// SPDX-License-Identifier: Apache-2.0
//
// Why a node need not be cooked again: hashes of everything that its output follows from.
//
//   definition = H(type, parameters with their keys, fps)
//   recipe     = H(definition, recipe of every input)             what a simulation is
//   edition    = H(recipe so far, resets in this process)
//   key(f)     = H(definition, resets, f if the node depends on it, key(f) of every input)      cook nodes
//              = H(edition, the frame that is shown at f)                                       simulations
//
// A node whose key is that of its last cook gives what it gave then. An animated node's key holds its frame
// even where its values stand still, since a node may look at its parameters at other frames (mn_cook_at).
#include <math.h>

#include "meniscus/stream.h"
#include "plugin/host/network/network_state.h"
#include "plugin/host/network/parms.h"

static uint64_t hash_definition(const mn_network_node *node)
{
    const mn_node_type *type = node->type;
    uint64_t hash = mn_hash_string(0, type->name);
    hash = mn_hash_f64(hash, node->network->fps);
    for (int32_t i = 0; i < type->parm_count; i++) {
        const mn_parm_def *def = &type->parms[i];
        const mn_parm_state *state = &node->parms[i];
        hash = mn_hash_string(hash, def->name);
        hash = mn_hash_u64(hash, (uint64_t)state->keys.count);
        if (mn_parm_is_text(def)) hash = mn_hash_string(hash, state->path ? state->path : state->string);
        // A value that follows the network's dx is the same as one that was set to it.
        if (mn_network_is_following(node, i))
            hash = mn_hash_f64(hash, def->of_dx * node->network->dx);
        else
            for (int32_t k = 0; k < def->size && state->keys.count == 0; k++)
                hash = mn_hash_f64(hash, state->number[k]);
        for (int64_t j = 0; j < state->keys.count; j++) {
            hash = mn_hash_f64(hash, state->keys.data[j].frame);
            for (int32_t k = 0; k < def->size; k++) hash = mn_hash_f64(hash, state->keys.data[j].value[k]);
        }
    }
    return hash;
}

const mn_node_facts *mn_network_facts(mn_network_node *node)
{
    mn_node_facts *facts = &node->facts;
    if (facts->revision == node->network->revision) return facts;
    facts->definition = hash_definition(node);
    facts->has_sim = node->sim != NULL;
    uint64_t recipe = facts->definition, edition = mn_hash_u64(facts->definition, node->epoch);
    for (int64_t i = 0; i < node->links.count; i++) {
        const mn_link link = node->links.data[i];
        mn_network_node *source = mn_network_at(node->network, link.source);
        if (!source) {
            recipe = mn_hash_u64(recipe, 0);
            edition = mn_hash_u64(edition, 0);
            continue;
        }
        const mn_node_facts *above = mn_network_facts(source);
        recipe = mn_hash_u64(mn_hash_u64(recipe, above->recipe), (uint64_t)link.output + 1);
        edition = mn_hash_u64(mn_hash_u64(edition, above->edition), (uint64_t)link.output + 1);
        facts->has_sim |= above->has_sim;
    }
    facts->recipe = recipe;
    facts->edition = edition;
    facts->revision = node->network->revision;
    return facts;
}

static bool depends_on_time(mn_network_node *node, double frame)
{
    if (mn_network_is_animated(node)) return true;
    if (!node->type->is_time_dependent) return node->type->time_dependent;
    mn_network_evaluate_all(node, frame);
    const mn_cook cook = {
        .ctx = node->network->ctx,
        .services = node->network->services,
        .type = node->type,
        .node_name = node->name,
        .parms = node->values,
        .frame = frame,
        .fps = node->network->fps,
        .warn = mn_network_warn,
        .warn_user = node,
    };
    return node->type->is_time_dependent(&cook);
}

static uint64_t sim_key(mn_network_node *node, double frame)
{
    mn_network_evaluate_all(node, frame);
    const double start = mn_parm_number(node->type, node->values, "start_frame", 1);
    return mn_hash_f64(mn_network_facts(node)->edition, fmax(floor(frame), start));
}

static uint64_t cook_key(mn_network_node *node, double frame)
{
    uint64_t hash = mn_hash_u64(mn_network_facts(node)->definition, node->epoch);
    if (depends_on_time(node, frame)) hash = mn_hash_f64(hash, frame);
    for (int64_t i = 0; i < node->links.count; i++) {
        const mn_link link = node->links.data[i];
        mn_network_node *source = mn_network_at(node->network, link.source);
        hash = source
                   ? mn_hash_u64(mn_hash_u64(hash, mn_network_key(source, frame)), (uint64_t)link.output + 1)
                   : mn_hash_u64(hash, 0);
    }
    return hash;
}

uint64_t mn_network_key(mn_network_node *node, double frame)
{
    mn_frame_memo *memo = &node->key;
    if (memo->revision == node->network->revision && memo->frame == frame) return memo->value;
    memo->value = node->sim ? sim_key(node, frame) : cook_key(node, frame);
    memo->revision = node->network->revision;
    memo->frame = frame;
    return memo->value;
}
