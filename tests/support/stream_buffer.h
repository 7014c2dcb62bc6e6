// SPDX-License-Identifier: Apache-2.0
//
// A stream in memory, for states that are saved and loaded: free buffer.bytes when done.
#ifndef MENISCUS_TESTS_SUPPORT_STREAM_BUFFER_H
#define MENISCUS_TESTS_SUPPORT_STREAM_BUFFER_H

#include "meniscus/stream.h"

#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    mn_context *ctx;
    unsigned char *bytes;
    size_t size, capacity, at;
} buffer;

static inline mn_status buffer_write(void *user, const void *bytes, size_t size)
{
    buffer *b = user;
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->bytes = realloc(b->bytes, b->capacity);
    }
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return MN_OK;
}

static inline mn_status buffer_read(void *user, void *bytes, size_t size)
{
    buffer *b = user;
    if (size > b->size - b->at) return mn_fail(b->ctx, MN_ERROR_FORMAT, "The state ends too early.");
    memcpy(bytes, b->bytes + b->at, size);
    b->at += size;
    return MN_OK;
}

#endif
