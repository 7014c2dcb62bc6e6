// SPDX-License-Identifier: Apache-2.0
//
// From mn_geo to triangles, spheres and tubes in camera space. Places in the arrays follow from counts of
// whole primitives, so threads fill them in any order with the same result; what cannot be drawn keeps its
// place and is marked.
#include "plugin/preview/scene.h"
#include "base/parallel.h"
#include "plugin/preview/arena.h"

#include <string.h>

static const float FAR_LIMIT = 1e4f; ///< scene radii from the camera; beyond it a point is not drawn
enum { GRAIN = 4096 };

typedef struct part {
    mn_preview_scene *scene;
    const mn_geo *geo;
    const mn_preview_view *view;
    mn_preview_colors colors;
    const int64_t *starts, *vertex_points;
    const uint8_t *kinds;
    const int64_t (*skin)[3]; ///< of tetrahedra
    int64_t skin_count;
    int64_t *chunk_triangles; ///< of the primitives before each chunk
    int64_t triangle_count, tube_count, sphere_count;
    int64_t first_point, first_triangle, first_tube, first_sphere; ///< in the scene
    const mn_attribute *normal;                                    ///< N of points or vertices, or NULL
    const mn_attribute *radius;                                    ///< pscale or NULL
    uint8_t *used;                                                 ///< by point: it belongs to a primitive
} part;

static bool is_good(f3 p)
{
    // Written so that NaN fails too.
    return fabsf(p.x) < FAR_LIMIT && fabsf(p.y) < FAR_LIMIT && fabsf(p.z) < FAR_LIMIT;
}

static f3 to_camera(const mn_preview_view *view, mn_vec3 p)
{
    const mn_vec3 c = mn_m4_apply_point(view->to_camera, p);
    return (f3){(float)c.x, (float)c.y, (float)c.z};
}

// ---- counting ----

static int64_t polygon_triangles(const part *p, int64_t begin, int64_t end)
{
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++)
        if (p->kinds[i] == MN_POLYGON) count += p->starts[i + 1] - p->starts[i] - 2;
    return count;
}

static mn_status count_part(part *p)
{
    mn_arena *arena = p->scene->arena;
    const int64_t primitives = mn_geo_primitive_count(p->geo), points = mn_geo_point_count(p->geo);
    const int64_t chunks = mn_chunk_count(primitives, GRAIN);
    p->chunk_triangles = mn_arena_array(arena, int64_t, chunks + 1);
    p->used = mn_arena_array(arena, uint8_t, points + 1);
    if (!p->chunk_triangles || !p->used) return MN_ERROR_MEMORY;
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t end = (c + 1) * GRAIN < primitives ? (c + 1) * GRAIN : primitives;
        p->chunk_triangles[c] = p->triangle_count;
        p->triangle_count += polygon_triangles(p, c * GRAIN, end);
    }
    MN_TRY(mn_preview_tet_skin(p->scene->ctx, arena, p->geo, &p->skin, &p->skin_count));
    p->triangle_count += p->skin_count;
    for (int64_t i = 0; i < primitives; i++)
        if (p->kinds[i] == MN_POLYLINE) p->tube_count += p->starts[i + 1] - p->starts[i] - 1;
    memset(p->used, 0, (size_t)points);
    const int64_t vertices = mn_geo_vertex_count(p->geo);
    for (int64_t v = 0; v < vertices; v++) p->used[p->vertex_points[v]] = 1;
    for (int64_t i = 0; i < points; i++) p->sphere_count += !p->used[i];
    if (!mn_preview_draws_free_points(p->geo, p->sphere_count)) p->sphere_count = 0;
    return MN_OK;
}

static mn_status begin_part(part *p, const mn_preview_def *def)
{
    p->starts = mn_geo_primitive_starts(p->geo);
    p->vertex_points = mn_geo_vertex_points(p->geo);
    p->kinds = mn_geo_primitive_kinds(p->geo);
    p->normal = mn_geo_find_numeric(p->geo, MN_VERTEX, "N", 3);
    if (!p->normal) p->normal = mn_geo_find_numeric(p->geo, MN_POINT, "N", 3);
    p->radius = mn_geo_find_numeric(p->geo, MN_POINT, "pscale", 1);
    MN_TRY(count_part(p));
    return mn_preview_colors_make(p->scene->arena, p->geo, def->color, p->view, &p->colors);
}

// ---- filling ----

static mn_status point_range(void *user, mn_range range)
{
    const part *p = user;
    for (int64_t i = range.begin; i < range.end; i++)
        p->scene->points[p->first_point + i] = to_camera(p->view, mn_geo_position(p->geo, i));
    return MN_OK;
}

