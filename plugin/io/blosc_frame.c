// SPDX-License-Identifier: Apache-2.0
//
//   header    version 2, LZ4's version 1, flags, bytes per number; then as little-endian 32-bit numbers the
//             sizes of the contents, of a block and of the frame
//   starts    where each block begins, from the start of the frame
//   blocks    with the first bytes of all numbers, then the second ones, and so on; each of these parts is
//             compressed by itself with its size in front. A rest shorter than a number is a block of one
//             part
//
// A part that gets no shorter is stored as it is, and so is a frame (flag STORED, no starts).
#include "plugin/io/blosc_frame.h"

#include <blosc.h>
#include <lz4.h>
#include <string.h>

enum { SHUFFLED = 1, STORED = 2, BITS_SHUFFLED = 4, NOT_SPLIT = 16, FORMAT_SHIFT = 5, FORMAT_LZ4 = 1 };
enum { NUMBER = 4, MOST_PARTS = 16, SHORTEST_PART = 128, ACCELERATION = 1 };

static uint32_t get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

// ---- in ----

/// One block; returns the bytes written, or 0 when they do not fit between `at` and `end`.
static int32_t pack_block(const uint8_t *bytes, int32_t size, int32_t parts, uint8_t *at, const uint8_t *end,
                          void *state)
{
    const uint8_t *start = at;
    const int32_t length = size / parts;
    for (int32_t part = 0; part < parts; part++) {
        uint8_t *place = at;
        at += 4;
        if (at >= end) return 0;
        const int32_t room = (int32_t)(end - at) < length ? (int32_t)(end - at) : length;
        int32_t packed =
            LZ4_compress_fast_extState(state, (const char *)bytes, (char *)at, length, room, ACCELERATION);
        if (packed == 0 || packed == length) {
            if (end - at < length) return 0;
            memcpy(at, bytes, (size_t)length);
            packed = length;
        }
        put_u32(place, (uint32_t)packed);
        at += packed;
        bytes += length;
    }
    return (int32_t)(at - start);
}

/// The first bytes of all numbers, then the second ones, and so on.
static void shuffle4(const uint8_t *restrict from, int32_t size, uint8_t *restrict to)
{
    const int32_t count = size / NUMBER;
    uint8_t *restrict a = to, *restrict b = a + count, *restrict c = b + count, *restrict d = c + count;
    for (int32_t i = 0; i < count; i++) {
        a[i] = from[4 * i];
        b[i] = from[4 * i + 1];
        c[i] = from[4 * i + 2];
        d[i] = from[4 * i + 3];
    }
}

int32_t mn_blosc_pack(const uint8_t *bytes, int32_t size, uint8_t *frame, uint8_t *scratch)
{
    const int32_t block = size >= NUMBER ? size / NUMBER * NUMBER : 1, rest = size - block;
    const int32_t blocks = rest > 0 ? 2 : 1;
    const int32_t parts = block / NUMBER >= SHORTEST_PART ? NUMBER : 1;
    uint8_t *state = scratch + MN_BLOSC_BLOCK;
    const uint8_t *end = frame + MN_BLOSC_FRAME_MAX;
    _Static_assert(MN_BLOSC_SCRATCH - MN_BLOSC_BLOCK >= sizeof(LZ4_stream_t), "room for the state of LZ4");
    uint8_t flags = SHUFFLED | FORMAT_LZ4 << FORMAT_SHIFT | (parts == 1 ? NOT_SPLIT : 0);
    int32_t at = MN_BLOSC_HEADER + 4 * blocks, first = 0, second = 0;
    if (size < SHORTEST_PART) {
        flags |= STORED;
    } else {
        shuffle4(bytes, block, scratch);
        put_u32(frame + MN_BLOSC_HEADER, (uint32_t)at);
        first = pack_block(scratch, block, parts, frame + at, end, state);
        at += first;
        if (first > 0 && rest > 0) {
            put_u32(frame + MN_BLOSC_HEADER + 4, (uint32_t)at);
            second = pack_block(bytes + block, rest, 1, frame + at, end, state);
            at += second;
        }
        if (first == 0 || (rest > 0 && second == 0)) flags |= STORED;
    }
    if (flags & STORED) {
        memcpy(frame + MN_BLOSC_HEADER, bytes, (size_t)size);
        at = MN_BLOSC_HEADER + size;
    }
    frame[0] = BLOSC_VERSION_FORMAT, frame[1] = BLOSC_LZ4_VERSION_FORMAT, frame[2] = flags, frame[3] = NUMBER;
    put_u32(frame + 4, (uint32_t)size);
    put_u32(frame + 8, (uint32_t)block);
    put_u32(frame + 12, (uint32_t)at);
    return at;
}

