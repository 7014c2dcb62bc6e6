// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers: a pure function of (seed, stream, counter), so a particle draws the same
// numbers whichever thread asks and in whatever order. Philox4x32-10 [salmon2011].
#ifndef MENISCUS_BASE_RANDOM_H
#define MENISCUS_BASE_RANDOM_H

#include <stdint.h>

#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_random4 {
    uint32_t word[4];
} mn_random4;

/// Four random words for this counter and key.
mn_random4 mn_philox(const uint32_t counter[4], const uint32_t key[2]);

/// Uniform in [0, 1), 53 bits: the `draw`-th number of element `id` in the stream of `seed`.
double mn_random_unit(uint64_t seed, uint64_t id, uint32_t draw);
/// Three independent such numbers.
mn_vec3 mn_random_unit3(uint64_t seed, uint64_t id, uint32_t draw);
/// Standard normal.
double mn_random_normal(uint64_t seed, uint64_t id, uint32_t draw);
/// Uniform on the unit sphere.
mn_vec3 mn_random_direction(uint64_t seed, uint64_t id, uint32_t draw);

#ifdef __cplusplus
}
#endif
#endif
