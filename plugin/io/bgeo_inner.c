// SPDX-License-Identifier: Apache-2.0
//
// Primitives that stand for geometry of their own: spheres and packed geometry.
//
//   [["type", "Sphere"], ["vertex", 0, "transform", [9 numbers]]]
//   [["type", "PackedGeometry"], ["parameters", {"embedded": key, ...}, "pivot", [3], "transform", [9],
//                                 "vertex", 0, ...]]
//   "sharedprimitivedata", ["PackedGeometry", ["gu:embeddedgeo", key, [a whole geometry], ...]]
//
// Both become what they stand for, where their point and transform (row vectors: x' = (x - pivot) T + point)
// put it: a sphere as polygons, packed geometry unpacked, packed in packed too. What their point and
// primitive carry goes onto every point and primitive that comes of them, unless it has its own. They come
// after the other primitives of the file.
#include <math.h>
#include <string.h>

#include "plugin/io/bgeo_read.h"

enum {
    KEY_MAX = 1024,
    COLUMNS = 24, ///< of a sphere
    ROWS = 12,
    RINGS = ROWS - 1, ///< of points, between the poles
};

void mn_bgeo_free_inner(mn_context *ctx, mn_bgeo_inner *inner)
{
    if (inner->key) mn_release(ctx, inner->key, strlen(inner->key) + 1);
    inner->key = NULL;
}

void mn_bgeo_free_embedded(mn_context *ctx, mn_bgeo_embedded *embedded)
{
    mn_geo_free(embedded->geo);
    mn_release(ctx, embedded->key, strlen(embedded->key) + 1);
}

// ---- fields ----

static mn_status copy_key(mn_bgeo_reader *reader, char **key)
{
    const size_t size = (size_t)reader->json->string.count + 1;
    if (*key) return mn_json_fail(reader->json, "a packed primitive has its geometry twice");
    *key = mn_allocate(reader->ctx, size);
    if (!*key) return MN_ERROR_MEMORY;
    memcpy(*key, reader->json->string.data, size);
    return MN_OK;
}

static mn_status read_numbers(mn_bgeo_reader *reader, const char *what, int64_t count, double *numbers)
{
    mn_json *json = reader->json;
    int64_t got;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, what));
    MN_TRY(mn_json_numbers(json, MN_JSON_F64, numbers, count, &got));
    if (got == count) MN_TRY(mn_json_next(json));
    if (got != count || json->kind != MN_JSON_END)
        return mn_json_fail(json, "%s should be %lld numbers", what, (long long)count);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return mn_json_fail(json, "%s should be finite", what);
    return MN_OK;
}

/// {"embedded": key, "pointinstancetransform": false, "cachedbounds": [...]}
static mn_status read_parameters(mn_bgeo_reader *reader, mn_bgeo_inner *inner)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_MAP, "the parameters of a packed primitive"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        if (mn_json_is(json, "embedded")) {
            MN_TRY(mn_json_expect_string(json, "the geometry of a packed primitive", KEY_MAX));
            MN_TRY(copy_key(reader, &inner->key));
        } else if (mn_json_is(json, "pointinstancetransform")) {
            MN_TRY(mn_json_expect(json, MN_JSON_BOOL, "'pointinstancetransform'"));
            if (json->integer)
                mn_log(reader->ctx, MN_LOG_WARNING,
                       "%s: the instance attributes (orient, pscale) of packed primitive %lld are left out.",
                       json->source->name, (long long)reader->primitives);
        } else {
            MN_TRY(mn_json_skip_next(json));
        }
    }
}

mn_status mn_bgeo_read_inner_field(mn_bgeo_reader *reader, mn_bgeo_inner *inner, bool *known)
{
    static const char *const quiet[] = {"viewportlod", "treatasfolder"}; // how Houdini draws it
    mn_json *json = reader->json;
    if (mn_json_is(json, "transform")) {
        inner->has_transform = true;
        return read_numbers(reader, "the transform of a primitive", 9, inner->transform);
    }
    if (!inner->is_sphere && mn_json_is(json, "pivot"))
        return read_numbers(reader, "the pivot of a packed primitive", 3, inner->pivot);
    if (!inner->is_sphere && mn_json_is(json, "parameters")) return read_parameters(reader, inner);
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if (mn_json_is(json, quiet[i])) return mn_json_skip_next(json);
    *known = false;
    return MN_OK;
}

mn_status mn_bgeo_add_inner(mn_bgeo_reader *reader, mn_bgeo_inner *inner, int64_t vertex_count)
{
    if (vertex_count != 1)
        return mn_json_fail(reader->json, "a sphere or packed primitive should have one vertex");
    if (!inner->has_transform)
        return mn_json_fail(reader->json, "a sphere or packed primitive has no transform");
    if (!inner->is_sphere && !inner->key)
        return mn_json_fail(reader->json, "a packed primitive names no geometry");
    inner->vertex = reader->listed.data[--reader->listed.count];
    inner->file_primitive = reader->primitives;
    MN_TRY(mn_array_push(reader->ctx, &reader->inners, inner));
    inner->key = NULL;
    return MN_OK;
}

