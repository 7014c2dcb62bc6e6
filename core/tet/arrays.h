// SPDX-License-Identifier: Apache-2.0
//
// Arrays that the parts of a step work in.
#ifndef MENISCUS_TET_ARRAYS_H
#define MENISCUS_TET_ARRAYS_H

#include "meniscus/array.h"
#include "meniscus/vec.h"

typedef MN_ARRAY(mn_vec3) mn_tet_vectors;
typedef MN_ARRAY(double) mn_tet_numbers;

#endif
