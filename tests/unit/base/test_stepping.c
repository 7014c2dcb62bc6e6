// SPDX-License-Identifier: Apache-2.0
//
// The one loop, the one table of parameters and the one stream, on a solver that does what it is told: an
// advance completes or leaves the state at the last good step.
#include "base/field_groups.h"
#include "meniscus/solver.h"
#include "support/check.h"

#include <string.h>

// ---- a clock that refuses steps that are too long ----

typedef struct clock_def {
    double tick;  ///< s, > 0: the longest good step
    double limit; ///< s: what limit() says; 0 for nothing
    mn_vec3 arrow;
    mn_box limits;
    bool use_limits;
    int64_t min_substeps;
    int32_t max_substeps;
} clock_def;

static const mn_field fields[] = {
    MN_FIELD_FLOAT(clock_def, tick, "Tick", "s", 1, 1e-9, 1e9, 0, 10, "Clock", NULL,
                   "The longest good step."),
    MN_FIELD_FLOAT(clock_def, limit, "Limit", "s", 0, 0, 1e9, 0, 10, "Clock", NULL,
                   "What limits a step; 0 is none."),
    MN_FIELD_VEC3(clock_def, arrow, "Arrow", "", 1, 2, 3, -INFINITY, INFINITY, -1, 1, "Clock", NULL,
                  "Its hand."),
    MN_FIELDS_LIMITS(clock_def, 4),
    MN_PARM_MATERIAL("Clock"),
    MN_FIELDS_STEPS(clock_def),
};

typedef struct ticker {
    mn_solver solver;
    clock_def def;
    double shown, tried; ///< s
    int64_t commits, ends, abandons;
} ticker;

static mn_status limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *l)
{
    (void)inputs;
    const ticker *c = (const ticker *)solver;
    if (c->def.limit > 0) l->longest = c->def.limit, l->binding = "its limit";
    return MN_OK;
}

static mn_status attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    (void)inputs;
    ticker *c = (ticker *)solver;
    c->tried = c->shown + dt;
    verdict->good = dt <= c->def.tick;
    return MN_OK;
}

static mn_status commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    (void)inputs, (void)dt;
    ticker *c = (ticker *)solver;
    c->shown = c->tried;
    c->commits++;
    return MN_OK;
}

static mn_status end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    (void)inputs;
    ((ticker *)solver)->ends++;
    return MN_OK;
}

static void abandon(mn_solver *solver)
{
    ((ticker *)solver)->abandons++;
}

static const mn_saved saved[] = {MN_SAVED_F64(ticker, shown, 1), MN_SAVED_I64(ticker, commits, 3)};

static const mn_solver_type clock_solver = {.name = "clock",
                                            .fields = fields,
                                            .field_count = MN_COUNT_OF(fields),
                                            .def_size = sizeof(clock_def),
                                            .state_size = sizeof(ticker),
                                            .def_offset = offsetof(ticker, def),
                                            .takes = MN_TAKES_OWN,
                                            .limit = limit,
                                            .attempt = attempt,
                                            .commit = commit,
                                            .end = end,
                                            .abandon = abandon,
                                            .saved = saved,
                                            .saved_count = MN_COUNT_OF(saved),
                                            .version = 3,
                                            .oldest = 2};

static clock_def default_def(void)
{
    clock_def def = {0};
    mn_def_default(fields, MN_COUNT_OF(fields), &def);
    return def;
}

static ticker *make(mn_context *ctx, clock_def def)
{
    mn_solver *solver;
    check_ok(ctx, mn_solver_create(ctx, &clock_solver, &def, &solver));
    return (ticker *)solver;
}

// ---- parameters ----

