// SPDX-License-Identifier: Apache-2.0
//
// Growable arrays: MN_ARRAY(double) values = {0}; zero-initialised is empty, growth is by half again, memory
// is kept until mn_array_free. Evaluate `array` arguments once at most: pass a pointer to a variable or a
// field.
#ifndef MENISCUS_ARRAY_H
#define MENISCUS_ARRAY_H

#include "meniscus/context.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MN_ARRAY(type)                                                                                       \
    struct {                                                                                                 \
        type *data;                                                                                          \
        int64_t count, capacity;                                                                             \
    }

/// Makes room for `count` elements in all; contents stay.
#define mn_array_reserve(ctx, array, count_)                                                                 \
    mn_array_reserve_bytes((ctx), &(array)->data, &(array)->capacity, sizeof *(array)->data, (count_))

/// Sets the count; new elements are not initialised.
#define mn_array_resize(ctx, array, count_)                                                                  \
    mn_array_resize_bytes((ctx), &(array)->data, &(array)->count, &(array)->capacity, sizeof *(array)->data, \
                          (count_))

/// Appends one element, copied from `*value`, which must be of the array's type.
#define mn_array_push(ctx, array, value)                                                                     \
    mn_array_push_bytes((ctx), &(array)->data, &(array)->count, &(array)->capacity, sizeof *(array)->data,   \
                        (1 ? (value) : (array)->data))

#define mn_array_free(ctx, array)                                                                            \
    do {                                                                                                     \
        mn_release((ctx), (array)->data, mn_bytes((array)->capacity, sizeof *(array)->data));                \
        (array)->data = NULL;                                                                                \
        (array)->count = (array)->capacity = 0;                                                              \
    } while (0)

/// memset and memcpy that take the NULL of an empty array.
static inline void mn_fill_bytes(void *to, int byte, size_t size)
{
    if (size > 0) memset(to, byte, size);
}
static inline void mn_copy_bytes(void *to, const void *from, size_t size)
{
    if (size > 0) memcpy(to, from, size);
}

/// Behind the macros; `data` is the address of the typed pointer.
MN_API mn_status mn_array_reserve_bytes(mn_context *ctx, void *data, int64_t *capacity, size_t element_size,
                                        int64_t count);
MN_API mn_status mn_array_resize_bytes(mn_context *ctx, void *data, int64_t *count, int64_t *capacity,
                                       size_t element_size, int64_t new_count);
MN_API mn_status mn_array_push_bytes(mn_context *ctx, void *data, int64_t *count, int64_t *capacity,
                                     size_t element_size, const void *value);

#ifdef __cplusplus
}
#endif
#endif
