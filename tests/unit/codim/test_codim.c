// SPDX-License-Identifier: Apache-2.0
//
// The film solver: what it keeps, that any number of workers gives the same bits, that it goes on from a
// saved state as if it had not stopped, and what it says to bad input.
#include "meniscus/codim.h"
#include "meniscus/stream.h"
#include "sources/film_source.h"
#include "support/check.h"
#include "support/film_stage.h"
#include "support/out_of_memory.h"
#include "support/saved_state.h"

static mn_vec3 drift_and_spin(mn_vec3 x)
{
    return mn_add(mn_v3(0.3, -0.2, 0.1), mn_cross(mn_v3(2, 3, -1), x));
}

static mn_film_source_def bubble(double radius, double spacing)
{
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_BUBBLE, source.radius = radius, source.spacing = spacing;
    return source;
}

static mn_codim_def soap(double spacing)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = spacing;
    return def;
}

static double scale_of(const mn_report *r, mn_report_key key)
{
    return mn_norm(mn_v3(r->value[key][0], r->value[key][1], r->value[key][2]));
}

static double change(const mn_report *a, const mn_report *b, mn_report_key key)
{
    return mn_norm(mn_v3(a->value[key][0] - b->value[key][0], a->value[key][1] - b->value[key][1],
                         a->value[key][2] - b->value[key][2]));
}

// A free bubble that drifts, spins and swings keeps its mass and momentum to rounding. The angular momentum
// changes a little where points split and share mass at the start: by (spacing / radius)^2 of what they
// carry.
static void free_bubble_keeps_its_momentum(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_film_source_def source = bubble(0.02, 0.003);
    const mn_codim_def def = soap(0.003);
    film_stage stage = film_open(ctx, &def, &source, NULL, drift_and_spin);
    const mn_report before = film_report(&stage);
    for (int i = 0; i < 5; i++) film_advance(&stage, 0.01);
    const mn_report after = film_report(&stage);
    const double momentum = scale_of(&before, MN_REPORT_momentum);
    check_close(after.value[MN_REPORT_mass][0] / before.value[MN_REPORT_mass][0], 1, 1e-13);
    check_close(change(&before, &after, MN_REPORT_momentum) / momentum, 0, 1e-12);
    check_close(change(&before, &after, MN_REPORT_angular_momentum) /
                    scale_of(&before, MN_REPORT_angular_momentum),
                0, 3e-3);
    assert_int_equal(mn_codim_get_view(stage.mls).open_edges, 0);
    film_close(&stage);
    mn_context_free(ctx);
}

// A film with a hole, free to draw back: points merge, edges split, momentum and mass stay.
static void retracting_film_keeps_its_momentum(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_film_source_def source = bubble(0.02, 0.002);
    source.hole = 0.01;
    mn_codim_def def = soap(0.002);
    def.viscosity = 0.01;
    film_stage stage = film_open(ctx, &def, &source, NULL, drift_and_spin);
    const mn_report before = film_report(&stage);
    const int64_t count = mn_codim_get_view(stage.mls).count;
    film_advance(&stage, 0.004);
    const mn_report after = film_report(&stage);
    assert_true(mn_codim_get_view(stage.mls).count < count);
    check_close(after.value[MN_REPORT_mass][0] / before.value[MN_REPORT_mass][0], 1, 1e-13);
    // The scale is the mass times the speed that the rim has.
    const double scale = before.value[MN_REPORT_mass][0] * after.value[MN_REPORT_max_speed][0];
    check_close(change(&before, &after, MN_REPORT_momentum) / scale, 0, 1e-12);
    film_close(&stage);
    mn_context_free(ctx);
}

// Viscosity takes energy out of a swing and none out of a rigid turn.
static void viscosity_damps_strain_only(void **state)
{
    (void)state;
    double kinetic[2];
    for (int viscous = 0; viscous < 2; viscous++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_film_source_def source = mn_film_source_default_def();
        source.pin = false, source.spacing = 0.002;
        mn_codim_def def = soap(0.002);
        def.sigma = 0, def.viscosity = viscous ? 0.1 : 0, def.max_dt = 1e-4;
        film_stage stage = film_open(ctx, &def, &source, NULL, drift_and_spin);
        film_advance(&stage, 1e-4);
        kinetic[viscous] = film_report(&stage).value[MN_REPORT_kinetic_energy][0];
        film_close(&stage);
        mn_context_free(ctx);
    }
    check_close(kinetic[1] / kinetic[0], 1, 1e-9);
}

