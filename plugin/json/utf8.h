// SPDX-License-Identifier: Apache-2.0
//
// Valid UTF-8, one character at a time (RFC 3629: shortest form only, no surrogates, up to U+10FFFF), and
// what the escapes of JSON mean in it (RFC 8259, section 7). Both readers of JSON stand on it.
#ifndef MENISCUS_PLUGIN_JSON_UTF8_H
#define MENISCUS_PLUGIN_JSON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// How many bytes the character at `text` has, with `left` > 0 bytes there; 0 when it is not valid.
static inline size_t mn_utf8_length(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text, lead = at[0];
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    const unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return at[1] >= least && at[1] <= most ? length : 0;
}

/// Writes a character, up to U+10FFFF, and returns how many bytes it took.
static inline size_t mn_utf8_put(uint32_t character, char out[4])
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    const size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, character >>= 6) out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)(leads[length] | character);
    return length;
}

/// Four hexadecimal digits; false when they are not.
static inline bool mn_json_hex4(const char *digits, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        const int c = digits[i] | 0x20; // lower case; digits stay as they are
        const bool letter = c >= 'a' && c <= 'f';
        if (!letter && (digits[i] < '0' || digits[i] > '9')) return false;
        *value = *value << 4 | (uint32_t)(letter ? c - 'a' + 10 : c - '0');
    }
    return true;
}

/// What stands for the character after a backslash; 0 when it is none of them (\u is not).
static inline char mn_json_unescape(char c)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found = c ? strchr(names, c) : NULL;
    return found ? meanings[found - names] : '\0';
}

/// The halves of a pair that stands for a character beyond U+FFFF.
static inline bool mn_utf16_is_high(uint32_t code)
{
    return code >= 0xd800 && code < 0xdc00;
}
static inline bool mn_utf16_is_low(uint32_t code)
{
    return code >= 0xdc00 && code < 0xe000;
}
static inline uint32_t mn_utf16_join(uint32_t high, uint32_t low)
{
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

#endif
