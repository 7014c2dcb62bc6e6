// SPDX-License-Identifier: Apache-2.0
//
// The life of a flow: its def and their checks, what it holds, its report and its stream.
#include "flow/flow_state.h"
#include "meniscus/array.h"

#include <string.h>

enum { SAVE_VERSION = 1, SUM_GRAIN = 64 };
static const double most_cells = 1e9;

mn_flow_def mn_flow_default_def(void)
{
    return (mn_flow_def){
        .struct_size = sizeof(mn_flow_def),
        .fluid = MN_FLOW_SMOKE,
        .dx = 0.02,
        .domain_size = {1, 1, 1},
        .density = 1.2,
        .gravity = {0, -9.81, 0},
        .contact_angle = 90,
        .level = -INFINITY,
        .buoyancy = 1,
        .source_density = 1,
        .source_color = {1, 1, 1},
        .source_inherit = 1,
        .cfl = 2,
        .surface_tension_limit = 1,
        .tolerance = 1e-5,
        .min_substeps = 1,
        .max_substeps = 100000,
    };
}

// ---- checks ----

static mn_status check_def(mn_context *ctx, const mn_flow_def *def)
{
    MN_TRY(mn_check_def_size(ctx, "flow", def->struct_size, sizeof *def));
    const struct {
        const char *name;
        double value, low, high;
        bool low_allowed;
    } rows[] = {
        {"dx", def->dx, 0, 1e9, false},
        {"domain_size x", def->domain_size.x, 0, 1e9, false},
        {"domain_size y", def->domain_size.y, 0, 1e9, false},
        {"domain_size z", def->domain_size.z, 0, 1e9, false},
        {"density", def->density, 0, 1e9, false},
        {"viscosity", def->viscosity, 0, 1e9, true},
        {"sigma", def->sigma, 0, 1e9, true},
        {"contact_angle", def->contact_angle, 0, 180, true},
        {"cooling", def->cooling, 0, 1e9, true},
        {"dissipation", def->dissipation, 0, 1e9, true},
        {"cfl", def->cfl, 0, 1000, false},
        {"surface_tension_limit", def->surface_tension_limit, 0, 1000, false},
        {"tolerance", def->tolerance, 0, 0.1, false},
        {"min_substeps", def->min_substeps, 1, 1e9, true},
        {"max_substeps", def->max_substeps, def->min_substeps, 1e10, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        MN_TRY(mn_check_number(ctx, rows[i].name, rows[i].value, rows[i].low, rows[i].high,
                               rows[i].low_allowed));
    if (!mn_is_finite3(def->domain_center) || !mn_is_finite3(def->gravity) || !mn_is_finite3(def->stream) ||
        !isfinite(def->buoyancy + def->heat_buoyancy) || isnan(def->level))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "domain_center, gravity, stream, buoyancy and level must be finite numbers.");
    return MN_OK;
}

static mn_status count_cells(mn_context *ctx, const mn_flow_def *def, int32_t cells[3])
{
    const double size[3] = {def->domain_size.x, def->domain_size.y, def->domain_size.z};
    double all = 1;
    for (int32_t a = 0; a < 3; a++) {
        const double n = a == 2 && def->flat ? 1 : fmax(1, floor(size[a] / def->dx + 0.5));
        all *= n + 2;
        if (!(n < 1e6) || !(all < most_cells))
            return mn_fail(
                ctx, MN_ERROR_ARGUMENT,
                "A box of %g x %g x %g m with dx %g m has more than a billion cells; make dx larger or the "
                "box smaller.",
                size[0], size[1], size[2], def->dx);
        cells[a] = (int32_t)n;
    }
    for (int32_t a = 0; a < (def->flat ? 2 : 3); a++)
        if (cells[a] < 4)
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "The box is only %d cells wide along %c; use dx of at most %g m.", cells[a],
                           "xyz"[a], size[a] / 8);
    return MN_OK;
}

// ---- life ----

