// SPDX-License-Identifier: Apache-2.0
//
// The loop that every solver runs in: cut a frame into steps, try, judge, commit or shorten, as
// meniscus/solver.h says.
//
//   limit = min(longest, max_dt, growth * last step, seconds / min_substeps)
//   steps = ceil(piece / limit)              so that the pieces of what is left are equal
//   dt    = piece / steps
#include "base/energy_watch.h"
#include "meniscus/solver.h"

#include "base/float_mode.h"

#include <string.h>

static const struct {
    uint32_t flag;
    const char *name, *verb;
} input_names[] = {
    {MN_TAKES_COLLIDER, "colliders", "does not collide"},
    {MN_TAKES_SINK, "sinks", "has no sinks"},
    {MN_TAKES_WIND, "wind", "does not feel the wind"},
    {MN_TAKES_FORCE, "a force field", "takes no force field"},
    {MN_TAKES_EMITTER, "emitters", "does not emit"},
    {MN_TAKES_OWN, "inputs of its own", "has none"},
    {MN_TAKES_HEAT, "a heat field", "knows no temperatures"},
    {MN_TAKES_MATERIAL, "sigma or viscosity field", "has one material everywhere"},
};

static uint32_t given(const mn_solver_inputs *inputs)
{
    return (inputs->collider ? MN_TAKES_COLLIDER : 0u) | (inputs->sink ? MN_TAKES_SINK : 0u) |
           (inputs->wind.ops ? MN_TAKES_WIND : 0u) | (inputs->force.ops ? MN_TAKES_FORCE : 0u) |
           (inputs->emitter ? MN_TAKES_EMITTER : 0u) | (inputs->own ? MN_TAKES_OWN : 0u) |
           (inputs->heat.ops ? MN_TAKES_HEAT : 0u) |
           (inputs->sigma.ops || inputs->viscosity.ops ? MN_TAKES_MATERIAL : 0u);
}

static mn_status check_inputs(const mn_solver_type *type, mn_context *ctx, const mn_solver_inputs *inputs,
                              double seconds)
{
    if (!(seconds >= 0) || !isfinite(seconds))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The time to advance is %g s; it must be zero or more.",
                       seconds);
    const uint32_t extra = given(inputs) & ~type->takes;
    for (size_t i = 0; extra && i < sizeof input_names / sizeof *input_names; i++)
        if (extra & input_names[i].flag)
            return mn_fail(ctx, MN_ERROR_INPUT, "The %s solver %s; disconnect the %s.", type->name,
                           input_names[i].verb, input_names[i].name);
    return MN_OK;
}

// ---- one step ----

typedef struct stepping {
    const mn_solver_type *type;
    mn_solver *solver;
    const mn_solver_inputs *inputs;
    mn_step_plan plan;
    double last; ///< s, the step before; 0: none
} stepping;

// The rows of the def that every solver names alike.
static void read_plan(const mn_solver_type *type, const mn_solver *solver, mn_step_plan *plan)
{
    const void *def = (const char *)solver + type->def_offset;
    for (int32_t i = 0; i < type->field_count; i++) {
        const mn_field *field = &type->fields[i];
        double value[4];
        if (field->storage == MN_STORE_NONE) continue;
        mn_field_get(field, def, value);
        if (strcmp(field->name, "min_substeps") == 0) plan->min_substeps = (int64_t)value[0];
        if (strcmp(field->name, "max_substeps") == 0) plan->max_substeps = (int64_t)value[0];
        if (strcmp(field->name, "max_dt") == 0) plan->max_dt = value[0];
    }
}

static mn_status begin(stepping *s, double seconds)
{
    s->plan = (mn_step_plan){
        .what = s->type->name,
        .min_substeps = 1,
        .max_substeps = 100000,
        .max_dt = INFINITY,
        .growth = INFINITY,
        .halvings = 12,
        .rounding = 1e-12,
        .failure = "A step failed",
        .advice = "lower max_dt, or look for extreme values in the parameters and inputs",
        .too_many = "use a coarser resolution or a lower time_scale",
    };
    read_plan(s->type, s->solver, &s->plan);
    if (s->type->begin) MN_TRY(s->type->begin(s->solver, s->inputs, seconds, &s->plan));
    if (s->plan.max_substeps < s->plan.min_substeps) s->plan.max_substeps = s->plan.min_substeps;
    return MN_OK;
}

