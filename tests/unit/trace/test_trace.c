// SPDX-License-Identifier: Apache-2.0
//
// Points in known flows: paths are of second order in the length of steps, and in that of frames where the
// flow changes; a save in the middle changes no bit.
#include "meniscus/spray.h"
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/stream_buffer.h"

static mn_solver *make(mn_context *ctx, double max_dt, mn_vec3 x, mn_volume flow)
{
    mn_trace_def def = mn_trace_default_def();
    mn_solver *solver;
    mn_trace_point row = {.position = x};
    def.max_dt = max_dt;
    check_ok(ctx, mn_solver_create(ctx, &mn_trace_solver, &def, &solver));
    check_ok(ctx, mn_trace_solver.add(solver, 1, &row, 1));
    check_ok(ctx, mn_trace_solver.place(solver, &(mn_solver_inputs){.wind = flow}));
    return solver;
}

static mn_vec3 place_of(mn_solver *solver)
{
    mn_view view = {0};
    mn_vec3 x = {0};
    assert_int_equal(mn_trace_solver.view(solver, &(mn_solver_inputs){0}, 0, &view), MN_OK);
    memcpy(&x, view.columns[0].data, sizeof x);
    return x;
}

// Once around a vortex: how far from where it began.
static double miss_of_a_turn(int steps)
{
    const double pi = 3.14159265358979323846;
    mn_context *ctx = mn_context_create(NULL);
    mn_volume flow = analytic_motion(mn_v3(0, 0, 0), mn_v3(0, 0, 1), mn_v3(0, 0, 0));
    ((analytic_volume *)flow.handle)->voxel_size = 1e3; // so that max_dt alone limits
    mn_solver *solver = make(ctx, 2 * pi / steps, mn_v3(1, 0, 0), flow);
    check_ok(ctx, mn_solver_advance(&mn_trace_solver, solver, &(mn_solver_inputs){.wind = flow}, 2 * pi));
    const double miss = mn_distance(place_of(solver), mn_v3(1, 0, 0));
    mn_solver_free(&mn_trace_solver, solver);
    mn_volume_release(&flow);
    mn_context_free(ctx);
    return miss;
}

static void paths_are_of_second_order(void **state)
{
    (void)state;
    const double coarse = miss_of_a_turn(40), fine = miss_of_a_turn(80);
    assert_true(fine < 0.02);
    assert_in_range((int)(100 * log2(coarse / fine)), 190, 220);
}

// u = 2 pi cos(2 pi t) + x: the volume is known at the ends of the frames only.
static double miss_in_a_changing_flow(int frames, int substeps)
{
    const double pi = 3.14159265358979323846, w = 2 * pi;
    mn_context *ctx = mn_context_create(NULL);
    mn_solver *solver = NULL;
    for (int f = 0; f <= frames; f++) {
        const double t = (double)f / frames;
        mn_volume flow = analytic_make("vel", 3, 1e3, 0);
        analytic_volume *v = flow.handle;
        v->a = mn_v3(w * cos(w * t), 0, 0), v->b = mn_v3(0, 0, 0), v->value = analytic_motion_value;
        v->c = mn_v3(0, 0, 0);
        if (f == 0)
            solver = make(ctx, 1.0 / (frames * substeps), mn_v3(0, 0, 0), flow);
        else
            check_ok(ctx, mn_solver_advance(&mn_trace_solver, solver, &(mn_solver_inputs){.wind = flow},
                                            1.0 / frames));
        mn_volume_release(&flow);
    }
    const double miss = mn_norm(place_of(solver)); // sin(2 pi) = 0
    mn_solver_free(&mn_trace_solver, solver);
    mn_context_free(ctx);
    return fabs(miss - sin(w) * 1);
}

static void changing_flows_are_followed(void **state)
{
    (void)state;
    // A quarter of a period would be off by half a frame's change with the last volume alone.
    for (int substeps = 1; substeps <= 3; substeps += 2)
        assert_true(miss_in_a_changing_flow(20, substeps) < 1e-12);
}

static void a_save_changes_nothing(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_volume flow = analytic_motion(mn_v3(0.1, 0, 0), mn_v3(0, 0, 3), mn_v3(0, 0, 0));
    const mn_solver_inputs inputs = {.wind = flow};
    mn_solver *solver = make(ctx, 0.01, mn_v3(1, 0.5, 0.25), flow), *loaded;
    check_ok(ctx, mn_solver_advance(&mn_trace_solver, solver, &inputs, 0.1));
    buffer bytes = {.ctx = ctx};
    mn_writer out = {ctx, &bytes, buffer_write};
    mn_reader in = {ctx, &bytes, buffer_read};
    mn_trace_def def = mn_trace_default_def();
    def.max_dt = 0.01;
    check_ok(ctx, mn_solver_save(&mn_trace_solver, solver, &out));
    check_ok(ctx, mn_solver_load(ctx, &mn_trace_solver, &def, &in, &loaded));
    check_ok(ctx, mn_solver_advance(&mn_trace_solver, solver, &inputs, 0.1));
    check_ok(ctx, mn_solver_advance(&mn_trace_solver, loaded, &inputs, 0.1));
    assert_true(mn_distance(place_of(solver), place_of(loaded)) == 0);
    assert_int_equal(mn_solver_advance(&mn_trace_solver, solver, NULL, 0.1), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "named vel"));
    mn_solver_free(&mn_trace_solver, solver);
    mn_solver_free(&mn_trace_solver, loaded);
    mn_volume_release(&flow);
    free(bytes.bytes);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_of_second_order),
        cmocka_unit_test(changing_flows_are_followed),
        cmocka_unit_test(a_save_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
