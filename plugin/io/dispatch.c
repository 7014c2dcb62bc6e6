// SPDX-License-Identifier: Apache-2.0
//
// From a path or a format to the reader or writer that knows it, after a look at the first bytes.
#include "plugin/io/formats.h"

#include <ctype.h>
#include <string.h>

/// What the first bytes say, or NULL when they say nothing.
static const char *sniff(const uint8_t *bytes, size_t size, mn_format *format)
{
    static const struct {
        const char *magic;
        size_t length;
        mn_format format;
        const char *what;
    } known[] = {
        {"\x7f"
         "NSJb",
         5, MN_FORMAT_BGEO, "binary geometry (.bgeo)"},
        {"scf1", 4, MN_FORMAT_BGEO_SC, "Blosc-compressed geometry (.bgeo.sc)"},
        {"\x1f\x8b", 2, MN_FORMAT_BGEO_GZ, "gzip-compressed data (.bgeo.gz)"},
        {" BDV\0\0\0\0", 8, MN_FORMAT_VDB, "an OpenVDB file (.vdb)"},
        {"ply", 3, MN_FORMAT_PLY, "a PLY file (.ply)"},
        {"BgeoV", 5, MN_FORMAT_COUNT, "geometry of Houdini 11 or older"},
        {"PGEOMETRY", 9, MN_FORMAT_COUNT, "geometry of Houdini 11 or older"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = known[i].length;
        if (size < n || memcmp(bytes, known[i].magic, n) != 0) continue;
        if (known[i].format == MN_FORMAT_PLY && (size == n || !isspace(bytes[n]))) continue;
        *format = known[i].format;
        return known[i].what;
    }
    size_t first = 0;
    while (first < size && isspace(bytes[first])) first++;
    if (first == size || bytes[first] != '[') return NULL;
    *format = MN_FORMAT_GEO;
    return "text geometry (.geo)";
}

/// Fails when the first bytes are surely of another format than the one expected.
static mn_status check_first_bytes(mn_source *source, mn_format expected)
{
    MN_TRY(mn_source_fill(source));
    const size_t size = (size_t)(source->end - source->at);
    if (expected == MN_FORMAT_PLY_ASCII) expected = MN_FORMAT_PLY;
    if (size == 0) return mn_fail(source->ctx, MN_ERROR_FORMAT, "%s: the file is empty.", source->name);
    mn_format found;
    const char *what = sniff(source->at, size, &found);
    if (!what || found == expected) return MN_OK;
    if (found == MN_FORMAT_COUNT)
        return mn_fail(source->ctx, MN_ERROR_UNSUPPORTED,
                       "%s: the file holds %s; load and save it in a newer Houdini.", source->name, what);
    return mn_fail(source->ctx, MN_ERROR_FORMAT,
                   "%s: the file holds %s, not .%s as its name says; give it the ending .%s.", source->name,
                   what, mn_format_ending(expected), mn_format_ending(found));
}

static bool streams(mn_format format)
{
    return format == MN_FORMAT_GEO || format == MN_FORMAT_BGEO || format == MN_FORMAT_BGEO_GZ ||
           format == MN_FORMAT_BGEO_SC || format == MN_FORMAT_OBJ;
}

static mn_status read_stream(mn_context *ctx, mn_format format, mn_source *source, mn_geo **geo)
{
    return format == MN_FORMAT_OBJ ? mn_obj_read(ctx, source, geo) : mn_bgeo_read(ctx, source, format, geo);
}

static mn_status read_bytes(mn_context *ctx, mn_format format, const void *bytes, size_t size,
                            const char *name, mn_geo **geo)
{
    switch (format) {
    case MN_FORMAT_PLY:
    case MN_FORMAT_PLY_ASCII:
        return mn_ply_read_memory(ctx, bytes, size, name, geo);
    case MN_FORMAT_VDB:
        return mn_vdb_file_read_memory(ctx, bytes, size, name, geo);
    case MN_FORMAT_STL:
        return mn_stl_read_memory(ctx, bytes, size, name, geo);
    default:
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s: no such format (%d).", name, (int)format);
    }
}

/// The formats that want all bytes at hand get a copy of the file. A mapping would save the memory, but a
/// file that another process cuts short meanwhile would then end this one.
static mn_status read_whole(mn_source *source, mn_format format, mn_geo **geo)
{
    const size_t size = (size_t)source->most;
    void *bytes = mn_allocate(source->ctx, size);
    if (!bytes) return MN_ERROR_MEMORY;
    mn_status status = mn_source_read(source, bytes, size);
    if (status == MN_OK) status = read_bytes(source->ctx, format, bytes, size, source->name, geo);
    mn_release(source->ctx, bytes, size);
    return status;
}

static mn_status fail_ending(mn_context *ctx, const char *path)
{
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                   "%s: not a known kind of file; use .geo .bgeo .bgeo.gz .bgeo.sc .obj .ply .stl .vdb, "
                   "or .usda or .glb for writing.",
                   path);
}

