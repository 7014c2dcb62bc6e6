// SPDX-License-Identifier: Apache-2.0
//
// Every scene in examples/ is valid, and those of this list cook: their first frames give geometry that
// moves.
#include "plugin/host/network/network.h"
#include "support/check.h"

#include <dirent.h>

static mn_network *read_scene(mn_context *ctx, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/%s/scene.json", MN_SOURCE_DIR, name);
    mn_network *network = NULL;
    check_ok(ctx, mn_scene_read(ctx, NULL, path, &network));
    return network;
}

static void every_scene_is_valid(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/examples", MN_SOURCE_DIR);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char scene[1400];
        snprintf(scene, sizeof scene, "%s/%s/scene.json", path, entry->d_name);
        FILE *file = fopen(scene, "rb");
        if (!file) continue;
        fclose(file);
        mn_context *ctx = mn_context_create(NULL);
        mn_network *network = read_scene(ctx, entry->d_name);
        assert_true(mn_network_output(network) >= 0);
        assert_true(mn_network_title(network)[0] != '\0');
        mn_network_free(network);
        mn_context_free(ctx);
        count++;
    }
    closedir(folder);
    assert_true(count > 0);
}

static void scenes_of_these_nodes_cook(void **state)
{
    (void)state;
    const char *const names[] = {"fountain", "rain_on_torus", "splash_ring", "two_shapes"};
    for (int i = 0; i < 4; i++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_network *network = read_scene(ctx, names[i]);
        const mn_geo *geo = NULL;
        int32_t first, last;
        mn_network_range(network, &first, &last);
        const int32_t frame = first + 3 < last ? first + 3 : last;
        check_ok(ctx, mn_network_cook(network, mn_network_output(network), 0, frame, &geo));
        assert_true(mn_geo_kind_count(geo, MN_POLYGON) > 1000);
        assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 0);
        const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
        assert_non_null(v);
        double fastest = 0;
        for (int64_t p = 0; p < mn_geo_point_count(geo); p++) {
            mn_vec3 velocity;
            mn_attribute_get(v, p, 1, &velocity.x);
            fastest = fmax(fastest, mn_norm(velocity));
        }
        // The two shapes hang still.
        assert_true(strcmp(names[i], "two_shapes") == 0 ? fastest == 0 : fastest > 0.5 && fastest < 20);
        mn_network_free(network);
        mn_context_free(ctx);
    }
}

// The first step of each scene of the liquid solver: a surface, and nothing that has run away.
static void scenes_of_liquids_begin(void **state)
{
    (void)state;
    const char *const names[] = {"bouncing_drop",     "colliding_at_three_tensions",
                                 "contact_angles",    "cube_to_sphere",
                                 "dam_break",         "dripping_tap",
                                 "drop_impact",       "droplet_into_pool",
                                 "drops_colliding",   "drops_on_a_ramp",
                                 "mercury_splash",    "platforms",
                                 "relaxing_ellipsoid"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_network *network = read_scene(ctx, names[i]);
        const mn_geo *geo = NULL;
        int32_t first, last;
        mn_network_range(network, &first, &last);
        // Frames are cut into 20 to 90 steps: a tenth of one is enough here.
        for (int32_t node = 0; node < mn_network_node_limit(network); node++) {
            mn_parm_value scale;
            if (!mn_network_node_type(network, node) ||
                strcmp(mn_network_node_type(network, node)->name, "mpm_solver") != 0)
                continue;
            check_ok(ctx, mn_network_parm(network, node, "time_scale", first, &scale));
            char text[32];
            snprintf(text, sizeof text, "%.17g", 0.1 * scale.number[0]);
            check_ok(ctx, mn_network_set_text(network, node, "time_scale", text));
        }
        check_ok(ctx, mn_network_cook(network, mn_network_output(network), 0, first + 1, &geo));
        assert_true(mn_geo_kind_count(geo, MN_POLYGON) > 1000);
        for (int64_t p = 0; p < mn_geo_point_count(geo); p++)
            assert_true(mn_norm(mn_geo_position(geo, p)) < 0.1);
        mn_network_free(network);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_is_valid),
        cmocka_unit_test(scenes_of_these_nodes_cook),
        cmocka_unit_test(scenes_of_liquids_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
