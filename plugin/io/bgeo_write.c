// SPDX-License-Identifier: Apache-2.0
//
// Writes .geo, .bgeo, .bgeo.gz and .bgeo.sc with the keys, runs and pages of Houdini 19.5. The bytes depend
// on the geometry alone: no date, no artist, no host. Volumes are written as VDBs; where the geometry has no
// primitive attribute `name`, the file gets one with the volumes' names, since Houdini looks for them there.
#include "plugin/io/bgeo_write.h"
#include "plugin/io/formats.h"
#include "plugin/io/pack.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const char file_version[] = "19.5.752"; // the layout that is followed

// ---- info ----

typedef struct text {
    mn_context *ctx;
    mn_status status;
    MN_ARRAY(char) chars;
} text;

static void add(text *t, const char *string)
{
    const int64_t length = (int64_t)strlen(string), at = t->chars.count;
    if (t->status == MN_OK) t->status = mn_array_resize(t->ctx, &t->chars, at + length + 1);
    if (t->status != MN_OK) return;
    memcpy(t->chars.data + at, string, (size_t)length + 1);
    t->chars.count = at + length;
}

/// 69451 -> "     69,451"
static void add_count(text *t, int64_t count, int width)
{
    char digits[32], grouped[48];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    int used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    grouped[used] = '\0';
    for (int i = used; i < width; i++) add(t, " ");
    add(t, grouped);
}

static void summarize_primitives(text *t, const mn_geo *geo)
{
    static const char *const one[] = {"Polygon Curve", "Polygon", "Tetrahedron", "VDB"}, *const many[] = {
                                                                                             "Polygon Curves",
                                                                                             "Polygons",
                                                                                             "Tetrahedrons",
                                                                                             "VDBs"};
    for (int kind = 0; kind < MN_PRIMITIVE_KIND_COUNT; kind++) {
        const int64_t count = mn_geo_kind_count(geo, (mn_primitive_kind)kind);
        if (count == 0) continue;
        add_count(t, count, 11);
        add(t, " ");
        add(t, count == 1 ? one[kind] : many[kind]);
        add(t, "\n");
    }
}

/// "     2 point attributes:\tP, v\n" for each owner, or the same of groups
static void summarize_names(text *t, const mn_geo *geo, bool groups)
{
    static const mn_owner owners[] = {MN_VERTEX, MN_POINT, MN_PRIMITIVE, MN_DETAIL};
    for (int o = 0; o < MN_OWNER_COUNT; o++) {
        const mn_owner owner = owners[o];
        const int32_t count = groups ? mn_geo_group_count(geo, owner) : mn_geo_attribute_count(geo, owner);
        if (count == 0) continue;
        add_count(t, count, 6);
        add(t, " ");
        add(t, mn_owner_name(owner));
        add(t, groups ? " groups:\t" : " attributes:\t");
        for (int32_t i = 0; i < count; i++) {
            if (i > 0) add(t, ", ");
            add(t, groups ? mn_group_name(mn_geo_group_at(geo, owner, i))
                          : mn_attribute_name(mn_geo_attribute_at(geo, owner, i)));
        }
        add(t, "\n");
    }
}

static void write_text(mn_json_writer *json, const char *key, text *t)
{
    if (t->status != MN_OK || t->chars.count == 0) return;
    mn_json_write_key(json, key);
    mn_json_write_string(json, t->chars.data);
    t->chars.count = 0;
}

mn_status mn_bgeo_write_info(mn_json_writer *json, const mn_geo *geo)
{
    text t = {.ctx = json->out.ctx};
    const mn_box box = mn_geo_bounds(geo);
    // Nothing is between these, Houdini's bounds of nothing.
    float bounds[6] = {1.70141173e38f,  -1.70141173e38f, 1.70141173e38f,
                       -1.70141173e38f, 1.70141173e38f,  -1.70141173e38f};
    if (!mn_box_is_empty(box)) {
        const double min[] = {box.min.x, box.min.y, box.min.z}, max[] = {box.max.x, box.max.y, box.max.z};
        for (int axis = 0; axis < 3; axis++) {
            bounds[2 * axis] = (float)min[axis];
            bounds[2 * axis + 1] = (float)max[axis];
        }
    }
    mn_json_write_key(json, "info");
    mn_json_begin_map(json);
    mn_json_write_key(json, "software");
    mn_json_write_string(json, "Meniscus");
    mn_json_write_key(json, "bounds");
    mn_json_write_numbers(json, MN_JSON_F32, bounds, 6);
    summarize_primitives(&t, geo);
    write_text(json, "primcount_summary", &t);
    summarize_names(&t, geo, false);
    write_text(json, "attribute_summary", &t);
    summarize_names(&t, geo, true);
    write_text(json, "group_summary", &t);
    mn_json_end_map(json);
    mn_array_free(json->out.ctx, &t.chars);
    return t.status;
}

// ---- the file ----

static void write_count(mn_json_writer *json, const char *key, int64_t count)
{
    mn_json_write_key(json, key);
    mn_json_write_int(json, count);
}

