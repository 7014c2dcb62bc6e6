// SPDX-License-Identifier: Apache-2.0
//
// The step: the state and its grid, what bounds a step, forces, motion, and the functions of the solver's
// table.
#ifndef MENISCUS_MPM_STEP_H
#define MENISCUS_MPM_STEP_H

#include "mpm/state.h"

// ---- sorted_state.c ----

/// Sorts `next` (next_materials) into the state and rebuilds the grid around it.
mn_status mn_mpm_sort_next(mn_mpm *mpm);
/// The state as the first of `count` particles in `next`.
mn_status mn_mpm_copy_to_next(mn_mpm *mpm, int64_t count);
/// Takes out of `next` what has passed a sink, which is seen `before` seconds before the end of the advance.
void mn_mpm_drain_next(mn_mpm *mpm, double before);
/// Room for `count` elements of `size` bytes in the memory of `next`, until it is borrowed again or the
/// particles move.
mn_status mn_mpm_borrow(mn_mpm *mpm, int64_t count, size_t size, void **memory);
/// Moves the grid with liquid that flies free, after a step of dt that ended with these sums.
void mn_mpm_carry_grid(mn_mpm *mpm, double dt, const mn_mpm_step_stats *stats);
/// Rebuilds the grid around the state when a failure has left it without one.
mn_status mn_mpm_sort_again(mn_mpm *mpm);

// ---- live_material.c ----

/// Brings the liquid that there is to the materials of the def, and of the fields where they reach.
mn_status mn_mpm_update_materials(mn_mpm *mpm);

// ---- forces.c ----

/// What acts on the surface from outside, onto the patches: the air's pressure.
mn_status mn_mpm_press_from_air(mn_mpm *mpm);
/// Gravity, and the force field there, m/s^2.
mn_vec3 mn_mpm_acceleration(const mn_mpm *mpm, mn_vec3 x);
/// The strongest force field that a particle feels, m/s^2.
mn_status mn_mpm_strongest_force(mn_mpm *mpm, double *most);

// ---- extremes.c ----

mn_status mn_mpm_find_extremes(mn_mpm *mpm);
/// The speed of the fastest part of the liquid, m/s, from mass and energy of each block.
double mn_mpm_fastest_part(const mn_mpm *mpm);

// ---- step_limits.c ----

/// The longest step the integrator may take from this state, s, and what bounds it.
double mn_mpm_step_limit(const mn_mpm *mpm, const char **binding);
/// Chooses the automatic bulk modulus for the state, `seconds` after the last choice; pressures stay what
/// they are.
void mn_mpm_update_bulk_modulus(mn_mpm *mpm, double seconds);

// ---- grid_update.c ----

/// Momentum to velocity; gravity over dt; walls and solids when asked for.
mn_status mn_mpm_update_grid(mn_mpm *mpm, mn_mpm_node *nodes, double dt, bool bounded);

// ---- motion.c ----

/// Grid to `next`: velocity, affine velocity, position, volume.
mn_status mn_mpm_move(mn_mpm *mpm, double dt, mn_mpm_step_stats *stats);

// ---- free_flight.c ----

/// Whether nothing holds the liquid.
bool mn_mpm_flies_free(const mn_mpm *mpm);
/// Its mean velocity, which is that of the step's frame.
mn_status mn_mpm_find_frame(mn_mpm *mpm);
/// Moves `next` so that its centre of mass has gone with its momentum.
mn_status mn_mpm_keep_centre(mn_mpm *mpm, double dt);
/// Moves a particle of `next` beside its way.
static inline void mn_mpm_shift(mn_mpm *mpm, int64_t particle, mn_vec3 shift)
{
    mn_mpm_particle *p = &mpm->next.data[particle];
    mn_mpm_turn_back(p, shift, mn_sub(p->v, mpm->trial.frame), mpm->def.dx);
    mn_mpm_set_position(p, mn_add(mn_mpm_position(p), shift));
}

// ---- volume_relaxation.c ----

/// Sums of w V and w V J over the particles of the layer that is looked at, two for each node, in
/// mpm->grid.volumes.
mn_status mn_mpm_scatter_volumes(mn_mpm *mpm);
/// Moves every J by `amount` of its distance from the local mean.
mn_status mn_mpm_relax_volumes(mn_mpm *mpm, double amount);

// ---- step.c ----

/// The grid's velocity at the end of a step of dt in mpm->nodes, from a sampled surface; `solved` is false
/// when there is none to be found.
mn_status mn_mpm_solve_grid(mn_mpm *mpm, double dt, bool *solved);

/// The steps of mn_mpm_solver.
mn_status mn_mpm_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan);
mn_status mn_mpm_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
mn_status mn_mpm_prepare(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_mpm_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict);
mn_status mn_mpm_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_mpm_end(mn_solver *solver, const mn_solver_inputs *inputs);
void mn_mpm_abandon(mn_solver *solver);

// ---- report.c, view.c, stream.c ----

void mn_mpm_report_sums(const mn_solver *solver, mn_report *report);
mn_status mn_mpm_view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view);
extern const mn_saved mn_mpm_saved[];
enum { MN_MPM_SAVED_COUNT = 20 };
mn_status mn_mpm_loaded(mn_solver *solver);

#endif
