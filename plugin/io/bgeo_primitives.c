// SPDX-License-Identifier: Apache-2.0
//
// The primitives of a geometry file, gathered into parts of one kind:
//
//   [["type", "Polygon_run"], ["startvertex", 0, "nprimitives", 2, "nvertices", [3, 4]]]     closed
//   [["type", "p_r"], ["s_v", 0, "n_p", 6, "r_v", [4, 6]]]             the same in binary, sizes as runs
//   [["type", "PolygonCurve_run" or "c_r"], ...]                                             open
//   [["type", "Tetrahedron_run"], ["startvertex", 0, "nprimitives", 2]]
//   [["type", "Poly"], ["vertex", [0, 1, 2], "closed", true]]                                older
//   [["type", "run", "runtype", "Poly", "varyingfields", ["vertex"], "uniformfields", {"closed": true}],
//    [[[0, 1, 2]], [[3, 4, 5]]]]
//   [["type", "PolySoup"], ["vertex", [...], "polyinfo", [[sizes], [counts], [numbers in vertex]]]]
//   [["type", "Tetrahedron" or "Volume" or "VDB"], ["vertex", ..., ...]]
//   [["type", "Sphere" or "PackedGeometry"], ...]                                            bgeo_inner.c
#include "plugin/io/bgeo_read.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 4096, FIELD_MAX = 16 };

typedef enum type {
    POLY,
    POLY_SOUP,
    TETRAHEDRON,
    VOLUME,
    VDB,
    SPHERE,
    PACKED,
    POLYGON_RUN,
    CURVE_RUN,
    TETRAHEDRON_RUN,
    TYPE_COUNT
} type;

static const struct {
    const char *name;
    type type;
} types[] = {
    {"Poly", POLY},
    {"PolySoup", POLY_SOUP},
    {"Tetrahedron", TETRAHEDRON},
    {"Volume", VOLUME},
    {"VDB", VDB},
    {"Sphere", SPHERE},
    {"PackedGeometry", PACKED},
    {"Polygon_run", POLYGON_RUN},
    {"p_r", POLYGON_RUN},
    {"PolygonCurve_run", CURVE_RUN},
    {"c_r", CURVE_RUN},
    {"Tetrahedron_run", TETRAHEDRON_RUN},
};

/// One primitive, or the fields that those of a run have in common.
typedef struct record {
    type type;
    bool is_open;
    int64_t vertex_count; ///< the last so many of `listed`
    bool has_vertices;
    int64_t start, primitives; ///< of a run
    bool has_start, has_primitives;
    int64_t sizes;           ///< of a run: how many of vertex_counts are its own
    bool has_sizes, by_runs; ///< by_runs: sizes and counts alternate
    int64_t soup_sizes;      ///< of a soup: parts it has added
    mn_bgeo_volume volume;
    mn_bgeo_inner inner;
} record;

static void free_record(mn_context *ctx, record *record)
{
    mn_bgeo_free_volume(ctx, &record->volume);
    mn_bgeo_free_inner(ctx, &record->inner);
}

static mn_status fail_unknown(mn_bgeo_reader *reader, const char *name)
{
    const bool is_packed = strncmp(name, "Packed", 6) == 0;
    if (strncmp(name, "PackedDisk", 10) == 0 || strncmp(name, "Alembic", 7) == 0)
        return mn_fail(
            reader->ctx, MN_ERROR_UNSUPPORTED,
            "%s: primitive %lld is a %.40s, which only names another file. Read that file itself, or "
            "unpack it before saving.",
            reader->json->source->name, (long long)reader->primitives, name);
    return mn_fail(
        reader->ctx, MN_ERROR_UNSUPPORTED,
        "%s: primitive %lld is a %.40s, which cannot be read; polygons, curves, tetrahedra, spheres, volumes, "
        "VDBs and packed geometry can. %s before saving.",
        reader->json->source->name, (long long)reader->primitives, name,
        is_packed ? "Unpack it" : "Convert it to polygons");
}

// ---- parts ----

