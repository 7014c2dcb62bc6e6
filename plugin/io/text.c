// SPDX-License-Identifier: Apache-2.0
//
// Words, lines and numbers of text files.
#define _GNU_SOURCE // newlocale
#include "plugin/io/text.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 128, LINE_MAX = 16 << 20 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// Where a backslash joins this line to the next: how many bytes it takes; 0 when there is none.
static size_t joint(const mn_text *text, const char *at)
{
    if (!text->continued || *at != '\\') return 0;
    if (text->end - at > 1 && at[1] == '\n') return 2;
    if (text->end - at > 2 && at[1] == '\r' && at[2] == '\n') return 3;
    return 0;
}

static void skip_blanks(mn_text *text)
{
    while (text->at < text->end) {
        const size_t joined = joint(text, text->at);
        if (joined)
            text->line++;
        else if (!is_blank(*text->at))
            return;
        text->at += joined ? joined : 1;
    }
}

bool mn_text_word(mn_text *text, mn_word *word)
{
    skip_blanks(text);
    word->begin = text->at;
    while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n' && !joint(text, text->at))
        text->at++;
    word->length = (size_t)(text->at - word->begin);
    return word->length > 0;
}

mn_word mn_text_rest(mn_text *text)
{
    skip_blanks(text);
    const char *begin = text->at;
    while (text->at < text->end && *text->at != '\n') text->at++;
    const char *end = text->at;
    while (end > begin && is_blank(end[-1])) end--;
    return (mn_word){begin, (size_t)(end - begin)};
}

/// Whether a whole line stands in the window, with those that are joined to it; `from` is where to look on.
static bool holds_line(const mn_text *text, size_t *from)
{
    const char *at = text->at + *from;
    for (const char *end; (end = memchr(at, '\n', (size_t)(text->end - at))); at = end + 1) {
        const char *last = end;
        if (last > text->at && last[-1] == '\r') last--;
        if (!text->continued || last == text->at || last[-1] != '\\') return true;
    }
    *from = (size_t)(text->end - text->at);
    return false;
}

/// Moves what is left to the front and appends what the source gives next. *more is false at its end.
static mn_status read_on(mn_text *text, bool *more)
{
    mn_source *source = text->source;
    MN_TRY(mn_source_fill(source));
    const size_t left = (size_t)(text->end - text->at), some = (size_t)(source->end - source->at);
    *more = some > 0;
    if (!*more) return MN_OK;
    if (left > LINE_MAX)
        return mn_text_fail(text, MN_ERROR_FORMAT, "the line is longer than %d bytes", LINE_MAX);
    if (left > 0) memmove(text->window.data, text->at, left);
    text->window.count = (int64_t)left;
    text->at = text->end = text->window.data;
    MN_TRY(mn_array_resize(text->ctx, &text->window, (int64_t)(left + some)));
    memcpy(text->window.data + left, source->at, some);
    source->at = source->end;
    text->at = text->window.data;
    text->end = text->at + left + some;
    return MN_OK;
}

/// Sees to it that the next line is there as a whole.
static void hold_line(mn_text *text)
{
    bool more = text->source != NULL && text->status == MN_OK;
    for (size_t from = 0; more && !holds_line(text, &from);) {
        text->status = read_on(text, &more);
        if (text->status == MN_OK) continue;
        text->at = text->end;
        return;
    }
}

mn_status mn_text_open(mn_context *ctx, mn_source *source, bool continued, mn_text *text)
{
    memset(text, 0, sizeof *text);
    text->ctx = ctx;
    text->name = source->name;
    text->source = source;
    text->line = 1;
    text->continued = continued;
    MN_TRY(mn_array_reserve(ctx, &text->window, 1));
    text->at = text->end = text->window.data;
    hold_line(text);
    return text->status;
}

void mn_text_close(mn_text *text)
{
    mn_array_free(text->ctx, &text->window);
}

bool mn_text_next_line(mn_text *text)
{
    mn_word skipped;
    while (mn_text_word(text, &skipped)) continue; // through words, so that joints are seen
    if (text->at == text->end) return false;
    text->at++;
    text->line++;
    hold_line(text);
    return text->at < text->end;
}

bool mn_word_is(mn_word word, const char *string)
{
    return word.length == strlen(string) && memcmp(word.begin, string, word.length) == 0;
}

bool mn_word_copy(mn_word word, char *buffer, size_t size)
{
    if (word.length >= size || memchr(word.begin, 0, word.length)) return false;
    memcpy(buffer, word.begin, word.length);
    buffer[word.length] = '\0';
    return true;
}

mn_status mn_text_fail(mn_text *text, mn_status status, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return mn_fail(text->ctx, status, "%s, line %lld: %s.", text->name, (long long)text->line, sentence);
}

static mn_status fail_number(mn_text *text, mn_word word)
{
    const int shown = word.length < 40 ? (int)word.length : 40;
    return mn_text_fail(text, MN_ERROR_FORMAT, "'%.*s' is not a number", shown, word.begin);
}

mn_status mn_text_real(mn_text *text, mn_word word, double *value)
{
    char digits[NUMBER_MAX], *end;
    if (!mn_word_copy(word, digits, sizeof digits)) return fail_number(text, word);
    *value = strtod(digits, &end);
    return end == digits || *end ? fail_number(text, word) : MN_OK;
}

mn_status mn_text_integer(mn_text *text, mn_word word, int64_t *value)
{
    char digits[NUMBER_MAX], *end;
    if (!mn_word_copy(word, digits, sizeof digits)) return fail_number(text, word);
    errno = 0;
    *value = strtoll(digits, &end, 10);
    return end == digits || *end || errno ? fail_number(text, word) : MN_OK;
}

mn_status mn_plain_locale_begin(mn_context *ctx, mn_plain_locale *locale)
{
    locale->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale->plain) return mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory.");
    locale->host = uselocale((locale_t)locale->plain);
    return MN_OK;
}

void mn_plain_locale_end(mn_plain_locale *locale)
{
    uselocale((locale_t)locale->host);
    freelocale((locale_t)locale->plain);
}

mn_status mn_text_print(mn_safe_file *file, const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t size = length < 0 ? 0 : (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    return mn_safe_file_write(file, line, size);
}
