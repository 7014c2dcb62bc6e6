// SPDX-License-Identifier: Apache-2.0
//
// Every scene in examples/ is valid, and those of this list cook: their first frames give geometry that
// moves.
#include "plugin/host/network.h"
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
        assert_true(fastest > 0.5 && fastest < 20);
        mn_network_free(network);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_is_valid),
        cmocka_unit_test(scenes_of_these_nodes_cook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