mn_status mn_flow_fit(mn_flow *flow)
{
    const int64_t size = mn_flow_size(&flow->grid);
    mn_flow_quads *quads[] = {&flow->values, &flow->next, &flow->half, &flow->spare, &flow->spare2};
    for (size_t k = 0; k < sizeof quads / sizeof quads[0]; k++) {
        MN_TRY(mn_array_resize(flow->ctx, quads[k], size));
        mn_fill_bytes(quads[k]->data, 0, mn_bytes(size, sizeof(mn_double4)));
    }
    MN_TRY(mn_array_resize(flow->ctx, &flow->known, size));
    return mn_array_resize(flow->ctx, &flow->band, size);
}

static mn_status clear_quads(mn_flow *flow, mn_flow_quads *quads)
{
    MN_TRY(mn_array_resize(flow->ctx, quads, mn_flow_size(&flow->grid)));
    mn_fill_bytes(quads->data, 0, mn_bytes(quads->count, sizeof(mn_double4)));
    return MN_OK;
}

static void open_sides(const mn_flow_def *def, bool open[6])
{
    memset(open, 0, 6 * sizeof *open);
    if (def->boundary == MN_FLOW_OPEN)
        for (int32_t k = 0; k < (def->flat ? 4 : 6); k++) open[k] = true;
    if (def->boundary == MN_FLOW_OPEN_TOP) open[3] = true;
    const int32_t inflow = mn_flow_inflow_side(def);
    if (inflow >= 0) open[inflow ^ 1] = true;
}

// Everything but the initial state.
static mn_status make(mn_context *ctx, const mn_flow_def *def, mn_flow **out)
{
    int32_t cells[3];
    *out = NULL;
    MN_TRY(check_def(ctx, def));
    MN_TRY(count_cells(ctx, def, cells));
    mn_flow *flow = mn_allocate_zero(ctx, sizeof *flow);
    if (!flow) return MN_ERROR_MEMORY;
    *out = flow;
    flow->ctx = ctx, flow->def = *def;
    const mn_vec3 half = mn_scale(0.5 * def->dx, mn_v3(cells[0], cells[1], cells[2]));
    bool open[6];
    open_sides(def, open);
    const mn_vec3 low = mn_scale(1.0 / def->dx, mn_sub(def->domain_center, half));
    const mn_vec3 whole = mn_v3(floor(low.x + 0.5), floor(low.y + 0.5), floor(low.z + 0.5));
    MN_TRY(mn_flow_grid_create(ctx, mn_scale(def->dx, whole), def->dx, cells, &flow->grid));
    return mn_flow_pressure_create(&flow->grid, open, &flow->pressure);
}

static mn_status begin(mn_flow *flow, const mn_flow_inputs *inputs)
{
    static const mn_flow_inputs none = {0};
    flow->inputs = inputs ? inputs : &none;
    flow->before = 0;
    if (flow->def.fluid == MN_FLOW_LIQUID) return mn_flow_liquid_begin(flow);
    MN_TRY(mn_flow_grid_fill(&flow->grid));
    MN_TRY(mn_flow_fit(flow));
    MN_TRY(clear_quads(flow, &flow->velocity));
    MN_TRY(clear_quads(flow, &flow->smoke));
    MN_TRY(clear_quads(flow, &flow->color));
    if (flow->def.boundary == MN_FLOW_TUNNEL)
        for (int64_t at = 0; at < flow->velocity.count; at++)
            flow->velocity.data[at] =
                (mn_double4){flow->def.stream.x, flow->def.stream.y, flow->def.stream.z, 0};
    return mn_flow_smoke_begin(flow);
}

mn_status mn_flow_create(mn_context *ctx, const mn_flow_def *def, const mn_flow_inputs *inputs, mn_flow **out)
{
    mn_status status = make(ctx, def, out);
    if (status == MN_OK) status = begin(*out, inputs);
    if (status != MN_OK) {
        mn_flow_free(*out);
        *out = NULL;
    }
    return status;
}

