// SPDX-License-Identifier: Apache-2.0
//
// One frame of C-Blosc 1: bytes of 4-byte numbers, shuffled and compressed by LZ4. Blosc itself does not
// check its own malloc and ends the process when memory is out, so LZ4's frames are packed and unpacked here
// with room that the caller has asked for; the bytes are Blosc's. Frames of other compressors go to Blosc.
#ifndef MENISCUS_PLUGIN_IO_BLOSC_FRAME_H
#define MENISCUS_PLUGIN_IO_BLOSC_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum {
    MN_BLOSC_HEADER = 16,
    MN_BLOSC_BLOCK = 1 << 20, ///< bytes that a frame holds at most when it is packed
    MN_BLOSC_FRAME_MAX = MN_BLOSC_BLOCK + MN_BLOSC_HEADER,
    MN_BLOSC_SCRATCH = MN_BLOSC_BLOCK + (1 << 16), ///< what packing needs
};

/// Packs 1 to MN_BLOSC_BLOCK bytes; returns the size of the frame. `frame` has MN_BLOSC_FRAME_MAX bytes,
/// `scratch` MN_BLOSC_SCRATCH, aligned to 8.
int32_t mn_blosc_pack(const uint8_t *bytes, int32_t size, uint8_t *frame, uint8_t *scratch);
/// What a header of MN_BLOSC_HEADER bytes says, not to be trusted: the sizes of the contents and of the
/// frame.
size_t mn_blosc_contents_size(const uint8_t *header);
size_t mn_blosc_frame_size(const uint8_t *header);
/// Unpacks a frame of `frame_size` bytes into exactly `size`; false when it is damaged. `scratch` has `size`
/// bytes.
int mn_blosc_unpack(const uint8_t *frame, size_t frame_size, uint8_t *bytes, size_t size, uint8_t *scratch);

#endif
