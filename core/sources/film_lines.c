// SPDX-License-Identifier: Apache-2.0
//
// Points of threads: even ones along a straight line, or along polylines that come in. Ends that are held
// come first, so that a thread whose ends move keeps its anchors.
#include "sources/film_samples.h"

/// One place on a polyline.
typedef struct line_corner {
    mn_film_source_sample sample;
    double along; ///< m, from the start
} line_corner;
typedef MN_ARRAY(line_corner) line_corner_array;

static mn_film_source_sample at(const line_corner_array *line, double along)
{
    int64_t k = 1;
    while (k + 1 < line->count && line->data[k].along < along) k++;
    const line_corner *a = &line->data[k - 1], *b = &line->data[k];
    const double length = b->along - a->along, t = length > 0 ? (along - a->along) / length : 0;
    mn_film_source_sample s = a->sample;
    s.position = mn_lerp(a->sample.position, b->sample.position, t);
    s.velocity = mn_lerp(a->sample.velocity, b->sample.velocity, t);
    s.thickness += t * (b->sample.thickness - a->sample.thickness);
    s.normal = mn_normalize(mn_sub(b->sample.position, a->sample.position));
    s.pinned = 0;
    return s;
}

// Held ends in the first pass, the rest in the second.
static mn_status sample_line(mn_context *ctx, const mn_film_source_def *def, const line_corner_array *line,
                             bool held, mn_film_source_sample_array *samples)
{
    const double length = line->data[line->count - 1].along;
    if (!(length > 0)) return MN_OK;
    if (length / def->spacing + (double)samples->count > MN_CODIM_FILM_SAMPLE_LIMIT)
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The threads would have %.3g points; raise the spacing of %g m.",
                       length / def->spacing, def->spacing);
    const int64_t steps = (int64_t)fmax(1, round(length / def->spacing));
    for (int64_t i = 0; i <= steps; i++) {
        mn_film_source_sample s = at(line, length * (double)i / (double)steps);
        if (i == 0) s.pinned = line->data[0].sample.pinned;
        if (i == steps) s.pinned = line->data[line->count - 1].sample.pinned;
        if ((s.pinned != 0) != held) continue;
        const double diameters = length * (double)i / (double)steps / s.thickness;
        s.thickness *= 1 + def->noise * mn_film_source_noise(def->seed, mn_v3(0.5 * diameters, 0, 0));
        MN_TRY(mn_array_push(ctx, samples, &s));
    }
    return MN_OK;
}

static mn_status push_corner(mn_context *ctx, line_corner_array *line, const mn_film_source_sample *sample)
{
    line_corner corner = {*sample, 0};
    if (line->count > 0) {
        const line_corner *last = &line->data[line->count - 1];
        corner.along = last->along + mn_distance(last->sample.position, sample->position);
    }
    return mn_array_push(ctx, line, &corner);
}

// ---- polylines ----

static mn_film_source_sample corner_of(const mn_film_source_def *def, int64_t point)
{
    mn_film_source_sample s = {.position = mn_geo_position(def->geo, point),
                               .velocity = def->velocity,
                               .thickness = def->thickness,
                               .codim = 2,
                               .pinned = def->pin};
    const mn_attribute *v = mn_geo_find_numeric(def->geo, MN_POINT, "v", 3),
                       *thickness = mn_geo_find_numeric(def->geo, MN_POINT, "thickness", 1),
                       *radius = mn_geo_find_numeric(def->geo, MN_POINT, "pscale", 1),
                       *pinned = mn_geo_find_numeric(def->geo, MN_POINT, "pinned", 1);
    double held;
    if (v) mn_attribute_get(v, point, 1, &s.velocity.x);
    if (radius) mn_attribute_get(radius, point, 1, &s.thickness), s.thickness *= 2;
    if (thickness) mn_attribute_get(thickness, point, 1, &s.thickness);
    if (pinned) mn_attribute_get(pinned, point, 1, &held), s.pinned = held != 0;
    return s;
}

static mn_status sample_polyline(mn_context *ctx, const mn_film_source_def *def, int64_t primitive, bool held,
                                 line_corner_array *line, mn_film_source_sample_array *samples)
{
    const int64_t *starts = mn_geo_primitive_starts(def->geo), *points = mn_geo_vertex_points(def->geo);
    line->count = 0;
    for (int64_t v = starts[primitive]; v < starts[primitive + 1]; v++) {
        const mn_film_source_sample s = corner_of(def, points[v]);
        if (!mn_is_finite3(s.position) || !mn_is_finite3(s.velocity) || !isfinite(s.thickness))
            return mn_fail(ctx, MN_ERROR_INPUT, "Point %lld of the polylines has a value that is not finite.",
                           (long long)points[v]);
        if (!(s.thickness > 0))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the polylines is %g m thick; thickness and pscale must be above 0.",
                           (long long)points[v], s.thickness);
        MN_TRY(push_corner(ctx, line, &s));
    }
    return line->count >= 2 ? sample_line(ctx, def, line, held, samples) : MN_OK;
}

mn_status mn_film_source_lines(mn_context *ctx, const mn_film_source_def *def,
                               mn_film_source_sample_array *samples)
{
    line_corner_array line = {0};
    mn_status status = MN_OK;
    int64_t found = 0;
    for (int held = 1; held >= 0 && status == MN_OK; held--)
        for (int64_t p = 0; p < mn_geo_primitive_count(def->geo) && status == MN_OK; p++) {
            if (mn_geo_primitive_kinds(def->geo)[p] != MN_POLYLINE) continue;
            found++;
            status = sample_polyline(ctx, def, p, held != 0, &line, samples);
        }
    mn_array_free(ctx, &line);
    if (status == MN_OK && found == 0)
        return mn_fail(ctx, MN_ERROR_INPUT,
                       "The input holds no polylines; threads are made along them. Polygons are for the kind "
                       "polygons.");
    return status;
}

// ---- a straight one ----

mn_status mn_film_source_thread(mn_context *ctx, const mn_film_source_def *def,
                                mn_film_source_sample_array *samples)
{
    line_corner_array line = {0};
    mn_film_source_sample end = {.position = mn_axpy(def->center, 0.5 * def->height, mn_v3(0, 1, 0)),
                                 .velocity = def->velocity,
                                 .thickness = def->thickness,
                                 .codim = 2,
                                 .pinned = def->pin};
    mn_status status = push_corner(ctx, &line, &end);
    end.position = mn_axpy(def->center, -0.5 * def->height, mn_v3(0, 1, 0));
    end.pinned = def->pin && !def->spout;
    if (status == MN_OK) status = push_corner(ctx, &line, &end);
    for (int held = 1; held >= 0 && status == MN_OK; held--)
        status = sample_line(ctx, def, &line, held != 0, samples);
    mn_array_free(ctx, &line);
    return status;
}
