// SPDX-License-Identifier: Apache-2.0
//
// Volumes of a geometry file. A VDB primitive holds an OpenVDB stream in pieces:
//
//   ["vertex", 0, "vdb", [{"tilesize": 32768}, [bytes], [bytes], ...], "vdbvis", {...}]
//
// A Volume primitive is dense: `res` voxels over the cube [-1, 1]^3, which `transform` (3x3, row vectors) and
// its point place in the world, so that voxel i is centred at
//
//   x = ((2 i + 1) / res - 1) transform + P
//
// Its voxels are a constant or tiles of 16^3, x fastest, tiles in the same order; they stand with it or among
// the shared data at the end of the file:
//
//   "voxels", ["tiledarray", ["version", 1, "compressiontypes", ["raw", ...], "tiles",
//              [["compression", 0, "data", [...]], ...]]]
//   "voxels", ["constantarray", 0.5]
//   "sharedvoxels", "key"    and    "sharedprimitivedata", ["Volume", ["geo:voxels", "key", [...]]]
#include "plugin/io/bgeo_read.h"
#include "plugin/vdb/vdb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    TILE = 16,
    TILE_VOXELS = TILE * TILE * TILE,
    CHUNK = 4096,
    COMPRESSION_MAX = 16,   // kinds in a file
    CONSTANT_MAX = 1 << 24, // voxels of a constant volume that is not empty
    KEY_MAX = 1024,
};

/// What a tile's data means; the file numbers them by its own table.
typedef enum compression { RAW, RAW_FULL, CONSTANT, HALF, UNKNOWN } compression;

static mn_status copy_key(mn_bgeo_reader *reader, char **key)
{
    const size_t size = (size_t)reader->json->string.count + 1;
    if (*key) return mn_json_fail(reader->json, "a volume has its voxels twice");
    *key = mn_allocate(reader->ctx, size);
    if (!*key) return MN_ERROR_MEMORY;
    memcpy(*key, reader->json->string.data, size);
    return MN_OK;
}

static void free_key(mn_context *ctx, char *key)
{
    if (key) mn_release(ctx, key, strlen(key) + 1);
}

void mn_bgeo_free_voxels(mn_context *ctx, mn_bgeo_voxels *voxels)
{
    free_key(ctx, voxels->key);
    mn_array_free(ctx, &voxels->tiles);
    mn_array_free(ctx, &voxels->values);
    memset(voxels, 0, sizeof *voxels);
}

void mn_bgeo_free_volume(mn_context *ctx, mn_bgeo_volume *volume)
{
    mn_volume_release(&volume->vdb);
    free_key(ctx, volume->shared);
    mn_bgeo_free_voxels(ctx, &volume->voxels);
    memset(volume, 0, sizeof *volume);
}

// ---- tiles ----

static mn_status read_compressions(mn_bgeo_reader *reader, compression *table, int32_t *count)
{
    static const char *const names[] = {"raw", "rawfull", "constant", "fpreal16"};
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the compression types"));
    for (*count = 0;; ++*count) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        if (*count == COMPRESSION_MAX) return mn_json_fail(json, "there are too many compression types");
        int kind = 0;
        while (kind < UNKNOWN && !mn_json_is(json, names[kind])) kind++;
        table[*count] = (compression)kind;
    }
}

/// The data of one tile: a number, or as many as it has voxels.
static mn_status read_tile_data(mn_bgeo_reader *reader, mn_bgeo_voxels *voxels, mn_bgeo_tile *tile)
{
    mn_json *json = reader->json;
    tile->first = voxels->values.count;
    MN_TRY(mn_array_reserve(reader->ctx, &voxels->values, tile->first + TILE_VOXELS));
    float *values = voxels->values.data + tile->first;
    int64_t got = 1;
    MN_TRY(mn_json_next(json));
    if (json->kind == MN_JSON_INT || json->kind == MN_JSON_REAL) {
        values[0] = (float)json->real;
    } else if (json->kind == MN_JSON_ARRAY) {
        MN_TRY(mn_json_numbers(json, MN_JSON_F32, values, TILE_VOXELS, &got));
        if (got == TILE_VOXELS) MN_TRY(mn_json_next(json));
        if (json->kind != MN_JSON_END) return mn_json_fail(json, "a tile of a volume has too many voxels");
    } else {
        return mn_json_fail(json, "a tile of a volume should hold numbers");
    }
    tile->count = (int32_t)got;
    voxels->values.count += got;
    return MN_OK;
}