static void a_row_gives_default_check_and_place(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    clock_def def = default_def();
    check_close(def.tick, 1, 0);
    check_close(mn_distance(def.arrow, mn_v3(1, 2, 3)), 0, 0);
    check_close(mn_distance(def.limits.min, mn_v3(-2, -2, -2)), 0, 0);
    check_close(mn_distance(def.limits.max, mn_v3(2, 2, 2)), 0, 0);
    assert_int_equal(def.min_substeps, 1);
    assert_int_equal(def.max_substeps, 100000);
    check_ok(ctx, mn_def_check(ctx, fields, MN_COUNT_OF(fields), &def));
    def.tick = -1;
    check_fails(ctx, mn_def_check(ctx, fields, MN_COUNT_OF(fields), &def), MN_ERROR_ARGUMENT,
                "tick is -1 s; it must be from 1e-09 to 1e+09 s");
    def = default_def(), def.arrow.y = NAN;
    check_fails(ctx, mn_def_check(ctx, fields, MN_COUNT_OF(fields), &def), MN_ERROR_ARGUMENT,
                "arrow is nan; it must be a finite number");
    // Every row out and in again.
    def = default_def();
    for (int32_t i = 0; i < MN_COUNT_OF(fields); i++) {
        double value[4] = {0};
        mn_field_get(&fields[i], &def, value);
        mn_field_set(&fields[i], &def, value);
    }
    const clock_def again = default_def();
    assert_true(def.tick == again.tick && def.max_substeps == again.max_substeps && !def.use_limits);
    mn_context_free(ctx);
}

static void materials_have_values(void **state)
{
    (void)state;
    check_close(mn_material_value(0, MN_PROPERTY_SIGMA, 0.5), 0.5, 0);
    check_close(mn_material_value(1, MN_PROPERTY_NONE, 0.5), 0.5, 0);
    for (int32_t i = 1; i < MN_MATERIAL_COUNT; i++) {
        assert_true(mn_material_items[i].token != NULL);
        assert_true(mn_material_value(i, MN_PROPERTY_DENSITY, -1) > 0);
    }
    assert_null(mn_material_items[MN_MATERIAL_COUNT].token);
}

// ---- steps ----

static void a_frame_is_cut_by_its_limits(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    clock_def def = default_def();
    def.limit = 0.3;
    ticker *c = make(ctx, def);
    check_ok(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, 1));
    check_close(c->shown, 1, 1e-15);
    check_close(c->solver.time, 1, 1e-15);
    assert_int_equal(c->solver.counts.substeps, 4);
    check_close(c->solver.counts.dt_max, 0.25, 1e-15);
    assert_int_equal(c->ends, 1);
    def.min_substeps = 7;
    check_ok(ctx, mn_solver_set_def(&clock_solver, &c->solver, &def));
    check_ok(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, 1));
    assert_int_equal(c->solver.counts.substeps, 7);
    mn_step_forecast forecast;
    check_ok(ctx, mn_solver_forecast(&clock_solver, &c->solver, NULL, 3, &forecast));
    check_close(forecast.steps, 10, 0);
    assert_string_equal(forecast.binding, "its limit");
    check_close(c->solver.time, 2, 1e-15); // a forecast takes no step
    mn_solver_free(&clock_solver, &c->solver);
    mn_context_free(ctx);
}

static void a_bad_step_is_halved_and_counted(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    clock_def def = default_def();
    def.tick = 0.3;
    ticker *c = make(ctx, def);
    check_ok(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, 1));
    // 1, 0.5, then 0.25 is good; the 0.75 that are left are tried whole, and so on.
    assert_true(c->solver.counts.rollbacks > 1 && c->solver.counts.dt_max <= def.tick);
    check_close(c->shown, 1, 1e-15);
    mn_report report = {.set = {[MN_REPORT_mass] = true}};
    mn_solver_report(&clock_solver, &c->solver, &report);
    assert_false(report.set[MN_REPORT_mass]); // a report starts empty
    check_close(report.value[MN_REPORT_substeps][0], (double)c->commits, 0);
    mn_solver_free(&clock_solver, &c->solver);
    mn_context_free(ctx);
}

static bool after_three(void *user)
{
    return --*(int *)user < 0;
}

static void failure_leaves_the_last_good_step(void **state)
{
    (void)state;
    int polls = 3;
    const mn_hooks hooks = {.user = &polls, .cancelled = after_three};
    mn_context *ctx = mn_context_create(&hooks);
    clock_def def = default_def();
    def.limit = 0.1;
    ticker *c = make(ctx, def);
    assert_int_equal(mn_solver_advance(&clock_solver, &c->solver, NULL, 1), MN_ERROR_CANCELLED);
    check_close(c->shown, 0.3, 1e-15);
    check_close(c->solver.time, 0.3, 1e-15);
    assert_true(c->abandons == 1 && c->ends == 0);
    polls = 1000;
    check_ok(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, 0.7));
    check_close(c->shown, 1, 1e-15);
    def.tick = 1e-9;
    check_ok(ctx, mn_solver_set_def(&clock_solver, &c->solver, &def));
    check_fails(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, 1), MN_ERROR_DIVERGED,
                "A step failed even in steps of");
    check_close(c->shown, 1, 1e-15);
    def.limit = 1e-7;
    check_ok(ctx, mn_solver_set_def(&clock_solver, &c->solver, &def));
    check_fails(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, 1), MN_ERROR_DIVERGED,
                "bound by its limit");
    mn_solver_free(&clock_solver, &c->solver);
    mn_context_free(ctx);
}

