// SPDX-License-Identifier: Apache-2.0
//
// The life of a flow: its def and their checks, its steps, its stream, and its table.
#include "base/solver_face.h"
#include "flow/flow_state.h"
#include "meniscus/array.h"

#include <string.h>

static const double most_cells = 1e9;

// ---- checks ----

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

static mn_status check_def(mn_context *ctx, const void *def)
{
    int32_t cells[3];
    return count_cells(ctx, def, cells);
}

// ---- life ----

mn_status mn_flow_fit(mn_flow *flow)
{
    const int64_t size = mn_flow_size(&flow->grid);
    mn_flow_quads *quads[] = {&flow->values, &flow->spare, &flow->work};
    for (size_t k = 0; k < MN_COUNT_OF(quads); k++) {
        MN_TRY(MN_FLOW_ROOM(flow->solver.ctx, quads[k], size));
        mn_fill_bytes(quads[k]->data, 0, mn_bytes(size, sizeof(mn_double4)));
    }
    MN_TRY(MN_FLOW_ROOM(flow->solver.ctx, &flow->known, size));
    return MN_FLOW_ROOM(flow->solver.ctx, &flow->band, size);
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

static mn_status init(mn_solver *solver)
{
    mn_flow *flow = (mn_flow *)solver;
    const mn_flow_def *def = &flow->def;
    int32_t cells[3];
    MN_TRY(count_cells(solver->ctx, def, cells));
    const mn_vec3 half = mn_scale(0.5 * def->dx, mn_v3(cells[0], cells[1], cells[2]));
    bool open[6];
    open_sides(def, open);
    const mn_vec3 low = mn_scale(1.0 / def->dx, mn_sub(def->domain_center, half));
    const mn_vec3 whole = mn_v3(floor(low.x + 0.5), floor(low.y + 0.5), floor(low.z + 0.5));
    MN_TRY(mn_flow_grid_create(solver->ctx, mn_scale(def->dx, whole), def->dx, cells, &flow->grid));
    flow->box[0] = def->fluid;
    for (int32_t a = 0; a < 3; a++) flow->box[a + 1] = cells[a];
    return mn_flow_pressure_create(&flow->grid, open, &flow->pressure);
}

mn_status mn_flow_note_blocks(mn_flow *flow)
{
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->blocks, flow->grid.table.count));
    if (flow->blocks.count > 0)
        mn_copy_bytes(flow->blocks.data, flow->grid.table.coords,
                      mn_bytes(flow->blocks.count, sizeof(mn_ivec3)));
    return MN_OK;
}

void mn_flow_take_inputs(mn_flow *flow, const mn_solver_inputs *inputs)
{
    static const mn_flow_inputs none = {0};
    flow->collider = inputs ? inputs->collider : NULL;
    flow->force = inputs ? inputs->force : (mn_volume){0};
    flow->inputs = inputs && inputs->own ? *(const mn_flow_inputs *)inputs->own : none;
}

static mn_status fill(mn_flow *flow)
{
    flow->before = 0;
    if (flow->def.fluid == MN_FLOW_LIQUID) return mn_flow_liquid_begin(flow);
    MN_TRY(mn_flow_grid_fill(&flow->grid));
    MN_TRY(mn_flow_note_blocks(flow));
    MN_TRY(mn_check_cancelled(flow->solver.ctx));
    MN_TRY(mn_flow_fit(flow));
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->velocity, mn_flow_size(&flow->grid)));
    mn_fill_bytes(flow->velocity.data, 0, mn_bytes(flow->velocity.count, sizeof(mn_double4)));
    MN_TRY(mn_check_cancelled(flow->solver.ctx));
    if (flow->def.boundary == MN_FLOW_TUNNEL)
        for (int64_t at = 0; at < flow->velocity.count; at++)
            flow->velocity.data[at] =
                (mn_double4){flow->def.stream.x, flow->def.stream.y, flow->def.stream.z, 0};
    return mn_flow_smoke_begin(flow);
}

/// Whether the box holds anything of what was asked for.
static bool holds_fluid(const mn_flow *flow)
{
    if (flow->def.fluid == MN_FLOW_LIQUID) return flow->target.count > 0;
    if (!flow->inputs.source || !(flow->def.source_density > 0)) return true;
    for (int64_t at = 0; at < flow->smoke[MN_FLOW_DENSITY].count; at++)
        if (flow->smoke[MN_FLOW_DENSITY].data[at] > 0) return true;
    return false;
}

