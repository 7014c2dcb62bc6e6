// SPDX-License-Identifier: Apache-2.0
//
// Cells, memory, ripples and steps of a box of fluid before it runs. Ripples of wave number k run at
//
//   c = sqrt(g / k + sigma k / rho)
#include "meniscus/flow.h"

void mn_flow_diagnose(const mn_flow_def *def, double seconds, mn_flow_numbers *n)
{
    const double ripple_cells = 10, bytes_per_cell = 700; // counted once against the allocator
    const double dx = def->dx;
    const mn_vec3 size = def->domain_size;
    *n = (mn_flow_numbers){.ripple = ripple_cells * dx, .step = INFINITY};
    n->cells = (size.x / dx) * (size.y / dx) * (def->flat ? 1 : size.z / dx);
    n->bytes = bytes_per_cell * n->cells;
    const double k = 2 * MN_PI / n->ripple;
    n->ripple_speed = sqrt(mn_norm(def->gravity) / k + def->sigma * k / def->density);
    if (!(def->sigma > 0)) return;
    n->step = def->surface_tension_limit * sqrt(def->density * dx * dx * dx / (MN_PI * def->sigma));
    n->steps = ceil(seconds / n->step);
}
