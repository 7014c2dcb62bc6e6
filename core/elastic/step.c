// SPDX-License-Identifier: Apache-2.0
//
// Time. BDF2 with steps of changing length, r = dt/dt_old:
//
//   h = dt (1 + r)/(1 + 2 r),   a~ = ((1 + r)^2 a_n - r^2 a_n-1)/(1 + 2 r)
//   x^ = x~ + h v~ + h^2 g,     v_n+1 = (x_n+1 - x~)/h
//
// where x_n+1 minimises the energy of newton.c; the first step, and every one of backward Euler, has h = dt
// and a~ = a_n. Steps with impulses are backward Euler's too: a stop within one step would be a bounce at
// half the speed to BDF2. The loop of core/base cuts an advance into steps; one that fails is tried at half
// its length.
#include "elastic/elastic_state.h"

#include <string.h>

static void keep(mn_vec3s *to, const mn_vec3s *from)
{
    if (from->count > 0) memcpy(to->data, from->data, (size_t)from->count * sizeof *from->data);
}

/// Where everything would go, and where what is fixed has to be at `fraction` of the advance.
static void predict(mn_elastic *s, double dt, double fraction)
{
    const bool second = s->def.integrator == MN_ELASTIC_BDF2 && s->dt_old > 0 && !s->shared &&
                        s->def.method != MN_ELASTIC_IMPULSES;
    const double r = second ? dt / s->dt_old : 0;
    const double now = (1 + r) * (1 + r) / (1 + 2 * r), old = r * r / (1 + 2 * r);
    s->dt = dt, s->h = dt * (1 + r) / (1 + 2 * r);
    for (int64_t i = 0; i < s->x.count; i++) {
        const mn_vec3 x = s->x.data[i];
        if (s->flags.data[i] & MN_NODE_FIXED) {
            const mn_vec3 goal = mn_lerp(s->target_begin.data[i], s->target_end.data[i], fraction);
            s->goal.data[i] = fraction >= 1 ? s->target_end.data[i] : goal;
            s->x_tilde.data[i] = mn_axpy(s->goal.data[i], -s->h / dt, mn_sub(s->goal.data[i], x));
            s->x_hat.data[i] = s->goal.data[i];
            continue;
        }
        s->x_tilde.data[i] = mn_axpy(mn_scale(now, x), -old, s->x_old.data[i]);
        const mn_vec3 v = mn_axpy(mn_scale(now, s->v.data[i]), -old, s->v_old.data[i]);
        s->x_hat.data[i] = mn_axpy(mn_axpy(s->x_tilde.data[i], s->h, v), s->h * s->h, s->def.gravity);
    }
}

mn_status mn_elastic_open_step(mn_elastic *s, double dt, double fraction)
{
    s->dt_before = s->dt_old;
    keep(&s->x_start, &s->x);
    keep(&s->backup_v, &s->v), keep(&s->backup_x_old, &s->x_old), keep(&s->backup_v_old, &s->v_old);
    predict(s, dt, fraction);
    return mn_elastic_keep_strains(s, s->x.data);
}

void mn_elastic_undo_step(mn_elastic *s)
{
    keep(&s->x, &s->x_start);
    keep(&s->v, &s->backup_v), keep(&s->x_old, &s->backup_x_old), keep(&s->v_old, &s->backup_v_old);
    s->dt_old = s->dt_before;
}

mn_status mn_elastic_close_step(mn_elastic *s, bool repair)
{
    keep(&s->x_old, &s->x_start);
    keep(&s->v_old, &s->v);
    for (int64_t i = 0; i < s->x.count; i++) {
        const bool fixed = s->flags.data[i] & MN_NODE_FIXED;
        s->v.data[i] = fixed ? mn_scale(1 / s->dt, mn_sub(s->x.data[i], s->x_start.data[i]))
                             : mn_scale(1 / s->h, mn_sub(s->x.data[i], s->x_tilde.data[i]));
    }
    if (repair) MN_TRY(mn_elastic_repair_momentum(s, s->x_old.data, s->v_old.data));
    s->dt_old = s->dt;
    return MN_OK;
}

static mn_status implicit_step(mn_elastic *s)
{
    MN_TRY(mn_elastic_minimise(s));
    if (s->def.method == MN_ELASTIC_IMPULSES) {
        for (int64_t i = 0; i < s->x.count; i++) s->dx.data[i] = mn_sub(s->x.data[i], s->x_start.data[i]);
        MN_TRY(mn_elastic_give_impulses(s));
        for (int64_t i = 0; i < s->x.count; i++)
            if (s->unknown.data[i] >= 0) s->x.data[i] = mn_add(s->x_start.data[i], s->dx.data[i]);
    }
    return mn_elastic_close_step(s, true);
}

static mn_status explicit_step(mn_elastic *s)
{
    MN_TRY(mn_elastic_explicit_step(s));
    s->dt_old = 0;
    return MN_OK;
}

