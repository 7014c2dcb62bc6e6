// SPDX-License-Identifier: Apache-2.0
//
// Jets of an mls_solver.
#include "nodes/codim_jets.h"

#include "nodes/columns.h"

void mn_codim_jets_free(mn_context *ctx, mn_codim_jets *j)
{
    mn_array_free(ctx, &j->inlets);
    mn_array_free(ctx, &j->positions);
    mn_array_free(ctx, &j->velocities);
    mn_array_free(ctx, &j->thickness);
}

static mn_status read_curves(const mn_cook *cook, const mn_geo *geo, mn_codim_jets *j)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    for (int64_t k = 0; k < mn_geo_primitive_count(geo); k++) {
        int64_t first = starts[k], end = starts[k + 1];
        if (kinds[k] != MN_POLYLINE && kinds[k] != MN_POLYGON) continue;
        const bool comes_back = end - first > 2 && points[first] == points[end - 1];
        const mn_codim_inlet inlet = {.count = end - first - comes_back,
                                      .closed = comes_back || kinds[k] == MN_POLYGON};
        MN_TRY(mn_array_push(cook->ctx, &j->inlets, &inlet));
        for (int64_t i = first; i < first + inlet.count; i++) {
            const mn_vec3 at = mn_geo_position(geo, points[i]);
            const double thickness = mn_column_number(geo, "thickness", points[i], 0);
            mn_vec3 u;
            mn_attribute_get(v, points[i], 1, &u.x);
            MN_TRY(mn_array_push(cook->ctx, &j->positions, &at));
            MN_TRY(mn_array_push(cook->ctx, &j->velocities, &u));
            MN_TRY(mn_array_push(cook->ctx, &j->thickness, &thickness));
        }
    }
    return MN_OK;
}

mn_status mn_codim_jets_read(const mn_cook *cook, int32_t input, mn_codim_jets *j)
{
    const mn_geo *geo = mn_cook_input(cook, input);
    if (!geo || mn_geo_primitive_count(geo) == 0) return MN_OK;
    if (!mn_geo_find_numeric(geo, MN_POINT, "v", 3) || !mn_geo_find_numeric(geo, MN_POINT, "thickness", 1))
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the jets have no v or no thickness; pass the curves through a jet_source.");
    MN_TRY(read_curves(cook, geo, j));
    for (int64_t i = 0, at = 0; i < j->inlets.count; at += j->inlets.data[i++].count) {
        mn_codim_inlet *inlet = &j->inlets.data[i];
        inlet->position = j->positions.data + at;
        inlet->velocity = j->velocities.data + at;
        inlet->thickness = j->thickness.data + at;
    }
    return MN_OK;
}
