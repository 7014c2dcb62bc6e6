// SPDX-License-Identifier: Apache-2.0
//
// Named scratch memory of one picture: allocate by moving a pointer, give back all at once.
#ifndef MENISCUS_PLUGIN_PREVIEW_ARENA_H
#define MENISCUS_PLUGIN_PREVIEW_ARENA_H

#include "meniscus/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_arena mn_arena;

/// `name` (copied) says in the log whose scratch this is.
mn_status mn_arena_create(mn_context *ctx, const char *name, mn_arena **arena);
void mn_arena_free(mn_arena *arena);

/// Aligned to 64 bytes, not initialised, valid until the arena is freed. NULL when memory is out (the
/// sentence is kept).
void *mn_arena_allocate(mn_arena *arena, size_t size);
#define mn_arena_array(arena, type, count)                                                                   \
    ((type *)mn_arena_allocate((arena), mn_bytes((count), sizeof(type))))

#ifdef __cplusplus
}
#endif
#endif
