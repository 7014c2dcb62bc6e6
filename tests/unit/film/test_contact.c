// SPDX-License-Identifier: Apache-2.0
//
// Films that touch: bubbles that meet share a wall and end as a double bubble, a bubble that lands on a film
// sits in it, drops join what they fall onto. Mass, momentum and gas are what they were.
#include "support/film_bubbles.h"
#include "support/one_context.h"
#include "support/tet_shapes.h"

#include "meniscus/context.h"
#include "meniscus/film.h"
#include "meniscus/report.h"

static const double PI = 3.14159265358979323846;

static void add_bubble(mn_film *film, mn_vec3 center, double radius, mn_vec3 velocity)
{
    mn_complex c;
    mn_complex_init(&c, ctx);
    check_ok(ctx, mn_film_cluster(&c, 1, &center, &radius, film->def.size, 10000000));
    mn_vec3 *x = malloc(sizeof *x * (size_t)c.vertices.count),
            *v = malloc(sizeof *v * (size_t)c.vertices.count);
    int32_t(*t)[3] = malloc(sizeof *t * (size_t)c.triangles.count);
    for (int64_t i = 0; i < c.vertices.count; i++) {
        const mn_vec3 out = mn_normalize(mn_sub(c.vertices.data[i].position, center));
        x[i] = mn_axpy(center, radius, out), v[i] = velocity;
    }
    for (int64_t i = 0; i < c.triangles.count; i++)
        for (int k = 0; k < 3; k++) t[i][k] = c.triangles.data[i].v[k];
    const mn_film_source source = {.point_count = c.vertices.count,
                                   .positions = x,
                                   .velocities = v,
                                   .triangle_count = c.triangles.count,
                                   .triangles = (const int32_t(*)[3])t};
    check_ok(ctx, mn_film_add(film, &source));
    free(x), free(v), free(t);
    mn_complex_free(&c);
}

static double gas_of(const mn_film *film)
{
    double sum = 0;
    for (int64_t b = 1; b < film->pockets.count; b++) sum += film->pockets.data[b].amount;
    return sum;
}

static void advance(mn_film *film, double seconds)
{
    check_ok(ctx, mn_film_advance(film, NULL, seconds));
    check_ok(ctx, mn_film_check(film));
}

// A film of radius 2.5 with a pinned border.
static void add_disc(mn_film *film)
{
    mn_geo *disc;
    const mn_film_sheet_def sheet = {.radius = 2.5, .size = 0.25, .thickness = 1, .pin = true};
    check_ok(ctx, mn_film_sheet_create(ctx, &sheet, &disc));
    const int64_t n = mn_geo_point_count(disc), count = mn_geo_primitive_count(disc);
    const int64_t *corners = mn_geo_vertex_points(disc);
    mn_vec3 *x = malloc(sizeof *x * (size_t)n);
    uint8_t *pinned = malloc((size_t)n);
    int32_t(*t)[3] = malloc(sizeof *t * (size_t)count);
    for (int64_t i = 0; i < n; i++) x[i] = mn_geo_position(disc, i), pinned[i] = mn_norm(x[i]) > 2.49;
    for (int64_t i = 0; i < 3 * count; i++) t[i / 3][i % 3] = (int32_t)corners[i];
    const mn_film_source source = {.point_count = n,
                                   .positions = x,
                                   .pinned = pinned,
                                   .triangle_count = count,
                                   .triangles = (const int32_t(*)[3])t};
    check_ok(ctx, mn_film_add(film, &source));
    free(x), free(pinned), free(t);
    mn_geo_free(disc);
}

static void bubbles_that_meet_share_a_wall(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    def.damping = 0.5, def.gibbs = 0.5, def.drag = 0;
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    add_bubble(film, mn_v3(-1.2, 0, 0), 1, mn_v3(0.3, 0, 0.1));
    add_bubble(film, mn_v3(1.2, 0.1, 0), 1, mn_v3(-0.3, 0, 0.1));
    const mn_report before = bubbles_report(film);
    const double gas = gas_of(film);
    double met = 0;
    for (int i = 0; i < 60; i++) {
        advance(film, 0.04);
        if (met == 0 && film->ledger.contacts > 0) met = 0.04 * (i + 1);
    }
    const mn_report after = bubbles_report(film);
    assert_true(met > 0.2 && met < 1.4); // the gap of 0.4 closes at 0.6, wobbles aside
    assert_int_equal(film->ledger.contacts, 1);
    assert_int_equal(film->pockets.count, 3);
    check_close(after.value[MN_REPORT_mass][0], before.value[MN_REPORT_mass][0],
                1e-12 * before.value[MN_REPORT_mass][0]);
    check_close(after.value[MN_REPORT_momentum][2], before.value[MN_REPORT_momentum][2],
                1e-10 * before.value[MN_REPORT_mass][0]);
    check_close(gas_of(film), gas, 1e-12 * gas);
    // at rest it is the equal double bubble of these volumes
    const mn_film_settle_result settled = bubbles_settle(film);
    assert_true(settled.settled);
    const double r = cbrt((film->pockets.data[1].volume + film->pockets.data[2].volume) / (9 * PI / 4));
    check_close(bubbles_report(film).value[MN_REPORT_area][0], 6.75 * PI * r * r, 0.005 * 6.75 * PI * r * r);
    check_close(film->pockets.data[1].excess, 2 / r, 0.02);
    assert_int_equal(bubbles_disorder(film), 0);
    mn_film_free(film);
}