// The rim of a pinned disc goes where its anchors go, and the film with it.
static void anchors_move_the_film(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_film_source_def source = mn_film_source_default_def();
    source.spacing = 0.004;
    mn_codim_def def = soap(0.004);
    def.air_drag = 1;
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    for (int frame = 0; frame < 4; frame++) {
        for (int64_t i = 0; i < stage.source_count; i++) stage.anchors[i].y += 0.002;
        check_ok(ctx,
                 mn_codim_advance(
                     stage.mls,
                     &(mn_codim_inputs){.anchor_count = stage.source_count, .anchors = stage.anchors}, 0.04));
    }
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    for (int64_t i = 0; i < view.count; i++) {
        if (view.points[i].anchor < 0) continue;
        check_close(mn_distance(view.points[i].position, stage.anchors[view.points[i].anchor]), 0, 1e-12);
    }
    check_close(film_report(&stage).value[MN_REPORT_center][1], 0.008, 0.002);
    check_fails(
        ctx,
        mn_codim_advance(stage.mls, &(mn_codim_inputs){.anchor_count = 1, .anchors = stage.anchors}, 0.04),
        MN_ERROR_INPUT, "point count");
    film_close(&stage);
    mn_context_free(ctx);
}

// Thin film tears: a hole opens, and nothing of the mass is lost.
static void thin_film_tears(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_film_source_def source = mn_film_source_default_def();
    source.spacing = 0.001;
    mn_codim_def def = soap(0.001);
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    const double mass = film_report(&stage).value[MN_REPORT_mass][0];
    const int64_t rim = mn_codim_get_view(stage.mls).open_edges;
    film_advance(&stage, 1e-4);
    assert_int_equal(mn_codim_get_view(stage.mls).open_edges, rim);
    def.min_thickness = 1.02e-5; // everything is thinner: it goes all at once
    check_ok(ctx, mn_codim_set_def(stage.mls, &def));
    film_advance(&stage, 1e-4);
    assert_true(mn_codim_get_view(stage.mls).open_edges != rim);
    check_close(film_report(&stage).value[MN_REPORT_mass][0] / mass, 1, 1e-13);
    film_close(&stage);
    mn_context_free(ctx);
}

static uint64_t run(int32_t workers, bool stop, uint64_t *middle)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    mn_film_source_def source = bubble(0.02, 0.002);
    source.hole = 0.008;
    const mn_codim_def def = soap(0.002);
    film_stage stage = film_open(ctx, &def, &source, NULL, drift_and_spin);
    film_advance(&stage, 0.002);
    if (stop) {
        saved_state *s = calloc(1, sizeof *s);
        s->ctx = ctx;
        check_ok(ctx, mn_codim_save(stage.mls, &(mn_writer){ctx, s, saved_put}));
        mn_codim_free(stage.mls);
        check_ok(ctx, mn_codim_load(ctx, &def, &(mn_reader){ctx, s, saved_get}, &stage.mls));
        mn_codim *none;
        for (size_t cut = 0; cut < s->size; cut += s->size / 7) { // a stream that ends early
            saved_state shorter = *s;
            shorter.size = cut, shorter.read = 0;
            assert_int_not_equal(mn_codim_load(ctx, &def, &(mn_reader){ctx, &shorter, saved_get}, &none),
                                 MN_OK);
            assert_null(none);
        }
        free(s);
    }
    mn_codim_view view = mn_codim_get_view(stage.mls);
    *middle = mn_hash_bytes(0, view.triangles, sizeof *view.triangles * (size_t)view.triangle_count);
    film_advance(&stage, 0.002);
    view = mn_codim_get_view(stage.mls);
    const uint64_t hash = mn_hash_bytes(0, view.points, sizeof *view.points * (size_t)view.count);
    film_close(&stage);
    mn_context_free(ctx);
    return hash;
}

static void same_bits_for_any_workers_and_after_a_stop(void **state)
{
    (void)state;
    uint64_t middle[4];
    const uint64_t one = run(1, false, &middle[0]);
    assert_true(run(2, false, &middle[1]) == one && middle[1] == middle[0]);
    assert_true(run(8, false, &middle[2]) == one);
    assert_true(run(1, true, &middle[3]) == one && middle[3] == middle[0]);
}

static mn_status a_life(mn_context *ctx)
{
    mn_codim *mls = NULL;
    mn_geo *geo = NULL;
    const mn_film_source_def source = bubble(0.02, 0.01);
    const mn_codim_def def = soap(0.01);
    mn_vec3 x[64], n[64];
    double h[64];
    mn_status status = mn_film_source_create(ctx, &source, &geo);
    const int64_t count = geo ? mn_geo_point_count(geo) : 0;
    for (int64_t i = 0; i < count; i++) x[i] = n[i] = mn_geo_position(geo, i), h[i] = 1e-5;
    mn_geo_free(geo);
    if (status == MN_OK) status = mn_codim_create(ctx, &def, &mls);
    if (status == MN_OK) status = mn_codim_add(mls, &(mn_codim_source){count, x, NULL, n, h, NULL, NULL});
    if (status == MN_OK) status = mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.002);
    mn_codim_free(mls);
    return status;
}

// Out of memory at any moment: a status, and nothing is left behind.
static void memory_may_run_out(void **state)
{
    (void)state;
    check_memory_may_run_out(a_life);
}

