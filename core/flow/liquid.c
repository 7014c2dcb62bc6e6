// SPDX-License-Identifier: Apache-2.0
//
// One step of a liquid with a free surface:
//
//   phi' = carried by u at the closest point of the surface          (surface.c)
//   sources and drops join, volumes of bodies are kept                (bodies.c)
//   w    = u + Q (A(u; u, dt) - u at centres)                         Q: values to coefficients
//   u'   = P (w + dt/rho M^-1 (tension and gravity on phi'))          (surface_load.c, project.c)
//   splines with hardly any liquid take the velocity of the closest point
//
// phi moves with the old velocity and pushes the new one: symplectic Euler, so waves neither grow nor fade by
// it. Advection and projection, not reflection, which is unstable at a free surface; potential flow loses
// nothing by it. Only what advection changes goes through the quasi-inverse: all of u through it, step for
// step, works on the kink where velocity is extended into the air, and made ripples grow by 1 to 3 % in a
// period. Next to solids all of it does: splines that a wall cuts have parts that no fluid sees, and what is
// not read again from the fluid gathers there. Splines inside a solid whose wall is wet keep what was carried
// to them.
#include "base/elementary.h"
#include "flow/surface.h"
#include "meniscus/array.h"

#include <string.h>

static const double extended_mass =
    1e-4; ///< of a full spline's mass; those with less take the closest point's velocity
static const double alpha = 0.3;                       ///< checkerboard weight
static const double solid_reach = 1.5, solid_ramp = 1; ///< cells from a solid: see kept_fraction()

typedef struct liquid_job {
    mn_flow *flow;
    mn_double4 *velocity;
    const mn_double4 *from;
    mn_flow_distance_fn *distance;
    void *user;
} liquid_job;

// ---- the start ----

static double initial_distance(const mn_flow *flow, mn_vec3 x)
{
    double distance = flow->def.use_level ? x.y - flow->def.level : INFINITY;
    if (flow->inputs.source) {
        double d;
        mn_collider_distance(flow->inputs.source, 0, 1, &x, &d);
        distance = fmin(distance, d);
    }
    return distance;
}