static mn_status read_tile(mn_bgeo_reader *reader, mn_bgeo_voxels *voxels, const compression *table,
                           int32_t kinds)
{
    mn_json *json = reader->json;
    mn_bgeo_tile tile = {0};
    bool has_data = false;
    compression kind = RAW;
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) break;
        if (mn_json_is(json, "compression")) {
            int64_t number;
            MN_TRY(mn_json_expect_int(json, "the compression of a tile", &number));
            kind = number >= 0 && number < kinds ? table[number] : UNKNOWN;
            if (kind == UNKNOWN)
                return mn_fail(reader->ctx, MN_ERROR_UNSUPPORTED,
                               "%s: a volume is compressed in a way that cannot be read (type %lld); turn "
                               "compression off before saving.",
                               json->source->name, (long long)number);
        } else if (mn_json_is(json, "data") && !has_data) {
            MN_TRY(read_tile_data(reader, voxels, &tile));
            has_data = true;
        } else {
            MN_TRY(mn_json_skip_next(json));
        }
    }
    if (!has_data) return mn_json_fail(json, "a tile of a volume has no data");
    tile.constant = kind == CONSTANT;
    tile.full = kind == RAW_FULL;
    return mn_array_push(reader->ctx, &voxels->tiles, &tile);
}

static mn_status read_tiles(mn_bgeo_reader *reader, mn_bgeo_voxels *voxels)
{
    mn_json *json = reader->json;
    compression table[COMPRESSION_MAX] = {RAW, RAW_FULL, CONSTANT, HALF};
    int32_t kinds = 4;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the voxels of a volume"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        if (mn_json_is(json, "compressiontypes")) {
            MN_TRY(read_compressions(reader, table, &kinds));
        } else if (mn_json_is(json, "tiles")) {
            MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the tiles of a volume"));
            for (;;) {
                MN_TRY(mn_json_next(json));
                if (json->kind == MN_JSON_END) break;
                if (json->kind != MN_JSON_ARRAY) return mn_json_fail(json, "a tile should be an array");
                MN_TRY(read_tile(reader, voxels, table, kinds));
            }
        } else {
            MN_TRY(mn_json_skip_next(json));
        }
    }
}

mn_status mn_bgeo_read_voxels(mn_bgeo_reader *reader, mn_bgeo_voxels *voxels)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the voxels of a volume"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        if (voxels->is_constant || voxels->tiles.count > 0)
            return mn_json_fail(json, "a volume has its voxels twice");
        if (mn_json_is(json, "tiledarray")) {
            MN_TRY(read_tiles(reader, voxels));
        } else if (mn_json_is(json, "constantarray")) {
            double value;
            MN_TRY(mn_json_expect_real(json, "the value of a constant volume", &value));
            voxels->constant = (float)value;
            voxels->is_constant = true;
        } else {
            return mn_json_fail(json, "'%.40s' is not known as a way to store voxels", json->string.data);
        }
    }
}

/// ["Volume", ["geo:voxels", key, voxels, ...], "PackedGeometry", [...], ...]
mn_status mn_bgeo_read_shared(mn_bgeo_reader *reader)
{
    mn_json *json = reader->json;
    bool more;
    MN_TRY(mn_json_expect(json, MN_JSON_ARRAY, "the shared data"));
    for (;;) {
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        const bool is_volume = mn_json_is(json, "Volume"), is_packed = mn_json_is(json, "PackedGeometry");
        MN_TRY(mn_json_next(json));
        if (is_packed && json->kind == MN_JSON_ARRAY) {
            MN_TRY(mn_bgeo_read_embedded(reader));
            continue;
        }
        if (!is_volume || json->kind != MN_JSON_ARRAY) {
            MN_TRY(mn_json_skip(json));
            continue;
        }
        for (;;) {
            MN_TRY(mn_json_next_key(json, &more));
            if (!more) break;
            const bool is_voxels = mn_json_is(json, "geo:voxels");
            MN_TRY(mn_json_expect_string(json, "the key of shared data", KEY_MAX));
            if (!is_voxels) {
                MN_TRY(mn_json_skip_next(json));
                continue;
            }
            const mn_bgeo_voxels voxels = {0};
            MN_TRY(mn_array_push(reader->ctx, &reader->shared, &voxels));
            mn_bgeo_voxels *last = &reader->shared.data[reader->shared.count - 1];
            MN_TRY(copy_key(reader, &last->key));
            MN_TRY(mn_bgeo_read_voxels(reader, last));
        }
    }
}

