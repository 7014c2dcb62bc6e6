// SPDX-License-Identifier: Apache-2.0
//
// JSON out.
#include "plugin/json/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/json/number_text.h"
#include "plugin/json/utf8.h"

static void put_bytes(mn_json_text *out, const char *bytes, size_t size)
{
    if (out->status != MN_OK) return;
    const int64_t at = out->bytes.count;
    out->status = mn_array_resize(out->ctx, &out->bytes, at + (int64_t)size);
    if (out->status == MN_OK) memcpy(out->bytes.data + at, bytes, size);
}

void mn_json_text_put(mn_json_text *out, const char *raw)
{
    put_bytes(out, raw, strlen(raw));
}

static void put_character(mn_json_text *out, const char *at, size_t length)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = strchr(escaped, *at);
    char code[8];
    if (found) {
        snprintf(code, sizeof code, "\\%c", letters[found - escaped]);
        mn_json_text_put(out, code);
    } else if ((unsigned char)*at < 0x20) {
        snprintf(code, sizeof code, "\\u%04x", (unsigned)*at);
        mn_json_text_put(out, code);
    } else {
        put_bytes(out, at, length);
    }
}

void mn_json_text_put_string(mn_json_text *out, const char *string)
{
    mn_json_text_put(out, "\"");
    for (size_t left = strlen(string); left > 0;) {
        const size_t length = mn_utf8_length(string, left);
        if (length == 0) {
            if (out->status == MN_OK)
                out->status = mn_fail(out->ctx, MN_ERROR_UNSUPPORTED,
                                      "A string is not valid UTF-8, so it cannot be written as JSON.");
            return;
        }
        put_character(out, string, length);
        string += length;
        left -= length;
    }
    mn_json_text_put(out, "\"");
}

void mn_json_text_put_number(mn_json_text *out, double number)
{
    char text[MN_NUMBER_TEXT];
    if (isfinite(number))
        mn_number_to_text(number, text);
    else
        strcpy(text, "null");
    mn_json_text_put(out, text);
}

void mn_json_text_put_key(mn_json_text *out, bool *first, const char *separator, const char *key)
{
    if (!*first) mn_json_text_put(out, separator);
    *first = false;
    mn_json_text_put_string(out, key);
    mn_json_text_put(out, ": ");
}

void mn_json_text_put_member(mn_json_text *out, bool *first, const char *separator, const char *key,
                             const char *string)
{
    mn_json_text_put_key(out, first, separator, key);
    mn_json_text_put_string(out, string);
}

mn_status mn_json_text_finish(mn_json_text *out, char **text)
{
    *text = NULL;
    put_bytes(out, "", 1);
    if (out->status == MN_OK) {
        // Exactly as large as its length says, which is all that the one who frees it knows.
        *text = mn_allocate(out->ctx, (size_t)out->bytes.count);
        if (*text)
            memcpy(*text, out->bytes.data, (size_t)out->bytes.count);
        else
            out->status = MN_ERROR_MEMORY;
    }
    mn_array_free(out->ctx, &out->bytes);
    return out->status;
}