mn_status mn_io_read(mn_context *ctx, const char *path, mn_geo **geo)
{
    *geo = NULL;
    mn_format format;
    if (!mn_format_from_path(path, &format)) return fail_ending(ctx, path);
    if (!mn_format_is_read(format))
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "%s: .%s files are written, not read; keep a .bgeo.sc beside it.", path,
                       mn_format_ending(format));
    mn_source *source;
    MN_TRY(mn_source_open_file(ctx, path, &source));
    mn_status status = check_first_bytes(source, format);
    if (status == MN_OK)
        status = streams(format) ? read_stream(ctx, format, source, geo) : read_whole(source, format, geo);
    mn_source_close(source);
    return status;
}

mn_status mn_io_read_memory(mn_context *ctx, mn_format format, const void *bytes, size_t size,
                            const char *name, mn_geo **geo)
{
    *geo = NULL;
    mn_source *source;
    MN_TRY(mn_source_open_memory(ctx, bytes, size, name, &source));
    mn_status status = check_first_bytes(source, format);
    if (status == MN_OK && streams(format)) status = read_stream(ctx, format, source, geo);
    if (status == MN_OK && !streams(format)) status = read_bytes(ctx, format, bytes, size, name, geo);
    mn_source_close(source);
    return status;
}

mn_status mn_io_write(mn_context *ctx, const char *path, const mn_geo *geo)
{
    mn_format format;
    if (!mn_format_from_path(path, &format)) return fail_ending(ctx, path);
    return mn_io_write_as(ctx, path, format, geo);
}

static mn_status write_format(mn_context *ctx, mn_format format, const mn_geo *geo, const char *name,
                              mn_safe_file *file)
{
    switch (format) {
    case MN_FORMAT_GEO:
    case MN_FORMAT_BGEO:
    case MN_FORMAT_BGEO_GZ:
    case MN_FORMAT_BGEO_SC:
        return mn_bgeo_write(ctx, geo, format, name, file);
    case MN_FORMAT_OBJ:
        return mn_obj_write(ctx, geo, name, file);
    case MN_FORMAT_PLY:
        return mn_ply_write(ctx, geo, false, name, file);
    case MN_FORMAT_PLY_ASCII:
        return mn_ply_write(ctx, geo, true, name, file);
    case MN_FORMAT_VDB:
        return mn_vdb_file_write(ctx, geo, name, file);
    case MN_FORMAT_STL:
        return mn_stl_write(ctx, geo, name, file);
    case MN_FORMAT_USD:
        return mn_usd_write(ctx, geo, name, file);
    case MN_FORMAT_GLB:
        return mn_glb_write(ctx, geo, name, file);
    default:
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s: no such format (%d).", name, (int)format);
    }
}

mn_status mn_io_write_as(mn_context *ctx, const char *path, mn_format format, const mn_geo *geo)
{
    mn_safe_file *file;
    MN_TRY(mn_safe_file_open(ctx, path, &file));
    const mn_status status = write_format(ctx, format, geo, path, file);
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}