void mn_flow_free(mn_flow *flow)
{
    if (!flow) return;
    mn_context *ctx = flow->ctx;
    mn_flow_quads *quads[] = {&flow->velocity, &flow->smoke, &flow->color, &flow->surface, &flow->values,
                              &flow->next,     &flow->half,  &flow->spare, &flow->spare2};
    for (size_t k = 0; k < sizeof quads / sizeof quads[0]; k++) mn_array_free(ctx, quads[k]);
    mn_array_free(ctx, &flow->backup);
    mn_array_free(ctx, &flow->distance[0]);
    mn_array_free(ctx, &flow->distance[1]);
    mn_array_free(ctx, &flow->volumes);
    mn_array_free(ctx, &flow->areas);
    mn_array_free(ctx, &flow->gained);
    mn_array_free(ctx, &flow->old_coords);
    mn_array_free(ctx, &flow->next_target);
    mn_array_free(ctx, &flow->label);
    mn_array_free(ctx, &flow->next_label);
    mn_array_free(ctx, &flow->target);
    mn_array_free(ctx, &flow->volume);
    mn_array_free(ctx, &flow->area);
    mn_array_free(ctx, &flow->votes);
    mn_array_free(ctx, &flow->stack);
    mn_array_free(ctx, &flow->solid);
    mn_array_free(ctx, &flow->solid_nodes);
    mn_array_free(ctx, &flow->solid_built);
    mn_array_free(ctx, &flow->surface_nodes);
    mn_array_free(ctx, &flow->known);
    mn_array_free(ctx, &flow->band);
    mn_flow_pressure_free(&flow->pressure);
    mn_flow_grid_free(&flow->grid);
    mn_release(ctx, flow, sizeof *flow);
}

mn_status mn_flow_set_def(mn_flow *flow, const mn_flow_def *def)
{
    const mn_flow_def *old = &flow->def;
    MN_TRY(check_def(flow->ctx, def));
    if (def->dx != old->dx || def->fluid != old->fluid || def->flat != old->flat ||
        def->boundary != old->boundary || mn_distance(def->domain_center, old->domain_center) > 0 ||
        mn_distance(def->domain_size, old->domain_size) > 0)
        return mn_fail(flow->ctx, MN_ERROR_ARGUMENT,
                       "fluid, dx, boundary and the box cannot change during a simulation.");
    if (mn_flow_inflow_side(def) != mn_flow_inflow_side(old))
        return mn_fail(flow->ctx, MN_ERROR_ARGUMENT,
                       "The stream of a tunnel cannot change its side during a simulation.");
    flow->def = *def;
    return MN_OK;
}

// ---- stepping ----

static double speed_of(void *user, mn_range range)
{
    const mn_flow *flow = user;
    const int32_t *n = flow->grid.cells;
    double most = 0;
    for (int64_t at = range.begin * 64; at < range.end * 64; at++) {
        const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
        if (c.x < 1 || c.y < 1 || c.z < 1 || c.x > n[0] || c.y > n[1] || c.z > n[2]) continue;
        if (flow->surface.count > 0 && flow->surface.data[at][0] > 0.5) continue;
        const mn_double4 u = flow->velocity.data[at];
        const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        if (!(square <= most)) most = square; // a NaN stays
    }
    return sqrt(most);
}

mn_status mn_flow_max_speed(const mn_flow *flow, double *speed)
{
    MN_TRY(mn_parallel_max(flow->ctx, flow->grid.table.count, MN_FLOW_GRAIN, speed_of, (void *)flow, speed));
    if (!(*speed >= 0)) *speed = flow->grid.table.count == 0 ? 0 : *speed;
    if (!isfinite(*speed))
        return mn_fail(flow->ctx, MN_ERROR_DIVERGED, "The velocity of the flow is not a number any more.");
    return MN_OK;
}

