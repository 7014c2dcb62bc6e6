// SPDX-License-Identifier: Apache-2.0
//
// Volumes in the film solver: invariants of tetrahedra in a complex, operators by differences, a drop in
// motion, a film that hangs on one and draws back onto it, sheets that turn into film, splits and collapses
// where films hang, drops that are taken up, streams and workers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/film_drop.h"
#include "support/stream_buffer.h"

static const film_drop_case coarse = {
    .shape = {.radius = 2e-3, .edge = 0.45, .p2 = 0.1}, .sigma = 0.0728, .density = 998};

static void count_momentum(const film_drop *d, const mn_report *before, double *linear, double *angular)
{
    const mn_report now = film_drop_report(d);
    const double speed = sqrt(d->def.sigma / (d->def.density * d->radius)), m = now.value[MN_REPORT_mass][0];
    *linear = *angular = 0;
    for (int k = 0; k < 3; k++) {
        *linear =
            fmax(*linear, fabs(now.value[MN_REPORT_momentum][k] - before->value[MN_REPORT_momentum][k]));
        *angular = fmax(*angular, fabs(now.value[MN_REPORT_angular_momentum][k] -
                                       before->value[MN_REPORT_angular_momentum][k]));
    }
    *linear /= m * speed, *angular /= m * speed * d->radius;
}

static void test_damage_is_found(void **state)
{
    (void)state;
    film_drop d = film_drop_make(&coarse, 1);
    mn_complex *c = &d.film->c;
    assert_int_equal(mn_complex_check(c), MN_OK);
    mn_complex_begin(c);
    mn_complex_remove_tet(c, 7);
    assert_int_not_equal(mn_complex_check(c), MN_OK);
    mn_complex_undo(c);
    assert_int_equal(mn_complex_check(c), MN_OK);
    int32_t surface = 0;
    while (mn_complex_is_film(c, surface)) surface++;
    mn_complex_begin(c);
    mn_complex_remove_triangle(c, surface);
    assert_int_not_equal(mn_complex_check(c), MN_OK);
    mn_complex_undo(c);
    mn_complex_begin(c);
    mn_complex_set_regions(c, surface, 0, MN_COMPLEX_LIQUID);
    assert_int_not_equal(mn_complex_check(c), MN_OK);
    mn_complex_undo(c);
    assert_int_equal(mn_complex_check(c), MN_OK);
    film_drop_free(&d);
}

static void test_bad_volumes_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_film_def def = mn_film_default_def();
    const mn_vec3 x[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 0, -1}};
    const int32_t flat[1][4] = {{0, 1, 2, 4}}, twice[1][4] = {{0, 1, 1, 3}}, good[1][4] = {{0, 2, 1, 3}};
    const int32_t three[3][4] = {{0, 1, 2, 3}, {0, 1, 2, 5}, {0, 1, 2, 3}};
    const int32_t face[1][3] = {{0, 1, 2}};
    mn_film *film;
    assert_int_equal(mn_film_create(ctx, &def, &film), MN_OK);
    mn_film_source s = {.point_count = 6, .positions = x, .tet_count = 1, .tets = flat};
    assert_int_equal(mn_film_add(film, &s), MN_ERROR_INPUT);
    s.tets = twice;
    assert_int_equal(mn_film_add(film, &s), MN_ERROR_INPUT);
    s.tets = three, s.tet_count = 3;
    assert_int_equal(mn_film_add(film, &s), MN_ERROR_INPUT);
    assert_int_equal(film->c.vertices.count + film->c.tets.count + film->c.triangles.count, 0);
    // Turned the wrong way, and with a polygon of its own surface: both are mended.
    s.tets = good, s.tet_count = 1, s.triangles = face, s.triangle_count = 1, s.point_count = 4;
    assert_int_equal(mn_film_add(film, &s), MN_OK);
    assert_int_equal(film->c.triangles.count, 4);
    assert_int_equal(mn_film_check(film), MN_OK);
    mn_film_free(film);
    mn_context_free(ctx);
}

