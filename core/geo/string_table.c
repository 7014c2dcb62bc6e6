// SPDX-License-Identifier: Apache-2.0
//
// Distinct strings with constant-time look-up: all bytes in one array, offsets in another, an open-addressing
// index.
#include "geo/string_table.h"

#include "meniscus/array.h"
#include "meniscus/stream.h"

#include <stdatomic.h>
#include <string.h>

struct mn_string_table {
    atomic_int references;
    mn_context *ctx;
    MN_ARRAY(char) bytes;
    MN_ARRAY(int64_t) offsets;
    int32_t *slots;     ///< index + 1 of a string, 0 when free
    int64_t slot_count; ///< a power of two, more than half free
};

mn_status mn_string_table_create(mn_context *ctx, mn_string_table **table)
{
    *table = mn_allocate_zero(ctx, sizeof **table);
    if (!*table) return MN_ERROR_MEMORY;
    atomic_init(&(*table)->references, 1);
    (*table)->ctx = ctx;
    return MN_OK;
}

mn_string_table *mn_string_table_share(mn_string_table *table)
{
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    return table;
}

void mn_string_table_free(mn_string_table *table)
{
    if (!table || atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) != 1) return;
    mn_array_free(table->ctx, &table->bytes);
    mn_array_free(table->ctx, &table->offsets);
    mn_release(table->ctx, table->slots, mn_bytes(table->slot_count, sizeof *table->slots));
    mn_release(table->ctx, table, sizeof *table);
}

int32_t mn_string_table_count(const mn_string_table *table)
{
    return (int32_t)table->offsets.count;
}

const char *mn_string_table_at(const mn_string_table *table, int32_t index)
{
    return index >= 0 && index < table->offsets.count ? table->bytes.data + table->offsets.data[index] : "";
}

// The slot that holds the string, or the free one where it belongs.
static int64_t slot_of(const mn_string_table *table, const char *string)
{
    const uint64_t mask = (uint64_t)table->slot_count - 1;
    uint64_t slot = mn_hash_string(0, string) & mask;
    while (table->slots[slot] && strcmp(mn_string_table_at(table, table->slots[slot] - 1), string) != 0)
        slot = (slot + 1) & mask;
    return (int64_t)slot;
}

static mn_status grow_index(mn_string_table *table)
{
    if (2 * (table->offsets.count + 1) < table->slot_count) return MN_OK;
    const int64_t count = table->slot_count ? 2 * table->slot_count : 16;
    int32_t *slots = mn_allocate_zero(table->ctx, mn_bytes(count, sizeof *slots));
    if (!slots) return MN_ERROR_MEMORY;
    mn_release(table->ctx, table->slots, mn_bytes(table->slot_count, sizeof *slots));
    table->slots = slots;
    table->slot_count = count;
    for (int32_t i = 0; i < mn_string_table_count(table); i++)
        table->slots[slot_of(table, mn_string_table_at(table, i))] = i + 1;
    return MN_OK;
}

static mn_status append_new(mn_string_table *table, const char *string, int32_t *index)
{
    if (table->offsets.count >= INT32_MAX - 1)
        return mn_fail(table->ctx, MN_ERROR_UNSUPPORTED,
                       "A string attribute has more than two billion distinct values.");
    MN_TRY(grow_index(table));
    const int64_t slot = slot_of(table, string), at = table->bytes.count;
    const size_t size = strlen(string) + 1;
    MN_TRY(mn_array_reserve(table->ctx, &table->bytes, at + (int64_t)size));
    MN_TRY(mn_array_push(table->ctx, &table->offsets, &at));
    memcpy(table->bytes.data + at, string, size);
    table->bytes.count += (int64_t)size;
    *index = (int32_t)table->offsets.count - 1;
    table->slots[slot] = *index + 1;
    return MN_OK;
}

static mn_status copy_table(const mn_string_table *table, mn_string_table **copy)
{
    MN_TRY(mn_string_table_create(table->ctx, copy));
    for (int32_t i = 0, index; i < mn_string_table_count(table); i++) {
        const mn_status status = append_new(*copy, mn_string_table_at(table, i), &index);
        if (status == MN_OK) continue;
        mn_string_table_free(*copy);
        return status;
    }
    return MN_OK;
}

mn_status mn_string_table_intern(mn_string_table **table, const char *string, int32_t *index)
{
    if ((*table)->slot_count) {
        const int32_t found = (*table)->slots[slot_of(*table, string)];
        if (found) {
            *index = found - 1;
            return MN_OK;
        }
    }
    if (atomic_load_explicit(&(*table)->references, memory_order_acquire) > 1) {
        mn_string_table *own;
        MN_TRY(copy_table(*table, &own));
        mn_string_table_free(*table);
        *table = own;
    }
    return append_new(*table, string, index);
}
