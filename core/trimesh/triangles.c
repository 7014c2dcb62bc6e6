// SPDX-License-Identifier: Apache-2.0
//
// A triangle mesh: vertices in the same place welded, triangles without three corners dropped, and what can
// be said of the whole.
#include "trimesh/triangles_state.h"

#include <math.h>
#include <string.h>

// ---- welding ----

/// `same`: the number of the first vertex in the same place, for each vertex.
static mn_status weld(mn_triangles *mesh, int64_t count, const mn_vec3 *x)
{
    int64_t size = 16;
    while (size < 2 * count) size *= 2;
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->table, size));
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->same, count));
    int32_t *table = mesh->table.data;
    memset(table, 0xff, mn_bytes(size, sizeof *table));
    for (int64_t i = 0; i < count; i++) {
        // Adding zero makes -0 and 0 the same.
        const double key[3] = {x[i].x + 0.0, x[i].y + 0.0, x[i].z + 0.0};
        uint64_t bits[3];
        memcpy(bits, key, sizeof bits);
        uint64_t h =
            bits[0] * 0x9e3779b97f4a7c15u ^ bits[1] * 0xc2b2ae3d27d4eb4fu ^ bits[2] * 0x165667b19e3779f9u;
        h ^= h >> 29;
        h *= 0xbf58476d1ce4e5b9u;
        uint64_t slot = (h ^ h >> 32) & (uint64_t)(size - 1);
        while (table[slot] >= 0) {
            const mn_vec3 y = x[table[slot]];
            if (y.x == x[i].x && y.y == x[i].y && y.z == x[i].z) break;
            slot = (slot + 1) & (uint64_t)(size - 1);
        }
        if (table[slot] < 0) table[slot] = (int32_t)i;
        mesh->same.data[i] = table[slot];
    }
    return MN_OK;
}

// ---- creation ----

static mn_status check_vertices(mn_context *ctx, int64_t count, const mn_vec3 *x)
{
    if (count > INT32_MAX)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%lld points are more than a mesh search can hold (%d).",
                       (long long)count, (int)INT32_MAX);
    for (int64_t i = 0; i < count; i++)
        if (!mn_is_finite3(x[i]))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the mesh has the position (%g, %g, %g), which is not finite.",
                           (long long)i, x[i].x, x[i].y, x[i].z);
    return MN_OK;
}

/// Appends a triangle, unless two of its corners are in the same place.
static mn_status add_triangle(mn_triangles *mesh, const mn_vec3 *x, const int32_t given[3], int64_t element)
{
    tree_triangle t = {.element = element};
    for (int32_t k = 0; k < 3; k++) {
        t.given[k] = given[k];
        t.vertex[k] = mesh->same.data[given[k]];
        t.corner[k] = x[given[k]];
    }
    if (t.vertex[0] == t.vertex[1] || t.vertex[1] == t.vertex[2] || t.vertex[2] == t.vertex[0]) {
        mesh->flaws.dropped++;
        return MN_OK;
    }
    t.normal = mn_normalize(mn_cross(mn_sub(t.corner[1], t.corner[0]), mn_sub(t.corner[2], t.corner[0])));
    return mn_array_push(mesh->ctx, &mesh->unsorted, &t);
}

/// Where the triangles come from: an array of them, or the polygons of a geo.
typedef struct triangle_source {
    int64_t count;
    const int32_t (*triangles)[3];
    const mn_geo *geo;
} triangle_source;