static mn_status check_vertices(mn_bgeo_reader *reader, mn_primitive_kind kind, int64_t count,
                                int64_t primitive)
{
    static const int64_t least[] = {
        [MN_POLYLINE] = 2, [MN_POLYGON] = 3, [MN_TETRAHEDRON] = 4, [MN_VOLUME] = 1};
    static const int64_t most[] = {
        [MN_POLYLINE] = INT32_MAX, [MN_POLYGON] = INT32_MAX, [MN_TETRAHEDRON] = 4, [MN_VOLUME] = 1};
    if (count >= least[kind] && count <= most[kind]) return MN_OK;
    return mn_fail(
        reader->ctx, MN_ERROR_UNSUPPORTED,
        "%s: primitive %lld is a %s with %lld vertices, which is not possible; clean the geometry before saving.",
        reader->json->source->name, (long long)primitive, mn_primitive_kind_name(kind), (long long)count);
}

/// A primitive with the last `count` of the listed vertices, joined to the part before when that is alike.
static mn_status add_listed(mn_bgeo_reader *reader, mn_primitive_kind kind, int64_t count, bool from_one)
{
    MN_TRY(check_vertices(reader, kind, count, reader->primitives));
    mn_bgeo_part *last = reader->parts.count > 0 ? &reader->parts.data[reader->parts.count - 1] : NULL;
    const int32_t vertices = (int32_t)count;
    const bool follows = last && last->first_vertex < 0 &&
                         last->first_listed + last->vertices == reader->listed.count - count &&
                         last->first_count + last->primitives == reader->vertex_counts.count;
    const bool alike = follows && last->kind == kind && kind != MN_VOLUME && last->from_one == from_one &&
                       (!from_one || last->file_primitive == reader->primitives);
    if (!alike) {
        const mn_bgeo_part part = {.kind = kind,
                                   .file_primitive = reader->primitives,
                                   .from_one = from_one,
                                   .first_count = reader->vertex_counts.count,
                                   .first_vertex = -1,
                                   .first_listed = reader->listed.count - count,
                                   .volume = reader->volumes.count - 1};
        MN_TRY(mn_array_push(reader->ctx, &reader->parts, &part));
        last = &reader->parts.data[reader->parts.count - 1];
    }
    MN_TRY(mn_array_push(reader->ctx, &reader->vertex_counts, &vertices));
    last->primitives++;
    last->vertices += count;
    return MN_OK;
}

/// `primitives` that take the file's vertices in order from `*vertex` on, `each` of them or as the
/// vertex_counts from `first_count` on say.
static mn_status add_in_order(mn_bgeo_reader *reader, mn_primitive_kind kind, int64_t primitives,
                              int32_t each, int64_t first_count, int64_t vertices, int64_t *vertex)
{
    if (primitives == 0) return MN_OK;
    const mn_bgeo_part part = {.kind = kind,
                               .primitives = primitives,
                               .file_primitive = reader->primitives,
                               .each = each,
                               .first_count = first_count,
                               .first_vertex = *vertex,
                               .vertices = vertices};
    MN_TRY(mn_array_push(reader->ctx, &reader->parts, &part));
    *vertex += vertices;
    reader->primitives += primitives;
    return MN_OK;
}

// ---- fields ----

/// A number, or an array of them, onto the end of `listed`.
static mn_status read_vertices(mn_bgeo_reader *reader, record *record)
{
    mn_json *json = reader->json;
    if (record->has_vertices) return mn_json_fail(json, "a primitive has its vertices twice");
    record->has_vertices = true;
    const int64_t start = reader->listed.count, available = reader->vertex_points.count;
    MN_TRY(mn_json_next(json));
    if (json->kind == MN_JSON_INT) {
        MN_TRY(mn_array_push(reader->ctx, &reader->listed, &json->integer));
    } else if (json->kind == MN_JSON_ARRAY) {
        int64_t got;
        do {
            const int64_t at = reader->listed.count;
            MN_TRY(mn_array_reserve(reader->ctx, &reader->listed, at + CHUNK));
            MN_TRY(mn_json_numbers(json, MN_JSON_I64, reader->listed.data + at, CHUNK, &got));
            reader->listed.count = at + got;
        } while (json->kind != MN_JSON_END);
    } else {
        return mn_json_fail(json, "the vertices of a primitive should be numbers");
    }
    record->vertex_count = reader->listed.count - start;
    for (int64_t i = start; i < reader->listed.count; i++)
        if (reader->listed.data[i] < 0 || reader->listed.data[i] >= available)
            return mn_json_fail(json, "primitive %lld refers to vertex %lld, but there are only %lld",
                                (long long)reader->primitives, (long long)reader->listed.data[i],
                                (long long)available);
    return MN_OK;
}

