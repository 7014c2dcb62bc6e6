// SPDX-License-Identifier: Apache-2.0
//
// Solids as the flow sees them: their distance at nodes and centres, in cells, and what they push.
//
//   wall_a = int_wall chi_a (v . n),  n out of the fluid
//
// over the wetted triangles of cut cells, and over the side that a tunnel's stream comes in through.
#include "base/union_find.h"
#include "flow/flow_state.h"
#include "meniscus/array.h"

#include <string.h>

typedef struct solids_job {
    mn_flow *flow;
    int32_t inflow;
    double influx; ///< m/s, of the stream along that side's axis
} solids_job;

enum { FAR = 8 }; ///< cells; farther is as far as this

static mn_status sample_range(void *user, mn_range range)
{
    const solids_job *job = user;
    mn_flow *flow = job->flow;
    for (int64_t block = range.begin; block < range.end; block++) {
        mn_vec3 x[128];
        double distance[128];
        for (int32_t cell = 0; cell < 64; cell++) {
            const mn_ivec3 c = mn_block_cell(&flow->grid.table, (int32_t)block, cell);
            x[cell] = mn_flow_to_world(&flow->grid, mn_v3(c.x, c.y, c.z));
            x[64 + cell] = mn_flow_to_world(&flow->grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
        }
        mn_collider_distance(flow->collider, flow->before, 128, x, distance);
        for (int32_t cell = 0; cell < 64; cell++) {
            const double scale = 1.0 / flow->grid.dx;
            flow->solid_nodes.data[block * 64 + cell] = fmin(fmax(distance[cell] * scale, -FAR), FAR);
            flow->solid.data[block * 64 + cell] = fmin(fmax(distance[64 + cell] * scale, -FAR), FAR);
        }
    }
    return MN_OK;
}

mn_status mn_flow_sample_solids(mn_flow *flow, bool *changed)
{
    mn_context *ctx = flow->solver.ctx;
    const int64_t size = flow->collider ? mn_flow_size(&flow->grid) : 0;
    MN_TRY(MN_FLOW_ROOM(ctx, &flow->solid_nodes, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &flow->solid, size));
    if (size > 0) {
        solids_job job = {.flow = flow};
        MN_TRY(mn_parallel_long(ctx, flow->grid.table.count, MN_FLOW_GRAIN, sample_range, &job));
    }
    *changed = flow->solid_built.count != size ||
               (size > 0 &&
                memcmp(flow->solid_built.data, flow->solid_nodes.data, mn_bytes(size, sizeof(double))) != 0);
    if (*changed) {
        MN_TRY(mn_array_resize(ctx, &flow->solid_built, size));
        if (size > 0)
            mn_copy_bytes(flow->solid_built.data, flow->solid_nodes.data, mn_bytes(size, sizeof(double)));
    }
    return MN_OK;
}

int32_t mn_flow_inflow_side(const mn_flow_def *def)
{
    if (def->boundary != MN_FLOW_TUNNEL) return -1;
    const double s[3] = {def->stream.x, def->stream.y, def->stream.z};
    int32_t axis = 0;
    for (int32_t a = 1; a < 3; a++)
        if (fabs(s[a]) > fabs(s[axis])) axis = a;
    return s[axis] == 0 ? -1 : 2 * axis + (s[axis] < 0);
}

/// One cell's wetted triangles.
typedef struct wall_sum {
    const mn_flow *flow;
    mn_vec3 cell;
    double flux[8];
} wall_sum;

static void add_wall(void *user, bool solid, const mn_vec3 corners[3], mn_vec3 normal)
{
    wall_sum *sum = user;
    if (!solid) return;
    for (int32_t k = 0; k < 7; k++) {
        const double *b = mn_flow_triangle_points[k];
        const mn_vec3 x = mn_add(mn_add(mn_scale(b[0], corners[0]), mn_scale(b[1], corners[1])),
                                 mn_scale(b[2], corners[2]));
        const mn_vec3 v = mn_collider_probe(sum->flow->collider, sum->flow->before,
                                            mn_flow_to_world(&sum->flow->grid, mn_add(sum->cell, x)))
                              .velocity;
        const double flux = mn_flow_triangle_weights[k] * mn_dot(v, normal);
        for (int32_t n = 0; n < 8; n++)
            sum->flux[n] +=
                flux * (n >> 2 ? x.x : 1 - x.x) * (n >> 1 & 1 ? x.y : 1 - x.y) * (n & 1 ? x.z : 1 - x.z);
    }
}

static void wall_block(void *user, int32_t block)
{
    const solids_job *job = user;
    mn_flow *flow = job->flow;
    const mn_block_table *table = &flow->grid.table;
    const bool liquid = flow->def.fluid == MN_FLOW_LIQUID;
    for (int32_t cell = 0; cell < 64; cell++) {
        if (flow->pressure.kind.data[(int64_t)block * 64 + cell] != MN_FLOW_CUT) continue;
        const mn_ivec3 c = mn_block_cell(table, block, cell);
        double surface[8], solid[8];
        int32_t node[8];
        wall_sum sum = {.flow = flow, .cell = mn_v3(c.x, c.y, c.z)};
        for (int32_t n = 0; n < 8; n++) {
            node[n] = mn_block_reach(table, block, (cell >> 4) + (n >> 2), (cell >> 2 & 3) + (n >> 1 & 1),
                                     (cell & 3) + (n & 1));
            solid[n] = flow->solid_nodes.data[node[n]];
            if (liquid) surface[n] = flow->surface_nodes.data[node[n]];
        }
        mn_flow_cut_triangles(liquid ? surface : NULL, solid, add_wall, &sum);
        for (int32_t n = 0; n < 8; n++) flow->pressure.wall.data[node[n]] += sum.flux[n];
    }
}

// What the stream brings in through its side. G leaves closed sides out, so on a constant velocity it gives
// what passes them: int_side chi_a n = -(G e)_a exactly, also where the surface of a liquid cuts the side,
// and a uniform stream has no divergence at all.
static void unit_block(void *user, int32_t block)
{
    const solids_job *job = user;
    mn_flow_pressure *s = &job->flow->pressure;
    for (int32_t d = 0; d < 3; d++)
        for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
            s->v[d][at] = d == job->inflow >> 1 && s->mass.data[at] > 0;
}

static void inflow_block(void *user, int32_t block)
{
    const solids_job *job = user;
    mn_flow *flow = job->flow;
    const int32_t axis = job->inflow >> 1, high = job->inflow & 1;
    for (int32_t cell = 0; cell < 64; cell++) {
        const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
        const int32_t place = axis == 0 ? c.x : axis == 1 ? c.y : c.z;
        const int64_t at = (int64_t)block * 64 + cell;
        if (place == (high ? flow->grid.cells[axis] + 1 : 1))
            flow->pressure.wall.data[at] = -job->influx * flow->pressure.rhs.data[at];
    }
}

mn_status mn_flow_wall_flux(mn_flow *flow)
{
    const mn_vec3 s = flow->def.stream;
    solids_job job = {.flow = flow, .inflow = mn_flow_inflow_side(&flow->def)};
    const bool moving = flow->collider && mn_collider_max_speed(flow->collider) > 0;
    MN_TRY(MN_FLOW_ROOM(flow->solver.ctx, &flow->pressure.wall,
                        moving || job.inflow >= 0 ? mn_flow_size(&flow->grid) : 0));
    if (flow->pressure.wall.count == 0) return MN_OK;
    mn_fill_bytes(flow->pressure.wall.data, 0, mn_bytes(flow->pressure.wall.count, sizeof(double)));
    if (job.inflow >= 0) {
        job.influx = job.inflow < 2 ? s.x : job.inflow < 4 ? s.y : s.z;
        MN_TRY(mn_flow_for_blocks(&flow->grid, unit_block, &job));
        MN_TRY(mn_flow_divergence(&flow->pressure, flow->pressure.rhs.data));
        MN_TRY(mn_flow_for_blocks(&flow->grid, inflow_block, &job));
    }
    if (moving) MN_TRY(mn_flow_for_coloured_blocks(&flow->grid, wall_block, &job));
    return MN_OK;
}

// ---- tunnels that solids block ----

static const double passable =
    -0.87; ///< cells, of a centre's distance: a corner may lie outside of the solid

static int32_t place_along(mn_ivec3 c, int32_t axis)
{
    return axis == 0 ? c.x : axis == 1 ? c.y : c.z;
}

/// Joins a cell of the box with those after it, and those at the outlet with each other.
static void join_cell(mn_flow *flow, int32_t outlet, int32_t at, int32_t *first)
{
    const mn_flow_grid *grid = &flow->grid;
    const int32_t *n = grid->cells, axis = outlet / 2;
    const mn_ivec3 c = mn_block_cell(&grid->table, at / MN_BLOCK_CELLS, at % MN_BLOCK_CELLS);
    if (!mn_flow_in_box(grid, c) || flow->solid.data[at] < passable) return;
    for (int32_t a = 0; a < 3; a++) {
        if (place_along(c, a) == n[a]) continue;
        const int32_t next = mn_flow_cell_at(grid, c.x + (a == 0), c.y + (a == 1), c.z + (a == 2));
        if (next >= 0 && flow->solid.data[next] >= passable) mn_union_join(flow->stack.data, at, next);
    }
    if (place_along(c, axis) != (outlet & 1 ? n[axis] : 1)) return;
    if (*first < 0) *first = at;
    mn_union_join(flow->stack.data, at, *first);
}

mn_status mn_flow_check_tunnel(mn_flow *flow)
{
    const mn_flow_grid *grid = &flow->grid;
    const int32_t inflow = mn_flow_inflow_side(&flow->def), axis = inflow / 2;
    const int32_t size = (int32_t)flow->solid.count;
    int32_t first = -1;
    if (inflow < 0 || size == 0) return MN_OK;
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->stack, size));
    for (int32_t at = 0; at < size; at++) flow->stack.data[at] = at;
    for (int32_t at = 0; at < size; at++) join_cell(flow, inflow ^ 1, at, &first);
    MN_TRY(mn_check_cancelled(flow->solver.ctx));
    for (int32_t at = 0; at < size; at++) {
        const mn_ivec3 c = mn_block_cell(&grid->table, at / MN_BLOCK_CELLS, at % MN_BLOCK_CELLS);
        if (!mn_flow_in_box(grid, c) || flow->solid.data[at] < 0 ||
            place_along(c, axis) != (inflow & 1 ? grid->cells[axis] : 1))
            continue;
        if (first < 0 || mn_union_root(flow->stack.data, at) != mn_union_root(flow->stack.data, first))
            return mn_fail(
                flow->solver.ctx, MN_ERROR_INPUT,
                "The colliders block the tunnel, so what streams in cannot leave: leave a gap, or set "
                "boundary to closed.");
    }
    return MN_OK;
}

