// SPDX-License-Identifier: Apache-2.0
//
// Films and frames out of geometry (film_input.h).
#include "nodes/film_input.h"

#include "nodes/columns.h"

#include <stdlib.h>

static mn_status push_edge(mn_context *ctx, mn_frame_input *input, int64_t a, int64_t b)
{
    const int32_t edge[2] = {(int32_t)(a < b ? a : b), (int32_t)(a < b ? b : a)};
    if (a == b) return MN_OK;
    for (int k = 0; k < 2; k++) MN_TRY(mn_array_push(ctx, &input->edges, &edge[k]));
    return MN_OK;
}

static int by_ends(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Neighbouring polygons share their edges: each wire once.
static void keep_each_once(mn_frame_input *input)
{
    int32_t *e = input->edges.data;
    int64_t kept = 0;
    const int64_t count = input->edges.count / 2;
    if (count > 1) qsort(e, (size_t)count, 2 * sizeof *e, by_ends);
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && e[2 * kept - 2] == e[2 * i] && e[2 * kept - 1] == e[2 * i + 1]) continue;
        e[2 * kept] = e[2 * i], e[2 * kept + 1] = e[2 * i + 1];
        kept++;
    }
    input->edges.count = 2 * kept;
}

mn_status mn_frame_input_read(mn_context *ctx, const mn_geo *geo, mn_frame_input *input)
{
    input->points.count = input->edges.count = 0;
    input->frame = (mn_film_frame){0};
    if (!geo) return MN_OK;
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    MN_TRY(mn_array_resize(ctx, &input->points, mn_geo_point_count(geo)));
    for (int64_t i = 0; i < input->points.count; i++) input->points.data[i] = mn_geo_position(geo, i);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        if (kinds[p] != MN_POLYGON && kinds[p] != MN_POLYLINE) continue;
        for (int64_t v = starts[p]; v + 1 < starts[p + 1]; v++)
            MN_TRY(push_edge(ctx, input, points[v], points[v + 1]));
        if (kinds[p] == MN_POLYGON)
            MN_TRY(push_edge(ctx, input, points[starts[p + 1] - 1], points[starts[p]]));
    }
    keep_each_once(input);
    input->frame = (mn_film_frame){input->points.count, input->points.data, input->edges.count / 2,
                                   (const int32_t(*)[2])input->edges.data};
    return MN_OK;
}

void mn_frame_input_free(mn_context *ctx, mn_frame_input *input)
{
    mn_array_free(ctx, &input->points);
    mn_array_free(ctx, &input->edges);
}

typedef struct film_arrays {
    MN_ARRAY(mn_vec3) positions;
    mn_vec3_array velocities, slides;
    MN_ARRAY(double) thickness, min_thickness;
    MN_ARRAY(uint8_t) pinned;
    MN_ARRAY(int32_t) triangles, regions, segments, tets;
} film_arrays;

static mn_status read_elements(const mn_cook *cook, const mn_geo *geo, film_arrays *a, bool *labelled)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    const mn_attribute *region = mn_geo_find_numeric(geo, MN_PRIMITIVE, "region", 2);
    *labelled = region != NULL;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        double pair[2] = {0, 0};
        if (region) mn_attribute_get(region, p, 1, pair);
        for (int64_t v = starts[p]; kinds[p] == MN_POLYLINE && v + 1 < starts[p + 1]; v++)
            for (int k = 0; k < 2; k++) {
                const int32_t end = (int32_t)points[v + k];
                MN_TRY(mn_array_push(cook->ctx, &a->segments, &end));
            }
        for (int64_t v = starts[p]; kinds[p] == MN_TETRAHEDRON && v < starts[p + 1]; v++) {
            const int32_t corner = (int32_t)points[v];
            MN_TRY(mn_array_push(cook->ctx, &a->tets, &corner));
        }
        for (int64_t v = starts[p] + 1; kinds[p] == MN_POLYGON && v + 1 < starts[p + 1]; v++) {
            const int32_t corner[3] = {(int32_t)points[starts[p]], (int32_t)points[v],
                                       (int32_t)points[v + 1]};
            for (int k = 0; k < 3; k++) MN_TRY(mn_array_push(cook->ctx, &a->triangles, &corner[k]));
            for (int k = 0; k < 2; k++) {
                const int32_t label = (int32_t)pair[k];
                MN_TRY(mn_array_push(cook->ctx, &a->regions, &label));
            }
        }
    }
    return MN_OK;
}

static mn_status read_points(const mn_cook *cook, const mn_geo *geo, film_arrays *a, mn_film_source *source)
{
    mn_context *ctx = cook->ctx;
    const int64_t n = mn_geo_point_count(geo);
    MN_TRY(mn_array_resize(ctx, &a->positions, n));
    for (int64_t i = 0; i < n; i++) a->positions.data[i] = mn_geo_position(geo, i);
    MN_TRY(mn_column_read_vec3(ctx, geo, "v", &a->velocities, &source->velocities));
    MN_TRY(mn_column_read_vec3(ctx, geo, "slide", &a->slides, &source->slides));
    if (mn_geo_find_numeric(geo, MN_POINT, "thickness", 1)) {
        MN_TRY(mn_array_resize(ctx, &a->thickness, n));
        for (int64_t i = 0; i < n; i++) a->thickness.data[i] = mn_column_number(geo, "thickness", i, 0);
        source->thickness = a->thickness.data;
    }
    if (mn_geo_find_numeric(geo, MN_POINT, "min_thickness", 1)) {
        MN_TRY(mn_array_resize(ctx, &a->min_thickness, n));
        for (int64_t i = 0; i < n; i++)
            a->min_thickness.data[i] = mn_column_number(geo, "min_thickness", i, 0);
        source->min_thickness = a->min_thickness.data;
    }
    if (mn_geo_find_numeric(geo, MN_POINT, "pinned", 1)) {
        MN_TRY(mn_array_resize(ctx, &a->pinned, n));
        for (int64_t i = 0; i < n; i++) a->pinned.data[i] = mn_column_number(geo, "pinned", i, 0) > 0.5;
        source->pinned = a->pinned.data;
    }
    source->point_count = n;
    source->positions = a->positions.data;
    return MN_OK;
}