/// Cells by which the colliders are deep at most; far less than a cell lets fluid through.
static mn_status warn_of_thin_solids(mn_flow *flow)
{
    bool changed;
    double deepest = INFINITY;
    if (!flow->collider) return MN_OK;
    MN_TRY(mn_flow_sample_solids(flow, &changed));
    for (int64_t at = 0; at < flow->solid.count; at++)
        deepest = fmin(deepest, fmin(flow->solid.data[at], flow->solid_nodes.data[at]));
    if (deepest > -0.5 && deepest < 0.5)
        mn_log(
            flow->solver.ctx, MN_LOG_WARNING,
            "The colliders are thinner than a cell, so fluid leaks through them: make them at least %g m thick, or dx "
            "smaller.",
            flow->def.dx);
    return MN_OK;
}

static mn_status place(mn_solver *solver, const mn_solver_inputs *inputs)
{
    mn_flow *flow = (mn_flow *)solver;
    mn_flow_take_inputs(flow, inputs);
    mn_status status = fill(flow);
    if (status == MN_OK) status = warn_of_thin_solids(flow);
    if (status == MN_OK && !holds_fluid(flow))
        mn_log(
            solver->ctx, MN_LOG_WARNING,
            flow->def.fluid == MN_FLOW_LIQUID
                ? "The box holds no liquid at the start: raise level above its floor, move the source into it, or "
                  "make room between the colliders."
                : "The source lies outside of the box and gives no smoke at the start: move it in, or enlarge "
                  "domain_size.");
    mn_flow_take_inputs(flow, NULL);
    flow->placed = status == MN_OK;
    return status;
}

static void release(mn_solver *solver)
{
    mn_flow *flow = (mn_flow *)solver;
    mn_context *ctx = solver->ctx;
    mn_flow_quads *quads[] = {&flow->velocity, &flow->values, &flow->spare, &flow->work};
    for (size_t k = 0; k < MN_COUNT_OF(quads); k++) mn_array_free(ctx, quads[k]);
    for (int32_t k = 0; k < MN_FLOW_SMOKE_FIELDS; k++) {
        mn_array_free(ctx, &flow->smoke[k]);
        mn_array_free(ctx, &flow->next_smoke[k]);
    }
    mn_array_free(ctx, &flow->surface);
    mn_array_free(ctx, &flow->before_step);
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
    mn_array_free(ctx, &flow->drops);
    mn_array_free(ctx, &flow->next_drops);
    mn_array_free(ctx, &flow->impulses);
    mn_array_free(ctx, &flow->particles);
    mn_array_free(ctx, &flow->moved);
    mn_array_free(ctx, &flow->next_particles);
    mn_array_free(ctx, &flow->particle_start);
    mn_array_free(ctx, &flow->surface_nodes);
    mn_array_free(ctx, &flow->known);
    mn_array_free(ctx, &flow->band);
    mn_array_free(ctx, &flow->blocks);
    mn_array_free(ctx, &flow->ripples);
    mn_array_free(ctx, &flow->ripple_quads);
    mn_flow_pressure_free(&flow->pressure);
    mn_flow_grid_free(&flow->grid);
}

static mn_status set_def(mn_solver *solver, const void *next)
{
    const mn_flow *flow = (const mn_flow *)solver;
    const mn_flow_def *def = next, *old = &flow->def;
    if (def->dx != old->dx || def->fluid != old->fluid || def->flat != old->flat ||
        def->boundary != old->boundary || mn_distance(def->domain_center, old->domain_center) > 0 ||
        mn_distance(def->domain_size, old->domain_size) > 0)
        return mn_fail(solver->ctx, MN_ERROR_ARGUMENT,
                       "fluid, dx, boundary and the box cannot change during a simulation.");
    if (mn_flow_inflow_side(def) != mn_flow_inflow_side(old))
        return mn_fail(solver->ctx, MN_ERROR_ARGUMENT,
                       "The stream of a tunnel cannot change its side during a simulation.");
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
        if (flow->surface.count > 0 && flow->surface.data[at] > 0.5) continue;
        const mn_double4 u = flow->velocity.data[at];
        const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        if (!(square <= most)) most = square; // a NaN stays
    }
    return sqrt(most);
}

mn_status mn_flow_max_speed(const mn_flow *flow, double *speed)
{
    MN_TRY(mn_parallel_max(flow->solver.ctx, flow->grid.table.count, MN_FLOW_GRAIN, speed_of, (void *)flow,
                           speed));
    if (!(*speed >= 0)) *speed = flow->grid.table.count == 0 ? 0 : *speed;
    if (!isfinite(*speed))
        return mn_fail(flow->solver.ctx, MN_ERROR_DIVERGED,
                       "The velocity of the flow is no longer finite; use smaller steps (cfl).");
    return MN_OK;
}

static mn_status begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan)
{
    mn_flow *flow = (mn_flow *)solver;
    (void)seconds;
    plan->rounding = 1e-9;
    plan->failure = "The pressure of the flow cannot be solved for";
    plan->advice = "look for solids that squeeze the fluid, or use smaller cells (dx)";
    plan->too_many = "raise dx, cfl or max_substeps";
    if (!flow->placed) MN_TRY(place(solver, inputs));
    mn_flow_take_inputs(flow, inputs);
    return MN_OK;
}

