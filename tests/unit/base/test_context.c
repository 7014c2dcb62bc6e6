// SPDX-License-Identifier: Apache-2.0
//
// Status, context, arrays, arenas: memory is counted, failures are sentences, nothing leaks when memory is
// out.
#include "meniscus/report.h"
#include "meniscus/vec.h"
#include "plugin/preview/arena.h"
#include "support/check.h"
#include "support/failing_allocator.h"

static void every_status_has_a_name_and_a_message(void **state)
{
    (void)state;
    for (int i = 0; i < MN_STATUS_COUNT; i++) {
        assert_true(strncmp(mn_status_name((mn_status)i), "MN_", 3) == 0);
        assert_true(strlen(mn_status_message((mn_status)i)) > 0);
    }
    assert_string_equal(mn_status_name(MN_ERROR_IO), "MN_ERROR_IO");
    assert_string_equal(mn_status_name((mn_status)-1), "MN_STATUS_UNKNOWN");
}

static void fail_keeps_the_sentence_even_when_it_quotes_the_last_one(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    assert_int_equal(mn_fail(ctx, MN_ERROR_INPUT, "drop %d", 7), MN_ERROR_INPUT);
    mn_fail(ctx, MN_ERROR_INPUT, "node 'a': %s", mn_context_message(ctx));
    assert_string_equal(mn_context_message(ctx), "node 'a': drop 7");
    mn_context_clear_message(ctx);
    assert_string_equal(mn_context_message(ctx), "");
    mn_context_free(ctx);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void cancel_is_a_status_with_a_sentence(void **state)
{
    (void)state;
    mn_context *calm = mn_context_create(NULL);
    assert_int_equal(mn_check_cancelled(calm), MN_OK);
    mn_context_free(calm);
    const mn_hooks hooks = {.cancelled = always};
    mn_context *ctx = mn_context_create(&hooks);
    check_fails(ctx, mn_check_cancelled(ctx), MN_ERROR_CANCELLED, "Cancelled");
    mn_context_free(ctx);
}

static void note_fraction(void *user, double fraction, const char *what)
{
    (void)what;
    *(double *)user = fraction;
}

static void a_part_of_a_job_reports_its_part(void **state)
{
    (void)state;
    double fraction = -1;
    const mn_hooks hooks = {.user = &fraction, .progress = note_fraction};
    mn_context *ctx = mn_context_create(&hooks);
    const mn_progress_part whole = mn_progress_enter(ctx, 0.5, 1.0);
    mn_progress(ctx, 0, "second half");
    check_close(fraction, 0.5, 0);
    const mn_progress_part half = mn_progress_enter(ctx, 0.25, 0.75);
    mn_progress(ctx, 0.5, "middle of the second half");
    check_close(fraction, 0.75, 0);
    mn_progress(ctx, 7, "too much");
    check_close(fraction, 0.875, 0);
    mn_progress(ctx, NAN, "nothing");
    check_close(fraction, 0.625, 0);
    mn_progress_leave(ctx, half);
    mn_progress_leave(ctx, whole);
    mn_progress(ctx, 0.1, "the whole again");
    check_close(fraction, 0.1, 0);
    mn_context_free(ctx);
}

static void memory_is_aligned_and_counted(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    char *a = mn_allocate(ctx, 100);
    double *b = mn_allocate_zero(ctx, 1000);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal((uintptr_t)b % 64, 0);
    for (int i = 0; i < 125; i++) assert_true(b[i] == 0);
    assert_int_equal(mn_context_bytes(ctx), 1100);
    mn_release(ctx, a, 100);
    assert_int_equal(mn_context_bytes(ctx), 1000);
    assert_int_equal(mn_context_peak_bytes(ctx), 1100);
    assert_int_equal(mn_context_allocation_count(ctx), 2);
    mn_release(ctx, b, 1000);
    assert_null(mn_allocate(ctx, 0));
    assert_null(mn_allocate(ctx, mn_bytes(INT64_MAX, 16)));
    assert_true(strstr(mn_context_message(ctx), "memory") != NULL);
    mn_context_free(ctx);
}

static void arrays_grow_and_keep_what_they_hold(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    MN_ARRAY(int32_t) numbers = {0};
    for (int32_t i = 0; i < 1000; i++) check_ok(ctx, mn_array_push(ctx, &numbers, &i));
    assert_int_equal(numbers.count, 1000);
    for (int32_t i = 0; i < 1000; i++) assert_int_equal(numbers.data[i], i);
    assert_true(mn_context_allocation_count(ctx) < 20);
    check_ok(ctx, mn_array_resize(ctx, &numbers, 10));
    assert_int_equal(numbers.count, 10);
    assert_int_equal(numbers.data[9], 9);
    mn_array_free(ctx, &numbers);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void an_arena_hands_out_aligned_memory_and_takes_it_back(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_arena *arena;
    check_ok(ctx, mn_arena_create(ctx, "sampling", &arena));
    double *values[40];
    for (int i = 1; i < 40; i++) {
        values[i] = mn_arena_array(arena, double, 997 * i);
        assert_int_equal((uintptr_t)values[i] % 64, 0);
        for (int k = 0; k < 997 * i; k++) values[i][k] = i; // the sanitizer sees an overrun
    }
    for (int i = 1; i < 40; i++)
        for (int k = 0; k < 997 * i; k++) assert_true(values[i][k] == i); // nothing overlaps
    assert_true(mn_context_allocation_count(ctx) < 12);
    assert_null(mn_arena_allocate(arena, SIZE_MAX));
    mn_arena_free(arena);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static mn_status use_everything(mn_context *ctx)
{
    mn_arena *arena = NULL;
    MN_ARRAY(double) values = {0};
    mn_status status = mn_arena_create(ctx, "test", &arena);
    for (int i = 0; i < 50 && status == MN_OK; i++) {
        const double value = i;
        status = mn_array_push(ctx, &values, &value);
        if (status == MN_OK && !mn_arena_allocate(arena, 10000)) status = MN_ERROR_MEMORY;
    }
    mn_array_free(ctx, &values);
    mn_arena_free(arena);
    return status;
}

static void running_out_of_memory_anywhere_leaks_nothing(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        mn_status status = MN_ERROR_MEMORY;
        if (ctx) status = use_everything(ctx);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) {
            assert_int_equal(status, MN_OK);
            assert_true(n > 5);
            break;
        }
    }
}

static void timers_add_up_by_name(void **state)
{
    (void)state;
    mn_timers timers = {0};
    for (int i = 0; i < 3; i++) {
        mn_timer_begin(&timers, "sort");
        mn_timer_end(&timers, "sort");
        mn_timer_begin(&timers, "solve");
        mn_timer_end(&timers, "solve");
    }
    assert_int_equal(timers.count, 2);
    assert_string_equal(timers.name[1], "solve");
    assert_true(timers.seconds[0] >= 0 && timers.seconds[0] < 10);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                        "j", "k", "l", "m", "n", "o", "p", "q"};
    for (int i = 0; i < 17; i++) mn_timer_begin(&timers, names[i]); // more than fit: no overrun
    assert_int_equal(timers.count, MN_PHASE_MAX);
    mn_timers_reset(&timers);
    assert_int_equal(timers.count, 0);
}

