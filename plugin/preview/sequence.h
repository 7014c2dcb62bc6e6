// SPDX-License-Identifier: Apache-2.0
//
// Pictures of files. Files with the same frame number are seen together, those without a number in every
// picture; all pictures share one camera and one colour ramp.
#ifndef MENISCUS_PLUGIN_PREVIEW_SEQUENCE_H
#define MENISCUS_PLUGIN_PREVIEW_SEQUENCE_H

#include "plugin/headless/session.h"
#include "plugin/preview/preview.h"

typedef struct mn_preview_file {
    char *path;
    bool numbered;
    int64_t frame;
} mn_preview_file;

typedef struct mn_preview_sequence {
    mn_session *session;
    mn_preview_def def;
    int32_t columns; ///< of a sheet; 0: as square as it gets
    MN_ARRAY(mn_preview_file) files;
    MN_ARRAY(int64_t) frames; ///< the numbers that occur, rising; made by mn_preview_sequence_draw
} mn_preview_sequence;

mn_status mn_preview_sequence_add(mn_preview_sequence *sequence, const char *path, bool numbered,
                                  int64_t frame);
/// The number at the end of a file's name, before its ending: "drop.0012.bgeo.sc" is frame 12.
bool mn_frame_of_path(const char *path, int64_t *frame);
/// How many pictures there are: the different numbers, or one.
mn_status mn_preview_sequence_count(mn_preview_sequence *sequence, int64_t *count);

/// Writes each frame to `pictures`, where $F, $F4 and the like stand for its number, and a sheet of up to
/// MN_PREVIEW_SHEET_MAX frames to `sheet`; either may be NULL.
enum { MN_PREVIEW_SHEET_MAX = 48 };
mn_status mn_preview_sequence_draw(mn_preview_sequence *sequence, const char *pictures, const char *sheet);
void mn_preview_sequence_free(mn_preview_sequence *sequence);

#endif