/// Two short steps cost less than a long one that needs many iterations, or that fails after all of them.
static void keep_pace(mn_elastic *s, double dt, int64_t iterations)
{
    enum { FEW = 20, MANY = 40 };
    if (iterations > MANY)
        s->pace = fmax(0.7 * dt, 0.1 * s->def.max_dt);
    else if (s->pace > 0 && iterations < FEW)
        s->pace = fmax(s->pace, fmin(1.5 * dt, s->def.max_dt));
    if (s->pace >= s->def.max_dt) s->pace = 0;
}

/// A step that fails leaves everything as it was.
mn_status mn_elastic_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt,
                             mn_verdict *verdict)
{
    mn_elastic *s = (mn_elastic *)solver;
    const double done = solver->seconds - solver->left + dt;
    (void)inputs;
    const double fraction = done >= solver->seconds * (1 - 1e-12) ? 1 : done / solver->seconds;
    const int64_t before = s->newton_iterations;
    mn_status status = mn_elastic_open_step(s, dt, fraction);
    if (status == MN_OK)
        status = s->def.integrator == MN_ELASTIC_EXPLICIT ? explicit_step(s) : implicit_step(s);
    bool finite = true;
    for (int64_t i = 0; i < s->x.count && finite; i++)
        finite = mn_is_finite3(s->x.data[i]) && mn_is_finite3(s->v.data[i]);
    verdict->good = status == MN_OK && finite;
    if (verdict->good) {
        keep_pace(s, dt, s->newton_iterations - before);
        return MN_OK;
    }
    mn_elastic_undo_step(s);
    return status == MN_ERROR_DIVERGED ? MN_OK : status;
}

mn_status mn_elastic_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    (void)solver, (void)inputs, (void)dt; // the attempt has moved the bodies
    return MN_OK;
}

mn_status mn_elastic_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit)
{
    mn_elastic *s = (mn_elastic *)solver;
    (void)inputs;
    const bool impulses = s->def.method == MN_ELASTIC_IMPULSES;
    if (s->def.integrator != MN_ELASTIC_EXPLICIT && !impulses) {
        if (s->pace > 0) limit->longest = s->pace, limit->binding = "contacts that take many iterations";
        return MN_OK;
    }
    // damping is as stiff as the step is short: the same for all steps of an advance, or the last ones
    // dwindle
    s->dt = s->h = fmin(s->def.max_dt, solver->seconds);
    limit->binding = "the stiffest element or contact";
    MN_TRY(mn_elastic_stable_step(s, &limit->longest));
    // What rests on impulses is strained by what a free step would do to it, which grows with dt^2: a step
    // that is shorter than those before would set it moving at about g dt.
    if (impulses && limit->longest > 0 && limit->longest < solver->left)
        limit->longest = solver->left / ceil(solver->left / limit->longest * (1 - 1e-9));
    return MN_OK;
}

static mn_status set_targets(mn_elastic *s, const mn_elastic_inputs *inputs)
{
    for (int64_t i = 0; i < s->x.count; i++)
        s->target_begin.data[i] = s->target_end.data[i] = s->x.data[i], s->force.data[i] = mn_v3(0, 0, 0);
    for (int64_t i = 0; inputs && i < s->anchor.count; i++) {
        const mn_anchor *a = &s->anchor.data[i];
        if (inputs->targets && (s->flags.data[a->node[0]] & MN_NODE_FIXED)) {
            if (!mn_is_finite3(inputs->targets[i]))
                return mn_fail(s->solver.ctx, MN_ERROR_INPUT, "The target of point %lld is not finite.",
                               (long long)i);
            s->target_end.data[a->node[0]] = inputs->targets[i];
        }
        if (!inputs->forces) continue;
        if (!mn_is_finite3(inputs->forces[i]))
            return mn_fail(s->solver.ctx, MN_ERROR_INPUT, "The force on point %lld is not finite.",
                           (long long)i);
        for (int k = 0; k < 4 && a->node[k] >= 0; k++)
            s->force.data[a->node[k]] = mn_axpy(s->force.data[a->node[k]], a->weight[k], inputs->forces[i]);
    }
    return MN_OK;
}

mn_status mn_elastic_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                           mn_step_plan *plan)
{
    mn_elastic *s = (mn_elastic *)solver;
    (void)seconds;
    s->newton_iterations = 0;
    MN_TRY(mn_elastic_prepare(s));
    MN_TRY(set_targets(s, inputs->own));
    // what the last advance has left behind must not matter: a run that was resumed does not have it
    mn_elastic_free_system(s);
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    MN_TRY(mn_contact_sort(s->contact, s->point_x.data));
    plan->what = "elastic bodies";
    plan->growth = 1.5;
    plan->crumb = 1e-9;
    plan->failure = "The bodies could not be moved";
    plan->advice =
        "something squeezes them to nothing: look for colliders that meet, pinned points that pull a "
        "body inside out, or values of very different size";
    plan->too_many =
        "look for colliders that meet or pinned points that pull a body inside out, use softer bodies "
        "or a lower time_scale, or raise max_substeps";
    return MN_OK;
}

mn_status mn_elastic_end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    mn_elastic *s = (mn_elastic *)solver;
    (void)inputs;
    s->dt = 0; // no damping in what is reported
    return mn_elastic_contact_forces(s);
}
