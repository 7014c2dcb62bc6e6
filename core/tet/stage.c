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
#include "tet/stage.h"

#include <string.h>

enum { NEWTON_MAX = 10, HALVINGS = 4 };

static const double tolerance = 1e-8; // of the largest force on a node, and of a node's mean volume
static const double linear_least = 1e-5, linear_most = 1e-2; // tolerances of a correction, of its right side
static const double stalled = 1e3; // tolerances that will do where rounding lets no correction come nearer
static const double least_volume = 0.1; // of its own that a tetrahedron must keep over a step

mn_status mn_tet_stage_resize(mn_tet_liquid *q)
{
    const int64_t n = q->system.node_count, m = q->system.tet_count,
                  pressures = mn_tet_system_pressures(&q->system);
    MN_TRY(mn_array_resize(q->ctx, &q->start, n));
    MN_TRY(mn_array_resize(q->ctx, &q->drift, n));
    MN_TRY(mn_array_resize(q->ctx, &q->u, n));
    MN_TRY(mn_array_resize(q->ctx, &q->p, pressures));
    MN_TRY(mn_array_resize(q->ctx, &q->node_volume, pressures));
    MN_TRY(mn_array_resize(q->ctx, &q->mass, m));
    MN_TRY(mn_array_resize(q->ctx, &q->volume_before, m));
    MN_TRY(mn_array_resize(q->ctx, &q->soft_volume, m));
    MN_TRY(mn_array_resize(q->ctx, &q->residual, 3 * n + pressures));
    MN_TRY(mn_array_resize(q->ctx, &q->side, 3 * n + pressures));
    return mn_array_resize(q->ctx, &q->change, 3 * n + pressures);
}

// Whether a body has nowhere to grow or shrink to: no direction that its nodes are free in changes its
// volume, sum |P_i dV/dx_i| = 0. A box full of liquid is one. `confined` has a place for each body.
static mn_status find_confined(mn_tet_liquid *q, uint8_t *confined)
{
    const double least = 1e-3; // of the surface that must be free to move
    const mn_tet_system *s = &q->system;
    const mn_vec3 *x = q->mesh->position;
    MN_ARRAY(double) area = {0};
    MN_TRY(mn_array_resize(q->ctx, &area, 2 * (int64_t)q->body_count));
    for (int64_t b = 0; b < area.count; b++) area.data[b] = 0;
    mn_status status = mn_tet_liquid_find_directions(q, q->mesh);
    for (int32_t i = 0; status == MN_OK && i < s->node_count; i++) {
        mn_vec3 out = {0};
        for (int32_t c = s->face_start.data[i]; c < s->face_start.data[i + 1]; c++) {
            const int32_t *v = s->face.data + 3 * (int64_t)(s->face_corner.data[c] / 3);
            out = mn_add(out, mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
        }
        double *body = area.data + 2 * (int64_t)q->body.data[i];
        body[0] += mn_norm(out), body[1] += mn_norm(mn_m3_apply(q->tangent.data[i], out));
    }
    for (int32_t b = 0; status == MN_OK && b < q->body_count; b++)
        confined[b] = area.data[2 * b + 1] < least * area.data[2 * b];
    mn_array_free(q->ctx, &area);
    return status;
}

// A confined body cannot come nearer to its rest volumes: what is asked of its nodes is what they have.
static mn_status fit_confined(mn_tet_liquid *q, const double *now, double *rest)
{
    MN_ARRAY(uint8_t) confined = {0};
    MN_TRY(mn_array_resize(q->ctx, &confined, q->body_count));
    const mn_status status = find_confined(q, confined.data);
    for (int32_t d = 0; status == MN_OK && d < mn_tet_system_pressures(&q->system); d++) {
        const int32_t i = q->system.phases.split ? q->system.phases.node.data[d] : d;
        if (confined.data[q->body.data[i]]) rest[d] = now[d];
    }
    mn_array_free(q->ctx, &confined);
    return status;
}

// Whether a pressure is one of a solid, whose volume gives way to it.
static bool is_elastic(const mn_tet_liquid *q, int32_t pressure)
{
    return q->solids.any && q->solids.compliance.data[pressure] > 0;
}

// C0: what the rest volumes say, or so much of the way there that no node changes by more than a part of its
// volume. What comes back is the part. All nodes go the same part of the way: some meshes have patterns q of
// nodes with q.C = 0 whatever the places (the two kinds of points of a body-centred lattice), and C0 must
// keep to them as sums over tetrahedra do. A node that has come to touch is put onto the solid however short
// the step: what volume this takes comes back like any other, or a short step would have to give it all.
static mn_status find_node_volumes(mn_tet_liquid *q, double *part)
{
    const mn_tet_system *s = &q->system;
    const int32_t pressures = mn_tet_system_pressures(s);
    const double *room = q->solids.used ? q->solids.room.data : q->mass.data;
    double *now = q->change.data, *rest = q->residual.data; // free until the first correction
    for (int32_t i = 0; i < pressures; i++) rest[i] = 0;
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int k = 0; k < 4; k++) rest[mn_tet_system_pressures_of(s, t)[k]] += 0.25 * room[t];
    for (int32_t i = 0; i < s->node_count; i++) {
        const mn_vec3 x = q->touching > 0 ? mn_tet_liquid_on_solids(q, i) : q->mesh->position[i];
        q->start.data[i] = mn_scale(1 / q->size, x);
    }
    mn_tet_system_node_volumes(s, q->start.data, now);
    if (q->touching > 0) MN_TRY(fit_confined(q, now, rest));
    double most = 0;
    for (int32_t i = 0; i < pressures; i++)
        if (!is_elastic(q, i)) most = fmax(most, fabs(rest[i] - now[i]) / now[i]);
    *part = most > q->recovery ? q->recovery / most : 1;
    for (int32_t i = 0; i < pressures; i++)
        q->node_volume.data[i] = now[i] + (is_elastic(q, i) ? 1 : *part) * (rest[i] - now[i]);
    return MN_OK;
}