static mn_status read_sizes(mn_bgeo_reader *reader, record *record, bool by_runs)
{
    mn_json *json = reader->json;
    if (record->has_sizes) return mn_json_fail(json, "a run has its vertex counts twice");
    record->has_sizes = true;
    record->by_runs = by_runs;
    const int64_t start = reader->vertex_counts.count;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the vertex counts of a run"));
    int64_t got;
    do {
        const int64_t at = reader->vertex_counts.count;
        MN_TRY(mn_array_reserve(reader->ctx, &reader->vertex_counts, at + CHUNK));
        MN_TRY(mn_json_numbers(json, MN_JSON_I32, reader->vertex_counts.data + at, CHUNK, &got));
        reader->vertex_counts.count = at + got;
    } while (json->kind != MN_JSON_END);
    record->sizes = reader->vertex_counts.count - start;
    return MN_OK;
}

// ---- polygon soups ----

/// `count` polygons of `size` vertices, whose numbers in the soup come next in the array we are in.
static mn_status add_soup_polygons(mn_bgeo_reader *reader, int64_t first_vertex, int64_t vertex_count,
                                   int64_t size, int64_t count)
{
    mn_json *json = reader->json;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t left = size; left > 0;) {
            const int64_t at = reader->listed.count, some = left < CHUNK ? left : CHUNK;
            int64_t got;
            MN_TRY(mn_array_reserve(reader->ctx, &reader->listed, at + some));
            int64_t *numbers = reader->listed.data + at;
            MN_TRY(mn_json_numbers(json, MN_JSON_I64, numbers, some, &got));
            if (got < some) return mn_json_fail(json, "a polygon soup has too few vertices");
            for (int64_t k = 0; k < some; k++) {
                if (numbers[k] < 0 || numbers[k] >= vertex_count)
                    return mn_json_fail(json, "a polygon soup refers to vertex %lld of its %lld",
                                        (long long)numbers[k], (long long)vertex_count);
                numbers[k] = reader->listed.data[first_vertex + numbers[k]];
            }
            reader->listed.count = at + some;
            left -= some;
        }
        MN_TRY(add_listed(reader, MN_POLYGON, size, true));
    }
    return MN_OK;
}

/// [[sizes], [how many of each], [vertex numbers]]
static mn_status read_soup(mn_bgeo_reader *reader, record *record)
{
    mn_json *json = reader->json;
    if (!record->has_vertices) return mn_json_fail(json, "a polygon soup should begin with its vertices");
    const int64_t first_vertex = reader->listed.count - record->vertex_count;
    MN_ARRAY(int64_t) table[2] = {{0}};
    mn_status status = mn_json_expect(json, MN_JSON_ARRAY, "the polygons of a soup");
    for (int t = 0; t < 2 && status == MN_OK; t++) {
        MN_TRY_TO(done, status, mn_json_expect(json, MN_JSON_ARRAY, "the sizes of a soup"));
        int64_t got;
        do {
            const int64_t at = table[t].count;
            MN_TRY_TO(done, status, mn_array_reserve(reader->ctx, &table[t], at + CHUNK));
            MN_TRY_TO(done, status, mn_json_numbers(json, MN_JSON_I64, table[t].data + at, CHUNK, &got));
            table[t].count = at + got;
        } while (json->kind != MN_JSON_END);
    }
    if (status == MN_OK && table[0].count != table[1].count)
        status = mn_json_fail(json, "the sizes of a polygon soup do not agree");
    if (status == MN_OK) status = mn_json_expect(json, MN_JSON_ARRAY, "the vertices of a soup");
    for (int64_t i = 0; i < table[0].count && status == MN_OK; i++) {
        if (table[0].data[i] < 1 || table[1].data[i] < 0)
            status = mn_json_fail(json, "the sizes of a polygon soup are wrong");
        else
            status = add_soup_polygons(reader, first_vertex, record->vertex_count, table[0].data[i],
                                       table[1].data[i]);
    }
    for (int ends = 0; ends < 2 && status == MN_OK; ends++) {
        status = mn_json_next(json);
        if (status == MN_OK && json->kind != MN_JSON_END)
            status = mn_json_fail(json, "a polygon soup has too many vertices");
    }
    record->soup_sizes++;
done:
    mn_array_free(reader->ctx, &table[0]);
    mn_array_free(reader->ctx, &table[1]);
    return status;
}

