// SPDX-License-Identifier: Apache-2.0
//
// What the operators are made of.
#ifndef MENISCUS_CODIM_OPERATORS_STATE_H
#define MENISCUS_CODIM_OPERATORS_STATE_H

#include "codim/operators.h"
#include "meniscus/array.h"
#include "space/neighbours.h"

struct mn_codim_operators {
    mn_context *ctx;
    mn_neighbours *neighbours;
    int64_t count;
    MN_ARRAY(mn_codim_fit) fits;
    MN_ARRAY(int64_t) start;
    MN_ARRAY(int32_t) point;
    MN_ARRAY(double) laplacian;
    MN_ARRAY(mn_vec3) gradient;
    MN_ARRAY(double) scratch; ///< for each worker
};

#endif