// *part is how much of the missing volume the stage gives back.
mn_status mn_tet_stage_fill(mn_tet_liquid *q, double h, const mn_vec3 *a, const mn_vec3 *b,
                            const mn_vec3 *velocity, const double *pressure, mn_tet_stage *stage,
                            double *part)
{
    const double length = q->size, rho = q->def.density, volume = length * length * length;
    const double *rest = mn_tet_field_numbers(q, MN_TET_REST_VOLUME),
                 *soft = mn_tet_field_numbers(q, MN_TET_SOFT_VOLUME);
    const double press = h * h / (rho * length * length);
    for (int32_t t = 0; t < q->system.tet_count; t++) {
        q->mass.data[t] = rest[t] / volume;
        q->volume_before.data[t] = mn_tet_mesh_tet_volume(q->mesh, t) / volume;
        q->soft_volume.data[t] = soft[t] / volume;
    }
    *stage = (mn_tet_stage){0};
    MN_TRY(mn_tet_solids_fill_stage(q, h, stage));
    MN_TRY(find_node_volumes(q, part));
    for (int32_t i = 0; i < q->system.node_count; i++) {
        q->start.data[i] = mn_scale(1 / length, a[i]);
        q->drift.data[i] = mn_scale(h / length, b[i]);
        q->u.data[i] = mn_scale(h / length, velocity[i]);
    }
    for (int32_t i = 0; i < mn_tet_system_pressures(&q->system); i++) q->p.data[i] = press * pressure[i];
    *stage = (mn_tet_stage){.sigma = mn_tet_liquid_tension(q) * h * h / (rho * volume),
                            .shapes = stage->shapes,
                            .tet_viscosity = stage->tet_viscosity,
                            .compliance = stage->compliance,
                            .face_sigma = q->solids.used && q->face_sigma.count == q->system.face_count
                                              ? q->face_sigma.data
                                              : NULL,
                            .viscosity = q->def.viscosity * h / (rho * length * length),
                            .stiffness = mn_tet_liquid_stiffness(q) * press,
                            .gravity = mn_scale(h * h / length, q->def.gravity),
                            .start = q->start.data,
                            .drift = q->drift.data,
                            .mass = q->mass.data,
                            .soft_volume = q->soft_volume.data,
                            .node_volume = q->node_volume.data,
                            .volume_before = q->volume_before.data,
                            .u = q->u.data,
                            .p = q->p.data};
    return MN_OK;
}

