// SPDX-License-Identifier: Apache-2.0
//
// A step: sample the surface, scatter, solve, gather; judge; sort.
#include "mpm/step.h"
#include "base/elementary.h"
#include "mpm/nozzles.h"
#include "mpm/resample.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

// Of the distance of particles outside of the surface, per relaxation of volume ratios: a tenth in the time
// that sound takes to cross a cell, slow against a step, fast against the drift.
static const double settling = 20;
// Of the slope of what particles fill too much, as often. Seven times as much holds a drop at rest no better,
// and its currents grow by a tenth.
static const double evening = 0.3;

// Scatters the particles with what acts over dt: on the grid are then mass and velocity.
static mn_status scatter(mn_mpm *mpm, double dt, double explicit_dt, mn_mpm_node *nodes)
{
    const bool grouped = mpm->split.groups.count > 0;
    const mn_mpm_cells cells = {mpm->particles.data, mpm->materials.data, mpm->grid.cell_start,
                                grouped ? mpm->split.group_of.data : NULL};
    const mn_mpm_impulse impulse = {mpm->bulk_modulus, dt, explicit_dt};
    mn_mpm_splats splats = {0};
    if (mpm->surface.patches.count > 0) {
        MN_TRY(mn_mpm_split(mpm, dt, explicit_dt));
        const mn_sorted_points sorted = mn_point_sort_result(mpm->split.sort);
        splats = (mn_mpm_splats){mpm->split.splats.data, mpm->split.pushes, sorted.order, sorted.cell_start};
    }
    MN_TRY(mn_mpm_scatter(mpm->solver.ctx, &mpm->grid.table, &cells, &splats, impulse, nodes));
    return mn_mpm_push_from_walls(mpm, nodes, dt);
}

// The velocity before anything acts, which FLIP takes the change from and implicit steps begin with.
static mn_status scatter_before(mn_mpm *mpm)
{
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->grid.before, mpm->grid.nodes.count));
    MN_TRY(scatter(mpm, 0, 0, mpm->grid.before.data));
    return mn_mpm_update_grid(mpm, mpm->grid.before.data, 0, false);
}

mn_status mn_mpm_solve_grid(mn_mpm *mpm, double dt, bool *solved)
{
    const bool flip = mpm->def.transfer == MN_MPM_APIC_FLIP && mpm->def.flip_ratio > 0;
    const bool implicit = mpm->def.integrator != MN_MPM_EXPLICIT;
    mn_mpm_node *nodes = mpm->grid.nodes.data;
    mn_timer_begin(&mpm->solver.timers, "p2g");
    if (flip || implicit) MN_TRY(scatter_before(mpm));
    if (implicit) {
        MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->implicit.target, mpm->grid.nodes.count));
        nodes = mpm->implicit.target.data;
    }
    MN_TRY(scatter(mpm, dt, implicit ? 0 : dt, nodes));
    mn_timer_end(&mpm->solver.timers, "p2g");
    mn_timer_begin(&mpm->solver.timers, "solve");
    MN_TRY(mn_mpm_update_grid(mpm, nodes, dt, !implicit));
    *solved = true;
    if (implicit) MN_TRY(mn_mpm_solve_implicit(mpm, dt, solved));
    if (*solved) MN_TRY(mn_mpm_rub_on_walls(mpm, mpm->grid.nodes.data, dt));
    mn_timer_end(&mpm->solver.timers, "solve");
    return MN_OK;
}

// How far a particle may move in one step: a cell, or twice what was asked for.
static double longest_move(const mn_mpm *mpm)
{
    const bool implicit = mpm->def.integrator != MN_MPM_EXPLICIT;
    return (implicit ? fmax(2 * mpm->def.cfl, 1) : 1) * mpm->def.dx;
}

// What is left of a step's length when it is taken again: half, or less when the liquid moved much too far.
static double shorter(const mn_mpm *mpm, const mn_mpm_step_stats *stats)
{
    const double least = 1.0 / 16, fit = 0.8 * longest_move(mpm) / stats->max_move;
    return stats->finite && fit < 0.5 ? fmax(fit, least) : 0.5;
}

