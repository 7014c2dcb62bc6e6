// SPDX-License-Identifier: Apache-2.0
//
// Births: when, where and how fast drops leave a source that moves.
#ifndef MENISCUS_SPRAY_EMISSION_H
#define MENISCUS_SPRAY_EMISSION_H

#include "meniscus/array.h"
#include "meniscus/spray.h"

/// A source during one frame: where it was at the frame before, and its areas.
typedef struct mn_emission {
    const mn_spray_def *def;
    const mn_emitter *source;
    const mn_vec3 *previous;       ///< positions at the start of the frame, or NULL when they are not known
    const double *cumulative_area; ///< triangle_count numbers, rising; NULL for points
    double dt;                     ///< s, of the whole frame
} mn_emission;

/// The number of the first drop that is born at `phase` or later. Drop j is born when the phase, which grows
/// by `rate` in a second, reaches j + u_j with u_j uniform in [0, 1): a steady flow without beats.
int64_t mn_birth_number(uint64_t seed, double phase);
/// j + u_j
double mn_birth_phase(uint64_t seed, int64_t number);

/// The drop `id` as it leaves the source at `fraction` in [0, 1] of the frame; its age is 0.
mn_drop mn_emission_birth(const mn_emission *emission, int64_t id, double fraction);

#endif
