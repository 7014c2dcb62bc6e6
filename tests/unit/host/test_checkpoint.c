// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: going on from a file gives the bits of a run that never stopped, and a file that is not
// exactly right is never loaded.
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/host/network/network.h"
#include "sim_stage.h"
#include "support/failing_allocator.h"

enum { LAST = 20 };

static mn_context *ctx;
static stage on;
static char folder[64], path[128];
static int32_t cancel_after; ///< questions until the context says yes; -1 never

static bool cancelled(void *user)
{
    (void)user;
    if (cancel_after > 0) cancel_after--;
    return cancel_after == 0;
}

static int set_up(void **state)
{
    (void)state;
    cancel_after = -1;
    mn_hooks hooks = {.cancelled = cancelled};
    ctx = mn_context_create(&hooks);
    strcpy(folder, "/tmp/meniscus_checkpoint_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/walk.checkpoint", folder);
    return stage_open(&on, ctx) != MN_OK;
}

static int tear_down(void **state)
{
    (void)state;
    stage_close(&on);
    const bool clean = mn_context_bytes(ctx) == 0;
    mn_context_free(ctx);
    unlink(path);
    char other[128];
    snprintf(other, sizeof other, "%s/second.checkpoint", folder);
    unlink(other);
    return rmdir(folder) != 0 || !clean;
}

static mn_status write_at(int32_t frame)
{
    stage_check(&on, frame);
    const mn_sim_host host = stage_host(&on);
    MN_TRY(mn_sim_stamp_snapshot(on.sim, &host, frame));
    return mn_sim_write_checkpoint(on.sim, on.recipe, frame, path);
}

static mn_status read_here(stage *from, int32_t *frame)
{
    const mn_sim_host host = stage_host(from);
    return mn_sim_read_checkpoint(from->sim, &host, from->recipe, path, frame);
}

static void going_on_gives_the_same_bits(void **state)
{
    (void)state;
    const uint64_t end = stage_check(&on, LAST);
    for (int32_t stop = 1; stop <= LAST; stop++) {
        check_ok(ctx, write_at(stop));
        stage other;
        int32_t frame = 0;
        check_ok(ctx, stage_open(&other, ctx));
        check_ok(ctx, read_here(&other, &frame));
        assert_int_equal(frame, stop);
        assert_true(stage_check(&other, stop) == stage_check(&on, stop));
        assert_true(stage_check(&other, LAST) == end);
        assert_int_equal(mn_sim_step_count(other.sim), LAST - stop);
        // Frames before the checkpoint are simulated again from the start.
        if (stop > 1) assert_true(stage_check(&other, stop - 1) == stage_check(&on, stop - 1));
        stage_close(&other);
    }
}

/// Contents of inputs are hashed for a checkpoint alone, once for each, and not for the frames between.
static void contents_are_looked_at_for_checkpoints_alone(void **state)
{
    (void)state;
    const mn_sim_host host = stage_host(&on);
    stage_check(&on, LAST);
    assert_int_equal(on.stamps, 0);
    check_ok(ctx, write_at(LAST));
    assert_int_equal(on.stamps, 1);
    check_ok(ctx, mn_sim_stamp_snapshot(on.sim, &host, LAST));
    assert_int_equal(on.stamps, 1);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    on.whole = false; // contents are looked at from the start frame on
    check_ok(ctx, write_at(5));
    int32_t frame;
    stage other;
    check_ok(ctx, stage_open(&other, ctx));
    other.recipe = 7;
    check_fails(ctx, read_here(&other, &frame), MN_ERROR_UNSUPPORTED, "other parameters or connections");
    other.recipe = 1;
    other.push[5] = 99;
    check_fails(ctx, read_here(&other, &frame), MN_ERROR_UNSUPPORTED, "other inputs");
    other.push[5] = on.push[5];
    other.push[1] = 99; // at the start frame, when the recipe is not whole
    other.whole = false;
    check_fails(ctx, read_here(&other, &frame), MN_ERROR_UNSUPPORTED, "other inputs");
    other.push[1] = on.push[1];
    check_ok(ctx, read_here(&other, &frame));
    // A change after it is seen as in a run that never stopped.
    other.push[1] = 99;
    stage_check(&other, 6);
    assert_int_equal(mn_sim_step_count(other.sim), 6);
    stage_close(&other);

    mn_node_type renamed = walker_type;
    renamed.name = "runner";
    check_ok(ctx, stage_open(&other, ctx));
    mn_sim_free(other.sim);
    check_ok(ctx, mn_sim_create(ctx, &renamed, &other.sim));
    check_fails(ctx, read_here(&other, &frame), MN_ERROR_UNSUPPORTED, "another type of node");
    stage_close(&other);

    unlink(path);
    check_fails(ctx, read_here(&on, &frame), MN_ERROR_NOT_FOUND, "There is no checkpoint");
    mkdir(path, 0700);
    check_fails(ctx, read_here(&on, &frame), MN_ERROR_IO, "walk.checkpoint");
    rmdir(path);
    check_fails(ctx, mn_sim_write_checkpoint(on.sim, 1, 17, path), MN_ERROR_NOT_FOUND,
                "no state of frame 17");
}

