// SPDX-License-Identifier: Apache-2.0
//
// Reads .geo and .bgeo as Houdini 12 to 20 write them, plain or packed: one array of keys and values,
//
//   fileversion hasindex pointcount vertexcount primitivecount info topology attributes primitives
//   sharedprimitivedata pointgroups vertexgroups primitivegroups edgegroups index indexposition
//
// in one pass, in the memory of the geometry and little more.
#include "plugin/io/bgeo_read.h"
#include "plugin/io/formats.h"
#include "plugin/io/pack.h"

#include <string.h>

static mn_status read_count(mn_bgeo_reader *reader, mn_owner owner)
{
    mn_json *json = reader->json;
    if (reader->counts[owner] >= 0)
        return mn_json_fail(json, "the number of %ss is given twice", mn_owner_name(owner));
    MN_TRY(mn_json_expect_int(json, "a count", &reader->counts[owner]));
    if (reader->counts[owner] < 0 || reader->counts[owner] > INT64_MAX / 4096)
        return mn_json_fail(json, "there cannot be %lld %ss", (long long)reader->counts[owner],
                            mn_owner_name(owner));
    return MN_OK;
}

static mn_status read_vertex_points(mn_bgeo_reader *reader)
{
    enum { CHUNK = 1 << 16 };
    mn_json *json = reader->json;
    const int64_t expected = reader->counts[MN_VERTEX], points = reader->counts[MN_POINT];
    // A number takes a byte at least: so much can be relied on.
    if (expected <= mn_source_left(json->source))
        MN_TRY(mn_array_reserve(reader->ctx, &reader->vertex_points, expected));
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the points of the vertices"));
    while (reader->vertex_points.count < expected) {
        const int64_t at = reader->vertex_points.count;
        const int64_t some = expected - at < CHUNK ? expected - at : CHUNK;
        int64_t got;
        MN_TRY(mn_array_reserve(reader->ctx, &reader->vertex_points, at + some));
        MN_TRY(mn_json_numbers(json, MN_JSON_I64, reader->vertex_points.data + at, some, &got));
        for (int64_t i = 0; i < got; i++)
            if (reader->vertex_points.data[at + i] < 0 || reader->vertex_points.data[at + i] >= points)
                return mn_json_fail(json, "vertex %lld refers to point %lld, but there are only %lld points",
                                    (long long)(at + i), (long long)reader->vertex_points.data[at + i],
                                    (long long)points);
        reader->vertex_points.count += got;
        if (got < some)
            return mn_json_fail(json, "there should be %lld vertices but there are %lld", (long long)expected,
                                (long long)reader->vertex_points.count);
    }
    MN_TRY(mn_json_next(json));
    if (json->kind == MN_JSON_END) return MN_OK;
    return mn_json_fail(json, "there are more than the %lld vertices that there should be",
                        (long long)expected);
}

/// ["pointref", ["indices", [...]]]
static mn_status read_topology(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    if (reader->has_topology) return mn_json_fail(json, "the topology is there twice");
    if (reader->counts[MN_POINT] < 0 || reader->counts[MN_VERTEX] < 0)
        return mn_json_fail(json, "the counts must come before the topology");
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the topology"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (!mn_json_is(json, "pointref"))
            return mn_json_fail(json, "'%.40s' is not known in the topology", json->string.data);
        MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the points of the vertices"));
        for (;;) {
            MN_TRY(mn_json_next_key(json, &more));
            if (!more) break;
            if (!mn_json_is(json, "indices") || reader->has_topology)
                return mn_json_fail(json, "'%.40s' is not known in the topology", json->string.data);
            MN_TRY(read_vertex_points(reader));
            reader->has_topology = true;
        }
    }
    return MN_OK;
}

static mn_status read_attributes(mn_bgeo_reader *reader)
{
    if (reader->has_attributes) return mn_json_fail(reader->json, "the attributes appear twice");
    reader->has_attributes = true;
    return mn_bgeo_read_attributes(reader);
}

static mn_status read_primitives(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    if (reader->has_primitives) return mn_json_fail(json, "the primitives appear twice");
    if (reader->counts[MN_PRIMITIVE] < 0 || !reader->has_topology || !reader->has_attributes)
        return mn_json_fail(json, "the primitives must come after counts, topology and attributes");
    if (reader->counts[MN_POINT] > 0 && !reader->has_positions)
        return mn_json_fail(json, "the points have no positions P");
    MN_TRY(mn_bgeo_read_primitives(reader));
    reader->has_primitives = true;
    return MN_OK;
}

/// Leaves the value out; says so when there is something in it.
static mn_status skip_unknown(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    char key[64] = {0};
    strncpy(key, json->string.data, sizeof key - 1);
    MN_TRY(mn_json_next(json));
    if (json->kind == MN_JSON_ARRAY) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) return MN_OK; // an empty list
        while (json->kind != MN_JSON_END) {
            MN_TRY(mn_json_skip(json));
            MN_TRY(mn_json_next(json));
        }
    } else {
        MN_TRY(mn_json_skip(json));
    }
    mn_log(reader->ctx, MN_LOG_WARNING, "%s: '%s' is left out: it is not known here.", json->source->name,
           key);
    return MN_OK;
}