static mn_status add_triangles(mn_triangles *mesh, const triangle_source *source, int64_t vertex_count,
                               const mn_vec3 *x)
{
    MN_TRY(mn_array_reserve(mesh->ctx, &mesh->unsorted, source->count));
    for (int64_t t = 0; t < source->count; t++) {
        const int32_t *given = source->triangles[t];
        for (int32_t k = 0; k < 3; k++)
            if (given[k] < 0 || given[k] >= vertex_count)
                return mn_fail(mesh->ctx, MN_ERROR_INPUT, "Triangle %lld uses vertex %d of %lld.",
                               (long long)t, (int)given[k], (long long)vertex_count);
        MN_TRY(add_triangle(mesh, x, given, t));
    }
    if (!source->geo) return MN_OK;
    const int64_t *points = mn_geo_vertex_points(source->geo), *starts = mn_geo_primitive_starts(source->geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(source->geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(source->geo); p++) {
        if (kinds[p] != MN_POLYGON) continue;
        for (int64_t v = starts[p] + 2; v < starts[p + 1]; v++) {
            const int32_t given[3] = {(int32_t)points[starts[p]], (int32_t)points[v - 1], (int32_t)points[v]};
            MN_TRY(add_triangle(mesh, x, given, p));
        }
    }
    return MN_OK;
}

static mn_status build(mn_triangles *mesh, int64_t vertex_count, const mn_vec3 *x,
                       const triangle_source *source)
{
    mesh->triangles.count = mesh->nodes.count = mesh->unsorted.count = 0;
    mesh->flaws = (mn_mesh_flaws){.example_element = -1};
    MN_TRY(check_vertices(mesh->ctx, vertex_count, x));
    MN_TRY(weld(mesh, vertex_count, x));
    MN_TRY(add_triangles(mesh, source, vertex_count, x));
    MN_TRY(mn_triangles_join_edges(mesh, (int32_t)vertex_count));
    return mn_triangles_build_tree(mesh);
}

static void free_scratch(mn_triangles *mesh)
{
    mn_context *ctx = mesh->ctx;
    mn_array_free(ctx, &mesh->unsorted);
    mn_array_free(ctx, &mesh->same);
    mn_array_free(ctx, &mesh->table);
    mn_array_free(ctx, &mesh->corner_start);
    mn_array_free(ctx, &mesh->edge_start);
    mn_array_free(ctx, &mesh->corners);
    mn_array_free(ctx, &mesh->edges);
    mn_array_free(ctx, &mesh->flawed);
    mn_array_free(ctx, &mesh->middles);
    mn_array_free(ctx, &mesh->tasks);
}

static mn_status create(mn_context *ctx, int64_t vertex_count, const mn_vec3 *x,
                        const triangle_source *source, mn_triangles **result)
{
    *result = NULL;
    mn_triangles *mesh = mn_allocate_zero(ctx, sizeof *mesh);
    if (!mesh) return MN_ERROR_MEMORY;
    mesh->ctx = ctx;
    const mn_status status = build(mesh, vertex_count, x, source);
    if (status == MN_OK) {
        free_scratch(mesh);
        *result = mesh;
    } else
        mn_triangles_free(mesh);
    return status;
}

mn_status mn_triangles_create(mn_context *ctx, int64_t vertex_count, const mn_vec3 *positions,
                              int64_t triangle_count, const int32_t (*triangles)[3], mn_triangles **result)
{
    const triangle_source source = {triangle_count, triangles, NULL};
    return create(ctx, vertex_count, positions, &source, result);
}

mn_status mn_triangles_rebuild(mn_triangles *mesh, int64_t vertex_count, const mn_vec3 *positions,
                               int64_t triangle_count, const int32_t (*triangles)[3])
{
    const triangle_source source = {triangle_count, triangles, NULL};
    const mn_status status = build(mesh, vertex_count, positions, &source);
    if (status != MN_OK) mesh->triangles.count = mesh->nodes.count = 0;
    return status;
}

mn_status mn_triangles_create_from_geo(mn_context *ctx, const mn_geo *geo, mn_triangles **result)
{
    *result = NULL;
    const int64_t count = mn_geo_point_count(geo);
    mn_vec3 *x = mn_allocate(ctx, mn_bytes(count + 1, sizeof *x));
    if (!x) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) x[i] = mn_geo_position(geo, i);
    const triangle_source source = {0, NULL, geo};
    const mn_status status = create(ctx, count, x, &source, result);
    mn_release(ctx, x, mn_bytes(count + 1, sizeof *x));
    return status;
}

void mn_triangles_free(mn_triangles *triangles)
{
    if (!triangles) return;
    mn_context *ctx = triangles->ctx;
    free_scratch(triangles);
    mn_array_free(ctx, &triangles->triangles);
    mn_array_free(ctx, &triangles->nodes);
    mn_array_free(ctx, &triangles->dipoles);
    mn_array_free(ctx, &triangles->vertex_normals);
    mn_release(ctx, triangles, sizeof *triangles);
}

// ---- of the whole ----

int64_t mn_triangles_count(const mn_triangles *triangles)
{
    return triangles->triangles.count;
}

mn_box mn_triangles_bounds(const mn_triangles *triangles)
{
    return triangles->nodes.count ? triangles->nodes.data[0].box : mn_box_empty();
}

mn_mesh_flaws mn_triangles_check(const mn_triangles *triangles)
{
    return triangles->flaws;
}

bool mn_triangles_is_closed(const mn_triangles *triangles)
{
    const mn_mesh_flaws f = triangles->flaws;
    return triangles->triangles.count > 0 && f.open_edges + f.crowded_edges + f.flipped_edges == 0;
}

mn_status mn_triangles_require_closed(mn_context *ctx, const mn_triangles *triangles, const char *what)
{
    if (mn_triangles_is_closed(triangles)) return MN_OK;
    if (triangles->triangles.count == 0) return mn_fail(ctx, MN_ERROR_INPUT, "%s has no polygons.", what);
    const mn_mesh_flaws f = triangles->flaws;
    const mn_vec3 a = f.example[0], b = f.example[1];
    return mn_fail(
        ctx, MN_ERROR_INPUT,
        "%s is not closed: %lld open edges, %lld edges with more than two polygons, %lld between polygons "
        "that face opposite ways; the first from (%g, %g, %g) to (%g, %g, %g) on polygon %lld. Close the "
        "holes and fix the normals.",
        what, (long long)f.open_edges, (long long)f.crowded_edges, (long long)f.flipped_edges, a.x, a.y, a.z,
        b.x, b.y, b.z, (long long)f.example_element);
}

double mn_triangles_volume(const mn_triangles *triangles)
{
    // About the first corner, so that a mesh far from the origin loses no digits.
    const mn_vec3 o = triangles->triangles.count ? triangles->triangles.data[0].corner[0] : mn_v3(0, 0, 0);
    double volume = 0.0;
    for (int64_t i = 0; i < triangles->triangles.count; i++) {
        const mn_vec3 *c = triangles->triangles.data[i].corner;
        volume += mn_dot(mn_sub(c[0], o), mn_cross(mn_sub(c[1], o), mn_sub(c[2], o))) / 6.0;
    }
    return volume;
}

double mn_triangles_area(const mn_triangles *triangles)
{
    double area = 0.0;
    for (int64_t i = 0; i < triangles->triangles.count; i++) {
        const mn_vec3 *c = triangles->triangles.data[i].corner;
        area += 0.5 * mn_norm(mn_cross(mn_sub(c[1], c[0]), mn_sub(c[2], c[0])));
    }
    return area;
}
