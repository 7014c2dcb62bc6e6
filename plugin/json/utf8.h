// SPDX-License-Identifier: Apache-2.0
//
// Valid UTF-8, one character at a time (RFC 3629: shortest form only, no surrogates, up to U+10FFFF).
#ifndef MENISCUS_PLUGIN_JSON_UTF8_H
#define MENISCUS_PLUGIN_JSON_UTF8_H

#include <stddef.h>

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

#endif
