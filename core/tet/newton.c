// SPDX-License-Identifier: Apache-2.0
//
// One implicit solve by Newton's method. The unknown is the displacement u = h v / size, so that a stage
// knows no units (system.h):
//
//   sigma -> sigma h^2/(rho L^3)   mu -> mu h/(rho L^2)   p -> p h^2/(rho L^2)   g -> g h^2/L      L: size
//
// Each correction is solved by flexible GMRES to a part of its right-hand side. Afterwards every free body's
// mean velocity is put where the forces from outside want it: inner forces add up to zero, so what is missing
// is the tolerance of the solver, and linear momentum is exact to rounding.
#include "tet/newton.h"

#include "base/elementary.h"
#include "tet/solid_steps.h"

#include <string.h>

enum { NEWTON_MAX = 10, HALVINGS = 4 };

static const double tolerance = 1e-8; // of the largest force on a node, and of a node's mean volume
static const double linear_least = 1e-5, linear_most = 1e-2; // tolerances of a correction, of its right side
static const double stalled = 1e3; // tolerances that will do where rounding lets no correction come nearer
static const double least_volume = 0.1; // of its own that a tetrahedron must keep over a step

mn_status mn_tet_stage_resize(mn_tet_liquid *liquid)
{
    const int64_t n = liquid->system.node_count, m = liquid->system.tet_count,
                  pressures = mn_tet_system_pressures(&liquid->system);
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.start, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.drift, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.u, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.p, pressures));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.node_volume, pressures));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.mass, m));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.volume_before, m));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.soft_volume, m));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.residual, 3 * n + pressures));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.side, 3 * n + pressures));
    return mn_array_resize(liquid->ctx, &liquid->trial.change, 3 * n + pressures);
}

// Whether a body has nowhere to grow or shrink to: no direction that its nodes are free in changes its
// volume, sum |P_i dV/dx_i| = 0. A box full of liquid is one. `confined` has a place for each body.
static mn_status find_confined(mn_tet_liquid *liquid, uint8_t *confined)
{
    const double least = 1e-3; // of the surface that must be free to move
    const mn_tet_system *s = &liquid->system;
    const mn_vec3 *x = liquid->mesh->position;
    MN_ARRAY(double) area = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &area, 2 * (int64_t)liquid->bodies.count));
    for (int64_t b = 0; b < area.count; b++) area.data[b] = 0;
    mn_status status = mn_tet_liquid_find_directions(liquid, liquid->mesh);
    for (int32_t i = 0; status == MN_OK && i < s->node_count; i++) {
        mn_vec3 out = {0};
        for (int32_t c = s->face_start.data[i]; c < s->face_start.data[i + 1]; c++) {
            const int32_t *v = s->face.data + 3 * (int64_t)(s->face_corner.data[c] / 3);
            out = mn_add(out, mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
        }
        double *body = area.data + 2 * (int64_t)liquid->bodies.of_node.data[i];
        body[0] += mn_norm(out), body[1] += mn_norm(mn_m3_apply(liquid->contacts.tangent.data[i], out));
    }
    for (int32_t b = 0; status == MN_OK && b < liquid->bodies.count; b++)
        confined[b] = area.data[2 * b + 1] < least * area.data[2 * b];
    mn_array_free(liquid->ctx, &area);
    return status;
}

// A confined body cannot come nearer to its rest volumes: what is asked of its nodes is what they have.
static mn_status fit_confined(mn_tet_liquid *liquid, const double *now, double *rest)
{
    MN_ARRAY(uint8_t) confined = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &confined, liquid->bodies.count));
    const mn_status status = find_confined(liquid, confined.data);
    for (int32_t d = 0; status == MN_OK && d < mn_tet_system_pressures(&liquid->system); d++) {
        const int32_t i = liquid->system.phases.split ? liquid->system.phases.node.data[d] : d;
        if (confined.data[liquid->bodies.of_node.data[i]]) rest[d] = now[d];
    }
    mn_array_free(liquid->ctx, &confined);
    return status;
}

// Whether a pressure is one of a solid, whose volume gives way to it.
static bool is_elastic(const mn_tet_liquid *liquid, int32_t pressure)
{
    return liquid->solids.any && liquid->solids.compliance.data[pressure] > 0;
}

