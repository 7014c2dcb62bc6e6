// SPDX-License-Identifier: Apache-2.0
//
// Points carried by a velocity volume, as meniscus/spray.h says.
#include "meniscus/spray.h"

#include "base/field_groups.h"
#include "base/parallel.h"
#include "meniscus/array.h"

enum { GRAIN = 1024 };

typedef struct trace {
    mn_solver solver;
    mn_trace_def def;
    MN_ARRAY(mn_trace_point) points, next;
    MN_ARRAY(mn_vec3) change; ///< v0 - u1(x0) of each point, over the running advance
} trace;

// ---- the def ----

const mn_field mn_trace_fields[] = {
    MN_FIELD_FLOAT(mn_trace_def, cfl, "CFL Number", "", 1, 1e-3, 10, 0.1, 2, "Solver", NULL,
                   "Voxels of the velocity volume that a point may cross in one step."),
    MN_FIELD_MAX_DT(mn_trace_def, 1, "Solver"),
    MN_FIELDS_STEPS(mn_trace_def),
};
MN_FIELDS_END(mn_trace_fields, MN_TRACE_FIELD_COUNT);

mn_trace_def mn_trace_default_def(void)
{
    mn_trace_def made = {0};
    mn_def_default(mn_trace_fields, MN_TRACE_FIELD_COUNT, &made);
    made.struct_size = sizeof made;
    return made;
}

static void more_defaults(void *def)
{
    *(mn_trace_def *)def = mn_trace_default_def();
}

// ---- life ----

static void release(mn_solver *solver)
{
    trace *t = (trace *)solver;
    mn_array_free(solver->ctx, &t->points);
    mn_array_free(solver->ctx, &t->next);
    mn_array_free(solver->ctx, &t->change);
}

static const mn_column_def columns[] = {
    {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_trace_point, position)},
    {"id", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_trace_point, id)},
    {"v", MN_F32, 3, MN_HINT_VECTOR, MN_COLUMN_AT(mn_trace_point, velocity)},
    {"age", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_trace_point, age)},
};
enum { READ_COUNT = 2, HAS_ID = 1 << 1 };

static mn_status add(mn_solver *solver, int64_t count, void *rows, uint64_t present)
{
    trace *t = (trace *)solver;
    const mn_trace_point *given = rows;
    MN_TRY(mn_array_resize(solver->ctx, &t->points, count));
    for (int64_t i = 0; i < count; i++) {
        if (!mn_is_finite3(given[i].position))
            return mn_fail(solver->ctx, MN_ERROR_INPUT, "Point %lld has a position that is not finite.",
                           (long long)i);
        t->points.data[i] =
            (mn_trace_point){.position = given[i].position, .id = present & HAS_ID ? given[i].id : i};
    }
    return MN_OK;
}

static mn_status need_volume(const mn_solver *solver, const mn_solver_inputs *inputs)
{
    if (inputs->wind.ops) return MN_OK;
    return mn_fail(solver->ctx, MN_ERROR_INPUT,
                   "Connect a velocity volume named vel: it carries the points.");
}

// ---- steps ----

typedef struct step_job {
    trace *t;
    mn_volume flow;
    double dt, left0, left1; ///< s; of the frame still to go at the ends of the step, as a fraction
} step_job;

static mn_vec3 velocity_at(const step_job *job, int64_t i, mn_vec3 x, double left)
{
    return mn_axpy(mn_volume_sample_vec3(job->flow, x), left, job->t->change.data[i]);
}

static mn_status find_changes(void *user, mn_range range)
{
    const step_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_trace_point *p = &job->t->points.data[i];
        job->t->change.data[i] = mn_sub(p->velocity, mn_volume_sample_vec3(job->flow, p->position));
    }
    return MN_OK;
}

static mn_status begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan)
{
    trace *t = (trace *)solver;
    step_job job = {t, inputs->wind, 0, 0, 0};
    (void)seconds;
    plan->advice = "look for values in the velocity volume that are not finite";
    MN_TRY(need_volume(solver, inputs));
    MN_TRY(mn_array_resize(solver->ctx, &t->next, t->points.count));
    MN_TRY(mn_array_resize(solver->ctx, &t->change, t->points.count));
    return mn_parallel_for(solver->ctx, t->points.count, GRAIN, find_changes, &job);
}

