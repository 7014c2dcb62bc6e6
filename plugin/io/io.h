// SPDX-License-Identifier: Apache-2.0
//
// Geometry files. The format is known by the ending: .geo .bgeo .bgeo.gz .bgeo.sc .obj .ply .vdb .usda.
// Reading also looks at the first bytes and says so when they are of another format.
//
// What a format cannot represent is refused with a sentence that names it (MN_ERROR_UNSUPPORTED); nothing is
// dropped in silence. Attributes and groups that an .obj has no place for are left out with a warning in the
// log. Writers make the file under a temporary name beside it, sync it and rename it, so a full disk or a
// killed process leaves the whole file or none.
#ifndef MENISCUS_PLUGIN_IO_IO_H
#define MENISCUS_PLUGIN_IO_IO_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_format {
    MN_FORMAT_GEO,     ///< Houdini's JSON as text
    MN_FORMAT_BGEO,    ///< the same as binary JSON
    MN_FORMAT_BGEO_GZ, ///< in gzip
    MN_FORMAT_BGEO_SC, ///< in Houdini's seekable container of C-Blosc blocks
    MN_FORMAT_OBJ,
    MN_FORMAT_PLY,       ///< binary little-endian; reads ascii and big-endian too
    MN_FORMAT_PLY_ASCII, ///< written only when asked for; the ending is .ply as well
    MN_FORMAT_VDB,
    MN_FORMAT_STL, ///< triangles; binary, reads text too
    MN_FORMAT_USD, ///< a layer of text, .usda; written only
    MN_FORMAT_GLB, ///< glTF 2.0; written only
    MN_FORMAT_COUNT
} mn_format;

/// "bgeo.sc"; the ending without its dot.
MN_API const char *mn_format_ending(mn_format format);
/// False for formats that are written only.
MN_API bool mn_format_is_read(mn_format format);
/// By what people call it: an ending, or "usd" for .usda.
MN_API bool mn_format_from_name(const char *name, mn_format *format);
/// By a path's ending, or by a bare ending such as "bgeo.sc". False when it is not one of ours.
MN_API bool mn_format_from_path(const char *path, mn_format *format);

/// Reads the file. On failure *geo is NULL and the context says what is wrong and where.
MN_API mn_status mn_io_read(mn_context *ctx, const char *path, mn_geo **geo);
/// Reads a file already in memory; `name` stands in messages.
MN_API mn_status mn_io_read_memory(mn_context *ctx, mn_format format, const void *bytes, size_t size,
                                   const char *name, mn_geo **geo);
/// Writes by the path's ending.
MN_API mn_status mn_io_write(mn_context *ctx, const char *path, const mn_geo *geo);
MN_API mn_status mn_io_write_as(mn_context *ctx, const char *path, mn_format format, const mn_geo *geo);

/// A file that is whole or not there: write to it, then commit or abandon.
typedef struct mn_safe_file mn_safe_file;
MN_API mn_status mn_safe_file_open(mn_context *ctx, const char *path, mn_safe_file **file);
MN_API mn_status mn_safe_file_write(mn_safe_file *file, const void *bytes, size_t size);
/// Syncs and renames; the file object is gone after it, whatever it returns.
MN_API mn_status mn_safe_file_commit(mn_safe_file *file);
/// Removes the temporary file. NULL is fine.
MN_API void mn_safe_file_abandon(mn_safe_file *file);

#ifdef __cplusplus
}
#endif
#endif