// How far from solved: 1 is the tolerance.
static double error_of(const mn_tet_liquid *q)
{
    const int64_t n = q->system.node_count;
    double force = 0, volume = 0, mean = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *r = q->residual.data + 3 * i;
        const double length = r[0] * r[0] + r[1] * r[1] + r[2] * r[2],
                     missing = fabs(q->residual.data[3 * n + i]);
        force = length <= force ? force : length; // a NaN wins
        volume = missing <= volume ? volume : missing;
        mean += q->node_volume.data[i] / (double)n;
    }
    for (int64_t i = n; i < mn_tet_system_pressures(&q->system); i++) {
        const double missing = fabs(q->residual.data[3 * n + i]);
        volume = missing <= volume ? volume : missing;
    }
    const double scale = q->system.force_scale > 0 ? q->system.force_scale : 1;
    const double first = sqrt(force) / scale, second = volume / mean;
    return (first >= second ? first : second) / tolerance;
}

static void move_unknowns(mn_tet_liquid *q, double factor)
{
    const int64_t n = q->system.node_count;
    for (int64_t i = 0; i < n; i++) {
        const double *d = q->change.data + 3 * i;
        q->u.data[i] = mn_axpy(q->u.data[i], factor, mn_v3(d[0], d[1], d[2]));
        q->p.data[i] += factor * q->change.data[3 * n + i];
    }
    for (int64_t i = n; i < mn_tet_system_pressures(&q->system); i++)
        q->p.data[i] += factor * q->change.data[3 * n + i];
}

// Factors S at the iterate. Blocks are left as they were for it.
mn_status mn_tet_stage_factor(mn_tet_liquid *q, bool *solved)
{
    mn_timer_begin(&q->timers, "factor");
    q->system.even = true;
    mn_status status = mn_tet_system_assemble(&q->system);
    q->system.even = false;
    if (status == MN_OK) status = mn_tet_system_factor(&q->system);
    mn_timer_end(&q->timers, "factor");
    *solved = status == MN_OK;
    if (status != MN_ERROR_INPUT && status != MN_ERROR_DIVERGED) return status;
    mn_context_clear_message(q->ctx);
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

static mn_status correct(mn_tet_liquid *q, double tolerated, bool *solved)
{
    const int64_t n = q->system.node_count, all = 3 * n + mn_tet_system_pressures(&q->system);
    mn_linear_problem problem = {all, mn_tet_system_apply, &q->system, mn_tet_system_precondition,
                                 &q->system};
    const mn_krylov_def def = {
        .tolerance = tolerated, .max_iterations = MN_TET_LINEAR_MAX, .restart = MN_TET_RESTART};
    mn_krylov_result result;
    *solved = true;
    if (!q->system.factored) MN_TRY(mn_tet_stage_factor(q, solved));
    if (!*solved) return MN_OK;
    MN_TRY(mn_tet_system_assemble(&q->system));
    for (int64_t i = 0; i < 3 * n; i++) q->side.data[i] = -q->residual.data[i];
    for (int64_t i = 3 * n; i < all; i++) q->side.data[i] = q->residual.data[i];
    memset(q->change.data, 0, mn_bytes(all, sizeof(double)));
    MN_TRY(mn_flexible_gmres(q->krylov, &problem, &def, q->side.data, q->change.data, &result));
    q->counts.linear += result.iterations;
    q->counts.newton++;
    // A factor that has aged is made anew for the next correction.
    if (result.iterations > 30) q->system.factored = false;
    *solved = result.end == MN_KRYLOV_CONVERGED || result.end == MN_KRYLOV_ITERATIONS;
    return MN_OK;
}

// Goes along the correction as far as the residual falls.
static mn_status search_line(mn_tet_liquid *q, const mn_tet_stage *stage, double *error, bool *solved)
{
    double factor = 1;
    move_unknowns(q, 1);
    for (int halving = 0; halving <= HALVINGS; halving++, factor *= 0.5) {
        MN_TRY(mn_tet_system_residual(&q->system, stage, q->residual.data));
        const double now = error_of(q);
        if (q->system.min_volume > least_volume && now < *error) {
            *error = now;
            return MN_OK;
        }
        move_unknowns(q, -0.5 * factor);
    }
    move_unknowns(q, -factor);
    *solved = false;
    return mn_tet_system_residual(&q->system, stage, q->residual.data);
}

mn_status mn_tet_stage_iterate(mn_tet_liquid *q, const mn_tet_stage *stage, bool *solved)
{
    MN_TRY(mn_tet_system_residual(&q->system, stage, q->residual.data));
    double error = error_of(q), before = 0;
    *solved = isfinite(error) && q->system.min_volume > 0;
    for (int i = 0; i < NEWTON_MAX && *solved && error > 1; i++) {
        const double tolerated = forcing(error, before);
        before = error;
        MN_TRY(correct(q, tolerated, solved));
        if (*solved) MN_TRY(search_line(q, stage, &error, solved));
    }
    *solved = error <= stalled && q->system.min_volume > 0;
    return MN_OK;
}

// sum m (u - drift - g) = 0 for every body.
mn_status mn_tet_stage_balance(mn_tet_liquid *q, const mn_tet_stage *stage)
{
    const mn_tet_system *s = &q->system;
    const size_t bytes = mn_bytes(4 * (int64_t)q->body_count, sizeof(double));
    double *sum = mn_allocate_zero(q->ctx, bytes);
    if (!sum) return MN_ERROR_MEMORY;
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int k = 0; k < 4; k++) {
            const int32_t i = s->tet[t][k];
            const double m = 0.25 * q->mass.data[t];
            const mn_vec3 extra = mn_sub(mn_sub(q->u.data[i], q->drift.data[i]), stage->gravity);
            double *body = sum + 4 * (int64_t)q->body.data[i];
            body[0] += m, body[1] += m * extra.x, body[2] += m * extra.y, body[3] += m * extra.z;
        }
    for (int32_t i = 0; i < s->node_count; i++) {
        const double *body = sum + 4 * (int64_t)q->body.data[i];
        q->u.data[i] = mn_axpy(q->u.data[i], -1 / body[0], mn_v3(body[1], body[2], body[3]));
    }
    mn_release(q->ctx, sum, bytes);
    return MN_OK;
}