// Points as they are where they start.
static mn_status place(mn_solver *solver, const mn_solver_inputs *inputs)
{
    trace *t = (trace *)solver;
    if (t->points.count == 0) return MN_OK;
    MN_TRY(need_volume(solver, inputs));
    for (int64_t i = 0; i < t->points.count; i++)
        t->points.data[i].velocity = mn_volume_sample_vec3(inputs->wind, t->points.data[i].position);
    return MN_OK;
}

static mn_status limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *out)
{
    const trace *t = (const trace *)solver;
    double most = 0;
    for (int64_t i = 0; i < t->points.count; i++) most = fmax(most, mn_norm2(t->points.data[i].velocity));
    out->idle = t->points.count == 0;
    if (most > 0)
        out->longest = t->def.cfl * mn_volume_get_info(inputs->wind).voxel_size / sqrt(most),
        out->binding = "the speed of the points";
    return MN_OK;
}

static mn_status carry(void *user, mn_range range)
{
    const step_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_trace_point p = job->t->points.data[i];
        const mn_vec3 k1 = velocity_at(job, i, p.position, job->left0);
        const mn_vec3 k2 = velocity_at(job, i, mn_axpy(p.position, job->dt, k1), job->left1);
        p.position = mn_axpy(p.position, 0.5 * job->dt, mn_add(k1, k2));
        p.velocity = velocity_at(job, i, p.position, job->left1);
        p.age += job->dt;
        job->t->next.data[i] = p;
    }
    return MN_OK;
}

static mn_status attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    trace *t = (trace *)solver;
    const double left = solver->left, all = solver->seconds;
    step_job job = {t, inputs->wind, dt, left / all, fmax(left - dt, 0) / all};
    MN_TRY(mn_parallel_for(solver->ctx, t->points.count, GRAIN, carry, &job));
    verdict->good = true;
    for (int64_t i = 0; verdict->good && i < t->next.count; i++)
        verdict->good = mn_is_finite3(t->next.data[i].position) && mn_is_finite3(t->next.data[i].velocity);
    return MN_OK;
}

static mn_status commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    trace *t = (trace *)solver;
    (void)inputs;
    for (int64_t i = 0; dt > 0 && i < t->points.count; i++) t->points.data[i] = t->next.data[i];
    return MN_OK;
}

// ---- what it shows and saves ----

static mn_status view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *out)
{
    const trace *t = (const trace *)solver;
    (void)inputs, (void)output;
    mn_view_rows(out, t->points.count, sizeof(mn_trace_point), t->points.data, columns, MN_COUNT_OF(columns));
    return MN_OK;
}

static void report(const mn_solver *solver, mn_report *out)
{
    const trace *t = (const trace *)solver;
    double most = 0;
    for (int64_t i = 0; i < t->points.count; i++) most = fmax(most, mn_norm(t->points.data[i].velocity));
    mn_report_set(out, MN_REPORT_particles, (double)t->points.count);
    mn_report_set(out, MN_REPORT_max_speed, most);
}

static const mn_saved saved[] = {MN_SAVED_F64(trace, solver.time, 1), MN_SAVED_ARRAY(trace, points, 1)};

const mn_solver_type mn_trace_solver = {
    .name = "trace",
    .fields = mn_trace_fields,
    .field_count = MN_TRACE_FIELD_COUNT,
    .def_size = sizeof(mn_trace_def),
    .sized = true,
    .state_size = sizeof(trace),
    .def_offset = offsetof(trace, def),
    .takes = MN_TAKES_WIND,
    .output_count = 1,
    .more_defaults = more_defaults,
    .free = release,
    .add = add,
    .reads = columns,
    .read_count = READ_COUNT,
    .row_size = sizeof(mn_trace_point),
    .place = place,
    .begin = begin,
    .limit = limit,
    .attempt = attempt,
    .commit = commit,
    .view = view,
    .report = report,
    .saved = saved,
    .saved_count = MN_COUNT_OF(saved),
    .version = 1,
    .oldest = 1,
};
