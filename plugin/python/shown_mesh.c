// SPDX-License-Identifier: Apache-2.0
#include "plugin/python/shown_mesh.h"
#include "meniscus/array.h"
#include "meniscus/stream.h"
#include "plugin/io/tet_skin.h"

struct mn_shown_mesh {
    mn_context *ctx;
    MN_ARRAY(float) positions;
    MN_ARRAY(int32_t) picks, corners, corner_edges, starts, totals, edges;
    int64_t line_count;
    MN_ARRAY(int32_t) places; ///< of each point among the vertices, or -1
    int64_t vertex_count;
    bool picks_all, is_sound;
    uint64_t topology;
};

/// Numbers the points that a primitive uses; the others are shown as points, not here.
static mn_status number_points(mn_shown_mesh *mesh, const mn_geo *geo)
{
    const int64_t points = mn_geo_point_count(geo), vertices = mn_geo_vertex_count(geo);
    const int64_t *used = mn_geo_vertex_points(geo);
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->places, points));
    int32_t *places = mesh->places.data;
    for (int64_t i = 0; i < points; i++) places[i] = -1;
    for (int64_t i = 0; i < vertices; i++) places[used[i]] = 0;
    for (int64_t i = 0; i < points; i++)
        if (places[i] == 0) places[i] = (int32_t)mesh->vertex_count++;
    mesh->picks_all = mesh->vertex_count == points;
    if (mesh->picks_all) return MN_OK;
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->picks, mesh->vertex_count));
    for (int64_t i = 0; i < points; i++)
        if (places[i] >= 0) mesh->picks.data[places[i]] = (int32_t)i;
    return MN_OK;
}

static void count_elements(const mn_geo *geo, const mn_tet_skin *skin, int64_t *faces, int64_t *corners,
                           int64_t *edges)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), count = mn_geo_primitive_count(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    *faces = skin->count, *corners = 3 * skin->count, *edges = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t size = starts[i + 1] - starts[i];
        if (kinds[i] == MN_POLYGON && size > 2) ++*faces, *corners += size;
        if (kinds[i] == MN_POLYLINE && size > 1) *edges += size - 1;
    }
}

static bool is_sound_face(const int32_t *corners, int64_t size)
{
    if (size == 3) return corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0];
    if (size != 4) return false;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            if (corners[i] == corners[k]) return false;
    return true;
}

static void add_face(mn_shown_mesh *mesh, const int64_t *points, int64_t size)
{
    int32_t *corners = mesh->corners.data + mesh->corners.count;
    for (int64_t k = 0; k < size; k++) corners[k] = mesh->places.data[points[k]];
    mesh->starts.data[mesh->starts.count++] = (int32_t)mesh->corners.count;
    mesh->totals.data[mesh->totals.count++] = (int32_t)size;
    mesh->corners.count += size;
    if (!is_sound_face(corners, size)) mesh->is_sound = false;
}

