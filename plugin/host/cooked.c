// SPDX-License-Identifier: Apache-2.0
//
// Counted outputs of a cook.
#include "plugin/host/cooked.h"

mn_status mn_cooked_create(mn_context *ctx, int32_t count, mn_cooked **cooked)
{
    *cooked = NULL;
    mn_cooked *made = mn_allocate_zero(ctx, sizeof *made);
    if (!made) return MN_ERROR_MEMORY;
    made->ctx = ctx;
    made->references = 1;
    made->count = count;
    made->outputs = mn_allocate_zero(ctx, mn_bytes(count, sizeof *made->outputs));
    made->hashes = mn_allocate_zero(ctx, mn_bytes(count, sizeof *made->hashes));
    if (!made->outputs || !made->hashes) {
        mn_cooked_release(made);
        return MN_ERROR_MEMORY;
    }
    *cooked = made;
    return MN_OK;
}

mn_cooked *mn_cooked_retain(mn_cooked *cooked)
{
    cooked->references++;
    return cooked;
}

void mn_cooked_release(mn_cooked *cooked)
{
    if (!cooked || --cooked->references > 0) return;
    mn_context *ctx = cooked->ctx;
    for (int32_t i = 0; cooked->outputs && i < cooked->count; i++) mn_geo_free(cooked->outputs[i]);
    mn_release(ctx, cooked->outputs, mn_bytes(cooked->count, sizeof *cooked->outputs));
    mn_release(ctx, cooked->hashes, mn_bytes(cooked->count, sizeof *cooked->hashes));
    mn_release(ctx, cooked, sizeof *cooked);
}

int64_t mn_cooked_bytes(const mn_cooked *cooked)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < cooked->count; i++)
        if (cooked->outputs[i]) bytes += mn_geo_bytes(cooked->outputs[i]);
    return bytes;
}

uint64_t mn_cooked_hash(mn_cooked *cooked, int32_t output)
{
    if (cooked->hashes[output] == 0) {
        const uint64_t hash = mn_geo_hash(cooked->outputs[output]);
        cooked->hashes[output] = hash ? hash : 1;
    }
    return cooked->hashes[output];
}