// C0: what the rest volumes say, or so much of the way there that no node changes by more than a part of its
// volume. What comes back is the part. All nodes go the same part of the way: some meshes have patterns q of
// nodes with q.C = 0 whatever the places (the two kinds of points of a body-centred lattice), and C0 must
// keep to them as sums over tetrahedra do. A node that has come to touch is put onto the solid however short
// the step: what volume this takes comes back like any other, or a short step would have to give it all.
static mn_status find_node_volumes(mn_tet_liquid *liquid, double *part)
{
    const mn_tet_system *s = &liquid->system;
    const int32_t pressures = mn_tet_system_pressures(s);
    const double *room = liquid->solids.used ? liquid->solids.room.data : liquid->trial.mass.data;
    double *now = liquid->trial.change.data,
           *rest = liquid->trial.residual.data; // free until the first correction
    for (int32_t i = 0; i < pressures; i++) rest[i] = 0;
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int k = 0; k < 4; k++) rest[mn_tet_system_pressures_of(s, t)[k]] += 0.25 * room[t];
    for (int32_t i = 0; i < s->node_count; i++) {
        const mn_vec3 x =
            liquid->contacts.touching > 0 ? mn_tet_liquid_on_solids(liquid, i) : liquid->mesh->position[i];
        liquid->trial.start.data[i] = mn_scale(1 / liquid->size, x);
    }
    mn_tet_system_node_volumes(s, liquid->trial.start.data, now);
    if (liquid->contacts.touching > 0) MN_TRY(fit_confined(liquid, now, rest));
    double most = 0;
    for (int32_t i = 0; i < pressures; i++)
        if (!is_elastic(liquid, i)) most = fmax(most, fabs(rest[i] - now[i]) / now[i]);
    *part = most > liquid->trial.recovery ? liquid->trial.recovery / most : 1;
    for (int32_t i = 0; i < pressures; i++)
        liquid->trial.node_volume.data[i] = now[i] + (is_elastic(liquid, i) ? 1 : *part) * (rest[i] - now[i]);
    return MN_OK;
}

// *part is how much of the missing volume the stage gives back.
mn_status mn_tet_stage_fill(mn_tet_liquid *liquid, double h, const mn_vec3 *a, const mn_vec3 *b,
                            const mn_vec3 *velocity, const double *pressure, mn_tet_stage *stage,
                            double *part)
{
    const double length = liquid->size, rho = liquid->def.density, volume = length * length * length;
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME),
                 *soft = mn_tet_field_numbers(liquid, MN_TET_SOFT_VOLUME);
    const double press = h * h / (rho * length * length);
    for (int32_t t = 0; t < liquid->system.tet_count; t++) {
        liquid->trial.mass.data[t] = rest[t] / volume;
        liquid->trial.volume_before.data[t] = mn_tet_mesh_tet_volume(liquid->mesh, t) / volume;
        liquid->trial.soft_volume.data[t] = soft[t] / volume;
    }
    *stage = (mn_tet_stage){0};
    MN_TRY(mn_tet_solids_fill_stage(liquid, h, stage));
    MN_TRY(find_node_volumes(liquid, part));
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        liquid->trial.start.data[i] = mn_scale(1 / length, a[i]);
        liquid->trial.drift.data[i] = mn_scale(h / length, b[i]);
        liquid->trial.u.data[i] = mn_scale(h / length, velocity[i]);
    }
    for (int32_t i = 0; i < mn_tet_system_pressures(&liquid->system); i++)
        liquid->trial.p.data[i] = press * pressure[i];
    if (liquid->run.force.ops)
        MN_TRY(mn_array_resize(liquid->ctx, &liquid->run.field, liquid->system.node_count));
    for (int32_t i = 0; liquid->run.force.ops && i < liquid->system.node_count; i++)
        liquid->run.field.data[i] = mn_scale(h * h / length, mn_volume_sample_vec3(liquid->run.force, a[i]));
    *stage = (mn_tet_stage){.field = liquid->run.force.ops ? liquid->run.field.data : NULL,
                            .sigma = mn_tet_liquid_tension(liquid) * h * h / (rho * volume),
                            .shapes = stage->shapes,
                            .tet_viscosity = stage->tet_viscosity,
                            .compliance = stage->compliance,
                            .nodal = stage->nodal,
                            .pairs = liquid->solids.pairs.data,
                            .pair_count = liquid->solids.pairs.count,
                            .pair_unit = h * h / (rho * volume),
                            .barrier = mn_tet_solids_barrier(liquid),
                            .barrier_unit = press,
                            .slips = liquid->solids.slips.data,
                            .slip_count = liquid->solids.slips.count,
                            .before = liquid->solids.before.data,
                            .face_sigma = liquid->solids.used && liquid->contacts.face_sigma.count ==
                                                                     liquid->system.face_count
                                              ? liquid->contacts.face_sigma.data
                                              : NULL,
                            .viscosity = liquid->def.viscosity * h / (rho * length * length),
                            .stiffness = mn_tet_liquid_stiffness(liquid) * press,
                            .gravity = mn_scale(h * h / length, liquid->def.gravity),
                            .start = liquid->trial.start.data,
                            .drift = liquid->trial.drift.data,
                            .mass = liquid->trial.mass.data,
                            .soft_volume = liquid->trial.soft_volume.data,
                            .node_volume = liquid->trial.node_volume.data,
                            .volume_before = liquid->trial.volume_before.data,
                            .u = liquid->trial.u.data,
                            .p = liquid->trial.p.data};
    return MN_OK;
}