static void shorten(mn_step_limit *limit, double longest, const char *binding)
{
    if (longest < limit->longest) limit->longest = longest, limit->binding = binding;
}

// The longest step from here, and how many of them the piece takes.
static mn_status find_limit(const stepping *s, mn_step_limit *limit, double *steps)
{
    *limit = (mn_step_limit){INFINITY, "", s->solver->left, false};
    if (s->type->limit) MN_TRY(s->type->limit(s->solver, s->inputs, limit));
    const double frame = s->solver->seconds / (double)s->plan.min_substeps;
    if (s->last > 0) shorten(limit, s->plan.growth * s->last, "a short step before it");
    shorten(limit, s->plan.max_dt, "max_dt");
    shorten(limit, frame, s->plan.min_substeps > 1 ? "min_substeps" : "the frame");
    *steps = fmax(1, ceil(limit->piece / limit->longest * (1 - s->plan.rounding)));
    return MN_OK;
}

static mn_status check_count(const stepping *s, const mn_step_limit *limit, double steps)
{
    const double all = steps + (double)s->solver->counts.substeps;
    if (all <= (double)s->plan.max_substeps) return MN_OK;
    return mn_fail(s->solver->ctx, MN_ERROR_DIVERGED,
                   "%g s need about %g steps of %g s%s%s, more than max_substeps (%lld); %s.",
                   s->solver->seconds, all, limit->longest, *limit->binding ? ", bound by " : "",
                   limit->binding, (long long)s->plan.max_substeps, s->plan.too_many);
}

// Says once that a frame will take long, and why, before it does.
static void warn_about(const stepping *s, const mn_step_limit *limit, double steps)
{
    const double many = 2000;
    if (s->solver->warned || steps <= many) return;
    s->solver->warned = true;
    mn_log(
        s->solver->ctx, MN_LOG_WARNING,
        "The %s solver needs about %.3g steps of %.3g s for this frame%s%s; a coarser resolution or a lower "
        "time_scale needs fewer.",
        s->type->name, steps, limit->longest, *limit->binding ? ", because of " : "", limit->binding);
}

// Tries shorter and shorter steps; *dt is the one that is good.
static mn_status try_step(const stepping *s, double longest, double *dt)
{
    const double asked = *dt;
    for (int32_t i = 0; i <= s->plan.halvings && *dt > s->plan.least; i++) {
        mn_verdict verdict = {false, 0.5};
        if (i > 0) MN_TRY(mn_check_cancelled(s->solver->ctx));
        MN_TRY(s->type->attempt(s->solver, s->inputs, *dt, &verdict));
        if (verdict.good) return MN_OK;
        s->solver->counts.rollbacks++;
        *dt *= verdict.factor;
    }
    if (s->type->rescue) return s->type->rescue(s->solver, s->inputs, asked, longest, dt);
    return mn_fail(s->solver->ctx, MN_ERROR_DIVERGED, "%s even in steps of %.3g s; %s.", s->plan.failure, *dt,
                   s->plan.advice);
}

static void spend(stepping *s, double seconds)
{
    mn_solver *solver = s->solver;
    const double left = solver->left - seconds;
    solver->time += seconds;
    solver->left = left > s->plan.crumb * solver->seconds ? left : 0;
}

static mn_status take_step(stepping *s)
{
    mn_solver *solver = s->solver;
    mn_step_limit limit;
    double steps;
    MN_TRY(mn_check_cancelled(solver->ctx));
    MN_TRY(find_limit(s, &limit, &steps));
    if (limit.idle) {
        spend(s, limit.piece);
        return s->type->commit(solver, s->inputs, 0);
    }
    MN_TRY(check_count(s, &limit, steps));
    warn_about(s, &limit, steps);
    double dt = limit.piece / steps;
    if (s->type->prepare) MN_TRY(s->type->prepare(solver, s->inputs, dt));
    MN_TRY(try_step(s, limit.longest, &dt));
    spend(s, dt);
    s->last = dt;
    solver->counts.substeps++;
    mn_step_limits_add(&solver->counts.limited_by, *limit.binding ? limit.binding : s->plan.what);
    solver->counts.dt_min = fmin(solver->counts.dt_min, dt);
    solver->counts.dt_max = fmax(solver->counts.dt_max, dt);
    MN_TRY(s->type->commit(solver, s->inputs, dt));
    mn_progress(solver->ctx, 1 - solver->left / solver->seconds, s->plan.what);
    return MN_OK;
}