// ---- embedded geometry ----

/// ["gu:embeddedgeo", key, geometry, ...]
mn_status mn_bgeo_read_embedded(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        const bool is_geometry = mn_json_is(json, "gu:embeddedgeo");
        MN_TRY(mn_json_expect_string(json, "the key of shared data", KEY_MAX));
        if (!is_geometry) {
            MN_TRY(mn_json_skip_next(json));
            continue;
        }
        mn_bgeo_embedded made = {0};
        MN_TRY(copy_key(reader, &made.key));
        mn_status status = mn_bgeo_read_nested(reader, &made.geo);
        if (status == MN_OK) status = mn_array_push(reader->ctx, &reader->embedded, &made);
        if (status != MN_OK) mn_bgeo_free_embedded(reader->ctx, &made);
        MN_TRY(status);
    }
}

static mn_status find_embedded(mn_bgeo_reader *reader, const mn_bgeo_inner *inner, mn_geo **copy)
{
    for (int64_t i = 0; i < reader->embedded.count; i++)
        if (strcmp(reader->embedded.data[i].key, inner->key) == 0)
            return mn_geo_copy(reader->embedded.data[i].geo, copy);
    return mn_fail(reader->ctx, MN_ERROR_FORMAT,
                   "%s: packed primitive %lld refers to geometry '%.60s', which is not in the file.",
                   reader->json->source->name, (long long)inner->file_primitive, inner->key);
}

// ---- spheres ----

/// Point of a sphere: 0 is the south pole, then ring by ring, the north pole last.
static int64_t sphere_point(int row, int column)
{
    if (row == 0) return 0;
    if (row == ROWS) return 1 + RINGS * COLUMNS;
    return 1 + (row - 1) * COLUMNS + column % COLUMNS;
}

/// The unit sphere in longitudes and latitudes, facing out as Houdini's polygons do.
static mn_status make_sphere(mn_context *ctx, mn_geo **sphere)
{
    MN_TRY(mn_geo_create(ctx, sphere));
    MN_TRY(mn_geo_add_points(*sphere, 2 + RINGS * COLUMNS, NULL));
    float *p = mn_geo_write_positions(*sphere);
    if (!p) return MN_ERROR_MEMORY;
    const double pi = 3.14159265358979323846;
    for (int row = 0; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const double latitude = pi * (row / (double)ROWS - 0.5), longitude = 2 * pi * column / COLUMNS;
            const double ring = row == 0 || row == ROWS ? 0 : cos(latitude); // the poles exactly
            float *x = p + 3 * sphere_point(row, column);
            x[0] = (float)(ring * cos(longitude));
            x[1] = (float)sin(latitude);
            x[2] = (float)(ring * sin(longitude));
        }
    int64_t points[COLUMNS * (4 * (ROWS - 2) + 6)], count = 0;
    int32_t sizes[COLUMNS * ROWS], faces = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const bool ends_in_pole = row == 0 || row == ROWS - 1;
            points[count++] = sphere_point(row, column);
            if (row > 0) points[count++] = sphere_point(row, column + 1);
            points[count++] = sphere_point(row + 1, column + 1);
            if (row < ROWS - 1) points[count++] = sphere_point(row + 1, column);
            sizes[faces++] = ends_in_pole ? 3 : 4;
        }
    return mn_geo_add_primitives(*sphere, MN_POLYGON, faces, sizes, 0, points, NULL);
}

// ---- what point and primitive carry ----

static mn_status fill_strings(mn_geo *geo, mn_attribute *made, int32_t component, const char *text)
{
    if (mn_attribute_count(made) == 0 || !text[0]) return MN_OK;
    int32_t index;
    MN_TRY(mn_attribute_intern(geo, made, text, &index));
    int32_t *values = mn_attribute_write(geo, made);
    if (!values) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < mn_attribute_count(made); i++)
        values[i * mn_attribute_size(made) + component] = index;
    return MN_OK;
}

static mn_status fill_numbers(mn_geo *geo, mn_attribute *made, const void *value)
{
    const size_t bytes = mn_type_bytes(mn_attribute_type(made)) * (size_t)mn_attribute_size(made);
    if (mn_attribute_count(made) == 0) return MN_OK;
    char *values = mn_attribute_write(geo, made);
    if (!values) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < mn_attribute_count(made); i++) memcpy(values + mn_bytes(i, bytes), value, bytes);
    return MN_OK;
}

static mn_status take_point_attributes(const mn_bgeo_reader *reader, int64_t point, mn_geo *geo)
{
    for (int32_t i = 0; i < mn_geo_attribute_count(reader->geo, MN_POINT); i++) {
        const mn_attribute *from = mn_geo_attribute_at(reader->geo, MN_POINT, i);
        const mn_type type = mn_attribute_type(from);
        const int32_t size = mn_attribute_size(from);
        mn_attribute *made;
        if (mn_geo_find(geo, MN_POINT, mn_attribute_name(from))) continue;
        MN_TRY(mn_geo_add_attribute(geo, MN_POINT, mn_attribute_name(from), type, size,
                                    mn_attribute_hint(from), &made));
        if (type != MN_STRING)
            MN_TRY(fill_numbers(geo, made,
                                (const char *)mn_attribute_data(from) +
                                    mn_bytes(point, mn_type_bytes(type) * (size_t)size)));
        for (int32_t k = 0; type == MN_STRING && k < size; k++)
            MN_TRY(fill_strings(geo, made, k, mn_attribute_string(from, point, k)));
    }
    return MN_OK;
}

