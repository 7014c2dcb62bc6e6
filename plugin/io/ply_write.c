// SPDX-License-Identifier: Apache-2.0
//
// Writes .ply, binary little-endian or ascii, with every numeric point, primitive and detail attribute and
// every point and primitive group (see ply.h). Polygons come before polylines in the file, so primitives of
// both kinds are renumbered.
#include "plugin/io/ply.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = MN_PLY_PROPERTIES };

/// A property of a row: where its value is.
typedef struct column {
    mn_ply_type type;
    mn_type from; ///< MN_TYPE_COUNT: a group's byte
    const void *data;
    int32_t stride, component;
} column;

typedef struct table {
    int32_t count;
    column columns[COLUMNS_MAX];
} table;

typedef struct writer {
    mn_context *ctx;
    const mn_geo *geo;
    const char *name;
    mn_safe_file *file;
    bool ascii;
    table points, primitives;
    char names[2][COLUMNS_MAX][MN_PLY_NAME + 16];
} writer;

static bool is_word(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ') return false;
    return name[0] != '\0' && strlen(name) < MN_PLY_NAME - 8;
}

static mn_status fail_attribute(writer *w, const mn_attribute *attribute, const char *why)
{
    return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED, "%s: a .ply file cannot hold the %s attribute '%.200s': %s.",
                   w->name, mn_owner_name(mn_attribute_owner(attribute)), mn_attribute_name(attribute), why);
}

static mn_status add_column(writer *w, int which, const char *name, column c)
{
    table *t = which == 0 ? &w->points : &w->primitives;
    if (t->count == COLUMNS_MAX)
        return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED, "%s: there are too many attributes for .ply.", w->name);
    static const char *const own[] = {"vertex1", "vertex2", "vertex_indices"};
    bool taken = false;
    for (int32_t i = 0; i < t->count; i++) taken = taken || strcmp(w->names[which][i], name) == 0;
    for (int i = 0; which == 1 && i < 3; i++) taken = taken || strcmp(own[i], name) == 0;
    if (taken)
        return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED,
                       "%s: two attributes would both be called '%.200s' in .ply; rename one.", w->name,
                       name);
    snprintf(w->names[which][t->count], MN_PLY_NAME + 16, "%s", name);
    t->columns[t->count++] = c;
    return MN_OK;
}

// 64-bit integers go as 32-bit ones when they all fit; the comment brings the type back.
static mn_status property_type(writer *w, const mn_attribute *attribute, mn_ply_type *type)
{
    const mn_type from = mn_attribute_type(attribute);
    if (from == MN_STRING)
        return fail_attribute(w, attribute, "it has no strings; remove it, or write .bgeo.sc");
    *type = from == MN_F32 ? MN_PLY_F32 : from == MN_F64 ? MN_PLY_F64 : MN_PLY_I32;
    const int64_t *values = mn_attribute_data(attribute);
    for (int64_t i = 0; from == MN_I64 && i < mn_attribute_count(attribute) * mn_attribute_size(attribute);
         i++)
        if (values[i] < INT32_MIN || values[i] > INT32_MAX)
            return fail_attribute(w, attribute, "its integers need more than 32 bits");
    return MN_OK;
}

static mn_status plan_owner(writer *w, mn_owner owner, int which)
{
    for (int32_t k = 0; k < mn_geo_attribute_count(w->geo, owner); k++) {
        const mn_attribute *attribute = mn_geo_attribute_at(w->geo, owner, k);
        const int32_t size = mn_attribute_size(attribute);
        mn_ply_type type;
        if (!is_word(mn_attribute_name(attribute)))
            return fail_attribute(w, attribute, "its name is not one short word");
        MN_TRY(property_type(w, attribute, &type));
        for (int32_t i = 0; i < size; i++) {
            char name[MN_PLY_NAME + 16];
            mn_ply_component_name(mn_attribute_name(attribute), size, i, name);
            MN_TRY(add_column(
                w, which, name,
                (column){type, mn_attribute_type(attribute), mn_attribute_data(attribute), size, i}));
        }
    }
    for (int32_t k = 0; k < mn_geo_group_count(w->geo, owner); k++) {
        const mn_group *group = mn_geo_group_at(w->geo, owner, k);
        char name[MN_PLY_NAME + 16];
        if (!is_word(mn_group_name(group)))
            return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED,
                           "%s: a .ply file cannot hold the group '%.200s': its name is not one short word.",
                           w->name, mn_group_name(group));
        snprintf(name, sizeof name, "group_%s", mn_group_name(group));
        MN_TRY(add_column(w, which, name, (column){MN_PLY_U8, MN_TYPE_COUNT, mn_group_data(group), 1, 0}));
    }
    return MN_OK;
}