// ---- the force volume ----

typedef struct push_job {
    mn_flow *flow;
    double dt;
    mn_double4 *velocity;
} push_job;

static mn_status push_range(void *user, mn_range range)
{
    const push_job *job = user;
    for (int64_t block = range.begin; block < range.end; block++)
        for (int32_t cell = 0; cell < 64; cell++) {
            const mn_ivec3 c = mn_block_cell(&job->flow->grid.table, (int32_t)block, cell);
            const mn_vec3 x = mn_flow_to_world(&job->flow->grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
            const mn_vec3 a = mn_volume_sample_vec3(job->flow->force, x);
            if (!mn_is_finite3(a))
                return mn_fail(job->flow->solver.ctx, MN_ERROR_INPUT,
                               "The force volume is not finite at (%g, %g, %g); clean it or disconnect it.",
                               x.x, x.y, x.z);
            job->velocity[block * 64 + cell] += job->dt * (mn_double4){a.x, a.y, a.z, 0};
        }
    return MN_OK;
}

mn_status mn_flow_push(mn_flow *flow, double dt, mn_double4 *velocity)
{
    push_job job = {flow, dt, velocity};
    if (!flow->force.ops) return MN_OK;
    return mn_parallel_long(flow->solver.ctx, flow->grid.table.count, MN_FLOW_GRAIN, push_range, &job);
}
