// SPDX-License-Identifier: Apache-2.0
//
// Reads the box that a liquid may be kept in from a node's parameters.
#include "nodes/domain.h"

mn_box mn_domain_box(const mn_cook *cook)
{
    const mn_vec3 center = mn_cook_vec3(cook, "domain_center"), size = mn_cook_vec3(cook, "domain_size");
    return (mn_box){mn_axpy(center, -0.5, size), mn_axpy(center, 0.5, size)};
}

int32_t mn_domain_side(const mn_cook *cook, int side)
{
    static const char *const names[6] = {"boundary_x_min", "boundary_x_max", "boundary_y_min",
                                         "boundary_y_max", "boundary_z_min", "boundary_z_max"};
    return mn_cook_menu(cook, names[side]);
}