// Solves, and solves again while nodes come to touch solids or leave them.
static mn_status iterate_with_contacts(mn_tet_liquid *q, double h, const mn_vec3 *a, mn_tet_stage *stage,
                                       bool *solved)
{
    enum { ROUNDS = 6 };
    const bool solids = mn_tet_liquid_has_solids(q);
    if (solids) {
        MN_TRY(mn_array_resize(q->ctx, &q->reaction, 3 * (int64_t)q->system.node_count));
        stage->reaction = q->reaction.data;
        stage->face_sigma = q->face_sigma.data;
        MN_TRY(mn_tet_liquid_begin_friction(q, h, stage));
        MN_TRY(mn_tet_liquid_constrain(q, h, a, stage));
    }
    MN_TRY(mn_tet_stage_iterate(q, stage, solved));
    bool changed = solids;
    for (int round = 0; round < ROUNDS && *solved && changed; round++) {
        MN_TRY(
            mn_tet_liquid_revise_contacts(q, stage, round < ROUNDS / 2 ? q->reaction.data : NULL, &changed));
        if (*solved && round < ROUNDS - 1) MN_TRY(mn_tet_liquid_revise_friction(q, stage, &changed));
        if (!changed) break;
        // Few nodes of a solid change; the factor serves on until it costs iterations.
        if (!q->solids.any) q->system.factored = false;
        stage->freedom = NULL;
        MN_TRY(mn_tet_liquid_constrain(q, h, a, stage));
        MN_TRY(mn_tet_stage_iterate(q, stage, solved));
    }
    return MN_OK;
}

