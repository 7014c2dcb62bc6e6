// SPDX-License-Identifier: Apache-2.0
//
// Particles to grid.
//
//   m_i     = sum_p w_ip m_p
//   m_i v_i = sum_p w_ip ( m_p v_p + B_p (x_i - x_p) ) - dt V_p P_p grad w_ip
//
// with B = m A - dt (4/dx^2) V mu (A + A^T) for the particles' own motion and viscosity, and P = -p I for
// them, the stress of the surface for its samples. A block at a time into a tile, a cell at a time: a first
// pass turns the cell's particles into weights and affine terms, a second keeps the nine sums of one plane of
// nodes in registers. Blocks run in eight colours, none of which writes a node twice, and the colours in
// order: no atomics, and the same sums in the same order whoever computes them. Tested against plain sums
// over all pairs (tests/unit/mpm/test_transfer.c).
#include "mpm/transfer.h"

#include "base/parallel.h"
#include "mpm/pressure.h"
#include "mpm/tile.h"

#include <string.h>

enum { BATCH = 16, CLEAR_GRAIN = 64, BLOCK_GRAIN = 4 };

typedef struct scatter_job {
    const mn_block_table *table;
    const mn_mpm_cells *cells;
    const mn_mpm_splats *splats;
    mn_mpm_impulse impulse;
    mn_mpm_node *nodes;
    int32_t colour;
} scatter_job;

/// One particle ready to be spread: its value at node (a, b, c) of its 27 is
///   wx_a wy_b wz_c (q + a ax + b ay + c az) + gx_a wy_b wz_c fx + wx_a gy_b wz_c fy + wx_a wy_b gz_c fz
/// in lanes (mass, momentum).
typedef struct spread {
    vec4 q, ax, ay, az, fx, fy, fz;
    double wx[3], wy[3], wz[3], gx[3], gy[3], gz[3];
} spread;

/// From momentum terms about the particle to terms about its first node.
MN_INLINE void spread_at(spread *s, const mn_mpm_particle *p, const vec4 *q, const vec4 slope[3],
                         const mn_block_table *table, mn_vec3 cell)
{
    const double per_dx = 1.0 / table->dx;
    const double t[3] = {(p->axis[0].x - table->origin.x) * per_dx - cell.x,
                         (p->axis[1].x - table->origin.y) * per_dx - cell.y,
                         (p->axis[2].x - table->origin.z) * per_dx - cell.z};
    tile_spline(t[0], per_dx, s->wx, s->gx);
    tile_spline(t[1], per_dx, s->wy, s->gy);
    tile_spline(t[2], per_dx, s->wz, s->gz);
    s->ax = table->dx * slope[0], s->ay = table->dx * slope[1], s->az = table->dx * slope[2];
    s->q = *q - (t[0] + 0.5) * s->ax - (t[1] + 0.5) * s->ay - (t[2] + 0.5) * s->az;
}

MN_INLINE void spread_particle(const scatter_job *job, int32_t i, mn_vec3 cell, spread *s)
{
    const mn_mpm_particle *p = &job->cells->particles[i];
    const mn_mpm_material *material = &job->cells->materials[i];
    const vec4 *row = (const vec4 *)(const void *)p;
    const vec4 lanes = {0, 1, 1, 1};
    const double mass = p->mass;
    // Viscosity goes with the affine momentum, -dt (4/dx^2) V mu (A + A^T).
    const double weight = -4.0 * job->impulse.viscous_dt / (job->table->dx * job->table->dx);
    const double mu = weight * material->viscosity * material->volume * material->j;
    vec4 slope[3];
    for (int a = 0; a < 3; a++) slope[a] = (mass + mu) * lanes * row[1 + a];
    slope[0] += (vec4){0, mu * row[1][1], mu * row[2][1], mu * row[3][1]};
    slope[1] += (vec4){0, mu * row[1][2], mu * row[2][2], mu * row[3][2]};
    slope[2] += (vec4){0, mu * row[1][3], mu * row[2][3], mu * row[3][3]};
    const vec4 q = {mass, mass * p->v.x, mass * p->v.y, mass * p->v.z};
    spread_at(s, p, &q, slope, job->table, cell);
    const double k = -job->impulse.dt * mn_pressure_stress(job->impulse.bulk_modulus, material->volume,
                                                           material->j, material->j);
    s->fx = (vec4){0, k, 0, 0}, s->fy = (vec4){0, 0, k, 0}, s->fz = (vec4){0, 0, 0, k};
}