static mn_status take_primitive_attribute(const mn_bgeo_attribute *from, int64_t primitive, mn_geo *geo)
{
    mn_attribute *made;
    if (mn_geo_find(geo, MN_PRIMITIVE, from->name)) return MN_OK;
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, from->name, from->type, from->size, from->hint, &made));
    if (from->type != MN_STRING)
        return fill_numbers(geo, made,
                            from->data + mn_bytes(primitive, mn_type_bytes(from->type) * (size_t)from->size));
    for (int32_t k = 0; k < from->size; k++) {
        const int32_t index = ((const int32_t *)(const void *)from->data)[primitive * from->size + k];
        if (index >= 0 && index < from->strings.starts.count)
            MN_TRY(fill_strings(geo, made, k, from->strings.text.data + from->strings.starts.data[index]));
    }
    return MN_OK;
}

static mn_status take_group(const mn_bgeo_group *from, int64_t element, mn_geo *geo)
{
    mn_group *made;
    if (!from->members.data[element] || mn_geo_count(geo, from->owner) == 0) return MN_OK;
    MN_TRY(mn_geo_add_group(geo, from->owner, from->name, &made));
    uint8_t *members = mn_group_write(geo, made);
    if (!members) return MN_ERROR_MEMORY;
    memset(members, 1, (size_t)mn_geo_count(geo, from->owner));
    return MN_OK;
}

static mn_status take_all(const mn_bgeo_reader *reader, const mn_bgeo_inner *inner, int64_t point,
                          mn_geo *geo)
{
    MN_TRY(take_point_attributes(reader, point, geo));
    for (int64_t i = 0; i < reader->attributes.count; i++)
        if (reader->attributes.data[i].owner == MN_PRIMITIVE)
            MN_TRY(take_primitive_attribute(&reader->attributes.data[i], inner->file_primitive, geo));
    for (int64_t i = 0; i < reader->groups.count; i++) {
        const mn_bgeo_group *group = &reader->groups.data[i];
        if (group->owner == MN_POINT) MN_TRY(take_group(group, point, geo));
        if (group->owner == MN_PRIMITIVE) MN_TRY(take_group(group, inner->file_primitive, geo));
    }
    return MN_OK;
}

// ---- building ----

static mn_mat4 placement(const mn_bgeo_inner *inner, mn_vec3 point)
{
    // Column vectors here: the transform's rows are our columns.
    const double *t = inner->transform;
    mn_mat3 linear;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) linear.m[row][column] = t[3 * column + row];
    const mn_vec3 pivot = {inner->pivot[0], inner->pivot[1], inner->pivot[2]};
    return mn_m4_affine(linear, mn_sub(point, mn_m3_apply(linear, pivot)));
}

static mn_status make_instance(mn_bgeo_reader *reader, const mn_bgeo_inner *inner, mn_geo **geo)
{
    const int64_t point = reader->vertex_points.data[inner->vertex];
    const mn_mat4 place = placement(inner, mn_geo_position(reader->geo, point));
    MN_TRY(inner->is_sphere ? make_sphere(reader->ctx, geo) : find_embedded(reader, inner, geo));
    MN_TRY(mn_geo_transform(*geo, place));
    if (mn_m3_determinant(mn_m4_linear(place)) < 0)
        MN_TRY(mn_geo_reverse_polygons(*geo)); // a mirror turns them
    return take_all(reader, inner, point, *geo);
}

mn_status mn_bgeo_make_inners(mn_bgeo_reader *reader, mn_geo **all)
{
    if (reader->inners.count == 0) return MN_OK;
    MN_TRY(mn_geo_create(reader->ctx, all));
    for (int64_t i = 0; i < reader->inners.count; i++) {
        mn_geo *one = NULL;
        mn_status status = make_instance(reader, &reader->inners.data[i], &one);
        const double bytes = status == MN_OK ? (double)mn_geo_bytes(one) : 0;
        if (!mn_bgeo_may_grow(reader, bytes))
            status = mn_fail(
                reader->ctx, MN_ERROR_MEMORY,
                "%s: %lld packed primitives and spheres repeat geometry, far more than a file of this "
                "size should need in memory. If you trust it, allow it with --memory or "
                "MENISCUS_MEMORY.",
                reader->json->source->name, (long long)reader->inners.count);
        reader->constant_bytes += bytes;
        if (status == MN_OK) status = mn_geo_append(*all, one);
        mn_geo_free(one);
        MN_TRY(status);
    }
    return MN_OK;
}
