// SPDX-License-Identifier: Apache-2.0
//
// What nodes get from this build: a box goes to a level set and back, values on blocks become a volume, a
// file that is not there is said to be so.
#include "plugin/host/network/network.h"
#include "support/check.h"

static mn_geo *make_box(mn_context *ctx, float half)
{
    static const int64_t corners[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                        2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    mn_geo *box;
    check_ok(ctx, mn_geo_create(ctx, &box));
    check_ok(ctx, mn_geo_add_points(box, 8, NULL));
    float *at = mn_geo_write_positions(box);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) at[3 * i + k] = (i >> k & 1) ? half : -half;
    check_ok(ctx, mn_geo_add_primitives(box, MN_POLYGON, 6, NULL, 4, corners, NULL));
    return box;
}

static void a_box_becomes_a_level_set_and_a_mesh(void **state)
{
    (void)state;
    enum { HALF = 1 };
    const double voxel = 0.1;
    mn_context *ctx = mn_context_create(NULL);
    const mn_services *services = mn_host_services();
    mn_geo *box = make_box(ctx, HALF), *mesh;
    mn_volume volume = {0};
    check_ok(ctx, services->mesh_to_level_set(services->user, ctx, box, voxel, 3, "surface", &volume));
    assert_string_equal(mn_volume_get_info(volume).name, "surface");
    // Exact distances to a flat face, up to single precision.
    check_close(mn_volume_sample(volume, mn_v3(0.9, 0, 0)), -0.1, 1e-5);
    check_close(mn_volume_sample(volume, mn_v3(0, 1.2, 0)), 0.2, 1e-5);
    check_ok(ctx, services->level_set_to_mesh(services->user, ctx, volume, 0, 0, &mesh));
    const mn_box bounds = mn_geo_bounds(mesh);
    check_close(bounds.max.x, HALF, voxel / 2);
    check_close(bounds.min.z, -HALF, voxel / 2);
    assert_true(mn_geo_kind_count(mesh, MN_POLYGON) > 100);
    mn_volume_release(&volume);
    mn_geo_free(mesh);
    mn_geo_free(box);
    mn_context_free(ctx);
}

static void blocks_become_a_volume(void **state)
{
    (void)state;
    enum { SIZE = 4 };
    mn_context *ctx = mn_context_create(NULL);
    const mn_services *services = mn_host_services();
    const int32_t origins[1][3] = {{0, 0, 0}};
    double values[SIZE * SIZE * SIZE];
    for (int i = 0; i < SIZE * SIZE * SIZE; i++) values[i] = i % SIZE + 1; // x + 1, x fastest
    mn_volume volume = {0};
    check_ok(ctx, services->volume_from_blocks(services->user, ctx, "density", MN_VOLUME_FOG, 0.5, 0, 1, SIZE,
                                               1, origins, values, &volume));
    // Voxel (2, 1, 1) is centred at (2.5, 1.5, 1.5) voxels.
    check_close(mn_volume_sample(volume, mn_v3(1.25, 0.75, 0.75)), 3, 1e-6);
    assert_int_equal(mn_volume_get_info(volume).active_voxels, SIZE * SIZE * SIZE);
    mn_volume_release(&volume);
    mn_context_free(ctx);
}

static void a_missing_file_is_said_to_be_missing(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_services *services = mn_host_services();
    mn_geo *geo = NULL;
    check_fails(ctx, services->read_geometry(services->user, ctx, "/nonexistent/a.geo", &geo),
                MN_ERROR_NOT_FOUND, "/nonexistent/a.geo");
    assert_null(geo);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_becomes_a_level_set_and_a_mesh),
        cmocka_unit_test(blocks_become_a_volume),
        cmocka_unit_test(a_missing_file_is_said_to_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