/// The longest step now: the fastest fluid, solid or falling body may cross `cfl` cells, ripples
/// `surface_tension_limit`.
static mn_status longest_step(mn_flow *flow, double *longest)
{
    const mn_flow_def *def = &flow->def;
    double speed;
    MN_TRY(mn_flow_max_speed(flow, &speed));
    if (flow->inputs->collider) speed = fmax(speed, mn_collider_max_speed(flow->inputs->collider));
    if (def->boundary == MN_FLOW_TUNNEL) speed = fmax(speed, mn_norm(def->stream));
    *longest = speed > 0 ? def->cfl * def->dx / speed : INFINITY;
    if (def->fluid != MN_FLOW_LIQUID) return MN_OK;
    // what falls from rest gets to dx per step in this time
    const double g = mn_norm(def->gravity);
    if (g > 0) *longest = fmin(*longest, def->cfl * sqrt(def->dx / g));
    if (def->sigma > 0)
        *longest =
            fmin(*longest, def->surface_tension_limit * sqrt(def->density * def->dx * def->dx * def->dx /
                                                             (3.14159265358979 * def->sigma)));
    return MN_OK;
}

static mn_status take_steps(mn_flow *flow, double dt)
{
    const mn_flow_def *def = &flow->def;
    double done = 0;
    while (done < dt * (1 - 1e-12)) {
        double longest;
        MN_TRY(mn_check_cancelled(flow->ctx));
        mn_progress(flow->ctx, done / dt, "flow");
        MN_TRY(longest_step(flow, &longest));
        longest = fmin(longest, dt / def->min_substeps);
        const double left = dt - done, count = ceil(left / longest - 1e-9);
        if (!(count + (double)flow->substeps <= def->max_substeps))
            return mn_fail(
                flow->ctx, MN_ERROR_DIVERGED,
                "The frame needs steps of %.3g s, more than max_substeps (%d) of them. Raise dx, cfl or "
                "max_substeps.",
                longest, def->max_substeps);
        const double step = left / fmax(count, 1);
        flow->before = fmax(left - step, 0);
        MN_TRY(def->fluid == MN_FLOW_LIQUID ? mn_flow_liquid_step(flow, step)
                                            : mn_flow_smoke_step(flow, step));
        done += step;
        flow->dt_min = flow->substeps == 0 ? step : fmin(flow->dt_min, step);
        flow->dt_max = fmax(flow->dt_max, step);
        flow->substeps++;
    }
    return MN_OK;
}

mn_status mn_flow_advance(mn_flow *flow, const mn_flow_inputs *inputs, double dt)
{
    static const mn_flow_inputs none = {0};
    MN_TRY(mn_check_number(flow->ctx, "dt", dt, 0, 1e12, true));
    flow->inputs = inputs ? inputs : &none;
    flow->substeps = flow->linear_iterations = flow->rollbacks = 0;
    flow->dt_min = flow->dt_max = 0;
    mn_timers_reset(&flow->seconds);
    const mn_status status = take_steps(flow, dt);
    flow->inputs = &none;
    return status;
}

// ---- setting ----

