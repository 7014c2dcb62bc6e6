// SPDX-License-Identifier: Apache-2.0
//
// The film solver: operators against differences, what is conserved, gas that is accounted for, the same bits
// for any number of workers and after saving.
#include "support/film_bubbles.h"
#include "support/one_context.h"
#include "support/stream_buffer.h"

#include "base/random.h"
#include "meniscus/context.h"
#include "meniscus/film.h"
#include "meniscus/report.h"
#include "meniscus/solver.h"
#include "meniscus/stream.h"

static double area_at(const mn_film *film, const mn_vec3 *x)
{
    double sum = 0;
    for (int64_t t = 0; t < film->c.triangles.count; t++) {
        const int32_t *v = film->c.triangles.data[t].v;
        sum += 0.5 * mn_norm(mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
    }
    return sum;
}

static void operators_are_derivatives(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.35);
    mn_film *film = bubbles_double(ctx, &def);
    check_ok(ctx, mn_film_measure_pockets(film));
    check_ok(ctx, mn_film_system_matrix(film, film->x0.data));
    mn_vec3 *x = film->x0.data;
    const double eps = 1e-5;
    for (int64_t v = 0; v < film->c.vertices.count; v += 7) {
        const mn_vec3 row = mn_film_system_row(&film->system, x, v);
        const mn_vec3 d = mn_random_direction(1, (uint64_t)v, 0), kept = x[v];
        double up[3], down[3];
        x[v] = mn_axpy(kept, eps, d);
        const double a = area_at(film, x);
        check_ok(ctx, mn_film_system_volumes(film, x, up));
        x[v] = mn_axpy(kept, -eps, d);
        const double b = area_at(film, x);
        check_ok(ctx, mn_film_system_volumes(film, x, down));
        x[v] = kept;
        check_close((a - b) / (2 * eps), mn_dot(row, d), 1e-8); // gamma is 1
        check_ok(ctx, mn_film_system_volumes(film, x, NULL));
        for (int32_t r = 1; r <= 2; r++) {
            double slope = 0;
            for (int64_t f = film->system.face_start.data[v]; f < film->system.face_start.data[v + 1]; f++)
                if (film->system.faces.data[f].region == r)
                    slope += mn_dot(film->system.faces.data[f].gradient, d);
            check_close((up[r] - down[r]) / (2 * eps), slope, 1e-8);
        }
    }
    mn_film_free(film);
}

static void spin(mn_film *film)
{
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        film->c.vertices.data[v].velocity = mn_add(
            mn_v3(0.1, 0.05, -0.02), mn_cross(mn_v3(0.1, 0.3, 0.2), film->c.vertices.data[v].position));
}

static void a_spinning_double_bubble_keeps_what_it_has(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    def.gibbs = 0.5, def.viscosity = 0.01;
    mn_film *film = bubbles_double(ctx, &def);
    assert_true(bubbles_settle(film).settled);
    spin(film);
    const mn_report before = bubbles_report(film);
    double gas = 0;
    for (int64_t b = 1; b < film->pockets.count; b++) gas += film->pockets.data[b].amount;
    for (int i = 0; i < 20; i++) {
        const mn_report now = bubbles_report(film);
        check_ok(ctx, mn_film_advance(film, NULL, 0.05));
        const mn_report then = bubbles_report(film);
        // Never more energy than before: that of the gas is small beside it.
        const double e0 = now.value[MN_REPORT_kinetic_energy][0] + now.value[MN_REPORT_surface_energy][0];
        const double e1 = then.value[MN_REPORT_kinetic_energy][0] + then.value[MN_REPORT_surface_energy][0];
        assert_true(e1 <= e0 * (1 + 1e-3));
        check_ok(ctx, mn_film_check(film));
    }
    const mn_report after = bubbles_report(film);
    const double mass = before.value[MN_REPORT_mass][0];
    check_close(after.value[MN_REPORT_mass][0], mass, 1e-12 * mass);
    check_close(
        mn_distance(bubbles_vector(&after, MN_REPORT_momentum), bubbles_vector(&before, MN_REPORT_momentum)),
        0, 1e-12 * mass);
    // Moves of the mesh lose some; the steps lose none.
    const double lost = mn_distance(bubbles_vector(&after, MN_REPORT_angular_momentum),
                                    bubbles_vector(&before, MN_REPORT_angular_momentum));
    assert_true(lost <= film->ledger.angular_lost + 1e-11 * mass);
    double left = 0;
    for (int64_t b = 1; b < film->pockets.count; b++) left += film->pockets.data[b].amount;
    check_close(left, gas, 1e-13 * gas);
    mn_film_free(film);
}