static mn_status add_elements(mn_shown_mesh *mesh, const mn_geo *geo, const mn_tet_skin *skin)
{
    const int64_t *used = mn_geo_vertex_points(geo), *starts = mn_geo_primitive_starts(geo);
    const int64_t count = mn_geo_primitive_count(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    int64_t faces, corners, edges;
    count_elements(geo, skin, &faces, &corners, &edges);
    if (mn_geo_point_count(geo) > INT32_MAX || corners > INT32_MAX)
        return mn_fail(mesh->ctx, MN_ERROR_UNSUPPORTED, "The mesh has more than %d corners.", INT32_MAX);
    MN_TRY(mn_array_reserve(mesh->ctx, &mesh->corners, corners));
    MN_TRY(mn_array_reserve(mesh->ctx, &mesh->starts, faces));
    MN_TRY(mn_array_reserve(mesh->ctx, &mesh->totals, faces));
    MN_TRY(mn_array_reserve(mesh->ctx, &mesh->edges, 2 * edges));
    for (int64_t i = 0; i < count; i++) {
        const int64_t size = starts[i + 1] - starts[i], *points = used + starts[i];
        if (kinds[i] == MN_POLYGON && size > 2) add_face(mesh, points, size);
        for (int64_t k = 0; k + 1 < size && kinds[i] == MN_POLYLINE; k++) {
            mesh->edges.data[mesh->edges.count++] = mesh->places.data[points[k]];
            mesh->edges.data[mesh->edges.count++] = mesh->places.data[points[k + 1]];
        }
    }
    for (int64_t i = 0; i < skin->count; i++) {
        int64_t points[3];
        for (int k = 0; k < 3; k++) points[k] = used[skin->faces[i][k]];
        add_face(mesh, points, 3);
    }
    return MN_OK;
}

typedef struct half_edge {
    int32_t high;   ///< the other vertex, of the larger number
    int32_t corner; ///< that it leaves, or -1: of a polyline
    int32_t edge;
} half_edge;

static void put_half(half_edge *halves, int32_t *ends, int32_t a, int32_t b, int32_t corner)
{
    halves[ends[a < b ? a : b]++] = (half_edge){a < b ? b : a, corner, -1};
}

/// Edges in the order in which lines and faces meet them, each once. The halves stand sorted by their lower
/// vertex, a few for each.
static void number_edges(mn_shown_mesh *mesh, half_edge *halves, int32_t *ends)
{
    const int32_t *lines = mesh->edges.data, *corners = mesh->corners.data;
    for (int64_t i = 0; i < mesh->line_count; i++)
        ends[1 + (lines[2 * i] < lines[2 * i + 1] ? lines[2 * i] : lines[2 * i + 1])]++;
    for (int64_t f = 0; f < mesh->starts.count; f++)
        for (int32_t k = 0, size = mesh->totals.data[f]; k < size; k++) {
            const int32_t *face = corners + mesh->starts.data[f], a = face[k], b = face[(k + 1) % size];
            ends[1 + (a < b ? a : b)]++;
        }
    for (int64_t i = 0; i < mesh->vertex_count; i++) ends[i + 1] += ends[i];
    for (int64_t i = 0; i < mesh->line_count; i++)
        put_half(halves, ends, lines[2 * i], lines[2 * i + 1], -1 - (int32_t)i);
    for (int64_t f = 0; f < mesh->starts.count; f++)
        for (int32_t k = 0, size = mesh->totals.data[f]; k < size; k++) {
            const int32_t start = mesh->starts.data[f], a = corners[start + k],
                          b = corners[start + (k + 1) % size];
            put_half(halves, ends, a, b, start + k);
        }
}

/// After number_edges() the end of a vertex's halves is where the next one's begin.
static void join_halves(mn_shown_mesh *mesh, half_edge *halves, const int32_t *ends)
{
    int32_t begin = 0;
    for (int32_t low = 0; low < mesh->vertex_count; begin = ends[low++])
        for (int32_t i = begin; i < ends[low]; i++) {
            half_edge *half = &halves[i];
            for (int32_t k = begin; k < i && half->edge < 0; k++)
                if (halves[k].high == half->high) half->edge = halves[k].edge;
            // A line has its place among the edges already.
            if (half->edge < 0 && half->corner < 0) half->edge = -1 - half->corner;
            if (half->edge < 0) {
                half->edge = (int32_t)(mesh->edges.count / 2);
                mesh->edges.data[mesh->edges.count++] = low;
                mesh->edges.data[mesh->edges.count++] = half->high;
            }
            if (half->corner >= 0) mesh->corner_edges.data[half->corner] = half->edge;
        }
}

static mn_status add_edges(mn_shown_mesh *mesh)
{
    mn_context *ctx = mesh->ctx;
    const int64_t count = mesh->corners.count + mesh->edges.count / 2;
    mesh->line_count = mesh->edges.count / 2;
    MN_TRY(mn_array_resize(ctx, &mesh->corner_edges, mesh->corners.count));
    MN_TRY(mn_array_reserve(ctx, &mesh->edges, 2 * count));
    half_edge *halves = mn_allocate(ctx, mn_bytes(count, sizeof *halves));
    int32_t *ends = mn_allocate_zero(ctx, mn_bytes(mesh->vertex_count + 1, sizeof *ends));
    const bool made = (halves || count == 0) && ends;
    if (made) number_edges(mesh, halves, ends);
    if (made) join_halves(mesh, halves, ends);
    mn_release(ctx, halves, mn_bytes(count, sizeof *halves));
    mn_release(ctx, ends, mn_bytes(mesh->vertex_count + 1, sizeof *ends));
    return made ? MN_OK : MN_ERROR_MEMORY;
}

static uint64_t hash_numbers(uint64_t hash, const int32_t *numbers, int64_t count)
{
    return mn_hash_bytes(mn_hash_u64(hash, (uint64_t)count), numbers, mn_bytes(count, sizeof *numbers));
}

static mn_status take(mn_shown_mesh *mesh, const mn_geo *geo)
{
    mn_tet_skin skin;
    const mn_attribute *position = mn_geo_find(geo, MN_POINT, "P");
    const float *values = position ? mn_attribute_data(position) : NULL;
    MN_TRY(number_points(mesh, geo));
    MN_TRY(mn_tet_skin_make(mesh->ctx, geo, &skin));
    const mn_status status = add_elements(mesh, geo, &skin);
    mn_tet_skin_free(mesh->ctx, &skin);
    MN_TRY(status);
    MN_TRY(add_edges(mesh));
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->positions, 3 * mesh->vertex_count));
    if (values) mn_shown_mesh_pick(mesh, values, 3, 1, mesh->positions.data);
    uint64_t hash = hash_numbers((uint64_t)mesh->vertex_count, mesh->corners.data, mesh->corners.count);
    hash = hash_numbers(hash, mesh->totals.data, mesh->totals.count);
    hash = hash_numbers(hash, mesh->edges.data, 2 * mesh->line_count);
    mesh->topology = hash_numbers(hash, mesh->picks.data, mesh->picks.count);
    return MN_OK;
}

