// SPDX-License-Identifier: Apache-2.0
//
// Free edges with a factor of their own: how fast they draw back, and what a polygon pulls.
#include "support/check.h"
#include "support/film_bubbles.h"

#include "film/cluster.h"

static mn_context *ctx;

// A flat disc of radius 1 about the y axis, in rings of triangles.
static mn_film *disc(int32_t rings, const mn_film_def *def)
{
    mn_complex c;
    mn_complex_init(&c, ctx);
    const mn_complex_vertex middle = {.wire = {-1, -1}};
    mn_complex_add_vertex(&c, &middle);
    for (int32_t r = 1; r <= rings; r++)
        for (int32_t i = 0; i < 6 * r; i++) {
            const double t = 2 * MN_PI * i / (6 * r), radius = (double)r / rings;
            const mn_complex_vertex v = {.position = {radius * cos(t), 0, radius * sin(t)}, .wire = {-1, -1}};
            mn_complex_add_vertex(&c, &v);
        }
    for (int32_t r = 1; r <= rings; r++) {
        const int32_t first = 1 + 3 * r * (r - 1), before = r == 1 ? 0 : 1 + 3 * (r - 1) * (r - 2);
        for (int32_t side = 0; side < 6; side++)
            for (int32_t i = 0; i < r; i++) {
                const int32_t a = first + side * r + i, b = first + (side * r + i + 1) % (6 * r);
                const int32_t n = 6 * (r - 1);
                const int32_t d = r == 1 ? 0 : before + (side * (r - 1) + i) % n;
                const int32_t e = r == 1 ? 0 : before + (side * (r - 1) + i + n - 1) % n;
                mn_complex_add_triangle(&c, a, d, b, 0, 0);
                if (i > 0) mn_complex_add_triangle(&c, e, d, a, 0, 0);
            }
    }
    mn_film *film = bubbles_film(ctx, &c, def, NULL);
    mn_complex_free(&c);
    return film;
}

static double radius_of(const mn_film *film)
{
    double sum = 0, count = 0;
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++)
        if (mn_complex_on_rim(&film->c, v)) sum += mn_norm(mn_complex_position(&film->c, v)), count++;
    return sum / count;
}

// A rim that is drawn in by f times the tension runs sqrt(f) times as fast as Taylor and Culick's.
static void test_speed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        mn_film_def def = bubbles_def(0.04);
        def.thickness = 1e-4, def.density = 1e4, def.max_dt = 0.01;
        def.rim_factor = i == 0 ? 0.5 : 2;
        mn_film *film = disc(25, &def);
        const double speed = sqrt(def.rim_factor);
        assert_int_equal(mn_film_advance(film, NULL, 0.25 / speed), MN_OK);
        const double before = radius_of(film);
        assert_int_equal(mn_film_advance(film, NULL, 0.2 / speed), MN_OK);
        const double measured = (before - radius_of(film)) / (0.2 / speed);
        assert_true(fabs(measured - speed) <= 0.06 * speed); // an edge is a tenth of its path
        mn_film_free(film);
    }
}

// A square pulls hardest in the middle of its sides, the same on all four, and not to any side.
static void test_polygon(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.1);
    def.polygon_sides = 4;
    mn_film *film = disc(10, &def);
    double stretch;
    assert_int_equal(mn_film_step_try(film, 1e-6, &stretch), MN_OK);
    mn_vec3 sum = {0};
    double middle = 0, corner = 0;
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++) {
        const mn_vec3 x = mn_complex_position(&film->c, v), f = film->rim_force.data[v];
        if (!mn_complex_on_rim(&film->c, v)) assert_true(mn_norm(f) == 0);
        sum = mn_add(sum, f);
        if (x.x > 0.999) middle = -mn_dot(f, x);
        if (fabs(x.x - x.z) < 0.08 && x.x > 0.6) corner = -mn_dot(f, x);
    }
    assert_true(mn_norm(sum) <= 1e-12);
    assert_true(middle > 0 && corner < 0);
    mn_film_free(film);
}

int main(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    ctx = mn_context_create(&hooks);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_polygon),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