// Points that mls_solver would take for film or threads are drops here, for want of triangles and polylines.
static mn_status refuse_loose_film(const mn_cook *cook, const mn_geo *geo)
{
    if (!mn_geo_find_numeric(geo, MN_POINT, "codim", 1)) return MN_OK;
    MN_ARRAY(uint8_t) used = {0};
    MN_TRY(mn_array_resize(cook->ctx, &used, mn_geo_point_count(geo)));
    for (int64_t i = 0; i < used.count; i++) used.data[i] = 0;
    const int64_t *points = mn_geo_vertex_points(geo);
    for (int64_t v = 0; v < mn_geo_vertex_count(geo); v++) used.data[points[v]] = 1;
    int64_t loose = 0;
    for (int64_t i = 0; i < used.count; i++) {
        const double codim = mn_column_number(geo, "codim", i, 0);
        loose += !used.data[i] && (codim == 1 || codim == 2);
    }
    mn_array_free(cook->ctx, &used);
    if (loose == 0) return MN_OK;
    return mn_fail(
        cook->ctx, MN_ERROR_INPUT,
        "Turn on triangles in the film source: %lld points of film have none. Points alone are for "
        "mls_solver.",
        (long long)loose);
}

mn_status mn_film_input_add(const mn_cook *cook, const mn_geo *geo, mn_film *film)
{
    film_arrays a = {0};
    mn_film_source source = {0};
    bool labelled = false;
    mn_status status = mn_geo_point_count(geo) > INT32_MAX / 4
                           ? mn_fail(cook->ctx, MN_ERROR_INPUT, "The film has too many points.")
                           : read_points(cook, geo, &a, &source);
    if (status == MN_OK) status = refuse_loose_film(cook, geo);
    if (status == MN_OK) status = read_elements(cook, geo, &a, &labelled);
    if (status == MN_OK) {
        source.triangle_count = a.triangles.count / 3;
        source.triangles = (const int32_t(*)[3])a.triangles.data;
        source.regions = labelled ? (const int32_t(*)[2])a.regions.data : NULL;
        source.segment_count = a.segments.count / 2;
        source.segments = (const int32_t(*)[2])a.segments.data;
        source.tet_count = a.tets.count / 4;
        source.tets = (const int32_t(*)[4])a.tets.data;
        status = mn_film_add(film, &source);
    }
    mn_array_free(cook->ctx, &a.positions);
    mn_array_free(cook->ctx, &a.velocities);
    mn_array_free(cook->ctx, &a.slides);
    mn_array_free(cook->ctx, &a.thickness);
    mn_array_free(cook->ctx, &a.min_thickness);
    mn_array_free(cook->ctx, &a.pinned);
    mn_array_free(cook->ctx, &a.triangles);
    mn_array_free(cook->ctx, &a.regions);
    mn_array_free(cook->ctx, &a.segments);
    mn_array_free(cook->ctx, &a.tets);
    return status;
}

// ---- points ----

static mn_status read_pinned(mn_context *ctx, const mn_geo *geo, mn_film_points *found)
{
    if (!geo || !mn_geo_find_numeric(geo, MN_POINT, "pinned", 1)) return MN_OK;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const mn_vec3 x = mn_geo_position(geo, i);
        if (mn_column_number(geo, "pinned", i, 0) > 0.5) MN_TRY(mn_array_push(ctx, &found->pinned, &x));
    }
    return MN_OK;
}

mn_status mn_film_points_read(mn_context *ctx, const mn_geo *film, const mn_geo *points,
                              mn_film_points *found, mn_film_inputs *inputs)
{
    found->pinned.count = found->pricks.count = found->inflows.count = found->rates.count = 0;
    MN_TRY(read_pinned(ctx, film, found));
    const bool blows = points && mn_geo_find_numeric(points, MN_POINT, "inflow", 1);
    for (int64_t i = 0; points && i < mn_geo_point_count(points); i++) {
        const mn_vec3 x = mn_geo_position(points, i);
        const double rate = mn_column_number(points, "inflow", i, 0);
        if (!blows) {
            MN_TRY(mn_array_push(ctx, &found->pricks, &x));
        } else if (rate != 0 && isfinite(rate)) {
            MN_TRY(mn_array_push(ctx, &found->inflows, &x));
            MN_TRY(mn_array_push(ctx, &found->rates, &rate));
        }
    }
    *inputs = (mn_film_inputs){.pinned_count = found->pinned.count,
                               .pinned = found->pinned.data,
                               .prick_count = found->pricks.count,
                               .pricks = found->pricks.data,
                               .inflow_count = found->rates.count,
                               .inflow_positions = found->inflows.data,
                               .inflow_rates = found->rates.data};
    return MN_OK;
}

void mn_film_points_free(mn_context *ctx, mn_film_points *points)
{
    mn_array_free(ctx, &points->pinned);
    mn_array_free(ctx, &points->pricks);
    mn_array_free(ctx, &points->inflows);
    mn_array_free(ctx, &points->rates);
}