static uint32_t given_normal(const part *p, int64_t point, int64_t vertex, f3 otherwise)
{
    double n[3];
    mn_attribute_get(p->normal, mn_attribute_owner(p->normal) == MN_VERTEX ? vertex : point, 1, n);
    const mn_vec3 c = mn_m3_apply(mn_m4_linear(p->view->to_camera), mn_normalize(mn_v3(n[0], n[1], n[2])));
    const f3 r = {(float)c.x, (float)c.y, (float)c.z};
    return f3_pack_normal(isfinite(r.x + r.y + r.z) ? f3_normalize_or(r, otherwise) : otherwise);
}

static void put_triangle(const part *p, int64_t at, const int64_t vertex[3], int64_t primitive)
{
    const mn_preview_scene *scene = p->scene;
    mn_preview_triangle *triangle = &scene->triangles[p->first_triangle + at];
    mn_preview_corners *corners = &scene->corners[p->first_triangle + at];
    f3 corner[3];
    bool good = true;
    for (int k = 0; k < 3; k++) {
        const int64_t point = p->vertex_points[vertex[k]];
        triangle->point[k] = (int32_t)(p->first_point + point);
        corners->color[k] = mn_preview_color_of(&p->colors, point, vertex[k], primitive);
        corner[k] = scene->points[triangle->point[k]];
        good = good && is_good(corner[k]);
    }
    if (!good) {
        triangle->point[0] = -1;
        return;
    }
    if (!p->normal) return;
    const f3 flat =
        f3_normalize_or(f3_cross(f3_sub(corner[1], corner[0]), f3_sub(corner[2], corner[0])), (f3){0, 0, -1});
    for (int k = 0; k < 3; k++)
        corners->normal[k] = given_normal(p, p->vertex_points[vertex[k]], vertex[k], flat);
}

enum { SMALL_POLYGON = 64 };

/// One polygon; `work` holds its corners and triangles when it is a large one.
static mn_status put_polygon(const part *p, int64_t primitive, int64_t at)
{
    mn_context *ctx = p->scene->ctx;
    const int64_t first = p->starts[primitive];
    const int32_t count = (int32_t)(p->starts[primitive + 1] - first);
    f3 few_corners[SMALL_POLYGON], *corners = few_corners;
    int32_t few_triangles[SMALL_POLYGON][3], (*triangles)[3] = few_triangles;
    const size_t corner_bytes = mn_bytes(count, sizeof *corners);
    const size_t triangle_bytes = mn_bytes(count, sizeof *triangles);
    if (count > SMALL_POLYGON) {
        corners = mn_allocate(ctx, corner_bytes);
        triangles = mn_allocate(ctx, triangle_bytes);
    }
    if (corners && triangles) {
        for (int32_t k = 0; k < count; k++)
            corners[k] = p->scene->points[p->first_point + p->vertex_points[first + k]];
        mn_preview_triangulate(corners, count, triangles);
        for (int32_t k = 0; k < count - 2; k++) {
            const int64_t vertex[3] = {first + triangles[k][0], first + triangles[k][1],
                                       first + triangles[k][2]};
            put_triangle(p, at + k, vertex, primitive);
        }
    }
    const mn_status status = corners && triangles ? MN_OK : MN_ERROR_MEMORY;
    if (corners != few_corners) mn_release(ctx, corners, corner_bytes);
    if (triangles != few_triangles) mn_release(ctx, triangles, triangle_bytes);
    return status;
}

static mn_status polygon_range(void *user, mn_range range)
{
    const part *p = user;
    int64_t at = p->chunk_triangles[range.chunk];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (p->kinds[i] != MN_POLYGON) continue;
        MN_TRY(put_polygon(p, i, at));
        at += p->starts[i + 1] - p->starts[i] - 2;
    }
    return MN_OK;
}

static mn_status skin_range(void *user, mn_range range)
{
    const part *p = user;
    const int64_t first = p->triangle_count - p->skin_count;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int64_t vertex = p->skin[i][0];
        // The tetrahedron that owns the vertex: the last primitive that starts at or before it.
        int64_t low = 0, high = mn_geo_primitive_count(p->geo) - 1;
        while (low < high) {
            const int64_t middle = (low + high + 1) / 2;
            if (p->starts[middle] <= vertex)
                low = middle;
            else
                high = middle - 1;
        }
        put_triangle(p, first + i, p->skin[i], low);
    }
    return MN_OK;
}

static float radius_of(const part *p, int64_t point)
{
    double radius = p->view->point_radius;
    if (p->radius) mn_attribute_get(p->radius, point, 1, &radius);
    radius *= p->view->scale;
    return radius > 0 && radius < (double)FAR_LIMIT ? (float)radius : 1e-6f;
}

