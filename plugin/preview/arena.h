// SPDX-License-Identifier: Apache-2.0
//
// Named scratch memory: allocate by moving a pointer, give back all at once. The first round may need several
// blocks; the reset that follows joins them into one of the high-water mark's size, so a steady loop never
// calls malloc.
#ifndef MENISCUS_PLUGIN_PREVIEW_ARENA_H
#define MENISCUS_PLUGIN_PREVIEW_ARENA_H

#include "meniscus/context.h"
#include "plugin/preview/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_arena mn_arena;

/// `name` (copied) says in the log whose scratch this is.
mn_status mn_arena_create(mn_context *ctx, const char *name, mn_arena **arena);
void mn_arena_free(mn_arena *arena);

/// Aligned to 64 bytes, not initialised, valid until the next reset. NULL when memory is out (the sentence is
/// kept).
void *mn_arena_allocate(mn_arena *arena, size_t size);
#define mn_arena_array(arena, type, count)                                                                   \
    ((type *)mn_arena_allocate((arena), mn_bytes((count), sizeof(type))))

/// Takes everything back.
void mn_arena_reset(mn_arena *arena);

const char *mn_arena_name(const mn_arena *arena);
/// The most bytes ever in use between two resets.
size_t mn_arena_high_water(const mn_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