// A loose sheet that falls through still air against it: m dv/dt = -c A v, with any size of mesh.
static void drag_is_a_pressure(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double size = i ? 1e-3 : 0.5e-3, h = 1e-5, drag = 2;
        mn_geo *geo;
        const mn_film_sheet_def sheet = {{0, 0, 0}, 0.01, 0, size, h, false, 0};
        check_ok(ctx, mn_film_sheet_create(ctx, &sheet, &geo));
        mn_film_def def = mn_film_default_def();
        def.size = size, def.drag = drag, def.sigma = 0, def.damping = 0, def.max_dt = 1e-5;
        mn_film *film;
        check_ok(ctx, mn_film_create(ctx, &def, &film));
        const int64_t n = mn_geo_point_count(geo), count = mn_geo_primitive_count(geo);
        mn_vec3 *x = malloc(sizeof *x * (size_t)n), *v = malloc(sizeof *v * (size_t)n);
        int32_t(*t)[3] = malloc(sizeof *t * (size_t)count);
        for (int64_t k = 0; k < n; k++) x[k] = mn_geo_position(geo, k), v[k] = mn_v3(0, 1, 0);
        for (int64_t k = 0; k < 3 * count; k++) t[k / 3][k % 3] = (int32_t)mn_geo_vertex_points(geo)[k];
        const mn_film_source source = {.point_count = n,
                                       .positions = x,
                                       .velocities = v,
                                       .triangle_count = count,
                                       .triangles = (const int32_t(*)[3])t};
        def.thickness = h;
        check_ok(ctx, mn_film_set_def(film, &def));
        check_ok(ctx, mn_film_add(film, &source));
        check_ok(ctx, mn_film_advance(film, NULL, 1e-3));
        const mn_report now = bubbles_report(film);
        const double speed = bubbles_vector(&now, MN_REPORT_momentum).y / now.value[MN_REPORT_mass][0];
        // Drag is of first order: off by half a step of the rate, 1e-5 * 200 / 2, over 0.2 of a time.
        check_close(speed, exp(-drag * 1e-3 / (1000 * h)), 3e-4);
        free(x), free(v), free(t);
        mn_film_free(film);
        mn_geo_free(geo);
    }
}

// Gas in all pockets and in the ledger adds up, through a burst too.
static void gas_is_accounted_for_when_a_wall_bursts(void **state)
{
    (void)state;
    mn_film_def def = bubbles_def(0.25);
    def.burst = true;
    mn_film *film = bubbles_double(ctx, &def);
    assert_true(bubbles_settle(film).settled);
    const mn_vec3 prick = {0, 0, 0};
    const mn_film_inputs own = {.prick_count = 1, .pricks = &prick};
    const mn_solver_inputs inputs = {.own = &own};
    check_ok(ctx, mn_film_advance(film, &inputs, 0.02));
    assert_int_equal(film->ledger.bursts, 1);
    assert_int_equal(film->pockets.count, 2); // one pocket
    const mn_report before = bubbles_report(film);
    for (int i = 0; i < 30; i++) {
        check_ok(ctx, mn_film_advance(film, NULL, 0.05));
        check_ok(ctx, mn_film_check(film));
    }
    double gas = 0;
    for (int64_t b = 1; b < film->pockets.count; b++) gas += film->pockets.data[b].amount;
    check_close(gas + film->ledger.gas_out, film->ledger.gas_in, 1e-10 * gas);
    const mn_report after = bubbles_report(film);
    check_close(after.value[MN_REPORT_mass][0], before.value[MN_REPORT_mass][0],
                1e-12 * before.value[MN_REPORT_mass][0]);
    mn_film_free(film);
}

