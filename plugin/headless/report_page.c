// SPDX-License-Identifier: Apache-2.0
//
// Text, files and bytes into the page.
#include "plugin/headless/report_page.h"

#include <stdio.h>
#include <string.h>

enum { PIECE = 3 * 8192 }; ///< bytes to four letters for each three

mn_status mn_page_flush(mn_page *page)
{
    const char *at = page->text.bytes.data, *end = at + page->text.bytes.count;
    MN_TRY(page->text.status);
    while (at < end) {
        const char *next = memchr(at, '<', (size_t)(end - at));
        const size_t size = (size_t)((next ? next : end) - at);
        MN_TRY(mn_safe_file_write(page->file, at, size));
        if (next) MN_TRY(mn_safe_file_write(page->file, "\\u003c", 6));
        at += size + (next != NULL);
    }
    page->text.bytes.count = 0;
    return MN_OK;
}

static mn_status put_piece(mn_page *page, const uint8_t *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[PIECE / 3 * 4];
    size_t length = 0;
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t b = i + 1 < size ? bytes[i + 1] : 0, c = i + 2 < size ? bytes[i + 2] : 0;
        const uint32_t word = (uint32_t)bytes[i] << 16 | b << 8 | c;
        out[length++] = letters[word >> 18];
        out[length++] = letters[word >> 12 & 63];
        out[length++] = i + 1 < size ? letters[word >> 6 & 63] : '=';
        out[length++] = i + 2 < size ? letters[word & 63] : '=';
    }
    return mn_safe_file_write(page->file, out, length);
}

mn_status mn_page_base64(mn_page *page, const void *bytes, size_t size)
{
    mn_json_text_put(&page->text, "\"");
    MN_TRY(mn_page_flush(page));
    for (size_t at = 0; at < size; at += PIECE)
        MN_TRY(put_piece(page, (const uint8_t *)bytes + at, size - at < PIECE ? size - at : PIECE));
    mn_json_text_put(&page->text, "\"");
    return MN_OK;
}

mn_status mn_page_file(mn_page *page, const char *path)
{
    uint8_t bytes[PIECE];
    FILE *file = fopen(path, "rb");
    mn_json_text_put(&page->text, "\"");
    MN_TRY(mn_page_flush(page));
    mn_status status = MN_OK;
    while (file && status == MN_OK) {
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        if (size == 0) break;
        page->picture_limit -= (int64_t)size;
        status = put_piece(page, bytes, size);
    }
    if (file) fclose(file);
    mn_json_text_put(&page->text, "\"");
    return status;
}
