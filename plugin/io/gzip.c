// SPDX-License-Identifier: Apache-2.0
//
// gzip (RFC 1952) through zlib. The header carries no name and no time, so that equal geometry gives equal
// bytes.
#include "plugin/io/pack.h"

#include <string.h>
#include <zlib.h>

enum {
    BUFFER_SIZE = 1 << 18,
    GZIP = 15 + 16,         // zlib's way to ask for the largest window and a gzip header
    LEVEL = 4,              // about three times as fast as the default for a few per cent of size
    EXPANSION = 1032,       // deflate's best case
    ALLOCATION_HEADER = 64, // zlib gives memory back without its size
};

static void *allocate(void *user, unsigned count, unsigned size)
{
    const size_t bytes = mn_bytes(count, size);
    if (bytes > SIZE_MAX - ALLOCATION_HEADER) return NULL;
    size_t *memory = mn_allocate(user, bytes + ALLOCATION_HEADER);
    if (!memory) return NULL;
    *memory = bytes + ALLOCATION_HEADER;
    return (char *)memory + ALLOCATION_HEADER;
}

static void release(void *user, void *memory)
{
    if (!memory) return;
    size_t *header = (size_t *)(void *)((char *)memory - ALLOCATION_HEADER);
    mn_release(user, header, *header);
}

static void prepare(z_stream *stream, mn_context *ctx)
{
    memset(stream, 0, sizeof *stream);
    stream->zalloc = allocate;
    stream->zfree = release;
    stream->opaque = ctx;
}

// ---- in ----

typedef struct gzip_source {
    mn_source source;
    mn_source *inner;
    z_stream stream;
    bool between; ///< no member of the file is open
    uint8_t buffer[BUFFER_SIZE];
} gzip_source;

static mn_status fail_damaged(gzip_source *gzip)
{
    return mn_fail(gzip->source.ctx, MN_ERROR_FORMAT, "%s: the compressed data is damaged after byte %lld.",
                   gzip->source.name, (long long)mn_source_offset(gzip->inner));
}

/// Inflates from what is buffered of the inner source, once.
static mn_status inflate_some(gzip_source *gzip)
{
    mn_source *inner = gzip->inner;
    z_stream *stream = &gzip->stream;
    if (gzip->between && inflateReset(stream) != Z_OK) return fail_damaged(gzip);
    gzip->between = false;
    const size_t some = (size_t)(inner->end - inner->at);
    stream->next_in = (Bytef *)inner->at;
    stream->avail_in = some > BUFFER_SIZE ? BUFFER_SIZE : (unsigned)some;
    const int result = inflate(stream, Z_NO_FLUSH);
    inner->at = stream->next_in;
    if (result == Z_STREAM_END) gzip->between = true;
    if (result == Z_MEM_ERROR) return MN_ERROR_MEMORY;
    return result == Z_OK || result == Z_STREAM_END ? MN_OK : fail_damaged(gzip);
}

static mn_status refill(mn_source *source)
{
    gzip_source *gzip = (gzip_source *)source;
    gzip->stream.next_out = gzip->buffer;
    gzip->stream.avail_out = BUFFER_SIZE;
    source->at = source->end = gzip->buffer;
    while (gzip->stream.avail_out == BUFFER_SIZE) {
        MN_TRY(mn_source_fill(gzip->inner));
        if (gzip->inner->at == gzip->inner->end) {
            if (gzip->between) return MN_OK;
            return mn_fail(source->ctx, MN_ERROR_FORMAT,
                           "%s: the compressed data ends too early; it is truncated.", source->name);
        }
        MN_TRY(inflate_some(gzip));
    }
    source->end = gzip->buffer + (BUFFER_SIZE - gzip->stream.avail_out);
    return MN_OK;
}

static void close_source(mn_source *source)
{
    gzip_source *gzip = (gzip_source *)source;
    inflateEnd(&gzip->stream);
    mn_release(source->ctx, gzip, sizeof *gzip);
}

mn_status mn_gzip_unpack(mn_source *inner, mn_source **source)
{
    *source = NULL;
    gzip_source *gzip = mn_allocate(inner->ctx, sizeof *gzip);
    if (!gzip) return MN_ERROR_MEMORY;
    memset(&gzip->source, 0, sizeof gzip->source);
    gzip->source.ctx = inner->ctx;
    gzip->source.name = inner->name;
    gzip->source.refill = refill;
    gzip->source.close = close_source;
    gzip->source.most = inner->most < INT64_MAX / EXPANSION ? inner->most * EXPANSION : INT64_MAX;
    gzip->inner = inner;
    gzip->between = false;
    prepare(&gzip->stream, inner->ctx);
    if (inflateInit2(&gzip->stream, GZIP) != Z_OK) {
        mn_release(inner->ctx, gzip, sizeof *gzip);
        return MN_ERROR_MEMORY;
    }
    *source = &gzip->source;
    return MN_OK;
}

// ---- out ----

typedef struct gzip_packer {
    mn_packer packer;
    mn_writer to;
    z_stream stream;
    uint8_t buffer[BUFFER_SIZE];
} gzip_packer;

/// Deflates all input there is; with Z_FINISH, to the very end.
static mn_status deflate_all(gzip_packer *gzip, int flush)
{
    z_stream *stream = &gzip->stream;
    do {
        stream->next_out = gzip->buffer;
        stream->avail_out = BUFFER_SIZE;
        (void)deflate(stream, flush); // cannot fail: there is room, and the stream is in order
        MN_TRY(gzip->to.write(gzip->to.user, gzip->buffer, BUFFER_SIZE - stream->avail_out));
    } while (stream->avail_out == 0);
    return MN_OK;
}

static mn_status write_gzip(void *user, const void *bytes, size_t size)
{
    gzip_packer *gzip = user;
    const uint8_t *from = bytes;
    while (size > 0) {
        const unsigned some = size > BUFFER_SIZE ? BUFFER_SIZE : (unsigned)size;
        gzip->stream.next_in = (Bytef *)from;
        gzip->stream.avail_in = some;
        MN_TRY(deflate_all(gzip, Z_NO_FLUSH));
        from += some;
        size -= some;
    }
    return MN_OK;
}

static mn_status finish(mn_packer *packer)
{
    gzip_packer *gzip = (gzip_packer *)packer;
    gzip->stream.avail_in = 0;
    return deflate_all(gzip, Z_FINISH);
}

static void free_packer(mn_packer *packer)
{
    gzip_packer *gzip = (gzip_packer *)packer;
    deflateEnd(&gzip->stream);
    mn_release(packer->writer.ctx, gzip, sizeof *gzip);
}

mn_status mn_gzip_pack(mn_context *ctx, mn_writer to, mn_packer **packer)
{
    *packer = NULL;
    gzip_packer *gzip = mn_allocate(ctx, sizeof *gzip);
    if (!gzip) return MN_ERROR_MEMORY;
    gzip->packer.writer = (mn_writer){ctx, gzip, write_gzip};
    gzip->packer.finish = finish;
    gzip->packer.free = free_packer;
    gzip->to = to;
    prepare(&gzip->stream, ctx);
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        mn_release(ctx, gzip, sizeof *gzip);
        return MN_ERROR_MEMORY;
    }
    *packer = &gzip->packer;
    return MN_OK;
}