// ---- fields ----

/// The whole stream is gathered, since OpenVDB wants to look back and forth in it.
static mn_status read_stream(mn_bgeo_reader *reader, mn_volume *volume)
{
    mn_json *json = reader->json;
    MN_ARRAY(uint8_t) bytes = {0};
    mn_geo *grids = NULL;
    mn_status status = mn_json_expect(json, MN_JSON_ARRAY, "the stream of a VDB");
    while (status == MN_OK) {
        MN_TRY_TO(done, status, mn_json_next(json));
        if (json->kind == MN_JSON_END) break;
        if (json->kind == MN_JSON_MAP) { // the size of the pieces, which they show themselves
            MN_TRY_TO(done, status, mn_json_skip(json));
            continue;
        }
        if (json->kind != MN_JSON_ARRAY) status = mn_json_fail(json, "a VDB should be stored as bytes");
        while (status == MN_OK) {
            int64_t got;
            MN_TRY_TO(done, status, mn_array_reserve(reader->ctx, &bytes, bytes.count + CHUNK));
            MN_TRY_TO(done, status, mn_json_numbers(json, MN_JSON_U8, bytes.data + bytes.count, CHUNK, &got));
            bytes.count += got;
            if (json->kind == MN_JSON_END) break;
        }
    }
    if (status == MN_OK)
        status = mn_vdb_read_memory(reader->ctx, bytes.data, (size_t)bytes.count, json->source->name, &grids);
    if (status == MN_OK && mn_geo_primitive_count(grids) != 1)
        status = mn_json_fail(json, "a VDB primitive should hold one grid but holds %lld",
                              (long long)mn_geo_primitive_count(grids));
    if (status == MN_OK) *volume = mn_volume_retain(mn_geo_volume(grids, 0));
done:
    mn_geo_free(grids);
    mn_array_free(reader->ctx, &bytes);
    return status;
}

/// {"type": "constant", "value": 0}
static mn_status read_border(mn_bgeo_reader *reader, mn_bgeo_volume *volume)
{
    mn_json *json = reader->json;
    MN_TRY(mn_json_expect(json, MN_JSON_MAP, "the border of a volume"));
    for (;;) {
        bool more;
        MN_TRY(mn_json_next_key(json, &more));
        if (!more) return MN_OK;
        if (mn_json_is(json, "value")) {
            MN_TRY(mn_json_expect_real(json, "the border value of a volume", &volume->border));
        } else if (mn_json_is(json, "type")) {
            MN_TRY(mn_json_expect_string(json, "the border type of a volume", KEY_MAX));
            volume->is_distance = mn_json_is(json, "sdf");
        } else {
            MN_TRY(mn_json_skip_next(json));
        }
    }
}

static mn_status read_taper(mn_bgeo_reader *reader)
{
    double taper;
    MN_TRY(mn_json_expect_real(reader->json, "the taper of a volume", &taper));
    if (taper == 1.0) return MN_OK;
    return mn_fail(
        reader->ctx, MN_ERROR_UNSUPPORTED,
        "%s: primitive %lld is a tapered volume, which cannot be read; resample it to a box first.",
        reader->json->source->name, (long long)reader->primitives);
}

static mn_status read_resolution(mn_bgeo_reader *reader, mn_bgeo_volume *volume)
{
    MN_TRY(mn_json_exact_numbers(reader->json, MN_JSON_I32, volume->resolution, 3, "the size of a volume"));
    for (int axis = 0; axis < 3; axis++)
        if (volume->resolution[axis] < 1)
            return mn_json_fail(reader->json, "a volume has %d voxels along an axis",
                                (int)volume->resolution[axis]);
    return MN_OK;
}

