// SPDX-License-Identifier: Apache-2.0
//
// The rows of a flow's pressure equation, as tests see them.
#ifndef MENISCUS_TESTS_SUPPORT_FLOW_ROWS_H
#define MENISCUS_TESTS_SUPPORT_FLOW_ROWS_H

#include <math.h>
#include <stdlib.h>

#include "flow/pressure.h"

/// b = -G u, without its mean where the box is sealed: what the projection of u solves for. NULL when it
/// fails.
static inline double *flow_right_side(mn_flow_pressure *s, const mn_double4 *u)
{
    const int64_t size = mn_flow_size(s->grid);
    double *b = malloc(sizeof *b * (size_t)size), sum = 0;
    int64_t rows = 0;
    for (int64_t at = 0; at < size; at++)
        for (int32_t d = 0; d < 3; d++) s->v[d][at] = s->mass.data[at] > 1e-9 ? u[at][d] : 0;
    if (mn_flow_divergence(s, b) != MN_OK) {
        free(b);
        return NULL;
    }
    for (int64_t at = 0; at < size; at++) {
        b[at] = s->node.data[at] & 1 ? -b[at] : 0;
        if (s->node.data[at] & 1) sum += b[at], rows++;
    }
    for (int64_t at = 0; at < size && s->sealed; at++)
        if (s->node.data[at] & 1) b[at] -= sum / (double)rows;
    return b;
}

/// The largest of b - S p over the largest of b; frees b. Negative when it fails.
static inline double flow_residual(mn_flow_pressure *s, double *b)
{
    const int64_t size = mn_flow_size(s->grid);
    double *y = malloc(sizeof *y * (size_t)size), most = 0, rest = 0;
    const mn_status status = mn_flow_pressure_apply(s, s->p.data, y);
    for (int64_t at = 0; at < size; at++)
        most = fmax(most, fabs(b[at])), rest = fmax(rest, fabs(b[at] - y[at]));
    free(y);
    free(b);
    return status == MN_OK ? rest / most : -1;
}

#endif
