// SPDX-License-Identifier: Apache-2.0
//
// Writes Wavefront .obj: points with Cd, vertex or point N and uv, polygons, polylines, primitive groups and
// shop_materialpath, in the order they have. Anything else in the geometry is refused by name.
#include "plugin/io/formats.h"
#include "plugin/io/text.h"

#include <stdio.h>
#include <string.h>

typedef struct layout {
    const mn_attribute *colour, *material;
    const mn_attribute *normal, *texture; ///< on points or vertices; NULL none
} layout;

static bool is_vector(const mn_attribute *attribute, const char *name, int32_t least, int32_t most)
{
    return strcmp(mn_attribute_name(attribute), name) == 0 && mn_attribute_type(attribute) == MN_F32 &&
           mn_attribute_size(attribute) >= least && mn_attribute_size(attribute) <= most;
}

// Takes an attribute that .obj knows into the layout; false for any other.
static bool take(layout *l, const mn_attribute *attribute)
{
    const mn_owner owner = mn_attribute_owner(attribute);
    if (owner == MN_POINT && is_vector(attribute, "P", 3, 3)) return true;
    if (owner == MN_POINT && is_vector(attribute, "Cd", 3, 3)) return (l->colour = attribute);
    if ((owner == MN_POINT || owner == MN_VERTEX) && !l->normal && is_vector(attribute, "N", 3, 3))
        return (l->normal = attribute);
    if ((owner == MN_POINT || owner == MN_VERTEX) && !l->texture && is_vector(attribute, "uv", 2, 3))
        return (l->texture = attribute);
    if (owner == MN_PRIMITIVE && strcmp(mn_attribute_name(attribute), "shop_materialpath") == 0 &&
        mn_attribute_type(attribute) == MN_STRING && mn_attribute_size(attribute) == 1)
        return (l->material = attribute);
    return false;
}

static bool is_word(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ') return false;
    return name[0] != '\0' && name[strlen(name) - 1] != '\\';
}

// Groups of primitives with a name of one word become g lines.
static bool is_written(const mn_geo *geo, mn_owner owner, int32_t group)
{
    return owner == MN_PRIMITIVE && is_word(mn_group_name(mn_geo_group_at(geo, owner, group)));
}

// A material's name is the rest of a line.
static bool is_rest_of_line(const char *name)
{
    const size_t length = strlen(name);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ') return false;
    return length == 0 || (name[0] != ' ' && name[length - 1] != ' ' && name[length - 1] != '\\');
}

/// Names of what is left out, for one sentence.
typedef struct left_out {
    char text[400];
    int32_t count;
} left_out;

static void leave_out(left_out *out, const char *name)
{
    const size_t length = strlen(out->text);
    if (out->count++ < 12)
        snprintf(out->text + length, sizeof out->text - length, "%s%.30s", length ? ", " : "", name);
}

static mn_status plan(mn_context *ctx, const mn_geo *geo, const char *name, layout *l)
{
    left_out out = {0};
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++)
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, (mn_owner)owner); i++) {
            const mn_attribute *attribute = mn_geo_attribute_at(geo, (mn_owner)owner, i);
            if (!take(l, attribute)) leave_out(&out, mn_attribute_name(attribute));
        }
    for (int32_t i = 0; l->material && i < mn_attribute_table_count(l->material); i++)
        if (!is_rest_of_line(mn_attribute_table_at(l->material, i)))
            return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%s: an .obj file cannot hold the material name '%s'.",
                           name, mn_attribute_table_at(l->material, i));
    for (int owner = 0; owner < MN_DETAIL; owner++)
        for (int32_t i = 0; i < mn_geo_group_count(geo, (mn_owner)owner); i++)
            if (!is_written(geo, (mn_owner)owner, i))
                leave_out(&out, mn_group_name(mn_geo_group_at(geo, (mn_owner)owner, i)));
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_primitive_kind kind = (mn_primitive_kind)mn_geo_primitive_kinds(geo)[i];
        if (kind != MN_POLYGON && kind != MN_POLYLINE)
            return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%s: an .obj file cannot hold a %s (primitive %lld).",
                           name, mn_primitive_kind_name(kind), (long long)i);
    }
    if (out.count > 0)
        mn_log(ctx, MN_LOG_WARNING, "An .obj file has no place for %s%s; write .ply or .bgeo.sc to keep %s.",
               out.text, out.count > 12 ? " and more" : "", out.count > 1 ? "them" : "it");
    return MN_OK;
}