mn_status mn_bgeo_read_volume_field(mn_bgeo_reader *reader, mn_bgeo_volume *volume, bool *known)
{
    mn_json *json = reader->json;
    if (mn_json_is(json, "vdb")) {
        if (volume->vdb.ops) return mn_json_fail(json, "a VDB has its stream twice");
        return read_stream(reader, &volume->vdb);
    }
    if (mn_json_is(json, "transform"))
        return mn_json_exact_numbers(json, MN_JSON_F64, volume->transform, 9, "the transform of a volume");
    if (mn_json_is(json, "res")) return read_resolution(reader, volume);
    if (mn_json_is(json, "border")) return read_border(reader, volume);
    if (mn_json_is(json, "voxels")) return mn_bgeo_read_voxels(reader, &volume->voxels);
    if (mn_json_is(json, "sharedvoxels")) {
        MN_TRY(mn_json_expect_string(json, "the key of shared voxels", KEY_MAX));
        return copy_key(reader, &volume->shared);
    }
    if (mn_json_is(json, "taperx") || mn_json_is(json, "tapery")) return read_taper(reader);
    if (mn_json_is(json, "compression") || mn_json_is(json, "visualization") || mn_json_is(json, "vdbvis") ||
        mn_json_is(json, "lod"))
        return mn_json_skip_next(json); // how it is shown and how it was squeezed: neither is in the voxels
    *known = false;
    return MN_OK;
}

// ---- building ----

static mn_status fail_voxels(mn_bgeo_reader *reader, const char *what)
{
    return mn_fail(reader->ctx, MN_ERROR_FORMAT, "%s: %s; the file is damaged.", reader->json->source->name,
                   what);
}

/// Copies a tile to its place among all voxels.
static mn_status place_tile(mn_bgeo_reader *reader, const mn_bgeo_voxels *voxels, const mn_bgeo_tile *tile,
                            const int32_t resolution[3], const int32_t corner[3], float *all)
{
    int32_t size[3];
    for (int axis = 0; axis < 3; axis++) {
        const int32_t left = resolution[axis] - corner[axis];
        size[axis] = left < TILE ? left : TILE;
    }
    const int32_t own = size[0] * size[1] * size[2];
    const bool full = tile->full && tile->count == TILE_VOXELS;
    if (tile->count != (tile->constant ? 1 : full ? TILE_VOXELS : own))
        return fail_voxels(reader, "a tile of a volume has another number of voxels than its place");
    const float *from = voxels->values.data + tile->first;
    const int32_t row = full ? TILE : size[0], slab = row * (full ? TILE : size[1]);
    for (int32_t z = 0; z < size[2]; z++)
        for (int32_t y = 0; y < size[1]; y++) {
            float *to =
                all + (((int64_t)corner[2] + z) * resolution[1] + corner[1] + y) * resolution[0] + corner[0];
            for (int32_t x = 0; x < size[0]; x++)
                to[x] = tile->constant ? from[0] : from[(int64_t)z * slab + y * row + x];
        }
    return MN_OK;
}

static mn_status place_tiles(mn_bgeo_reader *reader, const mn_bgeo_voxels *voxels,
                             const int32_t resolution[3], float *all)
{
    const mn_bgeo_tile *tile = voxels->tiles.data;
    int32_t corner[3];
    for (corner[2] = 0; corner[2] < resolution[2]; corner[2] += TILE)
        for (corner[1] = 0; corner[1] < resolution[1]; corner[1] += TILE)
            for (corner[0] = 0; corner[0] < resolution[0]; corner[0] += TILE)
                MN_TRY(place_tile(reader, voxels, tile++, resolution, corner, all));
    return MN_OK;
}

static mn_mat4 index_to_world(const mn_bgeo_volume *volume, const int32_t resolution[3], mn_vec3 center)
{
    mn_mat4 m = mn_m4_identity();
    const double c[3] = {center.x, center.y, center.z};
    for (int row = 0; row < 3; row++) {
        m.m[row][3] = c[row];
        for (int axis = 0; axis < 3; axis++) {
            const double a = volume->transform[3 * axis + row];
            m.m[row][axis] = a * 2.0 / resolution[axis];
            m.m[row][3] += a * (1.0 / resolution[axis] - 1.0);
        }
    }
    return m;
}