static void shorten(mn_step_limit *limit, double seconds, const char *binding)
{
    if (seconds < limit->longest) limit->longest = seconds, limit->binding = binding;
}

/// The fastest fluid, solid or falling body may cross `cfl` cells, ripples `surface_tension_limit`.
static mn_status find_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit)
{
    mn_flow *flow = (mn_flow *)solver;
    const mn_flow_def *def = &flow->def;
    double speed;
    (void)inputs;
    MN_TRY(mn_flow_max_speed(flow, &speed));
    if (def->boundary == MN_FLOW_TUNNEL) speed = fmax(speed, mn_norm(def->stream));
    if (speed > 0) shorten(limit, def->cfl * def->dx / speed, "the speed of the fluid");
    const double solids = flow->collider ? mn_collider_max_speed(flow->collider) : 0;
    if (solids > speed) shorten(limit, def->cfl * def->dx / solids, "the speed of the colliders");
    if (def->fluid != MN_FLOW_LIQUID) return MN_OK;
    // what falls from rest gets to dx per step in this time
    const double g = mn_norm(def->gravity);
    if (g > 0) shorten(limit, def->cfl * sqrt(def->dx / g), "gravity");
    if (def->sigma > 0)
        shorten(limit,
                def->surface_tension_limit *
                    sqrt(def->density * def->dx * def->dx * def->dx / (3.14159265358979 * def->sigma)),
                "surface tension");
    return MN_OK;
}

static mn_status attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    mn_flow *flow = (mn_flow *)solver;
    (void)inputs;
    flow->before = fmax(solver->left - dt, 0);
    const mn_status status =
        flow->def.fluid == MN_FLOW_LIQUID ? mn_flow_liquid_step(flow, dt) : mn_flow_smoke_step(flow, dt);
    verdict->good = status == MN_OK;
    return status == MN_ERROR_DIVERGED ? MN_OK : status;
}

static mn_status commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    mn_flow *flow = (mn_flow *)solver;
    (void)inputs, (void)dt;
    mn_flow_guard_commit(flow);
    if (flow->def.fluid == MN_FLOW_LIQUID) return mn_flow_liquid_commit(flow);
    mn_flow_smoke_commit(flow);
    return MN_OK;
}

static mn_status end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    (void)inputs;
    mn_flow_take_inputs((mn_flow *)solver, NULL);
    return MN_OK;
}

static void abandon(mn_solver *solver)
{
    mn_flow_take_inputs((mn_flow *)solver, NULL);
}

// ---- saving ----

static const mn_saved saved[] = {
    MN_SAVED_F64(mn_flow, solver.time, 1),
    {"box", MN_STORE_I64, 4, 0, offsetof(mn_flow, box), 1},
    MN_SAVED_BOOL(mn_flow, placed, 1),
    MN_SAVED_ARRAY(mn_flow, blocks, 1),
    MN_SAVED_ARRAY(mn_flow, velocity, 1),
    MN_SAVED_ARRAY(mn_flow, smoke[MN_FLOW_DENSITY], 1),
    MN_SAVED_ARRAY(mn_flow, smoke[MN_FLOW_HEAT], 1),
    MN_SAVED_ARRAY(mn_flow, smoke[MN_FLOW_RED], 1),
    MN_SAVED_ARRAY(mn_flow, smoke[MN_FLOW_GREEN], 1),
    MN_SAVED_ARRAY(mn_flow, smoke[MN_FLOW_BLUE], 1),
    MN_SAVED_ARRAY(mn_flow, surface, 1),
    MN_SAVED_ARRAY(mn_flow, label, 1),
    MN_SAVED_ARRAY(mn_flow, target, 1),
    MN_SAVED_ARRAY(mn_flow, particles, 1),
    MN_SAVED_ARRAY(mn_flow, drops, 1),
    MN_SAVED_I64(mn_flow, drop_id, 1),
    MN_SAVED_BOOL(mn_flow, budget_known, 1),
    MN_SAVED_F64(mn_flow, budget, 1),
    MN_SAVED_F64(mn_flow, peak, 1),
    MN_SAVED_F64(mn_flow, motion, 1),
};

static bool are_finite(int64_t count, const double *values)
{
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(values[k])) return false;
    return true;
}

