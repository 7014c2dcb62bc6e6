// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a scene: refused with a sentence, or read, cooked within bounds of memory and questions,
// written and read again as the same scene.
#include <stdlib.h>

#include "plugin/host/network/network.h"
#include "unit/host/host_nodes.h"

typedef struct bounds {
    size_t bytes;      ///< held
    int32_t questions; ///< of the cancel hook
} bounds;

enum { MOST_BYTES = 64 << 20, MOST_QUESTIONS = 60, MOST_TYPES = 128 };

static void *allocate(void *user, size_t size)
{
    bounds *self = user;
    if (size > MOST_BYTES - self->bytes) return NULL;
    self->bytes += size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *user, void *memory, size_t size)
{
    ((bounds *)user)->bytes -= size;
    free(memory);
}

static bool cancelled(void *user)
{
    return ++((bounds *)user)->questions > MOST_QUESTIONS;
}

static mn_status read_scene(mn_context *ctx, const char *text, size_t size, mn_network **network)
{
    static const mn_node_type *types[MOST_TYPES];
    int32_t own, count = HOST_TYPE_COUNT;
    const mn_node_type *const *registered = mn_node_types(&own);
    for (int32_t i = 0; i < HOST_TYPE_COUNT; i++) types[i] = host_types[i];
    for (int32_t i = 0; i < own && count < MOST_TYPES; i++) types[count++] = registered[i];
    MN_TRY(mn_network_create_with_types(ctx, NULL, types, count, network));
    const mn_status status = mn_scene_read_into(*network, text, size, "scene");
    if (status == MN_OK) return MN_OK;
    mn_network_free(*network);
    *network = NULL;
    return status;
}

// Only with the small types of the tests: what the others cook is for their own fuzzers.
static void cook(mn_network *network)
{
    int32_t first, last;
    mn_network_range(network, &first, &last);
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        bool small = false;
        for (int32_t k = 0; k < HOST_TYPE_COUNT; k++)
            small |= mn_network_node_type(network, i) == host_types[k];
        if (!small) return;
    }
    const mn_geo *geo;
    const int32_t node = mn_network_output(network);
    if (node >= 0 && mn_network_cook(network, node, 0, first, &geo) == MN_OK)
        (void)mn_network_cook(network, node, 0, first + 1.5, &geo);
}

static void write_and_read(mn_context *ctx, const mn_network *network)
{
    char *once = NULL, *twice = NULL;
    mn_network *again = NULL;
    mn_status status = mn_scene_write_text(network, &once);
    if (status == MN_OK) status = read_scene(ctx, once, strlen(once), &again);
    if (status == MN_OK) status = mn_scene_write_text(again, &twice);
    if (status == MN_OK ? strcmp(once, twice) != 0 : status != MN_ERROR_MEMORY) abort();
    mn_scene_free_text(ctx, once);
    mn_scene_free_text(ctx, twice);
    mn_network_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bounds in = {0};
    const mn_hooks hooks = {
        .user = &in, .allocate = allocate, .release = release, .cancelled = cancelled, .max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_network *network;
    const mn_status status = read_scene(ctx, (const char *)data, size, &network);
    if (status == MN_OK) {
        write_and_read(ctx, network);
        cook(network);
        mn_network_free(network);
    } else if (!*mn_context_message(ctx)) {
        abort();
    }
    mn_context_free(ctx);
    if (in.bytes != 0) abort();
    return 0;
}
