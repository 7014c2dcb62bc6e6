// SPDX-License-Identifier: Apache-2.0
//
// Semi-Lagrangian advection with quadratic B-splines [gagniere2020].
//
//   explicit   foot = x - dt u(x)                                      first order
//   rk2        foot = x - dt u(x - dt/2 u(x))                          the default
//   implicit   w = u(x - dt w), by Newton with J = I + dt grad u       BSLQB, eq. 6.16: exact for Burgers
//
// Characteristics of the implicit form cross where dt times the strain reaches 1: where Newton does not
// converge or det J falls to 0.1, that cell takes the rk2 foot. Outside the box values follow the last cell's
// polynomial for half a cell, so that the layer around the box keeps itself, and then stay; a foot inside a
// solid is moved onto its surface.
//
// New values w at the centres become coefficients by a local quasi-inverse of the taps (1 6 1)/8,
//   c = (1 - d2/8 + d4/64) w along each axis,
// which is of fourth order, damps a wave of two cells to 7/8, and needs no solve, no blending and no special
// ends: the chapter's lambda must be 1 - c dx to keep second order, and its interpolation is a global system.
// Tested: orders (tests/validation/test_flow_vortices.c), polynomials (tests/unit/flow/test_advect.c).
#include "flow/advect.h"

enum { NEWTON_STEPS = 8 };
static const double determinant_floor = 0.1;
static const double newton_tolerance = 1e-12; ///< of a cell

typedef struct advect_job {
    const mn_flow_carrier *carrier;
    const mn_flow_carried *carried;
    int32_t count;
} advect_job;

MN_INLINE mn_vec3 velocity_at(const mn_flow_carrier *c, mn_vec3 X)
{
    mn_flow_taps taps;
    mn_double4 u;
    mn_flow_find_taps(c->grid, X, &taps);
    mn_flow_gather(&taps, c->velocity, &u);
    return mn_flow_vec(&u);
}

// One Newton solve of w = u(X - step w); false where characteristics cross or it does not converge.
MN_INLINE bool implicit_foot(const mn_flow_carrier *c, mn_vec3 X, double step, mn_vec3 *foot)
{
    mn_vec3 w = velocity_at(c, X);
    for (int32_t k = 0; k < NEWTON_STEPS; k++) {
        mn_flow_taps taps;
        mn_double4 u, slopes[3];
        mn_flow_find_taps(c->grid, mn_axpy(X, -step, w), &taps);
        mn_flow_gather(&taps, c->velocity, &u);
        mn_flow_gather_slopes(&taps, c->velocity, slopes);
        mn_mat3 J = mn_m3_identity();
        for (int32_t row = 0; row < 3; row++)
            for (int32_t column = 0; column < 3; column++) J.m[row][column] += step * slopes[column][row];
        const mn_vec3 residual = mn_sub(mn_flow_vec(&u), w);
        const mn_vec3 a = mn_m3_column(J, 0), b = mn_m3_column(J, 1), d = mn_m3_column(J, 2);
        const double determinant = mn_dot(a, mn_cross(b, d));
        if (!(determinant > determinant_floor)) return false;
        const mn_vec3 change = mn_scale(1.0 / determinant, mn_v3(mn_dot(residual, mn_cross(b, d)),
                                                                 mn_dot(a, mn_cross(residual, d)),
                                                                 mn_dot(a, mn_cross(b, residual))));
        w = mn_add(w, change);
        if (step * mn_norm(change) <= newton_tolerance) {
            *foot = mn_axpy(X, -step, w);
            return true;
        }
    }
    return false;
}

MN_INLINE mn_vec3 foot_of(const mn_flow_carrier *c, mn_vec3 X)
{
    const double step = c->dt / c->grid->dx; // cells per m/s
    mn_vec3 foot;
    if (c->scheme == MN_FLOW_IMPLICIT && implicit_foot(c, X, step, &foot)) return foot;
    const mn_vec3 u = velocity_at(c, X);
    if (c->scheme == MN_FLOW_EXPLICIT) return mn_axpy(X, -step, u);
    return mn_axpy(X, -step, velocity_at(c, mn_axpy(X, -0.5 * step, u)));
}