static mn_status loaded(mn_solver *solver)
{
    mn_flow *flow = (mn_flow *)solver;
    const int32_t *sides = flow->grid.sides;
    bool good = flow->box[0] == (int64_t)flow->def.fluid;
    for (int32_t a = 0; a < 3; a++) good &= flow->box[a + 1] == flow->grid.cells[a];
    if (!good)
        return mn_fail(solver->ctx, MN_ERROR_FORMAT,
                       "The saved flow is of another fluid or another box than the parameters say.");
    const int64_t count = flow->blocks.count;
    for (int64_t b = 0; b < count; b++) {
        const mn_ivec3 c = flow->blocks.data[b];
        good &= c.x >= 0 && c.y >= 0 && c.z >= 0 && c.x < sides[0] && c.y < sides[1] && c.z < sides[2];
    }
    if (!good) return mn_fail(solver->ctx, MN_ERROR_FORMAT, "The saved flow has blocks outside of its box.");
    MN_TRY(mn_flow_grid_set(&flow->grid, count, flow->blocks.data));
    MN_TRY(mn_flow_fit(flow));
    const int64_t size = mn_flow_size(&flow->grid), smoke = flow->def.fluid == MN_FLOW_SMOKE ? size : 0;
    const mn_flow_values *fields = flow->smoke;
    good = flow->grid.table.count == count && flow->velocity.count == size &&
           fields[MN_FLOW_DENSITY].count == smoke && flow->surface.count == size - smoke &&
           flow->label.count == size - smoke && are_finite(flow->surface.count, flow->surface.data) &&
           are_finite(4 * flow->velocity.count, (const double *)flow->velocity.data) &&
           fields[MN_FLOW_RED].count == fields[MN_FLOW_GREEN].count &&
           fields[MN_FLOW_RED].count == fields[MN_FLOW_BLUE].count;
    for (int32_t k = 0; k < MN_FLOW_SMOKE_FIELDS; k++) {
        good &=
            (fields[k].count == smoke || fields[k].count == 0) && are_finite(fields[k].count, fields[k].data);
        MN_TRY(mn_array_resize(solver->ctx, &flow->next_smoke[k], fields[k].count));
    }
    if (!good)
        return mn_fail(solver->ctx, MN_ERROR_FORMAT,
                       "The saved flow is damaged: its fields are of different sizes or not finite.");
    for (int64_t k = 0; k < flow->particles.count; k++) {
        const mn_flow_particle *p = &flow->particles.data[k];
        if (!mn_is_finite3(p->x) || !mn_is_finite3(p->v) || !mn_is_finite3(p->slope[0]) ||
            !mn_is_finite3(p->slope[1]) || !mn_is_finite3(p->slope[2]))
            return mn_fail(solver->ctx, MN_ERROR_FORMAT,
                           "The saved flow is damaged: a particle of it is not finite.");
    }
    for (int64_t d = 0; d < flow->drops.count; d++) {
        const mn_flow_drop *drop = &flow->drops.data[d];
        if (!mn_is_finite3(drop->position) || !mn_is_finite3(drop->velocity) || !(drop->mass > 0) ||
            !(drop->radius > 0) || !isfinite(drop->mass + drop->radius))
            return mn_fail(solver->ctx, MN_ERROR_FORMAT,
                           "The saved flow is damaged: a drop of it is not finite.");
    }
    return MN_OK;
}

const mn_solver_type mn_flow_solver = {
    .name = "flow",
    .fields = mn_flow_fields,
    .field_count = MN_FLOW_FIELD_COUNT,
    .def_size = sizeof(mn_flow_def),
    .sized = true,
    .state_size = sizeof(mn_flow),
    .def_offset = offsetof(mn_flow, def),
    .takes = MN_TAKES_COLLIDER | MN_TAKES_FORCE | MN_TAKES_OWN,
    .paint = 1 << MN_PAINT_CONTACT_ANGLE | 1 << MN_PAINT_SLIP,
    .output_count = 3,
    .check_def = check_def,
    .init = init,
    .free = release,
    .set_def = set_def,
    .place = place,
    .begin = begin,
    .limit = find_limit,
    .attempt = attempt,
    .commit = commit,
    .end = end,
    .abandon = abandon,
    .view = mn_flow_show,
    .report = mn_flow_report_on,
    .saved = saved,
    .saved_count = MN_COUNT_OF(saved),
    .version = 4,
    .oldest = 4,
    .loaded = loaded,
};

// ---- the typed face ----

mn_status mn_flow_create(mn_context *ctx, const mn_flow_def *def, const mn_solver_inputs *inputs,
                         mn_flow **flow)
{
    MN_TRY(mn_solver_create(ctx, &mn_flow_solver, def, (mn_solver **)flow));
    const mn_status status = place((mn_solver *)*flow, inputs);
    if (status != MN_OK) {
        mn_flow_free(*flow);
        *flow = NULL;
    }
    return status;
}

MN_SOLVER_FACE(flow)

mn_status mn_flow_advance(mn_flow *flow, const mn_solver_inputs *inputs, double dt)
{
    return mn_solver_advance(&mn_flow_solver, &flow->solver, inputs, dt);
}