static void put_spheres(const part *p)
{
    mn_preview_sphere *sphere = p->scene->spheres + p->first_sphere;
    for (int64_t i = 0; p->sphere_count > 0 && i < mn_geo_point_count(p->geo); i++) {
        if (p->used[i]) continue;
        sphere->center = p->scene->points[p->first_point + i];
        sphere->radius = is_good(sphere->center) ? radius_of(p, i) : 0;
        // A free point has neither vertex nor primitive to take a colour from.
        sphere->color = !p->colors.packed || p->colors.owner == MN_POINT || p->colors.owner == MN_DETAIL
                            ? mn_preview_color_of(&p->colors, i, 0, 0)
                            : p->colors.everything;
        sphere++;
    }
}

static void put_tubes(const part *p)
{
    mn_preview_tube *tube = p->scene->tubes + p->first_tube;
    for (int64_t i = 0; i < mn_geo_primitive_count(p->geo); i++)
        for (int64_t v = p->starts[i]; p->kinds[i] == MN_POLYLINE && v + 1 < p->starts[i + 1]; v++, tube++) {
            for (int k = 0; k < 2; k++) {
                const int64_t point = p->vertex_points[v + k];
                tube->end[k] = p->scene->points[p->first_point + point];
                tube->color[k] = mn_preview_color_of(&p->colors, point, v + k, i);
            }
            const bool good = is_good(tube->end[0]) && is_good(tube->end[1]);
            tube->radius = !good ? 0 : p->radius ? radius_of(p, p->vertex_points[v]) : 1e-6f;
        }
}

static mn_status fill_part(part *p)
{
    mn_context *ctx = p->scene->ctx;
    const int64_t points = mn_geo_point_count(p->geo), first = p->first_triangle;
    MN_TRY(mn_parallel_for(ctx, points, GRAIN, point_range, p));
    MN_TRY(mn_parallel_for(ctx, mn_geo_primitive_count(p->geo), GRAIN, polygon_range, p));
    MN_TRY(mn_parallel_for(ctx, p->skin_count, GRAIN, skin_range, p));
    put_spheres(p);
    put_tubes(p);
    if (p->normal) return MN_OK;
    return mn_preview_smooth_normals(p->scene, first, first + p->triangle_count, p->first_point,
                                     p->first_point + points);
}

static int64_t count_bad_points(const mn_geo *geo)
{
    const float *position = mn_geo_positions(geo);
    int64_t bad = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        bad += !isfinite(position[3 * i]) || !isfinite(position[3 * i + 1]) || !isfinite(position[3 * i + 2]);
    return bad;
}

mn_status mn_preview_scene_make(mn_preview_scene *scene, const mn_geo *const *geos, int32_t count,
                                const mn_preview_def *def, const mn_preview_view *view,
                                mn_preview_notes *notes)
{
    part *parts = mn_arena_array(scene->arena, part, count > 0 ? count : 1);
    if (!parts) return MN_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        part *p = &parts[i];
        *p = (part){.scene = scene, .geo = geos[i], .view = view};
        notes->bad_points += count_bad_points(geos[i]);
        MN_TRY(begin_part(p, def));
        p->first_point = scene->point_count, p->first_triangle = scene->triangle_count;
        p->first_tube = scene->tube_count, p->first_sphere = scene->sphere_count;
        scene->point_count += mn_geo_point_count(geos[i]);
        scene->triangle_count += p->triangle_count;
        scene->tube_count += p->tube_count, scene->sphere_count += p->sphere_count;
    }
    if (scene->point_count + scene->triangle_count + scene->sphere_count + scene->tube_count >= INT32_MAX)
        return mn_fail(scene->ctx, MN_ERROR_UNSUPPORTED,
                       "The preview draws at most two billion elements; there are %lld points.",
                       (long long)scene->point_count);
    scene->points = mn_arena_array(scene->arena, f3, scene->point_count + 1);
    scene->triangles = mn_arena_array(scene->arena, mn_preview_triangle, scene->triangle_count + 1);
    scene->corners = mn_arena_array(scene->arena, mn_preview_corners, scene->triangle_count + 1);
    scene->spheres = mn_arena_array(scene->arena, mn_preview_sphere, scene->sphere_count + 1);
    scene->tubes = mn_arena_array(scene->arena, mn_preview_tube, scene->tube_count + 1);
    if (!scene->points || !scene->triangles || !scene->corners || !scene->spheres || !scene->tubes)
        return MN_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) MN_TRY(fill_part(&parts[i]));
    return MN_OK;
}
