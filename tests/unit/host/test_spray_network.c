// SPDX-License-Identifier: Apache-2.0
//
// A real solver in a network: the spray solver with a moving source gives the same bits whatever the order of
// frames, the size of the cache, and however often it is stopped and resumed.
#include <limits.h>
#include <unistd.h>

#include "plugin/host/network/network.h"
#include "support/check.h"

enum { LAST = 12 };

static const char SCENE[] =
    "{\"meniscus\": 1, \"nodes\": ["
    "{\"name\": \"nozzle\", \"type\": \"shape\", \"parms\": {\"center\": {\"keys\": [[1, [0, 0, 0]], [12, "
    "[1, 2, 0]]]}}},"
    "{\"name\": \"spray\", \"type\": \"spray_solver\", \"inputs\": [\"nozzle\"], \"parms\": {\"rate\": 2000, "
    "\"start_frame\": 2}},"
    "{\"name\": \"all\", \"type\": \"merge\", \"inputs\": [\"spray\", \"nozzle\"]}], \"output\": \"all\"}";

static mn_context *ctx;
static uint64_t straight[LAST + 1];

static mn_network *open_scene(void)
{
    mn_network *network;
    check_ok(ctx, mn_scene_read_memory(ctx, NULL, SCENE, strlen(SCENE), "scene", &network));
    return network;
}

static uint64_t hash_at(mn_network *network, int32_t frame)
{
    const mn_geo *geo;
    check_ok(ctx, mn_network_cook(network, mn_network_output(network), 0, frame, &geo));
    return mn_geo_hash(geo);
}

static int set_up(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    mn_network *network = open_scene();
    for (int32_t frame = 1; frame <= LAST; frame++) straight[frame] = hash_at(network, frame);
    const mn_geo *geo;
    check_ok(ctx, mn_network_cook(network, mn_network_find(network, "spray"), 0, LAST, &geo));
    assert_true(mn_geo_point_count(geo) > 100);
    mn_network_free(network);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mn_context_free(ctx);
    return 0;
}

static void any_order_gives_the_same_bits(void **state)
{
    (void)state;
    for (int32_t limit = 0; limit < 2; limit++) {
        mn_network *network = open_scene();
        if (limit) mn_network_set_cache_limit(network, 0);
        static const int32_t frames[] = {12, 3, 4, 11, 1, 2, 10, 5, 9, 6, 7, 8, 12};
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
            assert_true(hash_at(network, frames[i]) == straight[frames[i]]);
        mn_network_free(network);
    }
}

static void stopping_after_every_frame_changes_nothing(void **state)
{
    (void)state;
    char folder[] = "/tmp/meniscus_spray_XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    for (int32_t frame = 1; frame <= LAST; frame++) {
        mn_network *network = open_scene();
        int32_t loaded;
        check_ok(ctx, mn_network_load_checkpoint(network, mn_network_output(network), folder, &loaded));
        assert_int_equal(loaded, frame == 1 ? INT_MIN : frame <= 3 ? 2 : frame - 1);
        assert_true(hash_at(network, frame) == straight[frame]);
        check_ok(ctx, mn_network_save_checkpoint(network, mn_network_output(network), folder));
        mn_network_free(network);
    }
    snprintf(path, sizeof path, "%s/spray.checkpoint", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_order_gives_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopping_after_every_frame_changes_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
