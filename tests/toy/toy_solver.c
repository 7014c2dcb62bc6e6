// SPDX-License-Identifier: Apache-2.0
//
// The smallest solver there can be: balls that fall and stop at the floor. It has two parameters of its own,
// and everything that a host gives to a solver: progress, cancel, checkpoints, report, help.
//
//   v' = -pull,  y' = v,  y >= 0
#include "nodes/solver_node.h"

// ---- the def and its rows ----

typedef struct toy_def {
    double pull;     ///< m/s^2, >= 0
    double max_fall; ///< m per step, > 0
    int32_t min_substeps, max_substeps;
} toy_def;

static const mn_field fields[] = {
    MN_FIELD_FLOAT(toy_def, pull, "Pull", "m/s^2", 9.81, 0, 1e6, 0, 20, "Toy", NULL,
                   "Acceleration of the balls."),
    MN_FIELD_FLOAT(toy_def, max_fall, "Maximum Fall", "m", 0.1, 1e-6, 1e6, 0, 1, "Toy", NULL,
                   "No ball falls further than this in a step."),
    MN_FIELDS_STEPS(toy_def),
};

// ---- the solver ----

typedef struct ball {
    mn_vec3 position;
    double speed;
    int64_t id;
} ball;

typedef struct toy {
    mn_solver solver;
    toy_def def;
    MN_ARRAY(ball) balls;
    MN_ARRAY(ball) next;
} toy;

static void release(mn_solver *solver)
{
    mn_array_free(solver->ctx, &((toy *)solver)->balls);
    mn_array_free(solver->ctx, &((toy *)solver)->next);
}

static const mn_column_def columns[] = {
    {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(ball, position)},
    {"speed", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(ball, speed)},
    {"id", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(ball, id)},
};

static mn_status make_room(mn_solver *solver)
{
    toy *t = (toy *)solver;
    return mn_array_resize(solver->ctx, &t->next, t->balls.count);
}

static mn_status add(mn_solver *solver, int64_t count, void *rows, uint64_t present)
{
    toy *t = (toy *)solver;
    (void)present;
    MN_TRY(mn_array_resize(solver->ctx, &t->balls, count));
    for (int64_t i = 0; i < count; i++) t->balls.data[i] = ((ball *)rows)[i], t->balls.data[i].id = i;
    return make_room(solver);
}

static mn_status attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    toy *t = (toy *)solver;
    (void)inputs;
    verdict->good = true;
    for (int64_t i = 0; i < t->balls.count; i++) {
        ball b = t->balls.data[i];
        b.speed -= t->def.pull * dt;
        b.position.y += b.speed * dt;
        if (-b.speed * dt > t->def.max_fall) verdict->good = false;
        if (b.position.y < 0) b.position.y = b.speed = 0;
        t->next.data[i] = b;
    }
    return MN_OK;
}

static mn_status commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    toy *t = (toy *)solver;
    (void)inputs, (void)dt;
    for (int64_t i = 0; i < t->balls.count; i++) t->balls.data[i] = t->next.data[i];
    return MN_OK;
}

static mn_status view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *out)
{
    toy *t = (toy *)solver;
    (void)inputs, (void)output;
    mn_view_rows(out, t->balls.count, sizeof(ball), t->balls.data, columns, MN_COUNT_OF(columns));
    return MN_OK;
}

static void report(const mn_solver *solver, mn_report *out)
{
    mn_report_set(out, MN_REPORT_particles, (double)((const toy *)solver)->balls.count);
}

static const mn_saved saved[] = {MN_SAVED_F64(toy, solver.time, 1), MN_SAVED_ARRAY(toy, balls, 1)};

static const mn_solver_type toy_solver = {"toy",
                                          fields,
                                          MN_COUNT_OF(fields),
                                          sizeof(toy_def),
                                          sizeof(toy),
                                          offsetof(toy, def),
                                          .output_count = 1,
                                          .free = release,
                                          .add = add,
                                          .reads = columns,
                                          .read_count = 2,
                                          .row_size = sizeof(ball),
                                          .attempt = attempt,
                                          .commit = commit,
                                          .view = view,
                                          .report = report,
                                          .saved = saved,
                                          .saved_count = MN_COUNT_OF(saved),
                                          .version = 1,
                                          .oldest = 1,
                                          .loaded = make_room};

// ---- the node ----

static const mn_role roles[] = {MN_ROLE_SOURCE};
static const mn_input_def inputs_of[] = {{"Balls", "points that fall", true, false}};
static const mn_output_def outputs_of[] = {{"Balls", "points with speed and id"}};
static const mn_solver_node toy_node = {.solver = &toy_solver, .roles = roles};

extern const mn_node_type mn_toy_solver_node;
const mn_node_type mn_toy_solver_node = {
    MN_SOLVER_NODE("toy_solver", "Meniscus Toy Solver", "Lets balls fall on the floor.", inputs_of,
                   outputs_of, fields, MN_COUNT_OF(fields), toy_node, NULL, NULL)};
