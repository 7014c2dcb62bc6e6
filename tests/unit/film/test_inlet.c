// SPDX-License-Identifier: Apache-2.0
//
// Film that comes out of curves: it keeps the books of mass and momentum to rounding, is as thick as its flow
// says from its first row on, can be shut and resumed; and what leaves the limits is taken out and counted.
#include "film/film_state.h"
#include "support/film_bubbles.h"
#include "support/one_context.h"
#include "support/sheet_jet.h"
#include "support/stream_buffer.h"

static const double size = 1e-3; // m

static mn_film *film_of(double sigma)
{
    mn_film_def def = mn_film_default_def();
    mn_film *film;
    def.size = size, def.sigma = sigma, def.viscosity = 0, def.density = 1000, def.max_dt = 2e-3;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    return film;
}

static double mass_of(const mn_film *film, mn_vec3 *momentum)
{
    mn_report report = {0};
    mn_film_report(film, &report);
    const double *p = report.value[MN_REPORT_momentum];
    *momentum = mn_v3(p[0], p[1], p[2]);
    return report.value[MN_REPORT_mass][0];
}

static sheet_jet ring(double speed)
{
    sheet_jet jet;
    mn_jet_source_def def = mn_jet_source_default_def();
    def.kind = MN_JET_OPPOSED, def.speed = speed, def.radius = 5e-3, def.diameter = 2e-3;
    check_ok(ctx, sheet_jet_make(ctx, &def, &jet));
    return jet;
}

static mn_status advance(mn_film *film, sheet_jet *jet, double dt)
{
    jet->inlet.position = jet->position, jet->inlet.velocity = jet->velocity;
    jet->inlet.thickness = jet->thickness;
    const mn_film_inputs own = {.inlet_count = 1, .inlets = &jet->inlet};
    const mn_solver_inputs inputs = {.own = &own};
    return mn_film_advance(film, &inputs, dt);
}

static void check_books(mn_film *film, double speed)
{
    const mn_film_ledger ledger = mn_film_get_ledger(film);
    mn_vec3 momentum;
    const double mass = mass_of(film, &momentum), all = ledger.liquid_in;
    const mn_vec3 due = mn_sub(ledger.momentum_in, ledger.momentum_out);
    check_close(mass, ledger.liquid_in - ledger.liquid_out, 1e-12 * all);
    check_close(mn_distance(momentum, due), 0, 1e-10 * all * speed);
    check_ok(ctx, mn_film_check(film));
}

/// A straight mouth and a ring, without tension: all that is there came in, with its momentum, at the rate of
/// the mouth, in pieces of one strip.
static void test_sheets_keep_the_books(void **state)
{
    (void)state;
    const double speed = 2, h = 2e-4, width = 8.3e-3;
    for (int closed = 0; closed < 2; closed++) {
        sheet_jet jet = ring(speed);
        if (!closed) {
            jet.inlet.count = 2, jet.inlet.closed = false;
            for (int i = 0; i < 2; i++) {
                jet.position[i] = mn_v3(i * width, 0, 0), jet.velocity[i] = mn_v3(0, -speed, 0);
                jet.thickness[i] = h;
            }
        }
        const double flow = closed ? 2 * MN_PI * 1e-6 * speed : width * h * speed; // m^3/s
        mn_film *film = film_of(0);
        for (int frame = 1; frame <= 4; frame++) {
            check_ok(ctx, advance(film, &jet, 2e-3));
            check_books(film, speed);
            const double strip = 1000 * flow * 1.2 * size / speed, due = 1000 * flow * 2e-3 * frame;
            const double mass = mn_film_get_ledger(film).liquid_in;
            assert_true(mass <= due + strip && mass > due - strip);
        }
        mn_film_free(film);
    }
}

/// The round sheet of two jets: as thick as Q / (2 pi r U) everywhere behind its first rows, and as fast as
/// it left.
static void test_a_sheet_thins_as_it_spreads(void **state)
{
    (void)state;
    const double speed = 2, flow = 2 * MN_PI * 1e-6 * speed;
    sheet_jet jet = ring(speed);
    mn_film *film = film_of(0);
    mn_film_view view;
    check_ok(ctx, advance(film, &jet, 1e-2));
    check_ok(ctx, mn_film_get_view(film, &view));
    double error = 0, slow = 0, all = 0;
    for (int64_t i = 0; i < view.count; i++) {
        const double r = mn_norm(view.points[i].position);
        if (r < 8e-3 || r > 20e-3 || view.points[i].codim != 1) continue;
        error += view.points[i].thickness * 2 * MN_PI * r * speed / flow - 1, all++;
        slow = fmax(slow, 1 - mn_norm(view.points[i].velocity) / speed);
    }
    assert_true(all > 300);
    assert_true(fabs(error / all) < 0.03);
    assert_true(slow < 0.03);
    mn_film_free(film);
}

