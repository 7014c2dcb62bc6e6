// SPDX-License-Identifier: Apache-2.0
//
// The simulation driver: whatever the order of the questions, the answers are those of a straight run.
#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "meniscus/report.h"
#include "sim_stage.h"
#include "support/failing_allocator.h"

enum { LAST = 40 };

// What the hooks of the context do and see.
typedef struct watch {
    int32_t cancel_after; ///< questions until it says yes; -1 never
    int32_t progress_count;
    double progress;
    bool backwards;
} watch;

static watch seen;
static mn_context *ctx;
static stage on;
static uint64_t straight[LAST + 1]; ///< hashes of a straight run

static bool cancelled(void *user)
{
    watch *self = user;
    if (self->cancel_after > 0) self->cancel_after--;
    return self->cancel_after == 0;
}

static void progress(void *user, double fraction, const char *what)
{
    watch *self = user;
    (void)what;
    if (fraction < self->progress || fraction > 1) self->backwards = true;
    self->progress = fraction;
    self->progress_count++;
}

static int set_up(void **state)
{
    (void)state;
    const watch fresh = {.cancel_after = -1};
    seen = fresh;
    mn_hooks hooks = {.user = &seen, .cancelled = cancelled, .progress = progress};
    ctx = mn_context_create(&hooks);
    stage_open(&on, ctx);
    for (int32_t frame = 1; frame <= LAST; frame++) straight[frame] = stage_check(&on, frame);
    stage_close(&on);
    stage_open(&on, ctx);
    seen = fresh;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stage_close(&on);
    const bool clean = mn_context_bytes(ctx) == 0;
    mn_context_free(ctx);
    return clean ? 0 : 1;
}

static void expect_frame(double frame)
{
    const int32_t whole = (int32_t)floor(frame);
    assert_true(stage_check(&on, frame) == straight[whole < 1 ? 1 : whole]);
}

static void frames_differ(void **state)
{
    (void)state;
    // Otherwise the tests below would see nothing.
    for (int32_t a = 1; a <= LAST; a++)
        for (int32_t b = 1; b < a; b++) assert_true(straight[a] != straight[b]);
}

static void any_order_gives_the_same_bits(void **state)
{
    (void)state;
    static const int64_t limits[] = {0, 20000, 1 << 30};
    for (int32_t k = 0; k < 3; k++) {
        for (int32_t order = 0; order < 3; order++) {
            stage_close(&on);
            stage_open(&on, ctx);
            mn_sim_set_cache_limit(on.sim, limits[k]);
            uint32_t random = 12345;
            for (int32_t i = 1; i <= LAST; i++) {
                random = random * 1664525u + 1013904223u;
                expect_frame(order == 0 ? i : order == 1 ? LAST + 1 - i : 1 + (int32_t)(random >> 16) % LAST);
            }
        }
    }
}

static void a_cached_frame_costs_nothing(void **state)
{
    (void)state;
    expect_frame(20);
    assert_int_equal(mn_sim_step_count(on.sim), 20);
    const int32_t samples = on.samples;
    for (int32_t frame = 20; frame >= 1; frame--) expect_frame(frame);
    assert_int_equal(mn_sim_step_count(on.sim), 20);
    assert_int_equal(on.samples, samples);
    expect_frame(21);
    assert_int_equal(mn_sim_step_count(on.sim), 21);
    assert_true(mn_sim_is_cached(on.sim, 21));
    assert_false(mn_sim_is_cached(on.sim, 22));
}

static void before_the_start_is_the_initial_state(void **state)
{
    (void)state;
    expect_frame(-50);
    expect_frame(0.5);
    expect_frame(1);
    assert_int_equal(mn_sim_step_count(on.sim), 1);
    on.start = 5; // a new start frame is another simulation
    const uint64_t early = stage_check(&on, 2);
    assert_true(early == stage_check(&on, 5));
    assert_true(early != stage_check(&on, 6));
    assert_int_equal(mn_sim_step_count(on.sim), 3);
}