// ---- out ----

size_t mn_blosc_contents_size(const uint8_t *header)
{
    return get_u32(header + 4);
}

size_t mn_blosc_frame_size(const uint8_t *header)
{
    return get_u32(header + 12);
}

static void unshuffle(const uint8_t *restrict from, size_t size, size_t number, uint8_t *restrict to)
{
    const size_t count = size / number;
    if (number == NUMBER) {
        const uint8_t *restrict a = from, *restrict b = a + count, *restrict c = b + count,
                                *restrict d = c + count;
        for (size_t i = 0; i < count; i++) {
            to[4 * i] = a[i];
            to[4 * i + 1] = b[i];
            to[4 * i + 2] = c[i];
            to[4 * i + 3] = d[i];
        }
    } else {
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < number; k++) to[number * i + k] = from[k * count + i];
    }
    memcpy(to + count * number, from + count * number, size - count * number);
}

static int unpack_block(const uint8_t *at, const uint8_t *end, size_t parts, uint8_t *to, size_t size)
{
    if (size % parts != 0) return 0;
    const size_t length = size / parts;
    for (size_t part = 0; part < parts; part++, to += length) {
        if (end - at < 4) return 0;
        const uint32_t packed = get_u32(at);
        at += 4;
        if (packed == 0 || packed > (size_t)(end - at)) return 0;
        if (packed == length)
            memcpy(to, at, length);
        else if (LZ4_decompress_safe((const char *)at, (char *)to, (int)packed, (int)length) != (int)length)
            return 0;
        at += packed;
    }
    return 1;
}

static int unpack_lz4(const uint8_t *frame, size_t frame_size, uint8_t *bytes, size_t size, uint8_t *scratch)
{
    const size_t block = get_u32(frame + 8), number = frame[3];
    const uint8_t flags = frame[2];
    if (block == 0 || block > size || number == 0) return 0;
    const size_t blocks = (size + block - 1) / block;
    if (blocks > (frame_size - MN_BLOSC_HEADER) / 4) return 0;
    for (size_t i = 0; i < blocks; i++) {
        const size_t start = get_u32(frame + MN_BLOSC_HEADER + 4 * i), done = i * block;
        const size_t length = size - done < block ? size - done : block;
        if (start < MN_BLOSC_HEADER || start >= frame_size) return 0;
        const int split = !(flags & NOT_SPLIT) && length == block && number <= MOST_PARTS &&
                          block / number >= SHORTEST_PART;
        const int shuffled = (flags & SHUFFLED) && number > 1;
        if (!unpack_block(frame + start, frame + frame_size, split ? number : 1,
                          shuffled ? scratch : bytes + done, length))
            return 0;
        if (shuffled) unshuffle(scratch, length, number, bytes + done);
    }
    return 1;
}

int mn_blosc_unpack(const uint8_t *frame, size_t frame_size, uint8_t *bytes, size_t size, uint8_t *scratch)
{
    size_t told;
    if (size > BLOSC_MAX_BUFFERSIZE || blosc_cbuffer_validate(frame, frame_size, &told) != 0 || told != size)
        return 0;
    const uint8_t flags = frame[2];
    if (flags & STORED) {
        if (frame_size - MN_BLOSC_HEADER != size) return 0;
        memcpy(bytes, frame + MN_BLOSC_HEADER, size);
        return 1;
    }
    const int ours = flags >> FORMAT_SHIFT == FORMAT_LZ4 && !(flags & BITS_SHUFFLED) &&
                     frame[1] == BLOSC_LZ4_VERSION_FORMAT;
    if (ours) return unpack_lz4(frame, frame_size, bytes, size, scratch);
    const int result = blosc_decompress_ctx(frame, bytes, size, 1);
    return result >= 0 && (size_t)result == size;
}
