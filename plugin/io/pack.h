// SPDX-License-Identifier: Apache-2.0
//
// Compression between a file and its reader or writer: gzip (.gz) and Houdini's seekable container of C-Blosc
// blocks (.sc). Memory stays at a few blocks, whatever the file's size.
#ifndef MENISCUS_PLUGIN_IO_PACK_H
#define MENISCUS_PLUGIN_IO_PACK_H

#include "meniscus/stream.h"
#include "plugin/io/source.h"

/// A source of what `inner` holds compressed. `inner` stays the caller's and must outlive it.
mn_status mn_gzip_unpack(mn_source *inner, mn_source **source);
mn_status mn_seekable_unpack(mn_source *inner, mn_source **source);

/// Takes bytes through `writer` and hands them on compressed.
typedef struct mn_packer mn_packer;
struct mn_packer {
    mn_writer writer;
    /// Writes what is still held and the end of the file.
    mn_status (*finish)(mn_packer *packer);
    void (*free)(mn_packer *packer);
};
mn_status mn_gzip_pack(mn_context *ctx, mn_writer to, mn_packer **packer);
mn_status mn_seekable_pack(mn_context *ctx, mn_writer to, mn_packer **packer);

#endif