/// Saved between two rows and loaded, a sheet continues with the same bits; shut, it is let go.
static void test_a_sheet_resumes_and_is_shut(void **state)
{
    (void)state;
    sheet_jet jet = ring(1.5);
    mn_film *film = film_of(0.07), *copy;
    const mn_film_def def = film->def;
    check_ok(ctx, advance(film, &jet, 3.3e-3));
    buffer bytes = {.ctx = ctx};
    mn_writer out = {ctx, &bytes, buffer_write};
    check_ok(ctx, mn_film_save(film, &out));
    mn_reader in = {ctx, &bytes, buffer_read};
    check_ok(ctx, mn_film_load(ctx, &def, &in, &copy));
    check_ok(ctx, advance(film, &jet, 3e-3));
    check_ok(ctx, advance(copy, &jet, 3e-3));
    assert_true(film->c.vertices.count > 0 && film->c.vertices.count == copy->c.vertices.count);
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        assert_memory_equal(&film->c.vertices.data[v].position, &copy->c.vertices.data[v].position,
                            sizeof(mn_vec3));
    free(bytes.bytes);
    mn_film_free(copy);
    const double in_before = mn_film_get_ledger(film).liquid_in;
    for (int i = 0; i < jet.inlet.count; i++) jet.velocity[i] = mn_v3(0, 0, 0);
    check_ok(ctx, advance(film, &jet, 1e-3));
    assert_true(mn_film_get_ledger(film).liquid_in == in_before);
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++) assert_false(mn_complex_held(&film->c, v));
    mn_film_free(film);
}

static void test_bad_curves_are_refused(void **state)
{
    (void)state;
    sheet_jet jet = ring(1);
    mn_film *film = film_of(0.07);
    jet.thickness[3] = -1;
    assert_true(advance(film, &jet, 1e-3) == MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "at point 3"));
    jet.thickness[3] = 1e-4, jet.inlet.count = 1;
    assert_true(advance(film, &jet, 1e-3) == MN_ERROR_INPUT);
    mn_film_free(film);
}

/// A sheet without tension that runs out of a box: nothing is left outside of it, and what came in is there
/// or in the book of what left.
static void test_what_leaves_is_counted(void **state)
{
    (void)state;
    sheet_jet jet = ring(2);
    mn_film *film = film_of(0);
    mn_film_def def = film->def;
    def.use_limits = true, def.limits = (mn_box){mn_v3(-0.012, -1, -1), mn_v3(0.012, 1, 1)};
    check_ok(ctx, mn_film_set_def(film, &def));
    for (int frame = 0; frame < 4; frame++) {
        check_ok(ctx, advance(film, &jet, 3e-3));
        check_books(film, 2);
    }
    assert_true(mn_film_get_ledger(film).liquid_out > 0.1 * mn_film_get_ledger(film).liquid_in);
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        assert_true(fabs(film->c.vertices.data[v].position.x) < 0.012 + 1e-12);
    mn_film_free(film);
}

/// A bubble that drifts out of the box opens there: its gas is lost, and counted.
static void test_a_bubble_that_leaves_opens(void **state)
{
    (void)state;
    const mn_vec3 center = {0, 0, 0};
    const double radius = 6e-3;
    mn_film_def def = mn_film_default_def();
    def.size = 2e-3, def.thickness = 1e-4;
    def.use_limits = true, def.limits = (mn_box){mn_v3(-1, -1, -1), mn_v3(5e-3, 1, 1)};
    mn_film *film = bubbles_cluster(ctx, 1, &center, &radius, &def);
    const double gas = film->pockets.data[1].amount;
    check_ok(ctx, mn_film_advance(film, NULL, 1e-4));
    check_close(mn_film_get_ledger(film).gas_out, gas, 1e-12 * gas);
    assert_true(mn_film_get_ledger(film).liquid_out > 0);
    check_ok(ctx, mn_film_check(film));
    mn_film_free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheets_keep_the_books),
        cmocka_unit_test(test_a_sheet_thins_as_it_spreads),
        cmocka_unit_test(test_a_sheet_resumes_and_is_shut),
        cmocka_unit_test(test_bad_curves_are_refused),
        cmocka_unit_test(test_what_leaves_is_counted),
        cmocka_unit_test(test_a_bubble_that_leaves_opens),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
