// SPDX-License-Identifier: Apache-2.0
//
// Parts of a cloud of sites, each near together (partition.c).
#ifndef MENISCUS_LINEAR_PARTITION_H
#define MENISCUS_LINEAR_PARTITION_H

#include "trimesh/halving.h"

/// The part of each site, from 0 to 2^times - 1. `scratch` holds `count` sites.
void mn_partition_find(int64_t count, const mn_vec3 *at, int32_t times, mn_site *scratch, int32_t *part);

#endif
