// SPDX-License-Identifier: Apache-2.0
//
// Points that change their codimension: each way there is, with mass and momentum kept through it (F10).
#include "meniscus/codim.h"
#include "meniscus/stream.h"
#include "support/out_of_memory.h"
#include "support/point_cast.h"

/// Casts have this spacing; water, no gravity and no air.
static const double S = 0.001;

// Rows of film in the plane y = 0 about the origin.
static void add_film(cast *c, int rows, int columns, mn_vec3 v, double thickness)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            cast_add(
                c, MN_CODIM_FILM,
                mn_v3(S * (j - 0.5 * (columns - 1) + 0.5 * (i % 2)), 0, S * 0.87 * (i - 0.5 * (rows - 1))),
                mn_v3(0, 1, 0), v, thickness);
}

static void add_thread(cast *c, mn_vec3 a, mn_vec3 b, mn_vec3 v, double thickness)
{
    const int steps = (int)round(mn_distance(a, b) / S);
    for (int i = 0; i <= steps; i++)
        cast_add(c, MN_CODIM_THREAD, mn_lerp(a, b, (double)i / steps), mn_sub(b, a), v, thickness);
}

typedef struct totals {
    double mass, scale; ///< scale: of the momentum
    mn_vec3 momentum;
    int64_t of[4];   ///< points of each codimension
    double heavy[4]; ///< kg, of each
} totals;

static totals totals_of(const mn_codim *mls)
{
    const mn_codim_view view = mn_codim_get_view(mls);
    totals t = {0};
    for (int64_t i = 0; i < view.count; i++) {
        const mn_codim_point *p = &view.points[i];
        t.mass += p->mass;
        t.momentum = mn_axpy(t.momentum, p->mass, p->velocity);
        t.scale += p->mass * mn_norm(p->velocity);
        t.of[p->codim]++;
        t.heavy[p->codim] += p->mass;
    }
    return t;
}

static mn_codim *open(mn_context *ctx, const cast *c, double sigma, double max_dt)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_codim *mls = NULL;
    def.spacing = S, def.sigma = sigma, def.max_dt = max_dt;
    const mn_codim_source source = cast_source(c);
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_add(mls, &source));
    return mls;
}

// Runs until `codim` has gone or come, and checks what must stay.
static totals run(const cast *c, double sigma, double max_dt, double time, int steps)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = open(ctx, c, sigma, max_dt);
    const totals before = totals_of(mls);
    double scale = before.scale;
    for (int i = 0; i < steps; i++) {
        check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, time / steps));
        scale = fmax(scale, totals_of(mls).scale);
    }
    const totals after = totals_of(mls);
    check_close(after.mass / before.mass, 1, 1e-12);
    check_close(mn_distance(after.momentum, before.momentum) / scale, 0, 1e-10);
    mn_codim_free(mls);
    mn_context_free(ctx);
    return after;
}

static const mn_vec3 drift = {0.3, 0.1, -0.2};

static void strip_becomes_a_thread(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 2, 40, drift, 1e-4);
    const totals t = run(c, 0.07, 1e-5, 1e-5, 1);
    assert_int_equal(t.of[MN_CODIM_FILM], 0);
    assert_true(t.of[MN_CODIM_THREAD] >= 40 && t.of[MN_CODIM_THREAD] < 60); // pairs have become one
    free(c);
}

// A wide film keeps to itself.
static void film_stays_film(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 8, 40, drift, 1e-4);
    const totals t = run(c, 0.07, 1e-4, 2e-4, 2);
    assert_int_equal(t.of[MN_CODIM_THREAD], 0);
    assert_int_equal(t.of[MN_CODIM_DROP], 0);
    free(c);
}

// A flake draws together through a thread into one drop.
static void flake_becomes_a_drop(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 2, 4, drift, 1e-4);
    const totals t = run(c, 0.07, 1e-3, 0.02, 4);
    assert_int_equal(t.of[MN_CODIM_FILM] + t.of[MN_CODIM_THREAD], 0);
    assert_int_equal(t.of[MN_CODIM_DROP], 1);
    free(c);
}

static void thread_breaks_into_drops(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_thread(c, mn_v3(0, 0, 0), mn_v3(0.06, 0, 0), drift, 0.002);
    for (int64_t i = 0; i < c->count; i++) c->thickness[i] *= 1 + 0.1 * cos(0.697 * c->x[i].x / 0.001);
    const totals t = run(c, 0.07, 1e-3, 0.08, 20);
    assert_int_equal(t.of[MN_CODIM_THREAD], 0);
    assert_true(t.of[MN_CODIM_DROP] >= 4);
    free(c);
}

static void drop_joins_a_thread(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_thread(c, mn_v3(-0.02, 0, 0), mn_v3(0.02, 0, 0), drift, 0.0005);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0.003, 0), mn_v3(0, 1, 0), mn_add(drift, mn_v3(0, -1, 0)), 0.0006);
    c->pinned[0] = c->pinned[40] = 0;
    const totals t = run(c, 1e-6, 1e-3, 0.005, 5);
    assert_int_equal(t.of[MN_CODIM_DROP], 0);
    assert_int_equal(t.of[MN_CODIM_THREAD], 41);
    free(c);
}

