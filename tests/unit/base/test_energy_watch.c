// SPDX-License-Identifier: Apache-2.0
//
// Energy that comes from nowhere is warned about, then refused; what falls, swings, is driven or grows in
// mass is left alone.
#include "support/check.h"

#include "base/energy_watch.h"

typedef struct told {
    int warnings;
} told;

static void note(void *user, mn_log_level level, const char *sentence)
{
    (void)sentence;
    if (level == MN_LOG_WARNING) ((told *)user)->warnings++;
}

static mn_report report_of(double mass, double kinetic, double surface, double height)
{
    mn_report report = {0};
    mn_report_set(&report, MN_REPORT_mass, mass);
    mn_report_set(&report, MN_REPORT_kinetic_energy, kinetic);
    mn_report_set(&report, MN_REPORT_surface_energy, surface);
    mn_report_set3(&report, MN_REPORT_center, mn_v3(0, height, 0));
    return report;
}

static mn_status look(mn_context *ctx, mn_energy_watch *watch, mn_report report, double gravity, bool driven)
{
    const mn_energy_books books = {.loss = 1e-9, .growth = 0.05, .driven = driven};
    return mn_energy_watch_look(ctx, watch, &report, mn_v3(0, -gravity, 0), &books);
}

static void growth_is_warned_about_and_refused(void **state)
{
    (void)state;
    told t = {0};
    const mn_hooks hooks = {.user = &t, .log = note};
    mn_context *ctx = mn_context_create(&hooks);
    mn_energy_watch watch = {0};
    // A drop of 100 J that loses a third, then gains from nowhere.
    check_ok(ctx, look(ctx, &watch, report_of(1, 0, 100, 0), 0, false));
    check_ok(ctx, look(ctx, &watch, report_of(1, 20, 46, 0), 0, false));
    check_ok(ctx, look(ctx, &watch, report_of(1, 40, 50, 0), 0, false));
    assert_int_equal(t.warnings, 0);
    check_ok(ctx, look(ctx, &watch, report_of(1, 45, 50, 0), 0, false));
    check_ok(ctx, look(ctx, &watch, report_of(1, 44, 60, 0), 0, false));
    assert_int_equal(t.warnings, 1);
    check_fails(ctx, look(ctx, &watch, report_of(1, 46, 60, 0), 0, false), MN_ERROR_DIVERGED, "has grown");
    mn_context_free(ctx);
}

// A surface that is measured ten times too large is no energy; motion beyond all that there was is.
static void a_surface_that_cannot_be_measured_counts_at_first_only(void **state)
{
    (void)state;
    told t = {0};
    const mn_hooks hooks = {.user = &t, .log = note};
    mn_context *ctx = mn_context_create(&hooks);
    mn_energy_watch watch = {0};
    const mn_energy_books books = {.loss = 1e-9, .growth = 0.05, .unsure = true};
    const double energies[][2] = {{10, 100}, {30, 1000}, {100, -50}, {205, 10}};
    for (int i = 0; i < 4; i++) {
        const mn_report report = report_of(1, energies[i][0], energies[i][1], 0);
        check_ok(ctx, mn_energy_watch_look(ctx, &watch, &report, mn_v3(0, 0, 0), &books));
    }
    assert_int_equal(t.warnings, 0);
    const mn_report beyond = report_of(1, 220, 10, 0);
    check_fails(ctx, mn_energy_watch_look(ctx, &watch, &beyond, mn_v3(0, 0, 0), &books), MN_ERROR_DIVERGED,
                "has grown");
    mn_context_free(ctx);
}

static void what_falls_or_is_driven_is_left_alone(void **state)
{
    (void)state;
    told t = {0};
    const mn_hooks hooks = {.user = &t, .log = note};
    mn_context *ctx = mn_context_create(&hooks);
    mn_energy_watch watch = {0};
    const double g = 10;
    // Free fall over a metre, and back up after an elastic bounce.
    for (int way = 0; way < 20; way++) {
        const double height = way < 10 ? 1 - 0.1 * way : 0.1 * (way - 9);
        check_ok(ctx, look(ctx, &watch, report_of(2, 2 * g * (1 - height), 0.1, height), g, false));
    }
    // Poured into: the mass is another each time.
    for (int i = 1; i < 10; i++) check_ok(ctx, look(ctx, &watch, report_of(2 + i, 100 * i, 1, 0), g, false));
    // Stirred.
    for (int i = 1; i < 10; i++) check_ok(ctx, look(ctx, &watch, report_of(11, 1000 * i, 1, 0), g, true));
    assert_int_equal(t.warnings, 0);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_is_warned_about_and_refused),
        cmocka_unit_test(a_surface_that_cannot_be_measured_counts_at_first_only),
        cmocka_unit_test(what_falls_or_is_driven_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
