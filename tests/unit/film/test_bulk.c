// SPDX-License-Identifier: Apache-2.0
//
// Volumes in the film solver: invariants of tetrahedra in a complex, operators by differences, a drop in
// motion, a film that hangs on one, streams and workers.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_is_found), cmocka_unit_test(test_bad_volumes_are_refused),
        cmocka_unit_test(test_operators),       cmocka_unit_test(test_drop_in_motion),
        cmocka_unit_test(test_film_on_a_drop),  cmocka_unit_test(test_stream_and_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