mn_status mn_tet_liquid_solve_stage(mn_tet_liquid *q, double h, const mn_vec3 *a, const mn_vec3 *b,
                                    mn_vec3 *velocity, double *pressure, bool *solved)
{
    mn_tet_stage stage;
    double part;
    MN_TRY(mn_tet_stage_resize(q));
    MN_TRY(mn_tet_stage_fill(q, h, a, b, velocity, pressure, &stage, &part));
    MN_TRY(iterate_with_contacts(q, h, a, &stage, solved));
    if (!*solved) {
        // Once more from where inertia leads, with an energy that is convex and a fresh factor.
        if (mn_tet_liquid_has_solids(q)) {
            MN_TRY(mn_tet_liquid_find_contacts(q));
            MN_TRY(mn_tet_liquid_find_wetted(q));
            if (q->solids.used) MN_TRY(mn_tet_solids_find_tension(q, true));
        }
        MN_TRY(mn_tet_stage_fill(q, h, a, b, b, pressure, &stage, &part));
        stage.convex = true;
        q->system.factored = false;
        MN_TRY(iterate_with_contacts(q, h, a, &stage, solved));
        q->system.factored = false;
    }
    if (!*solved) return MN_OK;
    if (q->touching == 0) MN_TRY(mn_tet_stage_balance(q, &stage));
    const double press = q->def.density * q->size * q->size / (h * h);
    for (int32_t i = 0; i < q->system.node_count; i++) velocity[i] = mn_scale(q->size / h, q->u.data[i]);
    for (int32_t i = 0; i < mn_tet_system_pressures(&q->system); i++) pressure[i] = press * q->p.data[i];
    return MN_OK;
}

// Solids stay where they are while liquid gets its volume back.
static mn_status hold_solids(mn_tet_liquid *q, mn_tet_stage *stage)
{
    const int32_t n = q->system.node_count;
    q->system.stiff = q->system.factored = false;
    if (!stage->freedom) {
        MN_TRY(mn_array_resize(q->ctx, &q->freedom, n));
        for (int32_t i = 0; i < n; i++) q->freedom.data[i] = mn_m3_identity();
        stage->freedom = q->freedom.data;
    }
    for (int32_t i = 0; i < n; i++)
        if (q->solids.solid_node.data[i]) q->freedom.data[i] = mn_m3_scale(0, mn_m3_identity());
    mn_tet_system_node_volumes(&q->system, q->start.data, q->change.data);
    for (int32_t d = 0; d < mn_tet_system_pressures(&q->system); d++)
        if (is_elastic(q, d)) q->node_volume.data[d] = q->change.data[d];
    return MN_OK;
}

mn_status mn_tet_liquid_recover_volumes(mn_tet_liquid *q)
{
    enum { ROUNDS = 10, SOME = 2, FAILURES = 3 };
    MN_TRY(mn_tet_stage_resize(q));
    bool solved = true, all = false;
    q->recovery = 0.1;
    q->step = 0;
    // What cannot be given back at once may go in smaller parts; what is left then, the next steps try to
    // give.
    int rounds = ROUNDS, failures = 0;
    for (int round = 0; round < rounds && !all && failures < FAILURES;
         round++, q->recovery *= solved ? 1 : 0.25) {
        // A stage without forces, from rest: M u = B^T p, C(x + u) = C0.
        mn_tet_stage stage;
        memset(q->side.data, 0, mn_bytes(q->side.count, sizeof(double)));
        const mn_vec3 *zero = (const mn_vec3 *)(const void *)q->side.data;
        if (mn_tet_liquid_has_solids(q)) MN_TRY(mn_tet_liquid_find_contacts(q));
        double part;
        MN_TRY(mn_tet_stage_fill(q, 1, q->mesh->position, zero, zero, q->side.data, &stage, &part));
        all = part == 1;
        if (part * ROUNDS < 1) rounds = SOME; // it would not end in any case
        stage.sigma = stage.viscosity = stage.stiffness = 0;
        stage.gravity = mn_v3(0, 0, 0);
        stage.shapes = NULL, stage.tet_viscosity = NULL;
        if (mn_tet_liquid_has_solids(q)) {
            MN_TRY(mn_tet_liquid_constrain(q, 0, q->mesh->position, &stage)); // no time passes
            if (q->touching > 0) q->system.factored = false;
        }
        if (q->solids.any) MN_TRY(hold_solids(q, &stage));
        MN_TRY(mn_tet_stage_iterate(q, &stage, &solved));
        all = all && solved;
        failures = solved ? 0 : failures + 1;
        for (int32_t i = 0; solved && i < q->system.node_count; i++)
            mn_tet_mesh_move_vertex(q->mesh, i, mn_axpy(q->mesh->position[i], q->size, q->u.data[i]));
    }
    return MN_OK;
}