// The matrix is symmetric, its volumes are the derivatives of the volumes, and soft forces those of the
// energy.
static void test_operators(void **state)
{
    (void)state;
    film_drop d = film_drop_make(&coarse, 1);
    mn_film *film = d.film;
    double stretch;
    static const mn_film_inputs nothing;
    const mn_solver_inputs around = {0};
    film->inputs = &nothing, film->around = &around;
    assert_int_equal(mn_film_step_try(film, 1e-4, &stretch), MN_OK); // makes all arrays
    const int64_t n = film->c.vertices.count, m = film->bulk.node_count;
    film->def.viscosity = 0.01;
    mn_film_step_job job = {.film = film, .dt = 1e-4, .theta = 0.5, .bulk = true};
    double *u = calloc((size_t)(6 * n + 2 * m), sizeof *u), *y = calloc((size_t)(6 * n + 2 * m), sizeof *y);
    uint64_t seed = 1;
    for (int64_t i = 0; i < 6 * n + 2 * m; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        u[i] = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    }
    assert_int_equal(mn_film_bulk_measure(film, film->x0.data), MN_OK);
    for (int k = 0; k < 2; k++) {
        const int64_t at = k * (3 * n + m);
        assert_int_equal(mn_film_bulk_apply(film, &job, false, (const mn_vec3 *)(u + at), u + at + 3 * n,
                                            (mn_vec3 *)(y + at), y + at + 3 * n),
                         MN_OK);
    }
    double ab = 0, ba = 0, size = 0;
    for (int64_t i = 0; i < 3 * n + m; i++) {
        ab += u[i] * y[3 * n + m + i], ba += u[3 * n + m + i] * y[i];
        size += fabs(u[i] * y[3 * n + m + i]);
    }
    assert_true(fabs(ab - ba) <= 1e-13 * size);
    // dC/dx by central differences
    const double h = 1e-6 * film->def.size;
    for (int64_t i = 0; i < m; i += 7) {
        double volume[2] = {0, 0};
        for (int side = 0; side < 2; side++)
            for (int64_t k = film->bulk.start.data[i]; k < film->bulk.start.data[i + 1]; k++) {
                const int32_t *v = film->c.tets.data[film->bulk.corner.data[k] / 4].v;
                mn_vec3 x[4];
                for (int j = 0; j < 4; j++)
                    x[j] = mn_axpy(film->x0.data[v[j]], side ? h : -h, ((const mn_vec3 *)u)[v[j]]);
                volume[side] += 0.25 * mn_tet_volume(x[0], x[1], x[2], x[3]);
            }
        const double slope = (volume[1] - volume[0]) / (2 * h), s2 = film->def.size * film->def.size;
        assert_true(fabs(-y[3 * n + i] / film->bulk.scale - slope) <= 1e-8 * s2);
    }
    free(u), free(y);
    film->inputs = NULL, film->around = NULL;
    film_drop_free(&d);
}

// Mass exact, volumes to 1e-9, momentum and angular momentum to rounding; and energy is not made.
static void test_drop_in_motion(void **state)
{
    (void)state;
    film_drop_case c = coarse;
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    c.velocity = mn_v3(speed, 0.5 * speed, 0);
    c.spin = mn_scale(speed / c.shape.radius, mn_v3(0.2, 0.3, 1));
    film_drop d = film_drop_make(&c, 1);
    const mn_report before = film_drop_report(&d);
    const double volume = film_drop_volume(&d), energy = film_drop_energy(&d);
    for (int i = 0; i < 10; i++) {
        film_drop_advance(&d, 0.05);
        assert_int_equal(mn_film_check(d.film), MN_OK);
        assert_true(film_drop_energy(&d) <= energy * (1 + 1e-6));
    }
    double linear, angular;
    count_momentum(&d, &before, &linear, &angular);
    assert_true(linear <= 1e-12);
    assert_true(angular <= 1e-8);
    assert_true(fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / before.value[MN_REPORT_mass][0] - 1) <=
                1e-14);
    assert_true(fabs(film_drop_volume(&d) / volume - 1) <= 1e-7);
    film_drop_free(&d);
}

