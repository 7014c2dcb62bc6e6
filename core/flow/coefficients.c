// SPDX-License-Identifier: Apache-2.0
//
// Values at centres to coefficients of the splines and back. The taps at a centre are (1 6 1)/8 along each
// axis, and their quasi-inverse is local:
//
//   c = (1 - d2/8 + d4/64) w        along each axis
//   w = (1 + d2/8) c
//
// It is of fourth order, damps a wave of two cells to 7/8, and needs no solve, no blending and no special
// ends: the lambda of [gagniere2020] must be 1 - c dx to keep second order, and its interpolation is a global
// system. Along a line second differences are those where both neighbours are known, the next one's at an
// end, zero where there is neither; fourth differences where both neighbours have second ones of their own.
// Tested: orders (tests/validation/test_flow_vortices.c).
#include "flow/advect.h"

typedef struct transform_job {
    const mn_flow_grid *grid;
    const uint8_t *known;
    const void *from;
    void *to;
    bool inverse;
} transform_job;

MN_INLINE bool is_around_box(const mn_flow_grid *grid, int32_t x, int32_t y, int32_t z)
{
    return x <= grid->cells[0] + 1 && y <= grid->cells[1] + 1 && z <= grid->cells[2] + 1;
}

#define VALUE mn_double4
#define NAME(x) x##_of_quads
#include "flow/coefficients_kernel.h"
#undef VALUE
#undef NAME
#define VALUE double
#define NAME(x) x##_of_numbers
#include "flow/coefficients_kernel.h"

mn_status mn_flow_coefficients(const mn_flow_grid *grid, const uint8_t *known, const mn_double4 *values,
                               mn_double4 *coefficients)
{
    transform_job job = {grid, known, values, coefficients, true};
    return mn_flow_for_blocks(grid, block_of_quads, &job);
}

mn_status mn_flow_values_at_centres(const mn_flow_grid *grid, const uint8_t *known,
                                    const mn_double4 *coefficients, mn_double4 *values)
{
    transform_job job = {grid, known, coefficients, values, false};
    return mn_flow_for_blocks(grid, block_of_quads, &job);
}

mn_status mn_flow_coefficient(const mn_flow_grid *grid, const uint8_t *known, const double *values,
                              double *coefficients)
{
    transform_job job = {grid, known, values, coefficients, true};
    return mn_flow_for_blocks(grid, block_of_numbers, &job);
}

mn_status mn_flow_value_at_centres(const mn_flow_grid *grid, const uint8_t *known, const double *coefficients,
                                   double *values)
{
    transform_job job = {grid, known, coefficients, values, false};
    return mn_flow_for_blocks(grid, block_of_numbers, &job);
}
