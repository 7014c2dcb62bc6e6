// SPDX-License-Identifier: Apache-2.0
//
// Which frames of a node have been written whole by this cook: a line in FOLDER/.NODE.cook for each, after a
// first line that says which scene it is. A frame that is not in it is written again, so files of an earlier
// cook with other settings are never taken for ours.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_JOURNAL_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_JOURNAL_H

#include "meniscus/array.h"

enum { MN_PATH_SIZE = 4096 };

typedef struct mn_journal {
    mn_context *ctx;
    char path[MN_PATH_SIZE];
    int descriptor;
    MN_ARRAY(int32_t) frames;
} mn_journal;

/// Starts a journal for the scene `key`, or with `resume` goes on with the one that is there; that of another
/// scene is MN_ERROR_SCENE. *found says whether there was one.
mn_status mn_journal_open(mn_context *ctx, const char *path, uint64_t key, bool resume, mn_journal *journal,
                          bool *found);
bool mn_journal_has(const mn_journal *journal, int32_t frame);
mn_status mn_journal_add(mn_journal *journal, int32_t frame);
void mn_journal_close(mn_journal *journal);

/// Appends all of `text` to an open file.
mn_status mn_append_text(mn_context *ctx, int descriptor, const char *path, const char *text, size_t size);
/// The whole file as text with a zero behind it; NULL without failure when there is none. Given back with
/// mn_release(ctx, *text, *size + 1).
mn_status mn_read_text(mn_context *ctx, const char *path, char **text, size_t *size);

#endif