/// The value of the key at hand.
static mn_status read_section(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    static const char *const ignored[] = {"fileversion", "hasindex", "info", "index", "indexposition"};
    if (mn_json_is(json, "pointcount")) return read_count(reader, MN_POINT);
    if (mn_json_is(json, "vertexcount")) return read_count(reader, MN_VERTEX);
    if (mn_json_is(json, "primitivecount")) return read_count(reader, MN_PRIMITIVE);
    if (mn_json_is(json, "topology")) return read_topology(reader);
    if (mn_json_is(json, "attributes")) return read_attributes(reader);
    if (mn_json_is(json, "primitives")) return read_primitives(reader);
    if (mn_json_is(json, "sharedprimitivedata")) return mn_bgeo_read_shared(reader);
    if (mn_json_is(json, "pointgroups")) return mn_bgeo_read_groups(reader, MN_POINT);
    if (mn_json_is(json, "vertexgroups")) return mn_bgeo_read_groups(reader, MN_VERTEX);
    if (mn_json_is(json, "primitivegroups")) return mn_bgeo_read_groups(reader, MN_PRIMITIVE);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (mn_json_is(json, ignored[i])) return mn_json_skip_next(json);
    return skip_unknown(reader);
}

/// From the opening bracket to the closing one.
static mn_status read_all(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the geometry"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        MN_TRY(read_section(reader));
    }
    if (reader->depth == 0) MN_TRY(mn_json_finish(json));
    if (!reader->has_primitives) return mn_json_fail(json, "the geometry has no primitives section");
    return mn_bgeo_build(reader);
}

static void free_reader(mn_bgeo_reader *reader)
{
    mn_context *ctx = reader->ctx;
    for (int64_t i = 0; i < reader->attributes.count; i++)
        mn_bgeo_free_attribute(ctx, &reader->attributes.data[i]);
    for (int64_t i = 0; i < reader->groups.count; i++) mn_array_free(ctx, &reader->groups.data[i].members);
    for (int64_t i = 0; i < reader->volumes.count; i++) mn_bgeo_free_volume(ctx, &reader->volumes.data[i]);
    for (int64_t i = 0; i < reader->shared.count; i++) mn_bgeo_free_voxels(ctx, &reader->shared.data[i]);
    for (int64_t i = 0; i < reader->inners.count; i++) mn_bgeo_free_inner(ctx, &reader->inners.data[i]);
    for (int64_t i = 0; i < reader->embedded.count; i++)
        mn_bgeo_free_embedded(ctx, &reader->embedded.data[i]);
    mn_array_free(ctx, &reader->inners);
    mn_array_free(ctx, &reader->embedded);
    mn_array_free(ctx, &reader->attributes);
    mn_array_free(ctx, &reader->groups);
    mn_array_free(ctx, &reader->volumes);
    mn_array_free(ctx, &reader->shared);
    mn_array_free(ctx, &reader->vertex_points);
    mn_array_free(ctx, &reader->parts);
    mn_array_free(ctx, &reader->vertex_counts);
    mn_array_free(ctx, &reader->listed);
}

static mn_status read_with(mn_bgeo_reader *reader, mn_geo **geo)
{
    mn_status status = mn_geo_create(reader->ctx, &reader->geo);
    if (status == MN_OK) status = read_all(reader);
    free_reader(reader);
    if (status == MN_OK)
        *geo = reader->geo;
    else
        mn_geo_free(reader->geo);
    return status;
}

mn_status mn_bgeo_read_nested(mn_bgeo_reader *reader, mn_geo **geo)
{
    mn_bgeo_reader inside = {
        .ctx = reader->ctx, .json = reader->json, .counts = {-1, -1, -1, 1}, .depth = reader->depth + 1};
    if (inside.depth > MN_BGEO_DEPTH_MAX)
        return mn_json_fail(reader->json, "packed geometry is nested more than %d deep",
                            (int)MN_BGEO_DEPTH_MAX);
    inside.constant_bytes = reader->constant_bytes;
    const mn_status status = read_with(&inside, geo);
    reader->constant_bytes = inside.constant_bytes;
    return status;
}

static mn_status read_geometry(mn_context *ctx, mn_source *source, mn_geo **geo)
{
    mn_json json;
    mn_bgeo_reader reader = {.ctx = ctx, .json = &json, .counts = {-1, -1, -1, 1}};
    mn_status status = mn_json_open(ctx, source, &json);
    if (status == MN_OK) status = read_with(&reader, geo);
    mn_json_close(&json);
    return status;
}

mn_status mn_bgeo_read(mn_context *ctx, mn_source *source, mn_format format, mn_geo **geo)
{
    *geo = NULL;
    mn_source *plain = NULL;
    mn_status status = MN_OK;
    if (format == MN_FORMAT_BGEO_GZ) status = mn_gzip_unpack(source, &plain);
    if (format == MN_FORMAT_BGEO_SC) status = mn_seekable_unpack(source, &plain);
    if (status == MN_OK) status = read_geometry(ctx, plain ? plain : source, geo);
    mn_source_close(plain);
    // Houdini's polygons turn clockwise seen from outside, ours the other way.
    if (status == MN_OK) status = mn_geo_reverse_polygons(*geo);
    if (status == MN_OK) return MN_OK;
    mn_geo_free(*geo);
    *geo = NULL;
    return status;
}
