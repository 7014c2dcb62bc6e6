// SPDX-License-Identifier: Apache-2.0
#ifndef MENISCUS_FLOW_ADVECT_H
#define MENISCUS_FLOW_ADVECT_H

#include "flow/spline.h"
#include "meniscus/flow.h"

/// A velocity that is carried: its value at the foot of every cell's characteristic.
typedef struct mn_flow_carried {
    const mn_double4 *coefficients; ///< read at the foot
    mn_double4 *values;             ///< out, at centres
    mn_double4 outside;             ///< what comes in through an inflow side or back through an open one
    const mn_double4 *kept;         ///< coefficients whose values at the centres are taken off; NULL: none
} mn_flow_carried;

/// A number that is carried: it stays between its values around the foot, and nothing of it comes in.
typedef struct mn_flow_carried_number {
    const double *coefficients; ///< read at the foot
    const double *bounds;       ///< values at centres
    double *values;             ///< out, at centres
} mn_flow_carried_number;

typedef struct mn_flow_carrier {
    const mn_flow_grid *grid;
    const mn_double4 *velocity; ///< coefficients, m/s
    double dt;                  ///< s
    mn_flow_advection scheme;
    const uint8_t
        *known; ///< per cell: where results are wanted; NULL: in all cells of the box and one around it
    const double *solid; ///< distance in cells from the solid at centres; NULL: none
    int32_t inflow;      ///< side (2 axis + 0 low, 1 high) that fresh fluid comes in through, -1: none
    const bool *open;    ///< sides through which what lies outside may come back; NULL: none
} mn_flow_carrier;

/// Carries a velocity.
mn_status mn_flow_advect(const mn_flow_carrier *carrier, const mn_flow_carried *carried);
/// Carries `count` numbers at once.
mn_status mn_flow_advect_numbers(const mn_flow_carrier *carrier, int32_t count,
                                 const mn_flow_carried_number *carried);

/// Coefficients whose spline has these values at the centres, to fourth order:
///   c = (1 - d2/8 + d4/64) w  along each axis.
/// `known` marks the cells with values (NULL: all of the box and one around it); others keep what they had.
mn_status mn_flow_coefficients(const mn_flow_grid *grid, const uint8_t *known, const mn_double4 *values,
                               mn_double4 *coefficients);
/// Values at the centres of all known cells.
mn_status mn_flow_values_at_centres(const mn_flow_grid *grid, const uint8_t *known,
                                    const mn_double4 *coefficients, mn_double4 *values);
/// Both for one number a cell.
mn_status mn_flow_coefficient(const mn_flow_grid *grid, const uint8_t *known, const double *values,
                              double *coefficients);
mn_status mn_flow_value_at_centres(const mn_flow_grid *grid, const uint8_t *known, const double *coefficients,
                                   double *values);

#endif