/// ["pointref", ["indices", [...]]], in 32 bits where they do.
static void write_topology(mn_json_writer *json, const mn_geo *geo)
{
    enum { CHUNK = 4096 };
    const int64_t *points = mn_geo_vertex_points(geo), count = mn_geo_vertex_count(geo);
    const bool narrow = mn_geo_point_count(geo) <= INT32_MAX;
    mn_json_write_key(json, "topology");
    mn_json_begin_array(json);
    mn_json_write_key(json, "pointref");
    mn_json_begin_array(json);
    mn_json_write_key(json, "indices");
    mn_json_begin_numbers(json, narrow ? MN_JSON_I32 : MN_JSON_I64, count);
    if (!narrow) mn_json_add_numbers(json, MN_JSON_I64, points, count);
    for (int64_t done = 0; narrow && done < count && json->status == MN_OK; done += CHUNK) {
        int32_t chunk[CHUNK];
        const int64_t some = count - done < CHUNK ? count - done : CHUNK;
        for (int64_t i = 0; i < some; i++) chunk[i] = (int32_t)points[done + i];
        mn_json_add_numbers(json, MN_JSON_I32, chunk, some);
    }
    mn_json_end_numbers(json);
    mn_json_end_array(json);
    mn_json_end_array(json);
}

/// A list of where things are, of which there are none; and how far before the end of the file it begins.
static void write_index(mn_json_writer *json)
{
    static const char *const keys[] = {"integerentries", "stringentries", "integerkeyentires",
                                       "stringkeyentries"}; // spelt as Houdini does
    mn_json_write_string(json, "index");
    mn_json_begin_array(json);
    const int64_t begin = json->written;
    for (int i = 0; i < 4; i++) {
        mn_json_write_string(json, keys[i]);
        mn_json_begin_map(json);
        mn_json_end_map(json);
    }
    mn_json_end_array(json);
    mn_json_write_string(json, "indexposition");
    const int64_t rest = 9 + 1; // this number and the closing bracket
    mn_json_write_i64(json, json->written - begin + rest);
}

static mn_status write_geometry(mn_json_writer *json, const mn_geo *geo, const char *name)
{
    mn_json_begin_array(json);
    mn_json_write_key(json, "fileversion");
    mn_json_write_key(json, file_version);
    mn_json_write_key(json, "hasindex");
    mn_json_write_bool(json, json->is_binary);
    write_count(json, "pointcount", mn_geo_point_count(geo));
    write_count(json, "vertexcount", mn_geo_vertex_count(geo));
    write_count(json, "primitivecount", mn_geo_primitive_count(geo));
    MN_TRY(mn_bgeo_write_info(json, geo));
    write_topology(json, geo);
    MN_TRY(mn_bgeo_write_attributes(json, geo));
    MN_TRY(mn_bgeo_write_primitives(json, geo, name));
    mn_bgeo_write_groups(json, geo, MN_POINT, "pointgroups");
    mn_bgeo_write_groups(json, geo, MN_VERTEX, "vertexgroups");
    mn_bgeo_write_groups(json, geo, MN_PRIMITIVE, "primitivegroups");
    if (json->is_binary) write_index(json);
    mn_json_end_array(json);
    return mn_json_write_finish(json);
}

static mn_status write_file(void *user, const void *bytes, size_t size)
{
    return mn_safe_file_write(user, bytes, size);
}

static mn_status write_packed(mn_context *ctx, const mn_geo *geo, mn_format format, const char *name,
                              mn_writer to, mn_json_writer *json)
{
    mn_packer *packer = NULL;
    if (format == MN_FORMAT_BGEO_GZ) MN_TRY(mn_gzip_pack(ctx, to, &packer));
    if (format == MN_FORMAT_BGEO_SC) MN_TRY(mn_seekable_pack(ctx, to, &packer));
    mn_json_write_begin(json, packer ? packer->writer : to, format != MN_FORMAT_GEO);
    mn_status status = write_geometry(json, geo, name);
    if (status == MN_OK && packer) status = packer->finish(packer);
    if (packer) packer->free(packer);
    return status;
}

/// The geometry as Houdini sees it: its polygons turn clockwise seen from outside, ours the other way.
static mn_status write_turned(mn_context *ctx, const mn_geo *geo, mn_format format, const char *name,
                              mn_safe_file *file, mn_json_writer *json)
{
    mn_geo *turned;
    MN_TRY(mn_geo_copy(geo, &turned));
    mn_status status = mn_geo_reverse_polygons(turned);
    if (status == MN_OK)
        status = write_packed(ctx, turned, format, name, (mn_writer){ctx, file, write_file}, json);
    mn_geo_free(turned);
    return status;
}

mn_status mn_bgeo_write(mn_context *ctx, const mn_geo *geo, mn_format format, const char *name,
                        mn_safe_file *file)
{
    mn_json_writer *json = mn_allocate(ctx, sizeof *json);
    if (!json) return MN_ERROR_MEMORY;
    // Numbers have a point in them, whatever the host's language.
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t host = plain ? uselocale(plain) : (locale_t)0;
    mn_status status = mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory.");
    if (plain) status = write_turned(ctx, geo, format, name, file, json);
    if (plain) {
        uselocale(host);
        freelocale(plain);
    }
    mn_release(ctx, json, sizeof *json);
    return status;
}
