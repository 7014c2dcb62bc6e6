// SPDX-License-Identifier: Apache-2.0
//
// Vorticity confinement [fedkiw2001]: a force that turns eddies of the size of a cell, which advection damps.
//
//   w = curl u,  n = grad |w| / |grad |w||,  f = confinement dx (n x w)
//
// by differences between the coefficients of neighbouring cells. It is a look, not physics, and off by
// default: advection and reflection keep eddies without it. Tested: tests/unit/flow/test_smoke.c.
#include "flow/flow_state.h"

static const double least_rise = 1e-6; ///< of |w| in a cell; an even eddy has no centre to turn about

typedef struct confinement_job {
    const mn_flow_grid *grid;
    mn_double4 *velocity;
    mn_double4 *curl; ///< w and |w| of each cell, 1/s
    double push;      ///< confinement dx dt
} confinement_job;

static bool is_in_box(const mn_flow_grid *grid, int32_t block, int32_t cell)
{
    const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
    return c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= grid->cells[0] && c.y <= grid->cells[1] &&
           c.z <= grid->cells[2];
}

/// Half the difference of the cells on either side along an axis; zero at the end of the blocks.
static void slope_of(const mn_flow_grid *grid, int32_t block, int32_t cell, int32_t axis,
                     const mn_double4 *field, mn_double4 *slope)
{
    const int32_t x = axis == 0, y = axis == 1, z = axis == 2;
    const int32_t low =
        mn_block_reach(&grid->table, block, (cell >> 4) - x, (cell >> 2 & 3) - y, (cell & 3) - z);
    const int32_t high =
        mn_block_reach(&grid->table, block, (cell >> 4) + x, (cell >> 2 & 3) + y, (cell & 3) + z);
    *slope = (mn_double4){0, 0, 0, 0};
    if (low >= 0 && high >= 0) *slope = 0.5 * (field[high] - field[low]);
}

static void curl_block(void *user, int32_t block)
{
    const confinement_job *job = user;
    for (int32_t cell = 0; cell < 64; cell++) {
        mn_double4 s[3];
        for (int32_t a = 0; a < 3; a++) slope_of(job->grid, block, cell, a, job->velocity, &s[a]);
        const mn_vec3 w =
            mn_scale(1 / job->grid->dx, mn_v3(s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]));
        job->curl[(int64_t)block * 64 + cell] = is_in_box(job->grid, block, cell)
                                                    ? (mn_double4){w.x, w.y, w.z, mn_norm(w)}
                                                    : (mn_double4){0, 0, 0, 0};
    }
}

static void push_block(void *user, int32_t block)
{
    const confinement_job *job = user;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!is_in_box(job->grid, block, cell)) continue;
        mn_double4 s[3];
        for (int32_t a = 0; a < 3; a++) slope_of(job->grid, block, cell, a, job->curl, &s[a]);
        const mn_vec3 rise = mn_v3(s[0][3], s[1][3], s[2][3]);
        const double steep = mn_norm(rise);
        if (!(steep > least_rise * job->curl[at][3])) continue;
        const mn_vec3 f = mn_cross(mn_scale(job->push / steep, rise), mn_flow_vec(&job->curl[at]));
        job->velocity[at] += (mn_double4){f.x, f.y, f.z, 0};
    }
}

mn_status mn_flow_confine(mn_flow *flow, double dt, mn_double4 *velocity)
{
    confinement_job job = {&flow->grid, velocity, flow->values.data,
                           flow->def.confinement * flow->grid.dx * dt};
    if (!(job.push > 0)) return MN_OK;
    MN_TRY(mn_flow_for_blocks(&flow->grid, curl_block, &job));
    return mn_flow_for_blocks(&flow->grid, push_block, &job);
}
