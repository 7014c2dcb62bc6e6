// SPDX-License-Identifier: Apache-2.0
//
// Strings of their own in the host's memory.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_TEXT_H
#define MENISCUS_PLUGIN_HOST_NETWORK_TEXT_H

#include <string.h>

#include "meniscus/context.h"

/// Frees a string that mn_text_set made and forgets it.
static inline void mn_text_free(mn_context *ctx, char **text)
{
    if (*text) mn_release(ctx, *text, strlen(*text) + 1);
    *text = NULL;
}

/// Replaces *text by a copy of `value`; it stays as it was when memory is out.
static inline mn_status mn_text_set(mn_context *ctx, char **text, const char *value)
{
    const size_t size = strlen(value) + 1;
    char *copy = (char *)mn_allocate(ctx, size);
    if (!copy) return MN_ERROR_MEMORY;
    memcpy(copy, value, size);
    mn_text_free(ctx, text);
    *text = copy;
    return MN_OK;
}

#endif
