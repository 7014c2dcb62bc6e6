// SPDX-License-Identifier: Apache-2.0
//
// Cells, memory, ripples and steps of a box of fluid before it runs. Ripples of wave number k run at
//
//   c = sqrt(g / k + sigma k / rho)
//
// Memory is that of a box that is full: cells come in blocks of four, with one around the box; below every
// column lie splines that the surface cuts, which keep their stencils. Counted against the allocator
// (tests/unit/flow/test_diagnose.c).
#include "meniscus/flow.h"

static const double ripple_cells = 10;
static const double cell_bytes = 330;    ///< of a cell, with its part of the coarse levels
static const double field_bytes = 16;    ///< of what smoke carries beside density: heat, three colours
static const double column_bytes = 4200; ///< of a column of cells with a surface: five splines

static double padded(double size, double dx)
{
    return 4 * ceil((fmax(1, floor(size / dx + 0.5)) + 2) / 4);
}

void mn_flow_diagnose(const mn_flow_def *def, double seconds, mn_flow_numbers *n)
{
    const double dx = def->dx;
    const mn_vec3 size = def->domain_size;
    *n = (mn_flow_numbers){.ripple = ripple_cells * dx, .step = INFINITY};
    n->cells = (size.x / dx) * (size.y / dx) * (def->flat ? 1 : size.z / dx);
    const mn_vec3 paint = def->source_color;
    const double columns = padded(size.x, dx) * (def->flat ? 4 : padded(size.z, dx));
    double bytes = cell_bytes;
    if (def->fluid == MN_FLOW_SMOKE && def->source_temperature != 0) bytes += field_bytes;
    if (def->fluid == MN_FLOW_SMOKE && (paint.x != 1 || paint.y != 1 || paint.z != 1))
        bytes += 3 * field_bytes;
    n->bytes = bytes * columns * padded(size.y, dx);
    if (def->fluid == MN_FLOW_LIQUID) n->bytes += column_bytes * columns;
    const double k = 2 * MN_PI / n->ripple;
    n->ripple_speed = sqrt(mn_norm(def->gravity) / k + def->sigma * k / def->density);
    if (!(def->sigma > 0)) return;
    n->step = def->surface_tension_limit * sqrt(def->density * dx * dx * dx / (MN_PI * def->sigma));
    n->steps = ceil(seconds / n->step);
}
