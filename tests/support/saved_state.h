// SPDX-License-Identifier: Apache-2.0
//
// Saved states in memory, for tests: mn_writer w = {ctx, &state, saved_put}, mn_reader r = {ctx, &state,
// saved_get}.
#ifndef MENISCUS_TESTS_SUPPORT_SAVED_STATE_H
#define MENISCUS_TESTS_SUPPORT_SAVED_STATE_H

#include <string.h>

#include "meniscus/meniscus.h"

typedef struct saved_state {
    mn_context *ctx;
    uint8_t bytes[1 << 20];
    size_t size, read;
} saved_state;

static inline mn_status saved_put(void *user, const void *bytes, size_t size)
{
    saved_state *s = user;
    if (s->size + size > sizeof s->bytes) return mn_fail(s->ctx, MN_ERROR_IO, "full");
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return MN_OK;
}

static inline mn_status saved_get(void *user, void *bytes, size_t size)
{
    saved_state *s = user;
    if (s->read + size > s->size) return mn_fail(s->ctx, MN_ERROR_FORMAT, "The stream ends.");
    memcpy(bytes, s->bytes + s->read, size);
    s->read += size;
    return MN_OK;
}

#endif