MN_INLINE void spread_splat(const scatter_job *job, int32_t i, mn_vec3 cell, spread *s)
{
    const mn_mpm_particle *p = &job->splats->points[i];
    const vec4 *row = (const vec4 *)(const void *)p;
    const vec4 lanes = {0, 1, 1, 1};
    const vec4 slope[3] = {lanes * row[1], lanes * row[2], lanes * row[3]};
    spread_at(s, p, row, slope, job->table, cell);
    const vec4 *push = (const vec4 *)(const void *)&job->splats->pushes[i];
    s->fx = push[0], s->fy = push[1], s->fz = push[2];
}

/// Adds a few particles of one cell to the 27 nodes that begin at `first`.
MN_INLINE void accumulate(const spread *restrict batch, int32_t count, vec4 *restrict first)
{
#pragma GCC unroll 3
    for (int32_t a = 0; a < 3; a++) {
        vec4 sum[9] = {{0}};
        for (int32_t i = 0; i < count; i++) {
            const spread *s = &batch[i];
            const vec4 qa = s->wx[a] * (s->q + (double)a * s->ax) + s->gx[a] * s->fx;
            const vec4 ya = s->wx[a] * s->ay, za = s->wx[a] * s->az, fy = s->wx[a] * s->fy,
                       fz = s->wx[a] * s->fz;
#pragma GCC unroll 3
            for (int32_t b = 0; b < 3; b++) {
                const vec4 qb = s->wy[b] * (qa + (double)b * ya) + s->gy[b] * fy, zb = s->wy[b] * za,
                           fb = s->wy[b] * fz;
                sum[3 * b] += s->wz[0] * qb + s->gz[0] * fb;
                sum[3 * b + 1] += s->wz[1] * (qb + zb) + s->gz[1] * fb;
                sum[3 * b + 2] += s->wz[2] * (qb + 2.0 * zb) + s->gz[2] * fb;
            }
        }
#pragma GCC unroll 3
        for (int32_t b = 0; b < 3; b++)
            for (int32_t c = 0; c < 3; c++) first[tile_index(a, b, c)] += sum[3 * b + c];
    }
}

MN_MULTIVERSION
static mn_status scatter_blocks(void *user, mn_range range)
{
    const scatter_job *job = user;
    const mn_block_table *table = job->table;
    const int32_t *blocks = table->coloured + table->colour_start[job->colour];
    tile t;
    spread batch[BATCH];
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t block = blocks[k], first_cell = block * MN_BLOCK_CELLS;
        const int32_t *start = job->cells->cell_start + first_cell;
        const int32_t *group_of = job->cells->group_of;
        const int32_t *splat_start = job->splats ? job->splats->cell_start + first_cell : NULL;
        const bool any =
            start[MN_BLOCK_CELLS] > start[0] || (splat_start && splat_start[MN_BLOCK_CELLS] > splat_start[0]);
        if (!any) continue;
        memset(&t, 0, sizeof t);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, block, cell);
            vec4 *first = &t.node[tile_of_cell(cell)];
            int32_t held = 0;
            for (int32_t i = start[cell]; i < start[cell + 1]; i++) {
                if (group_of && group_of[i] >= 0) continue;
                spread_particle(job, i, base, &batch[held++]);
                if (held == BATCH) accumulate(batch, held, first), held = 0;
            }
            for (int32_t i = splat_start ? splat_start[cell] : 0;
                 i < (splat_start ? splat_start[cell + 1] : 0); i++) {
                spread_splat(job, job->splats->order[i], base, &batch[held++]);
                if (held == BATCH) accumulate(batch, held, first), held = 0;
            }
            if (held > 0) accumulate(batch, held, first);
        }
        tile_add(&t, table, block, job->nodes);
    }
    return MN_OK;
}

static mn_status clear_nodes(void *user, mn_range range)
{
    mn_mpm_node *nodes = user;
    const int64_t count = (range.end - range.begin) * MN_BLOCK_CELLS;
    memset(nodes + range.begin * MN_BLOCK_CELLS, 0, mn_bytes(count, sizeof *nodes));
    return MN_OK;
}

mn_status mn_mpm_scatter(mn_context *ctx, const mn_block_table *table, const mn_mpm_cells *cells,
                         const mn_mpm_splats *splats, mn_mpm_impulse impulse, mn_mpm_node *nodes)
{
    MN_TRY(mn_parallel_for(ctx, table->count, CLEAR_GRAIN, clear_nodes, nodes));
    scatter_job job = {table, cells, splats && splats->points ? splats : NULL, impulse, nodes, 0};
    for (job.colour = 0; job.colour < MN_BLOCK_COLOURS; job.colour++) {
        const int32_t count = table->colour_start[job.colour + 1] - table->colour_start[job.colour];
        MN_TRY(mn_parallel_for(ctx, count, BLOCK_GRAIN, scatter_blocks, &job));
    }
    return MN_OK;
}
