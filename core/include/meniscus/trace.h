// SPDX-License-Identifier: Apache-2.0
//
// Points that are carried by a velocity volume: tracers, dye, bubbles without weight.
//
// A volume is known at the ends of frames only. With u1 the one at the end of this frame and v0 the velocity
// that a point had at its start, x0, the change over the frame is taken to be the same along its path,
//
//   u(x, s) = u1(x) + (1 - s) (v0 - u1(x0)),     s from 0 to 1 over the frame,
//
// and steps are Heun's: second order in the length of frames and steps, without a second volume in memory.
#ifndef MENISCUS_TRACE_H
#define MENISCUS_TRACE_H

#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_trace_def {
    size_t struct_size;   ///< of this struct; mn_trace_default_def() sets it, create compares
    double cfl;           ///< voxels that a point may cross in one step, (0, 10]
    double max_dt;        ///< s, > 0
    int32_t min_substeps; ///< >= 1
    int32_t max_substeps; ///< >= 1
} mn_trace_def;

enum { MN_TRACE_FIELD_COUNT = 6 };
MN_API extern const mn_field mn_trace_fields[];
/// Takes the wind, which is required.
MN_API extern const mn_solver_type mn_trace_solver;
MN_API mn_trace_def mn_trace_default_def(void);

/// One point; rows of add() and of the output.
typedef struct mn_trace_point {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    double age;       ///< s
    int64_t id;
} mn_trace_point;

#ifdef __cplusplus
}
#endif
#endif
