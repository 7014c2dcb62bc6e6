// SPDX-License-Identifier: Apache-2.0
//
// JSON as text (RFC 8259); where the reader is not strict, with nan and inf besides, which geometry may hold.
// Numbers are read the same in every locale.
#define _GNU_SOURCE // strtod_l
#include "plugin/json/number_text.h"
#include "plugin/json/read.h"
#include "plugin/json/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/// The next character, not yet taken; -1 at the end.
static mn_status peek(mn_json *json, int *c)
{
    if (json->source->at == json->source->end && !json->is_strict) MN_TRY(mn_source_fill(json->source));
    *c = json->source->at == json->source->end ? -1 : *json->source->at;
    return MN_OK;
}

mn_status mn_json_skip_space(mn_json *json, int *c)
{
    for (;; json->source->at++) {
        MN_TRY(peek(json, c));
        if (*c == '\n')
            json->line++;
        else if (*c != ' ' && *c != '\t' && *c != '\r')
            return MN_OK;
    }
}

// ---- strings ----

static mn_status read_hex4(mn_json *json, uint32_t *code)
{
    char digits[4];
    for (int i = 0; i < 4; i++) {
        int c;
        MN_TRY(peek(json, &c));
        if (c < 0 || !isxdigit(c)) return mn_json_fail_expected(json, "four hexadecimal digits after \\u", c);
        digits[i] = (char)c;
        json->source->at++;
    }
    mn_json_hex4(digits, code);
    return MN_OK;
}

static bool take(mn_json *json, char expected)
{
    int c;
    if (peek(json, &c) != MN_OK || c != expected) return false;
    json->source->at++;
    return true;
}

static mn_status read_unicode(mn_json *json)
{
    uint32_t code, low = 0;
    MN_TRY(read_hex4(json, &code));
    if (code == 0 && json->is_strict) return mn_json_fail(json, "a string holds the character zero");
    if (mn_utf16_is_high(code)) {
        if (take(json, '\\') && take(json, 'u')) MN_TRY(read_hex4(json, &low));
        if (!mn_utf16_is_low(low)) return mn_json_fail(json, "a string holds half of a surrogate pair");
        code = mn_utf16_join(code, low);
    } else if (mn_utf16_is_low(code)) {
        return mn_json_fail(json, "a string holds half of a surrogate pair");
    }
    char bytes[4];
    return mn_json_string_add(json, bytes, mn_utf8_put(code, bytes));
}

static mn_status read_escape(mn_json *json)
{
    int c;
    MN_TRY(peek(json, &c));
    const char meaning = c < 0 ? '\0' : mn_json_unescape((char)c);
    if (!meaning && c != 'u')
        return mn_json_fail_expected(json, "one of \" \\ / b f n r t u after a backslash", c);
    json->source->at++;
    return c == 'u' ? read_unicode(json) : mn_json_string_add(json, &meaning, 1);
}

/// Of a scene's strings: one line of valid UTF-8.
static mn_status check_plain(mn_json *json, const uint8_t *from, const uint8_t *stop)
{
    for (size_t length; from < stop; from += length) {
        if (*from == '\n') return mn_json_fail(json, "a string has no \" at its end");
        if (*from < 0x20)
            return mn_json_fail(json, "a string holds a control character; write it as an escape, like \\t");
        length = mn_utf8_length((const char *)from, (size_t)(stop - from));
        if (length == 0) return mn_json_fail(json, "a string is not valid UTF-8");
    }
    return MN_OK;
}

/// After the opening quote.
static mn_status read_string(mn_json *json)
{
    mn_source *source = json->source;
    MN_TRY(mn_json_string_begin(json));
    for (;;) {
        int c;
        MN_TRY(peek(json, &c));
        if (c < 0 && json->is_strict) return mn_json_fail(json, "a string has no \" at its end");
        if (c < 0) return mn_json_fail_expected(json, "the end of a string", c);
        const uint8_t *stop = source->at;
        while (stop < source->end && *stop != '"' && *stop != '\\') stop++;
        if (json->is_strict) MN_TRY(check_plain(json, source->at, stop));
        MN_TRY(mn_json_string_add(json, source->at, (size_t)(stop - source->at)));
        source->at = stop;
        if (stop == source->end) continue;
        source->at++;
        if (*stop == '"') break;
        MN_TRY(read_escape(json));
    }
    json->kind = MN_JSON_STRING;
    return MN_OK;
}

// ---- numbers and words ----

static void set_real(mn_json *json, double value)
{
    json->kind = MN_JSON_REAL;
    json->real = value;
}

static bool is_word(const char *text, const char *word)
{
    return strcasecmp(text, word) == 0;
}

static mn_status parse_word(mn_json *json, const char *text)
{
    const bool minus = text[0] == '-';
    const char *word = text + (text[0] == '-' || text[0] == '+');
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        json->kind = MN_JSON_BOOL;
        json->integer = text[0] == 't';
        json->real = (double)json->integer;
    } else if (strcmp(text, "null") == 0) {
        json->kind = MN_JSON_NULL;
    } else if (is_word(word, "nan")) {
        set_real(json, minus ? -(double)NAN : (double)NAN);
    } else if (is_word(word, "inf") || is_word(word, "infinity")) {
        set_real(json, minus ? -(double)INFINITY : (double)INFINITY);
    } else {
        return mn_json_fail(json, "'%.40s' is not a value", text);
    }
    return MN_OK;
}

