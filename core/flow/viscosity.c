// SPDX-License-Identifier: Apache-2.0
//
// Viscosity, implicitly: for each component (1 - dt nu lap) u = u_old, with differences between the splines
// of neighbouring cells, by conjugate gradients.
//
//   fluid next to nothing (a free surface, a wall that the fluid slips along): no flux between them
//   no slip, or slip painted below one half: splines in a solid hold the solid's velocity
// Tested: decay of a shear wave (tests/unit/flow/test_smoke.c), vortex street
// (tests/validation/test_flow_vortices.c).
#include "flow/flow_state.h"

static const double least_mass = 1e-3; ///< of a cell; splines of less fluid take no part

typedef struct diffuse_job {
    mn_flow *flow;
    double c; ///< dt nu / dx^2
    const double *x;
    double *y;
    mn_double4 *velocity;
    int32_t axis;
} diffuse_job;

enum { OUTSIDE, FREE, HELD };

/// The cell of the box that is nearest to a cell.
static mn_ivec3 inner_cell(const mn_flow_grid *grid, int32_t block, int32_t cell)
{
    const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
    int32_t in[3] = {c.x, c.y, c.z};
    for (int32_t a = 0; a < 3; a++) in[a] = in[a] < 1 ? 1 : in[a] > grid->cells[a] ? grid->cells[a] : in[a];
    return mn_iv3(in[0], in[1], in[2]);
}

static void mark_block(void *user, int32_t block)
{
    const diffuse_job *job = user;
    mn_flow *flow = job->flow;
    const bool painted = mn_collider_is_painted(flow->collider, MN_PAINT_SLIP);
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 inner = inner_cell(&flow->grid, block, cell);
        const bool inside = mn_flow_cell_at(&flow->grid, inner.x, inner.y, inner.z) == at;
        flow->band.data[at] = inside && flow->pressure.mass.data[at] > least_mass ? FREE : OUTSIDE;
        if ((flow->def.no_slip || painted) && flow->solid.count > 0 && flow->solid.data[at] <= 0) {
            const mn_ivec3 c = mn_block_cell(&flow->grid.table, block, cell);
            const mn_vec3 x = mn_flow_to_world(&flow->grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5));
            if (painted && mn_collider_painted(flow->collider, MN_PAINT_SLIP, flow->def.no_slip ? 0 : 1,
                                               flow->before, x) >= 0.5)
                continue;
            flow->band.data[at] = HELD;
            const mn_vec3 v = mn_collider_probe(flow->collider, flow->before, x).velocity;
            job->velocity[at] = (mn_double4){v.x, v.y, v.z, 0};
        }
    }
}

// y = (1 + c sum over neighbours (1 - .)) x on free splines; held ones enter the right side.
static void apply_block(void *user, int32_t block)
{
    const diffuse_job *job = user;
    const uint8_t *kind = job->flow->band.data;
    static const int32_t step[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        double sum = job->x[at];
        if (kind[at] == FREE)
            for (int32_t k = 0; k < 6; k++) {
                const int32_t n = mn_block_reach(&job->flow->grid.table, block, (cell >> 4) + step[k][0],
                                                 (cell >> 2 & 3) + step[k][1], (cell & 3) + step[k][2]);
                if (n < 0 || kind[n] == OUTSIDE) continue;
                sum += job->c * (job->x[at] - (kind[n] == FREE ? job->x[n] : 0));
            }
        job->y[at] = sum;
    }
}

static mn_status apply(void *user, const double *x, double *y)
{
    diffuse_job *job = user;
    job->x = x, job->y = y;
    return mn_flow_for_blocks(&job->flow->grid, apply_block, job);
}

static void begin_block(void *user, int32_t block)
{
    const diffuse_job *job = user;
    mn_flow *flow = job->flow;
    static const int32_t step[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        double b = job->velocity[at][job->axis];
        flow->pressure.p.data[at] = b;
        if (flow->band.data[at] == FREE)
            for (int32_t k = 0; k < 6; k++) {
                const int32_t n = mn_block_reach(&flow->grid.table, block, (cell >> 4) + step[k][0],
                                                 (cell >> 2 & 3) + step[k][1], (cell & 3) + step[k][2]);
                if (n >= 0 && flow->band.data[n] == HELD) b += job->c * job->velocity[n][job->axis];
            }
        flow->pressure.rhs.data[at] = b;
    }
}

// Splines around the box follow those inside it, mirrored: the box's own sides are slipped along.
static void mirror_block(void *user, int32_t block)
{
    const diffuse_job *job = user;
    const mn_flow_grid *grid = &job->flow->grid;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const mn_ivec3 c = mn_block_cell(&grid->table, block, cell), in = inner_cell(grid, block, cell);
        const int32_t inner = mn_flow_cell_at(grid, in.x, in.y, in.z);
        if (inner == at || inner < 0) continue;
        const int32_t off[3] = {c.x - in.x, c.y - in.y, c.z - in.z};
        const double change = job->flow->pressure.p.data[inner] - job->velocity[inner][job->axis];
        job->flow->pressure.p.data[at] = job->velocity[at][job->axis] + (off[job->axis] ? -change : change);
    }
}

static void end_block(void *user, int32_t block)
{
    const diffuse_job *job = user;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        job->velocity[at][job->axis] = job->flow->pressure.p.data[at];
}

mn_status mn_flow_diffuse(mn_flow *flow, double dt, mn_double4 *velocity)
{
    const double nu = flow->def.viscosity / flow->def.density;
    diffuse_job job = {.flow = flow, .c = dt * nu / (flow->grid.dx * flow->grid.dx), .velocity = velocity};
    if (!(job.c > 0)) return MN_OK;
    mn_timer_begin(&flow->solver.timers, "viscosity");
    MN_TRY(mn_array_resize(flow->solver.ctx, &flow->band, mn_flow_size(&flow->grid)));
    MN_TRY(mn_flow_for_blocks(&flow->grid, mark_block, &job));
    const mn_linear_problem problem = {mn_flow_size(&flow->grid), apply, &job, NULL, NULL};
    mn_krylov_def def = mn_krylov_default_def();
    def.tolerance = 1e-8, def.absolute = 1e-300, def.max_iterations = 500;
    for (job.axis = 0; job.axis < 3; job.axis++) {
        mn_krylov_result result;
        MN_TRY(mn_flow_for_blocks(&flow->grid, begin_block, &job));
        MN_TRY(mn_conjugate_gradients(flow->pressure.krylov, &problem, &def, flow->pressure.rhs.data,
                                      flow->pressure.p.data, &result));
        MN_TRY(mn_flow_for_blocks(&flow->grid, mirror_block, &job));
        MN_TRY(mn_flow_for_blocks(&flow->grid, end_block, &job));
    }
    mn_timer_end(&flow->solver.timers, "viscosity");
    return MN_OK;
}