static uint8_t *file_bytes(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void put_file(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// Never loaded, always a sentence, and the driver starts from the beginning as if there were no file.
static void expect_refusal(uint64_t third)
{
    int32_t frame = 1234;
    const mn_status status = read_here(&on, &frame);
    assert_true(status == MN_ERROR_FORMAT || status == MN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(mn_context_message(ctx), "walk.checkpoint"));
    assert_int_equal(frame, 1234);
    const int64_t steps = mn_sim_step_count(on.sim);
    assert_true(stage_check(&on, 3) == third);
    assert_int_equal(mn_sim_step_count(on.sim), steps + 3);
}

static void damage_is_noticed_wherever_it_is(void **state)
{
    (void)state;
    on.ballast = 20;
    check_ok(ctx, write_at(4));
    const uint64_t third = stage_check(&on, 3);
    size_t size;
    uint8_t *bytes = file_bytes(&size);
    assert_true(size > 400 && size < 1000);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (uint8_t)(1u << i % 8);
        put_file(bytes, size);
        expect_refusal(third);
        bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t n = 0; n < size; n++) {
        put_file(bytes, n);
        expect_refusal(third);
    }
    bytes[size] = 0;
    put_file(bytes, size + 1);
    expect_refusal(third);
    put_file(bytes, size);
    int32_t frame;
    check_ok(ctx, read_here(&on, &frame));
    assert_int_equal(frame, 4);
    free(bytes);
}

static void every_shortage_of_memory_is_survived(void **state)
{
    (void)state;
    check_ok(ctx, write_at(5));
    const uint64_t sixth = stage_check(&on, 6);
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *small = mn_context_create(&hooks);
        stage other = {0};
        int32_t frame;
        mn_status status = small ? stage_open(&other, small) : MN_ERROR_MEMORY;
        if (status == MN_OK) status = read_here(&other, &frame);
        if (status == MN_OK) status = mn_sim_write_checkpoint(other.sim, other.recipe, 5, path);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        memory.fail_at = -1;
        if (other.sim) assert_true(stage_check(&other, 6) == sixth);
        stage_close(&other);
        mn_context_free(small);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

// ---- networks ----

// Two simulations, one fed by the other, and points with an animated place: dots -> walk -> join -> second.
static mn_network *make_network(int32_t *last)
{
    static const char scene[] =
        "{\"meniscus\": 1, \"nodes\": ["
        "{\"name\": \"some\", \"type\": \"dots\", \"parms\": {\"center\": {\"keys\": [[1, [0,0,0]], [9, "
        "[5,0,0]]]}}},"
        "{\"name\": \"walk\", \"type\": \"walker\", \"inputs\": [\"some\"], \"parms\": {\"speed\": 3}},"
        "{\"name\": \"both\", \"type\": \"join\", \"inputs\": [\"walk\", \"some\"]},"
        "{\"name\": \"second\", \"type\": \"walker\", \"inputs\": [\"both\"], \"parms\": {\"start_frame\": "
        "3}}]}";
    mn_network *network;
    check_ok(ctx, mn_network_create_with_types(ctx, NULL, host_types, HOST_TYPE_COUNT, &network));
    check_ok(ctx, mn_scene_read_into(network, scene, strlen(scene), "scene"));
    *last = mn_network_find(network, "second");
    return network;
}

static uint64_t hash_at(mn_network *network, int32_t node, double frame)
{
    const mn_geo *geo;
    check_ok(ctx, mn_network_cook(network, node, 0, frame, &geo));
    return mn_geo_hash(geo);
}

static void a_network_goes_on_where_it_was_stopped(void **state)
{
    (void)state;
    int32_t last, frame;
    mn_network *network = make_network(&last);
    const int32_t walk = mn_network_find(network, "walk");
    const uint64_t end = hash_at(network, last, LAST);
    mn_network_free(network);

    network = make_network(&last);
    check_ok(ctx, mn_network_load_checkpoint(network, last, folder, &frame));
    assert_int_equal(frame, INT_MIN);
    mn_network_free(network);

    // Stopped at many moments, with and without room for older snapshots; saved, resumed in another network.
    for (int32_t questions = 10;; questions += 7) {
        network = make_network(&last);
        if (questions % 2) mn_network_set_cache_limit(network, 0);
        const mn_geo *geo;
        cancel_after = questions;
        mn_status status = MN_OK;
        for (int32_t f = 1; f <= LAST && status == MN_OK; f++)
            status = mn_network_cook(network, last, 0, f, &geo);
        const bool stopped = status == MN_ERROR_CANCELLED;
        // Saving must not mind that the answer is still yes.
        check_ok(ctx, mn_network_save_checkpoint(network, last, folder));
        cancel_after = -1;
        mn_network_free(network);

        network = make_network(&last);
        check_ok(ctx, mn_network_load_checkpoint(network, last, folder, &frame));
        for (int32_t f = frame == INT_MIN ? 1 : frame + 1; f <= LAST; f++) hash_at(network, last, f);
        assert_true(hash_at(network, last, LAST) == end);
        if (frame != INT_MIN) {
            assert_int_equal(mn_network_cook_count(network, last), LAST - frame);
            // The first may have been a frame ahead when the second was stopped.
            const int64_t steps = mn_network_cook_count(network, walk);
            assert_true(steps == LAST - frame || steps == LAST - frame - 1);
        }
        mn_network_free(network);
        if (!stopped) break;
    }
}

static void a_network_refuses_what_does_not_fit(void **state)
{
    (void)state;
    int32_t last, frame;
    mn_network *network = make_network(&last);
    hash_at(network, last, 6);
    check_ok(ctx, mn_network_save_checkpoint(network, last, folder));
    check_fails(ctx, mn_network_save_checkpoint(network, last, "/nonexistent/folder"), MN_ERROR_IO,
                "/nonexistent");
    mn_network_free(network);

    network = make_network(&last);
    const int32_t some = mn_network_find(network, "some");
    check_ok(ctx, mn_network_set_number(network, some, "count", 0, 11));
    check_fails(ctx, mn_network_load_checkpoint(network, last, folder, &frame), MN_ERROR_UNSUPPORTED,
                "walk.checkpoint is of other parameters");
    assert_int_equal(frame, INT_MIN);
    check_ok(ctx, mn_network_set_number(network, some, "count", 0, 10));
    check_ok(ctx, mn_network_load_checkpoint(network, last, folder, &frame));
    assert_int_equal(frame, 6);
    // Half of it is nothing.
    unlink(path);
    check_ok(ctx, mn_network_load_checkpoint(network, last, folder, &frame));
    assert_int_equal(frame, INT_MIN);
    const int64_t before = mn_network_cook_count(network, last);
    hash_at(network, last, 7);
    assert_int_equal(mn_network_cook_count(network, last) - before, 5);
    mn_network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(going_on_gives_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contents_are_looked_at_for_checkpoints_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_noticed_wherever_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_shortage_of_memory_is_survived, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_network_goes_on_where_it_was_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_network_refuses_what_does_not_fit, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
