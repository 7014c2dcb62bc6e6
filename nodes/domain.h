// SPDX-License-Identifier: Apache-2.0
//
// The box that a liquid may be kept in, for solvers that have its parameters: domain_center, domain_size and
// a menu for each side, boundary_x_min to boundary_z_max.
#ifndef MENISCUS_NODES_DOMAIN_H
#define MENISCUS_NODES_DOMAIN_H

#include "nodes/node.h"

mn_box mn_domain_box(const mn_cook *cook);

/// The item of a side's menu; sides in the order x_min, x_max, y_min, y_max, z_min, z_max.
int32_t mn_domain_side(const mn_cook *cook, int side);

#endif