static double begun_distance(const liquid_job *job, mn_ivec3 c)
{
    const mn_flow_grid *grid = &job->flow->grid;
    const mn_vec3 x = mn_flow_to_world(grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
    const double phi = job->distance ? job->distance(job->user, x) : initial_distance(job->flow, x);
    return isnan(phi) ? MN_FLOW_FAR : fmin(fmax(phi / grid->dx, -MN_FLOW_FAR), MN_FLOW_FAR);
}

static mn_ivec3 block_of(const mn_flow_grid *grid, int64_t k)
{
    const int32_t *n = grid->sides;
    return mn_iv3((int32_t)(k / n[2] / n[1]), (int32_t)(k / n[2] % n[1]), (int32_t)(k % n[2]));
}

// Marks the blocks of the box that have liquid or are near it.
static mn_status near_range(void *user, mn_range range)
{
    const liquid_job *job = user;
    for (int64_t k = range.begin; k < range.end; k++) {
        const mn_ivec3 b = block_of(&job->flow->grid, k);
        bool near = false;
        for (int32_t cell = 0; cell < 64 && !near; cell++)
            near = begun_distance(job, mn_iv3(4 * b.x + (cell >> 4), 4 * b.y + (cell >> 2 & 3),
                                              4 * b.z + (cell & 3))) < MN_FLOW_FAR;
        job->flow->known.data[k] = near;
    }
    return MN_OK;
}

/// These blocks, so that a puddle in a large box takes the memory of a puddle.
static mn_status begin_blocks(mn_flow *flow, liquid_job *job)
{
    mn_flow_grid *grid = &flow->grid;
    mn_context *ctx = flow->solver.ctx;
    const int64_t all = (int64_t)grid->sides[0] * grid->sides[1] * grid->sides[2];
    MN_TRY(mn_array_resize(ctx, &flow->known, all));
    MN_TRY(mn_parallel_long(ctx, all, 4, near_range, job));
    MN_TRY(mn_array_resize(ctx, &grid->coords, 0));
    for (int64_t k = 0; k < all; k++) {
        const mn_ivec3 b = block_of(grid, k);
        if (flow->known.data[k]) MN_TRY(mn_array_push(ctx, &grid->coords, &b));
    }
    return mn_flow_grid_set(grid, grid->coords.count, grid->coords.data);
}

static void initial_block(void *user, int32_t block)
{
    const liquid_job *job = user;
    mn_flow *flow = job->flow;
    for (int32_t cell = 0; cell < 64; cell++) {
        const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
        mn_flow_plane_of(flow, MN_FLOW_PHI)[(int64_t)block * 64 + cell] = begun_distance(job, c);
    }
}

static mn_status build(mn_flow *flow)
{
    const mn_flow_region region = {flow->surface_nodes.data,
                                   flow->solid_nodes.count > 0 ? flow->solid_nodes.data : NULL};
    mn_flow_pressure_lend(&flow->pressure, flow->values.data, flow->spare.data);
    MN_TRY(mn_flow_pressure_build(&flow->pressure, &region, alpha, true));
    return mn_flow_wall_flux(flow);
}

static mn_status start(mn_flow *flow, mn_flow_distance_fn *fn, void *user)
{
    mn_context *ctx = flow->solver.ctx;
    bool changed;
    liquid_job job = {.flow = flow, .distance = fn, .user = user};
    MN_TRY(begin_blocks(flow, &job));
    MN_TRY(mn_flow_note_blocks(flow));
    MN_TRY(mn_flow_fit(flow));
    const int64_t size = mn_flow_size(&flow->grid);
    MN_TRY(mn_array_resize(ctx, &flow->velocity, size));
    MN_TRY(mn_array_resize(ctx, &flow->surface, size));
    MN_TRY(mn_array_resize(ctx, &flow->label, size));
    mn_fill_bytes(flow->velocity.data, 0, mn_bytes(size, sizeof(mn_double4)));
    mn_fill_bytes(flow->label.data, 0xff, mn_bytes(size, sizeof(int32_t)));
    flow->target.count = flow->particles.count = flow->drops.count = 0;
    MN_TRY(mn_flow_for_blocks(&flow->grid, initial_block, &job));
    MN_TRY(mn_flow_surface_finish(flow));
    MN_TRY(mn_flow_surface_activate(flow));
    MN_TRY(mn_flow_sample_solids(flow, &changed));
    MN_TRY(mn_flow_surface_to_nodes(flow));
    MN_TRY(mn_flow_surface_values(flow));
    MN_TRY(mn_flow_bodies(flow));
    const mn_flow_labels labels = flow->label;
    flow->label = flow->next_label, flow->next_label = labels;
    MN_TRY(mn_array_resize(ctx, &flow->target, flow->next_target.count));
    for (int64_t b = 0; b < flow->target.count; b++) flow->target.data[b] = flow->volume.data[b];
    return flow->grid.table.count > 0 ? build(flow) : MN_OK;
}

mn_status mn_flow_liquid_begin(mn_flow *flow)
{
    return start(flow, NULL, NULL);
}

mn_status mn_flow_set_surface(mn_flow *flow, mn_flow_distance_fn *fn, void *user)
{
    mn_flow_take_inputs(flow, NULL);
    if (flow->def.fluid != MN_FLOW_LIQUID)
        return mn_fail(flow->solver.ctx, MN_ERROR_ARGUMENT,
                       "Only a liquid has a surface; set fluid to liquid.");
    return start(flow, fn, user);
}

// ---- what joins ----

// Liquid that a source region gives: phi becomes the union, velocity there the source's.
static void source_block(void *user, int32_t block)
{
    const liquid_job *job = user;
    mn_flow *flow = job->flow;
    mn_vec3 x[64];
    double distance[64], *phi = mn_flow_plane_of(flow, MN_FLOW_PHI);
    for (int32_t cell = 0; cell < 64; cell++) {
        const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
        x[cell] = mn_flow_to_world(&flow->grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
    }
    mn_collider_distance(flow->inputs.source, flow->before, 64, x, distance);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const double d = distance[cell] / flow->grid.dx;
        if (d < phi[at]) phi[at] = fmax(d, -MN_FLOW_FAR);
        if (d < 0.5) {
            const mn_vec3 v = mn_collider_probe(flow->inputs.source, flow->before, x[cell]).velocity;
            const double s = flow->def.inherit_velocity;
            job->velocity[at] = (mn_double4){s * v.x, s * v.y, s * v.z, 0};
        }
    }
}

// Sources and drops; MN_FLOW_GAINED says what each cell got, so that bodies keep it.
static mn_status join(mn_flow *flow, double dt, mn_double4 *velocity)
{
    const int64_t size = mn_flow_size(&flow->grid);
    double *gained = mn_flow_plane_of(flow, MN_FLOW_GAINED);
    const double *volumes = mn_flow_plane_of(flow, MN_FLOW_VOLUMES);
    flow->gains = false;
    flow->impulses.count = 0;
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->next_drops, 0));
    flow->next_id = flow->drop_id;
    if (!flow->inputs.source && flow->inputs.drop_count == 0 && flow->drops.count == 0) return MN_OK;
    flow->gains = true;
    mn_fill_bytes(gained, 0, mn_bytes(size, sizeof(double)));
    MN_TRY(mn_flow_measure(flow));
    MN_TRY(mn_flow_join_drops(flow, dt, velocity));
    if (flow->impulses.count > 0) {
        MN_TRY(mn_flow_surface_finish(flow));
        MN_TRY(mn_flow_surface_to_nodes(flow));
        MN_TRY(mn_flow_surface_values(flow));
        if (flow->inputs.source) MN_TRY(mn_flow_measure(flow));
    }
    if (flow->inputs.source && flow->def.source_density > 0) {
        liquid_job job = {.flow = flow, .velocity = velocity};
        for (int64_t at = 0; at < size; at++) gained[at] -= volumes[at];
        MN_TRY(mn_flow_for_blocks(&flow->grid, source_block, &job));
        MN_TRY(mn_flow_surface_finish(flow));
        MN_TRY(mn_flow_surface_to_nodes(flow));
        MN_TRY(mn_flow_surface_values(flow));
        MN_TRY(mn_flow_measure(flow));
        for (int64_t at = 0; at < size; at++) gained[at] += volumes[at];
    }
    return MN_OK;
}