// How far from solved: 1 is the tolerance.
static double error_of(const mn_tet_liquid *liquid)
{
    const int64_t n = liquid->system.node_count;
    double force = 0, volume = 0, mean = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *r = liquid->trial.residual.data + 3 * i;
        const double length = r[0] * r[0] + r[1] * r[1] + r[2] * r[2],
                     missing = fabs(liquid->trial.residual.data[3 * n + i]);
        force = length <= force ? force : length; // a NaN wins
        volume = missing <= volume ? volume : missing;
        mean += liquid->trial.node_volume.data[i] / (double)n;
    }
    for (int64_t i = n; i < mn_tet_system_pressures(&liquid->system); i++) {
        const double missing = fabs(liquid->trial.residual.data[3 * n + i]);
        volume = missing <= volume ? volume : missing;
    }
    const double scale = liquid->system.force_scale > 0 ? liquid->system.force_scale : 1;
    const double first = sqrt(force) / scale, second = volume / mean;
    return (first >= second ? first : second) / tolerance;
}

static void move_unknowns(mn_tet_liquid *liquid, double factor)
{
    const int64_t n = liquid->system.node_count;
    for (int64_t i = 0; i < n; i++) {
        const double *d = liquid->trial.change.data + 3 * i;
        liquid->trial.u.data[i] = mn_axpy(liquid->trial.u.data[i], factor, mn_v3(d[0], d[1], d[2]));
        liquid->trial.p.data[i] += factor * liquid->trial.change.data[3 * n + i];
    }
    for (int64_t i = n; i < mn_tet_system_pressures(&liquid->system); i++)
        liquid->trial.p.data[i] += factor * liquid->trial.change.data[3 * n + i];
}

// Factors S at the iterate. Blocks are left as they were for it.
mn_status mn_tet_stage_factor(mn_tet_liquid *liquid, bool *solved)
{
    mn_timer_begin(&liquid->solver.timers, "factor");
    liquid->system.even = true;
    mn_status status = mn_tet_system_assemble(&liquid->system);
    liquid->system.even = false;
    if (status == MN_OK) status = mn_tet_system_factor(&liquid->system);
    mn_timer_end(&liquid->solver.timers, "factor");
    *solved = status == MN_OK;
    if (status != MN_ERROR_INPUT && status != MN_ERROR_DIVERGED) return status;
    mn_context_clear_message(liquid->ctx);
    return MN_OK;
}

// How well a correction is to be solved: a tenth of what Newton will leave, since it leaves the square of
// what it left before, e_(k+1)/e_k = (e_k/e_(k-1))^2 [eisenstat1996]; or what is needed to end with.
static double forcing(double error, double before)
{
    const double part = before > 0 ? error / before : 0.1;
    const double next = fmin(0.1 * part * part, 1e-3), end = 0.03 / error;
    return fmin(fmax(fmax(next, end), linear_least), linear_most);
}

// Whether a factor has aged and is made anew for the next correction. A fresh one for stiff solids may take
// many iterations too: there it is compared with what it took at first, for each digit.
static bool has_aged(mn_tet_system *s, bool fresh, int32_t iterations, double tolerated)
{
    const double digits = iterations / fmax(1, -mn_ln(tolerated) / mn_ln(10));
    if (fresh) s->fresh_rate = digits;
    return iterations > 30 &&
           (!s->stiff || (!fresh && (digits > 1.3 * s->fresh_rate || iterations >= MN_TET_LINEAR_MAX)));
}

