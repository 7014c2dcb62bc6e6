// SPDX-License-Identifier: Apache-2.0
//
// Shared columns: a counted buffer behind each, copied on the first write while others hold it.
#include "geo/column.h"

#include <stdatomic.h>
#include <string.h>

enum { HEADER = 64 }; // keeps the elements aligned

struct mn_buffer {
    atomic_int references;
    mn_context *ctx; ///< whose memory this is
    size_t capacity; ///< bytes behind the header
};

static char *bytes_of(mn_buffer *buffer)
{
    return (char *)buffer + HEADER;
}

static bool is_shared(const mn_column *column)
{
    return atomic_load_explicit(&column->buffer->references, memory_order_acquire) > 1;
}

static void release(mn_buffer *buffer)
{
    if (buffer && atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) == 1)
        mn_release(buffer->ctx, buffer, HEADER + buffer->capacity);
}

// Replaces the column's buffer by one of its own with this capacity; the elements come along.
static mn_status move_to_own(mn_context *ctx, mn_column *column, int64_t capacity)
{
    const size_t bytes = mn_bytes(capacity, column->element_bytes);
    mn_buffer *buffer = mn_allocate(ctx, bytes > SIZE_MAX - HEADER ? SIZE_MAX : HEADER + bytes);
    if (!buffer) return MN_ERROR_MEMORY;
    atomic_init(&buffer->references, 1);
    buffer->ctx = ctx;
    buffer->capacity = bytes;
    if (column->buffer)
        memcpy(bytes_of(buffer), bytes_of(column->buffer), mn_bytes(column->count, column->element_bytes));
    release(column->buffer);
    column->buffer = buffer;
    return MN_OK;
}

const void *mn_column_data(const mn_column *column)
{
    return column->count > 0 ? bytes_of(column->buffer) : NULL;
}

void *mn_column_write(mn_context *ctx, mn_column *column)
{
    if (column->count == 0) return NULL;
    if (is_shared(column) && move_to_own(ctx, column, column->count) != MN_OK) return NULL;
    return bytes_of(column->buffer);
}

mn_status mn_column_reserve(mn_context *ctx, mn_column *column, int64_t count)
{
    const size_t needed = mn_bytes(count, column->element_bytes);
    if (needed == 0) return MN_OK;
    const bool shared = column->buffer && is_shared(column);
    if (column->buffer && !shared && column->buffer->capacity >= needed) return MN_OK;
    // The first allocation and an unsharing are exact; growth is by half, for many small additions.
    int64_t capacity = column->buffer && !shared ? column->count + column->count / 2 : count;
    if (capacity < count) capacity = count;
    return move_to_own(ctx, column, capacity);
}

void mn_column_set_count(mn_column *column, int64_t count)
{
    if (count > column->count)
        memset(bytes_of(column->buffer) + mn_bytes(column->count, column->element_bytes), 0,
               mn_bytes(count - column->count, column->element_bytes));
    column->count = count;
}

mn_column mn_column_share(const mn_column *column)
{
    if (column->buffer) atomic_fetch_add_explicit(&column->buffer->references, 1, memory_order_relaxed);
    return *column;
}

void mn_column_free(mn_column *column)
{
    release(column->buffer);
    column->buffer = NULL;
    column->count = 0;
}