static void between_frames_is_the_frame_before(void **state)
{
    (void)state;
    expect_frame(7.999);
    expect_frame(7);
    assert_int_equal(mn_sim_step_count(on.sim), 7);
    uint64_t hash;
    check_fails(ctx, stage_hash(&on, NAN, &hash), MN_ERROR_ARGUMENT,
                "walker 'walk': frame nan is not between");
    check_fails(ctx, stage_hash(&on, 1e300, &hash), MN_ERROR_ARGUMENT, "is not between");
}

static void the_cache_keeps_its_limit(void **state)
{
    (void)state;
    on.ballast = 2000; // 16 kB of state; points with P and pace make 40 kB of frame
    stage_check(&on, 1);
    const int64_t frame_and_snapshot = mn_sim_cache_bytes(on.sim);
    const int64_t limit = 8 * frame_and_snapshot;
    mn_sim_set_cache_limit(on.sim, limit);
    for (int32_t frame = 2; frame <= LAST; frame++) {
        stage_check(&on, frame);
        assert_true(mn_sim_cache_bytes(on.sim) <= limit);
    }
    // The last frames are there.
    const int64_t steps = mn_sim_step_count(on.sim);
    stage_check(&on, LAST - 2);
    assert_int_equal(mn_sim_step_count(on.sim), steps);
    // Going back does not start from the beginning: snapshots are kept evenly, so that some lie on the way.
    stage_check(&on, 30);
    assert_true(mn_sim_step_count(on.sim) - steps < 20);
    // A smaller limit takes effect at once; the newest snapshot and one frame stay.
    mn_sim_set_cache_limit(on.sim, 0);
    assert_true(mn_sim_cache_bytes(on.sim) <= frame_and_snapshot);
    assert_true(mn_sim_snapshot_frame(on.sim, LAST) == LAST);
}

static void what_was_used_last_stays(void **state)
{
    (void)state;
    on.ballast = 2000;
    stage_check(&on, 1);
    mn_sim_set_cache_limit(on.sim, 6 * mn_sim_cache_bytes(on.sim));
    stage_check(&on, 3);
    for (int32_t frame = 4; frame <= LAST; frame++) {
        stage_check(&on, frame);
        stage_check(&on, 3);
    }
    assert_true(mn_sim_is_cached(on.sim, 3));
    assert_false(mn_sim_is_cached(on.sim, 4));
}

static void cancel_keeps_what_was_made(void **state)
{
    (void)state;
    expect_frame(5);
    const int64_t limits[] = {1 << 30, 0};
    for (int32_t k = 0; k < 2; k++) {
        mn_sim_set_cache_limit(on.sim, limits[k]);
        mn_sim_reset(on.sim);
        // Somewhere in the middle of a frame: the walker asks once a substep, the driver once a frame.
        seen.cancel_after = 5 * 13 + 3;
        uint64_t hash;
        check_fails(ctx, stage_hash(&on, 30, &hash), MN_ERROR_CANCELLED, "Cancelled");
        seen.cancel_after = -1;
        const int64_t steps = mn_sim_step_count(on.sim);
        const int32_t last_good = mn_sim_snapshot_frame(on.sim, LAST);
        assert_true(last_good > 5 && last_good < 30);
        assert_true(mn_sim_is_cached(on.sim, last_good));
        expect_frame(last_good + 1);
        assert_int_equal(mn_sim_step_count(on.sim), steps + 1);
        expect_frame(30);
        assert_int_equal(mn_sim_step_count(on.sim), steps + 30 - last_good);
    }
}

static void a_failure_leaves_the_frames_before_it(void **state)
{
    (void)state;
    on.fail_at = 7;
    uint64_t hash;
    check_fails(ctx, stage_hash(&on, 9, &hash), MN_ERROR_DIVERGED, "walker 'walk': it stumbled at frame 7.");
    const int64_t steps = mn_sim_step_count(on.sim);
    const int32_t samples = on.samples;
    for (int32_t frame = 1; frame < 7; frame++) expect_frame(frame);
    // Asked again it says the same without trying.
    check_fails(ctx, stage_hash(&on, 7, &hash), MN_ERROR_DIVERGED, "walker 'walk': it stumbled at frame 7.");
    assert_int_equal(on.samples, samples);
    assert_int_equal(mn_sim_step_count(on.sim), steps);
    // What changes may help.
    on.fail_at = 0;
    on.recipe++;
    expect_frame(9);
}

