// SPDX-License-Identifier: Apache-2.0
//
// What .usda and .glb writers do when memory is out at any call, where frames and names come from, and
// normals that keep creases. What the files mean is read by others (tests/hosts/test_usd.py, test_gltf.py).
#include "plugin/io/corner_normals.h"
#include "plugin/io/formats.h"
#include "plugin/io/usd.h"
#include "plugin/io/usd_stage.h"

#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <unistd.h>

/// A cube of six quads, a tetrahedron, a polyline and a free point, with attributes and groups of all kinds.
static mn_status make_sample(mn_context *ctx, mn_geo **geo)
{
    static const int64_t faces[] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
    static const int64_t tet[] = {0, 4, 2, 1}, line[] = {8, 7, 6};
    mn_attribute *name, *turn;
    mn_group *wet;
    *geo = NULL;
    MN_TRY(mn_geo_create(ctx, geo));
    MN_TRY(mn_geo_add_points(*geo, 10, NULL));
    float *x = mn_geo_write_positions(*geo);
    if (!x) return MN_ERROR_MEMORY;
    for (int i = 0; i < 10; i++) // z slowest
        x[3 * i] = (float)(i & 1), x[3 * i + 1] = (float)(i >> 1 & 1), x[3 * i + 2] = (float)(i >> 2);
    MN_TRY(mn_geo_add_primitives(*geo, MN_POLYGON, 6, NULL, 4, faces, NULL));
    MN_TRY(mn_geo_add_primitives(*geo, MN_TETRAHEDRON, 1, NULL, 4, tet, NULL));
    MN_TRY(mn_geo_add_primitives(*geo, MN_POLYLINE, 1, NULL, 3, line, NULL));
    MN_TRY(mn_geo_add_attribute(*geo, MN_PRIMITIVE, "name", MN_STRING, 1, MN_HINT_NONE, &name));
    MN_TRY(mn_attribute_set_string(*geo, name, 0, 0, "a \"face\""));
    MN_TRY(mn_geo_add_attribute(*geo, MN_POINT, "orient", MN_F32, 4, MN_HINT_QUATERNION, &turn));
    return mn_geo_add_group(*geo, MN_POINT, "wet", &wet);
}

static void running_out_of_memory_leaves_no_file_and_nothing_behind(void **state)
{
    (void)state;
    static const char *const endings[] = {"usda", "glb"};
    char folder[] = "/tmp/meniscus-test-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    for (int e = 0; e < 2; e++) {
        snprintf(path, sizeof path, "%s/a.0001.%s", folder, endings[e]);
        for (int64_t n = 1;; n++) {
            failing_allocator memory = {.fail_at = n};
            const mn_hooks hooks = failing_hooks(&memory);
            mn_context *ctx = mn_context_create(&hooks);
            mn_geo *geo;
            mn_status status = make_sample(ctx, &geo);
            if (status == MN_OK) status = mn_io_write(ctx, path, geo);
            assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
            assert_int_equal(access(path, F_OK), memory.failed ? -1 : 0);
            mn_geo_free(geo);
            mn_context_free(ctx);
            assert_int_equal(memory.held, 0);
            if (!memory.failed) break;
        }
        if (e == 0) { // and the topology of that layer
            const int32_t frame = 1;
            for (int64_t n = 1;; n++) {
                failing_allocator memory = {.fail_at = n};
                const mn_hooks hooks = failing_hooks(&memory);
                mn_context *ctx = mn_context_create(&hooks);
                const mn_status status = mn_usd_topology_write(ctx, folder, "a", &frame, 1);
                assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
                mn_context_free(ctx);
                assert_int_equal(memory.held, 0);
                if (!memory.failed) break;
            }
        }
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/a.topology.usda", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void names_and_frames_come_from_the_path(void **state)
{
    (void)state;
    static const struct {
        const char *path, *root;
        double frame;
    } cases[] = {{"out/skin.0012.usda", "skin", 12},   {"skin.-003.usda", "skin", -3}, {"a b.usda", "a_b", 0},
                 {"/x.y/9lives.1.usda", "_9lives", 1}, {"drop.v2.usda", "drop_v2", 0}, {".usda", "_", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char root[MN_USD_NAME];
        double frame;
        mn_usd_split_name(cases[i].path, root, &frame);
        assert_string_equal(root, cases[i].root);
        assert_true(frame == cases[i].frame);
    }
}

static void normals_keep_the_edges_of_what_stands_still(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, make_sample(ctx, &geo));
    for (int creases = 0; creases < 2; creases++) {
        mn_corner_normals normals;
        check_ok(ctx, mn_corner_normals_make(ctx, geo, creases == 1, &normals));
        for (int v = 0; v < 24; v++) {
            const float *n = normals.normal[v];
            const float largest = fmaxf(fabsf(n[0]), fmaxf(fabsf(n[1]), fabsf(n[2])));
            // Along an axis with creases, along a diagonal without.
            check_close((double)largest, creases ? 1 : 1 / sqrt(3), 1e-6);
        }
        for (int v = 24; v < 31; v++) assert_true(normals.normal[v][0] == 0 && normals.normal[v][1] == 0);
        mn_corner_normals_free(ctx, &normals);
    }
    assert_true(mn_has_creases(geo));
    mn_geo_free(geo);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_out_of_memory_leaves_no_file_and_nothing_behind),
        cmocka_unit_test(names_and_frames_come_from_the_path),
        cmocka_unit_test(normals_keep_the_edges_of_what_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
