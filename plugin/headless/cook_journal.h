// SPDX-License-Identifier: Apache-2.0
//
// Which frames of a node have been written whole by this cook: a line in FOLDER/.NODE.cook for each, after a
// first line that says which scene it is. A frame that is not in it is written again, so files of an earlier
// cook with other settings are never taken for ours.
//
//   meniscus cook 2 KEY
//   12 STAMP               frame 12 is written; STAMP: what the input files held (cook_frames.c)
//   checkpoint 12 STAMP    the states of frame 12 are being kept
//
// The journal is locked from mn_journal_open() to mn_journal_close(): two cooks never write the same frames.
// A shared one is locked frame by frame, with the bytes of a file beside it; locks go with their process,
// whatever becomes of it.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_JOURNAL_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_JOURNAL_H

#include "meniscus/array.h"
#include "plugin/headless/scene_files.h"

typedef struct mn_journal_line {
    int32_t frame;
    bool checkpoint;
    uint64_t stamp;
} mn_journal_line;

typedef struct mn_journal {
    mn_context *ctx;
    char path[MN_PATH_SIZE];
    int descriptor;
    int frames; ///< descriptor of the file whose bytes are locked for frames, byte 0 for the journal; -1: not
                ///< shared
    uint64_t key; ///< of the scene
    MN_ARRAY(mn_journal_line) lines;
} mn_journal;

/// Opens and locks the file, and makes it when there is none. Nothing in it changes. A shared one is busy
/// until mn_journal_unlock().
mn_status mn_journal_open(mn_context *ctx, const char *path, bool shared, mn_journal *journal);
void mn_journal_unlock(const mn_journal *journal);
/// Takes a frame of a shared journal and reads what others have written meanwhile; *held is false while
/// somebody else has it.
mn_status mn_journal_hold(mn_journal *journal, int32_t frame, bool *held);
void mn_journal_let_go(const mn_journal *journal, int32_t frame);
/// Reads the lines of an old cook as far as they are whole, and lets go of the rest. The journal of another
/// scene is MN_ERROR_SCENE. *found says whether there was one; if not, nothing is read.
mn_status mn_journal_read(mn_journal *journal, uint64_t key, bool *found);
/// Starts anew for the scene `key`.
mn_status mn_journal_start(mn_journal *journal, uint64_t key);
bool mn_journal_has(const mn_journal *journal, int32_t frame);
mn_status mn_journal_add(mn_journal *journal, mn_journal_line line);
/// How many of the frames first, first + step, ... up to last the journal of another process holds; 0 when
/// there is none.
mn_status mn_journal_count(mn_context *ctx, const char *path, int32_t first, int32_t last, int32_t step,
                           int32_t *count);
void mn_journal_close(mn_journal *journal);

/// Appends all of `text` to an open file.
mn_status mn_append_text(mn_context *ctx, int descriptor, const char *path, const char *text, size_t size);
/// The whole file as text with a zero behind it; NULL without failure when there is none. Given back with
/// mn_release(ctx, *text, *size + 1).
mn_status mn_read_text(mn_context *ctx, const char *path, char **text, size_t *size);
/// The last `size` bytes of a file, or fewer when there are not so many; returns how many.
size_t mn_read_tail(const char *path, char *bytes, size_t size);
/// A text file, whole or as it was.
mn_status mn_write_text(mn_context *ctx, const char *path, const char *text);

#endif
