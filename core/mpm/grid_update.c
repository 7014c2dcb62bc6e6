// SPDX-License-Identifier: Apache-2.0
//
// The explicit grid update: momentum to velocity, gravity, walls and solids.
//
//   v_i = p_i / m_i + dt (g + f(x_i)),   then what walls and solids leave of it (boundary.h)
//
// Nodes that belong to an emitter's nozzle have its velocity, walls or not.
//
// Without walls and solids it is where an implicit step starts from, and with dt 0 the velocity before
// anything acts.
#include "mpm/nozzles.h"
#include "mpm/step.h"

#include "base/parallel.h"
#include "mpm/boundary.h"

enum { BLOCK_GRAIN = 32 };

typedef struct update_job {
    mn_mpm *mpm;
    mn_mpm_node *nodes;
    double dt;
    bool bounded;
} update_job;

static mn_status update_blocks(void *user, mn_range range)
{
    const update_job *job = user;
    const mn_mpm *mpm = job->mpm;
    const mn_vec3 weight = mn_scale(job->dt, mpm->def.gravity);
    const bool field = job->dt > 0 && mpm->run.fields && mpm->run.fields->force.ops;
    for (int64_t block = range.begin; block < range.end; block++) {
        const int32_t b = (int32_t)block;
        const bool acts = job->bounded,
                   at_wall = acts && mn_mpm_block_meets_wall(&mpm->def, &mpm->grid.table, b);
        const bool at_solid =
            acts && mpm->run.collider &&
            mn_mpm_block_meets_collider(mpm->run.collider, mpm->run.frame_left, &mpm->grid.table, b);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            mn_mpm_node *node = &job->nodes[block * MN_BLOCK_CELLS + cell];
            if (!(node->mass > 0)) {
                // Forces on nodes without mass (massless samples only) have nothing to move.
                *node = (mn_mpm_node){0};
                continue;
            }
            const mn_vec3 x = mn_mpm_node_position(&mpm->grid.table, b, cell);
            const mn_vec3 push = field ? mn_scale(job->dt, mn_mpm_acceleration(mpm, x)) : weight;
            node->v = mn_axpy(push, 1.0 / node->mass, node->v);
            if (mn_mpm_node_is_held(mpm, block * MN_BLOCK_CELLS + cell, node->mass, &node->v)) continue;
            if (!at_wall && !at_solid) continue;
            if (at_solid)
                node->v =
                    mn_mpm_apply_collider(&mpm->def, mpm->run.collider, mpm->run.frame_left, x, node->v);
            if (at_wall) node->v = mn_mpm_apply_walls(&mpm->def, x, node->v);
        }
    }
    return MN_OK;
}

mn_status mn_mpm_update_grid(mn_mpm *mpm, mn_mpm_node *nodes, double dt, bool bounded)
{
    update_job job = {mpm, nodes, dt, bounded};
    return mn_parallel_for(mpm->solver.ctx, mpm->grid.table.count, BLOCK_GRAIN, update_blocks, &job);
}