static void drop_joins_a_film(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 20, 20, drift, 1e-4);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0.003, 0), mn_v3(0, 1, 0), mn_add(drift, mn_v3(0, -0.5, 0)), 0.002);
    const totals t = run(c, 1e-6, 1e-3, 0.012, 12);
    assert_int_equal(t.of[MN_CODIM_DROP], 0);
    free(c);
}

static void drops_join(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0, 0), mn_v3(0, 1, 0), drift, 0.002);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0.005, 0), mn_v3(0, 1, 0), mn_add(drift, mn_v3(0, -1, 0)), 0.002);
    const totals t = run(c, 0.07, 1e-3, 0.006, 6);
    assert_int_equal(t.of[MN_CODIM_DROP], 1);
    free(c);
}

// A thread that falls flat onto a film is taken in; one beside its rim becomes part of it.
static void thread_joins_a_film(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 20, 40, drift, 1e-4);
    add_thread(c, mn_v3(-0.01, 0.003, 0), mn_v3(0.01, 0.003, 0), mn_add(drift, mn_v3(0, -0.5, 0)), 0.0004);
    const totals onto = run(c, 1e-6, 1e-3, 0.012, 12);
    assert_int_equal(onto.of[MN_CODIM_THREAD], 0);
    c->count = 0;
    add_film(c, 20, 40, drift, 1e-4);
    const double rim = S * 0.87 * 9.5;
    add_thread(c, mn_v3(-0.01, 0, rim + 2.6 * S), mn_v3(0.01, 0, rim + 2.6 * S),
               mn_add(drift, mn_v3(0, 0, -0.5)), 0.0004);
    const totals beside = run(c, 1e-6, 2e-4, 0.006, 12);
    assert_int_equal(beside.of[MN_CODIM_THREAD], 0);
    free(c);
}

// The end of a thread hangs on a film, and both pull at each other in one solve.
static void thread_hangs_on_a_film(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 20, 20, drift, 1e-4);
    add_thread(c, mn_v3(0.0003, 0.001, 0.0002), mn_v3(0.0003, 0.02, 0.0002), drift, 0.0005);
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = open(ctx, c, 0.07, 1e-4);
    const mn_codim_view view = mn_codim_get_view(mls);
    int64_t hanging = 0;
    for (int64_t i = 0; i < view.link_count; i++)
        hanging += view.points[view.links[i][0]].codim != view.points[view.links[i][1]].codim;
    assert_int_equal(hanging, 1);
    mn_codim_free(mls);
    mn_context_free(ctx);
    const totals t = run(c, 0.07, 1e-3, 0.004, 4);
    assert_true(t.of[MN_CODIM_THREAD] > 0 && t.of[MN_CODIM_THREAD] < 25);
    free(c);
}

// Film that runs together from all sides piles up where it meets. It leaves there as a thread that hangs on
// the film, and what is left is no thicker than film can be.
static void film_that_meets_at_a_point_becomes_a_thread(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 41, 41, drift, 2e-4);
    for (int64_t i = 0; i < c->count; i++)
        c->v[i] = mn_add(mn_v3(0, -0.7, 0), mn_scale(-1.5 / fmax(mn_norm(c->x[i]), S), c->x[i]));
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = open(ctx, c, 0.07, 1e-4);
    const totals before = totals_of(mls);
    for (int i = 0; i < 4; i++) check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-3));
    const totals after = totals_of(mls);
    check_close(after.mass / before.mass, 1, 1e-12);
    check_close(mn_distance(after.momentum, before.momentum) / before.scale, 0, 1e-10);
    const mn_codim_view view = mn_codim_get_view(mls);
    double threads = 0, thickest = 0;
    for (int64_t i = 0; i < view.count; i++) {
        const mn_codim_point *p = &view.points[i];
        if (p->codim == MN_CODIM_THREAD) threads += p->mass;
        if (p->codim == MN_CODIM_FILM && hypot(p->position.x, p->position.z) < 5 * S) // not the rim
            thickest = fmax(thickest, p->mass / 1000);
    }
    assert_true(threads > 0.03 * after.mass); // of 0.075 that have come to the middle in this time
    assert_true(thickest < 4 * S * S * S);
    assert_int_equal(after.of[MN_CODIM_DROP], 0);
    mn_codim_free(mls);
    mn_context_free(ctx);
    free(c);
}

