// SPDX-License-Identifier: Apache-2.0
//
// The page that `meniscus report` writes: data as JSON inside one HTML file, drawn by scripts of ours
// (plugin/headless/page) when it is opened. Everything is in the file.
#ifndef MENISCUS_PLUGIN_HEADLESS_REPORT_PAGE_H
#define MENISCUS_PLUGIN_HEADLESS_REPORT_PAGE_H

#include "plugin/headless/report_folder.h"
#include "plugin/headless/session.h"
#include "plugin/io/io.h"
#include "plugin/json/text.h"

/// How much goes into one page.
enum {
    MN_PAGE_PICTURES = 120,   ///< of one node
    MN_PAGE_LINES = 20000,    ///< of the report of one cook
    MN_PAGE_VIEWS = 9,        ///< frames to turn with the mouse, of one node
    MN_PAGE_TRIANGLES = 24000 ///< of one such frame
};

typedef struct mn_page {
    mn_session *session;
    mn_safe_file *file;
    mn_json_text text;     ///< not yet written
    int64_t picture_limit; ///< bytes of pictures that may still come
} mn_page;

/// Writes what is in `text` into the file; a < becomes \u003c, so that no text can end the script around it.
mn_status mn_page_flush(mn_page *page);
/// Bytes as a string of base64.
mn_status mn_page_base64(mn_page *page, const void *bytes, size_t size);
/// A file's bytes in the same way; "" when it cannot be read or is too large.
mn_status mn_page_file(mn_page *page, const char *path);

/// A frame to look at from all sides: {"frame", "min", "max", "positions", "triangles", ...}; null when the
/// file holds nothing to show or cannot be read.
mn_status mn_page_view(mn_page *page, const char *path, int32_t frame, int64_t triangles);

/// The pieces of page/ around the data, made by CMake.
extern const unsigned char mn_page_before[], mn_page_after[];
extern const size_t mn_page_before_size, mn_page_after_size;

#endif
