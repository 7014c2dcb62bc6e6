// SPDX-License-Identifier: Apache-2.0
//
// Grid to particles.
//
//   v(x)      = sum_i w_i v_i
//   G v(x)    = (4/dx^2) sum_i w_i v_i (x_i - x)^T
//   div v(x)  = sum_i v_i . grad w_i
//
// by sum factorisation: along z, then y, then x, carrying the sum and its first moments. A block at a time
// from a tile; who owns the particle decides what to do with what the grid says. Tested against plain sums
// (tests/unit/mpm/test_transfer.c).
#include "mpm/transfer.h"

#include "base/parallel.h"
#include "mpm/tile.h"

enum { BATCH = 64, BLOCK_GRAIN = 8 };

typedef struct gather_job {
    const mn_block_table *table;
    const mn_mpm_particle *points;
    const int32_t *order, *cell_start;
    const mn_mpm_node *nodes;
    mn_mpm_gather_fn *fn;
    void *user;
} gather_job;

/// w, its first moment in cells from the first node: (0, w1, 2 w2), and its derivative in units of 1/dx.
typedef struct weights {
    double t, w0, w1, w2, m2, g0, g1, g2;
} weights;

MN_INLINE weights weights_at(double t)
{
    const double w2 = 0.5 * t * t;
    return (weights){t, 0.5 * (1.0 - t) * (1.0 - t), 0.5 + t * (1.0 - t), w2, 2.0 * w2, t - 1, 1 - 2 * t, t};
}

/// Sum and moments over the 27 nodes that begin at `first`.
MN_INLINE void gather_point(const vec4 *restrict first, weights wx, weights wy, weights wz, double dx,
                            mn_mpm_sample *restrict sample)
{
    vec4 v = {0}, mx = {0}, my = {0}, mz = {0}, along_x = {0}, along_y = {0}, along_z = {0};
    const double x_slope[3] = {wx.g0, wx.g1, wx.g2}, y_slope[3] = {wy.g0, wy.g1, wy.g2};
    const double xs[3] = {wx.w0, wx.w1, wx.w2}, x_moment[3] = {0, wx.w1, wx.m2};
    const double ys[3] = {wy.w0, wy.w1, wy.w2}, y_moment[3] = {0, wy.w1, wy.m2};
#pragma GCC unroll 3
    for (int32_t a = 0; a < 3; a++) {
        vec4 s = {0}, sy = {0}, sz = {0}, gy = {0}, gz = {0};
#pragma GCC unroll 3
        for (int32_t b = 0; b < 3; b++) {
            const vec4 *row = first + tile_index(a, b, 0);
            const vec4 r = wz.w0 * row[0] + wz.w1 * row[1] + wz.w2 * row[2];
            const vec4 rz = wz.w1 * row[1] + wz.m2 * row[2];
            s += ys[b] * r;
            gy += y_slope[b] * r;
            gz += ys[b] * (wz.g0 * row[0] + wz.g1 * row[1] + wz.g2 * row[2]);
            sy += y_moment[b] * r;
            sz += ys[b] * rz;
        }
        v += xs[a] * s;
        along_x += x_slope[a] * s;
        along_y += xs[a] * gy;
        along_z += xs[a] * gz;
        mx += x_moment[a] * s;
        my += xs[a] * sy;
        mz += xs[a] * sz;
    }
    const double scale = 4.0 / dx;
    const vec4 cx = scale * (mx - (wx.t + 0.5) * v), cy = scale * (my - (wy.t + 0.5) * v),
               cz = scale * (mz - (wz.t + 0.5) * v);
    sample->v = mn_v3(v[1], v[2], v[3]);
    sample->divergence = (along_x[1] + along_y[2] + along_z[3]) / dx;
    for (int i = 0; i < 3; i++) {
        sample->gradient.m[i][0] = cx[1 + i];
        sample->gradient.m[i][1] = cy[1 + i];
        sample->gradient.m[i][2] = cz[1 + i];
    }
}

MN_MULTIVERSION
static mn_status gather_blocks(void *user, mn_range range)
{
    const gather_job *job = user;
    const mn_block_table *table = job->table;
    const double per_dx = 1.0 / table->dx;
    tile t;
    mn_mpm_sample samples[BATCH];
    for (int64_t block = range.begin; block < range.end; block++) {
        const int32_t *start = job->cell_start + block * MN_BLOCK_CELLS;
        if (start[MN_BLOCK_CELLS] == start[0]) continue;
        tile_load(&t, table, (int32_t)block, job->nodes);
        int32_t held = 0, first = start[0];
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, (int32_t)block, cell);
            const vec4 *nodes = &t.node[tile_of_cell(cell)];
            for (int32_t k = start[cell]; k < start[cell + 1]; k++) {
                const mn_mpm_particle *p = &job->points[job->order ? job->order[k] : k];
                const weights wx = weights_at((p->axis[0].x - table->origin.x) * per_dx - base.x);
                const weights wy = weights_at((p->axis[1].x - table->origin.y) * per_dx - base.y);
                const weights wz = weights_at((p->axis[2].x - table->origin.z) * per_dx - base.z);
                gather_point(nodes, wx, wy, wz, table->dx, &samples[held++]);
                if (held < BATCH) continue;
                job->fn(job->user, (int32_t)block, first, held, samples);
                first += held, held = 0;
            }
        }
        if (held > 0) job->fn(job->user, (int32_t)block, first, held, samples);
    }
    return MN_OK;
}

mn_status mn_mpm_gather(mn_context *ctx, const mn_block_table *table, const mn_mpm_particle *points,
                        const int32_t *order, const int32_t *cell_start, const mn_mpm_node *nodes,
                        mn_mpm_gather_fn *fn, void *user)
{
    gather_job job = {table, points, order, cell_start, nodes, fn, user};
    return mn_parallel_for(ctx, table->count, BLOCK_GRAIN, gather_blocks, &job);
}