/// [-]digits[.digits][e[+-]digits], all of the text. Up to 18 digits in `mantissa`, the power of ten in
/// `exponent`; `exact` when nothing was left out, `whole` when there is neither point nor exponent.
static bool scan_number(const char *text, bool *minus, uint64_t *mantissa, int *exponent, bool *exact,
                        bool *whole)
{
    int digits = 0, significant = 0;
    bool point = false;
    *mantissa = 0, *exponent = 0, *exact = true, *whole = true;
    *minus = *text == '-';
    if (*text == '-' || *text == '+') text++;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            *whole = false;
            continue;
        }
        digits++;
        if (significant > 0 || *text != '0') significant++;
        if (significant <= 18)
            *mantissa = *mantissa * 10 + (uint64_t)(*text - '0'), *exponent -= point;
        else
            *exact = false;
    }
    if (digits == 0) return false;
    if (*text == 'e' || *text == 'E') {
        *whole = false;
        text++;
        const bool down = *text == '-';
        if (*text == '-' || *text == '+') text++;
        int power = 0, count = 0;
        for (; *text >= '0' && *text <= '9'; text++, count++)
            if (power < 100000) power = power * 10 + (*text - '0');
        if (count == 0) return false;
        *exponent += down ? -power : power;
    }
    return *text == '\0';
}

static mn_status parse_number(mn_json *json, const char *text)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool minus, exact, whole;
    uint64_t mantissa;
    int exponent;
    if (!scan_number(text, &minus, &mantissa, &exponent, &exact, &whole)) return parse_word(json, text);
    if (whole && exact) { // at most 18 digits: fits
        json->kind = MN_JSON_INT;
        json->integer = minus ? -(int64_t)mantissa : (int64_t)mantissa;
        json->real = (double)json->integer;
        // -0 is a number of its own among reals.
        if (minus && mantissa == 0) set_real(json, -0.0);
        return MN_OK;
    }
    if (whole) { // 19 digits may fit
        errno = 0;
        const long long value = strtoll(text, NULL, 10);
        if (errno == 0) {
            json->kind = MN_JSON_INT;
            json->integer = value;
            json->real = (double)value;
            return MN_OK;
        }
    }
    // Both factors are exact doubles, so one rounding gives the nearest double.
    if (exact && mantissa < (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        double value = (double)mantissa;
        value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
        set_real(json, minus ? -value : value);
        return MN_OK;
    }
    set_real(json, strtod_l(text, NULL, json->locale));
    return MN_OK;
}

/// By the letter: -12.5e-3, true, false, null.
static mn_status parse_strict(mn_json *json, const char *text, int length)
{
    double value;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0)
        return parse_word(json, text);
    if (isalpha((unsigned char)*text)) return mn_json_fail_expected(json, "a value", *text);
    if (!mn_number_from_text(text, (size_t)length, &value))
        return mn_json_fail(json, "'%.40s' is not a number as JSON has it", text);
    if (!isfinite(value)) return mn_json_fail(json, "a number is too large");
    set_real(json, value);
    return MN_OK;
}

static bool in_number(int c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static mn_status read_number(mn_json *json)
{
    char text[MN_JSON_NUMBER_MAX + 1];
    int length = 0, c;
    for (;;) {
        MN_TRY(peek(json, &c));
        if (!in_number(c)) break;
        if (length == MN_JSON_NUMBER_MAX)
            return mn_json_fail(json, "a number has more than %d characters", MN_JSON_NUMBER_MAX);
        text[length++] = (char)c;
        json->source->at++;
    }
    if (length == 0) return mn_json_fail_expected(json, "a value", c);
    text[length] = '\0';
    return json->is_strict ? parse_strict(json, text, length) : parse_number(json, text);
}

// ---- values ----

/// What stands between this value and the one before it; sets `ended` when there is no further value.
static mn_status pass_separator(mn_json *json, mn_json_level *level, int *c, bool *ended)
{
    *ended = *c == (level->is_map ? '}' : ']') && !level->after_key;
    if (*ended) {
        json->source->at++;
        mn_json_leave(json);
        return MN_OK;
    }
    if (level->after_key || level->started) {
        const char *due = level->after_key ? "':' after a key" : level->is_map ? "',' or '}'" : "',' or ']'";
        if (*c != (level->after_key ? ':' : ',')) return mn_json_fail_expected(json, due, *c);
        json->source->at++;
        MN_TRY(mn_json_skip_space(json, c));
    }
    level->started = true;
    return MN_OK;
}

mn_status mn_json_next_text(mn_json *json)
{
    int c;
    MN_TRY(mn_json_skip_space(json, &c));
    if (json->depth > 0) {
        mn_json_level *level = &json->levels[json->depth - 1];
        bool ended;
        MN_TRY(pass_separator(json, level, &c, &ended));
        if (ended) return MN_OK;
        if (level->is_map) {
            level->after_key = !level->after_key;
            if (level->after_key && c != '"') return mn_json_fail_expected(json, "a key in \"quotes\"", c);
        }
    }
    if (c != '[' && c != '{' && c != '"') return read_number(json);
    json->source->at++;
    return c == '"' ? read_string(json) : mn_json_enter(json, c == '{');
}
