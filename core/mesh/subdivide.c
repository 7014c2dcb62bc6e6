// SPDX-License-Identifier: Apache-2.0
//
// Loop subdivision [loop1987] of triangles:
//
//   edge    3/8 (a + b) + 1/8 (c + d)        a, b its ends, c, d opposite; on an open edge 1/2 (a + b)
//   vertex  (1 - n beta) v + beta sum of its n neighbours,  beta = 3/16 for n = 3, else 3/(8 n);
//           on an open edge 3/4 v + 1/8 (a + b)
//
// The limit surface of a convex mesh lies inside it, so volume is lost: afterwards each part moves along its
// vertex normals by (V0 - V) / A, repeated until the volume is that of the input to rounding. Everything that
// is blended is kept as one row of numbers for each point, positions first.
#include "mesh/subdivide.h"

#include "meniscus/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct triangle {
    int32_t v[3];
    int32_t source; ///< primitive of the input
} triangle;

typedef struct side {
    int32_t low, high, triangle, corner; ///< corner is opposite
} side;

typedef struct subdivider {
    mn_context *ctx;
    const mn_geo *geo;
    int32_t width;             ///< numbers in a row
    MN_ARRAY(double) rows;     ///< of all points
    MN_ARRAY(int32_t) parents; ///< per point: point of the input that gives what cannot be blended
    MN_ARRAY(triangle) triangles;
    MN_ARRAY(side) sides;
    MN_ARRAY(double) next; ///< rows of the next level
    MN_ARRAY(int32_t) degree;
    MN_ARRAY(triangle) fresh;
    MN_ARRAY(int32_t) middle; ///< per triangle and corner: new point on the edge opposite
} subdivider;

static bool is_blended(const mn_attribute *a)
{
    return mn_attribute_type(a) == MN_F32 || mn_attribute_type(a) == MN_F64;
}

// ---- in ----

static mn_status read_points(subdivider *s)
{
    const int64_t count = mn_geo_point_count(s->geo);
    for (int32_t i = 0; i < mn_geo_attribute_count(s->geo, MN_POINT); i++) {
        const mn_attribute *a = mn_geo_attribute_at(s->geo, MN_POINT, i);
        if (is_blended(a)) s->width += mn_attribute_size(a);
    }
    MN_TRY(mn_array_resize(s->ctx, &s->rows, count * s->width));
    MN_TRY(mn_array_resize(s->ctx, &s->parents, count));
    for (int32_t p = 0; p < count; p++) {
        if (p % 65536 == 0) MN_TRY(mn_check_cancelled(s->ctx));
        double *row = &s->rows.data[(int64_t)p * s->width];
        s->parents.data[p] = p;
        for (int32_t i = 0; i < mn_geo_attribute_count(s->geo, MN_POINT); i++) {
            const mn_attribute *a = mn_geo_attribute_at(s->geo, MN_POINT, i);
            if (!is_blended(a)) continue;
            mn_attribute_get(a, p, 1, row);
            row += mn_attribute_size(a);
        }
    }
    return MN_OK;
}

static mn_status read_triangles(subdivider *s)
{
    const int64_t *starts = mn_geo_primitive_starts(s->geo), *points = mn_geo_vertex_points(s->geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(s->geo); p++) {
        if (mn_geo_primitive_kinds(s->geo)[p] != MN_POLYGON || starts[p + 1] - starts[p] != 3)
            return mn_fail(s->ctx, MN_ERROR_INPUT,
                           "primitive %lld is not a triangle; only triangles can be subdivided",
                           (long long)p);
        triangle t = {.source = (int32_t)p};
        for (int32_t c = 0; c < 3; c++) t.v[c] = (int32_t)points[starts[p] + c];
        MN_TRY(mn_array_push(s->ctx, &s->triangles, &t));
    }
    return MN_OK;
}

// ---- one level ----

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static mn_status list_sides(subdivider *s)
{
    s->sides.count = 0;
    for (int32_t t = 0; t < s->triangles.count; t++) {
        if (t % 65536 == 0) MN_TRY(mn_check_cancelled(s->ctx));
        for (int32_t c = 0; c < 3; c++) {
            const int32_t a = s->triangles.data[t].v[(c + 1) % 3], b = s->triangles.data[t].v[(c + 2) % 3];
            const side edge = {a < b ? a : b, a < b ? b : a, t, c};
            MN_TRY(mn_array_push(s->ctx, &s->sides, &edge));
        }
    }
    MN_TRY(mn_check_cancelled(s->ctx));
    if (s->sides.count) qsort(s->sides.data, (size_t)s->sides.count, sizeof *s->sides.data, compare_sides);
    return MN_OK;
}