// Whether the step is one that physics could have made.
static bool step_is_sane(const mn_mpm *mpm, double dt, const mn_mpm_step_stats *stats)
{
    const mn_mpm_extremes *e = &mpm->extremes;
    if (!stats->finite || !isfinite(stats->kinetic)) return false;
    if (stats->max_move > longest_move(mpm)) return false;
    if (stats->min_ratio < 0.2) return false;
    // What the stored energies, gravity and moving solids can give in one step, with a factor to spare.
    const double stored = e->max_sigma * mpm->area + 0.5 * mpm->bulk_modulus * e->volume;
    const double weight = e->mass * (mn_norm(mpm->def.gravity) + e->force) * stats->max_speed * dt;
    const double driven = mn_mpm_driven_speed(mpm);
    return stats->kinetic <= 2 * (e->kinetic + stored + weight + 2 * e->mass * driven * driven);
}

// Volume ratios relax slowly, by a small part of their differences in the time that sound takes to cross a
// cell, and particles outside of the surface settle; not at every step, to save time. How much of the
// relaxation is due after a step of dt, 0 when it is put off.
static double relaxation_due(mn_mpm *mpm, double dt)
{
    const double rate = 0.005, batch = 0.02;
    const double most = mpm->def.integrator == MN_MPM_EXPLICIT ? 2 * batch : 0.25;
    const double sound = sqrt(mpm->bulk_modulus / mpm->extremes.min_density);
    // Nothing drifts where nothing moves, and a pool at rest stays so.
    if (mpm->extremes.max_speed < 1e-8 * sound) return 0;
    mpm->relaxation_due += rate * sound * dt / mpm->def.dx;
    if (mpm->relaxation_due < batch) return 0;
    const double amount = fmin(mpm->relaxation_due, most);
    mpm->relaxation_due = 0;
    return amount;
}

// ---- the steps ----

// A liquid too soft for its surface tension is squeezed together, and its surface with it: it loses volume
// and gains energy from step to step (seen from a tenth of the bulk modulus on).
static mn_status check_stiffness(const mn_mpm *mpm)
{
    const double share = 0.03, pi = MN_PI;
    const mn_mpm_extremes *e = &mpm->extremes;
    if (!(mpm->def.bulk_modulus > 0) || mpm->particles.count == 0) return MN_OK;
    const double pressure = 2 * e->max_sigma / mn_cbrt(0.75 * e->volume / pi);
    if (pressure <= share * mpm->def.bulk_modulus) return MN_OK;
    return mn_fail(
        mpm->solver.ctx, MN_ERROR_ARGUMENT,
        "Surface tension presses on the liquid with %.3g Pa, too much for its bulk modulus of %.3g Pa; use "
        "bulk_modulus above %.2g Pa, or 0 to let the solver choose.",
        pressure, mpm->def.bulk_modulus, pressure / share);
}

mn_status mn_mpm_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan)
{
    mn_mpm *mpm = (mn_mpm *)solver;
    plan->failure = "A step of the liquid failed";
    plan->advice = "lower cfl or max_dt, or check the source for particles on top of each other";
    plan->too_many = "use a coarser dx or a lower time_scale";
    if (inputs->own) MN_TRY(mn_mpm_set_emitter(mpm, inputs->own, seconds));
    mpm->run.sink = inputs->sink, mpm->run.fields = inputs;
    if (mpm->def.air_density > 0) solver->energy.begun = false; // the air drives
    MN_TRY(mn_mpm_bodies_begin(mpm, inputs->collider, seconds));
    MN_TRY(mn_mpm_sort_again(mpm));
    MN_TRY(mn_mpm_update_materials(mpm));
    mpm->run.frame_begin = seconds;
    MN_TRY(mn_mpm_free_trapped(mpm));
    MN_TRY(mn_mpm_find_extremes(mpm));
    MN_TRY(mn_mpm_check_liquids(mpm));
    MN_TRY(check_stiffness(mpm));
    mn_mpm_update_bulk_modulus(mpm, 0);
    return MN_OK;
}

mn_status mn_mpm_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit)
{
    (void)inputs;
    const mn_mpm *mpm = (const mn_mpm *)solver;
    limit->idle = mpm->particles.count == 0 && !mpm->bodies.elastic;
    if (!limit->idle) limit->longest = mn_mpm_step_limit(mpm, &limit->binding);
    return MN_OK;
}

