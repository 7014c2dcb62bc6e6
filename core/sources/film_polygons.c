// SPDX-License-Identifier: Apache-2.0
//
// Even points on any polygons, by dart throwing [cook1986]: random places on the triangles, each kept when no
// other is nearer than three quarters of the spacing, twenty tries for each point that fits. Free edges come
// first, at the spacing along them. Normals are those of the polygons, smoothed over their points.
#include "sources/film_samples.h"

#include "base/random.h"
#include "meniscus/stream.h"

#include <stdlib.h>

static const double LEAST_DISTANCE =
    0.75; // spacings: what is left when no more darts fit has a mean of about one
enum { TRIES = 20 };

typedef struct corner_value {
    mn_vec3 position, normal, velocity;
    double thickness;
} corner_value;

typedef struct mesh_edge {
    int32_t low, high;
} mesh_edge;

typedef struct placed {
    mn_vec3 position;
    int32_t point;
} placed;

/// Accepted darts in cells as large as their distance: at most a few each, chained.
typedef struct dart_board {
    mn_context *ctx;
    const mn_film_source_def *def;
    mn_film_source_sample_array *samples;
    double least;
    MN_ARRAY(int32_t) head; ///< by hash
    MN_ARRAY(int32_t) next; ///< of each sample
    MN_ARRAY(corner_value) corners;
    MN_ARRAY(int32_t) triangles; ///< three corners each
    MN_ARRAY(double) areas;      ///< summed up
    MN_ARRAY(mesh_edge) edges;
    MN_ARRAY(placed) places;
    MN_ARRAY(int32_t) first; ///< of each point: the lowest one in the same place
} dart_board;

static void free_board(dart_board *b)
{
    mn_array_free(b->ctx, &b->head);
    mn_array_free(b->ctx, &b->next);
    mn_array_free(b->ctx, &b->corners);
    mn_array_free(b->ctx, &b->triangles);
    mn_array_free(b->ctx, &b->areas);
    mn_array_free(b->ctx, &b->edges);
    mn_array_free(b->ctx, &b->places);
    mn_array_free(b->ctx, &b->first);
}

// ---- the polygons ----

static mn_status read_corners(dart_board *b)
{
    const mn_geo *geo = b->def->geo;
    const int64_t count = mn_geo_point_count(geo);
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    const mn_attribute *thickness = mn_geo_find_numeric(geo, MN_POINT, "thickness", 1);
    if (count > INT32_MAX) return mn_fail(b->ctx, MN_ERROR_UNSUPPORTED, "The polygons have too many points.");
    MN_TRY(mn_array_resize(b->ctx, &b->corners, count));
    for (int64_t i = 0; i < count; i++) {
        corner_value *c = &b->corners.data[i];
        *c = (corner_value){mn_geo_position(geo, i), {0, 0, 0}, b->def->velocity, b->def->thickness};
        if (v) mn_attribute_get(v, i, 1, &c->velocity.x);
        if (thickness) mn_attribute_get(thickness, i, 1, &c->thickness);
        if (!mn_is_finite3(c->position) || !mn_is_finite3(c->velocity) || !isfinite(c->thickness))
            return mn_fail(b->ctx, MN_ERROR_INPUT,
                           "Point %lld of the polygons has a value that is not finite.", (long long)i);
    }
    return MN_OK;
}

