// SPDX-License-Identifier: Apache-2.0
//
// Handles: moving, turning, scaling and renaming make new ones and leave the old as they were.
#include "base/random.h"
#include "plugin/vdb/vdb.h"
#include "support/check.h"
#include "support/shapes.h"

static mn_context *ctx;
static mn_volume sphere; ///< level set, radius 1 about (0.5, 0, 0), voxels of 0.1, band 3
static const mn_vec3 center = {0.5, 0, 0};

static int setup(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    mn_geo *mesh = sphere_mesh(ctx, center, 1, 48);
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, 3, "surface", &sphere));
    mn_geo_free(mesh);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    mn_volume_release(&sphere);
    mn_context_free(ctx);
    return 0;
}

static mn_volume transformed(mn_volume volume, mn_mat4 transform)
{
    mn_volume result = {volume.ops, NULL};
    check_ok(ctx, volume.ops->transform(ctx, volume.handle, transform, &result.handle));
    return result;
}

static void rigid_motion_keeps_distances(void **state)
{
    (void)state;
    const mn_mat4 motion = mn_m4_affine(mn_m3_rotation(mn_v3(30, 40, 50)), mn_v3(1, 2, 3));
    mn_volume moved = transformed(sphere, motion);
    const mn_volume_info before = mn_volume_get_info(sphere), after = mn_volume_get_info(moved);
    assert_int_equal(after.active_voxels, before.active_voxels);
    assert_int_equal(after.kind, MN_VOLUME_LEVEL_SET);
    check_close(after.background, before.background, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        const mn_vec3 x = mn_axpy(center, 0.75 + 0.5 * mn_random_unit(1, i, 3), mn_random_direction(1, i, 0));
        // The same eight numbers; only the weights see rounding, and the field changes by a metre per metre.
        check_close(mn_volume_sample(moved, mn_m4_apply_point(motion, x)), mn_volume_sample(sphere, x),
                    1e-12);
    }
    mn_volume_release(&moved);
}

static void uniform_scale_scales_distances(void **state)
{
    (void)state;
    const double scale = 2.5;
    const mn_mat4 grow = mn_m4_affine(mn_m3_diagonal(scale, scale, scale), mn_v3(0, -1, 0));
    mn_volume grown = transformed(sphere, grow);
    const mn_volume_info before = mn_volume_get_info(sphere), after = mn_volume_get_info(grown);
    check_close(after.voxel_size, scale * before.voxel_size, 1e-12);
    check_close(after.background, scale * before.background, 1e-6); // single precision
    assert_int_equal(after.active_voxels, before.active_voxels);
    for (uint64_t i = 0; i < 1000; i++) {
        const mn_vec3 x = mn_axpy(center, 2 * mn_random_unit(1, i, 3), mn_random_direction(1, i, 0));
        // Each stored number is rounded once more.
        check_close(mn_volume_sample(grown, mn_m4_apply_point(grow, x)), scale * mn_volume_sample(sphere, x),
                    1e-6);
    }
    mn_volume_release(&grown);
    // The one it came from is as it was.
    check_close(mn_volume_get_info(sphere).background, before.background, 0);
    check_close(mn_volume_sample(sphere, center), -before.background, 0);
}

static void a_mirror_keeps_distances(void **state)
{
    (void)state;
    const mn_mat4 mirror = mn_m4_affine(mn_m3_diagonal(-1, 1, 1), mn_v3(0, 0, 0));
    mn_volume mirrored = transformed(sphere, mirror);
    const mn_vec3 x = mn_v3(1.4, 0.2, 0.1);
    check_close(mn_volume_sample(mirrored, mn_v3(-x.x, x.y, x.z)), mn_volume_sample(sphere, x), 1e-12);
    mn_volume_release(&mirrored);
}

static void other_transforms_of_level_sets_are_refused(void **state)
{
    (void)state;
    void *result;
    const mn_mat4 stretch = mn_m4_affine(mn_m3_diagonal(1, 2, 1), mn_v3(0, 0, 0));
    const mn_mat4 flat = mn_m4_affine(mn_m3_diagonal(1, 0, 1), mn_v3(0, 0, 0));
    mn_mat4 shear = mn_m4_identity(), broken = mn_m4_identity(), perspective = mn_m4_identity();
    shear.m[0][1] = 0.1, broken.m[0][3] = INFINITY, perspective.m[3][2] = 0.1;
    check_fails(ctx, sphere.ops->transform(ctx, sphere.handle, stretch, &result), MN_ERROR_ARGUMENT,
                "evenly");
    check_fails(ctx, sphere.ops->transform(ctx, sphere.handle, shear, &result), MN_ERROR_ARGUMENT, "evenly");
    check_fails(ctx, sphere.ops->transform(ctx, sphere.handle, flat, &result), MN_ERROR_ARGUMENT, "flattens");
    check_fails(ctx, sphere.ops->transform(ctx, sphere.handle, broken, &result), MN_ERROR_ARGUMENT, "finite");
    check_fails(ctx, sphere.ops->transform(ctx, sphere.handle, perspective, &result), MN_ERROR_ARGUMENT,
                "affine");
    assert_null(result);
}

