// SPDX-License-Identifier: Apache-2.0
//
// Which vertices, triangles and lines a geometry has in glTF. Polygons are cut into a fan from a corner that
// sees all of them.
#include "plugin/io/glb.h"
#include "plugin/io/tet_skin.h"

#include <math.h>
#include <string.h>

enum { FAN_SEARCH_MAX = 64 };

// ---- which vertices ----

static bool is_finite_point(const mn_glb *g, int64_t point)
{
    const mn_vec3 x = mn_geo_position(g->geo, point);
    return isfinite(x.x) && isfinite(x.y) && isfinite(x.z);
}

static mn_status add_vertex(mn_glb *g, mn_glb_part *part, mn_glb_vertex vertex, uint32_t *index)
{
    const mn_vec3 x = mn_geo_position(g->geo, vertex.point);
    *index = (uint32_t)part->vertices.count;
    part->box = mn_box_add(part->box, x);
    return mn_array_push(g->ctx, &part->vertices, &vertex);
}

static mn_status add_corner(mn_glb *g, int64_t primitive, int64_t corner, uint32_t *index)
{
    mn_glb_part *part = &g->parts[MN_GLB_SURFACE];
    const int64_t point = mn_geo_vertex_points(g->geo)[corner];
    if (!g->by_corner && g->index[point] >= 0) {
        *index = (uint32_t)g->index[point];
        return MN_OK;
    }
    MN_TRY(add_vertex(g, part, (mn_glb_vertex){point, corner, primitive}, index));
    if (!g->by_corner) g->index[point] = *index;
    return MN_OK;
}

static bool fan_is_good(const mn_glb *g, int64_t begin, int64_t count, int64_t first, mn_vec3 normal)
{
    const int64_t *points = mn_geo_vertex_points(g->geo) + begin;
    const mn_vec3 a = mn_geo_position(g->geo, points[first]);
    for (int64_t k = 1; k < count - 1; k++) {
        const mn_vec3 b = mn_sub(mn_geo_position(g->geo, points[(first + k) % count]), a);
        const mn_vec3 c = mn_sub(mn_geo_position(g->geo, points[(first + k + 1) % count]), a);
        if (mn_dot(mn_cross(b, c), normal) < 0) return false;
    }
    return true;
}

/// The corner that sees all of a polygon, so that a fan of triangles from it covers it once; 0 when none
/// does.
static int64_t fan_corner(const mn_glb *g, int64_t begin, int64_t count)
{
    if (count == 3 || count > FAN_SEARCH_MAX) return 0;
    const int64_t *points = mn_geo_vertex_points(g->geo) + begin;
    const mn_vec3 a = mn_geo_position(g->geo, points[0]);
    mn_vec3 normal = mn_v3(0, 0, 0);
    for (int64_t k = 1; k < count - 1; k++)
        normal = mn_add(normal, mn_cross(mn_sub(mn_geo_position(g->geo, points[k]), a),
                                         mn_sub(mn_geo_position(g->geo, points[k + 1]), a)));
    for (int64_t first = 0; first < count; first++)
        if (fan_is_good(g, begin, count, first, normal)) return first;
    return 0;
}

static mn_status add_polygon(mn_glb *g, int64_t primitive)
{
    mn_glb_part *part = &g->parts[MN_GLB_SURFACE];
    const int64_t begin = mn_geo_primitive_starts(g->geo)[primitive];
    const int64_t count = mn_geo_primitive_starts(g->geo)[primitive + 1] - begin;
    const int64_t first = fan_corner(g, begin, count);
    uint32_t apex = 0, before = 0, next;
    for (int64_t k = 0; k < count; k++) {
        MN_TRY(add_corner(g, primitive, begin + (first + k) % count, &next));
        if (k == 0) apex = next;
        if (k >= 2) {
            const uint32_t triangle[3] = {apex, before, next};
            for (int i = 0; i < 3; i++) MN_TRY(mn_array_push(g->ctx, &part->indices, &triangle[i]));
        }
        before = next;
    }
    return MN_OK;
}

static mn_status add_polyline(mn_glb *g, int64_t primitive)
{
    mn_glb_part *part = &g->parts[MN_GLB_LINES];
    const int64_t *starts = mn_geo_primitive_starts(g->geo), *points = mn_geo_vertex_points(g->geo);
    uint32_t before = 0, next;
    for (int64_t v = starts[primitive]; v < starts[primitive + 1]; v++) {
        MN_TRY(add_vertex(g, part, (mn_glb_vertex){points[v], v, primitive}, &next));
        if (v > starts[primitive]) {
            MN_TRY(mn_array_push(g->ctx, &part->indices, &before));
            MN_TRY(mn_array_push(g->ctx, &part->indices, &next));
        }
        before = next;
    }
    return MN_OK;
}

