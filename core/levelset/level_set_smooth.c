// SPDX-License-Identifier: Apache-2.0
//
// phi averaged over 27 nodes with weights (1 2 1)/4 along each axis: the least kernel that removes what
// changes sign from node to node, and the same in all directions to second order (variance dx^2 / 2).
#include "levelset/level_set_state.h"

typedef struct smooth_job {
    mn_level_set *set;
    const double *from;
    double *to;
} smooth_job;

/// (1 2 1)/4 along one axis.
MN_INLINE double average3(double a, double b, double c)
{
    return 0.25 * (a + c) + 0.5 * b;
}
MN_INLINE double least3(double a, double b, double c)
{
    const double d = a < c ? a : c;
    return b < d ? b : d;
}

MN_MULTIVERSION
static mn_status smooth_blocks(void *user, mn_range range)
{
    const smooth_job *job = user;
    const mn_level_set *set = job->set;
    tile t;
    double xs[4][6][6], ys[4][4][6], xm[4][6][6], ym[4][4][6]; // averages and least values along x, then y
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t b = set->active.data[a];
        tile_load(&set->table, b, job->from, set->band, &t);
        for (int32_t x = 0; x < 4; x++)
            for (int32_t y = 0; y < 6; y++)
                for (int32_t z = 0; z < 6; z++) {
                    xs[x][y][z] = average3(t.at[x][y][z], t.at[x + 1][y][z], t.at[x + 2][y][z]);
                    xm[x][y][z] = least3(t.at[x][y][z], t.at[x + 1][y][z], t.at[x + 2][y][z]);
                }
        for (int32_t x = 0; x < 4; x++)
            for (int32_t y = 0; y < 4; y++)
                for (int32_t z = 0; z < 6; z++) {
                    ys[x][y][z] = average3(xs[x][y][z], xs[x][y + 1][z], xs[x][y + 2][z]);
                    ym[x][y][z] = least3(xm[x][y][z], xm[x][y + 1][z], xm[x][y + 2][z]);
                }
        double *restrict to = job->to + (int64_t)b * MN_BLOCK_CELLS;
        for (int32_t x = 0; x < 4; x++)
            for (int32_t y = 0; y < 4; y++)
                for (int32_t z = 0; z < 4; z++) {
                    const double average = average3(ys[x][y][z], ys[x][y][z + 1], ys[x][y][z + 2]);
                    const double least = least3(ym[x][y][z], ym[x][y][z + 1], ym[x][y][z + 2]);
                    const double own = t.at[x + 1][y + 1][z + 1], half = own < 0.0 ? 0.5 * own : own;
                    to[16 * x + 4 * y + z] = own <= least && half < average && own < 0.0 ? half : average;
                }
    }
    return MN_OK;
}

mn_status mn_level_set_smooth(mn_level_set *set, int32_t passes)
{
    if (passes < 0)
        return mn_fail(set->ctx, MN_ERROR_ARGUMENT, "%d smoothing passes were asked for; use 0 or more.",
                       (int)passes);
    smooth_job job = {set, NULL, NULL};
    for (int32_t pass = 0; pass < passes; pass++) {
        MN_TRY(mn_check_cancelled(set->ctx));
        for (int32_t b = 0; b < set->table.count; b++)
            if (set->deep.data[b])
                for (int32_t i = 0; i < MN_BLOCK_CELLS; i++)
                    set->other.data[(int64_t)b * MN_BLOCK_CELLS + i] =
                        set->phi.data[(int64_t)b * MN_BLOCK_CELLS + i];
        job.from = set->phi.data;
        job.to = set->other.data;
        MN_TRY(mn_parallel_for(set->ctx, set->active.count, ACTIVE_GRAIN, smooth_blocks, &job));
        mn_level_set_swap(set);
    }
    return MN_OK;
}
