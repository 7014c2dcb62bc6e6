// SPDX-License-Identifier: Apache-2.0
//
// A step that is the same forwards and backwards, so that it neither damps nor drives: the midpoint rule for
// forces, with volumes exact at the end of every step and velocities that change none [hairer2006] VII.1.4.
//
//   M (v' - v0) = dt/2 ( F(x') - D(x') v' + B(x0)^T p ),   x1 = x0 + dt v',   C(x1) = C0,   x' = (x0 + x1)/2
//   M (v1 - v') = dt/2 ( F(x') - D(x') v' + B(x1)^T q ),   B(x1) v1 = 0
//
// The places obey the discrete Euler-Lagrange equations of dt (M v'^2/2 - energy(x')) under C(x) = C0. So
// momentum and angular momentum are kept, and energy but for a part of second order that comes and goes. The
// plain midpoint rule has volumes in the middle of a step, and their errors never fade.
//
// The second line needs no forces: with w = 2 v' - v0 it is M (v1 - w) = dt/2 ( B(x1)^T q - B(x0)^T p ), a
// linear solve with the mass matrix.
#include "tet/newton.h"

#include "tet/elements.h"

#include <string.h>

static const double projected = 1e-7; // of what w changes volumes by that may be left

// What is left of M (u - w) = B(last)^T q - B(first)^T p, B(last) u = 0 at u = w, q = p, into `side`.
static void fill_side(mn_tet_liquid *liquid, const mn_vec3 *first, const mn_vec3 *last, const double *p,
                      const mn_vec3 *w)
{
    const mn_tet_system *s = &liquid->system;
    const int64_t n = s->node_count;
    double *side = liquid->trial.side.data;
    memset(side, 0, mn_bytes(4 * n, sizeof(double)));
    for (int32_t t = 0; t < s->tet_count; t++) {
        const int32_t *v = s->tet[t];
        mn_vec3 x[4], y[4], g0[4], g1[4];
        double mean = 0, flux = 0;
        for (int k = 0; k < 4; k++) x[k] = first[v[k]], y[k] = last[v[k]], mean += 0.25 * p[v[k]];
        mn_tet_volume_gradient(x, g0), mn_tet_volume_gradient(y, g1);
        for (int k = 0; k < 4; k++) {
            const mn_vec3 d = mn_scale(mean, mn_sub(g1[k], g0[k]));
            double *r = side + 3 * (int64_t)v[k];
            r[0] += d.x, r[1] += d.y, r[2] += d.z;
            flux += mn_dot(g1[k], w[v[k]]);
        }
        for (int k = 0; k < 4; k++) side[3 * n + v[k]] += 0.25 * flux;
    }
}

// From w in `drift` to u with B u = 0 at the places `end`; p becomes the mean of p and q.
static mn_status project(mn_tet_liquid *liquid, const mn_tet_stage *given, bool *solved)
{
    const int64_t n = liquid->system.node_count;
    const mn_krylov_def def = {
        .tolerance = projected, .max_iterations = MN_TET_LINEAR_MAX, .restart = MN_TET_RESTART};
    const mn_linear_problem problem = {4 * n, mn_tet_system_apply, &liquid->system,
                                       mn_tet_system_precondition, &liquid->system};
    mn_krylov_result result;
    mn_tet_stage stage = *given;
    // Of the blocks only M and B are left where nothing moves and nothing presses.
    stage.sigma = stage.viscosity = stage.stiffness = 0, stage.halfway = false;
    stage.gravity = mn_v3(0, 0, 0), stage.field = NULL, stage.start = liquid->trial.end.data;
    memcpy(liquid->trial.change.data, liquid->trial.p.data, mn_bytes(n, sizeof(double)));
    memset(liquid->trial.p.data, 0, mn_bytes(n, sizeof(double)));
    memset(liquid->trial.u.data, 0, mn_bytes(n, sizeof(mn_vec3)));
    MN_TRY(mn_tet_system_residual(&liquid->system, &stage, liquid->trial.residual.data));
    memcpy(liquid->trial.p.data, liquid->trial.change.data, mn_bytes(n, sizeof(double)));
    *solved = true;
    if (!liquid->system.factored) MN_TRY(mn_tet_stage_factor(liquid, solved));
    if (!*solved) return MN_OK;
    MN_TRY(mn_tet_system_assemble(&liquid->system));
    memset(liquid->trial.change.data, 0, mn_bytes(4 * n, sizeof(double)));
    MN_TRY(mn_flexible_gmres(liquid->krylov, &problem, &def, liquid->trial.side.data,
                             liquid->trial.change.data, &result));
    liquid->counts.linear += result.iterations;
    *solved = result.end == MN_KRYLOV_CONVERGED || result.end == MN_KRYLOV_ITERATIONS;
    for (int64_t i = 0; i < n; i++) {
        const double *d = liquid->trial.change.data + 3 * i;
        liquid->trial.u.data[i] = mn_add(liquid->trial.drift.data[i], mn_v3(d[0], d[1], d[2]));
        liquid->trial.p.data[i] += 0.5 * liquid->trial.change.data[3 * n + i];
    }
    return MN_OK;
}

