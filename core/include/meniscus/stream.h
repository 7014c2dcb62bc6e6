// SPDX-License-Identifier: Apache-2.0
//
// Bytes out and in through callbacks: how a solver saves its state without knowing about files. Numbers are
// written little-endian; a tag before each part makes a mixed-up stream a clear error instead of nonsense.
// And the hash of bytes.
#ifndef MENISCUS_STREAM_H
#define MENISCUS_STREAM_H

#include "meniscus/context.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_writer {
    mn_context *ctx;
    void *user;
    /// Takes all `size` bytes or fails with a sentence in ctx.
    mn_status (*write)(void *user, const void *bytes, size_t size);
} mn_writer;

typedef struct mn_reader {
    mn_context *ctx;
    void *user;
    /// Gives exactly `size` bytes or fails with a sentence in ctx.
    mn_status (*read)(void *user, void *bytes, size_t size);
} mn_reader;

/// Starts a part: a tag of at most 31 characters and a version.
MN_API mn_status mn_write_tag(mn_writer *out, const char *tag, int32_t version);
/// Fails with MN_ERROR_FORMAT when the tag is another; gives the version that was written, at most `newest`.
MN_API mn_status mn_read_tag(mn_reader *in, const char *tag, int32_t newest, int32_t *version);

MN_API mn_status mn_write_i64(mn_writer *out, int64_t value);
MN_API mn_status mn_read_i64(mn_reader *in, int64_t *value);
MN_API mn_status mn_write_f64(mn_writer *out, double value);
MN_API mn_status mn_read_f64(mn_reader *in, double *value);
/// `count` elements of `element_size` bytes, preceded by both.
MN_API mn_status mn_write_block(mn_writer *out, const void *data, int64_t count, size_t element_size);
/// Fails when the stream holds another count or element size.
MN_API mn_status mn_read_block(mn_reader *in, void *data, int64_t count, size_t element_size);

/// An MN_ARRAY of any length, in pieces: reading takes memory as the bytes come in, so a damaged count fails
/// at the end of the stream and not in the allocator.
#define mn_write_array(out, array)                                                                           \
    mn_write_array_bytes((out), (array)->data, (array)->count, sizeof *(array)->data)
#define mn_read_array(in, array)                                                                             \
    mn_read_array_bytes((in), &(array)->data, &(array)->count, &(array)->capacity, sizeof *(array)->data)
MN_API mn_status mn_write_array_bytes(mn_writer *out, const void *data, int64_t count, size_t element_size);
MN_API mn_status mn_read_array_bytes(mn_reader *in, void *data, int64_t *count, int64_t *capacity,
                                     size_t element_size);

// ---- hashes ----
//
// A 64-bit hash for change detection and checksums; not for secrets. The same on every machine.

/// Hash of the bytes; chain calls by passing the last result as `seed` (the first is any number).
MN_API uint64_t mn_hash_bytes(uint64_t seed, const void *bytes, size_t size);
/// Of a string, its length included, so that ("ab","c") and ("a","bc") differ.
MN_API uint64_t mn_hash_string(uint64_t seed, const char *string);
MN_API uint64_t mn_hash_u64(uint64_t seed, uint64_t value);
/// Of the bits: 0 and -0 differ.
MN_API uint64_t mn_hash_f64(uint64_t seed, double value);

#ifdef __cplusplus
}
#endif
#endif
