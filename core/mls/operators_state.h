// SPDX-License-Identifier: Apache-2.0
//
// What the operators are made of.
#ifndef MENISCUS_MLS_OPERATORS_STATE_H
#define MENISCUS_MLS_OPERATORS_STATE_H

#include "meniscus/array.h"
#include "meniscus/mls_operators.h"
#include "meniscus/neighbours.h"

struct mn_mls_operators {
    mn_context *ctx;
    mn_neighbours *neighbours;
    int64_t count;
    MN_ARRAY(mn_mls_fit) fits;
    MN_ARRAY(int64_t) start;
    MN_ARRAY(int32_t) point;
    MN_ARRAY(double) laplacian;
    MN_ARRAY(mn_vec3) gradient;
    MN_ARRAY(double) scratch; ///< for each worker
};

#endif
