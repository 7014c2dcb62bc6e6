// SPDX-License-Identifier: Apache-2.0
//
// Film from jets: that it is fed exactly and without seams whatever the time steps are, that any number of
// workers gives the same bits, that it goes on from a saved state as if it had not stopped, and what it says
// to bad input.
#include "meniscus/codim.h"
#include "meniscus/stream.h"
#include "sources/jet_source.h"
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/saved_state.h"
#include "support/sheet_stage.h"

static mn_context *make_context(void)
{
    static const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_codim_def water(double spacing, double sigma)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = spacing, def.sigma = sigma;
    return def;
}

// m^3/s, by the definition of an inlet.
static double flow_of(const sheet_stage *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->jet.inlet.count; i++) {
        const int64_t j = (i + 1) % s->jet.inlet.count;
        const mn_vec3 e = mn_sub(s->jet.position[j], s->jet.position[i]);
        const mn_vec3 u = mn_lerp(s->jet.velocity[i], s->jet.velocity[j], 0.5);
        sum += 0.5 * (s->jet.thickness[i] + s->jet.thickness[j]) * mn_norm(mn_cross(e, u));
    }
    return sum;
}

// After any number of steps of any length there is what has come in, to rounding.
static void mass_is_what_has_come_in(void **state)
{
    (void)state;
    static const double steps[] = {0.0001, 0.00037, 0.0021, 1e-6, 0.003};
    mn_context *ctx = make_context();
    const mn_codim_def def = water(0.001, 0.072);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    double time = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        sheet_advance(&stage, steps[i]);
        time += steps[i];
        const double mass = def.density * flow_of(&stage) * time;
        check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / mass, 1, 1e-12);
    }
    check_close(flow_of(&stage) / (0.25 * 3.14159265358979 * 9e-6 * 2), 1, 1e-6); // the border is float
    sheet_close(&stage);
    mn_context_free(ctx);
}

