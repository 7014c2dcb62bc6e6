// SPDX-License-Identifier: Apache-2.0
//
// The network as a collection: settings, and nodes with numbers and names that stay.
#include "plugin/host/network/network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meniscus/stream.h"
#include "plugin/host/network/network_state.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/network/spelling.h"
#include "plugin/host/network/text.h"

enum { LONGEST_NAME = 128, FIRST_FRAME = -100000, LAST_FRAME = 1000000 };
static const double SLOWEST_FPS = 1e-3, FASTEST_FPS = 1e5;
static const double FINEST_DX = 1e-9, COARSEST_DX = 1e6; ///< m

mn_network_node *mn_network_at(const mn_network *network, int32_t node)
{
    return node >= 0 && node < network->nodes.count ? network->nodes.data[node] : NULL;
}

mn_status mn_network_get(const mn_network *network, int32_t number, mn_network_node **node)
{
    *node = mn_network_at(network, number);
    if (*node) return MN_OK;
    return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "The network has no node number %d.", (int)number);
}

bool mn_network_is_name(const char *name)
{
    size_t length = 0;
    for (; name[length]; length++) {
        const char c = name[length];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool digit = c >= '0' && c <= '9';
        if ((!letter && !(digit && length > 0)) || length == LONGEST_NAME) return false;
    }
    return length > 0;
}

// ---- life ----

mn_status mn_network_create_with_types(mn_context *ctx, const mn_services *services,
                                       const mn_node_type *const *types, int32_t type_count,
                                       mn_network **network)
{
    *network = NULL;
    mn_network *made = mn_allocate_zero(ctx, sizeof *made);
    if (!made) return MN_ERROR_MEMORY;
    made->ctx = ctx;
    made->services = services ? services : mn_host_services();
    made->types = types;
    made->type_count = type_count;
    made->fps = 24;
    made->first = made->last = 1;
    made->output = -1;
    made->cache_limit = MN_SIM_CACHE_LIMIT;
    made->revision = 1;
    for (int32_t i = 0; i < MN_NETWORK_BUCKETS; i++) made->buckets[i] = -1;
    if (mn_text_set(ctx, &made->folder, "") != MN_OK || mn_text_set(ctx, &made->title, "") != MN_OK) {
        mn_network_free(made);
        return MN_ERROR_MEMORY;
    }
    *network = made;
    return MN_OK;
}

mn_status mn_network_create(mn_context *ctx, const mn_services *services, mn_network **network)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    return mn_network_create_with_types(ctx, services, types, count, network);
}

static void free_node(mn_network_node *node)
{
    if (!node) return;
    mn_context *ctx = node->network->ctx;
    mn_network_let_go(node);
    mn_network_clear_messages(node);
    mn_array_free(ctx, &node->warnings);
    mn_array_free(ctx, &node->held);
    mn_array_free(ctx, &node->inputs);
    mn_array_free(ctx, &node->input_keys);
    mn_array_free(ctx, &node->links);
    mn_cooked_release(node->cooked);
    mn_sim_free(node->sim);
    mn_network_free_parms(node);
    mn_text_free(ctx, &node->name);
    mn_release(ctx, node, sizeof *node);
}

void mn_network_free(mn_network *network)
{
    if (!network) return;
    mn_context *ctx = network->ctx;
    mn_cooked_release(network->result);
    mn_network_free_asset(network);
    for (int64_t i = 0; i < network->nodes.count; i++) free_node(network->nodes.data[i]);
    mn_array_free(ctx, &network->nodes);
    mn_text_free(ctx, &network->folder);
    mn_text_free(ctx, &network->title);
    mn_release(ctx, network, sizeof *network);
}

mn_context *mn_network_context(const mn_network *network)
{
    return network->ctx;
}

// ---- settings ----

mn_status mn_network_set_fps(mn_network *network, double fps)
{
    if (!(fps >= SLOWEST_FPS && fps <= FASTEST_FPS))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                       "fps is %.10g but must be between %g and %g frames per second.", fps, SLOWEST_FPS,
                       FASTEST_FPS);
    if (network->fps != fps) network->revision++;
    network->fps = fps;
    return MN_OK;
}

double mn_network_fps(const mn_network *network)
{
    return network->fps;
}

// The first parameter whose row says that it follows dx, and does so now or not; false: there is none.
static bool find_of_dx(const mn_network *network, bool following, const mn_network_node **node, int32_t *parm)
{
    for (int64_t n = 0; n < network->nodes.count; n++) {
        *node = network->nodes.data[n];
        for (*parm = 0; *parm < (*node)->type->parm_count; ++*parm)
            if ((*node)->type->parms[*parm].of_dx > 0 && mn_network_is_following(*node, *parm) == following)
                return true;
    }
    return false;
}

