// SPDX-License-Identifier: Apache-2.0
//
// Steps in time. The schemes are of second order. Liquid that touches nothing takes symmetric steps
// (symmetric.c), which keep its energy, where the other two damp waves of an edge's length. Those are made of
// one kind of stage: given a, b, h find v with M (v - b) = h f(x, v), x = a + h v.
//
//   BDF2, dt = w times the step before:   h = dt (1+w)/(1+2w),
//                                         a = ((1+w)^2 x - w^2 x')/(1+2w),   b likewise from v, v'
//   SDIRK2 [alexander1977]                h = g dt, g = 1 - 1/sqrt 2
//                                         first   a = x, b = v, gives v1
//                                         second  a = x + (1-g) dt v1, b = v + (1-g)/g (v1 - v)
//
// BDF2 needs the step before: its places and velocities are fields of the mesh and survive remeshing. It and
// the symmetric scheme are started by a step of SDIRK2, which damps what jumps. A symmetric step that fails
// is taken by BDF2, one that fails at half its length, and when none can be solved the liquid coasts
// (rescue.c). The loop over steps is base/stepping.c.
#include "base/elementary.h"
#include "tet/locking.h"
#include "tet/pipes.h"
#include "tet/solid_steps.h"

#include <string.h>

enum { HALVINGS_MAX = 6, HALVINGS_AGAIN = 2 }; // the second right after a step that could not be solved

static const double gamma_sdirk = 0.29289321881345254; // 1 - 1/sqrt 2
static const double growth_max = 2.0;                  // of BDF2's step; unstable above 1 + sqrt 2
static const double turning = 0.3;        // of an edge's length that its ends may move against each other
static const double turning_solid = 0.07; // rad that a solid may turn: more would cost it energy
static const double coasting = 1.0 / 8;   // of the longest step, when none can be solved

// ---- limits ----

double mn_tet_liquid_time_scale(const mn_tet_liquid *liquid)
{
    const double g = mn_norm(liquid->def.gravity) + liquid->run.strongest, l = liquid->size;
    const double rate2 = mn_tet_liquid_tension(liquid) / (liquid->def.density * l * l * l) + g / l;
    return rate2 > 0 ? 1 / sqrt(rate2) : INFINITY;
}

double mn_tet_liquid_stiffness(const mn_tet_liquid *liquid)
{
    return liquid->def.soft_stiffness *
           (mn_tet_liquid_tension(liquid) / liquid->size +
            liquid->def.density * (mn_norm(liquid->def.gravity) + liquid->run.strongest) * liquid->size);
}

double mn_tet_liquid_step_limit(const mn_tet_liquid *liquid)
{
    const double rate = mn_tet_liquid_strain_rate(liquid), spin = mn_tet_solids_spin(liquid);
    const double turn = fmin(spin > 0 ? turning_solid / spin : INFINITY, mn_tet_solids_flow_limit(liquid));
    return fmin(turn,
                fmin(fmin(liquid->def.max_dt, liquid->def.capillary_step * mn_tet_liquid_time_scale(liquid)),
                     rate > 0 ? turning / rate : INFINITY));
}

// Takes speed from what moves so fast against its neighbours that steps would become many times shorter than
// waves and flow of one size ask for.
static mn_status limit_strain(mn_tet_liquid *liquid)
{
    const double shortest = 1.0 / 32; // of the step that they ask for
    double mass = 0, energy = 0;
    const mn_vec3 mean = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass);
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++)
            energy += 0.25 * rest[t] * mn_norm2(mn_axpy(v[liquid->mesh->tet[t][k]], -1 / mass, mean));
    const double flow = sqrt(energy / mass) / liquid->size; // 1/s
    const double step =
        fmin(fmin(liquid->def.max_dt, liquid->def.capillary_step * mn_tet_liquid_time_scale(liquid)),
             flow > 0 ? turning / flow : INFINITY);
    return step < INFINITY ? mn_tet_liquid_limit_strain(liquid, turning / (shortest * step)) : MN_OK;
}

// ---- one step ----

static mn_status resize_step(mn_tet_liquid *liquid)
{
    const int64_t n = liquid->system.node_count;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.place, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.velocity, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.middle, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.pressure, mn_tet_system_pressures(&liquid->system)));
    memcpy(liquid->trial.pressure.data, mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER),
           mn_bytes(n, sizeof(double)));
    mn_tet_solids_load_pressures(liquid, liquid->trial.pressure.data);
    return MN_OK;
}