// A foot inside the solid moves along the gradient of its distance onto its surface.
MN_INLINE mn_vec3 out_of_solid(const mn_flow_carrier *c, mn_vec3 X)
{
    mn_flow_taps taps;
    mn_flow_find_taps(c->grid, X, &taps);
    const double distance = mn_flow_gather_value(&taps, c->solid);
    if (distance >= 0) return X;
    mn_vec3 slope = {0, 0, 0};
    for (int32_t k = 0; k < 27; k++) {
        if (taps.cell[k] < 0) continue;
        const double s = c->solid[taps.cell[k]];
        const int32_t a = k / 9, b = k / 3 % 3, d = k % 3;
        slope = mn_add(slope, mn_v3(s * taps.dx[a] * taps.wy[b] * taps.wz[d],
                                    s * taps.wx[a] * taps.dy[b] * taps.wz[d],
                                    s * taps.wx[a] * taps.wy[b] * taps.dz[d]));
    }
    const double square = mn_norm2(slope);
    return square > 0.01 ? mn_axpy(X, -distance / square, slope) : X;
}

MN_INLINE bool through_inflow(const mn_flow_carrier *c, mn_vec3 X)
{
    if (c->inflow < 0) return false;
    const int32_t axis = c->inflow >> 1;
    const double x = axis == 0 ? X.x : axis == 1 ? X.y : X.z;
    return c->inflow & 1 ? x > c->grid->cells[axis] + 1.0 : x < 1.0;
}

// Between the least and the largest of the eight cells around X.
MN_INLINE void bound(const mn_flow_grid *grid, mn_vec3 X, const mn_double4 *bounds, mn_double4 *value)
{
    const int32_t x = (int32_t)floor(X.x - 0.5), y = (int32_t)floor(X.y - 0.5), z = (int32_t)floor(X.z - 0.5);
    mn_double4 low = {INFINITY, INFINITY, INFINITY, INFINITY}, high = -low;
    for (int32_t k = 0; k < 8; k++) {
        const int32_t cell = mn_flow_cell_at(grid, x + (k >> 2), y + (k >> 1 & 1), z + (k & 1));
        if (cell < 0) continue;
        const mn_double4 b = bounds[cell];
        for (int32_t m = 0; m < 4; m++) low[m] = fmin(low[m], b[m]), high[m] = fmax(high[m], b[m]);
    }
    for (int32_t m = 0; m < 4; m++) (*value)[m] = fmin(fmax((*value)[m], low[m]), high[m]);
}

MN_INLINE bool in_box_and_one_around(const mn_flow_grid *grid, mn_ivec3 c)
{
    return c.x <= grid->cells[0] + 1 && c.y <= grid->cells[1] + 1 && c.z <= grid->cells[2] + 1;
}

MN_MULTIVERSION static void advect_block(void *user, int32_t block)
{
    const advect_job *job = user;
    const mn_flow_carrier *carrier = job->carrier;
    const mn_flow_grid *grid = carrier->grid;
    for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
        const int64_t at = (int64_t)block * MN_BLOCK_CELLS + cell;
        const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
        if (carrier->known ? !carrier->known[at] : !in_box_and_one_around(grid, c)) continue;
        const mn_vec3 centre = mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5);
        const mn_vec3 foot = foot_of(carrier, centre);
        const bool fresh = through_inflow(carrier, foot);
        const mn_vec3 X = carrier->solid ? out_of_solid(carrier, foot) : foot;
        mn_flow_taps taps;
        mn_flow_find_taps(grid, X, &taps);
        for (int32_t k = 0; k < job->count; k++) {
            mn_double4 value = job->carried[k].outside, before;
            if (!fresh) mn_flow_gather(&taps, job->carried[k].coefficients, &value);
            if (!fresh && job->carried[k].bounds) bound(grid, X, job->carried[k].bounds, &value);
            if (job->carried[k].change) {
                mn_flow_find_taps(grid, centre, &taps);
                mn_flow_gather(&taps, job->carried[k].coefficients, &before);
                value -= before;
            }
            job->carried[k].values[at] = value;
        }
    }
}

mn_status mn_flow_advect(const mn_flow_carrier *carrier, int32_t count, const mn_flow_carried *carried)
{
    advect_job job = {carrier, carried, count};
    return mn_flow_for_blocks(carrier->grid, advect_block, &job);
}

// ---- values to coefficients and back ----

typedef struct transform_job {
    const mn_flow_grid *grid;
    const uint8_t *known;
    const mn_double4 *from;
    mn_double4 *to;
    bool inverse;
} transform_job;

