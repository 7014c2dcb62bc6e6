// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a file, a buffer at a time, so that a reader never needs the whole file in memory. Sources stack:
// the one that inflates reads from the one that reads the disk.
#ifndef MENISCUS_PLUGIN_IO_SOURCE_H
#define MENISCUS_PLUGIN_IO_SOURCE_H

#include "meniscus/context.h"

typedef struct mn_source mn_source;
struct mn_source {
    mn_context *ctx;
    const char *name;        ///< the file, for messages; lives as long as the source
    const uint8_t *at, *end; ///< what is buffered and not yet taken
    int64_t passed;          ///< bytes given so far, up to `end`
    int64_t most;            ///< no more than this many bytes come in all: what a count may rely on
    /// Called when at == end: points them at the next bytes, or leaves them equal when there are no more.
    mn_status (*refill)(mn_source *source);
    /// Puts up to `size` bytes straight where they are wanted, when nothing is buffered. May be NULL, and may
    /// give none where refill would give some.
    mn_status (*direct)(mn_source *source, uint8_t *bytes, size_t size, size_t *given);
    void (*close)(mn_source *source);
};

/// Regular files only: a pipe or a device may never end.
mn_status mn_source_open_file(mn_context *ctx, const char *path, mn_source **source);
/// `bytes` and `name` must outlive it.
mn_status mn_source_open_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,
                                mn_source **source);
/// NULL is fine.
void mn_source_close(mn_source *source);

/// Offset of `at` from the start.
static inline int64_t mn_source_offset(const mn_source *source)
{
    return source->passed - (source->end - source->at);
}

/// No more bytes than this can still come.
static inline int64_t mn_source_left(const mn_source *source)
{
    const int64_t left = source->most - mn_source_offset(source);
    return left > 0 ? left : 0;
}

/// Buffers more if nothing is left; at == end afterwards means the end. Also asks whether to stop.
mn_status mn_source_fill(mn_source *source);
/// Exactly `size` bytes, or a sentence that the file ends too early.
mn_status mn_source_read(mn_source *source, void *bytes, size_t size);

#endif