static mn_status correct(mn_tet_liquid *liquid, double tolerated, bool *solved)
{
    const int64_t n = liquid->system.node_count, all = 3 * n + mn_tet_system_pressures(&liquid->system);
    mn_linear_problem problem = {all, mn_tet_system_apply, &liquid->system, mn_tet_system_precondition,
                                 &liquid->system};
    const mn_krylov_def def = {
        .tolerance = tolerated, .max_iterations = MN_TET_LINEAR_MAX, .restart = MN_TET_RESTART};
    mn_krylov_result result;
    *solved = true;
    const bool fresh = !liquid->system.factored;
    if (fresh) MN_TRY(mn_tet_stage_factor(liquid, solved));
    if (!*solved) return MN_OK;
    MN_TRY(mn_tet_system_assemble(&liquid->system));
    for (int64_t i = 0; i < 3 * n; i++) liquid->trial.side.data[i] = -liquid->trial.residual.data[i];
    for (int64_t i = 3 * n; i < all; i++) liquid->trial.side.data[i] = liquid->trial.residual.data[i];
    memset(liquid->trial.change.data, 0, mn_bytes(all, sizeof(double)));
    MN_TRY(mn_flexible_gmres(liquid->krylov, &problem, &def, liquid->trial.side.data,
                             liquid->trial.change.data, &result));
    liquid->counts.linear += result.iterations;
    liquid->counts.newton++;
    if (has_aged(&liquid->system, fresh, result.iterations, tolerated)) liquid->system.factored = false;
    *solved = result.end == MN_KRYLOV_CONVERGED || result.end == MN_KRYLOV_ITERATIONS;
    return MN_OK;
}

// Goes along the correction as far as the residual falls.
static mn_status search_line(mn_tet_liquid *liquid, const mn_tet_stage *stage, double *error, bool *solved)
{
    double factor = 1;
    if (stage->barrier) MN_TRY(mn_tet_barrier_fraction(&liquid->system, liquid->trial.change.data, &factor));
    move_unknowns(liquid, factor);
    for (int halving = 0; halving <= HALVINGS; halving++, factor *= 0.5) {
        MN_TRY(mn_tet_system_residual(&liquid->system, stage, liquid->trial.residual.data));
        const double now = error_of(liquid);
        if (liquid->system.min_volume > least_volume && now < *error) {
            *error = now;
            return MN_OK;
        }
        move_unknowns(liquid, -0.5 * factor);
    }
    move_unknowns(liquid, -factor);
    *solved = false;
    return mn_tet_system_residual(&liquid->system, stage, liquid->trial.residual.data);
}

mn_status mn_tet_stage_iterate(mn_tet_liquid *liquid, const mn_tet_stage *stage, bool *solved)
{
    MN_TRY(mn_tet_system_residual(&liquid->system, stage, liquid->trial.residual.data));
    double error = error_of(liquid), before = 0;
    *solved = isfinite(error) && liquid->system.min_volume > 0;
    for (int i = 0; i < NEWTON_MAX && *solved && error > 1; i++) {
        const double tolerated = forcing(error, before);
        before = error;
        MN_TRY(correct(liquid, tolerated, solved));
        if (*solved) MN_TRY(search_line(liquid, stage, &error, solved));
    }
    *solved = error <= stalled && liquid->system.min_volume > 0;
    return MN_OK;
}

// sum m (u - drift - g) = what touches it, for every body.
mn_status mn_tet_stage_balance(mn_tet_liquid *liquid, const mn_tet_stage *stage)
{
    const mn_tet_system *s = &liquid->system;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->bodies.sums, 4 * (int64_t)liquid->bodies.count));
    double *sum = liquid->bodies.sums.data;
    memset(sum, 0, mn_bytes(liquid->bodies.sums.count, sizeof *sum));
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int k = 0; k < 4; k++) {
            const int32_t i = s->tet[t][k];
            const double m = 0.25 * liquid->trial.mass.data[t];
            const mn_vec3 pull = stage->field ? mn_add(stage->gravity, stage->field[i]) : stage->gravity;
            const mn_vec3 extra = mn_sub(mn_sub(liquid->trial.u.data[i], liquid->trial.drift.data[i]), pull);
            double *body = sum + 4 * (int64_t)liquid->bodies.of_node.data[i];
            body[0] += m, body[1] += m * extra.x, body[2] += m * extra.y, body[3] += m * extra.z;
        }
    for (int32_t i = 0; mn_tet_stage_touches(stage) && i < s->node_count;
         i++) { // bodies that touch each other
        const mn_vec3 push = s->pair_pull.data[i];
        double *body = sum + 4 * (int64_t)liquid->bodies.of_node.data[i];
        body[1] += push.x, body[2] += push.y, body[3] += push.z;
    }
    for (int32_t i = 0; i < s->node_count; i++) {
        const double *body = sum + 4 * (int64_t)liquid->bodies.of_node.data[i];
        liquid->trial.u.data[i] =
            mn_axpy(liquid->trial.u.data[i], -1 / body[0], mn_v3(body[1], body[2], body[3]));
    }
    return MN_OK;
}

