// SPDX-License-Identifier: Apache-2.0
//
// Words of a user in sentences for a user: shown safely, and with the nearest valid spelling.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_SPELLING_H
#define MENISCUS_PLUGIN_HOST_NETWORK_SPELLING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Room for a word as it stands in a sentence.
typedef struct mn_shown {
    char text[80];
} mn_shown;

/// The word, cut to 64 bytes with "..." and without control characters, so that a megabyte of a name or a
/// terminal's escape codes do no harm in a message.
const char *mn_show(mn_shown *shown, const char *word);

/// Finds the nearest of many words, given one after the other.
typedef struct mn_nearest {
    const char *word; ///< what the user wrote
    const char *best; ///< NULL while nothing is near
    int32_t distance; ///< edits between the two
} mn_nearest;

mn_nearest mn_nearest_to(const char *word);
/// `candidate` must outlive the search. The first of equally near ones wins.
void mn_nearest_try(mn_nearest *nearest, const char *candidate);
/// "; did you mean 'radius'?", or "." when nothing is near.
const char *mn_nearest_hint(const mn_nearest *nearest, mn_shown *shown);

#ifdef __cplusplus
}
#endif
#endif
