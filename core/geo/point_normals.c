// SPDX-License-Identifier: Apache-2.0
//
// Smooth normals of polygons: the sum of the area vectors around a point, made a unit vector.
//
//   A = 1/2 sum_i (x_i - x_0) x (x_i+1 - x_0)          of one polygon, counter-clockwise from outside
//   N = sum A / |sum A|                                over the polygons at a point
#include "geo/point_normals.h"

static mn_vec3 area_vector(const mn_geo *geo, const int64_t *points, int64_t count)
{
    const mn_vec3 origin = mn_geo_position(geo, points[0]);
    mn_vec3 sum = {0, 0, 0};
    for (int64_t i = 1; i + 1 < count; i++)
        sum = mn_add(sum, mn_cross(mn_sub(mn_geo_position(geo, points[i]), origin),
                                   mn_sub(mn_geo_position(geo, points[i + 1]), origin)));
    return mn_scale(0.5, sum);
}

mn_status mn_geo_add_point_normals(mn_geo *geo)
{
    if (mn_geo_find(geo, MN_POINT, "N") || mn_geo_kind_count(geo, MN_POLYGON) == 0) return MN_OK;
    mn_context *ctx = mn_geo_context(geo);
    const int64_t count = mn_geo_point_count(geo);
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "N", MN_F32, 3, MN_HINT_NORMAL, &attribute));
    float *normals = mn_attribute_write(geo, attribute);
    const size_t bytes = (size_t)count * sizeof(mn_vec3);
    mn_vec3 *sums = mn_allocate_zero(ctx, bytes);
    if (!normals || !sums) {
        mn_release(ctx, sums, bytes);
        return MN_ERROR_MEMORY;
    }
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        if (mn_geo_primitive_kinds(geo)[i] != MN_POLYGON) continue;
        const mn_vec3 area = area_vector(geo, points + starts[i], starts[i + 1] - starts[i]);
        for (int64_t v = starts[i]; v < starts[i + 1]; v++) sums[points[v]] = mn_add(sums[points[v]], area);
    }
    for (int64_t i = 0; i < count; i++) {
        const double length = mn_norm(sums[i]);
        const mn_vec3 n = length > 0 ? mn_scale(1 / length, sums[i]) : sums[i];
        normals[3 * i] = (float)n.x;
        normals[3 * i + 1] = (float)n.y;
        normals[3 * i + 2] = (float)n.z;
    }
    mn_release(ctx, sums, bytes);
    return MN_OK;
}
