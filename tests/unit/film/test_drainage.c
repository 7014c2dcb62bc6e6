// SPDX-License-Identifier: Apache-2.0
//
// Liquid that drains through films and into borders: the known profile of a vertical film, and what is kept.
#include "support/check.h"
#include "support/film_bubbles.h"

static mn_context *ctx;

// A strip from y = 0 down to y = -1, two triangles wide, in a frame.
static mn_film *strip(int32_t rows, const mn_film_def *def)
{
    mn_complex c;
    mn_complex_init(&c, ctx);
    for (int32_t i = 0; i <= rows; i++)
        for (int32_t k = 0; k < 3; k++) {
            const mn_complex_vertex v = {.position = {(k - 1.0) / rows, -(double)i / rows, 0},
                                         .wire = {-1, -1}};
            mn_complex_add_vertex(&c, &v);
        }
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < 2; k++) {
            const int32_t a = 3 * i + k, d = a + 3;
            mn_complex_add_triangle(&c, a, d, a + 1, 0, 0);
            mn_complex_add_triangle(&c, a + 1, d, d + 1, 0, 0);
        }
    mn_film *film = bubbles_film(ctx, &c, def, NULL);
    mn_complex_free(&c);
    return film;
}

static void sums(const mn_film *film, double *mass, mn_vec3 *momentum)
{
    *mass = 0, *momentum = mn_v3(0, 0, 0);
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        *mass += vertex->mass;
        *momentum = mn_axpy(*momentum, vertex->mass, vertex->velocity);
    }
}

static void prepare(mn_film *film)
{
    double stretch;
    assert_int_equal(mn_film_step_try(film, 1e-9, &stretch), MN_OK);
}

// Of a vertical film that is 1 thick to begin with, what is left after a long time is h = sqrt(4 mu z/(rho g
// t)), z from its upper end: h_t + (rho g/(4 mu)) h^2 h_z = 0.
static void test_a_vertical_film(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(1.0 / 64);
    def.viscosity = 1, def.gravity = mn_v3(0, -12, 0), def.drainage = 1, def.thickness = 1e-2;
    mn_film *film = strip(64, &def);
    prepare(film);
    double before, after;
    mn_vec3 momentum;
    sums(film, &before, &momentum);
    const double time = 2e4, dt = 4;
    for (double t = 0; t < time; t += dt) assert_int_equal(mn_film_drain(film, dt), MN_OK);
    sums(film, &after, &momentum);
    assert_true(fabs(after - before) <= 1e-12 * before);
    for (int32_t i = 16; i <= 48; i += 8) {
        const double z = i / 64.0,
                     h = film->c.vertices.data[3 * i + 1].mass / film->system.area.data[3 * i + 1];
        assert_true(fabs(h - sqrt(4 * z / (12 * time))) <= 0.1 * h);
    }
    mn_film_free(film);
}

// A cluster of bubbles: liquid gathers in borders, and momentum goes with it.
static void test_borders_gather(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    def.viscosity = 1, def.drainage = 1, def.gravity = mn_v3(0, -1, 0);
    mn_film *film = bubbles_double(ctx, &def);
    prepare(film);
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        film->c.vertices.data[v].velocity = mn_scale(0.1, mn_complex_position(&film->c, (int32_t)v));
    double before[2] = {0}, after[2] = {0}, mass;
    mn_vec3 p0, p1;
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++)
        before[mn_complex_class_of(&film->c, v) != MN_COMPLEX_INSIDE] += film->c.vertices.data[v].mass;
    sums(film, &mass, &p0);
    for (int i = 0; i < 20; i++) assert_int_equal(mn_film_drain(film, 0.01), MN_OK);
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++)
        after[mn_complex_class_of(&film->c, v) != MN_COMPLEX_INSIDE] += film->c.vertices.data[v].mass;
    sums(film, &mass, &p1);
    assert_true(after[1] > 1.1 * before[1]);
    assert_true(fabs(after[0] + after[1] - before[0] - before[1]) <= 1e-12 * mass);
    assert_true(mn_distance(p0, p1) <= 1e-12 * mass);
    mn_film_free(film);
}

int main(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    ctx = mn_context_create(&hooks);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_vertical_film),
        cmocka_unit_test(test_borders_gather),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