// A thread three spacings thick goes through a thin film, and takes along what it runs into.
static void thick_thread_pierces_a_film(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    add_film(c, 20, 20, drift, 1e-5);
    const int64_t film = c->count;
    add_thread(c, mn_v3(0, 0.002, 0), mn_v3(0, 0.02, 0), mn_add(drift, mn_v3(0, -1, 0)), 0.003);
    const int64_t thread = c->count - film;
    const totals t = run(c, 1e-6, 1e-4, 0.01, 10);
    const double all =
        1000 * 1e-5 * 400 * 0.87 * S * S; // of the film at first, and some more: its rim is less
    assert_true(t.heavy[MN_CODIM_FILM] < all);
    assert_true(t.of[MN_CODIM_THREAD] >= thread / 2);
    assert_true(t.of[MN_CODIM_FILM] > film / 2);
    assert_int_equal(t.of[MN_CODIM_DROP], 0);
    free(c);
}

static mn_status a_life(mn_context *ctx)
{
    cast *c = calloc(1, sizeof *c);
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_codim *mls = NULL;
    add_film(c, 2, 5, drift, 1e-4);
    add_thread(c, mn_v3(0, 0.005, 0), mn_v3(0, 0.012, 0), drift, 0.0005);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0.004, 0.0015), mn_v3(0, 1, 0), drift, 0.002);
    def.spacing = S, def.max_dt = 1e-4;
    const mn_codim_source source = cast_source(c);
    mn_status status = mn_codim_create(ctx, &def, &mls);
    if (status == MN_OK) status = mn_codim_add(mls, &source);
    if (status == MN_OK) status = mn_codim_advance(mls, &(mn_codim_inputs){0}, 2e-4);
    mn_codim_free(mls);
    free(c);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    check_memory_may_run_out(a_life);
}

// Threads of one point, points in one place, lone points, wrong numbers.
static void odd_threads_are_sane(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    cast *c = calloc(1, sizeof *c);
    cast_add(c, MN_CODIM_THREAD, mn_v3(0, 0, 0), mn_v3(1, 0, 0), drift, 0.0005);
    totals t = run(c, 0.07, 1e-3, 0.01, 2);
    assert_int_equal(t.of[MN_CODIM_DROP], 1); // one point is a drop
    cast_add(c, MN_CODIM_THREAD, mn_v3(0, 0, 0), mn_v3(1, 0, 0), drift, 0.0005);
    add_thread(c, mn_v3(0, 0, 0), mn_v3(0.01, 0, 0), drift, 0.0005);
    cast_add(c, MN_CODIM_THREAD, mn_v3(0.05, 0, 0), mn_v3(0, 1, 0), drift, 0.01);
    t = run(c, 0.07, 1e-3, 0.001, 2);
    assert_int_equal(t.of[MN_CODIM_DROP], 1);
    const mn_codim_source source = cast_source(c);
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_codim *mls = NULL;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    c->thickness[0] = 0;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "thick");
    c->thickness[0] = NAN;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "thick");
    c->thickness[0] = 0.001, c->codim[0] = 7;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "codim");
    c->codim[0] = MN_CODIM_THREAD, c->x[3].y = INFINITY;
    check_fails(ctx, mn_codim_add(mls, &source), MN_ERROR_INPUT, "not finite");
    mn_codim_free(mls);
    mn_context_free(ctx);
    free(c);
}

// Film, threads and drops at once, in a tumble: the same bits for any number of workers.
static void same_bits_for_any_workers(void **state)
{
    (void)state;
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        const mn_hooks hooks = {.max_workers = i == 0 ? 1 : i == 1 ? 2 : 8};
        mn_context *ctx = mn_context_create(&hooks);
        cast *c = calloc(1, sizeof *c);
        add_film(c, 3, 60, drift, 1e-4);
        add_thread(c, mn_v3(-0.02, 0.002, 0), mn_v3(0.02, 0.004, 0.01), mn_v3(0, -0.3, 0), 0.001);
        for (int k = 0; k < 30; k++)
            cast_add(c, MN_CODIM_DROP, mn_v3(0.001 * k - 0.015, 0.003, 0.0005 * k), mn_v3(0, 1, 0),
                     mn_v3(0, -0.5, 0), 0.0008);
        mn_codim *mls = open(ctx, c, 0.07, 1e-3);
        check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.01));
        const mn_codim_view view = mn_codim_get_view(mls);
        hashes[i] = mn_hash_bytes(0, view.points, sizeof *view.points * (size_t)view.count);
        mn_codim_free(mls);
        mn_context_free(ctx);
        free(c);
    }
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strip_becomes_a_thread),
        cmocka_unit_test(film_stays_film),
        cmocka_unit_test(flake_becomes_a_drop),
        cmocka_unit_test(thread_breaks_into_drops),
        cmocka_unit_test(drop_joins_a_thread),
        cmocka_unit_test(drop_joins_a_film),
        cmocka_unit_test(drops_join),
        cmocka_unit_test(thread_joins_a_film),
        cmocka_unit_test(thread_hangs_on_a_film),
        cmocka_unit_test(film_that_meets_at_a_point_becomes_a_thread),
        cmocka_unit_test(thick_thread_pierces_a_film),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(odd_threads_are_sane),
        cmocka_unit_test(same_bits_for_any_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