mn_status mn_tet_liquid_project_velocity(mn_tet_liquid *liquid)
{
    const double h = mn_tet_liquid_time_scale(liquid); // any would do
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    mn_tet_stage stage;
    double part;
    bool solved;
    if (!isfinite(h)) return MN_OK;
    MN_TRY(mn_tet_stage_resize(liquid));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.end, liquid->system.node_count));
    memset(liquid->trial.side.data, 0, mn_bytes(liquid->system.node_count, sizeof(double)));
    MN_TRY(
        mn_tet_stage_fill(liquid, h, liquid->mesh->position, v, v, liquid->trial.side.data, &stage, &part));
    memcpy(liquid->trial.end.data, liquid->trial.start.data,
           mn_bytes(liquid->system.node_count, sizeof(mn_vec3)));
    fill_side(liquid, liquid->trial.end.data, liquid->trial.end.data, liquid->trial.p.data,
              liquid->trial.drift.data);
    MN_TRY(project(liquid, &stage, &solved));
    if (!solved) return MN_OK; // the next step does it
    stage.gravity = mn_v3(0, 0, 0), stage.field = NULL;
    MN_TRY(mn_tet_stage_balance(liquid, &stage));
    for (int32_t i = 0; i < liquid->system.node_count; i++)
        v[i] = mn_scale(liquid->size / h, liquid->trial.u.data[i]);
    return MN_OK;
}

mn_status mn_tet_liquid_solve_symmetric(mn_tet_liquid *liquid, double dt, const mn_vec3 *x, const mn_vec3 *v,
                                        mn_vec3 *place, mn_vec3 *velocity, double *pressure, bool *solved)
{
    const int32_t n = liquid->system.node_count;
    mn_tet_stage stage;
    double part;
    MN_TRY(mn_tet_stage_resize(liquid));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->trial.end, n));
    MN_TRY(mn_tet_stage_fill(liquid, dt, x, v, velocity, pressure, &stage, &part));
    // Forces act for half of what u takes.
    stage.halfway = true;
    stage.sigma *= 0.5, stage.viscosity *= 0.5, stage.stiffness *= 0.5;
    stage.gravity = mn_scale(0.5, stage.gravity);
    for (int32_t i = 0; i < n; i++) liquid->trial.p.data[i] *= 0.5;
    MN_TRY(mn_tet_stage_iterate(liquid, &stage, solved));
    if (*solved && mn_tet_liquid_has_solids(liquid)) {
        bool touched;
        MN_TRY(mn_tet_liquid_revise_contacts(liquid, &stage, NULL, &touched));
        *solved = !touched;
    }
    if (!*solved) return MN_OK;
    MN_TRY(mn_tet_stage_balance(liquid, &stage));
    for (int32_t i = 0; i < n; i++) {
        place[i] = mn_axpy(x[i], liquid->size, liquid->trial.u.data[i]);
        liquid->trial.end.data[i] = mn_add(liquid->trial.start.data[i], liquid->trial.u.data[i]);
        liquid->trial.drift.data[i] =
            mn_sub(mn_scale(2, liquid->trial.u.data[i]), liquid->trial.drift.data[i]);
    }
    fill_side(liquid, liquid->trial.start.data, liquid->trial.end.data, liquid->trial.p.data,
              liquid->trial.drift.data);
    MN_TRY(project(liquid, &stage, solved));
    if (!*solved) return MN_OK;
    for (int32_t i = 0; i < n; i++) liquid->trial.drift.data[i] = mn_scale(dt / liquid->size, v[i]);
    stage.gravity = mn_scale(2, stage.gravity);
    MN_TRY(mn_tet_stage_balance(liquid, &stage));
    const double press = 2 * liquid->def.density * liquid->size * liquid->size / (dt * dt);
    for (int32_t i = 0; i < n; i++) {
        velocity[i] = mn_scale(liquid->size / dt, liquid->trial.u.data[i]);
        pressure[i] = press * liquid->trial.p.data[i];
    }
    return MN_OK;
}