static int64_t run_end(const subdivider *s, int64_t begin)
{
    int64_t end = begin;
    while (end < s->sides.count && s->sides.data[end].low == s->sides.data[begin].low &&
           s->sides.data[end].high == s->sides.data[begin].high)
        end++;
    return end;
}

static void add_row(subdivider *s, int64_t to, double weight, int64_t from)
{
    for (int32_t k = 0; k < s->width; k++)
        s->next.data[to * s->width + k] += weight * s->rows.data[from * s->width + k];
}

/// Old points to their new places. An edge with two triangles joins neighbours inside, any other is open.
static mn_status move_old(subdivider *s, int64_t points)
{
    MN_TRY(mn_array_resize(s->ctx, &s->degree, 2 * points));
    int32_t *inside = s->degree.data, *open = inside + points;
    memset(inside, 0, mn_bytes(2 * points, sizeof *inside));
    for (int64_t i = 0, end; i < s->sides.count; i = end) {
        end = run_end(s, i);
        int32_t *degree = end - i == 2 ? inside : open;
        degree[s->sides.data[i].low]++, degree[s->sides.data[i].high]++;
    }
    for (int64_t i = 0, end; i < s->sides.count; i = end) {
        end = run_end(s, i);
        const int32_t ends[2] = {s->sides.data[i].low, s->sides.data[i].high};
        for (int32_t e = 0; e < 2; e++) {
            const int32_t v = ends[e], n = inside[v];
            if (open[v] == 2 && end - i != 2) add_row(s, v, 0.125, ends[1 - e]);
            if (open[v] == 0) add_row(s, v, n == 3 ? 3.0 / 16 : 3.0 / (8 * n), ends[1 - e]);
        }
    }
    for (int64_t v = 0; v < points; v++) {
        const int32_t n = inside[v];
        add_row(s, v, open[v] == 2 ? 0.75 : open[v] || n == 0 ? 1 : n == 3 ? 1 - 9.0 / 16 : 0.625, v);
    }
    return MN_OK;
}

static mn_status refine(subdivider *s)
{
    const int64_t points = s->parents.count;
    int64_t edges = 0;
    MN_TRY(list_sides(s));
    for (int64_t i = 0; i < s->sides.count; i = run_end(s, i)) edges++;
    if ((points + edges) * s->width > INT32_MAX)
        return mn_fail(s->ctx, MN_ERROR_ARGUMENT, "the subdivided surface is too large; use fewer levels");
    MN_TRY(mn_array_resize(s->ctx, &s->next, (points + edges) * s->width));
    memset(s->next.data, 0, mn_bytes(s->next.count, sizeof *s->next.data));
    MN_TRY(mn_array_resize(s->ctx, &s->middle, 3 * s->triangles.count));
    MN_TRY(mn_array_resize(s->ctx, &s->parents, points + edges));
    int64_t fresh = points;
    for (int64_t i = 0, end; i < s->sides.count; i = end, fresh++) {
        if (fresh % 65536 == 0) MN_TRY(mn_check_cancelled(s->ctx));
        end = run_end(s, i);
        const bool inside = end - i == 2;
        add_row(s, fresh, inside ? 0.375 : 0.5, s->sides.data[i].low);
        add_row(s, fresh, inside ? 0.375 : 0.5, s->sides.data[i].high);
        for (int64_t j = i; j < end; j++) {
            const side *edge = &s->sides.data[j];
            if (inside) add_row(s, fresh, 0.125, s->triangles.data[edge->triangle].v[edge->corner]);
            s->middle.data[3 * (int64_t)edge->triangle + edge->corner] = (int32_t)fresh;
        }
        s->parents.data[fresh] = s->parents.data[s->sides.data[i].low];
    }
    MN_TRY(mn_check_cancelled(s->ctx));
    MN_TRY(move_old(s, points));
    MN_TRY(mn_check_cancelled(s->ctx));
    s->fresh.count = 0;
    for (int64_t t = 0; t < s->triangles.count; t++) {
        const triangle old = s->triangles.data[t];
        const int32_t *m = &s->middle.data[3 * t];
        const triangle four[4] = {{{old.v[0], m[2], m[1]}, old.source},
                                  {{m[2], old.v[1], m[0]}, old.source},
                                  {{m[1], m[0], old.v[2]}, old.source},
                                  {{m[0], m[1], m[2]}, old.source}};
        for (int32_t i = 0; i < 4; i++) MN_TRY(mn_array_push(s->ctx, &s->fresh, &four[i]));
    }
    MN_TRY(mn_array_resize(s->ctx, &s->triangles, s->fresh.count));
    memcpy(s->triangles.data, s->fresh.data, mn_bytes(s->fresh.count, sizeof *s->fresh.data));
    MN_TRY(mn_array_resize(s->ctx, &s->rows, s->next.count));
    memcpy(s->rows.data, s->next.data, mn_bytes(s->next.count, sizeof *s->next.data));
    return MN_OK;
}

