// SPDX-License-Identifier: Apache-2.0
//
// Marching triangles: the line on a mesh at which a number per point passes a level.
//
// An edge whose ends lie on either side is cut at
//
//   x = a + (level - f_a) / (f_b - f_a) (b - a),
//
// and a triangle has two such edges or none. The two triangles of an edge cut it at the same point: cuts are
// sorted by the ends of their edges, and equal ones become one.
#include "meniscus/array.h"
#include "mesh/mesh_lines.h"

#include <stdlib.h>

typedef struct cut {
    int64_t low, high; ///< the edge's ends, low < high
    int64_t number;    ///< of the cut: pieces are 2 i and 2 i + 1
} cut;
typedef MN_ARRAY(cut) cut_array;

static int by_ends(const void *a, const void *b)
{
    const cut *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static mn_status cut_triangle(mn_context *ctx, const int64_t corner[3], const double *values, double level,
                              cut_array *cuts)
{
    cut found[3];
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t a = corner[k], b = corner[(k + 1) % 3];
        if (!isfinite(values[a])) return MN_OK;
        if ((values[a] < level) == (values[b] < level)) continue;
        found[count++] = (cut){a < b ? a : b, a < b ? b : a, 0};
    }
    if (count != 2) return MN_OK;
    for (int k = 0; k < 2; k++) {
        found[k].number = cuts->count;
        MN_TRY(mn_array_push(ctx, cuts, &found[k]));
    }
    return MN_OK;
}

static mn_status cut_polygons(const mn_geo *geo, const double *values, double level, cut_array *cuts)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t f = 0; f < mn_geo_primitive_count(geo); f++)
        for (int64_t v = starts[f] + 1; kinds[f] == MN_POLYGON && v + 1 < starts[f + 1]; v++) {
            const int64_t corner[3] = {points[starts[f]], points[v], points[v + 1]};
            MN_TRY(cut_triangle(mn_geo_context(geo), corner, values, level, cuts));
        }
    return MN_OK;
}

static mn_vec3 place_of(const mn_geo *geo, const cut *c, const double *values, double level)
{
    const double a = values[c->low], b = values[c->high];
    return mn_lerp(mn_geo_position(geo, c->low), mn_geo_position(geo, c->high), (level - a) / (b - a));
}

static mn_status add_line(const mn_geo *geo, cut_array *cuts, const double *values, double level,
                          mn_geo *lines)
{
    mn_context *ctx = mn_geo_context(geo);
    if (cuts->count == 0) return MN_OK;
    qsort(cuts->data, (size_t)cuts->count, sizeof *cuts->data, by_ends);
    MN_ARRAY(int64_t) ends = {0};
    mn_status status;
    int64_t points = 0;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &ends, cuts->count));
    for (int64_t i = 0; i < cuts->count; i++) {
        const cut *c = cuts->data + i;
        if (i == 0 || c->low != c[-1].low || c->high != c[-1].high) points++;
        ends.data[c->number] = points - 1;
    }
    MN_TRY_TO(done, status, mn_geo_add_points(lines, points, NULL));
    float *to = mn_geo_write_positions(lines);
    if (!to) status = MN_ERROR_MEMORY;
    if (status != MN_OK) goto done;
    for (int64_t i = 0; i < cuts->count; i++) {
        const mn_vec3 x = place_of(geo, &cuts->data[i], values, level);
        float *p = to + 3 * ends.data[cuts->data[i].number];
        p[0] = (float)x.x, p[1] = (float)x.y, p[2] = (float)x.z;
    }
    status = mn_geo_add_primitives(lines, MN_POLYLINE, cuts->count / 2, NULL, 2, ends.data, NULL);
done:
    mn_array_free(ctx, &ends);
    return status;
}

mn_status mn_mesh_level_line(const mn_geo *geo, const double *values, double level, mn_geo **lines)
{
    mn_context *ctx = mn_geo_context(geo);
    *lines = NULL;
    cut_array cuts = {0};
    mn_geo *made;
    MN_TRY(mn_geo_create(ctx, &made));
    mn_status status = cut_polygons(geo, values, level, &cuts);
    if (status == MN_OK) status = add_line(geo, &cuts, values, level, made);
    mn_array_free(ctx, &cuts);
    if (status == MN_OK)
        *lines = made;
    else
        mn_geo_free(made);
    return status;
}
