// SPDX-License-Identifier: Apache-2.0
//
// Volume ratios relaxed towards their local mean.
//
//   J_i = sum_p w_ip V_p J_p / sum_p w_ip V_p,   J_p <- J_p + a ( sum_i w_ip J_i - J_p )
//
// Eight particles a cell carry a volume ratio each, but the grid feels only weighted sums of them: what adds
// up to nothing in these sums is never pushed back, and single particles drift away from the rest over
// thousands of steps. The relaxation takes such differences out and keeps sum V J. A smooth J is diffused
// with a dx^2/2 per application, which is harmless for the nearly constant J of a nearly incompressible
// liquid. Of two liquids each has its own mean: across the surface between them pressures differ. Tested:
// tests/unit/mpm/test_volume_relaxation.c.
#include "mpm/step.h"
#include "mpm/surface.h"

#include "base/parallel.h"
#include "mpm/tile.h"

#include <string.h>

enum { BLOCK_GRAIN = 4 };

/// (V, V J) of a node, then J in the second.
typedef double pair __attribute__((vector_size(16)));

typedef struct relax_job {
    mn_mpm *mpm;
    double amount;
    int32_t colour;
} relax_job;

MN_INLINE void spline_at(double t, double w[3])
{
    w[0] = 0.5 * (1.0 - t) * (1.0 - t);
    w[1] = 0.5 + t * (1.0 - t);
    w[2] = 0.5 * t * t;
}

MN_INLINE void weights_of(const mn_block_table *table, const mn_mpm_particle *p, mn_vec3 base, double w[3][3])
{
    const double per_dx = 1.0 / table->dx;
    spline_at((p->axis[0].x - table->origin.x) * per_dx - base.x, w[0]);
    spline_at((p->axis[1].x - table->origin.y) * per_dx - base.y, w[1]);
    spline_at((p->axis[2].x - table->origin.z) * per_dx - base.z, w[2]);
}

MN_MULTIVERSION
static mn_status scatter_volume(void *user, mn_range range)
{
    const relax_job *job = user;
    mn_mpm *mpm = job->mpm;
    const mn_block_table *table = &mpm->grid.table;
    pair *grid = (pair *)(void *)mpm->grid.volumes.data;
    pair t[TILE_NODES];
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t block = table->coloured[table->colour_start[job->colour] + k];
        const int32_t *start = mpm->grid.cell_start + block * MN_BLOCK_CELLS;
        if (start[MN_BLOCK_CELLS] == start[0]) continue;
        memset(t, 0, sizeof t);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, block, cell);
            for (int32_t i = start[cell]; i < start[cell + 1]; i++) {
                const mn_mpm_material *q = &mpm->materials.data[i];
                if (!mn_mpm_in_layer(mpm, i)) continue;
                double w[3][3];
                weights_of(table, &mpm->particles.data[i], base, w);
                const pair value = {q->volume, q->volume * q->j};
                pair *first = &t[tile_of_cell(cell)];
                for (int32_t a = 0; a < 3; a++)
                    for (int32_t b = 0; b < 3; b++) {
                        const pair ab = w[0][a] * w[1][b] * value;
                        for (int32_t c = 0; c < 3; c++) first[tile_index(a, b, c)] += w[2][c] * ab;
                    }
            }
        }
        for (int32_t x = 0; x < TILE_SIDE; x++)
            for (int32_t y = 0; y < TILE_SIDE; y++)
                for (int32_t z = 0; z < TILE_SIDE; z++) {
                    const int32_t to = mn_block_reach(table, block, x, y, z);
                    if (to >= 0) grid[to] += t[tile_index(x, y, z)];
                }
    }
    return MN_OK;
}

MN_MULTIVERSION
static mn_status gather_volume(void *user, mn_range range)
{
    const relax_job *job = user;
    mn_mpm *mpm = job->mpm;
    const mn_block_table *table = &mpm->grid.table;
    const pair *grid = (const pair *)(const void *)mpm->grid.volumes.data;
    double t[TILE_NODES];
    for (int64_t block = range.begin; block < range.end; block++) {
        const int32_t *start = mpm->grid.cell_start + block * MN_BLOCK_CELLS;
        if (start[MN_BLOCK_CELLS] == start[0]) continue;
        for (int32_t x = 0; x < TILE_SIDE; x++)
            for (int32_t y = 0; y < TILE_SIDE; y++)
                for (int32_t z = 0; z < TILE_SIDE; z++) {
                    const int32_t from = mn_block_reach(table, (int32_t)block, x, y, z);
                    const pair value = from < 0 ? (pair){0, 0} : grid[from];
                    t[tile_index(x, y, z)] = value[0] > 0 ? value[1] / value[0] : 1.0;
                }
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, (int32_t)block, cell);
            const double *first = &t[tile_of_cell(cell)];
            for (int32_t i = start[cell]; i < start[cell + 1]; i++) {
                if (!mn_mpm_in_layer(mpm, i)) continue;
                double w[3][3], mean = 0;
                weights_of(table, &mpm->particles.data[i], base, w);
                for (int32_t a = 0; a < 3; a++)
                    for (int32_t b = 0; b < 3; b++) {
                        const double *row = first + tile_index(a, b, 0);
                        mean += w[0][a] * w[1][b] * (w[2][0] * row[0] + w[2][1] * row[1] + w[2][2] * row[2]);
                    }
                mn_mpm_material *q = &mpm->materials.data[i];
                q->j += job->amount * (mean - q->j);
            }
        }
    }
    return MN_OK;
}

mn_status mn_mpm_scatter_volumes(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    relax_job job = {mpm, 0, 0};
    const int64_t values = 2 * (int64_t)mpm->grid.table.count * MN_BLOCK_CELLS;
    MN_TRY(mn_array_resize(ctx, &mpm->grid.volumes, values));
    if (values > 0) memset(mpm->grid.volumes.data, 0, mn_bytes(values, sizeof *mpm->grid.volumes.data));
    for (job.colour = 0; job.colour < MN_BLOCK_COLOURS; job.colour++) {
        const int32_t count =
            mpm->grid.table.colour_start[job.colour + 1] - mpm->grid.table.colour_start[job.colour];
        MN_TRY(mn_parallel_for(ctx, count, BLOCK_GRAIN, scatter_volume, &job));
    }
    return MN_OK;
}

static mn_status relax_layer(mn_mpm *mpm, double amount)
{
    mn_context *ctx = mpm->solver.ctx;
    relax_job job = {mpm, amount, 0};
    MN_TRY(mn_mpm_scatter_volumes(mpm));
    return mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, gather_volume, &job);
}

mn_status mn_mpm_relax_volumes(mn_mpm *mpm, double amount)
{
    if (!mpm->liquids.two) return relax_layer(mpm, amount);
    mn_status status = MN_OK;
    for (mpm->surface.layer = 0; mpm->surface.layer < 2 && status == MN_OK; mpm->surface.layer++)
        status = relax_layer(mpm, amount);
    mpm->surface.layer = MN_MPM_ALL;
    return status;
}