// ---- the verbs ----

/// Whether what comes in may do work. Solids at rest only take; a sink takes mass, and the watch begins anew.
static bool may_drive(const mn_solver_inputs *inputs)
{
    const uint32_t passive = MN_TAKES_OWN | MN_TAKES_SINK | MN_TAKES_COLLIDER;
    return (given(inputs) & ~passive) != 0 ||
           (inputs->collider && mn_collider_max_speed(inputs->collider) > 0);
}

static mn_status watch_energy(const stepping *s)
{
    mn_report report;
    double gravity[4] = {0};
    for (int32_t i = 0; i < s->type->field_count; i++)
        if (strcmp(s->type->fields[i].name, "gravity") == 0)
            mn_field_get(&s->type->fields[i], (const char *)s->solver + s->type->def_offset, gravity);
    mn_solver_report(s->type, s->solver, &report);
    if (!report.set[MN_REPORT_mass]) return MN_ERROR_MEMORY; // for its sums, which has been said
    mn_energy_books books = {.loss = 1e-9, .growth = 0.05, .driven = may_drive(s->inputs)};
    s->type->energy(s->solver, s->inputs, &books);
    return mn_energy_watch_look(s->solver->ctx, &s->solver->energy, &report,
                                mn_v3(gravity[0], gravity[1], gravity[2]), &books);
}

static mn_status run(stepping *s, double seconds)
{
    MN_TRY(begin(s, seconds));
    while (s->solver->left > 0) MN_TRY(take_step(s));
    return s->type->end ? s->type->end(s->solver, s->inputs) : MN_OK;
}

mn_status mn_solver_advance(const mn_solver_type *type, mn_solver *solver, const mn_solver_inputs *inputs,
                            double seconds)
{
    static const mn_solver_inputs none = {0};
    stepping s = {.type = type, .solver = solver, .inputs = inputs ? inputs : &none};
    solver->counts = (mn_step_counts){.dt_min = INFINITY};
    mn_timers_reset(&solver->timers);
    MN_TRY(check_inputs(type, solver->ctx, s.inputs, seconds));
    solver->seconds = solver->left = seconds;
    const mn_float_mode mode = mn_float_mode_set();
    mn_status status = run(&s, seconds);
    if (status == MN_OK && type->energy) status = watch_energy(&s);
    if (status != MN_OK && type->abandon) type->abandon(solver);
    mn_float_mode_restore(mode);
    solver->seconds = solver->left = 0;
    return status;
}

mn_status mn_solver_forecast(const mn_solver_type *type, mn_solver *solver, const mn_solver_inputs *inputs,
                             double seconds, mn_step_forecast *forecast)
{
    static const mn_solver_inputs none = {0};
    stepping s = {.type = type, .solver = solver, .inputs = inputs ? inputs : &none};
    *forecast = (mn_step_forecast){INFINITY, 0, ""};
    MN_TRY(check_inputs(type, solver->ctx, s.inputs, seconds));
    if (seconds == 0) return MN_OK;
    solver->seconds = solver->left = seconds;
    mn_step_limit limit;
    double steps = 0;
    const mn_float_mode mode = mn_float_mode_set();
    mn_status status = begin(&s, seconds);
    if (status == MN_OK) status = find_limit(&s, &limit, &steps);
    if (type->abandon) type->abandon(solver);
    mn_float_mode_restore(mode);
    solver->seconds = solver->left = 0;
    if (status == MN_OK && !limit.idle) *forecast = (mn_step_forecast){limit.longest, steps, limit.binding};
    return status;
}
