// SPDX-License-Identifier: Apache-2.0
//
// What a scene shows of itself as a digital asset: a name and promoted parameters.
#include <string.h>

#include "plugin/host/network/network_state.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/network/spelling.h"
#include "plugin/host/network/text.h"

enum { MAX_ASSET_PARMS = 1000 };

// The network's own copy has strings of its own behind the const of the public struct.
static void free_string(mn_context *ctx, const char **text)
{
    char *owned = (char *)(uintptr_t)*text;
    mn_text_free(ctx, &owned);
    *text = NULL;
}

static mn_status copy_string(mn_context *ctx, const char **copy, const char *text)
{
    char *made = NULL;
    MN_TRY(mn_text_set(ctx, &made, text));
    *copy = made;
    return MN_OK;
}

static void free_parm(mn_context *ctx, mn_asset_parm *parm)
{
    free_string(ctx, &parm->name);
    free_string(ctx, &parm->label);
}

static void free_asset(mn_context *ctx, mn_asset *asset, int32_t capacity)
{
    mn_asset_parm *parms = (mn_asset_parm *)(uintptr_t)asset->parms;
    for (int32_t i = 0; i < asset->parm_count; i++) free_parm(ctx, &parms[i]);
    mn_release(ctx, parms, mn_bytes(capacity, sizeof *parms));
    free_string(ctx, &asset->name);
    free_string(ctx, &asset->label);
    memset(asset, 0, sizeof *asset);
}

void mn_network_free_asset(mn_network *network)
{
    free_asset(network->ctx, &network->asset, network->asset_capacity);
    network->asset_capacity = 0;
}

void mn_network_drop_from_asset(mn_network *network, int32_t node)
{
    mn_asset_parm *parms = (mn_asset_parm *)(uintptr_t)network->asset.parms;
    int32_t kept = 0;
    for (int32_t i = 0; i < network->asset.parm_count; i++) {
        if (parms[i].node == node)
            free_parm(network->ctx, &parms[i]);
        else
            parms[kept++] = parms[i];
    }
    network->asset.parm_count = kept;
}

static mn_status check_name(mn_context *ctx, const char *what, const char *name)
{
    mn_shown shown;
    if (name && mn_network_is_name(name)) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT,
                   "'%s' cannot be the name of %s; use letters, digits and _, and no digit first.",
                   mn_show(&shown, name ? name : ""), what);
}

static mn_status copy_parm(const mn_network *network, const mn_asset_parm *from, mn_asset *asset)
{
    mn_context *ctx = network->ctx;
    mn_network_node *node;
    MN_TRY(mn_network_get(network, from->node, &node));
    if (from->parm < 0 || from->parm >= node->type->parm_count)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s' has no parameter number %d.", node->type->name,
                       node->name, (int)from->parm);
    const mn_parm_def *def = &node->type->parms[from->parm];
    const char *name = from->name ? from->name : def->name;
    MN_TRY(check_name(ctx, "a promoted parameter", name));
    for (int32_t i = 0; i < asset->parm_count; i++) {
        if (strcmp(asset->parms[i].name, name) != 0) continue;
        const mn_node_type *other_type = mn_network_node_type(network, asset->parms[i].node);
        const mn_parm_def *other = &other_type->parms[asset->parms[i].parm];
        if (other->kind == def->kind && other->size == def->size) continue;
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The asset's parameter '%s' drives parameters of different types; give one of them "
                       "another \"name\".",
                       name);
    }
    mn_asset_parm *made = (mn_asset_parm *)(uintptr_t)&asset->parms[asset->parm_count++];
    made->node = from->node;
    made->parm = from->parm;
    MN_TRY(copy_string(ctx, &made->name, name));
    return copy_string(ctx, &made->label, from->label ? from->label : def->label);
}

static mn_status copy_asset(const mn_network *network, const mn_asset *from, mn_asset *asset)
{
    mn_context *ctx = network->ctx;
    MN_TRY(check_name(ctx, "an asset", from->name));
    if (from->parm_count < 0 || from->parm_count > MAX_ASSET_PARMS)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "An asset can have 0 to %d promoted parameters, not %d.",
                       MAX_ASSET_PARMS, (int)from->parm_count);
    MN_TRY(copy_string(ctx, &asset->name, from->name));
    MN_TRY(copy_string(ctx, &asset->label, from->label ? from->label : from->name));
    if (from->parm_count == 0) return MN_OK;
    asset->parms = mn_allocate_zero(ctx, mn_bytes(from->parm_count, sizeof *asset->parms));
    if (!asset->parms) return MN_ERROR_MEMORY;
    for (int32_t i = 0; i < from->parm_count; i++) MN_TRY(copy_parm(network, &from->parms[i], asset));
    return MN_OK;
}

mn_status mn_network_set_asset(mn_network *network, const mn_asset *asset)
{
    mn_asset made = {0};
    if (asset) {
        const mn_status status = copy_asset(network, asset, &made);
        if (status != MN_OK) {
            free_asset(network->ctx, &made, made.parms ? asset->parm_count : 0);
            return status;
        }
    }
    mn_network_free_asset(network);
    network->asset = made;
    network->asset_capacity = made.parm_count;
    return MN_OK;
}

const mn_asset *mn_network_asset(const mn_network *network)
{
    return network->asset.name ? &network->asset : NULL;
}
