// SPDX-License-Identifier: Apache-2.0
//
// The parts of a solve that newton.c and symmetric.c share.
#ifndef MENISCUS_TET_NEWTON_H
#define MENISCUS_TET_NEWTON_H

#include "tet/state.h"

enum { MN_TET_LINEAR_MAX = 120, MN_TET_RESTART = 60 }; ///< iterations of a linear solve

mn_status mn_tet_stage_resize(mn_tet_liquid *liquid);
/// A stage of length h from places a and velocities b, in its units; u and p from `velocity` and `pressure`.
/// *part is how much of the missing volume the stage gives back.
mn_status mn_tet_stage_fill(mn_tet_liquid *liquid, double h, const mn_vec3 *a, const mn_vec3 *b,
                            const mn_vec3 *velocity, const double *pressure, mn_tet_stage *stage,
                            double *part);
/// Factors S at the last residual; *solved is false where it has no factor.
mn_status mn_tet_stage_factor(mn_tet_liquid *liquid, bool *solved);
/// Newton's method.
mn_status mn_tet_stage_iterate(mn_tet_liquid *liquid, const mn_tet_stage *stage, bool *solved);
/// Shifts u so that sum m (u - drift - g) = 0 for every body.
mn_status mn_tet_stage_balance(mn_tet_liquid *liquid, const mn_tet_stage *stage);

#endif
