// SPDX-License-Identifier: Apache-2.0
//
// What nodes had to say during a cook, for those who look at it later: FOLDER/notes.jsonl, a line for each
// warning and error: {"frame": 12, "kind": "warning", "node": "drop", "text": "..."}. Without any there is no
// file.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_NOTES_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_NOTES_H

#include "plugin/headless/cook_frames.h"

#define MN_COOK_NOTES "notes.jsonl"

/// Removes those of an earlier cook.
mn_status mn_cook_notes_clear(const mn_cook_job *job);
/// `node` may be "". Notes are a service: a disk that is full is for the frames to complain about.
void mn_cook_note(const mn_cook_job *job, int32_t frame, const char *kind, const char *node,
                  const char *text);

#endif
