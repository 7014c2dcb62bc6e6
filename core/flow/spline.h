// SPDX-License-Identifier: Apache-2.0
//
// Quadratic B-splines on the cells of a flow grid:
//
//   u(X) = sum_i c_i N(X - X_i),   N(t) = 3/4 - t^2 for |t| <= 1/2, (3/2 - |t|)^2 / 2 for |t| <= 3/2
//
// At a centre the taps are 1/8, 6/8, 1/8; at a node the value is the mean of the eight cells around it.
#ifndef MENISCUS_FLOW_SPLINE_H
#define MENISCUS_FLOW_SPLINE_H

#include "flow/grid.h"

/// The three weights at offset f in [-1/2, 1/2] from the middle cell's centre, and their slopes.
MN_INLINE void mn_flow_weights(double f, double w[3])
{
    w[0] = 0.5 * (0.5 - f) * (0.5 - f), w[1] = 0.75 - f * f, w[2] = 0.5 * (0.5 + f) * (0.5 + f);
}
MN_INLINE void mn_flow_slopes(double f, double w[3])
{
    w[0] = f - 0.5, w[1] = -2.0 * f, w[2] = f + 0.5;
}

/// The cells and weights of one evaluation.
typedef struct mn_flow_taps {
    int32_t cell[27]; ///< block * 64 + cell, -1 where there is none
    double wx[3], wy[3], wz[3];
    double dx[3], dy[3], dz[3];
} mn_flow_taps;

/// X may lie outside the box: the polynomial of the last cell goes on for half a cell, to the centres of the
/// layer around the box, and what is farther out is moved there.
MN_INLINE void mn_flow_find_taps(const mn_flow_grid *grid, mn_vec3 X, mn_flow_taps *taps)
{
    const int32_t *n = grid->cells;
    X.x = fmin(fmax(X.x, 0.5), n[0] + 1.5), X.y = fmin(fmax(X.y, 0.5), n[1] + 1.5);
    X.z = fmin(fmax(X.z, 0.5), n[2] + 1.5);
    const double fx = fmin(fmax(floor(X.x), 1), n[0]), fy = fmin(fmax(floor(X.y), 1), n[1]),
                 fz = fmin(fmax(floor(X.z), 1), n[2]);
    const int32_t x = (int32_t)fx, y = (int32_t)fy, z = (int32_t)fz;
    mn_flow_weights(X.x - fx - 0.5, taps->wx), mn_flow_slopes(X.x - fx - 0.5, taps->dx);
    mn_flow_weights(X.y - fy - 0.5, taps->wy), mn_flow_slopes(X.y - fy - 0.5, taps->dy);
    mn_flow_weights(X.z - fz - 0.5, taps->wz), mn_flow_slopes(X.z - fz - 0.5, taps->dz);
    const int32_t *index = grid->index.data;
    int64_t row[3], column[3], layer[3];
    int32_t local_x[3], local_y[3], local_z[3];
    for (int32_t t = 0; t < 3; t++) {
        const int32_t cx = x - 1 + t, cy = y - 1 + t, cz = z - 1 + t;
        row[t] = (int64_t)(cx >> 2) * grid->sides[1], local_x[t] = 16 * (cx & 3);
        column[t] = cy >> 2, local_y[t] = 4 * (cy & 3);
        layer[t] = cz >> 2, local_z[t] = cz & 3;
    }
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            const int64_t base = (row[a] + column[b]) * grid->sides[2];
            for (int32_t c = 0; c < 3; c++) {
                const int32_t block = index[base + layer[c]];
                taps->cell[9 * a + 3 * b + c] =
                    block < 0 ? -1 : block * 64 + local_x[a] + local_y[b] + local_z[c];
            }
        }
}

/// The four fields of `quads` at the taps.
MN_INLINE void mn_flow_gather(const mn_flow_taps *taps, const mn_double4 *quads, mn_double4 *value)
{
    mn_double4 sum = {0, 0, 0, 0};
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            const double w = taps->wx[a] * taps->wy[b];
            const int32_t *cell = &taps->cell[9 * a + 3 * b];
            for (int32_t c = 0; c < 3; c++)
                if (cell[c] >= 0) sum += (w * taps->wz[c]) * quads[cell[c]];
        }
    *value = sum;
}

/// And their derivatives per cell.
MN_INLINE void mn_flow_gather_slopes(const mn_flow_taps *taps, const mn_double4 *quads, mn_double4 slopes[3])
{
    mn_double4 sx = {0, 0, 0, 0}, sy = sx, sz = sx;
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            const int32_t *cell = &taps->cell[9 * a + 3 * b];
            for (int32_t c = 0; c < 3; c++)
                if (cell[c] >= 0) {
                    const mn_double4 q = quads[cell[c]];
                    sx += (taps->dx[a] * taps->wy[b] * taps->wz[c]) * q;
                    sy += (taps->wx[a] * taps->dy[b] * taps->wz[c]) * q;
                    sz += (taps->wx[a] * taps->wy[b] * taps->dz[c]) * q;
                }
        }
    slopes[0] = sx, slopes[1] = sy, slopes[2] = sz;
}

/// One field, and its derivatives per cell.
MN_INLINE double mn_flow_gather_value(const mn_flow_taps *taps, const double *values)
{
    double sum = 0;
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            const double w = taps->wx[a] * taps->wy[b];
            const int32_t *cell = &taps->cell[9 * a + 3 * b];
            for (int32_t c = 0; c < 3; c++)
                if (cell[c] >= 0) sum += (w * taps->wz[c]) * values[cell[c]];
        }
    return sum;
}

MN_INLINE mn_vec3 mn_flow_gather_slope(const mn_flow_taps *taps, const double *values)
{
    mn_vec3 sum = {0, 0, 0};
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = 0; b < 3; b++) {
            const int32_t *cell = &taps->cell[9 * a + 3 * b];
            for (int32_t c = 0; c < 3; c++)
                if (cell[c] >= 0) {
                    const double v = values[cell[c]];
                    sum.x += (taps->dx[a] * taps->wy[b] * taps->wz[c]) * v;
                    sum.y += (taps->wx[a] * taps->dy[b] * taps->wz[c]) * v;
                    sum.z += (taps->wx[a] * taps->wy[b] * taps->dz[c]) * v;
                }
        }
    return sum;
}

MN_INLINE mn_vec3 mn_flow_vec(const mn_double4 *q)
{
    return mn_v3((*q)[0], (*q)[1], (*q)[2]);
}

#endif