// Along one line of eight cells, at places 2 to 5: second differences where both neighbours are known, the
// next one's at an end, zero where there is neither; fourth differences where both neighbours have second
// ones of their own.
MN_INLINE void line_coefficients(const mn_double4 *w, const bool *known, int32_t stride, mn_double4 out[4])
{
    const mn_double4 zero = {0, 0, 0, 0};
    mn_double4 d2[8];
    bool whole[8];
    for (int32_t i = 1; i < 7; i++) {
        whole[i] = known[(i - 1) * stride] && known[i * stride] && known[(i + 1) * stride];
        d2[i] = whole[i] ? w[(i - 1) * stride] - 2.0 * w[i * stride] + w[(i + 1) * stride] : zero;
    }
    for (int32_t i = 2; i < 6; i++) {
        mn_double4 c = w[i * stride];
        if (whole[i]) {
            c -= 0.125 * d2[i];
            if (whole[i - 1] && whole[i + 1]) c += 0.015625 * (d2[i - 1] - 2.0 * d2[i] + d2[i + 1]);
        } else if (known[i * stride] && whole[i - 1] != whole[i + 1]) {
            c -= 0.125 * (whole[i - 1] ? d2[i - 1] : d2[i + 1]);
        }
        out[i - 2] = c;
    }
}

// The same ends as above: the polynomial of the last whole place goes on.
MN_INLINE void line_values(const mn_double4 *c, const bool *known, int32_t stride, mn_double4 out[4])
{
    const mn_double4 zero = {0, 0, 0, 0};
    mn_double4 d2[8];
    bool whole[8];
    for (int32_t i = 1; i < 7; i++) {
        whole[i] = known[(i - 1) * stride] && known[i * stride] && known[(i + 1) * stride];
        d2[i] = whole[i] ? c[(i - 1) * stride] - 2.0 * c[i * stride] + c[(i + 1) * stride] : zero;
    }
    for (int32_t i = 2; i < 6; i++) {
        out[i - 2] = c[i * stride];
        if (whole[i])
            out[i - 2] += 0.125 * d2[i];
        else if (known[i * stride] && whole[i - 1] != whole[i + 1])
            out[i - 2] += 0.125 * (whole[i - 1] ? d2[i - 1] : d2[i + 1]);
    }
}

MN_MULTIVERSION static void transform_block(void *user, int32_t block)
{
    const transform_job *job = user;
    const mn_flow_grid *grid = job->grid;
    mn_double4 tile[8][8][8];
    bool known[8][8][8];
    bool any = false;
    for (int32_t x = 0; x < 8; x++)
        for (int32_t y = 0; y < 8; y++)
            for (int32_t z = 0; z < 8; z++) {
                const int32_t at = mn_block_reach(&grid->table, block, x - 2, y - 2, z - 2);
                bool is = at >= 0;
                if (is && job->known)
                    is = job->known[at];
                else if (is) {
                    const mn_ivec3 b = grid->table.coords[block];
                    is = in_box_and_one_around(grid,
                                               mn_iv3(4 * b.x + x - 2, 4 * b.y + y - 2, 4 * b.z + z - 2));
                }
                known[x][y][z] = is;
                any |= is;
                tile[x][y][z] = is ? job->from[at] : (mn_double4){0, 0, 0, 0};
            }
    if (!any) return;
    mn_double4 line[4];
    for (int32_t y = 0; y < 8; y++)
        for (int32_t z = 0; z < 8; z++) {
            if (job->inverse)
                line_coefficients(&tile[0][y][z], &known[0][y][z], 64, line);
            else
                line_values(&tile[0][y][z], &known[0][y][z], 64, line);
            for (int32_t i = 0; i < 4; i++) tile[i + 2][y][z] = line[i];
        }
    for (int32_t x = 2; x < 6; x++)
        for (int32_t z = 0; z < 8; z++) {
            if (job->inverse)
                line_coefficients(&tile[x][0][z], &known[x][0][z], 8, line);
            else
                line_values(&tile[x][0][z], &known[x][0][z], 8, line);
            for (int32_t i = 0; i < 4; i++) tile[x][i + 2][z] = line[i];
        }
    for (int32_t x = 2; x < 6; x++)
        for (int32_t y = 2; y < 6; y++) {
            if (job->inverse)
                line_coefficients(tile[x][y], known[x][y], 1, line);
            else
                line_values(tile[x][y], known[x][y], 1, line);
            for (int32_t i = 0; i < 4; i++)
                if (known[x][y][i + 2])
                    job->to[(int64_t)block * 64 + 16 * (x - 2) + 4 * (y - 2) + i] = line[i];
        }
}

mn_status mn_flow_coefficients(const mn_flow_grid *grid, const uint8_t *known, const mn_double4 *values,
                               mn_double4 *coefficients)
{
    transform_job job = {grid, known, values, coefficients, true};
    return mn_flow_for_blocks(grid, transform_block, &job);
}

mn_status mn_flow_values_at_centres(const mn_flow_grid *grid, const uint8_t *known,
                                    const mn_double4 *coefficients, mn_double4 *values)
{
    transform_job job = {grid, known, coefficients, values, false};
    return mn_flow_for_blocks(grid, transform_block, &job);
}
