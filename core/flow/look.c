// SPDX-License-Identifier: Apache-2.0
//
// Setting and looking: fields from functions, what cells hold, values at points, and the report.
#include "flow/flow_state.h"
#include "meniscus/array.h"

#include <string.h>

enum { SUM_GRAIN = 64 };

// ---- setting ----

static mn_vec3 centre_of(const mn_flow *flow, int64_t at)
{
    const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
    return mn_flow_to_world(&flow->grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
}

mn_status mn_flow_set_velocity(mn_flow *flow, mn_flow_velocity_fn *fn, void *user)
{
    mn_flow_take_inputs(flow, NULL);
    for (int64_t at = 0; at < flow->velocity.count; at++) {
        const mn_vec3 v = fn(user, centre_of(flow, at));
        if (!mn_is_finite3(v))
            return mn_fail(flow->solver.ctx, MN_ERROR_INPUT, "A velocity of the flow is not finite.");
        flow->values.data[at] = (mn_double4){v.x, v.y, v.z, 0};
    }
    MN_TRY(mn_flow_coefficients(&flow->grid, NULL, flow->values.data, flow->velocity.data));
    if (flow->def.fluid == MN_FLOW_LIQUID) return MN_OK;
    bool changed;
    mn_flow_projection projection;
    MN_TRY(mn_flow_sample_solids(flow, &changed));
    const mn_flow_region region = {NULL, NULL};
    flow->built = false;
    mn_flow_pressure_lend(&flow->pressure, flow->values.data, NULL);
    MN_TRY(mn_flow_pressure_build(&flow->pressure, &region, 0.5, false));
    flow->built = true;
    MN_TRY(mn_flow_wall_flux(flow));
    return mn_flow_project(&flow->pressure, fmin(flow->def.tolerance, 1e-8), NULL, flow->velocity.data,
                           &projection);
}

mn_status mn_flow_set_smoke(mn_flow *flow, mn_flow_smoke_fn *fn, void *user)
{
    mn_flow_values *smoke = flow->smoke;
    for (int64_t at = 0; at < smoke[MN_FLOW_DENSITY].count; at++) {
        double density = 0, temperature = 0;
        mn_vec3 color = {1, 1, 1};
        fn(user, centre_of(flow, at), &density, &temperature, &color);
        if (!isfinite(density + temperature) || !mn_is_finite3(color))
            return mn_fail(flow->solver.ctx, MN_ERROR_INPUT,
                           "The density, heat or colour of the smoke is not finite.");
        smoke[MN_FLOW_DENSITY].data[at] = density;
        if (temperature != 0) MN_TRY(mn_flow_smoke_warm(flow));
        if (smoke[MN_FLOW_HEAT].count > 0) smoke[MN_FLOW_HEAT].data[at] = temperature;
        if (density > 0 && (color.x != 1 || color.y != 1 || color.z != 1)) MN_TRY(mn_flow_smoke_paint(flow));
        if (smoke[MN_FLOW_RED].count == 0) continue;
        for (int32_t d = 0; d < 3; d++) smoke[MN_FLOW_RED + d].data[at] = density * mn_component(color, d);
    }
    return MN_OK;
}

// ---- what it holds ----

mn_status mn_flow_get(mn_flow *flow, mn_flow_view *view)
{
    memset(view, 0, sizeof *view);
    view->origin = flow->grid.origin, view->dx = flow->grid.dx;
    memcpy(view->cells, flow->grid.cells, sizeof view->cells);
    view->block_count = flow->grid.table.count;
    view->blocks = (const int32_t(*)[3])flow->grid.table.coords;
    MN_TRY(mn_flow_values_at_centres(&flow->grid, NULL, flow->velocity.data, flow->values.data));
    view->velocity = (const double(*)[4])flow->values.data;
    if (flow->def.fluid == MN_FLOW_LIQUID) {
        view->surface = flow->surface.data;
    } else {
        const mn_flow_values *smoke = flow->smoke;
        view->density = smoke[MN_FLOW_DENSITY].data;
        view->temperature = smoke[MN_FLOW_HEAT].count > 0 ? smoke[MN_FLOW_HEAT].data : NULL;
        for (int32_t d = 0; d < 3; d++)
            view->color[d] = smoke[MN_FLOW_RED + d].count > 0 ? smoke[MN_FLOW_RED + d].data : NULL;
    }
    const int64_t size = mn_flow_size(&flow->grid);
    if (flow->pressure.kind.count != size || flow->pressure.p.count != size) return MN_OK;
    double *fraction = flow->pressure.p.data; // scratch between steps
    for (int64_t at = 0; at < size; at++) fraction[at] = mn_flow_fraction(&flow->pressure, at);
    view->fraction = fraction;
    return MN_OK;
}

mn_vec3 mn_flow_velocity_at(const mn_flow *flow, mn_vec3 x)
{
    mn_flow_taps taps;
    mn_double4 u;
    mn_flow_find_taps(&flow->grid, mn_flow_from_world(&flow->grid, x), &taps);
    mn_flow_gather(&taps, flow->velocity.data, &u);
    return mn_flow_vec(&u);
}

const mn_flow_drop *mn_flow_drops(const mn_flow *flow, int64_t *count)
{
    *count = flow->drops.count;
    return flow->drops.data;
}

double mn_flow_distance_at(const mn_flow *flow, mn_vec3 x)
{
    mn_flow_taps taps;
    if (flow->surface.count == 0) return -INFINITY;
    mn_flow_find_taps(&flow->grid, mn_flow_from_world(&flow->grid, x), &taps);
    return mn_flow_gather_value(&taps, flow->surface.data) * flow->grid.dx;
}

enum { SUM_VOLUME, SUM_MOMENTUM, SUM_CENTER = SUM_MOMENTUM + 3, SUM_ENERGY = SUM_CENTER + 3, SUM_COUNT };

static void sum_range(void *user, mn_range range, double *sums)
{
    const mn_flow *flow = user;
    for (int64_t at = range.begin * 64; at < range.end * 64; at++) {
        const double m = flow->pressure.mass.data[at];
        const mn_double4 u = flow->velocity.data[at];
        const double full = mn_flow_fraction(&flow->pressure, at);
        const mn_vec3 x = centre_of(flow, at);
        sums[SUM_VOLUME] += full;
        sums[SUM_CENTER] += full * x.x, sums[SUM_CENTER + 1] += full * x.y,
            sums[SUM_CENTER + 2] += full * x.z;
        for (int32_t d = 0; d < 3; d++) sums[SUM_MOMENTUM + d] += m * u[d];
        sums[SUM_ENERGY] += 0.5 * m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
}

void mn_flow_report_on(const mn_solver *solver, mn_report *report)
{
    const mn_flow *flow = (const mn_flow *)solver;
    const double cell = flow->grid.dx * flow->grid.dx * flow->grid.dx, rho = flow->def.density;
    double s[SUM_COUNT], speed;
    if (mn_flow_max_speed(flow, &speed) == MN_OK) mn_report_set(report, MN_REPORT_max_speed, speed);
    if (flow->pressure.mass.count != mn_flow_size(&flow->grid)) return;
    if (mn_parallel_sum(flow->solver.ctx, flow->grid.table.count, SUM_GRAIN, sum_range, (void *)flow,
                        SUM_COUNT, s) != MN_OK)
        return;
    double mass = s[SUM_VOLUME] * cell * rho, energy = s[SUM_ENERGY] * cell * rho;
    mn_vec3 momentum = mn_scale(rho * cell, mn_v3(s[SUM_MOMENTUM], s[SUM_MOMENTUM + 1], s[SUM_MOMENTUM + 2]));
    mn_vec3 center = mn_scale(rho * cell, mn_v3(s[SUM_CENTER], s[SUM_CENTER + 1], s[SUM_CENTER + 2]));
    for (int64_t d = 0; d < flow->drops.count; d++) { // what flies belongs to it
        const mn_flow_drop *drop = &flow->drops.data[d];
        mass += drop->mass, energy += 0.5 * drop->mass * mn_norm2(drop->velocity);
        momentum = mn_axpy(momentum, drop->mass, drop->velocity);
        center = mn_axpy(center, drop->mass, drop->position);
    }
    mn_report_set(report, MN_REPORT_volume, mass / rho);
    mn_report_set(report, MN_REPORT_mass, mass);
    if (mass > 0) mn_report_set3(report, MN_REPORT_center, mn_scale(1 / mass, center));
    mn_report_set(report, MN_REPORT_kinetic_energy, energy);
    mn_report_set3(report, MN_REPORT_momentum, momentum);
    if (flow->def.spray_radius > 0) mn_report_set(report, MN_REPORT_particles, (double)flow->drops.count);
}
