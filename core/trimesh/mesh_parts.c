// SPDX-License-Identifier: Apache-2.0
//
// Connected parts of polygons. A plate of volume V and area A is 2 V / A thick; it fills little of its box,
// or lies flat in it. What is small in all directions is not a plate.
#include "trimesh/mesh_parts.h"

static const double LEAST_FILLED = 0.2; // of its box, by what is not a plate

static mn_status cut_fans(mn_context *ctx, const mn_geo *geo, mn_mesh_parts *p)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t f = 0; f < mn_geo_primitive_count(geo); f++) {
        const int64_t end = kinds[f] == MN_POLYGON ? starts[f + 1] : 0;
        for (int64_t v = starts[f] + 1; v + 1 < end; v++) {
            const int32_t t[3] = {(int32_t)points[starts[f]], (int32_t)points[v], (int32_t)points[v + 1]};
            for (int k = 0; k < 3; k++) MN_TRY(mn_array_push(ctx, &p->triangles, &t[k]));
        }
    }
    return MN_OK;
}

mn_status mn_mesh_parts_find(mn_context *ctx, const mn_geo *geo, const mn_triangles *mesh, mn_mesh_parts *p)
{
    const int64_t points = mn_geo_point_count(geo);
    MN_TRY(cut_fans(ctx, geo, p));
    MN_TRY(mn_array_resize(ctx, &p->part, points));
    MN_TRY(mn_array_resize(ctx, &p->positions, points));
    for (int64_t i = 0; i < points; i++) p->positions.data[i] = mn_geo_position(geo, i);
    return mn_triangles_parts(ctx, mesh, points, p->part.data, &p->count);
}

void mn_mesh_parts_free(mn_context *ctx, mn_mesh_parts *p)
{
    mn_array_free(ctx, &p->part);
    mn_array_free(ctx, &p->positions);
    mn_array_free(ctx, &p->triangles);
    mn_array_free(ctx, &p->picked);
    p->count = 0;
}

mn_status mn_mesh_parts_pick(mn_context *ctx, mn_mesh_parts *p, const int32_t *of, int32_t which,
                             mn_triangles **mesh)
{
    p->picked.count = 0;
    for (int64_t t = 0; t + 2 < p->triangles.count; t += 3) {
        const int32_t part = p->part.data[p->triangles.data[t]];
        if (part < 0 || of[part] != which) continue;
        for (int k = 0; k < 3; k++) MN_TRY(mn_array_push(ctx, &p->picked, &p->triangles.data[t + k]));
    }
    return mn_triangles_create(ctx, p->positions.count, p->positions.data, p->picked.count / 3,
                               (const int32_t(*)[3])p->picked.data, mesh);
}

static bool is_plate(const mn_triangles *mesh, double dx)
{
    const double area = mn_triangles_area(mesh), volume = fabs(mn_triangles_volume(mesh));
    const mn_box box = mn_triangles_bounds(mesh);
    const mn_vec3 e = mn_sub(box.max, box.min);
    const double thinnest = fmin(e.x, fmin(e.y, e.z));
    return 2 * volume < 2 * dx * area && (thinnest < 2 * dx || volume < LEAST_FILLED * e.x * e.y * e.z);
}

mn_status mn_mesh_parts_walls(mn_context *ctx, mn_mesh_parts *p, double dx, int32_t *wall)
{
    MN_ARRAY(int32_t) own = {0};
    mn_status status = mn_array_resize(ctx, &own, p->count);
    for (int32_t i = 0; status == MN_OK && i < p->count; i++) own.data[i] = i;
    for (int32_t i = 0; status == MN_OK && i < p->count; i++) {
        mn_triangles *mesh;
        status = mn_mesh_parts_pick(ctx, p, own.data, i, &mesh);
        if (status != MN_OK) break;
        wall[i] = !mn_triangles_is_closed(mesh) || is_plate(mesh, dx);
        mn_triangles_free(mesh);
    }
    mn_array_free(ctx, &own);
    return status;
}
