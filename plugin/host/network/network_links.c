// SPDX-License-Identifier: Apache-2.0
//
// Connections, and that they never loop: every node gets a depth, one more than the deepest above it, by
// taking away nodes without inputs until none is left (Kahn's order). What cannot be taken away lies on or
// below a loop.
#include <string.h>

#include "plugin/host/network/network_state.h"

static bool takes_many(const mn_node_type *type)
{
    return type->input_count > 0 && type->inputs[type->input_count - 1].many;
}

int32_t mn_network_input_count(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    if (!found) return 0;
    int64_t count = found->links.count;
    while (count > 0 && found->links.data[count - 1].source < 0) count--;
    return count > found->type->input_count ? (int32_t)count : found->type->input_count;
}

void mn_network_input(const mn_network *network, int32_t node, int32_t input, int32_t *source,
                      int32_t *source_output)
{
    const mn_network_node *found = mn_network_at(network, node);
    mn_link link = {-1, 0};
    if (found && input >= 0 && input < found->links.count) link = found->links.data[input];
    *source = link.source;
    if (source_output) *source_output = link.output;
}

static mn_status check_input(const mn_network_node *node, int32_t input)
{
    const mn_node_type *type = node->type;
    mn_context *ctx = node->network->ctx;
    if (input < 0 || (input >= type->input_count && !takes_many(type)))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s' has %d input%s; there is no input %d.", type->name,
                       node->name, (int)type->input_count, type->input_count == 1 ? "" : "s", (int)input + 1);
    if (input >= MN_NETWORK_MAX_INPUTS)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s' cannot have more than %d inputs.", type->name,
                       node->name, MN_NETWORK_MAX_INPUTS);
    return MN_OK;
}

mn_status mn_network_link(mn_network *network, int32_t node, int32_t input, int32_t source,
                          int32_t source_output)
{
    mn_network_node *target, *from = NULL;
    MN_TRY(mn_network_get(network, node, &target));
    MN_TRY(check_input(target, input));
    if (source != -1) {
        MN_TRY(mn_network_get(network, source, &from));
        if (source_output < 0 || source_output >= from->type->output_count)
            return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "%s '%s' has %d output%s; there is no output %d.",
                           from->type->name, from->name, (int)from->type->output_count,
                           from->type->output_count == 1 ? "" : "s", (int)source_output);
    } else if (input >= target->links.count) {
        return MN_OK;
    }
    const mn_link none = {-1, 0}, link = {source, from ? source_output : 0};
    MN_TRY(mn_array_reserve(network->ctx, &target->links, (int64_t)input + 1));
    while (target->links.count <= input) target->links.data[target->links.count++] = none;
    target->links.data[input] = link;
    network->revision++;
    return MN_OK;
}

// ---- order ----

typedef struct order {
    int32_t *waiting; // inputs of each node that are not placed yet
    int32_t *depth;
    int32_t *first, *next; // who reads a node: lists over all links
    int32_t *reader;
    int32_t *ready; // placed nodes, in order
    int32_t *memory;
    size_t bytes;
} order;

static int64_t link_count(const mn_network *network)
{
    int64_t count = 0;
    for (int64_t i = 0; i < network->nodes.count; i++)
        if (network->nodes.data[i]) count += network->nodes.data[i]->links.count;
    return count;
}

static mn_status make_order(const mn_network *network, order *made)
{
    const int64_t nodes = network->nodes.count, links = link_count(network);
    made->bytes = mn_bytes(4 * nodes + 2 * links, sizeof *made->memory);
    made->memory = mn_allocate_zero(network->ctx, made->bytes);
    if (!made->memory) return MN_ERROR_MEMORY;
    made->waiting = made->memory;
    made->depth = made->waiting + nodes;
    made->first = made->depth + nodes;
    made->ready = made->first + nodes;
    made->next = made->ready + nodes;
    made->reader = made->next + links;
    int32_t at = 0;
    for (int64_t i = 0; i < nodes; i++) made->first[i] = -1;
    for (int64_t i = 0; i < nodes; i++) {
        const mn_network_node *node = network->nodes.data[i];
        for (int64_t k = 0; node && k < node->links.count; k++) {
            const int32_t source = node->links.data[k].source;
            if (source < 0) continue;
            made->waiting[i]++;
            made->reader[at] = (int32_t)i;
            made->next[at] = made->first[source];
            made->first[source] = at++;
        }
    }
    return MN_OK;
}