mn_status mn_mpm_prepare(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    (void)inputs;
    mn_mpm *mpm = (mn_mpm *)solver;
    mpm->run.frame_begin = solver->left;
    mpm->run.frame_left = solver->left - dt;
    mpm->trial = (mn_mpm_trial){.end = mpm->run.frame_left + dt, .taken_on = true};
    mn_timer_begin(&solver->timers, "sampling");
    MN_TRY(mn_mpm_sample_surface(mpm));
    MN_TRY(mn_mpm_press_from_air(mpm));
    MN_TRY(mn_mpm_find_contacts(mpm));
    mpm->surface_energy += mn_mpm_wetting_energy(mpm);
    if (mpm->unbalanced) MN_TRY(mn_mpm_balance(mpm));
    mpm->unbalanced = false;
    mn_timer_end(&solver->timers, "sampling");
    MN_TRY(mn_mpm_find_frame(mpm));
    return mn_mpm_scatter_nozzles(mpm);
}

mn_status mn_mpm_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    (void)inputs;
    mn_mpm *mpm = (mn_mpm *)solver;
    mn_mpm_step_stats *stats = &mpm->trial.stats;
    *stats = (mn_mpm_step_stats){0};
    bool solved = false;
    MN_TRY(mn_mpm_bodies_open(mpm, dt));
    const mn_status status = mn_mpm_solve_grid(mpm, dt, &solved);
    if (status != MN_OK || !solved) mn_mpm_bodies_undo(mpm);
    if (status == MN_ERROR_DIVERGED) return MN_OK; // bodies that find no way: shorter
    MN_TRY(status);
    mn_timer_begin(&solver->timers, "g2p");
    if (solved) MN_TRY(mn_mpm_move(mpm, dt, stats));
    mn_timer_end(&solver->timers, "g2p");
    verdict->good = solved && step_is_sane(mpm, dt, stats);
    if (!verdict->good) mn_mpm_bodies_undo(mpm);
    if (solved) verdict->factor = shorter(mpm, stats);
    return MN_OK;
}

mn_status mn_mpm_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    (void)inputs;
    mn_mpm *mpm = (mn_mpm *)solver;
    mn_mpm_step_stats *stats = &mpm->trial.stats;
    if (!(dt > 0)) return MN_OK; // nothing to move
    mn_timer_begin(&solver->timers, "sort");
    const int64_t last_id = mpm->next_id, before = mpm->particles.count;
    const double end = mpm->trial.end, due = relaxation_due(mpm, dt);
    if (due > 0) MN_TRY(mn_mpm_settle_surface(mpm, fmin(settling * due, 0.5)));
    if (due > 0) MN_TRY(mn_mpm_even_out(mpm, evening * due));
    MN_TRY(mn_mpm_keep_centre(mpm, dt));
    MN_TRY(mn_mpm_emit_next(mpm, dt, end - dt, stats));
    const int64_t born = mpm->next_id - last_id;
    mn_mpm_drain_next(mpm, end - dt);
    mn_mpm_carry_grid(mpm, dt, stats);
    MN_TRY(mn_mpm_sort_next(mpm));
    if (due > 0) MN_TRY(mn_mpm_relax_volumes(mpm, due));
    mpm->extremes.max_speed = stats->max_speed;
    mpm->extremes.kinetic = stats->kinetic;
    mpm->extremes.part_speed = stats->part_speed;
    const bool fields = mpm->run.fields->sigma.ops || mpm->run.fields->viscosity.ops;
    if (fields) MN_TRY(mn_mpm_update_materials(mpm));
    if (fields || born > 0 || mpm->particles.count < before) MN_TRY(mn_mpm_find_extremes(mpm));
    mn_timer_end(&solver->timers, "sort");
    mn_mpm_update_bulk_modulus(mpm, dt);
    mpm->bodies.open = false;
    mpm->trial.taken_on = false;
    return MN_OK;
}

static void let_go(mn_mpm *mpm)
{
    if (mpm->bodies.elastic) mpm->solver.energy.begun = false; // they give and take
    mpm->bodies.open = false;
    mpm->run.collider = mpm->run.sink = NULL, mpm->run.fields = NULL;
    mpm->run.frame_begin = mpm->run.frame_left = 0;
}

mn_status mn_mpm_end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    (void)inputs;
    MN_TRY(mn_mpm_bodies_end((mn_mpm *)solver));
    let_go((mn_mpm *)solver);
    return MN_OK;
}

void mn_mpm_abandon(mn_solver *solver)
{
    mn_mpm *mpm = (mn_mpm *)solver;
    mn_mpm_bodies_undo(mpm);
    if (mpm->trial.taken_on) mn_mpm_forget_emitter(mpm);
    mpm->trial.taken_on = false;
    let_go(mpm);
}