static void the_report_knows_its_keys(void **state)
{
    (void)state;
    mn_report report = {0};
    mn_report_set(&report, MN_REPORT_mass, 2.5);
    mn_report_set3(&report, MN_REPORT_momentum, mn_v3(1, 2, 3));
    assert_true(report.set[MN_REPORT_mass] && !report.set[MN_REPORT_area]);
    assert_string_equal(mn_report_key_name(MN_REPORT_angular_momentum), "angular_momentum");
    assert_int_equal(mn_report_key_components(MN_REPORT_momentum), 3);
    assert_int_equal(mn_report_key_components(MN_REPORT_mass), 1);
    check_close(report.value[MN_REPORT_momentum][2], 3, 0);
}

static void a_def_of_another_size_is_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    mn_spray *spray = NULL;
    def.struct_size -= 8; // as a program compiled against older headers would have it
    check_fails(ctx, mn_spray_create(ctx, &def, &spray), MN_ERROR_ARGUMENT, "headers of this version");
    assert_null(spray);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_message),
        cmocka_unit_test(fail_keeps_the_sentence_even_when_it_quotes_the_last_one),
        cmocka_unit_test(cancel_is_a_status_with_a_sentence),
        cmocka_unit_test(a_part_of_a_job_reports_its_part),
        cmocka_unit_test(memory_is_aligned_and_counted),
        cmocka_unit_test(arrays_grow_and_keep_what_they_hold),
        cmocka_unit_test(an_arena_hands_out_aligned_memory_and_takes_it_back),
        cmocka_unit_test(running_out_of_memory_anywhere_leaks_nothing),
        cmocka_unit_test(timers_add_up_by_name),
        cmocka_unit_test(the_report_knows_its_keys),
        cmocka_unit_test(a_def_of_another_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
