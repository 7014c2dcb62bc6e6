// SPDX-License-Identifier: Apache-2.0
//
// Houdini's seekable container (.sc):
//
//   "scf1", 8 zero bytes
//   C-Blosc frames, each of one block of the contents
//   index of big-endian u64: the offset of each frame but the first (from the first), the size of a block,
//   the size of the last block
//   the index's size in bytes, big-endian u64, and "1fcs"
//
// Blocks are 1 MiB, shuffled by 4 bytes and compressed by LZ4 at level 9 (blosc_frame.h), which gives
// Houdini's own bytes. Blocks are independent, so several are worked on at once; the bytes do not depend on
// how many.
#include "plugin/io/blosc_frame.h"
#include "plugin/io/pack.h"

#include "meniscus/array.h"
#include "meniscus/parallel.h"

#include <string.h>

enum {
    BLOCK = MN_BLOSC_BLOCK,
    HEADER = 12,
    EXPANSION = 256,        // LZ4's best case
    EXPANSION_FLOOR = 4096, // what a tiny frame may hold whatever its size
    BATCH_MAX = 16,         // blocks at once
};

static int32_t batch_size(const mn_context *ctx)
{
    const int32_t workers = mn_worker_count(ctx);
    return workers < 1 ? 1 : workers < BATCH_MAX ? workers : BATCH_MAX;
}