// Bodies start where they were and go towards the guess as far as none passes through another.
static mn_status clip_guess(mn_tet_liquid *liquid, const mn_tet_stage *stage)
{
    const int32_t n = liquid->system.node_count;
    double fraction;
    for (int32_t i = 0; i < n; i++) {
        const mn_vec3 u = mn_sub(stage->before[i], stage->start[i]), d = mn_sub(stage->u[i], u);
        stage->u[i] = u;
        memcpy(liquid->trial.change.data + 3 * (int64_t)i, &d, sizeof d);
    }
    // Where forces act is what the fraction starts from.
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->system.x, n));
    for (int32_t i = 0; i < n; i++) liquid->system.x.data[i] = stage->before[i];
    liquid->system.stage = stage;
    MN_TRY(mn_tet_barrier_fraction(&liquid->system, liquid->trial.change.data, &fraction));
    for (int32_t i = 0; i < n; i++) {
        const double *d = liquid->trial.change.data + 3 * (int64_t)i;
        stage->u[i] = mn_axpy(stage->u[i], fraction, mn_v3(d[0], d[1], d[2]));
    }
    return MN_OK;
}

// Solves, and solves again while nodes come to touch solids or leave them.
static mn_status iterate_with_contacts(mn_tet_liquid *liquid, double h, const mn_vec3 *a, mn_tet_stage *stage,
                                       bool *solved)
{
    enum { ROUNDS = 6 };
    const bool solids = mn_tet_liquid_has_solids(liquid);
    if (stage->barrier) MN_TRY(clip_guess(liquid, stage));
    if (solids) {
        MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.reaction, 3 * (int64_t)liquid->system.node_count));
        stage->reaction = liquid->trial.reaction.data;
        stage->face_sigma = liquid->contacts.face_sigma.data;
        MN_TRY(mn_tet_liquid_begin_friction(liquid, h, stage));
        MN_TRY(mn_tet_liquid_constrain(liquid, h, a, stage));
    }
    MN_TRY(mn_tet_stage_iterate(liquid, stage, solved));
    bool changed = solids;
    for (int round = 0; round < ROUNDS && *solved && changed; round++) {
        MN_TRY(mn_tet_liquid_revise_contacts(
            liquid, stage, round < ROUNDS / 2 ? liquid->trial.reaction.data : NULL, &changed));
        if (*solved && round < ROUNDS - 1) MN_TRY(mn_tet_liquid_revise_friction(liquid, stage, &changed));
        if (!changed) break;
        // Few nodes of a solid change; the factor serves on until it costs iterations.
        if (!liquid->solids.any) liquid->system.factored = false;
        stage->freedom = NULL;
        MN_TRY(mn_tet_liquid_constrain(liquid, h, a, stage));
        MN_TRY(mn_tet_stage_iterate(liquid, stage, solved));
    }
    return MN_OK;
}

mn_status mn_tet_liquid_solve_stage(mn_tet_liquid *liquid, double h, const mn_vec3 *a, const mn_vec3 *b,
                                    mn_vec3 *velocity, double *pressure, bool *solved)
{
    mn_tet_stage stage;
    double part;
    MN_TRY(mn_tet_stage_resize(liquid));
    MN_TRY(mn_tet_stage_fill(liquid, h, a, b, velocity, pressure, &stage, &part));
    MN_TRY(iterate_with_contacts(liquid, h, a, &stage, solved));
    if (!*solved) {
        // Once more from where inertia leads, with an energy that is convex and a fresh factor.
        if (mn_tet_liquid_has_solids(liquid)) {
            MN_TRY(mn_tet_liquid_find_contacts(liquid));
            MN_TRY(mn_tet_liquid_find_wetted(liquid));
            if (liquid->solids.used) MN_TRY(mn_tet_solids_find_tension(liquid, true));
        }
        MN_TRY(mn_tet_stage_fill(liquid, h, a, b, b, pressure, &stage, &part));
        stage.convex = true;
        liquid->system.factored = false;
        MN_TRY(iterate_with_contacts(liquid, h, a, &stage, solved));
        liquid->system.factored = false;
    }
    if (!*solved) return MN_OK;
    if (liquid->contacts.touching == 0) MN_TRY(mn_tet_stage_balance(liquid, &stage));
    const double press = liquid->def.density * liquid->size * liquid->size / (h * h);
    for (int32_t i = 0; i < liquid->system.node_count; i++)
        velocity[i] = mn_scale(liquid->size / h, liquid->trial.u.data[i]);
    for (int32_t i = 0; i < mn_tet_system_pressures(&liquid->system); i++)
        pressure[i] = press * liquid->trial.p.data[i];
    return MN_OK;
}

