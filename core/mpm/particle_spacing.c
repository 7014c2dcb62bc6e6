// SPDX-License-Identifier: Apache-2.0
//
// Particles kept as dense, everywhere, as the liquid that the surface encloses.
//
//   e_i = sum_p w_ip V_p/dx^3 - int_{phi < 0} w_i dx/dx^3,    x_p <- x_p - a dx^2 sum_i e_i grad w_i(x_p)
//
// which goes down the slope of sum e_i^2/2. A constant pressure balances the surface's at every node just
// where the particles' sum of grad w_i is the integral over what the surface encloses, and so where e = 0.
// Nothing else keeps it so: J follows the flow, not the particles' distances, and its differences are relaxed
// (volume_relaxation.c). Random motion alone opens holes in the outermost layer; tension acts there on what
// lies deep below, a few neighbours at once, and these were the fastest of a drop at rest.
//
// The level set's nodes lie at the splines' knots, so a spline's integral over a cell is 1/6, 2/3 or 1/6 of
// it along each axis, times what the surface encloses of the cell. Velocities stay, and the affine ones take
// up the angular momentum of the shift.
//
// Where the level set is nowhere full near a particle, in sheets and threads of less than two cells, it is
// the surface that has lost liquid, not the particles that crowd, and they stay. Tested:
// tests/unit/mpm/test_particle_spacing.c.
#include "mpm/step.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/tile.h"

enum { BLOCK_GRAIN = 4, CELLS_SIDE = 6 };

// Of a cell, the longest way at once.
static const double longest = 0.05;
// Particles with no fuller node near them than the first stay, from the second on they move freely.
static const double too_thin = 0.85, thick = 0.95;

typedef struct spacing_job {
    mn_mpm *mpm;
    double amount;
    mn_block_table cells; ///< the level set's
} spacing_job;

// What the surface encloses of the cells that nodes of a block reach, from two below its first on each axis.
static void load_enclosed(const spacing_job *job, int32_t block,
                          double cell[CELLS_SIDE][CELLS_SIDE][CELLS_SIDE])
{
    const mn_mpm *mpm = job->mpm;
    const mn_blocks *blocks = mn_level_set_blocks(mpm->surface.level_set);
    const mn_ivec3 c = mpm->grid.table.coords[block];
    int32_t at[8];
    for (int32_t n = 0; n < 8; n++)
        at[n] = mn_blocks_find(blocks, mn_iv3(c.x - 1 + (n >> 2), c.y - 1 + (n >> 1 & 1), c.z - 1 + (n & 1)));
    for (int32_t x = 0; x < CELLS_SIDE; x++)
        for (int32_t y = 0; y < CELLS_SIDE; y++)
            for (int32_t z = 0; z < CELLS_SIDE; z++) {
                const int32_t from = at[(x > 1) * 4 + (y > 1) * 2 + (z > 1)];
                const int32_t in = 16 * ((x + 2) & 3) + 4 * ((y + 2) & 3) + ((z + 2) & 3);
                cell[x][y][z] = from < 0 ? 0 : mpm->settling.enclosed.data[from * MN_BLOCK_CELLS + in];
            }
}

// grid.volumes: from the sums over particles to (e, what the surface encloses).
static mn_status find_excess(void *user, mn_range range)
{
    static const double share[3] = {1.0 / 6, 2.0 / 3, 1.0 / 6};
    const spacing_job *job = user;
    mn_mpm *mpm = job->mpm;
    const double per_cell = 1 / (mpm->def.dx * mpm->def.dx * mpm->def.dx);
    double cell[CELLS_SIDE][CELLS_SIDE][CELLS_SIDE];
    for (int64_t block = range.begin; block < range.end; block++) {
        load_enclosed(job, (int32_t)block, cell);
        for (int32_t n = 0; n < MN_BLOCK_CELLS; n++) {
            const int32_t x = n >> 4, y = n >> 2 & 3, z = n & 3;
            double enclosed = 0;
            for (int32_t a = 0; a < 3; a++)
                for (int32_t b = 0; b < 3; b++)
                    for (int32_t c = 0; c < 3; c++)
                        enclosed += share[a] * share[b] * share[c] * cell[x + a][y + b][z + c];
            double *pair = &mpm->grid.volumes.data[2 * (block * MN_BLOCK_CELLS + n)];
            pair[0] = per_cell * pair[0] - enclosed;
            pair[1] = enclosed;
        }
    }
    return MN_OK;
}