// Without forces the momentum is what has come in: along the axis cos(angle) U times the mass.
static void momentum_is_what_has_come_in(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    const mn_codim_def def = water(0.001, 0);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    sheet_advance(&stage, 0.005);
    const mn_report r = sheet_report(&stage);
    const double scale = r.value[MN_REPORT_mass][0] * jet.speed;
    check_close(r.value[MN_REPORT_momentum][1] / scale, -cos(jet.angle * 3.14159265358979 / 180), 1e-6);
    // Points stand symmetrically but for the turn of rows: what is left is the difference of sums of sines.
    check_close(r.value[MN_REPORT_momentum][0] / scale, 0, 1e-3);
    check_close(r.value[MN_REPORT_momentum][2] / scale, 0, 1e-3);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// How far the film reaches, and how many loops of free edges it has, counted by walking along them.
static int64_t count_rims(const mn_codim_view *view)
{
    int64_t *next = malloc(sizeof *next * (size_t)view->count), rims = 0;
    for (int64_t i = 0; i < view->count; i++) next[i] = -1;
    for (int64_t t = 0; t < 3 * view->triangle_count; t++) {
        const int32_t a = view->triangles[t / 3][t % 3], b = view->triangles[t / 3][(t + 1) % 3];
        bool shared = false;
        for (int64_t u = 0; u < 3 * view->triangle_count && !shared; u++)
            shared = view->triangles[u / 3][u % 3] == b && view->triangles[u / 3][(u + 1) % 3] == a;
        if (!shared) next[a] = b;
    }
    for (int64_t i = 0; i < view->count; i++) {
        if (next[i] < 0) continue;
        rims++;
        for (int64_t at = i; at >= 0 && next[at] >= 0;) {
            const int64_t to = next[at];
            next[at] = -1;
            at = to;
        }
    }
    free(next);
    return rims;
}

// One sheet with a rim outside and one at the jet, however the time is cut: no gap between rows.
static void rows_have_no_gaps(void **state)
{
    (void)state;
    static const double longest[] = {0.00005, 0.0002, 0.005};
    for (size_t k = 0; k < sizeof longest / sizeof longest[0]; k++) {
        mn_context *ctx = make_context();
        mn_codim_def def = water(0.0015, 0.072);
        mn_jet_source_def jet = mn_jet_source_default_def();
        def.max_dt = longest[k];
        jet.radius = 0.004;
        sheet_stage stage;
        sheet_open(&stage, ctx, &def, &jet);
        for (int i = 0; i < 3; i++) {
            sheet_advance(&stage, 0.0013);
            const mn_codim_view view = mn_codim_get_view(stage.mls);
            assert_int_equal(count_rims(&view), 2);
        }
        sheet_close(&stage);
        mn_context_free(ctx);
    }
}

static uint64_t bits_of(const sheet_stage *s)
{
    const mn_codim_view view = mn_codim_get_view(s->mls);
    return mn_hash_bytes(0, view.points, sizeof *view.points * (size_t)view.count);
}

static void any_number_of_workers_gives_the_same_bits(void **state)
{
    (void)state;
    uint64_t bits[3];
    static const int32_t workers[] = {1, 2, 8};
    for (int k = 0; k < 3; k++) {
        const mn_hooks hooks = {.max_workers = workers[k]};
        mn_context *ctx = mn_context_create(&hooks);
        const mn_codim_def def = water(0.001, 0.072);
        const mn_jet_source_def jet = mn_jet_source_default_def();
        sheet_stage stage;
        sheet_open(&stage, ctx, &def, &jet);
        sheet_advance(&stage, 0.004);
        bits[k] = bits_of(&stage);
        sheet_close(&stage);
        mn_context_free(ctx);
    }
    assert_true(bits[0] == bits[1] && bits[0] == bits[2]);
}

static void a_saved_sheet_goes_on(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    const mn_codim_def def = water(0.001, 0.072);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    sheet_stage stage, again;
    saved_state *s = calloc(1, sizeof *s);
    s->ctx = ctx;
    sheet_open(&stage, ctx, &def, &jet);
    sheet_advance(&stage, 0.0031);
    mn_writer out = {ctx, s, saved_put};
    check_ok(ctx, mn_codim_save(stage.mls, &out));
    sheet_advance(&stage, 0.0017);
    again = stage;
    again.jet.inlet = stage.jet.inlet;
    mn_reader in = {ctx, s, saved_get};
    check_ok(ctx, mn_codim_load(ctx, &def, &in, &again.mls));
    sheet_advance(&again, 0.0017);
    assert_true(bits_of(&stage) == bits_of(&again));
    // Half of it is no sheet.
    mn_codim *half = NULL;
    s->read = 0, s->size /= 2;
    assert_int_not_equal(mn_codim_load(ctx, &def, &in, &half), MN_OK);
    assert_null(half);
    sheet_close(&again);
    sheet_close(&stage);
    free(s);
    mn_context_free(ctx);
}

// A jet that is shut lets go of its sheet; opened again it goes on; nothing is lost.
static void a_jet_can_be_shut(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    const mn_codim_def def = water(0.001, 0.072);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    const mn_codim_inputs shut = {0};
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    check_ok(ctx, mn_codim_advance(stage.mls, &shut, 0.01)); // nothing at all is fine
    sheet_advance(&stage, 0.004);
    const double mass = sheet_report(&stage).value[MN_REPORT_mass][0];
    check_ok(ctx, mn_codim_advance(stage.mls, &shut, 0.001));
    check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / mass, 1, 1e-13);
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    for (int64_t i = 0; i < view.count; i++) assert_int_equal(view.points[i].anchor, MN_CODIM_FREE);
    sheet_advance(&stage, 0.004);
    check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / mass, 2, 1e-12);
    // No speed, then no thickness: shut as well.
    for (int64_t i = 0; i < stage.jet.inlet.count; i++) stage.jet.velocity[i] = mn_v3(0, 0, 0);
    sheet_advance(&stage, 0.001);
    check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / mass, 2, 1e-12);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// Too little speed to carry a sheet off: the liquid gathers at the jet. Nothing breaks, nothing is lost.
static void a_weak_jet_gathers(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    const mn_codim_def def = water(0.001, 0.072);
    mn_jet_source_def jet = mn_jet_source_default_def();
    jet.speed = 0.05;
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    for (int i = 0; i < 5; i++) sheet_advance(&stage, 0.01);
    const double mass = def.density * flow_of(&stage) * 0.05;
    check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / mass, 1, 1e-11);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// A curtain from a line: ends that are free, rows that alternate.
static void an_open_curve_feeds_a_curtain(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = water(0.002, 0.01);
    def.gravity = mn_v3(0, -9.81, 0);
    const mn_vec3 position[2] = {{-0.01, 0, 0}, {0.01, 0, 0}}, velocity[2] = {{0, -1, 0}, {0, -1, 0}};
    const double thickness[2] = {5e-4, 5e-4};
    const mn_codim_inlet inlet = {2, position, velocity, thickness, false};
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &inlet};
    sheet_stage stage = {.ctx = ctx};
    check_ok(ctx, mn_codim_create(ctx, &def, &stage.mls));
    check_ok(ctx, mn_codim_advance(stage.mls, &inputs, 0.02));
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    assert_int_equal(count_rims(&view), 1);
    check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / (1000 * 5e-4 * 0.02 * 0.02), 1, 1e-12);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// A curtain whose line moves along is as if the line had moved in every step: rows do not jump at frames.
