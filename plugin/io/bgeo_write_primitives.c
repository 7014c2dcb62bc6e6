// SPDX-License-Identifier: Apache-2.0
//
// Primitives as Houdini writes them (see bgeo_primitives.c): runs of polygons, of open polygons and of
// tetrahedra, and a VDB for every volume.
#include "plugin/io/bgeo_write.h"
#include "plugin/vdb/vdb.h"

#include <string.h>

enum {
    TILE = 1 << 15,    // bytes of a VDB stream at a time
    RUN_MAX = 1 << 30, // primitives in a run, which is counted in 32 bits
};

/// Keys are short in binary.
static void write_run_key(mn_json_writer *json, const char *text, const char *binary)
{
    mn_json_write_key(json, json->is_binary ? binary : text);
}

static int32_t vertices_of(const int64_t *starts, int64_t primitive)
{
    return (int32_t)(starts[primitive + 1] - starts[primitive]);
}

/// The end of the run of primitives with as many vertices as the one at `i`.
static int64_t run_end(const int64_t *starts, int64_t i, int64_t end)
{
    const int32_t size = vertices_of(starts, i);
    const int64_t most = i + RUN_MAX < end ? i + RUN_MAX : end;
    while (i < most && vertices_of(starts, i) == size) i++;
    return i;
}

/// "nvertices", [3, 4, ...] or, when that is shorter, "nvertices_rle", [3, 100, 4, 20]
static void write_sizes(mn_json_writer *json, const int64_t *starts, int64_t first, int64_t count)
{
    const int64_t end = first + count;
    int64_t runs = 0;
    for (int64_t i = first; i < end; i = run_end(starts, i, end)) runs++;
    const bool by_runs = 2 * runs < count;
    write_run_key(json, by_runs ? "nvertices_rle" : "nvertices", by_runs ? "r_v" : "n_v");
    mn_json_begin_numbers(json, MN_JSON_I32, by_runs ? 2 * runs : count);
    for (int64_t i = first, next; i < end; i = next) {
        next = by_runs ? run_end(starts, i, end) : i + 1;
        const int32_t pair[2] = {vertices_of(starts, i), (int32_t)(next - i)};
        mn_json_add_numbers(json, MN_JSON_I32, pair, by_runs ? 2 : 1);
    }
    mn_json_end_numbers(json);
}

static void write_run(mn_json_writer *json, mn_primitive_kind kind, const int64_t *starts, int64_t first,
                      int64_t count)
{
    mn_json_begin_array(json);
    mn_json_begin_array(json);
    mn_json_write_key(json, "type");
    if (kind == MN_TETRAHEDRON)
        mn_json_write_key(json, "Tetrahedron_run");
    else
        write_run_key(json, kind == MN_POLYGON ? "Polygon_run" : "PolygonCurve_run",
                      kind == MN_POLYGON ? "p_r" : "c_r");
    mn_json_end_array(json);
    mn_json_begin_array(json);
    const bool is_tetrahedra = kind == MN_TETRAHEDRON;
    write_run_key(json, "startvertex", is_tetrahedra ? "startvertex" : "s_v");
    mn_json_write_int(json, starts[first]);
    write_run_key(json, "nprimitives", is_tetrahedra ? "nprimitives" : "n_p");
    mn_json_write_int(json, count);
    if (!is_tetrahedra) write_sizes(json, starts, first, count);
    mn_json_end_array(json);
    mn_json_end_array(json);
}

// ---- volumes ----

/// An OpenVDB stream, cut into tiles of equal size.
typedef struct tiles {
    mn_json_writer *json;
    int64_t used;
    uint8_t bytes[TILE];
} tiles;

static mn_status write_tiles(void *user, const void *bytes, size_t size)
{
    tiles *t = user;
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t some = (size_t)(TILE - t->used);
        if (some > size) some = size;
        memcpy(t->bytes + t->used, from, some);
        t->used += (int64_t)some;
        from += some;
        size -= some;
        if (t->used < TILE) continue;
        mn_json_write_numbers(t->json, MN_JSON_U8, t->bytes, t->used);
        t->used = 0;
    }
    return t->json->status;
}

static mn_status write_stream(mn_json_writer *json, mn_volume volume)
{
    tiles *t = mn_allocate(json->out.ctx, sizeof *t);
    if (!t) return MN_ERROR_MEMORY;
    t->json = json;
    t->used = 0;
    mn_json_write_key(json, "vdb");
    mn_json_begin_array(json);
    mn_json_begin_map(json);
    mn_json_write_key(json, "tilesize");
    mn_json_write_int(json, TILE);
    mn_json_end_map(json);
    const mn_status status = mn_vdb_write_volume(json->out.ctx, volume, write_tiles, t);
    if (t->used > 0) mn_json_write_numbers(json, MN_JSON_U8, t->bytes, t->used);
    mn_json_end_array(json);
    mn_release(json->out.ctx, t, sizeof *t);
    return status;
}

static mn_status write_volume(mn_json_writer *json, mn_volume volume, int64_t vertex)
{
    const bool is_surface = mn_volume_get_info(volume).kind == MN_VOLUME_LEVEL_SET;
    mn_json_begin_array(json);
    mn_json_begin_array(json);
    mn_json_write_key(json, "type");
    mn_json_write_key(json, "VDB");
    mn_json_end_array(json);
    mn_json_begin_array(json);
    mn_json_write_key(json, "vertex");
    mn_json_write_int(json, vertex);
    const mn_status status = write_stream(json, volume);
    mn_json_write_key(json, "vdbvis");
    mn_json_begin_map(json);
    mn_json_write_key(json, "mode");
    mn_json_write_key(json, is_surface ? "iso" : "smoke");
    mn_json_write_key(json, "iso");
    mn_json_write_real(json, 0);
    mn_json_write_key(json, "density");
    mn_json_write_real(json, 1);
    mn_json_end_map(json);
    mn_json_end_array(json);
    mn_json_end_array(json);
    return status;
}

mn_status mn_bgeo_write_primitives(mn_json_writer *json, const mn_geo *geo, const char *name)
{
    const int64_t count = mn_geo_primitive_count(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    mn_json_write_key(json, "primitives");
    mn_json_begin_array(json);
    for (int64_t i = 0, end; i < count && json->status == MN_OK; i = end) {
        for (end = i + 1; kinds[i] != MN_VOLUME && end < count && kinds[end] == kinds[i];) end++;
        if (kinds[i] != MN_VOLUME) {
            write_run(json, (mn_primitive_kind)kinds[i], starts, i, end - i);
            continue;
        }
        const mn_volume volume = mn_geo_volume(geo, i);
        if (!mn_vdb_is(volume))
            return mn_fail(json->out.ctx, MN_ERROR_UNSUPPORTED,
                           "%s: primitive %lld is a volume of a kind that cannot be written.", name,
                           (long long)i);
        MN_TRY(write_volume(json, volume, starts[i]));
    }
    mn_json_end_array(json);
    return MN_OK;
}