// A film on the equator pulls the drop and is pulled: together they keep their momentum.
static void test_film_on_a_drop(void **state)
{
    (void)state;
    film_drop_case c = coarse;
    c.film = 0.05, c.step = 0.05;
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    c.velocity = mn_v3(speed, 0, 0), c.spin = mn_scale(speed / c.shape.radius, mn_v3(0, 0.3, 1));
    film_drop d = film_drop_make(&c, 1);
    const mn_report before = film_drop_report(&d);
    film_drop_advance(&d, 0.03);
    double linear, angular;
    count_momentum(&d, &before, &linear, &angular);
    assert_true(linear <= 1e-12);
    assert_true(angular <= 1e-8);
    assert_int_equal(mn_film_check(d.film), MN_OK);
    assert_true(fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / before.value[MN_REPORT_mass][0] - 1) <=
                1e-14);
    film_drop_free(&d);
}

// The film draws back, gathers, reaches the drop and is taken up; tetrahedra at it are split, collapsed,
// remeshed and turned into film. Nothing of it makes or loses mass or momentum, and no invariant breaks.
static void test_film_draws_back_onto_a_drop(void **state)
{
    (void)state;
    film_drop_case c = coarse;
    c.film = 0.05;
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    c.velocity = mn_v3(0.3 * speed, 0.1 * speed, 0),
    c.spin = mn_scale(speed / c.shape.radius, mn_v3(0, 0.3, 0));
    film_drop d = film_drop_make(&c, 1);
    const mn_report before = film_drop_report(&d);
    double linear, angular;
    for (int i = 0; i < 14; i++) {
        film_drop_advance(&d, 0.05);
        if (mn_film_check(d.film) != MN_OK) fail_msg("%s", mn_context_message(d.ctx));
        count_momentum(&d, &before, &linear, &angular);
        assert_true(linear <= 1e-12);
    }
    assert_true(fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / before.value[MN_REPORT_mass][0] - 1) <=
                1e-13);
    double films = 0;
    for (int32_t t = 0; t < (int32_t)d.film->c.triangles.count; t++)
        if (mn_complex_is_film(&d.film->c, t)) films += mn_complex_area(&d.film->c, t);
    assert_true(films < 0.3 * MN_PI * d.radius * d.radius); // of three of them
    film_drop_free(&d);
}

