// SPDX-License-Identifier: Apache-2.0
//
// The ripple map: a grid over the pond, one point per column of cells, with the height of the water above the
// grid, its normal and its velocity, for shading and displacement.
//
//   phi(x, h, z) = 0,  the highest such h of the column;  N = grad phi / |grad phi|
//
// The grid lies at the level of still water, or without one at the mean height. A dry column has the height
// of the floor.
#include "flow/flow_state.h"
#include "flow/surface.h"

enum { BISECTIONS = 40, COLUMN_GRAIN = 64 };

static mn_vec3 at_column(const mn_flow *flow, int64_t column, double y)
{
    const int32_t nz = flow->grid.cells[2];
    return mn_v3((double)(column / nz) + 1.5, y, (double)(column % nz) + 1.5);
}

static double distance_at(const mn_flow *flow, mn_vec3 X, mn_vec3 *slope)
{
    mn_flow_taps taps;
    mn_flow_find_taps(&flow->grid, X, &taps);
    if (slope) *slope = mn_flow_gather_slope(&taps, flow->surface.data);
    return mn_flow_gather_value(&taps, flow->surface.data);
}

static bool is_wet(const mn_flow *flow, int64_t column, double y)
{
    const mn_vec3 X = at_column(flow, column, y);
    return mn_flow_cell_at(&flow->grid, (int32_t)X.x, (int32_t)X.y, (int32_t)X.z) >= 0 &&
           distance_at(flow, X, NULL) < 0;
}

/// Half cells from the top down, then halving.
static mn_status column_range(void *user, mn_range range)
{
    mn_flow *flow = user;
    for (int64_t column = range.begin; column < range.end; column++) {
        mn_flow_ripple *r = &flow->ripples.data[column];
        double high = flow->grid.cells[1] + 1, low = high;
        while (low > 1 && !is_wet(flow, column, low - 0.5)) high = low, low -= 0.5;
        low = fmax(low - 0.5, 1);
        for (int32_t k = 0; k < BISECTIONS && low > 1; k++) {
            const double middle = 0.5 * (low + high);
            if (is_wet(flow, column, middle))
                low = middle;
            else
                high = middle;
        }
        mn_vec3 slope;
        const mn_vec3 X = at_column(flow, column, low);
        distance_at(flow, X, &slope);
        r->position = mn_flow_to_world(&flow->grid, X);
        r->normal = low > 1 && mn_norm2(slope) > 0.01 ? mn_normalize(slope) : mn_v3(0, 1, 0);
        r->velocity = low > 1 ? mn_flow_velocity_at(flow, r->position) : mn_v3(0, 0, 0);
    }
    return MN_OK;
}

static mn_status list_quads(mn_flow *flow)
{
    const int32_t nx = flow->grid.cells[0], nz = flow->grid.cells[2];
    flow->ripple_quads.count = 0;
    for (int32_t x = 0; x + 1 < nx; x++)
        for (int32_t z = 0; z + 1 < nz; z++) {
            const int32_t a = x * nz + z, corners[4] = {a, a + 1, a + nz + 1, a + nz};
            for (int32_t k = 0; k < 4; k++)
                MN_TRY(mn_array_push(flow->solver.ctx, &flow->ripple_quads, &corners[k]));
        }
    return MN_OK;
}

mn_status mn_flow_show(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view)
{
    static const mn_column_def shown[] = {
        {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_flow_ripple, position)},
        {"N", MN_F32, 3, MN_HINT_NORMAL, MN_COLUMN_AT(mn_flow_ripple, normal)},
        {"v", MN_F32, 3, MN_HINT_VECTOR, MN_COLUMN_AT(mn_flow_ripple, velocity)},
        {"height", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_flow_ripple, height)},
    };
    static const mn_column_def flying[] = {
        {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_flow_drop, position)},
        {"v", MN_F32, 3, MN_HINT_VECTOR, MN_COLUMN_AT(mn_flow_drop, velocity)},
        {"pscale", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_flow_drop, radius)},
        {"mass", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_flow_drop, mass)},
        {"id", MN_I64, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_flow_drop, id)},
    };
    mn_flow *flow = (mn_flow *)solver;
    (void)inputs;
    if (output == 2) {
        mn_view_rows(view, flow->drops.count, sizeof(mn_flow_drop), flow->drops.data, flying,
                     MN_COUNT_OF(flying));
        return MN_OK;
    }
    if (output != 1 || flow->def.fluid != MN_FLOW_LIQUID) return MN_OK;
    const int64_t count = (int64_t)flow->grid.cells[0] * flow->grid.cells[2];
    MN_TRY(mn_array_resize(solver->ctx, &flow->ripples, count));
    MN_TRY(mn_parallel_for(solver->ctx, count, COLUMN_GRAIN, column_range, flow));
    double level = flow->def.level;
    if (!flow->def.use_level) {
        level = 0;
        for (int64_t i = 0; i < count; i++) level += flow->ripples.data[i].position.y / (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        mn_flow_ripple *r = &flow->ripples.data[i];
        r->height = r->position.y - level;
        r->position.y = level;
    }
    MN_TRY(list_quads(flow));
    mn_view_rows(view, count, sizeof(mn_flow_ripple), flow->ripples.data, shown, MN_COUNT_OF(shown));
    mn_view_primitives(view, MN_POLYGON, 4, flow->ripple_quads.count / 4, flow->ripple_quads.data);
    return MN_OK;
}
