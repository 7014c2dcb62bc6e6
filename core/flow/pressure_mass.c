// SPDX-License-Identifier: Apache-2.0
//
// The mass of splines, lumped and then corrected.
//
// Lumping adds (rho dx^2/8) int |grad u|^2 of kinetic energy, which slows waves by (k dx)^2/4. Near the
// surface
//   M^-1 -> M_l^-1 + M_l^-1 L M_l^-1,  L = sum over pairs of neighbours w_ij r_i r_j (e_i - e_j)(e_i - e_j)^T
//   r_i = sqrt(M_i),  w_ij = product over the axes of m_ij / sqrt(F_i F_j),  F: int of N along the axis
//   m: 1/4 between neighbours, 1/8 across a wall, and rows that sum up to F
// is the consistent mass's inverse to second order, up to the walls, of which m takes the splines that the
// box cuts in half as what they are; it is positive definite and needs no solve. What is left is of third
// order, 0.10 (k dx)^3 in the speed of waves, from the splines that the surface cuts. (M_i F_i)^1/4 in place
// of sqrt(M_i) would take back most of that, but makes the lightest splines so light that the crater of a
// drop ran away.
//
// In the bulk M cancels. r_i has a factor by which a spline takes part: 1 down to three cells under the
// surface, 0 from six on, and 0 within two cells of a solid or an open side (pressure.c). There the
// correction makes what changes from cell to cell lighter than advection takes it to be, and a stream that
// meets a rod grew at its front to twice its speed in 40 ms, and then without bound.
#include "flow/pressure_parts.h"
#include "meniscus/array.h"

#include <string.h>

void mn_flow_build_spread(int32_t cells, mn_flow_axis *axis)
{
    const double *lumped = axis->lumped + MN_FLOW_TAP_PAD;
    for (int32_t i = 0; i <= cells; i++) { // the pair i, i + 1
        const double m = (i == 0 ? 0.125 : 0.25) - (i == cells ? 0.125 : 0);
        const double w = m / sqrt(lumped[i] * lumped[i + 1]);
        axis->spread[2][i + MN_FLOW_TAP_PAD] = axis->spread[0][i + 1 + MN_FLOW_TAP_PAD] = w;
        axis->spread[1][i + MN_FLOW_TAP_PAD] -= m / lumped[i];
        axis->spread[1][i + 1 + MN_FLOW_TAP_PAD] -= m / lumped[i + 1];
    }
    for (int32_t i = 0; i <= cells + 1; i++) axis->spread[1][i + MN_FLOW_TAP_PAD] += 1;
}

/// Where the taps of a block's first cell stand along each axis.
typedef struct block_taps {
    const double *spread[3][3];
} block_taps;

MN_INLINE block_taps taps_of(const mn_flow_pressure *s, int32_t block)
{
    const mn_ivec3 c = mn_block_cell(&s->grid->table, block, 0);
    const int32_t first[3] = {c.x, c.y, c.z};
    block_taps taps;
    for (int32_t a = 0; a < 3; a++)
        for (int32_t k = 0; k < 3; k++) taps.spread[a][k] = s->axis[a].spread[k] + first[a] + MN_FLOW_TAP_PAD;
    return taps;
}

// w of a tile of 6 x 6 x 6 along each axis, at the block's own cells.
MN_INLINE void spread_tile(const block_taps *taps, const double tile[6][6][8], mn_double4 out[16])
{
    const double *const *x = taps->spread[0], *const *y = taps->spread[1];
    mn_flow_row low, own, high;
    mn_double4 along_z[6][6], along_y[6][4];
    memcpy(&low, taps->spread[2][0], sizeof low);
    memcpy(&own, taps->spread[2][1], sizeof own);
    memcpy(&high, taps->spread[2][2], sizeof high);
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 6; j++) {
            const double *row = tile[i][j];
            along_z[i][j] = low * *(const mn_flow_row *)row + own * *(const mn_flow_row *)(row + 1) +
                            high * *(const mn_flow_row *)(row + 2);
        }
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 4; j++)
            along_y[i][j] =
                y[0][j] * along_z[i][j] + y[1][j] * along_z[i][j + 1] + y[2][j] * along_z[i][j + 2];
    for (int32_t r = 0; r < 16; r++) {
        const int32_t i = r >> 2, j = r & 3;
        out[r] = x[0][i] * along_y[i][j] + x[1][i] * along_y[i + 1][j] + x[2][i] * along_y[i + 2][j];
    }
}