static mn_status add_primitives(mn_glb *g)
{
    const int64_t *starts = mn_geo_primitive_starts(g->geo), *points = mn_geo_vertex_points(g->geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(g->geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(g->geo); i++) {
        bool good = true;
        for (int64_t v = starts[i]; v < starts[i + 1]; v++) good = good && is_finite_point(g, points[v]);
        if (!good) g->left_out++;
        if (good && kinds[i] == MN_POLYGON) MN_TRY(add_polygon(g, i));
        if (good && kinds[i] == MN_POLYLINE) MN_TRY(add_polyline(g, i));
        if (i % 65536 == 0) MN_TRY(mn_check_cancelled(g->ctx));
    }
    return MN_OK;
}

static mn_status add_free_points(mn_glb *g)
{
    const int64_t *points = mn_geo_vertex_points(g->geo), count = mn_geo_point_count(g->geo);
    for (int64_t i = 0; i < count; i++) g->index[i] = -1;
    for (int64_t v = 0; v < mn_geo_vertex_count(g->geo); v++) g->index[points[v]] = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t index;
        if (g->index[i] == 0) continue;
        if (!is_finite_point(g, i))
            g->left_out++;
        else
            MN_TRY(add_vertex(g, &g->parts[MN_GLB_POINTS], (mn_glb_vertex){i, -1, -1}, &index));
    }
    return MN_OK;
}

// ---- which values ----

static const mn_attribute *find(const mn_geo *geo, const char *name, int32_t least, int32_t most)
{
    static const mn_owner order[] = {MN_VERTEX, MN_POINT, MN_PRIMITIVE, MN_DETAIL};
    for (int i = 0; i < MN_OWNER_COUNT; i++) {
        const mn_attribute *a = mn_geo_find(geo, order[i], name);
        if (a && mn_attribute_type(a) != MN_STRING && mn_attribute_size(a) >= least &&
            mn_attribute_size(a) <= most)
            return a;
    }
    return NULL;
}

static bool differs_by_corner(const mn_attribute *a)
{
    return a && (mn_attribute_owner(a) == MN_VERTEX || mn_attribute_owner(a) == MN_PRIMITIVE);
}

mn_status mn_glb_make(mn_glb *g)
{
    g->normal = find(g->geo, "N", 3, 3);
    if (g->normal && mn_attribute_owner(g->normal) == MN_DETAIL) g->normal = NULL;
    g->color = find(g->geo, "Cd", 3, 3);
    g->alpha = find(g->geo, "Alpha", 1, 1);
    g->texture = find(g->geo, "uv", 2, 3);
    const bool creases = mn_has_creases(g->geo);
    if (!g->normal) MN_TRY(mn_corner_normals_make(g->ctx, g->geo, creases, &g->computed));
    g->by_corner = differs_by_corner(g->normal) || differs_by_corner(g->color) ||
                   differs_by_corner(g->alpha) || differs_by_corner(g->texture) || (!g->normal && creases);
    const int64_t points = mn_geo_point_count(g->geo);
    g->index = mn_allocate(g->ctx, mn_bytes(points + 1, sizeof *g->index));
    if (!g->index) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < points; i++) g->index[i] = -1;
    MN_TRY(add_primitives(g));
    MN_TRY(add_free_points(g));
    return MN_OK;
}

void mn_glb_free(mn_glb *g)
{
    for (int p = 0; p < MN_GLB_PART_COUNT; p++) {
        mn_array_free(g->ctx, &g->parts[p].vertices);
        mn_array_free(g->ctx, &g->parts[p].indices);
    }
    if (g->index) mn_release(g->ctx, g->index, mn_bytes(mn_geo_point_count(g->geo) + 1, sizeof *g->index));
    mn_corner_normals_free(g->ctx, &g->computed);
    g->index = NULL;
}

mn_status mn_glb_with_skin(mn_context *ctx, const mn_geo *geo, mn_geo **made)
{
    mn_tet_skin skin;
    MN_TRY(mn_geo_copy(geo, made));
    MN_TRY(mn_tet_skin_make(ctx, geo, &skin));
    const int64_t *points = mn_geo_vertex_points(geo);
    for (int64_t i = 0; i < skin.count; i++) // from vertices to points
        for (int k = 0; k < 3; k++) skin.faces[i][k] = points[skin.faces[i][k]];
    const mn_status status =
        skin.count > 0 ? mn_geo_add_primitives(*made, MN_POLYGON, skin.count, NULL, 3, skin.faces[0], NULL)
                       : MN_OK;
    mn_tet_skin_free(ctx, &skin);
    return status;
}