static void a_bubble_sits_in_the_film_that_it_lands_on(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    def.damping = 0.5, def.gibbs = 0.5, def.drag = 0.2;
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    add_disc(film);
    add_bubble(film, mn_v3(0.1, 1.2, 0), 1, mn_v3(0, -0.4, 0));
    const double gas = gas_of(film), mass = bubbles_report(film).value[MN_REPORT_mass][0];
    for (int i = 0; i < 80; i++) advance(film, 0.04);
    assert_true(film->ledger.contacts >= 1);
    assert_int_equal(film->pockets.count, 2);
    check_close(gas_of(film), gas, 1e-12 * gas);
    check_close(bubbles_report(film).value[MN_REPORT_mass][0], mass, 1e-12 * mass);
    const mn_film_settle_result settled = bubbles_settle(film);
    assert_true(settled.settled);
    // a lens of two caps of 60 degrees: 120 degrees between all three films
    const double r = cbrt(film->pockets.data[1].volume / (2 * PI * (2 - 1.5 + 0.125) / 3));
    check_close(film->pockets.data[1].excess, 2 / r, 0.02);
    mn_film_free(film);
}

/// A volume that meets a film hangs in it then: the film goes where it lies on the volume, and ends around
/// there. It passed through before, with a warning.
static void a_volume_hangs_in_the_film_that_it_meets(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    def.damping = 0.5, def.viscosity = 0.1;
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    add_disc(film);
    mn_tet_mesh *ball = tet_ball(ctx, 5);
    MN_ARRAY(mn_vec3) v = {0};
    const mn_vec3 fall = {0, -0.4, 0};
    for (int32_t i = 0; i < ball->vertex_slots; i++) {
        mn_tet_mesh_move_vertex(ball, i, mn_axpy(mn_v3(0.1, 0.85, 0), 1.2, ball->position[i]));
        check_ok(ctx, mn_array_push(ctx, &v, &fall));
    }
    const mn_film_source source = {.point_count = ball->vertex_slots,
                                   .positions = ball->position,
                                   .velocities = v.data,
                                   .tet_count = ball->tet_slots,
                                   .tets = (const int32_t(*)[4])ball->tet};
    check_ok(ctx, mn_film_add(film, &source));
    mn_array_free(ctx, &v);
    mn_tet_mesh_free(ball);
    const double mass = bubbles_report(film).value[MN_REPORT_mass][0];
    for (int i = 0; i < 40; i++) advance(film, 0.04);
    check_close(bubbles_report(film).value[MN_REPORT_mass][0], mass, 1e-12 * mass);
    assert_true(film->ledger.contacts >= 1);
    mn_vec3 centre = {0};
    int64_t wet = 0, hangs = 0;
    for (int32_t i = 0; i < (int32_t)film->c.vertices.count; i++)
        if (mn_complex_wet(&film->c, i)) centre = mn_add(centre, mn_complex_position(&film->c, i)), wet++;
    centre = mn_scale(1 / (double)wet, centre);
    for (int32_t t = 0; t < (int32_t)film->c.triangles.count; t++)
        for (int k = 0; k < 3 && mn_complex_is_film(&film->c, t); k++) {
            const int32_t corner = film->c.triangles.data[t].v[k];
            hangs += mn_complex_wet(&film->c, corner);
            assert_true(mn_complex_wet(&film->c, corner) ||
                        mn_distance(mn_complex_position(&film->c, corner), centre) > 0.4);
        }
    assert_true(wet > 50 && hangs > 5);
    mn_film_free(film);
}

static void drops_join_what_they_fall_onto(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    add_bubble(film, mn_v3(0, 0, 0), 1, mn_v3(0, 0, 0));
    const mn_vec3 x[3] = {{0, 1.6, 0}, {3, 0, 0}, {3.5, 0, 0}},
                  v[3] = {{0, -1, 0}, {0.5, 0, 0}, {-0.5, 0, 0}};
    const double diameter[3] = {0.2, 0.2, 0.3};
    const mn_film_source drops = {.point_count = 3, .positions = x, .velocities = v, .thickness = diameter};
    check_ok(ctx, mn_film_add(film, &drops));
    const mn_report before = bubbles_report(film);
    for (int i = 0; i < 30; i++) advance(film, 0.02);
    const mn_report after = bubbles_report(film);
    assert_int_equal(film->ledger.absorbed, 2);
    int64_t alone = 0;
    for (int64_t i = 0; i < film->c.vertices.count; i++) alone += film->c.vertices.data[i].first < 0;
    assert_int_equal(alone, 1);
    for (int k = 0; k < 3; k++)
        check_close(after.value[MN_REPORT_momentum][k], before.value[MN_REPORT_momentum][k], 1e-12);
    check_close(after.value[MN_REPORT_mass][0], before.value[MN_REPORT_mass][0], 1e-12);
    mn_film_free(film);
}

static void without_merging_they_pass(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.3);
    def.merge = false;
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    add_bubble(film, mn_v3(-1.1, 0, 0), 1, mn_v3(1, 0, 0));
    add_bubble(film, mn_v3(1.1, 0, 0), 1, mn_v3(-1, 0, 0));
    for (int i = 0; i < 10; i++) advance(film, 0.04);
    assert_int_equal(film->ledger.contacts, 0);
    mn_film_free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bubbles_that_meet_share_a_wall),
        cmocka_unit_test(a_bubble_sits_in_the_film_that_it_lands_on),
        cmocka_unit_test(a_volume_hangs_in_the_film_that_it_meets),
        cmocka_unit_test(drops_join_what_they_fall_onto),
        cmocka_unit_test(without_merging_they_pass),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
