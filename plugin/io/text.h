// SPDX-License-Identifier: Apache-2.0
//
// Words and lines of a text, for .obj and .ply: of one in memory, or of a source through a window that holds
// the line at hand. Numbers are read the same in every locale, as long as the caller holds an
// mn_plain_locale.
#ifndef MENISCUS_PLUGIN_IO_TEXT_H
#define MENISCUS_PLUGIN_IO_TEXT_H

#include "meniscus/array.h"
#include "plugin/io/io.h"
#include "plugin/io/source.h"

typedef struct mn_text {
    mn_context *ctx;
    const char *name; ///< of the file, for sentences
    const char *at, *end;
    int64_t line;   ///< counted from 1
    bool continued; ///< a backslash at the end of a line joins it to the next
    // of a source:
    mn_source *source;     ///< the caller's; NULL: all is in memory
    MN_ARRAY(char) window; ///< at and end point into it
    mn_status status;      ///< the first failure to read on, which ends the text
} mn_text;

/// The text of a source, at its first line. Close it in any case. Words live until the next line.
mn_status mn_text_open(mn_context *ctx, mn_source *source, bool continued, mn_text *text);
void mn_text_close(mn_text *text);

typedef struct mn_word {
    const char *begin;
    size_t length;
} mn_word;

/// The next word of this line; false at its end.
bool mn_text_word(mn_text *text, mn_word *word);
/// The rest of this line without the blanks around it.
mn_word mn_text_rest(mn_text *text);
/// On to the next line; false at the end of the file, and when it cannot be read on (see status).
bool mn_text_next_line(mn_text *text);

bool mn_word_is(mn_word word, const char *string);
/// Copies a word into `buffer` as a string; false when it does not fit.
bool mn_word_copy(mn_word word, char *buffer, size_t size);
/// The whole word is a number ("nan" and "inf" too); fails with the line otherwise.
mn_status mn_text_real(mn_text *text, mn_word word, double *value);
mn_status mn_text_integer(mn_text *text, mn_word word, int64_t *value);

/// A sentence with file and line before it.
__attribute__((format(printf, 3, 4))) mn_status mn_text_fail(mn_text *text, mn_status status,
                                                             const char *format, ...);

/// The C locale for this thread from begin to end.
typedef struct mn_plain_locale {
    void *plain, *host;
} mn_plain_locale;
mn_status mn_plain_locale_begin(mn_context *ctx, mn_plain_locale *locale);
void mn_plain_locale_end(mn_plain_locale *locale);

/// A line into a file.
__attribute__((format(printf, 2, 3))) mn_status mn_text_print(mn_safe_file *file, const char *format, ...);

#endif