static double digest_after(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *other = mn_context_create(&hooks);
    mn_film_def def = bubbles_def(0.2);
    def.gibbs = 0.5;
    mn_film *film = bubbles_double(other, &def);
    spin(film);
    check_ok(other, mn_film_advance(film, NULL, 0.2));
    const double digest = bubbles_digest(film);
    mn_film_free(film);
    mn_context_free(other);
    return digest;
}

static void any_number_of_workers_gives_the_same_bits(void **state)
{
    (void)state;
    const double one = digest_after(1);
    assert_true(one == digest_after(2));
    assert_true(one == digest_after(8));
}

static void a_saved_film_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.3);
    mn_film *film = bubbles_double(ctx, &def), *copy;
    spin(film);
    check_ok(ctx, mn_film_advance(film, NULL, 0.1));
    buffer saved = {.ctx = ctx};
    mn_writer out = {ctx, &saved, buffer_write};
    check_ok(ctx, mn_film_save(film, &out));
    mn_reader in = {ctx, &saved, buffer_read};
    check_ok(ctx, mn_film_load(ctx, &def, &in, &copy));
    check_ok(ctx, mn_film_advance(film, NULL, 0.1));
    check_ok(ctx, mn_film_advance(copy, NULL, 0.1));
    assert_int_equal(film->c.vertices.count, copy->c.vertices.count);
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        assert_memory_equal(&film->c.vertices.data[v].position, &copy->c.vertices.data[v].position,
                            sizeof(mn_vec3));
    mn_film_free(copy);
    mn_film_free(film);
    free(saved.bytes);
}

static bool cancels_in(void *left)
{
    return --*(int64_t *)left < 0;
}

static void a_cancelled_step_is_as_if_it_had_not_been(void **state)
{
    (void)state;
    int64_t left = INT64_MAX;
    const mn_hooks hooks = {.user = &left, .cancelled = cancels_in};
    mn_context *own = mn_context_create(&hooks);
    const mn_film_def def = bubbles_def(0.35);
    mn_film *film = bubbles_double(own, &def);
    spin(film);
    check_ok(own, mn_film_advance(film, NULL, 0.02));
    mn_film *never = bubbles_double(own, &def);
    spin(never);
    check_ok(own, mn_film_advance(never, NULL, 0.02));
    const int64_t before = left;
    check_ok(own, mn_film_advance(never, NULL, 0.02));
    const int64_t asked = before - left;
    assert_true(asked > 3); // inside of the solve too
    const double start = bubbles_digest(film);
    for (int64_t i = 0; i < asked; i++) {
        left = i;
        assert_int_equal(mn_film_advance(film, NULL, 0.02), MN_ERROR_CANCELLED);
        assert_true(bubbles_digest(film) == start);
    }
    left = INT64_MAX;
    check_ok(own, mn_film_advance(film, NULL, 0.02));
    assert_true(bubbles_digest(film) == bubbles_digest(never));
    mn_film_free(film);
    mn_film_free(never);
    mn_context_free(own);
}

static void bad_films_are_refused_with_a_sentence(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.3);
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    const mn_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}};
    const int32_t twice[2][3] = {{0, 1, 2}, {2, 0, 1}}, flat[1][3] = {{0, 1, 3}}, none[1][3] = {{0, 1, 9}};
    const int32_t odd[1][2] = {{1, 2}};
    const struct {
        const int32_t (*triangles)[3];
        int64_t count;
        const int32_t (*regions)[2];
        const char *word;
    } bad[] = {{twice, 2, NULL, "same three"},
               {flat, 1, NULL, "no area"},
               {none, 1, NULL, "three points"},
               {twice, 1, odd, "contradict"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const mn_film_source source = {.point_count = 4,
                                       .positions = x,
                                       .triangle_count = bad[i].count,
                                       .triangles = bad[i].triangles,
                                       .regions = bad[i].regions};
        assert_int_equal(mn_film_add(film, &source), MN_ERROR_INPUT);
        if (!strstr(mn_context_message(ctx), bad[i].word)) print_error("%s\n", mn_context_message(ctx));
        assert_non_null(strstr(mn_context_message(ctx), bad[i].word));
        assert_int_equal(film->c.vertices.count, 0);
    }
    mn_film_free(film);
}

