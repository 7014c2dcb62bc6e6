// SPDX-License-Identifier: Apache-2.0
//
// What a spray is made of.
#ifndef MENISCUS_SPRAY_STATE_H
#define MENISCUS_SPRAY_STATE_H

#include "meniscus/array.h"
#include "spray/emission.h"
#include "spray/march.h"

typedef MN_ARRAY(mn_drop) mn_drop_array;

/// What stays the same through an advance, and the step that is being tried.
typedef struct mn_spray_frame {
    mn_march march;
    mn_emission emission;
    mn_emitter source;
    bool emits;
    double phase_begin;
    double begin, end;                ///< s of the frame
    int64_t first_born, first_number; ///< drops from first_born on are born in the step
} mn_spray_frame;

struct mn_spray {
    mn_solver solver;
    mn_spray_def def;

    // the state
    mn_drop_array drops; ///< by rising id
    int64_t next_id;
    double phase;             ///< births so far, with the fraction of the next (see emission.h)
    MN_ARRAY(mn_vec3) source; ///< the source's points at the last frame
    int64_t source_triangles;

    // scratch
    mn_drop_array backup; ///< the drops before the step
    MN_ARRAY(double) cumulative_area;
    mn_spray_frame frame;
};

/// Fails with a sentence on the first point with a value that is not finite.
mn_status mn_spray_check_source(mn_context *ctx, const mn_emitter *source);
/// The emitter with the triangles that the def wants.
mn_emitter mn_spray_source_of(const mn_spray *spray, const mn_emitter *emitter);
/// Fails with a sentence about too many drops.
mn_status mn_spray_too_many(const mn_spray *spray, double count);

// ---- advance.c: the steps of mn_spray_solver ----

mn_status mn_spray_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                         mn_step_plan *plan);
mn_status mn_spray_prepare(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_spray_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict);
mn_status mn_spray_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_spray_end(mn_solver *solver, const mn_solver_inputs *inputs);

#endif
