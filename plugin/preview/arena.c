// SPDX-License-Identifier: Apache-2.0
//
// Scratch arenas: a list of blocks, filled one after the other, each twice as large as the one before.
#include "plugin/preview/arena.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64, FIRST_BLOCK = 1 << 16, NAME_SIZE = 32 };

typedef struct block {
    struct block *older;
    size_t size, used; ///< bytes behind the header
} block;

struct mn_arena {
    mn_context *ctx;
    block *newest;
    char name[NAME_SIZE];
};

static const size_t header = (sizeof(block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

static void release_blocks(mn_arena *arena)
{
    while (arena->newest) {
        block *b = arena->newest;
        arena->newest = b->older;
        mn_release(arena->ctx, b, header + b->size);
    }
}

static bool add_block(mn_arena *arena, size_t size)
{
    block *b = mn_allocate(arena->ctx, header + size);
    if (!b) return false;
    *b = (block){arena->newest, size, 0};
    arena->newest = b;
    return true;
}

mn_status mn_arena_create(mn_context *ctx, const char *name, mn_arena **arena)
{
    *arena = mn_allocate_zero(ctx, sizeof **arena);
    if (!*arena) return MN_ERROR_MEMORY;
    (*arena)->ctx = ctx;
    snprintf((*arena)->name, NAME_SIZE, "%s", name);
    return MN_OK;
}

void mn_arena_free(mn_arena *arena)
{
    if (!arena) return;
    release_blocks(arena);
    mn_release(arena->ctx, arena, sizeof *arena);
}

void *mn_arena_allocate(mn_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX) {
        (void)mn_fail(arena->ctx, MN_ERROR_MEMORY, "Out of memory: the scratch of '%s' would not fit.",
                      arena->name);
        return NULL;
    }
    const size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!arena->newest || arena->newest->size - arena->newest->used < rounded) {
        size_t wanted = arena->newest ? 2 * arena->newest->size : FIRST_BLOCK;
        if (wanted < rounded) wanted = rounded;
        if (!add_block(arena, wanted)) return NULL;
    }
    block *b = arena->newest;
    void *memory = (char *)b + header + b->used;
    b->used += rounded;
    return memory;
}