static mn_status plan(writer *w)
{
    const mn_geo *geo = w->geo;
    if (mn_geo_attribute_count(geo, MN_VERTEX) > 0)
        return fail_attribute(w, mn_geo_attribute_at(geo, MN_VERTEX, 0),
                              "it has no values on corners; promote it to points");
    if (mn_geo_group_count(geo, MN_VERTEX) > 0)
        return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED, "%s: a .ply file cannot hold the vertex group '%.200s'.",
                       w->name, mn_group_name(mn_geo_group_at(geo, MN_VERTEX, 0)));
    if (mn_geo_point_count(geo) > INT32_MAX)
        return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED, "%s: a .ply file has at most 2^31 points.", w->name);
    const int64_t *starts = mn_geo_primitive_starts(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_primitive_kind kind = (mn_primitive_kind)mn_geo_primitive_kinds(geo)[i];
        if (kind == MN_POLYGON || (kind == MN_POLYLINE && starts[i + 1] - starts[i] == 2)) continue;
        return mn_fail(w->ctx, MN_ERROR_UNSUPPORTED, "%s: a .ply file cannot hold a %s%s (primitive %lld).",
                       w->name, mn_primitive_kind_name(kind),
                       kind == MN_POLYLINE ? " of more than two points" : "", (long long)i);
    }
    for (int32_t i = 0; i < mn_geo_attribute_count(geo, MN_DETAIL); i++) {
        const mn_attribute *attribute = mn_geo_attribute_at(geo, MN_DETAIL, i);
        mn_ply_type unused;
        if (!is_word(mn_attribute_name(attribute)))
            return fail_attribute(w, attribute, "its name is not one short word");
        MN_TRY(property_type(w, attribute, &unused));
    }
    MN_TRY(plan_owner(w, MN_POINT, 0));
    return plan_owner(w, MN_PRIMITIVE, 1);
}

// ---- header ----

static mn_status write_remarks(writer *w, mn_owner owner)
{
    for (int32_t k = 0; k < mn_geo_attribute_count(w->geo, owner); k++) {
        const mn_attribute *a = mn_geo_attribute_at(w->geo, owner, k);
        if (owner == MN_POINT && strcmp(mn_attribute_name(a), "P") == 0) continue;
        const char *front = owner == MN_DETAIL  ? "detail"
                            : owner == MN_POINT ? "attribute point"
                                                : "attribute primitive";
        MN_TRY(mn_text_print(w->file, "comment meniscus %s %s %s %d %s", front, mn_attribute_name(a),
                             mn_type_name(mn_attribute_type(a)), (int)mn_attribute_size(a),
                             mn_hint_name(mn_attribute_hint(a))));
        double values[64];
        if (owner == MN_DETAIL) mn_attribute_get(a, 0, 1, values);
        for (int32_t i = 0; owner == MN_DETAIL && i < mn_attribute_size(a); i++)
            MN_TRY(mn_text_print(w->file, " %.17g", values[i]));
        MN_TRY(mn_text_print(w->file, "\n"));
    }
    for (int32_t k = 0; owner != MN_DETAIL && k < mn_geo_group_count(w->geo, owner); k++)
        MN_TRY(mn_text_print(w->file, "comment meniscus group %s %s\n", mn_owner_name(owner),
                             mn_group_name(mn_geo_group_at(w->geo, owner, k))));
    return MN_OK;
}

static mn_status write_properties(writer *w, int which)
{
    const table *t = which == 0 ? &w->points : &w->primitives;
    for (int32_t i = 0; i < t->count; i++)
        MN_TRY(mn_text_print(w->file, "property %s %s\n", mn_ply_type_name(t->columns[i].type),
                             w->names[which][i]));
    return MN_OK;
}