static void what_a_solver_does_not_take_is_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    ticker *c = make(ctx, default_def());
    const mn_emitter emitter = {0};
    check_fails(ctx,
                mn_solver_advance(&clock_solver, &c->solver, &(mn_solver_inputs){.emitter = &emitter}, 1),
                MN_ERROR_INPUT, "clock solver does not emit; disconnect the emitters");
    check_ok(ctx, mn_solver_advance(&clock_solver, &c->solver, &(mn_solver_inputs){.own = c}, 1));
    check_fails(ctx, mn_solver_advance(&clock_solver, &c->solver, NULL, NAN), MN_ERROR_ARGUMENT,
                "time to advance");
    mn_solver_free(&clock_solver, &c->solver);
    mn_context_free(ctx);
}

// ---- streams ----

typedef struct tape {
    char bytes[4096];
    size_t written, read;
} tape;

static mn_status put(void *user, const void *bytes, size_t size)
{
    tape *t = user;
    memcpy(t->bytes + t->written, bytes, size);
    t->written += size;
    return MN_OK;
}

static mn_status get(void *user, void *bytes, size_t size)
{
    tape *t = user;
    if (t->read + size > t->written) return MN_ERROR_FORMAT;
    memcpy(bytes, t->bytes + t->read, size);
    t->read += size;
    return MN_OK;
}

static void older_states_load_or_are_refused_by_name(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const clock_def def = default_def();
    ticker *c = make(ctx, def);
    c->shown = 5, c->commits = 7;
    for (int32_t version = 1; version <= 4; version++) {
        tape t = {.written = 0};
        mn_writer out = {ctx, &t, put};
        mn_reader in = {ctx, &t, get};
        const int32_t members = version >= 3 ? 2 : 1;
        check_ok(ctx, mn_save_members(&out, "clock", version, saved, members, c));
        mn_solver *loaded = NULL;
        const mn_status status = mn_solver_load(ctx, &clock_solver, &def, &in, &loaded);
        if (version == 1)
            check_fails(ctx, status, MN_ERROR_UNSUPPORTED, "'clock' is of version 1; this build reads");
        if (version == 4) check_fails(ctx, status, MN_ERROR_FORMAT, "version 4");
        if (version == 2 || version == 3) {
            check_ok(ctx, status);
            check_close(((ticker *)loaded)->shown, 5, 0);
            assert_int_equal(((ticker *)loaded)->commits, version == 3 ? 7 : 0);
        }
        mn_solver_free(&clock_solver, loaded);
    }
    mn_solver_free(&clock_solver, &c->solver);
    mn_context_free(ctx);
}

static void limits_are_counted_and_the_last_place_takes_the_rest(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    mn_step_limits limits = {0};
    int64_t sum = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 10; i++) mn_step_limits_add(&limits, names[i]);
    assert_int_equal(limits.count, MN_LIMIT_MAX);
    assert_string_equal(limits.name[0], "a");
    assert_int_equal(limits.steps[0], 3);
    assert_string_equal(limits.name[MN_LIMIT_MAX - 1], "others");
    for (int i = 0; i < limits.count; i++) sum += limits.steps[i];
    assert_int_equal(sum, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_counted_and_the_last_place_takes_the_rest),
        cmocka_unit_test(a_row_gives_default_check_and_place),
        cmocka_unit_test(materials_have_values),
        cmocka_unit_test(a_frame_is_cut_by_its_limits),
        cmocka_unit_test(a_bad_step_is_halved_and_counted),
        cmocka_unit_test(failure_leaves_the_last_good_step),
        cmocka_unit_test(what_a_solver_does_not_take_is_refused),
        cmocka_unit_test(older_states_load_or_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