// A plate of tetrahedra, `side` cubes of 1 wide and `height` thick.
static mn_film *make_plate(mn_context *ctx, double height, int side)
{
    static const int32_t cube[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                       {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    const int n = side + 1;
    mn_vec3 *x = malloc(sizeof *x * (size_t)(2 * n * n)), *v = malloc(sizeof *v * (size_t)(2 * n * n));
    int32_t(*t)[4] = malloc(sizeof *t * (size_t)(6 * side * side));
    for (int i = 0; i < 2 * n * n; i++) {
        x[i] = mn_v3(i / 2 % n, i / 2 / n, height * (i % 2));
        v[i] = mn_v3(sin(i), cos(3 * i), 0.2 * i);
    }
    for (int i = 0; i < side * side; i++)
        for (int k = 0; k < 24; k++) {
            const int corner = cube[k / 4][k % 4];
            const int at = (i % side + corner / 2 % 2) + n * (i / side + corner / 4);
            t[6 * i + k / 4][k % 4] = 2 * at + corner % 2;
        }
    mn_film_def def = mn_film_default_def();
    def.size = 1, def.density = 1, def.merge = false;
    const mn_film_source source = {.point_count = 2 * n * n,
                                   .positions = x,
                                   .velocities = v,
                                   .tet_count = 6 * side * side,
                                   .tets = (const int32_t(*)[4])t};
    mn_film *film;
    assert_int_equal(mn_film_create(ctx, &def, &film), MN_OK);
    if (mn_film_add(film, &source) != MN_OK) fail_msg("%s", mn_context_message(ctx));
    free(x), free(v), free(t);
    return film;
}

static mn_vec3 momentum_of(const mn_complex *c, double *mass)
{
    mn_vec3 sum = {0};
    *mass = 0;
    for (int64_t v = 0; v < c->vertices.count; v++) {
        const mn_complex_vertex *vertex = &c->vertices.data[v];
        if (!vertex->alive) continue;
        *mass += mn_complex_inertia(vertex);
        sum = mn_axpy(sum, mn_complex_inertia(vertex), vertex->velocity);
    }
    return sum;
}

static void test_thin_plates_become_film(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    enum { SIDE = 6 };
    for (int thick = 0; thick < 2; thick++) {
        mn_film *film = make_plate(ctx, thick ? 0.2 : 0.05, SIDE);
        double mass, after;
        bool changed = false;
        const mn_vec3 before = momentum_of(&film->c, &mass);
        assert_int_equal(mn_film_thin_volumes(film, &changed), MN_OK);
        assert_int_equal(changed, !thick);
        assert_int_equal(mn_complex_compact(&film->c), MN_OK);
        if (mn_film_check(film) != MN_OK) fail_msg("%s", mn_context_message(ctx));
        const mn_vec3 now = momentum_of(&film->c, &after);
        assert_true(fabs(after / mass - 1) <= 1e-14);
        assert_true(mn_norm(mn_sub(now, before)) <= 1e-13 * mn_norm(before));
        assert_int_equal(film->c.tets.count, thick ? 6 * SIDE * SIDE : 0);
        if (!thick) { // one film as large as the plate, a twentieth of its mass per area
            double area = 0;
            for (int32_t t = 0; t < (int32_t)film->c.triangles.count; t++)
                area += mn_complex_area(&film->c, t);
            assert_true(fabs(area / (SIDE * SIDE) - 1) < 0.01);
            assert_true(fabs(mass - 0.05 * SIDE * SIDE) < 1e-12);
        }
        mn_film_free(film);
    }
    mn_context_free(ctx);
}

// Random splits and collapses on a drop with a film, in moves that are kept or undone.
static void test_wet_moves(void **state)
{
    (void)state;
    film_drop_case with = coarse;
    with.film = 0.05;
    film_drop d = film_drop_make(&with, 1);
    mn_complex *c = &d.film->c;
    for (int64_t v = 0; v < c->vertices.count; v++)
        c->vertices.data[v].velocity = mn_v3(sin((double)v), cos(2.0 * (double)v), 0.3);
    double mass, after;
    const mn_vec3 before = momentum_of(c, &mass);
    uint64_t seed = 7;
    int splits = 0, collapses = 0;
    for (int i = 0; i < 300; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int32_t t = (int32_t)((seed >> 20) % (uint64_t)c->triangles.count);
        const int k = (int)(seed >> 50) % 3;
        if (c->triangles.data[t].v[0] < 0 || !mn_complex_is_film(c, t)) continue;
        const int32_t a = c->triangles.data[t].v[k], b = c->triangles.data[t].v[(k + 1) % 3];
        if (seed >> 63) {
            mn_complex_begin(c);
            const bool done = mn_complex_split(c, a, b) >= 0;
            if (done && !(seed >> 62 & 1))
                mn_complex_commit(c), splits++;
            else
                mn_complex_undo(c);
        } else {
            collapses += mn_complex_collapse(c, a, b) >= 0;
        }
        if (i % 10 == 0 && mn_complex_check(c) != MN_OK) fail_msg("%s", mn_context_message(d.ctx));
    }
    if (mn_complex_check(c) != MN_OK) fail_msg("%s", mn_context_message(d.ctx));
    assert_true(splits > 5 && collapses > 5);
    const mn_vec3 now = momentum_of(c, &after);
    assert_true(fabs(after / mass - 1) <= 1e-13);
    assert_true(mn_norm(mn_sub(now, before)) <= 1e-12 * mn_norm(before));
    film_drop_free(&d);
}

// A drop of spray that flies into a volume is taken up with its momentum.
static void test_spray_is_taken_up(void **state)
{
    (void)state;
    film_drop d = film_drop_make(&coarse, 1);
    const mn_vec3 x = {1.25 * d.radius, 0.1 * d.radius, 0}, v = {-0.3, 0, 0};
    const double diameter = 0.2 * d.radius, volume = film_drop_volume(&d);
    const mn_film_source spray = {
        .point_count = 1, .positions = &x, .velocities = &v, .thickness = &diameter};
    assert_int_equal(mn_film_add(d.film, &spray), MN_OK);
    const mn_report before = film_drop_report(&d);
    double linear, angular;
    film_drop_advance(&d, 0.6);
    count_momentum(&d, &before, &linear, &angular);
    assert_true(linear <= 1e-12);
    assert_true(fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / before.value[MN_REPORT_mass][0] - 1) <=
                1e-14);
    assert_int_equal(mn_film_get_ledger(d.film).absorbed, 1);
    const double more = MN_PI / 6 * diameter * diameter * diameter;
    assert_true(fabs(film_drop_volume(&d) - volume - more) < 1e-6 * volume);
    film_drop_free(&d);
}

/// A vertex with more liquid than the volume around it hands it to the neighbour with the most around it: it
/// was taken up in thousands of steps, and remeshing could not touch the vertex meanwhile.
static void test_liquid_is_passed_on(void **state)
{
    (void)state;
    film_drop d = film_drop_make(&coarse, 1);
    mn_complex *c = &d.film->c;
    for (int64_t v = 0; v < c->vertices.count; v++)
        c->vertices.data[v].velocity = mn_v3(sin((double)v), cos(2.0 * (double)v), 0.3);
    int32_t dry = 0;
    while (!mn_complex_wet(c, dry) || c->vertices.data[dry].first < 0) dry++;
    c->vertices.data[dry].mass = 3 * c->vertices.data[dry].bulk;
    double mass, after;
    const mn_vec3 before = momentum_of(c, &mass);
    bool changed = false;
    mn_film_absorb(d.film, &changed);
    const mn_vec3 now = momentum_of(c, &after);
    assert_true(c->vertices.data[dry].mass == 0);
    assert_true(fabs(after / mass - 1) <= 1e-14);
    assert_true(mn_norm(mn_sub(now, before)) <= 1e-13 * mn_norm(before));
    film_drop_free(&d);
}

// Saved in the middle and loaded, on one worker and on three: the same bits.
static void test_stream_and_workers(void **state)
{
    (void)state;
    film_drop_case c = coarse;
    c.film = 0.05, c.step = 0.05;
    film_drop a = film_drop_make(&c, 1), b = film_drop_make(&c, 3);
    film_drop_advance(&a, 0.01), film_drop_advance(&b, 0.01);
    buffer bytes = {.ctx = a.ctx};
    mn_writer out = {a.ctx, &bytes, buffer_write};
    assert_int_equal(mn_film_save(a.film, &out), MN_OK);
    mn_reader in = {b.ctx, &bytes, buffer_read};
    mn_film *loaded;
    assert_int_equal(mn_film_load(b.ctx, &b.def, &in, &loaded), MN_OK);
    film_drop_advance(&a, 0.01), film_drop_advance(&b, 0.01);
    assert_int_equal(mn_film_advance(loaded, NULL, 0.01 * b.time), MN_OK);
    for (int side = 0; side < 2; side++) {
        const mn_complex *x = &a.film->c, *y = side ? &loaded->c : &b.film->c;
        assert_int_equal(x->vertices.count, y->vertices.count);
        assert_memory_equal(x->vertices.data, y->vertices.data,
                            sizeof(mn_complex_vertex) * (size_t)x->vertices.count);
        assert_memory_equal(x->tets.data, y->tets.data, sizeof(mn_complex_tet) * (size_t)x->tets.count);
    }
    mn_film_free(loaded);
    free(bytes.bytes);
    film_drop_free(&a), film_drop_free(&b);
}

/// A film vertex that has lost its liquid gets some from its neighbours: without it no step could be short
/// enough, and the advance failed.
static void test_an_empty_vertex_is_fed(void **state)
{
    (void)state;
    film_drop_case c = coarse;
    c.film = 0.05;
    film_drop d = film_drop_make(&c, 1);
    mn_complex *x = &d.film->c;
    int32_t dry = 0;
    while (mn_complex_wet(x, dry) || mn_complex_class_of(x, dry) != MN_COMPLEX_CURVE) dry++;
    x->vertices.data[dry].mass = 0;
    const mn_report before = film_drop_report(&d);
    bool changed = false;
    double linear, angular;
    mn_film_feed_empty(d.film, &changed);
    count_momentum(&d, &before, &linear, &angular);
    const double mass = before.value[MN_REPORT_mass][0];
    assert_true(x->vertices.data[dry].mass > 0 && linear < 1e-14);
    assert_true(fabs(film_drop_report(&d).value[MN_REPORT_mass][0] / mass - 1) < 1e-14);
    // Where nobody has any, there is no film.
    for (int64_t v = 0; v < x->vertices.count; v++) x->vertices.data[v].mass = 0;
    mn_film_feed_empty(d.film, &changed);
    assert_true(changed);
    for (int64_t v = 0; v < x->vertices.count; v++)
        assert_true(!x->vertices.data[v].alive || mn_complex_inertia(&x->vertices.data[v]) > 0);
    assert_int_equal(mn_complex_check(x), MN_OK);
    film_drop_free(&d);
}

// The air presses on the surface of a drop by drag (w - u) . n: on a ball drag (w - u) 4 pi R^2 / 3 in all.
// What it gains is what the ledger says.
static void test_wind_drives_a_drop(void **state)
{
    (void)state;
    film_drop_case c = coarse;
    c.shape.p2 = 0;
    film_drop d = film_drop_make(&c, 1);
    mn_film_def def = d.def;
    const mn_vec3 wind = {3, -2, 1};
    def.drag = 1, def.wind = wind;
    assert_int_equal(mn_film_set_def(d.film, &def), MN_OK);
    const double dt = 1e-5, pushed = 4 * MN_PI * d.radius * d.radius / 3 * def.drag * dt;
    assert_int_equal(mn_film_advance(d.film, NULL, dt), MN_OK);
    const mn_report now = film_drop_report(&d);
    const mn_film_ledger ledger = mn_film_get_ledger(d.film);
    const double w[3] = {wind.x, wind.y, wind.z};
    const double given[3] = {ledger.momentum_given.x, ledger.momentum_given.y, ledger.momentum_given.z};
    for (int k = 0; k < 3; k++) {
        const double gained = now.value[MN_REPORT_momentum][k];
        assert_true(fabs(gained / (pushed * w[k]) - 1) <
                    0.06); // a polyhedron in a ball has less of a surface
        assert_true(fabs(gained - given[k]) <= 1e-9 * pushed * 3);
    }
    film_drop_free(&d);
}

// What looks over volumes after each step keeps its room: it takes memory the first time alone.
static void test_looking_over_volumes_allocates_nothing(void **state)
{
    (void)state;
    film_drop d = film_drop_make(&coarse, 1);
    mn_film_def def = d.def;
    def.use_limits = true, def.limits = (mn_box){mn_v3(-1, -1, -1), mn_v3(1, 1, 1)};
    assert_int_equal(mn_film_set_def(d.film, &def), MN_OK);
    film_drop_advance(&d, 0.01);
    const int64_t calls = mn_context_allocation_count(d.ctx);
    bool changed = false, overlap;
    assert_int_equal(mn_film_leave(d.film, &changed), MN_OK);
    assert_int_equal(mn_film_thin_volumes(d.film, &changed), MN_OK);
    assert_int_equal(mn_film_volumes_overlap(d.film, &overlap), MN_OK);
    assert_int_equal(mn_film_shed(d.film, 1e-3, &changed), MN_OK);
    assert_false(changed || overlap);
    assert_int_equal(mn_context_allocation_count(d.ctx) - calls, 0);
    film_drop_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_is_found),
        cmocka_unit_test(test_bad_volumes_are_refused),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_drop_in_motion),
        cmocka_unit_test(test_film_on_a_drop),
        cmocka_unit_test(test_liquid_is_passed_on),
        cmocka_unit_test(test_stream_and_workers),
        cmocka_unit_test(test_film_draws_back_onto_a_drop),
        cmocka_unit_test(test_thin_plates_become_film),
        cmocka_unit_test(test_wet_moves),
        cmocka_unit_test(test_spray_is_taken_up),
        cmocka_unit_test(test_an_empty_vertex_is_fed),
        cmocka_unit_test(test_wind_drives_a_drop),
        cmocka_unit_test(test_looking_over_volumes_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
