// SPDX-License-Identifier: Apache-2.0
//
// One reader and one writer per file format, behind plugin/io/io.h. Private to plugin/io and its tests.
//
// Readers: `name` stands at the front of every sentence; on failure *geo is NULL. Readers may keep nothing
// that points into `bytes`. Writers put the whole file into `file` with mn_safe_file_write() and leave commit
// or abandon to the caller; what the format cannot hold they refuse with MN_ERROR_UNSUPPORTED.
#ifndef MENISCUS_PLUGIN_IO_FORMATS_H
#define MENISCUS_PLUGIN_IO_FORMATS_H

#include "plugin/io/io.h"
#include "plugin/io/source.h"

/// All of .geo and .bgeo; `format` says how it is wrapped. Takes bytes as it goes; the source stays the
/// caller's.
mn_status mn_bgeo_read(mn_context *ctx, mn_source *source, mn_format format, mn_geo **geo);
mn_status mn_bgeo_write(mn_context *ctx, const mn_geo *geo, mn_format format, const char *name,
                        mn_safe_file *file);

/// Takes lines as it goes.
mn_status mn_obj_read(mn_context *ctx, mn_source *source, mn_geo **geo);
mn_status mn_obj_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file);

mn_status mn_ply_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name, mn_geo **geo);
mn_status mn_ply_write(mn_context *ctx, const mn_geo *geo, bool ascii, const char *name, mn_safe_file *file);

mn_status mn_stl_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name, mn_geo **geo);
mn_status mn_stl_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file);

/// Through plugin/vdb.
mn_status mn_vdb_file_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name,
                                  mn_geo **geo);
mn_status mn_vdb_file_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file);

/// A layer of text (usd.h); volumes go into a .vdb of the same name beside it.
mn_status mn_usd_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file);
/// A mesh of triangles, lines and points, glTF 2.0.
mn_status mn_glb_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file);

#endif