// ---- the step ----

static void extend_block(void *user, int32_t block)
{
    const liquid_job *job = user;
    mn_flow *flow = job->flow;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        mn_double4 u = job->from[at];
        if (!flow->known.data[at]) {
            u = (mn_double4){0, 0, 0, 0};
        } else if (flow->pressure.mass.data[at] <
                   extended_mass * mn_flow_full_mass(&flow->pressure, block, cell)) {
            const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
            const mn_vec3 X = mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5);
            if (!mn_flow_is_behind_wall(flow, X)) {
                const mn_vec3 v = mn_flow_surface_velocity(flow, job->from, X);
                u = (mn_double4){v.x, v.y, v.z, 0};
            }
        }
        job->velocity[at] = u;
    }
}

// How much of a spline stays beside what advection changes: none of those that a solid cuts.
MN_INLINE double kept_fraction(const mn_flow *flow, int64_t at)
{
    if (flow->solid.count == 0) return 1;
    return fmin(fmax((flow->solid.data[at] - solid_reach) / solid_ramp, 0), 1);
}

static void keep_block(void *user, int32_t block)
{
    const liquid_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        job->velocity[at] = kept_fraction(job->flow, at) * job->flow->velocity.data[at];
}

static void add_kept_block(void *user, int32_t block)
{
    const liquid_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        if (job->flow->known.data[at])
            job->velocity[at] += kept_fraction(job->flow, at) * job->flow->velocity.data[at];
}