mn_status mn_shown_mesh_create(mn_context *ctx, const mn_geo *geo, mn_shown_mesh **mesh)
{
    mn_shown_mesh *made = *mesh = mn_allocate_zero(ctx, sizeof **mesh);
    if (!made) return MN_ERROR_MEMORY;
    made->ctx = ctx, made->is_sound = true;
    const mn_status status = take(made, geo);
    if (status == MN_OK) return MN_OK;
    mn_shown_mesh_free(made);
    *mesh = NULL;
    return status;
}

void mn_shown_mesh_arrays(const mn_shown_mesh *mesh, mn_shown_arrays *arrays)
{
    *arrays = (mn_shown_arrays){.vertex_count = mesh->vertex_count,
                                .corner_count = mesh->corners.count,
                                .face_count = mesh->starts.count,
                                .edge_count = mesh->edges.count / 2,
                                .line_count = mesh->line_count,
                                .positions = mesh->positions.data,
                                .picks = mesh->picks_all ? NULL : mesh->picks.data,
                                .corners = mesh->corners.data,
                                .corner_edges = mesh->corner_edges.data,
                                .starts = mesh->starts.data,
                                .totals = mesh->totals.data,
                                .edges = mesh->edges.data,
                                .is_sound = mesh->is_sound,
                                .topology = mesh->topology};
}

void mn_shown_mesh_pick(const mn_shown_mesh *mesh, const float *values, int32_t size, float factor,
                        float *picked)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const int64_t point = mesh->picks_all ? i : mesh->picks.data[i];
        for (int32_t k = 0; k < size; k++) picked[i * size + k] = factor * values[point * size + k];
    }
}

void mn_shown_mesh_free(mn_shown_mesh *mesh)
{
    if (!mesh) return;
    mn_context *ctx = mesh->ctx;
    mn_array_free(ctx, &mesh->positions);
    mn_array_free(ctx, &mesh->picks);
    mn_array_free(ctx, &mesh->corners);
    mn_array_free(ctx, &mesh->corner_edges);
    mn_array_free(ctx, &mesh->starts);
    mn_array_free(ctx, &mesh->totals);
    mn_array_free(ctx, &mesh->edges);
    mn_array_free(ctx, &mesh->places);
    mn_release(ctx, mesh, sizeof *mesh);
}