static void put_u64(uint8_t *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

static uint64_t get_u64(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

// ---- in ----

typedef struct frame {
    MN_ARRAY(uint8_t) packed;
    MN_ARRAY(uint8_t) plain; ///< room for its contents, unless they go to where they are wanted
    MN_ARRAY(uint8_t) scratch;
    int64_t size; ///< of the contents
    uint8_t *to;  ///< where they go
} frame;

typedef struct seekable_source {
    mn_source source;
    mn_source *inner;
    MN_ARRAY(int64_t) offsets; ///< of the frames, from the first
    int64_t last_size;         ///< of the contents of the last frame
    bool ended;
    int32_t batch;
    int32_t held, given; ///< frames read, and of those handed out already
    int32_t unpacked;    ///< and of those unpacked: all or none
    frame frames[BATCH_MAX];
} seekable_source;

static mn_status fail_damaged(seekable_source *seekable, const char *what)
{
    return mn_fail(seekable->source.ctx, MN_ERROR_FORMAT, "%s: at byte %lld: %s; the file is damaged.",
                   seekable->source.name, (long long)mn_source_offset(seekable->inner), what);
}

/// Reads one frame; `first` is its first byte, taken already.
static mn_status read_frame(seekable_source *seekable, uint8_t first)
{
    mn_source *inner = seekable->inner;
    mn_context *ctx = inner->ctx;
    int64_t offset = mn_source_offset(inner) - 1 - HEADER;
    uint8_t header[MN_BLOSC_HEADER];
    header[0] = first;
    MN_TRY(mn_source_read(inner, header + 1, sizeof header - 1));
    const size_t size = mn_blosc_contents_size(header), packed_size = mn_blosc_frame_size(header);
    if (packed_size < sizeof header || packed_size - sizeof header > (size_t)mn_source_left(inner))
        return fail_damaged(seekable, "a compressed block is longer than the file");
    if (size == 0 || size > packed_size * EXPANSION + EXPANSION_FLOOR)
        return fail_damaged(seekable, "a compressed block claims more than it can hold");

    frame *to = &seekable->frames[seekable->held];
    MN_TRY(mn_array_push(ctx, &seekable->offsets, &offset));
    MN_TRY(mn_array_resize(ctx, &to->packed, (int64_t)packed_size));
    to->size = (int64_t)size;
    memcpy(to->packed.data, header, sizeof header);
    MN_TRY(mn_source_read(inner, to->packed.data + sizeof header, packed_size - sizeof header));
    seekable->held++;
    seekable->last_size = (int64_t)size;
    return MN_OK;
}

/// The index after the frames must agree with them; `first` is its first byte, taken already.
static mn_status read_index(seekable_source *seekable, uint8_t first)
{
    mn_source *inner = seekable->inner;
    const int64_t frames = seekable->offsets.count;
    uint8_t entry[8];
    for (int64_t i = 0; i < frames + 2; i++) { // frames - 1 offsets, two sizes, the byte count
        entry[0] = first;
        MN_TRY(mn_source_read(inner, entry + (i == 0), sizeof entry - (i == 0)));
        const uint64_t value = get_u64(entry);
        bool good = true;
        if (i < frames - 1)
            good = value == (uint64_t)seekable->offsets.data[i + 1];
        else if (i == frames)
            good = value == (uint64_t)seekable->last_size;
        else if (i == frames + 1)
            good = value == (uint64_t)(frames + 1) * 8;
        if (!good) return fail_damaged(seekable, "the index does not agree with the blocks");
    }
    MN_TRY(mn_source_read(inner, entry, 4));
    MN_TRY(mn_source_fill(inner));
    if (memcmp(entry, "1fcs", 4) != 0 || inner->at != inner->end)
        return fail_damaged(seekable, "the end mark is missing");
    return MN_OK;
}

static mn_status read_batch(seekable_source *seekable)
{
    seekable->held = seekable->given = seekable->unpacked = 0;
    while (seekable->held < seekable->batch && !seekable->ended) {
        uint8_t first;
        MN_TRY(mn_source_read(seekable->inner, &first, 1));
        if (first !=
            0) { // a frame starts with Blosc's version; the index with a zero, the top of a small u64
            MN_TRY(read_frame(seekable, first));
        } else {
            if (seekable->offsets.count == 0) return fail_damaged(seekable, "there are no blocks");
            MN_TRY(read_index(seekable, first));
            seekable->ended = true;
        }
    }
    return MN_OK;
}

static mn_status unpack(void *user, mn_range range)
{
    seekable_source *seekable = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        frame *f = &seekable->frames[i];
        MN_TRY(mn_array_resize(seekable->source.ctx, &f->scratch, f->size));
        if (!mn_blosc_unpack(f->packed.data, (size_t)f->packed.count, f->to, (size_t)f->size,
                             f->scratch.data))
            return mn_fail(seekable->source.ctx, MN_ERROR_FORMAT,
                           "%s: block %lld cannot be unpacked; the file is damaged.", seekable->source.name,
                           (long long)(seekable->offsets.count - seekable->held + i));
    }
    return MN_OK;
}

static mn_status unpack_all(seekable_source *seekable)
{
    seekable->unpacked = seekable->held;
    return mn_parallel_for(seekable->source.ctx, seekable->held, 1, unpack, seekable);
}

/// Whole batches that fit go straight to `bytes`.
static mn_status direct(mn_source *source, uint8_t *bytes, size_t size, size_t *given)
{
    seekable_source *seekable = (seekable_source *)source;
    if (seekable->given == seekable->held && !seekable->ended) MN_TRY(read_batch(seekable));
    int64_t all = 0;
    for (int32_t i = 0; i < seekable->held; i++) {
        seekable->frames[i].to = bytes + all;
        all += seekable->frames[i].size;
        if ((size_t)all > size) return MN_OK;
    }
    if (seekable->unpacked > 0 || seekable->held == 0) return MN_OK;
    MN_TRY(unpack_all(seekable));
    seekable->given = seekable->held;
    *given = (size_t)all;
    return MN_OK;
}

static mn_status refill(mn_source *source)
{
    seekable_source *seekable = (seekable_source *)source;
    if (seekable->given == seekable->held && !seekable->ended) MN_TRY(read_batch(seekable));
    if (seekable->unpacked == 0) {
        for (int32_t i = 0; i < seekable->held; i++) {
            frame *f = &seekable->frames[i];
            MN_TRY(mn_array_resize(source->ctx, &f->plain, f->size));
            f->to = f->plain.data;
        }
        MN_TRY(unpack_all(seekable));
    }
    source->at = source->end = NULL;
    if (seekable->given == seekable->held) return MN_OK;
    const frame *f = &seekable->frames[seekable->given++];
    source->at = f->plain.data;
    source->end = f->plain.data + f->size;
    return MN_OK;
}

static void close_source(mn_source *source)
{
    seekable_source *seekable = (seekable_source *)source;
    for (int i = 0; i < BATCH_MAX; i++) {
        mn_array_free(source->ctx, &seekable->frames[i].packed);
        mn_array_free(source->ctx, &seekable->frames[i].plain);
        mn_array_free(source->ctx, &seekable->frames[i].scratch);
    }
    mn_array_free(source->ctx, &seekable->offsets);
    mn_release(source->ctx, seekable, sizeof *seekable);
}

mn_status mn_seekable_unpack(mn_source *inner, mn_source **source)
{
    *source = NULL;
    uint8_t header[HEADER];
    MN_TRY(mn_source_read(inner, header, sizeof header));
    if (memcmp(header, "scf1\0\0\0\0\0\0\0\0", HEADER) != 0)
        return mn_fail(inner->ctx, MN_ERROR_FORMAT, "%s: this is not a .sc file that is known.", inner->name);
    seekable_source *seekable = mn_allocate_zero(inner->ctx, sizeof *seekable);
    if (!seekable) return MN_ERROR_MEMORY;
    seekable->source.ctx = inner->ctx;
    seekable->source.name = inner->name;
    seekable->source.refill = refill;
    seekable->source.direct = direct;
    seekable->source.close = close_source;
    seekable->source.most = inner->most < INT64_MAX / EXPANSION ? inner->most * EXPANSION : INT64_MAX;
    seekable->inner = inner;
    seekable->batch = batch_size(inner->ctx);
    *source = &seekable->source;
    return MN_OK;
}

// ---- out ----

typedef struct seekable_packer {
    mn_packer packer;
    mn_writer to;
    MN_ARRAY(int64_t) offsets; ///< of the frames, from the first
    int64_t written;           ///< bytes of frames
    int64_t last_size;
    int32_t batch;
    int64_t held;             ///< bytes of contents not yet packed
    uint8_t *plain;           ///< room for them
    const uint8_t *from;      ///< what is being packed
    int64_t size;             ///< and how much
    uint8_t *packed;          ///< batch frames
    uint8_t *scratch;         ///< of each
    int32_t sizes[BATCH_MAX]; ///< of the frames
} seekable_packer;

static int64_t block_bytes(const seekable_packer *seekable, int64_t i)
{
    const int64_t left = seekable->size - i * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

static mn_status pack(void *user, mn_range range)
{
    seekable_packer *seekable = user;
    for (int64_t i = range.begin; i < range.end; i++)
        seekable->sizes[i] = mn_blosc_pack(seekable->from + i * BLOCK, (int32_t)block_bytes(seekable, i),
                                           seekable->packed + i * MN_BLOSC_FRAME_MAX,
                                           seekable->scratch + i * MN_BLOSC_SCRATCH);
    return MN_OK;
}

/// Packs and writes up to a batch of blocks.
static mn_status write_blocks(seekable_packer *seekable, const uint8_t *from, int64_t size)
{
    const int64_t blocks = (size + BLOCK - 1) / BLOCK;
    seekable->from = from;
    seekable->size = size;
    MN_TRY(mn_parallel_for(seekable->to.ctx, blocks, 1, pack, seekable));
    for (int64_t i = 0; i < blocks; i++) {
        MN_TRY(mn_array_push(seekable->to.ctx, &seekable->offsets, &seekable->written));
        MN_TRY(seekable->to.write(seekable->to.user, seekable->packed + i * MN_BLOSC_FRAME_MAX,
                                  (size_t)seekable->sizes[i]));
        seekable->written += seekable->sizes[i];
        seekable->last_size = block_bytes(seekable, i);
    }
    return MN_OK;
}

static mn_status flush_blocks(seekable_packer *seekable)
{
    MN_TRY(write_blocks(seekable, seekable->plain, seekable->held));
    seekable->held = 0;
    return MN_OK;
}

static mn_status write_seekable(void *user, const void *bytes, size_t size)
{
    seekable_packer *seekable = user;
    const uint8_t *from = bytes;
    const int64_t room = (int64_t)seekable->batch * BLOCK;
    while (size > 0) {
        if (seekable->held == room) MN_TRY(flush_blocks(seekable));
        if (seekable->held == 0 && size > (size_t)room) { // needs no copy; the last block is not among these
            MN_TRY(write_blocks(seekable, from, room));
            from += room;
            size -= (size_t)room;
            continue;
        }
        int64_t some = room - seekable->held;
        if ((size_t)some > size) some = (int64_t)size;
        memcpy(seekable->plain + seekable->held, from, (size_t)some);
        seekable->held += some;
        from += some;
        size -= (size_t)some;
    }
    return MN_OK;
}

static mn_status finish(mn_packer *packer)
{
    seekable_packer *seekable = (seekable_packer *)packer;
    mn_writer *to = &seekable->to;
    MN_TRY(flush_blocks(seekable));
    uint8_t entry[8];
    for (int64_t i = 1; i < seekable->offsets.count; i++) {
        put_u64(entry, (uint64_t)seekable->offsets.data[i]);
        MN_TRY(to->write(to->user, entry, sizeof entry));
    }
    put_u64(entry, BLOCK);
    MN_TRY(to->write(to->user, entry, sizeof entry));
    put_u64(entry, (uint64_t)seekable->last_size);
    MN_TRY(to->write(to->user, entry, sizeof entry));
    put_u64(entry, (uint64_t)(seekable->offsets.count + 1) * 8);
    MN_TRY(to->write(to->user, entry, sizeof entry));
    return to->write(to->user, "1fcs", 4);
}

static void free_packer(mn_packer *packer)
{
    seekable_packer *seekable = (seekable_packer *)packer;
    mn_context *ctx = seekable->to.ctx;
    mn_array_free(ctx, &seekable->offsets);
    mn_release(ctx, seekable->plain, mn_bytes(seekable->batch, BLOCK));
    mn_release(ctx, seekable->packed, mn_bytes(seekable->batch, MN_BLOSC_FRAME_MAX));
    mn_release(ctx, seekable->scratch, mn_bytes(seekable->batch, MN_BLOSC_SCRATCH));
    mn_release(ctx, seekable, sizeof *seekable);
}

mn_status mn_seekable_pack(mn_context *ctx, mn_writer to, mn_packer **packer)
{
    *packer = NULL;
    seekable_packer *seekable = mn_allocate_zero(ctx, sizeof *seekable);
    if (!seekable) return MN_ERROR_MEMORY;
    seekable->packer.writer = (mn_writer){ctx, seekable, write_seekable};
    seekable->packer.finish = finish;
    seekable->packer.free = free_packer;
    seekable->to = to;
    seekable->batch = batch_size(ctx);
    seekable->plain = mn_allocate(ctx, mn_bytes(seekable->batch, BLOCK));
    seekable->packed = mn_allocate(ctx, mn_bytes(seekable->batch, MN_BLOSC_FRAME_MAX));
    seekable->scratch = mn_allocate(ctx, mn_bytes(seekable->batch, MN_BLOSC_SCRATCH));
    mn_status status = MN_ERROR_MEMORY;
    if (seekable->plain && seekable->packed && seekable->scratch)
        status = to.write(to.user, "scf1\0\0\0\0\0\0\0\0", HEADER);
    if (status == MN_OK)
        *packer = &seekable->packer;
    else
        free_packer(&seekable->packer);
    return status;
}
