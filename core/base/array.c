// SPDX-License-Identifier: Apache-2.0
//
// Growable arrays: capacity grows by half, so n pushes copy at most 3n elements.
#include "meniscus/array.h"

#include <string.h>

enum { FIRST_CAPACITY = 16 };

mn_status mn_array_reserve_bytes(mn_context *ctx, void *data, int64_t *capacity, size_t element_size,
                                 int64_t count)
{
    if (count <= *capacity) return MN_OK;
    int64_t wanted = *capacity + *capacity / 2;
    if (wanted < count) wanted = count;
    if (wanted < FIRST_CAPACITY) wanted = FIRST_CAPACITY;
    void *old;
    memcpy(&old, data, sizeof old);
    void *grown = mn_allocate(ctx, mn_bytes(wanted, element_size));
    if (!grown) return MN_ERROR_MEMORY;
    if (old) memcpy(grown, old, mn_bytes(*capacity, element_size));
    mn_release(ctx, old, mn_bytes(*capacity, element_size));
    memcpy(data, &grown, sizeof grown);
    *capacity = wanted;
    return MN_OK;
}

mn_status mn_array_resize_bytes(mn_context *ctx, void *data, int64_t *count, int64_t *capacity,
                                size_t element_size, int64_t new_count)
{
    MN_TRY(mn_array_reserve_bytes(ctx, data, capacity, element_size, new_count));
    *count = new_count;
    return MN_OK;
}

mn_status mn_array_push_bytes(mn_context *ctx, void *data, int64_t *count, int64_t *capacity,
                              size_t element_size, const void *value)
{
    MN_TRY(mn_array_reserve_bytes(ctx, data, capacity, element_size, *count + 1));
    char *elements;
    memcpy(&elements, data, sizeof elements);
    memcpy(elements + mn_bytes(*count, element_size), value, element_size);
    *count += 1;
    return MN_OK;
}