static mn_vec3 centre_of(const mn_flow *flow, int64_t at)
{
    const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
    return mn_flow_to_world(&flow->grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
}

mn_status mn_flow_set_velocity(mn_flow *flow, mn_flow_velocity_fn *fn, void *user)
{
    static const mn_flow_inputs none = {0};
    flow->inputs = &none;
    for (int64_t at = 0; at < flow->velocity.count; at++) {
        const mn_vec3 v = fn(user, centre_of(flow, at));
        if (!mn_is_finite3(v))
            return mn_fail(flow->ctx, MN_ERROR_INPUT, "A velocity of the flow is not a number.");
        flow->values.data[at] = (mn_double4){v.x, v.y, v.z, 0};
    }
    MN_TRY(mn_flow_coefficients(&flow->grid, NULL, flow->values.data, flow->velocity.data));
    if (flow->def.fluid == MN_FLOW_LIQUID) return MN_OK;
    bool changed;
    mn_flow_projection projection;
    MN_TRY(mn_flow_sample_solids(flow, &changed));
    const mn_flow_region region = {NULL, NULL};
    MN_TRY(mn_flow_pressure_build(&flow->pressure, &region, 0.5, false));
    flow->built = true;
    MN_TRY(mn_flow_wall_flux(flow));
    return mn_flow_project(&flow->pressure, fmin(flow->def.tolerance, 1e-8), NULL, flow->velocity.data,
                           &projection);
}

mn_status mn_flow_set_smoke(mn_flow *flow, mn_flow_smoke_fn *fn, void *user)
{
    for (int64_t at = 0; at < flow->smoke.count; at++) {
        double density = 0, temperature = 0;
        mn_vec3 color = {1, 1, 1};
        fn(user, centre_of(flow, at), &density, &temperature, &color);
        if (!isfinite(density + temperature) || !mn_is_finite3(color))
            return mn_fail(flow->ctx, MN_ERROR_INPUT,
                           "The density, heat or colour of the smoke is not a number.");
        flow->smoke.data[at] = (mn_double4){density, temperature, 0, 0};
        flow->color.data[at] = density * (mn_double4){color.x, color.y, color.z, 0};
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
        view->surface = (const double(*)[4])flow->surface.data;
    } else {
        view->smoke = (const double(*)[4])flow->smoke.data;
        view->color = (const double(*)[4])flow->color.data;
    }
    if (flow->pressure.fraction.count == mn_flow_size(&flow->grid))
        view->fraction = flow->pressure.fraction.data;
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

double mn_flow_distance_at(const mn_flow *flow, mn_vec3 x)
{
    mn_flow_taps taps;
    mn_double4 f;
    if (flow->surface.count == 0) return -INFINITY;
    mn_flow_find_taps(&flow->grid, mn_flow_from_world(&flow->grid, x), &taps);
    mn_flow_gather(&taps, flow->surface.data, &f);
    return f[0] * flow->grid.dx;
}

enum { SUM_VOLUME, SUM_MOMENTUM, SUM_ENERGY = SUM_MOMENTUM + 3, SUM_SMOKE, SUM_COUNT };

static void sum_range(void *user, mn_range range, double *sums)
{
    const mn_flow *flow = user;
    for (int64_t at = range.begin * 64; at < range.end * 64; at++) {
        const double m = flow->pressure.mass.data[at];
        const mn_double4 u = flow->velocity.data[at];
        sums[SUM_VOLUME] += flow->pressure.fraction.data[at];
        for (int32_t d = 0; d < 3; d++) sums[SUM_MOMENTUM + d] += m * u[d];
        sums[SUM_ENERGY] += 0.5 * m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
}

void mn_flow_report(const mn_flow *flow, mn_report *report)
{
    const double cell = flow->grid.dx * flow->grid.dx * flow->grid.dx, rho = flow->def.density;
    double s[SUM_COUNT], speed;
    mn_report_set(report, MN_REPORT_substeps, (double)flow->substeps);
    mn_report_set(report, MN_REPORT_rollbacks, (double)flow->rollbacks);
    mn_report_set(report, MN_REPORT_linear_iterations, (double)flow->linear_iterations);
    if (flow->substeps > 0) {
        mn_report_set(report, MN_REPORT_dt_min, flow->dt_min);
        mn_report_set(report, MN_REPORT_dt_max, flow->dt_max);
    }
    report->seconds = flow->seconds;
    if (mn_flow_max_speed(flow, &speed) == MN_OK) mn_report_set(report, MN_REPORT_max_speed, speed);
    if (flow->pressure.mass.count != mn_flow_size(&flow->grid)) return;
    if (mn_parallel_sum(flow->ctx, flow->grid.table.count, SUM_GRAIN, sum_range, (void *)flow, SUM_COUNT,
                        s) != MN_OK)
        return;
    mn_report_set(report, MN_REPORT_volume, s[SUM_VOLUME] * cell);
    mn_report_set(report, MN_REPORT_mass, s[SUM_VOLUME] * cell * rho);
    mn_report_set(report, MN_REPORT_kinetic_energy, s[SUM_ENERGY] * cell * rho);
    mn_report_set3(report, MN_REPORT_momentum,
                   mn_scale(rho * cell, mn_v3(s[SUM_MOMENTUM], s[SUM_MOMENTUM + 1], s[SUM_MOMENTUM + 2])));
}

// ---- saving ----

mn_status mn_flow_save(const mn_flow *flow, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, "flow", SAVE_VERSION));
    MN_TRY(mn_write_i64(out, flow->def.fluid));
    for (int32_t a = 0; a < 3; a++) MN_TRY(mn_write_i64(out, flow->grid.cells[a]));
    MN_TRY(mn_write_array_bytes(out, flow->grid.table.coords, flow->grid.table.count, sizeof(mn_ivec3)));
    MN_TRY(mn_write_array(out, &flow->velocity));
    MN_TRY(mn_write_array(out, &flow->smoke));
    MN_TRY(mn_write_array(out, &flow->color));
    MN_TRY(mn_write_array(out, &flow->surface));
    MN_TRY(mn_write_array(out, &flow->label));
    return mn_write_array(out, &flow->target);
}

static mn_status load_into(mn_flow *flow, mn_reader *in)
{
    int32_t version;
    int64_t value;
    MN_TRY(mn_read_tag(in, "flow", SAVE_VERSION, &version));
    MN_TRY(mn_read_i64(in, &value));
    bool good = value == (int64_t)flow->def.fluid;
    for (int32_t a = 0; a < 3; a++) {
        MN_TRY(mn_read_i64(in, &value));
        good &= value == flow->grid.cells[a];
    }
    if (!good)
        return mn_fail(flow->ctx, MN_ERROR_FORMAT,
                       "The saved flow is of another fluid or another box than the parameters say.");
    MN_TRY(mn_read_array(in, &flow->grid.coords));
    const int32_t *sides = flow->grid.sides;
    for (int64_t b = 0; b < flow->grid.coords.count; b++) {
        const mn_ivec3 c = flow->grid.coords.data[b];
        good &= c.x >= 0 && c.y >= 0 && c.z >= 0 && c.x < sides[0] && c.y < sides[1] && c.z < sides[2];
    }
    if (!good) return mn_fail(flow->ctx, MN_ERROR_FORMAT, "The saved flow has blocks outside of its box.");
    const int64_t blocks = flow->grid.coords.count;
    MN_TRY(mn_flow_grid_set(&flow->grid, blocks, flow->grid.coords.data));
    MN_TRY(mn_flow_fit(flow));
    MN_TRY(mn_read_array(in, &flow->velocity));
    MN_TRY(mn_read_array(in, &flow->smoke));
    MN_TRY(mn_read_array(in, &flow->color));
    MN_TRY(mn_read_array(in, &flow->surface));
    MN_TRY(mn_read_array(in, &flow->label));
    MN_TRY(mn_read_array(in, &flow->target));
    const int64_t size = mn_flow_size(&flow->grid), smoke = flow->def.fluid == MN_FLOW_SMOKE ? size : 0;
    if (flow->grid.table.count != blocks || flow->velocity.count != size || flow->smoke.count != smoke ||
        flow->color.count != smoke || flow->surface.count != size - smoke ||
        flow->label.count != size - smoke)
        return mn_fail(flow->ctx, MN_ERROR_FORMAT,
                       "The saved flow is damaged: its fields are of different sizes.");
    return MN_OK;
}

mn_status mn_flow_load(mn_context *ctx, const mn_flow_def *def, mn_reader *in, mn_flow **out)
{
    mn_status status = make(ctx, def, out);
    if (status == MN_OK) status = load_into(*out, in);
    if (status != MN_OK) {
        mn_flow_free(*out);
        *out = NULL;
    }
    return status;
}
