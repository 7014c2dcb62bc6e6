// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the saved state of a simulating node, past the checksums of the file around it: refused with a
// sentence, or loaded into something that can be shown, saved and freed. The data begins with the name of the
// node type and a zero.
#include <stdlib.h>

#include "plugin/host/parms.h"
#include "unit/host/host_nodes.h"

typedef struct bytes {
    mn_context *ctx;
    const uint8_t *at;
    size_t left;
} bytes;

enum { MOST_BYTES = 64 << 20 };

static void *allocate(void *user, size_t size)
{
    size_t *held = user;
    if (size > MOST_BYTES - *held) return NULL;
    *held += size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *user, void *memory, size_t size)
{
    *(size_t *)user -= size;
    free(memory);
}

static mn_status take(void *user, void *to, size_t size)
{
    bytes *from = user;
    if (size > from->left) return mn_fail(from->ctx, MN_ERROR_FORMAT, "The saved state ends too early.");
    memcpy(to, from->at, size);
    from->at += size, from->left -= size;
    return MN_OK;
}

static mn_status drop(void *user, const void *from, size_t size)
{
    (void)user, (void)from, (void)size;
    return MN_OK;
}

static void warn(void *user, const char *sentence)
{
    (void)user, (void)sentence;
}

// The simulating type that the data names; the walker of the tests when it names none.
static const mn_node_type *pick_type(const uint8_t *data, size_t *size)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++) {
        const size_t length = strlen(types[i]->name) + 1;
        if (!types[i]->sim || *size < length || memcmp(data, types[i]->name, length) != 0) continue;
        *size = length;
        return types[i];
    }
    *size = 0;
    return &walker_type;
}

static void show_and_save(const mn_cook *cook, void *state)
{
    for (int32_t i = 0; i < cook->type->output_count; i++) {
        mn_geo *geo = NULL;
        (void)cook->type->sim->emit(cook, state, i, &geo);
        mn_geo_free(geo);
    }
    mn_writer out = {cook->ctx, NULL, drop};
    (void)cook->type->sim->save(cook, state, &out);
    mn_report report = {0};
    cook->type->sim->report(state, &report);
}

static void load(mn_context *ctx, const mn_node_type *type, const uint8_t *data, size_t size)
{
    mn_parm_value values[MN_PARM_LIMIT] = {0};
    for (int32_t i = 0; i < type->parm_count; i++) {
        memcpy(values[i].number, type->parms[i].defaults, sizeof values[i].number);
        values[i].string = type->parms[i].default_string ? type->parms[i].default_string : "";
    }
    const mn_cook cook = {.ctx = ctx,
                          .type = type,
                          .node_name = "node",
                          .parms = values,
                          .frame = 2,
                          .fps = 24,
                          .dt = 1e-4,
                          .warn = warn};
    bytes from = {ctx, data, size};
    mn_reader in = {ctx, &from, take};
    void *state = NULL;
    if (type->sim->load(&cook, &in, &state) != MN_OK) {
        if (!*mn_context_message(ctx)) abort();
        return;
    }
    show_and_save(&cook, state);
    type->sim->free(ctx, state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t held = 0;
    const mn_hooks hooks = {.user = &held, .allocate = allocate, .release = release, .max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    size_t begin = size;
    const mn_node_type *type = pick_type(data, &begin);
    load(ctx, type, data + begin, size - begin);
    mn_context_free(ctx);
    if (held != 0) abort();
    return 0;
}