static mn_status step_bdf2(mn_tet_liquid *liquid, double dt, bool *solved)
{
    const double w = dt / liquid->last_dt, h = dt * (1 + w) / (1 + 2 * w);
    const double now = (1 + w) * (1 + w) / (1 + 2 * w), then = w * w / (1 + 2 * w);
    const mn_vec3 *x = liquid->mesh->position, *v = mn_tet_field_vectors(liquid, MN_TET_V);
    const mn_vec3 *last_v = mn_tet_field_vectors(liquid, MN_TET_LAST_V),
                  *move = mn_tet_field_vectors(liquid, MN_TET_LAST_MOVE);
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        // now - then = 1, so a is x and a part of the last move.
        liquid->trial.place.data[i] = mn_axpy(x[i], then, move[i]);
        liquid->trial.middle.data[i] = mn_sub(mn_scale(now, v[i]), mn_scale(then, last_v[i]));
        liquid->trial.velocity.data[i] = mn_axpy(v[i], w, mn_sub(v[i], last_v[i]));
    }
    MN_TRY(mn_tet_liquid_solve_stage(liquid, h, liquid->trial.place.data, liquid->trial.middle.data,
                                     liquid->trial.velocity.data, liquid->trial.pressure.data, solved));
    for (int32_t i = 0; i < liquid->system.node_count; i++)
        liquid->trial.place.data[i] = mn_axpy(liquid->trial.place.data[i], h, liquid->trial.velocity.data[i]);
    return MN_OK;
}

static mn_status step_sdirk2(mn_tet_liquid *liquid, double dt, bool *solved)
{
    const double h = gamma_sdirk * dt, rest = (1 - gamma_sdirk) * dt;
    const mn_vec3 *x = liquid->mesh->position, *v = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t i = 0; i < liquid->system.node_count; i++) liquid->trial.velocity.data[i] = v[i];
    MN_TRY(mn_tet_liquid_solve_stage(liquid, h, x, v, liquid->trial.velocity.data,
                                     liquid->trial.pressure.data, solved));
    if (!*solved) return MN_OK;
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        const mn_vec3 gain = mn_sub(liquid->trial.velocity.data[i], v[i]);
        liquid->trial.place.data[i] = mn_axpy(x[i], rest, liquid->trial.velocity.data[i]);
        liquid->trial.middle.data[i] = mn_axpy(v[i], (1 - gamma_sdirk) / gamma_sdirk, gain);
        liquid->trial.velocity.data[i] = mn_axpy(v[i], 1 / gamma_sdirk, gain);
    }
    MN_TRY(mn_tet_liquid_solve_stage(liquid, h, liquid->trial.place.data, liquid->trial.middle.data,
                                     liquid->trial.velocity.data, liquid->trial.pressure.data, solved));
    for (int32_t i = 0; i < liquid->system.node_count; i++)
        liquid->trial.place.data[i] = mn_axpy(liquid->trial.place.data[i], h, liquid->trial.velocity.data[i]);
    return MN_OK;
}

static mn_status step_symmetric(mn_tet_liquid *liquid, double dt, bool *solved)
{
    const mn_vec3 *x = liquid->mesh->position, *v = mn_tet_field_vectors(liquid, MN_TET_V);
    const mn_vec3 *last_v = mn_tet_field_vectors(liquid, MN_TET_LAST_V);
    const double w = liquid->last_dt > 0 ? 0.5 * dt / liquid->last_dt : 0;
    for (int32_t i = 0; i < liquid->system.node_count; i++)
        liquid->trial.velocity.data[i] = mn_axpy(v[i], w, mn_sub(v[i], last_v[i]));
    return mn_tet_liquid_solve_symmetric(liquid, dt, x, v, liquid->trial.place.data,
                                         liquid->trial.velocity.data, liquid->trial.pressure.data, solved);
}

// Whether what moves is slow against the waves of one edge's length.
static bool is_calm(const mn_tet_liquid *liquid)
{
    const double calm = 1e-4; // Weber number of the size
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    double fastest = 0;
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) fastest = fmax(fastest, mn_norm2(v[i]));
    return liquid->def.density * fastest * liquid->size < calm * mn_tet_liquid_tension(liquid);
}