// ---- one field ----

static mn_status read_run_field(mn_bgeo_reader *reader, record *record, bool *known)
{
    mn_json *json = reader->json;
    if (mn_json_is(json, "startvertex") || mn_json_is(json, "s_v")) {
        record->has_start = true;
        return mn_json_expect_int(json, "the first vertex of a run", &record->start);
    }
    if (mn_json_is(json, "nprimitives") || mn_json_is(json, "n_p")) {
        record->has_primitives = true;
        return mn_json_expect_int(json, "the number of primitives in a run", &record->primitives);
    }
    if (mn_json_is(json, "nvertices") || mn_json_is(json, "n_v")) return read_sizes(reader, record, false);
    if (mn_json_is(json, "nvertices_rle") || mn_json_is(json, "r_v")) return read_sizes(reader, record, true);
    *known = false;
    return MN_OK;
}

/// The value of the field whose name is at hand.
static mn_status read_field(mn_bgeo_reader *reader, record *record)
{
    mn_json *json = reader->json;
    bool known = true;
    if (record->type >= POLYGON_RUN) {
        MN_TRY(read_run_field(reader, record, &known));
    } else if (mn_json_is(json, "vertex")) {
        return read_vertices(reader, record);
    } else if (record->type == POLY && mn_json_is(json, "closed")) {
        MN_TRY(mn_json_expect(json, MN_JSON_BOOL, "'closed'"));
        record->is_open = !json->integer;
    } else if (record->type == POLY_SOUP && mn_json_is(json, "polyinfo")) {
        return read_soup(reader, record);
    } else if (record->type == VOLUME || record->type == VDB) {
        MN_TRY(mn_bgeo_read_volume_field(reader, &record->volume, &known));
    } else if (record->type == SPHERE || record->type == PACKED) {
        record->inner.is_sphere = record->type == SPHERE;
        MN_TRY(mn_bgeo_read_inner_field(reader, &record->inner, &known));
    } else {
        known = false;
    }
    if (known) return MN_OK;
    char name[64] = {0};
    strncpy(name, json->string.data, sizeof name - 1);
    mn_log(reader->ctx, MN_LOG_WARNING, "%s: the field '%s' of primitive %lld is left out.",
           json->source->name, name, (long long)reader->primitives);
    return mn_json_skip_next(json);
}

// ---- whole records ----

/// A run whose vertices follow each other. Each pair of a size and a count is a part.
static mn_status add_sized_run(mn_bgeo_reader *reader, const record *record, mn_primitive_kind kind)
{
    const int64_t first = reader->vertex_counts.count - record->sizes, end = reader->vertex_points.count;
    int64_t vertex = record->start, primitives = 0;
    if (!record->by_runs) {
        int64_t vertices = 0;
        for (int64_t i = 0; i < record->sizes; i++) {
            MN_TRY(
                check_vertices(reader, kind, reader->vertex_counts.data[first + i], reader->primitives + i));
            vertices += reader->vertex_counts.data[first + i];
        }
        if (vertices > end - vertex)
            return mn_json_fail(reader->json, "a run needs more vertices than there are");
        primitives = record->sizes;
        MN_TRY(add_in_order(reader, kind, primitives, 0, first, vertices, &vertex));
    }
    for (int64_t i = 0; record->by_runs && i + 1 < record->sizes; i += 2) {
        const int32_t each = reader->vertex_counts.data[first + i];
        const int64_t count = reader->vertex_counts.data[first + i + 1];
        MN_TRY(check_vertices(reader, kind, each, reader->primitives));
        if (count < 0 || count > (end - vertex) / each)
            return mn_json_fail(reader->json, "a run needs more vertices than there are");
        MN_TRY(add_in_order(reader, kind, count, each, 0, count * each, &vertex));
        primitives += count;
    }
    if (record->by_runs && record->sizes % 2 != 0)
        return mn_json_fail(reader->json, "the vertex counts of a run should come in pairs");
    if (record->has_primitives && primitives != record->primitives)
        return mn_json_fail(reader->json, "a run should have %lld primitives but has %lld",
                            (long long)record->primitives, (long long)primitives);
    return MN_OK;
}

