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
// polynomial for half a cell, so that the layer around the box keeps itself, and then stay; beyond an open
// side they turn into what lies outside within a cell; a foot inside a solid is moved onto its surface.
//
// New values at the centres become coefficients by a local quasi-inverse (coefficients.c). Tested: orders
// (tests/validation/test_flow_vortices.c).
#include "flow/advect.h"

enum { NEWTON_STEPS = 8 };
static const double determinant_floor = 0.1;
static const double newton_tolerance = 1e-12; ///< of a cell

typedef struct advect_job {
    const mn_flow_carrier *carrier;
    const mn_flow_carried *velocity;
    const mn_flow_carried_number *numbers;
    int32_t count; ///< of the numbers
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
    const mn_vec3 slope = mn_flow_gather_slope(&taps, c->solid);
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

// How much of what comes to X is from outside: all from one cell beyond an open side on. What an eddy draws
// back through such a side would otherwise be its own velocity at the side, which grows without bound.
MN_INLINE double from_outside(const mn_flow_carrier *c, mn_vec3 X)
{
    const double x[3] = {X.x, X.y, X.z};
    double beyond = 0;
    for (int32_t k = 0; k < 6 && c->open; k++)
        if (c->open[k])
            beyond = fmax(beyond, k & 1 ? x[k / 2] - (c->grid->cells[k / 2] + 1.0) : 1.0 - x[k / 2]);
    return fmin(beyond, 1);
}

// The lower of the two cells around a place along an axis, of those in the box and in the layer around it:
// what is farther out is moved there, as by mn_flow_find_taps.
MN_INLINE int32_t lower_cell(double x, int32_t cells)
{
    return (int32_t)fmin(fmax(floor(x - 0.5), 0), cells);
}

// Between the least and the largest of the eight cells around X.
MN_INLINE double bound(const mn_flow_grid *grid, mn_vec3 X, const double *bounds, double value)
{
    const int32_t *n = grid->cells;
    const int32_t x = lower_cell(X.x, n[0]), y = lower_cell(X.y, n[1]), z = lower_cell(X.z, n[2]);
    double low = INFINITY, high = -INFINITY;
    for (int32_t k = 0; k < 8; k++) {
        const int32_t cell = mn_flow_cell_at(grid, x + (k >> 2), y + (k >> 1 & 1), z + (k & 1));
        if (cell < 0) continue;
        low = fmin(low, bounds[cell]), high = fmax(high, bounds[cell]);
    }
    return fmin(fmax(value, low), high);
}

/// The foot of a cell's characteristic; false where nothing is carried to. `fresh`: it comes in through a
/// side.
MN_INLINE bool find_foot(const mn_flow_carrier *carrier, int32_t block, int32_t cell, mn_vec3 *centre,
                         mn_vec3 *X, bool *fresh)
{
    const mn_flow_grid *grid = carrier->grid;
    const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
    if (carrier->known ? !carrier->known[(int64_t)block * MN_BLOCK_CELLS + cell]
                       : c.x > grid->cells[0] + 1 || c.y > grid->cells[1] + 1 || c.z > grid->cells[2] + 1)
        return false;
    *centre = mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5);
    *X = foot_of(carrier, *centre);
    *fresh = through_inflow(carrier, *X);
    if (carrier->solid) *X = out_of_solid(carrier, *X);
    return true;
}

MN_MULTIVERSION static void advect_block(void *user, int32_t block)
{
    const advect_job *job = user;
    const mn_flow_carried *carried = job->velocity;
    for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
        mn_vec3 centre, X;
        bool fresh;
        if (!find_foot(job->carrier, block, cell, &centre, &X, &fresh)) continue;
        mn_flow_taps taps;
        mn_double4 value = carried->outside, before;
        if (!fresh) {
            mn_flow_find_taps(job->carrier->grid, X, &taps);
            mn_flow_gather(&taps, carried->coefficients, &value);
            const double outside = from_outside(job->carrier, X);
            if (outside > 0) value += outside * (carried->outside - value);
        }
        if (carried->kept) {
            mn_flow_find_taps(job->carrier->grid, centre, &taps);
            mn_flow_gather(&taps, carried->kept, &before);
            value -= before;
        }
        carried->values[(int64_t)block * MN_BLOCK_CELLS + cell] = value;
    }
}

mn_status mn_flow_advect(const mn_flow_carrier *carrier, const mn_flow_carried *carried)
{
    advect_job job = {.carrier = carrier, .velocity = carried};
    return mn_flow_for_blocks(carrier->grid, advect_block, &job);
}

MN_MULTIVERSION static void numbers_block(void *user, int32_t block)
{
    const advect_job *job = user;
    const mn_flow_grid *grid = job->carrier->grid;
    for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
        mn_vec3 centre, X;
        bool fresh;
        if (!find_foot(job->carrier, block, cell, &centre, &X, &fresh)) continue;
        mn_flow_taps taps;
        mn_flow_find_taps(grid, X, &taps);
        for (int32_t k = 0; k < job->count; k++) {
            const mn_flow_carried_number *n = &job->numbers[k];
            n->values[(int64_t)block * MN_BLOCK_CELLS + cell] =
                fresh ? 0 : bound(grid, X, n->bounds, mn_flow_gather_value(&taps, n->coefficients));
        }
    }
}

mn_status mn_flow_advect_numbers(const mn_flow_carrier *carrier, int32_t count,
                                 const mn_flow_carried_number *carried)
{
    advect_job job = {.carrier = carrier, .numbers = carried, .count = count};
    return mn_flow_for_blocks(carrier->grid, numbers_block, &job);
}
