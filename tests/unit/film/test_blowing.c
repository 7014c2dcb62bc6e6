// SPDX-License-Identifier: Apache-2.0
//
// Gas that is blown in: the film on a bowl becomes the cap of a sphere that holds it. And pockets that are
// wrong from the start: inside out, or of no volume.
#include "support/film_bubbles.h"
#include "support/one_context.h"

#include "meniscus/context.h"
#include "meniscus/film.h"
#include "meniscus/geo.h"

static const double PI = 3.14159265358979323846;

static void add_geo(mn_film *film, const mn_geo *geo, bool turn, bool labelled)
{
    const int64_t n = mn_geo_point_count(geo), count = mn_geo_primitive_count(geo);
    const int64_t *corners = mn_geo_vertex_points(geo);
    const mn_attribute *held = mn_geo_find_numeric(geo, MN_POINT, "pinned", 1);
    const mn_attribute *region = mn_geo_find_numeric(geo, MN_PRIMITIVE, "region", 2);
    mn_vec3 *x = malloc(sizeof *x * (size_t)n);
    uint8_t *pinned = calloc((size_t)n, 1);
    int32_t(*t)[3] = malloc(sizeof *t * (size_t)count), (*r)[2] = malloc(sizeof *r * (size_t)count);
    for (int64_t i = 0; i < n; i++) {
        double number = 0;
        x[i] = mn_geo_position(geo, i);
        if (held) mn_attribute_get(held, i, 1, &number);
        pinned[i] = number > 0.5;
    }
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) t[i][k] = (int32_t)corners[3 * i + (turn ? 2 - k : k)];
        double pair[2];
        mn_attribute_get(region, i, 1, pair);
        r[i][0] = (int32_t)pair[0], r[i][1] = (int32_t)pair[1]; // wrong where the triangle is turned
    }
    const mn_film_source source = {.point_count = n,
                                   .positions = x,
                                   .pinned = held ? pinned : NULL,
                                   .triangle_count = count,
                                   .triangles = (const int32_t(*)[3])t,
                                   .regions = labelled ? (const int32_t(*)[2])r : NULL};
    check_ok(ctx, mn_film_add(film, &source));
    free(x), free(pinned), free(t), free(r);
}

static double cap_volume(double a, double height)
{
    return PI * height * (3 * a * a + height * height) / 6;
}

static void a_film_on_a_bowl_is_blown_up(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.2);
    def.damping = 0.5, def.gibbs = 0.2, def.drag = 0.3, def.inflow = 1.5;
    const mn_film_sheet_def sheet = {.radius = 1, .size = 0.2, .thickness = 1, .pin = true, .lid = 0.5};
    mn_film *film;
    mn_geo *geo;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    check_ok(ctx, mn_film_sheet_create(ctx, &sheet, &geo));
    add_geo(film, geo, false, false);
    mn_geo_free(geo);
    assert_int_equal(film->pockets.count, 2);
    const double start = film->pockets.data[1].volume, in = film->ledger.gas_in;
    const mn_vec3 mouth = {0, -0.2, 0};
    const mn_film_inputs own = {.prick_count = 1, .pricks = &mouth};
    const mn_solver_inputs inputs = {.own = &own};
    for (int i = 0; i < 20; i++) {
        check_ok(ctx, mn_film_advance(film, &inputs, 0.1));
        check_ok(ctx, mn_film_check(film));
    }
    check_close(film->ledger.gas_in - in, 3 * def.ambient_pressure, 1e-9 * def.ambient_pressure);
    assert_int_equal(film->ledger.bursts, 0);
    def.inflow = def.gibbs = 0;
    check_ok(ctx, mn_film_set_def(film, &def));
    for (int i = 0; i < 60; i++) check_ok(ctx, mn_film_advance(film, NULL, 0.1));
    const double volume = film->pockets.data[1].volume;
    check_close(volume, start + 3, 0.05 * volume); // but for what the pressure of some percent takes
    double low = 0, high = 4;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (start + cap_volume(1, middle) < volume)
            low = middle;
        else
            high = middle;
    }
    check_close(film->pockets.data[1].excess, 2 * 2 * low / (1 + low * low), 0.05);
    mn_film_free(film);
}

static void a_bubble_inside_out_is_a_bubble(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.3);
    const mn_vec3 x = {0, 0, 0};
    const double r = 1;
    const mn_film_cluster_def ball = {1, &x, &r, 0.3, 1};
    double volume[3], excess[3];
    for (int i = 0; i < 3; i++) {
        mn_film *film;
        mn_geo *geo;
        check_ok(ctx, mn_film_create(ctx, &def, &film));
        check_ok(ctx, mn_film_cluster_create(ctx, &ball, &geo));
        add_geo(film, geo, i > 0, i > 1);
        mn_geo_free(geo);
        assert_int_equal(film->pockets.count, 2);
        volume[i] = film->pockets.data[1].volume, excess[i] = film->pockets.data[1].excess;
        check_close(volume[i], volume[0], 1e-12);
        check_close(excess[i], excess[0], 1e-10);
        check_ok(ctx, mn_film_advance(film, NULL, 0.1));
        check_ok(ctx, mn_film_check(film));
        mn_film_free(film);
    }
    assert_true(volume[0] > 3.5 && excess[0] > 1.8);
}

// A pocket between two films that lie on each other: it goes, or holds next to nothing, and nothing is thrown
// about.
static void a_pocket_of_no_volume_does_no_harm(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.3);
    const mn_film_sheet_def sheet = {.radius = 1, .size = 0.3, .thickness = 1, .lid = 1e-12};
    mn_film *film;
    mn_geo *geo;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    check_ok(ctx, mn_film_sheet_create(ctx, &sheet, &geo));
    mn_geo_remove_attribute(geo, MN_POINT, "pinned");
    add_geo(film, geo, false, false);
    mn_geo_free(geo);
    const double mass = bubbles_report(film).value[MN_REPORT_mass][0];
    for (int i = 0; i < 10; i++) {
        check_ok(ctx, mn_film_advance(film, NULL, 0.05));
        check_ok(ctx, mn_film_check(film));
    }
    const mn_report after = bubbles_report(film);
    check_close(after.value[MN_REPORT_mass][0], mass, 1e-12 * mass);
    assert_true(after.value[MN_REPORT_max_speed][0] < 10); // edges draw back at 1
    double gas = 0;
    for (int64_t b = 1; b < film->pockets.count; b++) gas += film->pockets.data[b].amount;
    check_close(gas, film->ledger.gas_in - film->ledger.gas_out, 1e-9);
    mn_film_free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_film_on_a_bowl_is_blown_up),
        cmocka_unit_test(a_bubble_inside_out_is_a_bubble),
        cmocka_unit_test(a_pocket_of_no_volume_does_no_harm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