static mn_status write_vectors(mn_safe_file *file, const char *key, const mn_attribute *attribute)
{
    const float *values = mn_attribute_data(attribute);
    const int32_t size = mn_attribute_size(attribute);
    for (int64_t i = 0; i < mn_attribute_count(attribute); i++) {
        const float *x = values + i * size;
        if (size == 2)
            MN_TRY(mn_text_print(file, "%s %.9g %.9g\n", key, (double)x[0], (double)x[1]));
        else
            MN_TRY(mn_text_print(file, "%s %.9g %.9g %.9g\n", key, (double)x[0], (double)x[1], (double)x[2]));
    }
    return MN_OK;
}

static mn_status write_points(const mn_geo *geo, const layout *l, mn_safe_file *file)
{
    if (!l->colour) return write_vectors(file, "v", mn_geo_find(geo, MN_POINT, "P"));
    const float *x = mn_geo_positions(geo), *c = mn_attribute_data(l->colour);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++, x += 3, c += 3)
        MN_TRY(mn_text_print(file, "v %.9g %.9g %.9g %.9g %.9g %.9g\n", (double)x[0], (double)x[1],
                             (double)x[2], (double)c[0], (double)c[1], (double)c[2]));
    return MN_OK;
}

static mn_status write_name(mn_safe_file *file, const char *before, const char *name)
{
    MN_TRY(mn_safe_file_write(file, before, strlen(before)));
    return mn_safe_file_write(file, name, strlen(name));
}

// The g and usemtl lines where they change from the primitive before.
static mn_status write_state(const mn_geo *geo, const layout *l, int64_t i, mn_safe_file *file)
{
    const int32_t groups = mn_geo_group_count(geo, MN_PRIMITIVE);
    bool changed = false;
    for (int32_t g = 0; g < groups; g++) {
        if (!is_written(geo, MN_PRIMITIVE, g)) continue;
        const uint8_t *members = mn_group_data(mn_geo_group_at(geo, MN_PRIMITIVE, g));
        changed = changed || !members[i] != !(i > 0 && members[i - 1]);
    }
    if (changed) {
        MN_TRY(mn_text_print(file, "g"));
        for (int32_t g = 0; g < groups; g++) {
            const mn_group *group = mn_geo_group_at(geo, MN_PRIMITIVE, g);
            if (is_written(geo, MN_PRIMITIVE, g) && mn_group_data(group)[i])
                MN_TRY(write_name(file, " ", mn_group_name(group)));
        }
        MN_TRY(mn_text_print(file, "\n"));
    }
    if (!l->material) return MN_OK;
    const char *now = mn_attribute_string(l->material, i, 0),
               *before = i > 0 ? mn_attribute_string(l->material, i - 1, 0) : "";
    if (strcmp(now, before) == 0) return MN_OK;
    MN_TRY(write_name(file, "usemtl ", now));
    return mn_text_print(file, "\n");
}

static mn_status write_corner(const mn_geo *geo, const layout *l, int64_t vertex, mn_safe_file *file)
{
    const int64_t point = mn_geo_vertex_points(geo)[vertex];
    MN_TRY(mn_text_print(file, " %lld", (long long)point + 1));
    const int64_t texture = l->texture && mn_attribute_owner(l->texture) == MN_POINT ? point : vertex;
    const int64_t normal = l->normal && mn_attribute_owner(l->normal) == MN_POINT ? point : vertex;
    if (l->texture && l->normal)
        return mn_text_print(file, "/%lld/%lld", (long long)texture + 1, (long long)normal + 1);
    if (l->texture) return mn_text_print(file, "/%lld", (long long)texture + 1);
    return l->normal ? mn_text_print(file, "//%lld", (long long)normal + 1) : MN_OK;
}

static mn_status write_all(const mn_geo *geo, const layout *l, mn_safe_file *file)
{
    MN_TRY(mn_text_print(file, "# written by Meniscus\n"));
    MN_TRY(write_points(geo, l, file));
    if (l->texture) MN_TRY(write_vectors(file, "vt", l->texture));
    if (l->normal) MN_TRY(write_vectors(file, "vn", l->normal));
    const int64_t *starts = mn_geo_primitive_starts(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        MN_TRY(write_state(geo, l, i, file));
        MN_TRY(mn_text_print(file, mn_geo_primitive_kinds(geo)[i] == MN_POLYGON ? "f" : "l"));
        for (int64_t v = starts[i]; v < starts[i + 1]; v++) MN_TRY(write_corner(geo, l, v, file));
        MN_TRY(mn_text_print(file, "\n"));
    }
    return MN_OK;
}

mn_status mn_obj_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    layout l = {0};
    MN_TRY(plan(ctx, geo, name, &l));
    mn_plain_locale locale;
    MN_TRY(mn_plain_locale_begin(ctx, &locale));
    const mn_status status = write_all(geo, &l, file);
    mn_plain_locale_end(&locale);
    return status;
}