// V0 += (V - V0)(1 - exp(-dt/memory)); a calm liquid forgets soon.
static void forget_volumes(mn_tet_liquid *liquid, double dt)
{
    double *soft = mn_tet_field_numbers(liquid, MN_TET_SOFT_VOLUME);
    const double memory = (is_calm(liquid) ? 1 : liquid->def.soft_memory) * mn_tet_liquid_time_scale(liquid);
    const double part = -mn_expm1(-dt / memory);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        soft[t] += part * (mn_tet_mesh_tet_volume(liquid->mesh, t) - soft[t]);
}

// Only the mean over a tetrahedron acts, and some meshes have patterns of pressures that leave every mean
// alone (the two kinds of points of a body-centred lattice). What is shown is the mean of the means around a
// node.
static void show_pressure(mn_tet_liquid *liquid)
{
    const mn_tet_system *s = &liquid->system;
    double *shown = mn_tet_field_numbers(liquid, MN_TET_PRESSURE);
    for (int32_t i = 0; i < s->node_count; i++) {
        double sum = 0, volume = 0;
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++) {
            const int32_t t = s->corner.data[c] / 4;
            const double weight = mn_tet_mesh_tet_volume(liquid->mesh, t);
            volume += weight;
            for (int k = 0; k < 4; k++)
                sum += 0.25 * weight * liquid->trial.pressure.data[mn_tet_system_pressures_of(s, t)[k]];
        }
        shown[i] = sum / volume;
    }
}

static void accept_step(mn_tet_liquid *liquid, double dt)
{
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V),
            *last_v = mn_tet_field_vectors(liquid, MN_TET_LAST_V);
    mn_vec3 *move = mn_tet_field_vectors(liquid, MN_TET_LAST_MOVE);
    double *multiplier = mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER);
    mn_tet_liquid_owe_soft(liquid, liquid->trial.place.data);
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        move[i] = mn_sub(liquid->trial.place.data[i], liquid->mesh->position[i]);
        last_v[i] = v[i];
        v[i] = liquid->trial.velocity.data[i];
        multiplier[i] = liquid->trial.pressure.data[i];
        mn_tet_mesh_move_vertex(liquid->mesh, i, liquid->trial.place.data[i]);
    }
    mn_tet_solids_save_pressures(liquid, liquid->trial.pressure.data);
    mn_tet_solids_accept(liquid);
    show_pressure(liquid);
    forget_volumes(liquid, dt);
    liquid->last_dt = dt;
}

// Tetrahedra stay positive, and no edge changes by much more than the limit meant to allow: forces that are
// new, at the ends of a neck that has just been cut, show only in the step itself.
static bool step_is_whole(const mn_tet_liquid *liquid)
{
    const double most = 0.8; // of an edge's length
    const mn_vec3 *x = liquid->mesh->position, *y = liquid->trial.place.data;
    for (int32_t t = 0; t < liquid->system.tet_count; t++) {
        const int32_t *v = liquid->system.tet[t];
        if (mn_tet_liquid_is_grain(liquid, v[0])) continue; // it is rigid
        if (!(mn_tet_volume(y[v[0]], y[v[1]], y[v[2]], y[v[3]]) > 0)) return false;
        for (int e = 0; e < 6; e++) {
            const int32_t i = v[mn_tet_edge_corners[e][0]], j = v[mn_tet_edge_corners[e][1]];
            const mn_vec3 before = mn_sub(x[i], x[j]), after = mn_sub(y[i], y[j]);
            if (mn_norm2(mn_sub(after, before)) > most * most * mn_norm2(before)) return false;
        }
    }
    return true;
}

// Takes the state as it is: places to start from, and what touches.
static mn_status begin_attempt(mn_tet_liquid *liquid)
{
    MN_TRY(resize_step(liquid));
    MN_TRY(mn_tet_solids_find_pairs(liquid, liquid->run.step));
    if (liquid->solids.used && !mn_tet_liquid_has_solids(liquid))
        return mn_tet_solids_find_tension(liquid, false);
    if (!mn_tet_liquid_has_solids(liquid)) return MN_OK;
    const int32_t touching = liquid->contacts.touching;
    MN_TRY(mn_tet_liquid_find_contacts(liquid));
    MN_TRY(mn_tet_liquid_find_wetted(liquid));
    if (liquid->solids.used) MN_TRY(mn_tet_solids_find_tension(liquid, true));
    if (liquid->contacts.touching != touching) liquid->system.factored = false;
    return MN_OK;
}