// Nested bubbles: each shell is a pocket of its own, and the film between two belongs to both.
static void a_bubble_in_a_bubble_in_a_bubble(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.3);
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    for (int i = 0; i < 3; i++) {
        mn_complex c;
        mn_complex_init(&c, ctx);
        const mn_vec3 x = {0, 0, 0};
        const double r = 0.8 + 0.5 * i;
        check_ok(ctx, mn_film_cluster(&c, 1, &x, &r, 0.3, 1000000));
        mn_vec3 *p = malloc(sizeof *p * (size_t)c.vertices.count);
        int32_t(*t)[3] = malloc(sizeof *t * (size_t)c.triangles.count);
        for (int64_t v = 0; v < c.vertices.count; v++) p[v] = c.vertices.data[v].position;
        for (int64_t k = 0; k < c.triangles.count; k++) memcpy(t[k], c.triangles.data[k].v, sizeof t[k]);
        const mn_film_source source = {.point_count = c.vertices.count,
                                       .positions = p,
                                       .triangle_count = c.triangles.count,
                                       .triangles = (const int32_t(*)[3])t};
        check_ok(ctx, mn_film_add(film, &source));
        free(p), free(t);
        mn_complex_free(&c);
    }
    assert_int_equal(film->pockets.count, 4);
    double excess[4];
    for (int i = 1; i < 4; i++) excess[i] = film->pockets.data[i].excess;
    // pressures add up inwards, and none of the volumes overlap
    double volume = 0;
    for (int i = 1; i < 4; i++) volume += film->pockets.data[i].volume;
    check_close(volume, 4.18879 * 1.8 * 1.8 * 1.8, 0.05 * volume);
    double most = 0, least = INFINITY;
    for (int i = 1; i < 4; i++) most = fmax(most, excess[i]), least = fmin(least, excess[i]);
    check_close(least, 2 / 1.8, 0.1);
    check_close(most, 2 / 1.8 + 2 / 1.3 + 2 / 0.8, 0.4);
    check_ok(ctx, mn_film_advance(film, NULL, 0.1));
    check_ok(ctx, mn_film_check(film));
    mn_film_free(film);
}

// More threads at a point than the lists around a vertex can hold: a crash before they were counted.
static void a_hub_of_too_many_threads_is_refused(void **state)
{
    (void)state;
    enum { THREADS = 1000 };
    const mn_film_def def = bubbles_def(0.3);
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    static mn_vec3 x[THREADS + 1];
    static int32_t threads[THREADS][2];
    for (int32_t i = 0; i < THREADS; i++) {
        x[i + 1] = mn_random_direction(1, (uint64_t)i, 0);
        threads[i][1] = i + 1;
    }
    const mn_film_source source = {.point_count = THREADS + 1,
                                   .positions = x,
                                   .segment_count = THREADS,
                                   .segments = (const int32_t(*)[2])threads};
    mn_status status = mn_film_add(film, &source);
    if (status == MN_OK) status = mn_film_advance(film, NULL, 1e-3);
    assert_int_equal(status, MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "1000 threads meet at vertex 0"));
    mn_film_free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_derivatives),
        cmocka_unit_test(a_spinning_double_bubble_keeps_what_it_has),
        cmocka_unit_test(drag_is_a_pressure),
        cmocka_unit_test(gas_is_accounted_for_when_a_wall_bursts),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(a_saved_film_goes_on_with_the_same_bits),
        cmocka_unit_test(a_cancelled_step_is_as_if_it_had_not_been),
        cmocka_unit_test(bad_films_are_refused_with_a_sentence),
        cmocka_unit_test(a_hub_of_too_many_threads_is_refused),
        cmocka_unit_test(a_bubble_in_a_bubble_in_a_bubble),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
