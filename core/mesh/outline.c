// SPDX-License-Identifier: Apache-2.0
//
// The outline of a mesh: its open edges and its creases.
//
//   an edge with one face                      open
//   an edge with two faces, n0 . n1 < cos c    a crease of more than c degrees
//   an edge with three faces or more           where sheets meet
//
// Faces are compared by their area vectors (Newell's), so that they need not be flat. Every face's edges are
// listed and sorted by their ends: the faces of an edge then stand side by side.
#include "base/elementary.h"
#include "meniscus/array.h"
#include "mesh/mesh_lines.h"
#include "tetmesh/geo.h"

#include <stdlib.h>

typedef struct side {
    int64_t low, high, face; ///< points, low < high
} side;
typedef MN_ARRAY(side) side_array;
typedef MN_ARRAY(int64_t) end_array;

static int by_ends(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

// sum of x_i x x_(i+1) / 2, seen from the first corner
static mn_vec3 area_vector(const mn_geo *geo, int64_t face)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const mn_vec3 origin = mn_geo_position(geo, points[starts[face]]);
    mn_vec3 sum = {0, 0, 0};
    for (int64_t v = starts[face] + 1; v + 1 < starts[face + 1]; v++) {
        const mn_vec3 a = mn_sub(mn_geo_position(geo, points[v]), origin);
        const mn_vec3 b = mn_sub(mn_geo_position(geo, points[v + 1]), origin);
        sum = mn_add(sum, mn_scale(0.5, mn_cross(a, b)));
    }
    return sum;
}

static mn_status list_sides(const mn_geo *geo, side_array *sides)
{
    mn_context *ctx = mn_geo_context(geo);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t f = 0; f < mn_geo_primitive_count(geo); f++)
        for (int64_t v = starts[f]; kinds[f] == MN_POLYGON && v < starts[f + 1]; v++) {
            const int64_t a = points[v], b = points[v + 1 < starts[f + 1] ? v + 1 : starts[f]];
            const side s = {a < b ? a : b, a < b ? b : a, f};
            if (a != b) MN_TRY(mn_array_push(ctx, sides, &s));
        }
    if (sides->count > 0) qsort(sides->data, (size_t)sides->count, sizeof *sides->data, by_ends);
    return MN_OK;
}

// The faces of one edge, [s, s + count): is it to be drawn?
static bool stands_out(const mn_geo *geo, const side *s, int64_t count, double least_cosine)
{
    if (count != 2) return true;
    const mn_vec3 a = mn_normalize(area_vector(geo, s[0].face)),
                  b = mn_normalize(area_vector(geo, s[1].face));
    return mn_dot(a, b) < least_cosine;
}

static mn_status collect_edges(const mn_geo *geo, const side_array *sides, double least_cosine,
                               end_array *ends)
{
    mn_context *ctx = mn_geo_context(geo);
    for (int64_t i = 0, end; i < sides->count; i = end) {
        const side *s = sides->data + i;
        for (end = i + 1;
             end < sides->count && sides->data[end].low == s->low && sides->data[end].high == s->high;)
            end++;
        if (!stands_out(geo, s, end - i, least_cosine)) continue;
        MN_TRY(mn_array_push(ctx, ends, &s->low));
        MN_TRY(mn_array_push(ctx, ends, &s->high));
    }
    return MN_OK;
}

// The points of the geometry that `ends` uses, and its lines.
static mn_status add_edges(const mn_geo *geo, const end_array *ends, mn_geo *lines)
{
    mn_context *ctx = mn_geo_context(geo);
    end_array place = {0}, used = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &place, mn_geo_point_count(geo)));
    for (int64_t i = 0; i < place.count; i++) place.data[i] = -1;
    int64_t first = 0, count = 0;
    for (int64_t i = 0; i < ends->count; i++)
        if (place.data[ends->data[i]] < 0) place.data[ends->data[i]] = count++;
    MN_TRY_TO(done, status, mn_geo_add_points(lines, count, &first));
    float *to = mn_geo_write_positions(lines);
    for (int64_t i = 0; to && i < place.count; i++) {
        if (place.data[i] < 0) continue;
        const float *from = mn_geo_positions(geo) + 3 * i;
        for (int k = 0; k < 3; k++) to[3 * (first + place.data[i]) + k] = from[k];
    }
    if (count > 0 && !to) status = MN_ERROR_MEMORY;
    if (status != MN_OK) goto done;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &used, ends->count));
    for (int64_t i = 0; i < ends->count; i++) used.data[i] = first + place.data[ends->data[i]];
    status = mn_geo_add_primitives(lines, MN_POLYLINE, ends->count / 2, NULL, 2, used.data, NULL);
done:
    mn_array_free(ctx, &place);
    mn_array_free(ctx, &used);
    return status;
}

static mn_status add_polygons(const mn_geo *geo, double crease, mn_geo *lines)
{
    mn_context *ctx = mn_geo_context(geo);
    const double pi = MN_PI;
    side_array sides = {0};
    end_array ends = {0};
    mn_status status;
    MN_TRY_TO(done, status, list_sides(geo, &sides));
    MN_TRY_TO(done, status, collect_edges(geo, &sides, mn_cos(crease * pi / 180), &ends));
    if (ends.count == 0) MN_TRY_TO(done, status, collect_edges(geo, &sides, 2, &ends)); // every edge
    status = ends.count > 0 ? add_edges(geo, &ends, lines) : MN_OK;
done:
    mn_array_free(ctx, &sides);
    mn_array_free(ctx, &ends);
    return status;
}

static mn_status add_polylines(const mn_geo *geo, mn_geo *lines)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    mn_context *ctx = mn_geo_context(geo);
    end_array ends = {0};
    mn_status status = MN_OK;
    for (int64_t f = 0; status == MN_OK && f < mn_geo_primitive_count(geo); f++)
        for (int64_t v = starts[f]; status == MN_OK && kinds[f] == MN_POLYLINE && v + 1 < starts[f + 1];
             v++) {
            status = mn_array_push(ctx, &ends, &points[v]);
            if (status == MN_OK) status = mn_array_push(ctx, &ends, &points[v + 1]);
        }
    if (status == MN_OK && ends.count > 0) status = add_edges(geo, &ends, lines);
    mn_array_free(ctx, &ends);
    return status;
}

static mn_status add_tetrahedra(const mn_geo *geo, double crease, mn_geo *lines)
{
    mn_tet_mesh *mesh = NULL;
    mn_geo *skin = NULL;
    mn_tet_repairs repairs;
    mn_status status = mn_tet_mesh_from_geo(geo, true, &mesh, &repairs);
    if (status == MN_OK) status = mn_tet_mesh_boundary_to_geo(mesh, NULL, &skin);
    if (status == MN_OK) status = add_polygons(skin, crease, lines);
    mn_geo_free(skin);
    mn_tet_mesh_free(mesh);
    return status;
}

mn_status mn_mesh_outline(const mn_geo *geo, double crease, mn_geo **lines)
{
    *lines = NULL;
    mn_geo *made;
    MN_TRY(mn_geo_create(mn_geo_context(geo), &made));
    mn_status status = add_polygons(geo, crease, made);
    if (status == MN_OK) status = add_polylines(geo, made);
    if (status == MN_OK && mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0)
        status = add_tetrahedra(geo, crease, made);
    if (status == MN_OK)
        *lines = made;
    else
        mn_geo_free(made);
    return status;
}