// *whole is whether the step was solved and may be accepted.
static mn_status solve(mn_tet_liquid *liquid, double dt, mn_status (*step)(mn_tet_liquid *, double, bool *),
                       bool *whole)
{
    mn_timer_begin(&liquid->solver.timers, "solve");
    const mn_status status = step(liquid, dt, whole);
    mn_timer_end(&liquid->solver.timers, "solve");
    MN_TRY(status);
    if (*whole) MN_TRY(mn_tet_liquid_fly_grains(liquid, dt));
    *whole = *whole && step_is_whole(liquid) && mn_tet_liquid_may_rejoin(liquid, liquid->trial.place.data);
    return MN_OK;
}

// Liquid that touches nothing and has no new forces, whose viscosity does not need a scheme that damps.
static bool may_be_symmetric(const mn_tet_liquid *liquid, double dt)
{
    const double thick = 0.2; // times what diffuses across a size in a step
    return liquid->def.integrator == MN_TET_SYMMETRIC && liquid->contacts.touching == 0 &&
           !liquid->solids.any && !liquid->run.force.ops && !liquid->whole && liquid->last_dt > 0 &&
           liquid->def.viscosity * dt < thick * liquid->def.density * liquid->size * liquid->size;
}

// How strong the force field is where the liquid is.
static mn_status find_force(mn_tet_liquid *liquid, mn_volume force)
{
    liquid->run.force = force, liquid->run.strongest = 0;
    for (int32_t i = 0; force.ops && i < liquid->mesh->vertex_slots; i++) {
        const mn_vec3 f = mn_volume_sample_vec3(force, liquid->mesh->position[i]);
        if (!mn_is_finite3(f))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "The force field holds values that are not finite where the liquid is; check the "
                           "volume named force.");
        liquid->run.strongest = fmax(liquid->run.strongest, mn_norm(f));
    }
    return MN_OK;
}

// ---- what the stepping loop calls ----

mn_status mn_tet_liquid_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                              mn_step_plan *plan)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    plan->halvings = HALVINGS_MAX;
    plan->crumb = 1e-12;
    plan->too_many = "use a larger size or a lower time_scale";
    liquid->counts = (mn_tet_counts){0};
    MN_TRY(mn_tet_liquid_prepare(liquid)); // memory may have run out before
    MN_TRY(mn_tet_liquid_open_pipe(liquid, inputs->own));
    MN_TRY(find_force(liquid, inputs->force));
    MN_TRY(mn_tet_solids_begin(liquid, inputs->heat));
    liquid->run.collider = inputs->collider, liquid->run.drain = inputs->sink;
    liquid->contacts.touching = 0;
    // A loaded state has none of these, and the order of elimination depends on where nodes were.
    liquid->system.analyzed = liquid->system.factored = liquid->system.stiff_analyzed = false;
    liquid->run.frame_left = seconds;
    return solver->time == 0 ? mn_tet_liquid_check_solids(liquid) : MN_OK;
}

mn_status mn_tet_liquid_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    (void)inputs;
    liquid->run.step_begin = solver->time;
    limit->piece = fmin(solver->left, mn_tet_liquid_next_layer(liquid));
    limit->idle = liquid->mesh->tet_count == 0;
    if (limit->idle) return MN_OK;
    double crack;
    MN_TRY(mn_tet_solids_break(liquid, &crack));
    MN_TRY(limit_strain(liquid));
    limit->longest = mn_tet_liquid_step_limit(liquid);
    double approach;
    MN_TRY(mn_tet_solids_approach_limit(liquid, &approach));
    if (approach < limit->longest)
        limit->longest = approach, limit->binding = "solids that come near each other fast";
    if (crack < limit->longest) limit->longest = crack, limit->binding = "a crack that runs through a solid";
    if (turning / mn_tet_liquid_strain_rate(liquid) <= limit->longest)
        limit->binding = "liquid that shoots past what is next to it, as when solids leave it no room";
    return MN_OK;
}

mn_status mn_tet_liquid_prepare_step(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    (void)inputs, (void)dt;
    liquid->run.tries = 0, liquid->run.coasted = false;
    return liquid->solids.used ? MN_OK : mn_tet_liquid_divide(liquid);
}