static void another_recipe_starts_again(void **state)
{
    (void)state;
    expect_frame(10);
    on.speed[1] = 50; // whole recipes are believed
    expect_frame(10);
    assert_int_equal(mn_sim_step_count(on.sim), 10);
    on.speed[3] = 50;
    on.recipe++;
    assert_true(stage_check(&on, 10) != straight[10]);
    assert_int_equal(mn_sim_step_count(on.sim), 20);
}

static void without_a_whole_recipe_the_driver_looks(void **state)
{
    (void)state;
    on.whole = false;
    for (int32_t frame = 1; frame <= 20; frame++) expect_frame(frame);
    assert_int_equal(mn_sim_step_count(on.sim), 20); // an animated parameter alone is no change
    on.push[1] = 77;                                 // an input at the start frame
    stage_check(&on, 20);
    assert_int_equal(mn_sim_step_count(on.sim), 40);
    on.push[1] = 3 + 1;
    expect_frame(20);
    on.speed[20] = 9; // a parameter at the asked frame
    assert_true(stage_check(&on, 20) != straight[20]);
    on.speed[20] = 1 + 0.1 * 20;
    expect_frame(20);
    // One in between is met in passing and makes what follows new.
    on.push[12] = 500;
    mn_sim_set_cache_limit(on.sim, 0);
    mn_sim_set_cache_limit(on.sim, 1 << 30);
    expect_frame(5);
    expect_frame(11);
    assert_true(stage_check(&on, 12) != straight[12]);
    assert_true(stage_check(&on, 20) != straight[20]);
}

static void time_scale_is_the_clock(void **state)
{
    (void)state;
    on.time_scale[3] = 0.5;
    on.time_scale[4] = 0;
    const mn_sim_host host = stage_host(&on);
    mn_cooked *cooked;
    check_ok(ctx, mn_sim_cook(on.sim, &host, 5, &cooked));
    // Frames 2 and 5 at full speed, 3 at half, 4 stands still; P is single precision.
    check_close(mn_geo_position(cooked->outputs[0], 0).y, 2.5 / 24, 1e-8);
    mn_cooked_release(cooked);
}

static void progress_rises_through_the_frames(void **state)
{
    (void)state;
    expect_frame(10);
    assert_false(seen.backwards);
    check_close(seen.progress, 1, 1e-12);
    assert_true(seen.progress_count >= 10 * 4);
}

static void every_frame_has_its_report(void **state)
{
    (void)state;
    expect_frame(6);
    check_close(mn_sim_report(on.sim)->value[MN_REPORT_substeps][0], 5 * 4, 0);
    expect_frame(3);
    check_close(mn_sim_report(on.sim)->value[MN_REPORT_substeps][0], 2 * 4, 0);
    const mn_timers *seconds = &mn_sim_report(on.sim)->seconds;
    bool total = false;
    for (int32_t i = 0; i < seconds->count; i++)
        total = total || (strcmp(seconds->name[i], "total") == 0 && seconds->seconds[i] > 0);
    assert_true(total);
}

static mn_status wander(stage *self)
{
    static const double frames[] = {3, 6, 2, 7, 1, 5, 8};
    uint64_t hash;
    mn_sim_set_cache_limit(self->sim, 3000);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) MN_TRY(stage_hash(self, frames[i], &hash));
    return hash == straight[8] ? MN_OK : MN_ERROR_DIVERGED;
}

static void every_shortage_of_memory_is_survived(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *small = mn_context_create(&hooks);
        stage other = {0};
        mn_status status = small ? stage_open(&other, small) : MN_ERROR_MEMORY;
        if (status == MN_OK) status = wander(&other);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        // With memory back, it goes on from where it was with the right bits.
        memory.fail_at = -1;
        if (other.sim) assert_int_equal(wander(&other), MN_OK);
        stage_close(&other);
        mn_context_free(small);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_order_gives_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cached_frame_costs_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(before_the_start_is_the_initial_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(between_frames_is_the_frame_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cache_keeps_its_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_used_last_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancel_keeps_what_was_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failure_leaves_the_frames_before_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_recipe_starts_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_whole_recipe_the_driver_looks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_scale_is_the_clock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(progress_rises_through_the_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_frame_has_its_report, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_shortage_of_memory_is_survived, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