void mn_network_warn_of_dx(mn_network *network)
{
    const mn_network_node *node;
    int32_t parm;
    if (!(network->dx > 0) || network->warned_of_dx || find_of_dx(network, true, &node, &parm)) return;
    network->warned_of_dx = true;
    if (find_of_dx(network, false, &node, &parm))
        mn_log(network->ctx, MN_LOG_WARNING,
               "The scene's dx does nothing: every length that could follow it has a value of its own. Set "
               "%s.%s and the others like it, or remove them so that they follow dx.",
               node->name, node->type->parms[parm].name);
    else
        mn_log(network->ctx, MN_LOG_WARNING,
               "The scene's dx does nothing: no node has a length that follows it.");
}

mn_status mn_network_set_dx(mn_network *network, double dx)
{
    if (!(dx == 0 || (dx >= FINEST_DX && dx <= COARSEST_DX)))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                       "dx is %.10g m but must be between %g and %g m, or 0 for none.", dx, FINEST_DX,
                       COARSEST_DX);
    if (network->dx != dx) network->revision++;
    network->dx = dx;
    if (network->nodes.count > 0) mn_network_warn_of_dx(network); // a scene sets it before it has nodes
    return MN_OK;
}

double mn_network_dx(const mn_network *network)
{
    return network->dx;
}

bool mn_network_follows_dx(const mn_network *network, int32_t node, const char *parm)
{
    const mn_network_node *found = mn_network_at(network, node);
    const int32_t at = found ? mn_parm_find(found->type, parm) : -1;
    return at >= 0 && mn_network_is_following(found, at);
}

mn_status mn_network_set_range(mn_network *network, int32_t first, int32_t last)
{
    if (first > last || first < FIRST_FRAME || last > LAST_FRAME)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                       "The frames %d to %d must rise and lie between %d and %d.", (int)first, (int)last,
                       FIRST_FRAME, LAST_FRAME);
    network->first = first;
    network->last = last;
    return MN_OK;
}

void mn_network_range(const mn_network *network, int32_t *first, int32_t *last)
{
    *first = network->first;
    *last = network->last;
}

void mn_network_set_cache_limit(mn_network *network, int64_t bytes)
{
    network->cache_limit = bytes > 0 ? bytes : 0;
    mn_network_share_cache(network);
}

mn_status mn_network_set_folder(mn_network *network, const char *folder)
{
    for (int64_t i = 0; i < network->nodes.count; i++)
        if (network->nodes.data[i]) MN_TRY(mn_network_resolve_paths(network->nodes.data[i], folder));
    network->revision++;
    return mn_text_set(network->ctx, &network->folder, folder);
}

const char *mn_network_folder(const mn_network *network)
{
    return network->folder;
}

const char *mn_network_title(const mn_network *network)
{
    return network->title;
}

mn_status mn_network_set_title(mn_network *network, const char *title)
{
    return mn_text_set(network->ctx, &network->title, title);
}

int32_t mn_network_output(const mn_network *network)
{
    return network->output;
}

mn_status mn_network_set_output(mn_network *network, int32_t node)
{
    mn_network_node *found;
    if (node != -1) MN_TRY(mn_network_get(network, node, &found));
    network->output = node;
    return MN_OK;
}

// ---- nodes ----

static mn_status find_type(mn_context *ctx, const mn_node_type *const *types, int32_t type_count,
                           const char *name, const mn_node_type **type)
{
    mn_nearest nearest = mn_nearest_to(name);
    for (int32_t i = 0; i < type_count; i++) {
        *type = types[i];
        if (strcmp(types[i]->name, name) == 0) return MN_OK;
        mn_nearest_try(&nearest, types[i]->name);
    }
    *type = NULL;
    mn_shown shown, hint;
    return mn_fail(ctx, MN_ERROR_NOT_FOUND, "There is no node type '%s'%s", mn_show(&shown, name),
                   mn_nearest_hint(&nearest, &hint));
}

mn_status mn_node_type_require(mn_context *ctx, const char *name, const mn_node_type **type)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    return find_type(ctx, types, count, name, type);
}

mn_status mn_network_find_type(const mn_network *network, const char *name, const mn_node_type **type)
{
    return find_type(network->ctx, network->types, network->type_count, name, type);
}

static int32_t *bucket_of(mn_network *network, const char *name)
{
    return &network->buckets[mn_hash_string(0, name) % MN_NETWORK_BUCKETS];
}