static void velocities_turn_with_the_space(void **state)
{
    (void)state;
    const int32_t voxel[1][3] = {{1, 2, 3}};
    const double value[3] = {1, 0, 0};
    mn_volume vel;
    check_ok(ctx, mn_vdb_from_voxels(ctx, "vel", MN_VOLUME_FOG, 0.5, 0, 3, 1, voxel, value, &vel));
    // A quarter turn about z and twice as large; moved too, which a velocity does not see.
    const mn_mat4 turn = mn_m4_affine(mn_m3_scale(2, mn_m3_rotation(mn_v3(0, 0, 90))), mn_v3(5, 6, 7));
    mn_volume turned = transformed(vel, turn);
    const mn_vec3 v = mn_volume_sample_vec3(turned, mn_m4_apply_point(turn, mn_v3(0.75, 1.25, 1.75)));
    check_close(v.x, 0, 1e-6);
    check_close(v.y, 2, 1e-6);
    check_close(v.z, 0, 1e-6);
    mn_volume_release(&turned);
    mn_volume_release(&vel);
}

static void a_name_belongs_to_its_handle(void **state)
{
    (void)state;
    mn_volume other = {sphere.ops, NULL};
    check_ok(ctx, sphere.ops->rename(ctx, sphere.handle, "collider", &other.handle));
    assert_string_equal(mn_volume_get_info(other).name, "collider");
    assert_string_equal(mn_volume_get_info(sphere).name, "surface");
    check_close(mn_volume_sample(other, mn_v3(1.4, 0, 0)), mn_volume_sample(sphere, mn_v3(1.4, 0, 0)), 0);
    mn_volume_release(&other);
}

static void geometry_carries_volumes_along(void **state)
{
    (void)state;
    mn_geo *geo, *copy;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_volume(geo, sphere, -1, NULL));
    check_ok(ctx, mn_geo_copy(geo, &copy));
    check_ok(ctx, mn_geo_transform(copy, mn_m4_affine(mn_m3_identity(), mn_v3(0, 10, 0))));
    const mn_volume moved = mn_geo_find_volume(copy, "surface");
    assert_true(mn_vdb_is(moved));
    check_close(mn_volume_sample(moved, mn_v3(1.4, 10, 0)), mn_volume_sample(sphere, mn_v3(1.4, 0, 0)),
                1e-12);
    mn_geo_free(geo);
    mn_geo_free(copy);
    assert_false(mn_vdb_is((mn_volume){0}));
}

static uint64_t hash_of(mn_volume volume)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_volume(geo, volume, -1, NULL));
    const uint64_t hash = mn_geo_hash(geo);
    mn_geo_free(geo);
    return hash;
}

static void every_value_shows_in_the_hash(void **state)
{
    (void)state;
    enum { SIDE = 20 };
    const int32_t size[3] = {SIDE, SIDE, SIDE};
    static float values[SIDE * SIDE * SIDE * 3];
    const mn_mat4 placed = mn_m4_affine(mn_m3_diagonal(0.1, 0.1, 0.1), mn_v3(0, 0, 0));
    for (int components = 1; components <= 3; components += 2) {
        uint64_t hashes[4];
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < SIDE * SIDE * SIDE * components; i++) values[i] = 1.0f + (float)i;
            if (k >= 2) values[k == 2 ? 0 : 4567 * components - 1] += 0.25f; // as active as before
            mn_volume volume;
            check_ok(ctx, mn_vdb_from_dense(ctx, "field", MN_VOLUME_FOG, placed, 0, components, size, values,
                                            &volume));
            hashes[k] = hash_of(volume);
            mn_volume_release(&volume);
        }
        assert_true(hashes[0] == hashes[1]);
        assert_true(hashes[0] != hashes[2] && hashes[0] != hashes[3] && hashes[2] != hashes[3]);
    }
    assert_true(hash_of(sphere) == hash_of(sphere));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_shows_in_the_hash),
        cmocka_unit_test(rigid_motion_keeps_distances),
        cmocka_unit_test(uniform_scale_scales_distances),
        cmocka_unit_test(a_mirror_keeps_distances),
        cmocka_unit_test(other_transforms_of_level_sets_are_refused),
        cmocka_unit_test(velocities_turn_with_the_space),
        cmocka_unit_test(a_name_belongs_to_its_handle),
        cmocka_unit_test(geometry_carries_volumes_along),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