// Places all that can be placed; gives how many that were, and the first node that is too deep or -1.
static int64_t place(const mn_network *network, order *made, int32_t *too_deep)
{
    int64_t placed = 0, looked_at = 0;
    *too_deep = -1;
    for (int64_t i = 0; i < network->nodes.count; i++)
        if (made->waiting[i] == 0) made->ready[placed++] = (int32_t)i;
    while (looked_at < placed) {
        const int32_t node = made->ready[looked_at++];
        if (*too_deep < 0 && made->depth[node] >= MN_NETWORK_MAX_DEPTH) *too_deep = node;
        for (int32_t link = made->first[node]; link >= 0; link = made->next[link]) {
            const int32_t reader = made->reader[link];
            if (made->depth[reader] <= made->depth[node]) made->depth[reader] = made->depth[node] + 1;
            if (--made->waiting[reader] == 0) made->ready[placed++] = reader;
        }
    }
    return placed;
}

// A node that is not placed has an input that is not placed: going up from any of them ends in a loop.
static int32_t node_on_loop(const mn_network *network, const order *made)
{
    int32_t node = 0;
    while (made->waiting[node] == 0) node++;
    for (int64_t steps = 0; steps < network->nodes.count; steps++) {
        const mn_network_node *here = network->nodes.data[node];
        for (int64_t k = 0; k < here->links.count; k++) {
            const int32_t source = here->links.data[k].source;
            if (source < 0 || made->waiting[source] == 0) continue;
            node = source;
            break;
        }
    }
    return node;
}

mn_status mn_network_check_order(const mn_network *network, int32_t *culprit)
{
    order made = {0};
    if (network->nodes.count == 0) return MN_OK;
    MN_TRY(make_order(network, &made));
    int32_t too_deep;
    mn_status status = MN_OK;
    if (place(network, &made, &too_deep) < network->nodes.count) {
        *culprit = node_on_loop(network, &made);
        const mn_network_node *node = network->nodes.data[*culprit];
        status = mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                         "%s '%s' gets its own output back through its inputs; a network cannot have loops.",
                         node->type->name, node->name);
    } else if (too_deep >= 0) {
        *culprit = too_deep;
        status = mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                         "'%s' would be the end of a chain of more than %d nodes; merge some of them.",
                         network->nodes.data[too_deep]->name, MN_NETWORK_MAX_DEPTH);
    }
    mn_release(network->ctx, made.memory, made.bytes);
    return status;
}

mn_status mn_network_connect(mn_network *network, int32_t node, int32_t input, int32_t source,
                             int32_t source_output)
{
    mn_link before;
    mn_network_input(network, node, input, &before.source, &before.output);
    MN_TRY(mn_network_link(network, node, input, source, source_output));
    if (source < 0) return MN_OK;
    int32_t culprit;
    const mn_status status = mn_network_check_order(network, &culprit);
    if (status != MN_OK) network->nodes.data[node]->links.data[input] = before;
    return status;
}

static bool reaches(mn_network_node *node, int32_t source)
{
    if (node->number == source) return true;
    if (node->mark == node->network->mark) return false;
    node->mark = node->network->mark;
    for (int64_t i = 0; i < node->links.count; i++) {
        mn_network_node *above = mn_network_at(node->network, node->links.data[i].source);
        if (above && reaches(above, source)) return true;
    }
    return false;
}

bool mn_network_depends(mn_network *network, int32_t node, int32_t source)
{
    mn_network_node *found = mn_network_at(network, node);
    network->mark++;
    return found && mn_network_at(network, source) && reaches(found, source);
}
