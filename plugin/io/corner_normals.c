// SPDX-License-Identifier: Apache-2.0
//
// The normal of a corner of face f at point p is
//
//   n = sum A_g n_g   over the faces g around p; with creases, only those with n_f . n_g > cos(45 degrees)
//
// A_g n_g being Newell's area vector of the polygon g, half the sum of x_i x x_(i+1).
#include "plugin/io/corner_normals.h"

#include <math.h>
#include <string.h>

static const double CREASE_COSINE = 0.70710678;
enum { VALENCE_MAX = 64 }; ///< a point with more faces around it is shaded flat, to stay linear

typedef struct fans {
    const mn_geo *geo;
    const int64_t *starts, *points;
    mn_vec3 *area;   ///< by primitive; zero when it is not a polygon
    int64_t *begins; ///< by point: where its faces begin in `faces`
    int64_t *faces;  ///< by vertex, in the order of points
    mn_vec3 *point_normal;
} fans;

static mn_vec3 newell(const fans *f, int64_t primitive)
{
    const int64_t begin = f->starts[primitive], end = f->starts[primitive + 1];
    const mn_vec3 origin = mn_geo_position(f->geo, f->points[begin]);
    mn_vec3 sum = mn_v3(0, 0, 0), before = mn_v3(0, 0, 0);
    for (int64_t v = begin + 1; v < end; v++) {
        const mn_vec3 x = mn_sub(mn_geo_position(f->geo, f->points[v]), origin);
        sum = mn_add(sum, mn_cross(before, x));
        before = x;
    }
    return isfinite(sum.x + sum.y + sum.z) ? sum : mn_v3(0, 0, 0);
}

static void list_faces(fans *f)
{
    const int64_t primitives = mn_geo_primitive_count(f->geo), points = mn_geo_point_count(f->geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(f->geo);
    memset(f->begins, 0, mn_bytes(points + 2, sizeof *f->begins));
    for (int64_t i = 0; i < primitives; i++) {
        f->area[i] = kinds[i] == MN_POLYGON ? newell(f, i) : mn_v3(0, 0, 0);
        for (int64_t v = f->starts[i]; v < f->starts[i + 1]; v++) f->begins[f->points[v] + 2]++;
    }
    for (int64_t p = 2; p < points + 2; p++) f->begins[p] += f->begins[p - 1];
    for (int64_t i = 0; i < primitives; i++)
        for (int64_t v = f->starts[i]; v < f->starts[i + 1]; v++) f->faces[f->begins[f->points[v] + 1]++] = i;
}

static mn_vec3 corner_normal(const fans *f, int64_t face, int64_t point)
{
    const mn_vec3 own = f->area[face];
    const int64_t begin = f->begins[point], end = f->begins[point + 1];
    if (end - begin > VALENCE_MAX) return mn_normalize(own);
    mn_vec3 sum = mn_v3(0, 0, 0);
    for (int64_t k = begin; k < end; k++) {
        const mn_vec3 other = f->area[f->faces[k]];
        if (mn_dot(own, other) > CREASE_COSINE * mn_norm(own) * mn_norm(other)) sum = mn_add(sum, other);
    }
    return mn_normalize(mn_norm2(sum) > 0 ? sum : own);
}

static void set_normal(float normal[3], mn_vec3 n)
{
    // A polygon without area has no normal; readers want one of unit length.
    if (!(mn_norm2(n) > 0.5)) n = mn_v3(0, 1, 0);
    normal[0] = (float)n.x, normal[1] = (float)n.y, normal[2] = (float)n.z;
}

static void fill_creased(const fans *f, mn_corner_normals *normals)
{
    const uint8_t *kinds = mn_geo_primitive_kinds(f->geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(f->geo); i++)
        for (int64_t v = f->starts[i]; v < f->starts[i + 1] && kinds[i] == MN_POLYGON; v++)
            set_normal(normals->normal[v], corner_normal(f, i, f->points[v]));
}

/// All faces around a point count for all of its corners.
static void fill_smooth(const fans *f, mn_corner_normals *normals)
{
    const uint8_t *kinds = mn_geo_primitive_kinds(f->geo);
    for (int64_t p = 0; p < mn_geo_point_count(f->geo); p++) {
        mn_vec3 sum = mn_v3(0, 0, 0);
        for (int64_t k = f->begins[p]; k < f->begins[p + 1]; k++) sum = mn_add(sum, f->area[f->faces[k]]);
        f->point_normal[p] = mn_normalize(sum);
    }
    for (int64_t i = 0; i < mn_geo_primitive_count(f->geo); i++)
        for (int64_t v = f->starts[i]; v < f->starts[i + 1] && kinds[i] == MN_POLYGON; v++)
            set_normal(normals->normal[v], f->point_normal[f->points[v]]);
}

bool mn_has_creases(const mn_geo *geo)
{
    return mn_geo_find_numeric(geo, MN_POINT, "v", 3) == NULL;
}

mn_status mn_corner_normals_make(mn_context *ctx, const mn_geo *geo, bool creases, mn_corner_normals *normals)
{
    memset(normals, 0, sizeof *normals);
    const int64_t points = mn_geo_point_count(geo), vertices = mn_geo_vertex_count(geo);
    const int64_t primitives = mn_geo_primitive_count(geo);
    if (vertices == 0) return MN_OK;
    fans f = {.geo = geo, .starts = mn_geo_primitive_starts(geo), .points = mn_geo_vertex_points(geo)};
    f.area = mn_allocate(ctx, mn_bytes(primitives, sizeof *f.area));
    f.point_normal = mn_allocate(ctx, mn_bytes(points, sizeof *f.point_normal));
    f.begins = mn_allocate(ctx, mn_bytes(points + 2, sizeof *f.begins));
    f.faces = mn_allocate(ctx, mn_bytes(vertices, sizeof *f.faces));
    normals->size = mn_bytes(vertices, sizeof *normals->normal);
    normals->normal = mn_allocate(ctx, normals->size);
    const bool made = f.area && f.point_normal && f.begins && f.faces && normals->normal;
    if (made) {
        list_faces(&f);
        memset(normals->normal, 0, normals->size);
        (creases ? fill_creased : fill_smooth)(&f, normals);
    }
    mn_release(ctx, f.area, mn_bytes(primitives, sizeof *f.area));
    mn_release(ctx, f.point_normal, mn_bytes(points, sizeof *f.point_normal));
    mn_release(ctx, f.begins, mn_bytes(points + 2, sizeof *f.begins));
    mn_release(ctx, f.faces, mn_bytes(vertices, sizeof *f.faces));
    if (made) return MN_OK;
    mn_corner_normals_free(ctx, normals);
    return MN_ERROR_MEMORY;
}

void mn_corner_normals_free(mn_context *ctx, mn_corner_normals *normals)
{
    mn_release(ctx, normals->normal, normals->size);
    memset(normals, 0, sizeof *normals);
}