static mn_status check_new_name(const mn_network *network, const char *name)
{
    mn_shown shown;
    if (!mn_network_is_name(name))
        return mn_fail(
            network->ctx, MN_ERROR_ARGUMENT,
            "'%s' cannot be a node's name; use at most %d letters, digits and _, and no digit first.",
            mn_show(&shown, name), LONGEST_NAME);
    if (mn_network_find(network, name) >= 0)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "There are two nodes named '%s'; names must differ.",
                       mn_show(&shown, name));
    return MN_OK;
}

mn_status mn_network_add_node(mn_network *network, const char *type, const char *name, int32_t *node)
{
    mn_context *ctx = network->ctx;
    const mn_node_type *found;
    MN_TRY(mn_network_find_type(network, type, &found));
    MN_TRY(check_new_name(network, name));
    if (network->nodes.count == MN_NETWORK_MAX_NODES)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "A network cannot have more than %d nodes.",
                       MN_NETWORK_MAX_NODES);
    MN_TRY(mn_array_reserve(ctx, &network->nodes, network->nodes.count + 1));

    mn_network_node *made = mn_allocate_zero(ctx, sizeof *made);
    if (!made) return MN_ERROR_MEMORY;
    made->network = network;
    made->type = found;
    made->number = (int32_t)network->nodes.count;
    mn_status status = mn_text_set(ctx, &made->name, name);
    if (status == MN_OK) status = mn_network_init_parms(made);
    if (status == MN_OK && found->sim) status = mn_sim_create(ctx, found, &made->sim);
    if (status != MN_OK) {
        free_node(made);
        return status;
    }
    int32_t *bucket = bucket_of(network, name);
    made->next_in_bucket = *bucket;
    *bucket = made->number;
    network->nodes.data[network->nodes.count++] = made;
    network->revision++;
    mn_network_share_cache(network);
    if (node) *node = made->number;
    return MN_OK;
}

mn_status mn_network_remove_node(mn_network *network, int32_t node)
{
    mn_network_node *gone;
    MN_TRY(mn_network_get(network, node, &gone));
    for (int64_t i = 0; i < network->nodes.count; i++) {
        mn_network_node *other = network->nodes.data[i];
        for (int64_t k = 0; other && k < other->links.count; k++)
            if (other->links.data[k].source == node) other->links.data[k].source = -1;
    }
    int32_t *link = bucket_of(network, gone->name);
    while (*link != node) link = &network->nodes.data[*link]->next_in_bucket;
    *link = gone->next_in_bucket;
    mn_network_drop_from_asset(network, node);
    if (network->output == node) network->output = -1;
    free_node(gone);
    network->nodes.data[node] = NULL;
    network->revision++;
    mn_network_share_cache(network);
    return MN_OK;
}

int32_t mn_network_node_limit(const mn_network *network)
{
    return (int32_t)network->nodes.count;
}

const mn_node_type *mn_network_node_type(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    return found ? found->type : NULL;
}

const char *mn_network_node_name(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    return found ? found->name : "";
}

int32_t mn_network_find(const mn_network *network, const char *name)
{
    int32_t node = network->buckets[mn_hash_string(0, name) % MN_NETWORK_BUCKETS];
    while (node >= 0 && strcmp(network->nodes.data[node]->name, name) != 0)
        node = network->nodes.data[node]->next_in_bucket;
    return node;
}

mn_status mn_network_require(const mn_network *network, const char *name, int32_t *node)
{
    *node = mn_network_find(network, name);
    if (*node >= 0) return MN_OK;
    mn_nearest nearest = mn_nearest_to(name);
    for (int64_t i = 0; i < network->nodes.count; i++)
        if (network->nodes.data[i]) mn_nearest_try(&nearest, network->nodes.data[i]->name);
    mn_shown shown, hint;
    if (nearest.best)
        return mn_fail(network->ctx, MN_ERROR_NOT_FOUND, "There is no node named '%s'%s",
                       mn_show(&shown, name), mn_nearest_hint(&nearest, &hint));
    char names[256] = "";
    for (int64_t i = 0; i < network->nodes.count; i++) {
        const size_t length = strlen(names);
        if (!network->nodes.data[i] || length > sizeof names - 64) continue;
        snprintf(names + length, sizeof names - length, "%s%.40s", length ? ", " : "",
                 network->nodes.data[i]->name);
    }
    return mn_fail(network->ctx, MN_ERROR_NOT_FOUND, "There is no node named '%s'%s%s.",
                   mn_show(&shown, name), *names ? "; there are " : "", names);
}