static mn_status write_header(writer *w, bool wide)
{
    const int64_t polygons = mn_geo_kind_count(w->geo, MN_POLYGON),
                  lines = mn_geo_kind_count(w->geo, MN_POLYLINE);
    MN_TRY(mn_text_print(w->file, "ply\nformat %s 1.0\ncomment written by Meniscus\n",
                         w->ascii ? "ascii" : "binary_little_endian"));
    MN_TRY(write_remarks(w, MN_POINT));
    MN_TRY(write_remarks(w, MN_PRIMITIVE));
    MN_TRY(write_remarks(w, MN_DETAIL));
    MN_TRY(mn_text_print(w->file, "element vertex %lld\n", (long long)mn_geo_point_count(w->geo)));
    MN_TRY(write_properties(w, 0));
    // Without a primitive the element still carries the primitive attributes.
    if (polygons > 0 || lines == 0) {
        MN_TRY(mn_text_print(w->file, "element face %lld\nproperty list %s int vertex_indices\n",
                             (long long)polygons, wide ? "int" : "uchar"));
        MN_TRY(write_properties(w, 1));
    }
    if (lines > 0) {
        MN_TRY(mn_text_print(w->file, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
                             (long long)lines));
        MN_TRY(write_properties(w, 1));
    }
    return mn_text_print(w->file, "end_header\n");
}

// ---- rows ----

static mn_status write_integer(writer *w, int64_t value, size_t bytes, bool first)
{
    if (w->ascii) return mn_text_print(w->file, first ? "%lld" : " %lld", (long long)value);
    const int32_t narrow = (int32_t)value; // little-endian: the first bytes are the low ones
    return mn_safe_file_write(w->file, &narrow, bytes);
}

static mn_status write_value(writer *w, const column *c, int64_t row, bool first)
{
    const int64_t at = row * c->stride + c->component;
    if (c->from == MN_TYPE_COUNT) return write_integer(w, ((const uint8_t *)c->data)[at] != 0, 1, first);
    if (c->from == MN_I32) return write_integer(w, ((const int32_t *)c->data)[at], 4, first);
    if (c->from == MN_I64) return write_integer(w, ((const int64_t *)c->data)[at], 4, first);
    if (!w->ascii)
        return c->from == MN_F32 ? mn_safe_file_write(w->file, (const float *)c->data + at, 4)
                                 : mn_safe_file_write(w->file, (const double *)c->data + at, 8);
    if (c->from == MN_F32)
        return mn_text_print(w->file, first ? "%.9g" : " %.9g", (double)((const float *)c->data)[at]);
    return mn_text_print(w->file, first ? "%.17g" : " %.17g", ((const double *)c->data)[at]);
}

static mn_status write_row(writer *w, const table *t, int64_t row, bool first)
{
    for (int32_t i = 0; i < t->count; i++) MN_TRY(write_value(w, &t->columns[i], row, first && i == 0));
    return w->ascii ? mn_text_print(w->file, "\n") : MN_OK;
}

static mn_status write_primitives(writer *w, mn_primitive_kind kind, bool wide)
{
    const int64_t *starts = mn_geo_primitive_starts(w->geo), *points = mn_geo_vertex_points(w->geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(w->geo); i++) {
        if (mn_geo_primitive_kinds(w->geo)[i] != kind) continue;
        if (kind == MN_POLYGON) MN_TRY(write_integer(w, starts[i + 1] - starts[i], wide ? 4 : 1, true));
        for (int64_t v = starts[i]; v < starts[i + 1]; v++)
            MN_TRY(write_integer(w, points[v], 4, kind == MN_POLYLINE && v == starts[i]));
        MN_TRY(write_row(w, &w->primitives, i, false));
    }
    return MN_OK;
}

static mn_status write_all(writer *w)
{
    const int64_t *starts = mn_geo_primitive_starts(w->geo);
    bool wide = false;
    for (int64_t i = 0; i < mn_geo_primitive_count(w->geo); i++)
        wide = wide || starts[i + 1] - starts[i] > 255;
    MN_TRY(write_header(w, wide));
    for (int64_t i = 0; i < mn_geo_point_count(w->geo); i++) MN_TRY(write_row(w, &w->points, i, true));
    MN_TRY(write_primitives(w, MN_POLYGON, wide));
    return write_primitives(w, MN_POLYLINE, wide);
}

mn_status mn_ply_write(mn_context *ctx, const mn_geo *geo, bool ascii, const char *name, mn_safe_file *file)
{
    writer *w = mn_allocate_zero(ctx, sizeof *w);
    if (!w) return MN_ERROR_MEMORY;
    w->ctx = ctx, w->geo = geo, w->name = name, w->file = file, w->ascii = ascii;
    mn_plain_locale locale;
    mn_status status = plan(w);
    if (status == MN_OK) status = mn_plain_locale_begin(ctx, &locale);
    if (status == MN_OK) {
        status = write_all(w);
        mn_plain_locale_end(&locale);
    }
    mn_release(ctx, w, sizeof *w);
    return status;
}