// Solids stay where they are while liquid gets its volume back.
static mn_status hold_solids(mn_tet_liquid *liquid, mn_tet_stage *stage)
{
    const int32_t n = liquid->system.node_count;
    liquid->system.stiff = liquid->system.factored = false;
    if (!stage->freedom) {
        MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.freedom, n));
        for (int32_t i = 0; i < n; i++) liquid->contacts.freedom.data[i] = mn_m3_identity();
        stage->freedom = liquid->contacts.freedom.data;
    }
    for (int32_t i = 0; i < n; i++)
        if (liquid->solids.solid_node.data[i])
            liquid->contacts.freedom.data[i] = mn_m3_scale(0, mn_m3_identity());
    mn_tet_system_node_volumes(&liquid->system, liquid->trial.start.data, liquid->trial.change.data);
    for (int32_t d = 0; d < mn_tet_system_pressures(&liquid->system); d++)
        if (is_elastic(liquid, d)) liquid->trial.node_volume.data[d] = liquid->trial.change.data[d];
    return MN_OK;
}

mn_status mn_tet_liquid_recover_volumes(mn_tet_liquid *liquid)
{
    enum { ROUNDS = 10, SOME = 2, FAILURES = 3 };
    MN_TRY(mn_tet_stage_resize(liquid));
    bool solved = true, all = false;
    liquid->trial.recovery = 0.1;
    liquid->run.step = 0;
    // What cannot be given back at once may go in smaller parts; what is left then, the next steps try to
    // give.
    int rounds = ROUNDS, failures = 0;
    for (int round = 0; round < rounds && !all && failures < FAILURES;
         round++, liquid->trial.recovery *= solved ? 1 : 0.25) {
        // A stage without forces, from rest: M u = B^T p, C(x + u) = C0.
        mn_tet_stage stage;
        memset(liquid->trial.side.data, 0, mn_bytes(liquid->trial.side.count, sizeof(double)));
        const mn_vec3 *zero = (const mn_vec3 *)(const void *)liquid->trial.side.data;
        if (mn_tet_liquid_has_solids(liquid)) MN_TRY(mn_tet_liquid_find_contacts(liquid));
        double part;
        MN_TRY(mn_tet_stage_fill(liquid, 1, liquid->mesh->position, zero, zero, liquid->trial.side.data,
                                 &stage, &part));
        all = part == 1;
        if (part * ROUNDS < 1) rounds = SOME; // it would not end in any case
        stage.sigma = stage.viscosity = stage.stiffness = 0;
        stage.gravity = mn_v3(0, 0, 0), stage.field = NULL;
        stage.shapes = NULL, stage.tet_viscosity = NULL, stage.nodal = NULL;
        stage.pair_count = stage.slip_count = 0, stage.barrier = NULL;
        if (mn_tet_liquid_has_solids(liquid)) {
            MN_TRY(mn_tet_liquid_constrain(liquid, 0, liquid->mesh->position, &stage)); // no time passes
            if (liquid->contacts.touching > 0) liquid->system.factored = false;
        }
        if (liquid->solids.any) MN_TRY(hold_solids(liquid, &stage));
        MN_TRY(mn_tet_stage_iterate(liquid, &stage, &solved));
        all = all && solved;
        failures = solved ? 0 : failures + 1;
        for (int32_t i = 0; solved && i < liquid->system.node_count; i++)
            mn_tet_mesh_move_vertex(
                liquid->mesh, i, mn_axpy(liquid->mesh->position[i], liquid->size, liquid->trial.u.data[i]));
    }
    return MN_OK;
}
