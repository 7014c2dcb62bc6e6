// SPDX-License-Identifier: Apache-2.0
//
// Points with N and thickness as films of mls_solver.
#include "nodes/codim_film.h"

#include "nodes/columns.h"

#include <string.h>

mn_status mn_codim_film_check(const mn_cook *cook, const mn_geo *geo)
{
    if (!geo || mn_geo_point_count(geo) == 0) return MN_OK;
    if (!mn_geo_find_numeric(geo, MN_POINT, "N", 3))
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the film has no normals N; use a film_source.");
    if (!mn_geo_find_numeric(geo, MN_POINT, "thickness", 1))
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the film has no attribute thickness; use a film_source.");
    return MN_OK;
}

void mn_codim_film_free(mn_context *ctx, mn_codim_film *f)
{
    mn_array_free(ctx, &f->positions);
    mn_array_free(ctx, &f->velocities);
    mn_array_free(ctx, &f->normals);
    mn_array_free(ctx, &f->thickness);
    mn_array_free(ctx, &f->pinned);
    mn_array_free(ctx, &f->codim);
}

mn_status mn_codim_film_read(const mn_cook *cook, const mn_geo *geo, mn_codim_film *f)
{
    memset(f, 0, sizeof *f);
    if (!geo) return MN_OK;
    MN_TRY(mn_codim_film_check(cook, geo));
    const int64_t count = mn_geo_point_count(geo);
    f->source.count = count;
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &f->positions, &f->source.position));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &f->velocities, &f->source.velocity));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "N", &f->normals, &f->source.normal));
    MN_TRY(mn_array_resize(cook->ctx, &f->thickness, count));
    MN_TRY(mn_array_resize(cook->ctx, &f->pinned, count));
    MN_TRY(mn_array_resize(cook->ctx, &f->codim, count));
    for (int64_t i = 0; i < count; i++) {
        f->thickness.data[i] = mn_column_number(geo, "thickness", i, 0);
        f->pinned.data[i] = mn_column_number(geo, "pinned", i, 0) != 0;
        const double codim = mn_column_number(geo, "codim", i, MN_CODIM_FILM);
        f->codim.data[i] = (uint8_t)(codim >= 0 && codim <= 3 ? codim : 255);
    }
    f->source.thickness = f->thickness.data;
    f->source.pinned = f->pinned.data;
    f->source.codim = f->codim.data;
    return MN_OK;
}

mn_status mn_codim_anchors_read(mn_context *ctx, const mn_geo *geo, mn_codim_anchors *own,
                                mn_codim_inputs *inputs)
{
    if (!geo) return MN_OK;
    inputs->anchor_count = mn_geo_point_count(geo);
    MN_TRY(mn_column_read_vec3(ctx, geo, "P", &own->positions, &inputs->anchors));
    MN_TRY(mn_column_read_vec3(ctx, geo, "v", &own->flow, &inputs->flow));
    MN_TRY(mn_array_resize(ctx, &own->width, inputs->anchor_count));
    const mn_attribute *thickness = mn_geo_find_numeric(geo, MN_POINT, "thickness", 1);
    for (int64_t i = 0; i < own->width.count; i++) own->width.data[i] = 0;
    if (thickness && own->width.count > 0) mn_attribute_get(thickness, 0, own->width.count, own->width.data);
    inputs->width = own->width.data;
    return MN_OK;
}

void mn_codim_anchors_free(mn_context *ctx, mn_codim_anchors *anchors)
{
    mn_array_free(ctx, &anchors->positions);
    mn_array_free(ctx, &anchors->flow);
    mn_array_free(ctx, &anchors->width);
}