// ---- volume ----

static mn_vec3 place(const subdivider *s, int64_t point)
{
    const double *row = &s->rows.data[point * s->width];
    return mn_v3(row[0], row[1], row[2]);
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/// parts[point]: the point that names its connected part.
static void find_parts(const subdivider *s, int32_t *parts)
{
    for (int32_t p = 0; p < s->parents.count; p++) parts[p] = p;
    for (int64_t t = 0; t < s->triangles.count; t++)
        for (int32_t c = 1; c < 3; c++) {
            const int32_t a = root_of(parts, s->triangles.data[t].v[0]),
                          b = root_of(parts, s->triangles.data[t].v[c]);
            parts[a > b ? a : b] = a > b ? b : a;
        }
    for (int32_t p = 0; p < s->parents.count; p++) parts[p] = root_of(parts, p);
}

/// Volume and area of each part, at the point that names it, and the area normals of points (may be NULL).
static void measure(const subdivider *s, const int32_t *parts, double *volume, double *area, mn_vec3 *normals)
{
    for (int64_t t = 0; t < s->triangles.count; t++) {
        const int32_t *v = s->triangles.data[t].v;
        const mn_vec3 o = place(s, parts[v[0]]);
        const mn_vec3 a = mn_sub(place(s, v[0]), o), b = mn_sub(place(s, v[1]), o),
                      c = mn_sub(place(s, v[2]), o);
        const mn_vec3 n = mn_scale(0.5, mn_cross(mn_sub(b, a), mn_sub(c, a)));
        volume[parts[v[0]]] += mn_dot(a, mn_cross(b, c)) / 6;
        area[parts[v[0]]] += mn_norm(n);
        for (int32_t k = 0; normals && k < 3; k++) normals[v[k]] = mn_add(normals[v[k]], n);
    }
}

/// Moves each part out or in until it has the volume that `wanted` says at the point that names it; the
/// names are points of the input, which keep their numbers.
static mn_status restore_volume(subdivider *s, const int32_t *parts, const double *wanted)
{
    enum { STEPS = 6 };
    const int64_t count = s->parents.count;
    const size_t d_bytes = mn_bytes(2 * count, sizeof(double)), n_bytes = mn_bytes(count, sizeof(mn_vec3));
    double *volume = mn_allocate(s->ctx, d_bytes), *area = volume + count;
    mn_vec3 *normals = mn_allocate(s->ctx, n_bytes);
    mn_status status = (volume || !d_bytes) && (normals || !n_bytes) ? MN_OK : MN_ERROR_MEMORY;
    for (int32_t step = 0; step < STEPS && status == MN_OK && count > 0; step++) {
        status = mn_check_cancelled(s->ctx);
        memset(volume, 0, d_bytes);
        memset(normals, 0, n_bytes);
        measure(s, parts, volume, area, normals);
        for (int64_t p = 0; p < count; p++) {
            const int32_t part = parts[p];
            const double by = (wanted[part] - volume[part]) / area[part];
            const mn_vec3 n = mn_normalize(normals[p]);
            if (!isfinite(by) || !mn_is_finite3(n)) continue;
            double *row = &s->rows.data[p * s->width];
            row[0] += by * n.x, row[1] += by * n.y, row[2] += by * n.z;
        }
    }
    mn_release(s->ctx, volume, d_bytes);
    mn_release(s->ctx, normals, n_bytes);
    return status;
}

// ---- out ----

static mn_status copy_element(mn_geo *to, mn_attribute *a, int64_t at, const mn_attribute *from,
                              int64_t element)
{
    double values[64];
    if (mn_attribute_type(from) == MN_STRING) {
        for (int32_t k = 0; k < mn_attribute_size(from); k++)
            MN_TRY(mn_attribute_set_string(to, a, at, k, mn_attribute_string(from, element, k)));
        return MN_OK;
    }
    mn_attribute_get(from, element, 1, values);
    return mn_attribute_set(to, a, at, 1, values);
}

static mn_status write_attributes(const subdivider *s, mn_owner owner, mn_geo *geo)
{
    int32_t column = 0;
    for (int32_t i = 0; i < mn_geo_attribute_count(s->geo, owner); i++) {
        const mn_attribute *from = mn_geo_attribute_at(s->geo, owner, i);
        const bool blended = owner == MN_POINT && is_blended(from);
        mn_attribute *a;
        MN_TRY(mn_check_cancelled(s->ctx));
        MN_TRY(mn_geo_add_attribute(geo, owner, mn_attribute_name(from), mn_attribute_type(from),
                                    mn_attribute_size(from), mn_attribute_hint(from), &a));
        for (int64_t e = 0; e < mn_geo_count(geo, owner); e++) {
            if (blended)
                MN_TRY(mn_attribute_set(geo, a, e, 1, &s->rows.data[e * s->width + column]));
            else
                MN_TRY(copy_element(geo, a, e, from,
                                    owner == MN_POINT       ? s->parents.data[e]
                                    : owner == MN_PRIMITIVE ? s->triangles.data[e].source
                                                            : 0));
        }
        if (blended) column += mn_attribute_size(from);
    }
    return MN_OK;
}

static mn_status write_geo(const subdivider *s, mn_geo *geo)
{
    MN_ARRAY(int64_t) corners = {0};
    mn_status status = MN_OK;
    for (int64_t t = 0; t < s->triangles.count; t++)
        for (int32_t c = 0; c < 3; c++) {
            const int64_t point = s->triangles.data[t].v[c];
            MN_TRY_TO(done, status, mn_array_push(s->ctx, &corners, &point));
        }
    MN_TRY_TO(done, status, mn_geo_add_points(geo, s->parents.count, NULL));
    MN_TRY_TO(done, status,
              mn_geo_add_primitives(geo, MN_POLYGON, s->triangles.count, NULL, 3, corners.data, NULL));
    MN_TRY_TO(done, status, write_attributes(s, MN_POINT, geo));
    MN_TRY_TO(done, status, write_attributes(s, MN_PRIMITIVE, geo));
    status = write_attributes(s, MN_DETAIL, geo);
done:
    mn_array_free(s->ctx, &corners);
    return status;
}

static mn_status subdivide(subdivider *s, int32_t levels, mn_geo *geo)
{
    MN_TRY(read_points(s));
    MN_TRY(read_triangles(s));
    const int64_t count = s->parents.count;
    const size_t d_bytes = mn_bytes(2 * count, sizeof(double));
    double *wanted = mn_allocate_zero(s->ctx, d_bytes);
    MN_ARRAY(int32_t) parts = {0};
    mn_status status = wanted || !d_bytes ? MN_OK : MN_ERROR_MEMORY;
    if (status == MN_OK) status = mn_array_resize(s->ctx, &parts, count);
    if (status != MN_OK) goto done;
    find_parts(s, parts.data);
    MN_TRY_TO(done, status, mn_check_cancelled(s->ctx));
    measure(s, parts.data, wanted, wanted + count, NULL);
    for (int32_t level = 0; level < levels; level++) MN_TRY_TO(done, status, refine(s));
    if (levels > 0) {
        // The lowest number of a part stays the lowest, since new points come after the old.
        MN_TRY_TO(done, status, mn_array_resize(s->ctx, &parts, s->parents.count));
        find_parts(s, parts.data);
        MN_TRY_TO(done, status, restore_volume(s, parts.data, wanted));
    }
    status = write_geo(s, geo);
done:
    mn_release(s->ctx, wanted, d_bytes);
    mn_array_free(s->ctx, &parts);
    return status;
}

mn_status mn_geo_subdivide(const mn_geo *geo, int32_t levels, mn_geo **result)
{
    mn_context *ctx = mn_geo_context(geo);
    subdivider s = {.ctx = ctx, .geo = geo};
    *result = NULL;
    if (levels < 0 || levels > 6)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%d levels of subdivision; use 0 to 6", levels);
    mn_geo *out;
    MN_TRY(mn_geo_create(ctx, &out));
    const mn_status status = subdivide(&s, levels, out);
    mn_array_free(ctx, &s.rows);
    mn_array_free(ctx, &s.parents);
    mn_array_free(ctx, &s.triangles);
    mn_array_free(ctx, &s.sides);
    mn_array_free(ctx, &s.next);
    mn_array_free(ctx, &s.degree);
    mn_array_free(ctx, &s.fresh);
    mn_array_free(ctx, &s.middle);
    if (status == MN_OK)
        *result = out;
    else
        mn_geo_free(out);
    return status;
}