// Keeps a way from leading into what the particle touches.
static mn_vec3 along_walls(const mn_mpm *mpm, int32_t particle, mn_vec3 way)
{
    for (int64_t c = mn_mpm_first_contact(mpm, particle); mn_mpm_is_contact(mpm, c, particle); c++) {
        const mn_vec3 normal = mpm->walls.contacts.data[c].normal;
        way = mn_axpy(way, -fmin(mn_dot(way, normal), 0), normal);
    }
    return way;
}

static mn_status move_down(void *user, mn_range range)
{
    const spacing_job *job = user;
    mn_mpm *mpm = job->mpm;
    const mn_block_table *table = &mpm->grid.table;
    const double dx = table->dx;
    double excess[TILE_NODES], full[TILE_NODES];
    for (int64_t block = range.begin; block < range.end; block++) {
        const int32_t *start = mpm->grid.cell_start + block * MN_BLOCK_CELLS;
        if (start[MN_BLOCK_CELLS] == start[0]) continue;
        for (int32_t x = 0; x < TILE_SIDE; x++)
            for (int32_t y = 0; y < TILE_SIDE; y++)
                for (int32_t z = 0; z < TILE_SIDE; z++) {
                    const int32_t from = mn_block_reach(table, (int32_t)block, x, y, z),
                                  n = tile_index(x, y, z);
                    excess[n] = from < 0 ? 0 : mpm->grid.volumes.data[2 * from];
                    full[n] = from < 0 ? 0 : mpm->grid.volumes.data[2 * from + 1];
                }
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, (int32_t)block, cell);
            const int32_t first = tile_of_cell(cell);
            double fullest = 0;
            for (int32_t k = 0; k < 27; k++)
                fullest = fmax(fullest, full[first + tile_index(k / 9, k / 3 % 3, k % 3)]);
            const double free = fmin(fmax((fullest - too_thin) / (thick - too_thin), 0), 1);
            for (int32_t i = start[cell]; i < start[cell + 1] && free > 0; i++) {
                const mn_mpm_material *q = &mpm->materials.data[i];
                if (mn_mpm_site_of(q) > 0 || mn_mpm_is_mist(mpm, i)) continue;
                const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
                double w[3][3], g[3][3];
                tile_spline((x.x - table->origin.x) / dx - base.x, 1 / dx, w[0], g[0]);
                tile_spline((x.y - table->origin.y) / dx - base.y, 1 / dx, w[1], g[1]);
                tile_spline((x.z - table->origin.z) / dx - base.z, 1 / dx, w[2], g[2]);
                mn_vec3 slope = {0, 0, 0};
                for (int32_t a = 0; a < 3; a++)
                    for (int32_t b = 0; b < 3; b++)
                        for (int32_t c = 0; c < 3; c++) {
                            const double e = excess[first + tile_index(a, b, c)];
                            slope.x += e * g[0][a] * w[1][b] * w[2][c];
                            slope.y += e * w[0][a] * g[1][b] * w[2][c];
                            slope.z += e * w[0][a] * w[1][b] * g[2][c];
                        }
                const double length = free * job->amount * dx * dx * mn_norm(slope);
                if (!(length > 0)) continue;
                const double scale = -free * job->amount * dx * dx * fmin(longest * dx / length, 1);
                mn_mpm_shift(mpm, i, along_walls(mpm, i, mn_scale(scale, slope)));
            }
        }
    }
    return MN_OK;
}

mn_status mn_mpm_even_out(mn_mpm *mpm, double amount)
{
    mn_context *ctx = mpm->solver.ctx;
    if (mpm->split.groups.count == 0) return MN_OK;
    spacing_job job = {mpm, amount, mn_level_set_get(mpm->surface.level_set).blocks};
    const int64_t cells = (int64_t)job.cells.count * MN_BLOCK_CELLS;
    MN_TRY(mn_array_resize(ctx, &mpm->settling.enclosed, cells));
    MN_TRY(mn_level_set_fractions(mpm->surface.level_set, mpm->settling.enclosed.data));
    MN_TRY(mn_mpm_scatter_volumes(mpm));
    MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, find_excess, &job));
    return mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, move_down, &job);
}