static void bad_input_is_a_sentence(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = NULL;
    mn_codim_def def = soap(0);
    check_fails(ctx, mn_codim_create(ctx, &def, &mls), MN_ERROR_ARGUMENT, "spacing");
    def = soap(1), def.sigma = NAN;
    check_fails(ctx, mn_codim_create(ctx, &def, &mls), MN_ERROR_ARGUMENT, "sigma");
    def = soap(1), def.gas = false;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    mn_vec3 x[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {50, 0, 0}};
    mn_vec3 n[5] = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    double h[5] = {1, 1, 1, 1, 1};
    mn_codim_source source = {5, x, NULL, n, h, NULL, NULL};
    h[2] = 0;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "thick");
    h[2] = 1, n[1] = mn_v3(0, 0, 0);
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "normal");
    n[1] = mn_v3(0, 0, 1), x[1].x = NAN;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "not finite");
    x[1].x = 1, source.count = 2;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "triangle");
    source.count = 0;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "empty");
    // A triangle with a point twice, and one far away: the copy goes, the lone one is a drop.
    source.count = 5;
    check_ok(ctx, mn_codim_add(mls, &source));
    const mn_codim_view view = mn_codim_get_view(mls);
    assert_int_equal(view.count, 4);
    assert_int_equal(view.triangle_count, 1);
    assert_int_equal(view.points[3].codim, MN_CODIM_DROP);
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.001));
    check_fails(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, NAN), MN_ERROR_ARGUMENT, "time to advance");
    mn_codim_free(mls);
    mn_context_free(ctx);
}

// Once its arrays have grown, a film that keeps its points takes no memory.
static void a_warm_film_does_not_allocate(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    const mn_film_source_def source = bubble(0.02, 0.003);
    const mn_codim_def def = soap(0.003);
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    for (int i = 0; i < 3; i++) film_advance(&stage, 0.01);
    const int64_t calls = mn_context_allocation_count(ctx);
    for (int i = 0; i < 3; i++) film_advance(&stage, 0.01);
    assert_int_equal(mn_context_allocation_count(ctx), calls);
    const mn_report report = film_report(&stage);
    assert_true(report.value[MN_REPORT_substeps][0] >= 2);
    film_close(&stage);
    mn_context_free(ctx);
}

/// What a host sees of a solver: its state at every step, and when to stop.
typedef struct watcher {
    mn_codim *mls;
    saved_state good; ///< after the last step
    int32_t steps, most;
} watcher;

static void look(void *user, double fraction, const char *what)
{
    watcher *w = user;
    (void)fraction, (void)what;
    if (!w->mls) return;
    w->good.size = 0, w->steps++;
    assert_int_equal(mn_codim_save(w->mls, &(mn_writer){w->good.ctx, &w->good, saved_put}), MN_OK);
}

static bool stop(void *user)
{
    const watcher *w = user;
    return w->mls && w->steps >= w->most;
}

// A cancelled advance leaves the state of the last good step, to the byte, and goes on from there.
static void cancel_leaves_the_last_good_step(void **state)
{
    (void)state;
    watcher *w = calloc(1, sizeof *w);
    mn_context *ctx = w->good.ctx =
        mn_context_create(&(mn_hooks){.user = w, .cancelled = stop, .progress = look});
    mn_film_source_def source = bubble(0.02, 0.003);
    source.hole = 0.01;
    const mn_codim_def def = soap(0.003);
    film_stage stage = film_open(ctx, &def, &source, NULL, drift_and_spin);
    saved_state *after = calloc(1, sizeof *after);
    after->ctx = ctx;
    w->mls = stage.mls, w->most = 3;
    check_fails(ctx, mn_codim_advance(stage.mls, &(mn_codim_inputs){0}, 0.004), MN_ERROR_CANCELLED, "");
    w->mls = NULL;
    assert_int_equal(w->steps, 3);
    check_ok(ctx, mn_codim_save(stage.mls, &(mn_writer){ctx, after, saved_put}));
    assert_int_equal(after->size, w->good.size);
    assert_memory_equal(after->bytes, w->good.bytes, after->size);
    const double time = ((const mn_solver *)stage.mls)->time;
    assert_true(time > 0 && time < 0.004);
    film_advance(&stage, 0.004 - time);
    check_close(((const mn_solver *)stage.mls)->time, 0.004, 1e-15);
    film_close(&stage);
    mn_context_free(ctx);
    free(after), free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_bubble_keeps_its_momentum),
        cmocka_unit_test(retracting_film_keeps_its_momentum),
        cmocka_unit_test(viscosity_damps_strain_only),
        cmocka_unit_test(anchors_move_the_film),
        cmocka_unit_test(thin_film_tears),
        cmocka_unit_test(same_bits_for_any_workers_and_after_a_stop),
        cmocka_unit_test(a_warm_film_does_not_allocate),
        cmocka_unit_test(cancel_leaves_the_last_good_step),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(bad_input_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