mn_status mn_tet_liquid_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt,
                                mn_verdict *verdict)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    const bool again = liquid->counts.coasted > 0 && solver->counts.substeps == liquid->counts.coasted_at;
    const bool two_step =
        liquid->def.integrator != MN_TET_SDIRK2 && liquid->last_dt > 0 && dt <= growth_max * liquid->last_dt;
    (void)inputs;
    liquid->run.frame_left = solver->left - dt, liquid->run.step = dt;
    // Volume that remeshing could not put back comes back slowly, or it would shoot out.
    liquid->trial.recovery = fmin(0.1, 0.05 * dt / mn_tet_liquid_time_scale(liquid));
    MN_TRY(begin_attempt(liquid));
    if (may_be_symmetric(liquid, dt)) {
        MN_TRY(solve(liquid, dt, step_symmetric, &verdict->good));
        if (!verdict->good) MN_TRY(begin_attempt(liquid));
    }
    if (!verdict->good) MN_TRY(solve(liquid, dt, two_step ? step_bdf2 : step_sdirk2, &verdict->good));
    if (verdict->good) return MN_OK;
    liquid->system.factored = false;
    if (again && liquid->run.tries++ == HALVINGS_AGAIN) verdict->factor = 0;
    return MN_OK;
}

mn_status mn_tet_liquid_rescue(mn_solver *solver, const mn_solver_inputs *inputs, double asked, double limit,
                               double *taken)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    (void)inputs;
    *taken = fmin(asked, coasting * limit); // not a part of what is left, which would never end
    liquid->run.frame_left = solver->left - *taken;
    liquid->run.coasted = true;
    MN_TRY(resize_step(liquid));
    return mn_tet_liquid_coast(liquid, *taken);
}

// The step becomes the state, on the mesh as it was before what locks was divided.
static mn_status accept(mn_tet_liquid *liquid, double dt)
{
    accept_step(liquid, dt);
    if (liquid->run.coasted) {
        mn_tet_liquid_forget_owed(liquid->mesh);
        liquid->counts.coasted_at = liquid->solver.counts.substeps;
        liquid->last_dt = 0;
    }
    MN_TRY(mn_tet_solids_warm(liquid, dt));
    return mn_tet_liquid_rejoin(liquid);
}

mn_status mn_tet_liquid_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    (void)inputs;
    mn_tet_liquid_move_caps(liquid, solver->time - liquid->run.step_begin);
    if (dt > 0) {
        MN_TRY(accept(liquid, dt));
        MN_TRY(mn_tet_liquid_drain(liquid));
    }
    MN_TRY(mn_tet_liquid_emit(liquid));
    if (!(dt > 0) || liquid->mesh->tet_count == 0) return MN_OK;
    MN_TRY(mn_tet_liquid_pay_owed(liquid, liquid->solids.any || is_calm(liquid)));
    MN_TRY(mn_tet_liquid_hold_small(liquid));
    MN_TRY(mn_tet_liquid_adapt(liquid));
    if (!is_calm(liquid) || liquid->solids.used) return MN_OK;
    mn_timer_begin(&solver->timers, "slide");
    const mn_status status = mn_tet_liquid_slide(liquid);
    mn_timer_end(&solver->timers, "slide");
    return status;
}

void mn_tet_liquid_abandon(mn_solver *solver)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    mn_tet_liquid_forget_division(liquid);
    liquid->run.collider = liquid->run.drain = NULL;
    liquid->run.pipe = (mn_tet_pipe){0}, liquid->run.open = 0;
    liquid->run.force = liquid->solids.source_field = (mn_volume){0}, liquid->run.strongest = 0;
}

// What is shown counts faces by what they touch now.
static mn_status find_touched(mn_tet_liquid *liquid)
{
    if (!mn_tet_liquid_has_solids(liquid)) return MN_OK;
    liquid->run.step = 0;
    MN_TRY(mn_tet_liquid_find_contacts(liquid));
    MN_TRY(mn_tet_liquid_find_wetted(liquid));
    return liquid->solids.used ? mn_tet_solids_find_tension(liquid, true) : MN_OK;
}

mn_status mn_tet_liquid_end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    (void)inputs;
    MN_TRY(find_touched((mn_tet_liquid *)solver));
    mn_tet_liquid_abandon(solver);
    return MN_OK;
}