// t + M_l^-1 L t = t + (t W r - W (r t)) r / M with the matrix W of the w; r = 0 for splines that take no
// part. Irregular ones go to w.
MN_MULTIVERSION static void correct_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    if (!s->live.data[block]) return;
    const int64_t first = (int64_t)block * 64;
    double roots[6][6][8], tile[6][6][8];
    mn_double4 spread[16], spread_roots[16];
    const block_taps taps = taps_of(s, block);
    bool any = false;
    for (int32_t cell = 0; cell < 64; cell++) any |= s->root.data[first + cell] > 0;
    if (any) {
        mn_flow_load_tile(s->grid, block, s->root.data, -1, 6, 8, &roots[0][0][0]);
        spread_tile(&taps, (const double(*)[6][8])roots, spread_roots);
    }
    for (int32_t d = 0; d < 3; d++) {
        const double *t = s->t[d] + first;
        double *v = s->v[d] + first;
        memcpy(v, t, 64 * sizeof *v);
        if (!any) continue;
        mn_flow_load_tile(s->grid, block, s->t[d], -1, 6, 8, &tile[0][0][0]);
        for (int32_t i = 0; i < 6; i++)
            for (int32_t j = 0; j < 6; j++)
                for (int32_t k = 0; k < 6; k++) tile[i][j][k] *= roots[i][j][k];
        spread_tile(&taps, (const double(*)[6][8])tile, spread);
        for (int32_t cell = 0; cell < 64; cell++) {
            const double r = s->root.data[first + cell];
            if (r > 0)
                v[cell] += (t[cell] * spread_roots[cell >> 2][cell & 3] - spread[cell >> 2][cell & 3]) * r /
                           s->mass.data[first + cell];
        }
    }
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1]; k++)
        for (int32_t d = 0; d < 3; d++) {
            double *v = s->v[d] + s->irregular.data[k];
            s->w.data[3 * (int64_t)k + d] = *v;
            *v = 0;
        }
}

mn_status mn_flow_correct(mn_flow_pressure *s)
{
    mn_flow_matrix_job job = {.s = s};
    return mn_flow_for_blocks(s->grid, correct_block, &job);
}

double mn_flow_mass_excess(const mn_flow_pressure *s, int32_t block, const mn_double4 *velocity)
{
    const int64_t first = (int64_t)block * 64;
    double roots[6][6][8], tile[6][6][8], sum = 0;
    mn_double4 spread[16], spread_roots[16];
    const block_taps taps = taps_of(s, block);
    bool any = false;
    for (int32_t cell = 0; cell < 64; cell++) any |= s->root.data[first + cell] > 0;
    if (!any) return 0;
    mn_flow_load_tile(s->grid, block, s->root.data, -1, 6, 8, &roots[0][0][0]);
    spread_tile(&taps, (const double(*)[6][8])roots, spread_roots);
    for (int32_t d = 0; d < 3; d++) {
        for (int32_t k = 0; k < 216; k++) {
            const int32_t x = k / 36, y = k / 6 % 6, z = k % 6;
            const int32_t at = mn_block_reach(&s->grid->table, block, x - 1, y - 1, z - 1);
            tile[x][y][z] = at < 0 ? 0 : roots[x][y][z] * velocity[at][d];
        }
        spread_tile(&taps, (const double(*)[6][8])tile, spread);
        for (int32_t cell = 0; cell < 64; cell++) {
            const double r = s->root.data[first + cell], u = velocity[first + cell][d];
            sum += r * u * (u * spread_roots[cell >> 2][cell & 3] - spread[cell >> 2][cell & 3]);
        }
    }
    return sum;
}

static void divide_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        for (int32_t d = 0; d < 3; d++) {
            const double f = (s->corrected ? s->t : s->v)[d][at];
            s->v[d][at] = s->mass.data[at] > mn_flow_smallest_mass ? f / s->mass.data[at] : 0;
            if (s->corrected) s->t[d][at] = s->v[d][at];
        }
}

mn_status mn_flow_inverse_mass(mn_flow_pressure *s)
{
    mn_flow_matrix_job job = {.s = s};
    MN_TRY(mn_flow_for_blocks(s->grid, divide_block, &job));
    if (!s->corrected) return MN_OK;
    MN_TRY(mn_flow_correct(s));
    return mn_flow_for_blocks(s->grid, mn_flow_put_back_block, &job);
}