static mn_status add_run(mn_bgeo_reader *reader, const record *record)
{
    mn_json *json = reader->json;
    const int64_t end = reader->vertex_points.count;
    if (!record->has_start || record->start < 0 || record->start > end)
        return mn_json_fail(json, "a run does not begin at one of the %lld vertices", (long long)end);
    if (record->type != TETRAHEDRON_RUN) {
        if (!record->has_sizes) return mn_json_fail(json, "a run has no vertex counts");
        return add_sized_run(reader, record, record->type == POLYGON_RUN ? MN_POLYGON : MN_POLYLINE);
    }
    if (!record->has_primitives || record->primitives < 0 || record->primitives > (end - record->start) / 4)
        return mn_json_fail(json, "a run needs more vertices than there are");
    int64_t vertex = record->start;
    return add_in_order(reader, MN_TETRAHEDRON, record->primitives, 4, 0, 4 * record->primitives, &vertex);
}

/// Takes over the record's volume.
static mn_status add_volume(mn_bgeo_reader *reader, record *record)
{
    MN_TRY(mn_array_push(reader->ctx, &reader->volumes, &record->volume));
    memset(&record->volume, 0, sizeof record->volume);
    return add_listed(reader, MN_VOLUME, record->vertex_count, false);
}

/// The primitive whose fields have all been read.
static mn_status add_record(mn_bgeo_reader *reader, record *record)
{
    if (record->type >= POLYGON_RUN) return add_run(reader, record);
    if (!record->has_vertices) return mn_json_fail(reader->json, "a primitive has no vertices");
    switch (record->type) {
    case POLY_SOUP:
        if (record->soup_sizes != 1) return mn_json_fail(reader->json, "a polygon soup has no polygons");
        break;
    case TETRAHEDRON:
        MN_TRY(add_listed(reader, MN_TETRAHEDRON, record->vertex_count, false));
        break;
    case VOLUME:
    case VDB:
        MN_TRY(add_volume(reader, record));
        break;
    case SPHERE:
    case PACKED:
        MN_TRY(mn_bgeo_add_inner(reader, &record->inner, record->vertex_count));
        break;
    default:
        MN_TRY(add_listed(reader, record->is_open ? MN_POLYLINE : MN_POLYGON, record->vertex_count, false));
    }
    reader->primitives++;
    return MN_OK;
}

// ---- definitions ----

typedef struct run_definition {
    bool is_run, has_type;
    int32_t fields;
    char names[FIELD_MAX][32]; ///< of the varying fields, in order
} run_definition;

static mn_status read_type(mn_bgeo_reader *reader, record *record, run_definition *run, bool allow_run)
{
    MN_TRY(mn_json_expect_string(reader->json, "the type of a primitive", MN_BGEO_NAME_MAX));
    if (allow_run && mn_json_is(reader->json, "run")) {
        run->is_run = true;
        return MN_OK;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!mn_json_is(reader->json, types[i].name)) continue;
        record->type = types[i].type;
        run->has_type = true;
        return MN_OK;
    }
    return fail_unknown(reader, reader->json->string.data);
}

static mn_status read_varying(mn_bgeo_reader *reader, run_definition *run)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the fields of a run"));
    for (run->fields = 0;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        if (run->fields == FIELD_MAX || json->string.count >= 32)
            return mn_json_fail(json, "a run has fields that are not known");
        memcpy(run->names[run->fields++], json->string.data, (size_t)json->string.count + 1);
    }
}

