// SPDX-License-Identifier: Apache-2.0
//
// Grids from voxels, blocks and dense boxes hold what was given, where it was given, and give it back.
#include "plugin/vdb/vdb.h"
#include "support/one_context.h"

static void voxels_come_back(void **state)
{
    (void)state;
    const int32_t voxels[5][3] = {{0, 0, 0}, {-1, 7, 8}, {1000000, -5, 3}, {-70000, 70000, 9}, {2, 2, 2}};
    const double values[5] = {1, -2.5, 0, 4, 5}; // a zero that was given is active too
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_voxels(ctx, "density", MN_VOLUME_FOG, 0.1, 0, 1, 5, voxels, values, &volume));
    const mn_volume_info info = mn_volume_get_info(volume);
    assert_string_equal(info.name, "density");
    assert_int_equal(info.kind, MN_VOLUME_FOG);
    assert_int_equal(info.components, 1);
    assert_int_equal(info.active_voxels, 5);
    check_close(info.voxel_size, 0.1, 1e-15);
    int32_t back[8][3];
    double back_values[8];
    int64_t count, seen = 0;
    check_ok(ctx, mn_vdb_voxels(ctx, volume, 0, 8, back, back_values, &count));
    assert_int_equal(count, 5);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < 5; j++)
            if (memcmp(back[i], voxels[j], sizeof back[i]) == 0) {
                check_close(back_values[i], values[j], 0);
                seen++;
            }
    assert_int_equal(seen, 5);
    // In pieces of two, the same list.
    for (int64_t skip = 0; skip < 6; skip += 2) {
        int32_t piece[2][3];
        double piece_values[2];
        check_ok(ctx, mn_vdb_voxels(ctx, volume, skip, 2, piece, piece_values, &count));
        assert_int_equal(count, skip < 4 ? 2 : 1);
        assert_memory_equal(piece, back + skip, sizeof piece[0] * (size_t)count);
        assert_memory_equal(piece_values, back_values + skip, sizeof piece_values[0] * (size_t)count);
    }
    mn_volume_release(&volume);
}

static void voxel_centres_lie_half_a_voxel_in(void **state)
{
    (void)state;
    const int32_t voxel[1][3] = {{3, -2, 5}};
    const double value[3] = {1, 2, 3};
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_voxels(ctx, "vel", MN_VOLUME_FOG, 0.25, 0, 3, 1, voxel, value, &volume));
    const mn_vec3 v = mn_volume_sample_vec3(volume, mn_v3(3.5 * 0.25, -1.5 * 0.25, 5.5 * 0.25));
    check_close(v.x, 1, 1e-15);
    check_close(v.y, 2, 1e-15);
    check_close(v.z, 3, 1e-15);
    const mn_box box = mn_volume_get_info(volume).bounds; // the voxel's cube
    check_close(box.min.x, 0.75, 1e-12);
    check_close(box.max.x, 1.0, 1e-12);
    check_close(box.min.y, -0.5, 1e-12);
    check_close(box.max.z, 1.5, 1e-12);
    mn_volume_release(&volume);
}

/// phi of a sphere of radius 10 about (0.3, 0.2, 0.1), in voxels of size 1.
static double sphere_at(int32_t i, int32_t j, int32_t k)
{
    return mn_distance(mn_v3(i + 0.5, j + 0.5, k + 0.5), mn_v3(0.3, 0.2, 0.1)) - 10;
}

/// The blocks of one size that the band |phi| < 3 touches, with their values; deep ones are left out.
static int64_t sphere_blocks(int32_t side, int32_t (*origins)[3], double *values)
{
    int64_t count = 0;
    for (int32_t z = -16; z < 16; z += side)
        for (int32_t y = -16; y < 16; y += side)
            for (int32_t x = -16; x < 16; x += side) {
                bool touched = false;
                double *block = values + count * side * side * side;
                for (int32_t c = 0; c < side; c++)
                    for (int32_t b = 0; b < side; b++)
                        for (int32_t a = 0; a < side; a++) {
                            const double phi = sphere_at(x + a, y + b, z + c);
                            block[a + side * (b + side * c)] = phi;
                            touched = touched || fabs(phi) < 3;
                        }
                if (!touched) continue;
                origins[count][0] = x, origins[count][1] = y, origins[count][2] = z;
                count++;
            }
    return count;
}