static void moving_curves_leave_no_steps(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = water(0.002, 0);
    mn_vec3 position[2], velocity[2] = {{0, -1, 0}, {0, -1, 0}};
    const double thickness[2] = {5e-4, 5e-4};
    const mn_codim_inlet inlet = {2, position, velocity, thickness, false};
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &inlet};
    mn_codim *mls = NULL;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    const double end = 0.02, speed = 0.5;
    for (int frame = 0; frame <= 4; frame++) {
        const double z = speed * (end * frame / 4 - end);
        position[0] = mn_v3(-0.01, 0, z), position[1] = mn_v3(0.01, 0, z);
        check_ok(ctx, mn_codim_advance(mls, &inputs, end / 4));
    }
    const mn_codim_view view = mn_codim_get_view(mls);
    // A point at depth y has left y / 1 m/s ago, when the line was speed y behind: a plane. The first frame
    // has no line before it.
    for (int64_t i = 0; i < view.count; i++)
        if (view.points[i].position.y > -0.018)
            check_close(view.points[i].position.z, speed * (view.points[i].position.y - 0.001732), 1e-4);
    mn_codim_free(mls);
    mn_context_free(ctx);
}

// What leaves the box is gone; what is in it stays.
static void the_box_removes_what_leaves(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = water(0.001, 0.01);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    def.limit_size = mn_v3(0.012, 0.012, 0.012);
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    for (int i = 0; i < 8; i++) sheet_advance(&stage, 0.001);
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    assert_true(view.count > 20);
    for (int64_t i = 0; i < view.count; i++)
        assert_true(fabs(view.points[i].position.x) <= 0.006 && view.points[i].position.y >= -0.006);
    sheet_close(&stage);
    mn_context_free(ctx);
}

static void bad_inlets_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = water(0.001, 0.072);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    sheet_advance(&stage, 0.002);
    const uint64_t bits = bits_of(&stage);
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &stage.jet.inlet};
    stage.jet.thickness[3] = -1;
    check_fails(ctx, mn_codim_advance(stage.mls, &inputs, 0.01), MN_ERROR_INPUT,
                "thickness of -1 m at point 3");
    stage.jet.thickness[3] = NAN;
    check_fails(ctx, mn_codim_advance(stage.mls, &inputs, 0.01), MN_ERROR_INPUT, "thickness of");
    stage.jet.thickness[3] = 1e-4;
    stage.jet.velocity[5].y = INFINITY;
    check_fails(ctx, mn_codim_advance(stage.mls, &inputs, 0.01), MN_ERROR_INPUT, "Point 5 of jet 0");
    stage.jet.velocity[5].y = 1e30;
    check_fails(ctx, mn_codim_advance(stage.mls, &inputs, 0.01), MN_ERROR_DIVERGED, "max_substeps");
    stage.jet.velocity[5].y = 0;
    stage.jet.inlet.count = 1;
    check_fails(ctx, mn_codim_advance(stage.mls, &inputs, 0.01), MN_ERROR_INPUT, "not a curve");
    stage.jet.inlet.count = 8;
    assert_true(bits_of(&stage) == bits);
    def.max_points = 100;
    check_ok(ctx, mn_codim_set_def(stage.mls, &def));
    check_fails(ctx, mn_codim_advance(stage.mls, &inputs, 0.1), MN_ERROR_ARGUMENT,
                "points; raise max_points");
    assert_true(bits_of(&stage) == bits);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// A jet that starts, sheds and is asked for its curve, with whatever memory there is.
static mn_status a_life(mn_context *ctx)
{
    const mn_vec3 position[3] = {{0.004, 0, 0}, {-0.002, 0, 0.0035}, {-0.002, 0, -0.0035}};
    const mn_vec3 velocity[3] = {{2, 0, 0}, {-1, 0, 1.7}, {-1, 0, -1.7}};
    const double thickness[3] = {3e-4, 3e-4, 3e-4};
    const mn_codim_inlet inlet = {3, position, velocity, thickness, true};
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &inlet};
    mn_codim_def def = water(0.002, 0.072);
    const mn_jet_source_def jet = mn_jet_source_default_def();
    mn_codim *mls = NULL;
    mn_geo *geo = NULL;
    def.rim_thickness = 5e-4;
    mn_status status = mn_jet_source_create(ctx, &jet, &geo);
    mn_geo_free(geo);
    if (status == MN_OK) status = mn_codim_create(ctx, &def, &mls);
    if (status == MN_OK) status = mn_codim_advance(mls, &inputs, 0.002);
    mn_codim_free(mls);
    return status;
}

static void memory_runs_out_gracefully(void **state)
{
    (void)state;
    check_memory_may_run_out(a_life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_is_what_has_come_in),
        cmocka_unit_test(momentum_is_what_has_come_in),
        cmocka_unit_test(rows_have_no_gaps),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(a_saved_sheet_goes_on),
        cmocka_unit_test(a_jet_can_be_shut),
        cmocka_unit_test(a_weak_jet_gathers),
        cmocka_unit_test(an_open_curve_feeds_a_curtain),
        cmocka_unit_test(moving_curves_leave_no_steps),
        cmocka_unit_test(the_box_removes_what_leaves),
        cmocka_unit_test(bad_inlets_are_refused),
        cmocka_unit_test(memory_runs_out_gracefully),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