// New surface in `surface`, new velocity in `values`, new labels and targets beside the old ones.
static mn_status take_step(mn_flow *flow, double dt)
{
    const mn_flow_def *def = &flow->def;
    const mn_flow_grid *grid = &flow->grid;
    bool changed;
    mn_flow_projection projection;
    mn_timer_begin(&flow->solver.timers, "solids");
    MN_TRY(mn_flow_sample_solids(flow, &changed));
    mn_timer_end(&flow->solver.timers, "solids");

    mn_timer_begin(&flow->solver.timers, "advection");
    MN_TRY(mn_flow_surface_mark(flow));
    const mn_flow_carrier carrier = {grid,
                                     flow->velocity.data,
                                     dt,
                                     def->advection,
                                     flow->known.data,
                                     flow->solid.count > 0 ? flow->solid.data : NULL,
                                     mn_flow_inflow_side(def),
                                     flow->pressure.open};
    liquid_job change = {.flow = flow, .velocity = flow->work.data};
    MN_TRY(mn_flow_for_blocks(grid, keep_block, &change));
    const mn_vec3 stream = def->boundary == MN_FLOW_TUNNEL ? def->stream : mn_v3(0, 0, 0);
    const mn_flow_carried moved = {
        flow->velocity.data, flow->values.data, {stream.x, stream.y, stream.z, 0}, flow->work.data};
    MN_TRY(mn_flow_advect(&carrier, &moved));
    mn_fill_bytes(flow->work.data, 0, mn_bytes(mn_flow_size(grid), sizeof(mn_double4)));
    MN_TRY(mn_flow_coefficients(grid, flow->known.data, flow->values.data, flow->work.data));
    MN_TRY(mn_flow_for_blocks(grid, add_kept_block, &change));
    MN_TRY(mn_flow_band_to_grid(flow, dt, flow->work.data));
    mn_timer_end(&flow->solver.timers, "advection");

    mn_timer_begin(&flow->solver.timers, "surface");
    MN_TRY(mn_flow_surface_carry(flow, dt));
    MN_TRY(mn_flow_surface_finish(flow));
    MN_TRY(mn_flow_surface_to_nodes(flow));
    MN_TRY(mn_flow_surface_values(flow));
    if (def->band > 0) {
        MN_TRY(mn_flow_band_to_surface(flow));
        MN_TRY(mn_flow_surface_finish(flow));
        MN_TRY(mn_flow_surface_to_nodes(flow));
        MN_TRY(mn_flow_surface_values(flow));
    }
    MN_TRY(join(flow, dt, flow->work.data));
    MN_TRY(mn_flow_bodies(flow));
    if (def->band > 0) { // particles change more of it than one shift makes good
        MN_TRY(mn_flow_surface_finish(flow));
        MN_TRY(mn_flow_surface_to_nodes(flow));
        MN_TRY(mn_flow_surface_values(flow));
        MN_TRY(mn_flow_bodies(flow));
    }
    MN_TRY(mn_flow_shed_drops(flow, flow->work.data));
    MN_TRY(mn_flow_surface_finish(flow));
    MN_TRY(mn_flow_surface_to_nodes(flow));
    mn_timer_end(&flow->solver.timers, "surface");
    MN_TRY(mn_check_cancelled(flow->solver.ctx));

    mn_timer_begin(&flow->solver.timers, "matrices");
    MN_TRY(build(flow));
    mn_timer_end(&flow->solver.timers, "matrices");
    mn_timer_begin(&flow->solver.timers, "tension");
    if (def->sigma > 0) MN_TRY(mn_flow_surface_curvature(flow));
    MN_TRY(mn_flow_surface_load(flow, dt, flow->values.data));
    mn_flow_load_impulses(flow, flow->values.data);
    mn_timer_end(&flow->solver.timers, "tension");
    MN_TRY(mn_flow_push(flow, dt, flow->work.data));
    MN_TRY(mn_flow_diffuse(flow, dt, flow->work.data));
    mn_timer_begin(&flow->solver.timers, "projection");
    mn_flow_pressure_lend(&flow->pressure, flow->values.data, flow->spare.data);
    MN_TRY(mn_flow_project(&flow->pressure, def->tolerance, flow->values.data, flow->work.data, &projection));
    flow->solver.counts.linear_iterations += projection.iterations;
    mn_timer_end(&flow->solver.timers, "projection");

    MN_TRY(mn_flow_guard(flow, dt, flow->work.data));
    mn_timer_begin(&flow->solver.timers, "surface");
    MN_TRY(mn_flow_surface_mark(flow));
    liquid_job job = {.flow = flow, .velocity = flow->values.data, .from = flow->work.data};
    MN_TRY(mn_flow_for_blocks(grid, extend_block, &job));
    MN_TRY(mn_flow_band_from_grid(flow, flow->values.data));
    mn_timer_end(&flow->solver.timers, "surface");
    return MN_OK;
}

mn_status mn_flow_liquid_step(mn_flow *flow, double dt)
{
    MN_TRY(mn_flow_surface_activate(flow));
    if (flow->grid.table.count == 0) {
        MN_TRY(mn_array_resize(flow->solver.ctx, &flow->next_particles, 0));
        return mn_flow_move_drops(flow, dt);
    }
    const int64_t size = mn_flow_size(&flow->grid);
    MN_TRY(MN_FLOW_ROOM(flow->solver.ctx, &flow->before_step, size));
    mn_copy_bytes(flow->before_step.data, flow->surface.data, mn_bytes(size, sizeof(double)));
    const mn_status status = take_step(flow, dt);
    if (status != MN_OK)
        mn_copy_bytes(flow->surface.data, flow->before_step.data, mn_bytes(size, sizeof(double)));
    return status;
}

mn_status mn_flow_liquid_commit(mn_flow *flow)
{
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->drops, flow->next_drops.count));
    if (flow->drops.count > 0)
        mn_copy_bytes(flow->drops.data, flow->next_drops.data,
                      mn_bytes(flow->drops.count, sizeof(mn_flow_drop)));
    flow->drop_id = flow->next_id;
    const mn_flow_particles particles = flow->particles;
    flow->particles = flow->next_particles, flow->next_particles = particles;
    if (flow->grid.table.count == 0) return MN_OK;
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->target, flow->next_target.count));
    const mn_flow_quads velocity = flow->velocity;
    flow->velocity = flow->values, flow->values = velocity;
    const mn_flow_labels labels = flow->label;
    flow->label = flow->next_label, flow->next_label = labels;
    if (flow->target.count > 0)
        mn_copy_bytes(flow->target.data, flow->next_target.data,
                      mn_bytes(flow->target.count, sizeof(double)));
    return MN_OK;
}