static void level_set_from_blocks_is_signed_everywhere(void **state)
{
    (void)state;
    static int32_t origins[4096][3];
    static double values[4096 * 64];
    for (int32_t side = 2; side <= 16; side *= 2) {
        const int64_t count = sphere_blocks(side, origins, values);
        mn_volume volume;
        check_ok(ctx, mn_vdb_from_blocks(ctx, "surface", MN_VOLUME_LEVEL_SET, 1, 3, 1, side, count, origins,
                                         values, &volume));
        const mn_volume_info info = mn_volume_get_info(volume);
        assert_int_equal(info.kind, MN_VOLUME_LEVEL_SET);
        check_close(info.background, 3, 0);
        int64_t inside_band = 0;
        for (int32_t k = -20; k < 20; k++)
            for (int32_t j = -20; j < 20; j++)
                for (int32_t i = -20; i < 20; i++) {
                    const double phi = fmin(3, fmax(-3, sphere_at(i, j, k)));
                    const double value = mn_volume_sample(volume, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                    check_close(value, phi, 1e-6); // stored in single precision
                    inside_band += fabs((double)(float)phi) < 3;
                }
        assert_int_equal(info.active_voxels, inside_band);
        mn_volume_release(&volume);
    }
}

static void dense_box_stands_where_its_matrix_says(void **state)
{
    (void)state;
    enum { NX = 9, NY = 17, NZ = 3 };
    static float values[NX * NY * NZ];
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) values[x + NX * (y + NY * z)] = (float)(1 + x + 10 * y + 1000 * z);
    const mn_mat3 linear = mn_m3_mul(mn_m3_rotation(mn_v3(20, 30, 40)), mn_m3_diagonal(0.5, 0.25, 2));
    const mn_mat4 placed = mn_m4_affine(linear, mn_v3(7, -8, 9));
    const int32_t size[3] = {NX, NY, NZ};
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_dense(ctx, "density", MN_VOLUME_FOG, placed, 0, 1, size, values, &volume));
    const mn_volume_info info = mn_volume_get_info(volume);
    assert_int_equal(info.active_voxels, NX * NY * NZ);
    check_close(info.voxel_size, (0.5 + 0.25 + 2) / 3, 1e-12);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) check_close(info.index_to_world.m[i][j], placed.m[i][j], 1e-12);
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                // Off the voxel's centre by rounding at most, over which neighbours of at most 2000 are
                // blended.
                check_close(mn_volume_sample(volume, mn_m4_apply_point(placed, mn_v3(x, y, z))),
                            (double)values[x + NX * (y + NY * z)], 1e-9);
    mn_volume_release(&volume);
}

static void empty_grids_are_fine(void **state)
{
    (void)state;
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_voxels(ctx, "", MN_VOLUME_FOG, 1, 0.5, 1, 0, NULL, NULL, &volume));
    const mn_volume_info info = mn_volume_get_info(volume);
    assert_int_equal(info.active_voxels, 0);
    assert_true(mn_box_is_empty(info.bounds));
    check_close(mn_volume_sample(volume, mn_v3(1, 2, 3)), 0.5, 0);
    int64_t count;
    check_ok(ctx, mn_vdb_voxels(ctx, volume, 0, 0, NULL, NULL, &count));
    assert_int_equal(count, 0);
    mn_volume_release(&volume);
    check_ok(ctx,
             mn_vdb_from_blocks(ctx, "surface", MN_VOLUME_LEVEL_SET, 1, 3, 1, 4, 0, NULL, NULL, &volume));
    mn_volume_release(&volume);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    mn_volume volume;
    const int32_t origin[1][3] = {{0, 0, 0}}, far_away[1][3] = {{INT32_MAX, 0, INT32_MIN}};
    const double zeros[64] = {0}, not_a_number[1] = {NAN};