/// Number of tiles that cover the voxels; -1 when that is beyond reason.
static int64_t tile_count(const int32_t resolution[3])
{
    int64_t count = 1;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t tiles = (resolution[axis] + (int64_t)TILE - 1) / TILE;
        if (count > INT64_MAX / TILE_VOXELS / tiles) return -1;
        count *= tiles;
    }
    return count;
}

static float largest(const float *values, int64_t count)
{
    float most = 0;
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, fabsf(values[i]));
    return most;
}

static mn_status build_dense(mn_bgeo_reader *reader, const mn_bgeo_volume *volume,
                             const mn_bgeo_voxels *voxels, int64_t point, const char *name, mn_volume *result)
{
    int32_t resolution[3];
    memcpy(resolution, volume->resolution, sizeof resolution);
    const mn_mat4 place = index_to_world(volume, resolution, mn_geo_position(reader->geo, point));
    if (resolution[0] < 1 || (!voxels->is_constant && voxels->tiles.count != tile_count(resolution)))
        return fail_voxels(reader, "a volume has another number of tiles than its size asks for");
    int64_t count = 1;
    for (int axis = 0; axis < 3; axis++) count = count > CONSTANT_MAX ? count : count * resolution[axis];
    // All of it as outside of it: one voxel says as much.
    if (voxels->is_constant && voxels->constant == (float)volume->border)
        resolution[0] = resolution[1] = resolution[2] = 1;
    else if (voxels->is_constant && count > CONSTANT_MAX)
        return mn_fail(reader->ctx, MN_ERROR_UNSUPPORTED,
                       "%s: a constant volume of %d x %d x %d voxels is too large to be read.",
                       reader->json->source->name, (int)resolution[0], (int)resolution[1],
                       (int)resolution[2]);
    count = (int64_t)resolution[0] * resolution[1] * resolution[2];

    float *all = mn_allocate(reader->ctx, mn_bytes(count, sizeof *all));
    if (!all) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    if (voxels->is_constant)
        for (int64_t i = 0; i < count; i++) all[i] = voxels->constant;
    else
        status = place_tiles(reader, voxels, resolution, all);
    if (status == MN_OK) {
        const mn_volume_kind kind = volume->is_distance ? MN_VOLUME_LEVEL_SET : MN_VOLUME_FOG;
        const double background = volume->is_distance ? (double)largest(all, count) : volume->border;
        status = mn_vdb_from_dense(reader->ctx, name, kind, place, background, 1, resolution, all, result);
        if (status != MN_OK && status != MN_ERROR_MEMORY)
            status = mn_fail(reader->ctx, MN_ERROR_FORMAT, "%s: a volume cannot be made: %s",
                             reader->json->source->name, mn_context_message(reader->ctx));
    }
    mn_release(reader->ctx, all, mn_bytes(count, sizeof *all));
    return status;
}

static mn_bgeo_voxels *find_shared(const mn_bgeo_reader *reader, const char *key)
{
    int64_t low = 0, high = reader->shared.count; // sorted by key
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = strcmp(reader->shared.data[middle].key, key);
        if (order == 0) return &reader->shared.data[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

mn_status mn_bgeo_build_volume(mn_bgeo_reader *reader, mn_bgeo_volume *volume, int64_t point,
                               const char *name, mn_volume *result)
{
    if (volume->vdb.ops) {
        if (!name[0] || strcmp(name, mn_volume_get_info(volume->vdb).name) == 0) {
            *result = mn_volume_retain(volume->vdb);
            return MN_OK;
        }
        result->ops = volume->vdb.ops;
        const mn_status status =
            volume->vdb.ops->rename(reader->ctx, volume->vdb.handle, name, &result->handle);
        if (status != MN_OK) memset(result, 0, sizeof *result);
        return status;
    }
    const mn_bgeo_voxels *voxels = volume->shared ? find_shared(reader, volume->shared) : &volume->voxels;
    if (!voxels || (!voxels->is_constant && voxels->tiles.count == 0))
        return fail_voxels(reader, "a volume has no voxels");
    return build_dense(reader, volume, voxels, point, name, result);
}
