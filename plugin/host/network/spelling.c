// SPDX-License-Identifier: Apache-2.0
//
// The nearest spelling: fewest insertions, deletions, replacements and swaps of neighbours (the optimal
// string alignment distance), upper and lower case taken for the same.
#define _POSIX_C_SOURCE 200809L
#include "plugin/host/network/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 48, SHOWN_BYTES = 64 };

const char *mn_show(mn_shown *shown, const char *word)
{
    size_t length = 0;
    while (length < SHOWN_BYTES && word[length] != '\0') length++;
    const bool cut = word[length] != '\0';
    // Not in the middle of a character of several bytes.
    if (cut)
        while (length > 0 && ((unsigned char)word[length] & 0xc0u) == 0x80u) length--;
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)word[i];
        shown->text[i] = byte < 32 || byte == 127 ? '?' : word[i];
    }
    strcpy(shown->text + length, cut ? "..." : "");
    return shown->text;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// d[i][j]: edits between the first i letters of a and the first j of b; only three rows are ever needed.
static int32_t edit_distance(const char *a, int32_t a_length, const char *b, int32_t b_length)
{
    int32_t rows[3][LONGEST_WORD + 1];
    for (int32_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (int32_t i = 1; i <= a_length; i++) {
        int32_t *row = rows[i % 3];
        const int32_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int32_t j = 1; j <= b_length; j++) {
            const bool same = same_letter(a[i - 1], b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (same ? 0 : 1));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

mn_nearest mn_nearest_to(const char *word)
{
    // A third of the letters may be wrong, and one more: beyond that a suggestion only confuses.
    const mn_nearest nearest = {word, NULL, 2 + (int32_t)(strnlen(word, LONGEST_WORD) / 3)};
    return nearest;
}

void mn_nearest_try(mn_nearest *nearest, const char *candidate)
{
    const size_t word_length = strnlen(nearest->word, LONGEST_WORD + 1);
    const size_t candidate_length = strnlen(candidate, LONGEST_WORD + 1);
    if (word_length == 0 || word_length > LONGEST_WORD || candidate_length > LONGEST_WORD) return;
    // A word that is begun is as good as one with a letter wrong.
    const bool begun = word_length > 1 && strncmp(nearest->word, candidate, word_length) == 0;
    const int32_t distance =
        begun ? 1 : edit_distance(nearest->word, (int32_t)word_length, candidate, (int32_t)candidate_length);
    // Replacing every letter is no resemblance.
    if (distance >= nearest->distance || distance >= (int32_t)candidate_length) return;
    nearest->distance = distance;
    nearest->best = candidate;
}

const char *mn_nearest_hint(const mn_nearest *nearest, mn_shown *shown)
{
    if (!nearest->best) return ".";
    snprintf(shown->text, sizeof shown->text, "; did you mean '%.50s'?", nearest->best);
    return shown->text;
}