#define FROM(kind, size, background, components, block, origins, values)                                     \
    mn_vdb_from_blocks(ctx, "g", kind, size, background, components, block, 1, origins, values, &volume)
    check_fails(ctx, FROM(MN_VOLUME_FOG, 0, 0, 1, 4, origin, zeros), MN_ERROR_ARGUMENT, "voxel size");
    check_fails(ctx, FROM(MN_VOLUME_FOG, -1, 0, 1, 4, origin, zeros), MN_ERROR_ARGUMENT, "voxel size");
    check_fails(ctx, FROM(MN_VOLUME_FOG, NAN, 0, 1, 4, origin, zeros), MN_ERROR_ARGUMENT, "voxel size");
    check_fails(ctx, FROM(MN_VOLUME_FOG, INFINITY, 0, 1, 4, origin, zeros), MN_ERROR_ARGUMENT, "voxel size");
    check_fails(ctx, FROM(MN_VOLUME_FOG, 1, NAN, 1, 4, origin, zeros), MN_ERROR_ARGUMENT, "background");
    check_fails(ctx, FROM(MN_VOLUME_FOG, 1, 0, 2, 4, origin, zeros), MN_ERROR_ARGUMENT, "1 or 3 components");
    check_fails(ctx, FROM(MN_VOLUME_FOG, 1, 0, 1, 0, origin, zeros), MN_ERROR_ARGUMENT, "block");
    check_fails(ctx, FROM(MN_VOLUME_FOG, 1, 0, 1, 1 << 20, origin, zeros), MN_ERROR_ARGUMENT, "block");
    check_fails(ctx, FROM(MN_VOLUME_LEVEL_SET, 1, 0, 1, 4, origin, zeros), MN_ERROR_ARGUMENT, "band");
    check_fails(ctx, FROM(MN_VOLUME_LEVEL_SET, 1, 3, 3, 2, origin, zeros), MN_ERROR_ARGUMENT,
                "one component");
    check_fails(ctx, FROM(MN_VOLUME_FOG, 1, 0, 1, 4, far_away, zeros), MN_ERROR_ARGUMENT, "too far");
    check_fails(ctx, FROM(MN_VOLUME_FOG, 1, 0, 1, 1, origin, not_a_number), MN_ERROR_INPUT, "not a finite");
#undef FROM
    assert_null(volume.ops);
    const float one[1] = {1};
    const int32_t backward[3] = {-1, 1, 1}, huge[3] = {INT32_MAX, INT32_MAX, INT32_MAX},
                  single[3] = {1, 1, 1};
    const mn_mat4 identity = mn_m4_identity(), flat = mn_m4_affine(mn_m3_diagonal(1, 0, 1), mn_v3(0, 0, 0));
    mn_mat4 broken = identity, perspective = identity;
    broken.m[1][2] = NAN;
    perspective.m[3][0] = 1;
#define DENSE(matrix, size) mn_vdb_from_dense(ctx, "g", MN_VOLUME_FOG, matrix, 0, 1, size, one, &volume)
    check_fails(ctx, DENSE(identity, backward), MN_ERROR_ARGUMENT, "-1 x 1 x 1");
    check_fails(ctx, DENSE(identity, huge), MN_ERROR_ARGUMENT, "too far");
    check_fails(ctx, DENSE(flat, single), MN_ERROR_ARGUMENT, "flattens");
    check_fails(ctx, DENSE(broken, single), MN_ERROR_ARGUMENT, "finite");
    check_fails(ctx, DENSE(perspective, single), MN_ERROR_ARGUMENT, "perspective");
#undef DENSE
    int64_t count;
    const mn_volume nothing = {0};
    check_fails(ctx, mn_vdb_voxels(ctx, nothing, 0, 0, NULL, NULL, &count), MN_ERROR_UNSUPPORTED, "VDB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voxels_come_back),
        cmocka_unit_test(voxel_centres_lie_half_a_voxel_in),
        cmocka_unit_test(level_set_from_blocks_is_signed_everywhere),
        cmocka_unit_test(dense_box_stands_where_its_matrix_says),
        cmocka_unit_test(empty_grids_are_fine),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