static int by_place(const void *first, const void *second)
{
    const placed *a = first, *b = second;
    const double d[3] = {a->position.x - b->position.x, a->position.y - b->position.y,
                         a->position.z - b->position.z};
    for (int i = 0; i < 3; i++)
        if (d[i] != 0) return d[i] < 0 ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

// Points in one place are one, so that seams are not edges.
static mn_status weld(dart_board *b)
{
    const int64_t count = b->corners.count;
    MN_TRY(mn_array_resize(b->ctx, &b->places, count));
    MN_TRY(mn_array_resize(b->ctx, &b->first, count));
    for (int64_t i = 0; i < count; i++) b->places.data[i] = (placed){b->corners.data[i].position, (int32_t)i};
    if (count > 0) qsort(b->places.data, (size_t)count, sizeof *b->places.data, by_place);
    for (int64_t i = 0, run = 0; i < count; i++) {
        if (mn_norm2(mn_sub(b->places.data[i].position, b->places.data[run].position)) > 0) run = i;
        b->first.data[b->places.data[i].point] = b->places.data[run].point;
    }
    return MN_OK;
}

static mn_vec3 twice_area(const dart_board *b, const int32_t *t)
{
    const corner_value *c = b->corners.data;
    return mn_cross(mn_sub(c[t[1]].position, c[t[0]].position), mn_sub(c[t[2]].position, c[t[0]].position));
}

static mn_status read_triangles(dart_board *b)
{
    const mn_geo *geo = b->def->geo;
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    double area = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        for (int64_t v = starts[p] + 1; kinds[p] == MN_POLYGON && v + 1 < starts[p + 1]; v++) {
            const int32_t t[3] = {b->first.data[points[starts[p]]], b->first.data[points[v]],
                                  b->first.data[points[v + 1]]};
            const mn_vec3 n = twice_area(b, t);
            for (int i = 0; i < 3; i++) {
                MN_TRY(mn_array_push(b->ctx, &b->triangles, &t[i]));
                b->corners.data[t[i]].normal = mn_add(b->corners.data[t[i]].normal, n);
            }
            area += 0.5 * mn_norm(n);
            MN_TRY(mn_array_push(b->ctx, &b->areas, &area));
        }
    const double s = b->def->spacing;
    if (!(area > 0))
        return mn_fail(b->ctx, MN_ERROR_INPUT, "The input has no polygons with an area to make a film of.");
    if (area / (s * s) > MN_CODIM_FILM_SAMPLE_LIMIT)
        return mn_fail(b->ctx, MN_ERROR_ARGUMENT,
                       "The film would have %.3g points; raise the spacing of %g m.", area / (s * s), s);
    for (int64_t i = 0; i < b->corners.count; i++)
        b->corners.data[i].normal = mn_normalize(b->corners.data[i].normal);
    return MN_OK;
}

// ---- darts ----

static int32_t *cell_head(const dart_board *b, int64_t x, int64_t y, int64_t z)
{
    const uint64_t h = mn_hash_u64(mn_hash_u64(mn_hash_u64(1, (uint64_t)x), (uint64_t)y), (uint64_t)z);
    return &b->head.data[h & (uint64_t)(b->head.count - 1)];
}

static bool is_free(const dart_board *b, mn_vec3 at)
{
    const int64_t x = (int64_t)floor(at.x / b->least), y = (int64_t)floor(at.y / b->least),
                  z = (int64_t)floor(at.z / b->least);
    for (int64_t k = 0; k < 27; k++)
        for (int32_t i = *cell_head(b, x + k / 9 - 1, y + k / 3 % 3 - 1, z + k % 3 - 1); i >= 0;
             i = b->next.data[i])
            if (mn_distance(b->samples->data[i].position, at) < b->least) return false;
    return true;
}

static mn_status throw_dart(dart_board *b, mn_film_source_sample sample)
{
    if (!is_free(b, sample.position)) return MN_OK;
    int32_t *head =
        cell_head(b, (int64_t)floor(sample.position.x / b->least),
                  (int64_t)floor(sample.position.y / b->least), (int64_t)floor(sample.position.z / b->least));
    MN_TRY(mn_array_push(b->ctx, &b->next, head));
    *head = (int32_t)b->samples->count;
    return mn_array_push(b->ctx, b->samples, &sample);
}

static mn_film_source_sample blend(const dart_board *b, const int32_t *t, const double *weight,
                                   int32_t corners)
{
    mn_film_source_sample s = {0};
    for (int32_t i = 0; i < corners; i++) {
        const corner_value *c = &b->corners.data[t[i]];
        s.position = mn_axpy(s.position, weight[i], c->position);
        s.normal = mn_axpy(s.normal, weight[i], c->normal);
        s.velocity = mn_axpy(s.velocity, weight[i], c->velocity);
        s.thickness += weight[i] * c->thickness;
    }
    s.normal = mn_normalize(s.normal);
    return s;
}

static mn_status sample_edge(dart_board *b, int32_t from, int32_t to)
{
    const int32_t t[2] = {from, to};
    const double length = mn_distance(b->corners.data[from].position, b->corners.data[to].position);
    const int64_t pieces = (int64_t)fmax(1, round(length / b->def->spacing));
    for (int64_t i = 0; i <= pieces; i++) {
        const double w[2] = {1 - (double)i / (double)pieces, (double)i / (double)pieces};
        mn_film_source_sample s = blend(b, t, w, 2);
        s.pinned = b->def->pin;
        MN_TRY(throw_dart(b, s));
    }
    return MN_OK;
}

static int by_ends(const void *first, const void *second)
{
    const mesh_edge *a = first, *b = second;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->high < b->high ? -1 : a->high > b->high;
}

// Edges that one triangle has: once in the sorted list.
static mn_status sample_free_edges(dart_board *b)
{
    for (int64_t i = 0; i < b->triangles.count; i++) {
        const int32_t p = b->triangles.data[i], q = b->triangles.data[i % 3 == 2 ? i - 2 : i + 1];
        const mesh_edge edge = {p < q ? p : q, p < q ? q : p};
        MN_TRY(mn_array_push(b->ctx, &b->edges, &edge));
    }
    const mesh_edge *e = b->edges.data;
    qsort(b->edges.data, (size_t)b->edges.count, sizeof *e, by_ends);
    for (int64_t i = 0; i < b->edges.count; i++) {
        const bool before = i > 0 && by_ends(&e[i - 1], &e[i]) == 0;
        const bool after = i + 1 < b->edges.count && by_ends(&e[i], &e[i + 1]) == 0;
        if (!before && !after && e[i].low != e[i].high) MN_TRY(sample_edge(b, e[i].low, e[i].high));
    }
    return MN_OK;
}

static mn_status sample_inside(dart_board *b)
{
    const int64_t triangles = b->areas.count;
    const double area = b->areas.data[triangles - 1], s = b->def->spacing;
    const int64_t darts = (int64_t)ceil(TRIES * area / (s * s));
    for (int64_t d = 0; d < darts; d++) {
        const mn_vec3 u = mn_random_unit3(b->def->seed, (uint64_t)d, 0);
        const double want = u.x * area;
        int64_t low = 0, high = triangles - 1;
        while (low < high) {
            const int64_t mid = (low + high) / 2;
            if (b->areas.data[mid] > want)
                high = mid;
            else
                low = mid + 1;
        }
        const double root = sqrt(u.y), w[3] = {1 - root, root * (1 - u.z), root * u.z};
        mn_film_source_sample sample = blend(b, &b->triangles.data[3 * low], w, 3);
        if (!(mn_norm2(sample.normal) > 0))
            sample.normal = mn_normalize(twice_area(b, &b->triangles.data[3 * low]));
        if ((d & 0xffff) == 0) MN_TRY(mn_check_cancelled(b->ctx));
        MN_TRY(throw_dart(b, sample));
    }
    return MN_OK;
}

static mn_status sample(dart_board *b)
{
    MN_TRY(read_corners(b));
    MN_TRY(weld(b));
    MN_TRY(read_triangles(b));
    const double s = b->def->spacing, count = 2 * b->areas.data[b->areas.count - 1] / (s * s);
    int64_t heads = 64;
    while ((double)heads < count) heads *= 2;
    MN_TRY(mn_array_resize(b->ctx, &b->head, heads));
    for (int64_t i = 0; i < heads; i++) b->head.data[i] = -1;
    MN_TRY(sample_free_edges(b));
    return sample_inside(b);
}

mn_status mn_film_source_polygons(mn_context *ctx, const mn_film_source_def *def,
                                  mn_film_source_sample_array *samples)
{
    if (!def->geo)
        return mn_fail(ctx, MN_ERROR_INPUT, "There are no polygons to make a film of; connect some.");
    dart_board board = {.ctx = ctx, .def = def, .samples = samples, .least = LEAST_DISTANCE * def->spacing};
    const mn_status status = sample(&board);
    free_board(&board);
    return status;
}