static mn_status read_definition(mn_bgeo_reader *reader, record *record, run_definition *run)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the definition of a primitive"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (mn_json_is(json, "type")) {
            MN_TRY(read_type(reader, record, run, true));
        } else if (mn_json_is(json, "runtype")) {
            MN_TRY(read_type(reader, record, run, false));
        } else if (mn_json_is(json, "varyingfields")) {
            MN_TRY(read_varying(reader, run));
        } else if (mn_json_is(json, "uniformfields")) {
            if (!run->has_type) return mn_json_fail(json, "a run should begin with its type");
            MN_TRY(mn_json_expect(json, MN_JSON_MAP, "the common fields of a run"));
            for (;;) {
                MN_TRY(mn_json_next_key(json, &more));
                if (!more) break;
                MN_TRY(read_field(reader, record));
            }
        } else {
            MN_TRY(mn_json_skip_next(json));
        }
    }
    return run->has_type ? MN_OK : mn_json_fail(json, "a primitive has no type");
}

/// Sets the string at hand, as if it had just been read.
static mn_status set_string(mn_json *json, const char *string)
{
    MN_TRY(mn_json_string_begin(json));
    return mn_json_string_add(json, string, strlen(string));
}

/// [[value of each varying field], ...]
static mn_status read_run(mn_bgeo_reader *reader, record *common, const run_definition *run)
{
    mn_json *json = reader->json;
    if (common->type >= POLYGON_RUN || common->has_vertices)
        return mn_json_fail(json, "a run of this kind cannot be");
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the primitives of a run"));
    for (;;) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) return MN_OK;
        if (json->kind != MN_JSON_ARRAY) return mn_json_fail(json, "a primitive of a run should be an array");
        record one = *common; // nothing that it owns is common: see has_common_voxels
        mn_status status = MN_OK;
        for (int32_t f = 0; f < run->fields && status == MN_OK; f++) {
            status = set_string(json, run->names[f]);
            if (status == MN_OK) status = read_field(reader, &one);
        }
        if (status == MN_OK) status = mn_json_next(json);
        if (status == MN_OK && json->kind != MN_JSON_END)
            status = mn_json_fail(json, "a primitive of a run has too many fields");
        if (status == MN_OK) status = add_record(reader, &one);
        free_record(reader->ctx, &one);
        MN_TRY(status);
    }
}

/// Voxels that all volumes of a run would have in common; Houdini shares voxels in another way.
static bool has_common_voxels(const record *record)
{
    const mn_bgeo_volume *volume = &record->volume;
    return volume->vdb.ops || volume->shared || record->inner.key || volume->voxels.tiles.data ||
           volume->voxels.values.data;
}

static mn_status read_primitive(mn_bgeo_reader *reader, record *record)
{
    mn_json *json = reader->json;
    run_definition run = {0};
    MN_TRY(read_definition(reader, record, &run));
    if (run.is_run) {
        if (has_common_voxels(record))
            return mn_json_fail(json, "the primitives of a run cannot have one grid or geometry in common");
        MN_TRY(read_run(reader, record, &run));
    } else {
        MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the data of a primitive"));
        for (;;) {
            bool more;
            MN_TRY(mn_json_next_key(json, &more));
            if (!more) break;
            MN_TRY(read_field(reader, record));
        }
        MN_TRY(add_record(reader, record));
    }
    MN_TRY(mn_json_next(json));
    return json->kind == MN_JSON_END ? MN_OK : mn_json_fail(json, "a primitive should be two arrays");
}

mn_status mn_bgeo_read_primitives(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the primitives"));
    for (;;) {
        MN_TRY(mn_json_next(json));
        if (json->kind == MN_JSON_END) break;
        if (json->kind != MN_JSON_ARRAY) return mn_json_fail(json, "a primitive should be an array");
        record one;
        memset(&one, 0, sizeof one);
        const mn_status status = read_primitive(reader, &one);
        free_record(reader->ctx, &one);
        MN_TRY(status);
    }
    if (reader->primitives == reader->counts[MN_PRIMITIVE]) return MN_OK;
    return mn_json_fail(json, "there should be %lld primitives but there are %lld",
                        (long long)reader->counts[MN_PRIMITIVE], (long long)reader->primitives);
}
