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

void mn_codim_jets_doctor(const mn_cook *cook, const mn_codim_jets *jets, const mn_codim_def *def,
                          mn_doctor *d)
{
    static const double pi = MN_PI;
    double flow = 0, speed = 0, length = 0;
    for (int64_t i = 0; i < jets->inlets.count; i++) {
        const mn_codim_inlet_measure m = mn_codim_measure_inlet(&jets->inlets.data[i]);
        flow += m.flow, speed = fmax(speed, m.speed), length = fmax(length, m.length);
    }
    if (jets->inlets.count == 0) return;
    d->number(d->user, "flow of the jets", flow, "m^3/s", "");
    if (!(flow > 0)) {
        d->sentence(d->user, "Nothing comes out of the jets: they have no speed or no thickness.");
        return;
    }
    const double step = fmin(def->max_dt, 0.35 * def->spacing / speed);
    d->number(d->user, "time step", step, "s", "where the sheet runs into its rim");
    d->number(d->user, "steps per frame", ceil(cook->dt / step), "", "then");
    if (!(def->sigma > 0)) return;
    // rho Q U = 2 sigma 2 pi R: D We / 16 of a round jet [taylor1959]
    const double reach = def->density * flow / (double)jets->inlets.count * speed / (4 * pi * def->sigma);
    d->number(d->user, "reach of a round sheet", reach, "m", "from the axis of each jet, without gravity");
    d->number(d->user, "points", pi * reach * reach / (def->spacing * def->spacing), "", "of such a sheet");
    if (reach < 2 * length / (2 * pi))
        d->sentence(d->user,
                    "The jets are too slow or too thin to spread: the liquid gathers at the outlet. Give "
                    "them more speed or flow, or less sigma.");
    if (reach < 10 * def->spacing)
        d->sentence(d->user, "The sheet is only a few points wide; use a smaller spacing.");
}
