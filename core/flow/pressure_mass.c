// SPDX-License-Identifier: Apache-2.0
//
// The mass of splines, lumped and then corrected.
//
// Lumping adds (rho dx^2/8) int |grad u|^2 of kinetic energy, which slows waves by (k dx)^2/4. Near the
// surface
//   M^-1 -> M_l^-1 + M_l^-1 L M_l^-1,  L = sum over pairs of neighbours w_ij sqrt(M_i M_j) (e_i - e_j)(e_i -
//   e_j)^T
// with w from (1 2 1)/4 along each axis is the consistent mass's inverse to second order; it is positive
// definite and needs no solve. In the bulk M cancels. With r_i in place of sqrt(M_i) a spline takes part of
// it: all down to three cells under the surface, nothing from six on, and nothing within two cells of a solid
// or an open side (pressure.c). There the correction makes what changes from cell to cell lighter than
// advection takes it to be, and a stream that meets a rod grew at its front to twice its speed in 40 ms, and
// then without bound.
#include "flow/pressure_parts.h"
#include "meniscus/array.h"

#include <string.h>

// (1 2 1)/4 along each axis of a tile of 6 x 6 x 6, at the block's own cells.
MN_INLINE void spread_tile(const double tile[6][6][8], mn_double4 out[16])
{
    mn_double4 z[6][6], y[6][4];
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 6; j++) {
            const double *row = tile[i][j];
            z[i][j] = 0.25 * (*(const mn_flow_row *)row + *(const mn_flow_row *)(row + 2)) +
                      0.5 * *(const mn_flow_row *)(row + 1);
        }
    for (int32_t i = 0; i < 6; i++)
        for (int32_t j = 0; j < 4; j++) y[i][j] = 0.25 * (z[i][j] + z[i][j + 2]) + 0.5 * z[i][j + 1];
    for (int32_t r = 0; r < 16; r++)
        out[r] = 0.25 * (y[r >> 2][r & 3] + y[(r >> 2) + 2][r & 3]) + 0.5 * y[(r >> 2) + 1][r & 3];
}

// t + M_l^-1 L t = t + (t F r - F (r t)) / r with r = sqrt(M), F = (1 2 1)/4 along each axis, / r as r / M; r
// = 0 for splines that take no part. Irregular ones go to w.
MN_MULTIVERSION static void correct_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    if (!s->live.data[block]) return;
    const int64_t first = (int64_t)block * 64;
    double roots[6][6][8], tile[6][6][8];
    mn_double4 spread[16], spread_roots[16];
    bool any = false;
    for (int32_t cell = 0; cell < 64; cell++) any |= s->root.data[first + cell] > 0;
    if (any) {
        mn_flow_load_tile(s->grid, block, s->root.data, -1, 6, 8, &roots[0][0][0]);
        spread_tile((const double(*)[6][8])roots, spread_roots);
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
        spread_tile((const double(*)[6][8])tile, spread);
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
    bool any = false;
    for (int32_t cell = 0; cell < 64; cell++) any |= s->root.data[first + cell] > 0;
    if (!any) return 0;
    mn_flow_load_tile(s->grid, block, s->root.data, -1, 6, 8, &roots[0][0][0]);
    spread_tile((const double(*)[6][8])roots, spread_roots);
    for (int32_t d = 0; d < 3; d++) {
        for (int32_t k = 0; k < 216; k++) {
            const int32_t x = k / 36, y = k / 6 % 6, z = k % 6;
            const int32_t at = mn_block_reach(&s->grid->table, block, x - 1, y - 1, z - 1);
            tile[x][y][z] = at < 0 ? 0 : roots[x][y][z] * velocity[at][d];
        }
        spread_tile((const double(*)[6][8])tile, spread);
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
