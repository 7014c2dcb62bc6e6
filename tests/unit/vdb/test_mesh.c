// SPDX-License-Identifier: Apache-2.0
//
// Polygons to level set and back: distances, signs, volumes, the same bits for any number of workers, and a
// sentence for meshes that cannot be converted.
#include "base/random.h"
#include "plugin/vdb/vdb.h"
#include "support/one_context.h"
#include "support/shapes.h"

static const double pi = 3.14159265358979323846;

static void sphere_distances_are_right(void **state)
{
    (void)state;
    const mn_vec3 center = mn_v3(0.3, -0.2, 0.1);
    const double h = 0.05;
    mn_geo *mesh = sphere_mesh(ctx, center, 1, 200);
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, h, 3, "surface", &volume));
    const mn_volume_info info = mn_volume_get_info(volume);
    assert_string_equal(info.name, "surface");
    assert_int_equal(info.kind, MN_VOLUME_LEVEL_SET);
    check_close(info.background, 3 * h, 1e-6);
    check_close(info.index_to_world.m[0][3], 0.5 * h, 1e-15); // centred voxels
    for (uint64_t i = 0; i < 5000; i++) {
        // Within two voxels, so that all eight corners lie in the band of three.
        const double phi = (2 * mn_random_unit(1, i, 3) - 1) * 1.2 * h;
        const mn_vec3 x = mn_axpy(center, 1 + phi, mn_random_direction(1, i, 0));
        // A chord of a great circle in 400 faces lies (1 - cos(pi/400)) = 3e-5 inside; the linear blend of a
        // distance with curvature 1/R errs by up to h^2 / 4 per pair of curved axes.
        check_close(mn_volume_sample(volume, x), phi, 0.5 * h * h + 1e-4);
    }
    check_close(mn_volume_sample(volume, center), -info.background, 0);
    check_close(mn_volume_sample(volume, mn_v3(3, 3, 3)), info.background, 0);
    mn_volume_release(&volume);
    mn_geo_free(mesh);
}

static void wide_polygons_are_cut(void **state)
{
    (void)state;
    // A prism over a regular hexagon: two hexagons and six quads.
    const double h = 0.04;
    mn_geo *mesh;
    check_ok(ctx, mn_geo_create(ctx, &mesh));
    check_ok(ctx, mn_geo_add_points(mesh, 12, NULL));
    float *p = mn_geo_write_positions(mesh);
    for (int i = 0; i < 12; i++) {
        p[3 * i] = (float)cos(pi * i / 3), p[3 * i + 2] = (float)sin(pi * i / 3);
        p[3 * i + 1] = i < 6 ? -0.5f : 0.5f;
    }
    const int64_t bottom[6] = {0, 1, 2, 3, 4, 5}, top[6] = {11, 10, 9, 8, 7, 6};
    check_ok(ctx, mn_geo_add_primitives(mesh, MN_POLYGON, 1, NULL, 6, bottom, NULL));
    check_ok(ctx, mn_geo_add_primitives(mesh, MN_POLYGON, 1, NULL, 6, top, NULL));
    for (int64_t i = 0; i < 6; i++) {
        const int64_t side[4] = {i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6};
        check_ok(ctx, mn_geo_add_primitives(mesh, MN_POLYGON, 1, NULL, 4, side, NULL));
    }
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, h, 3, "prism", &volume));
    // Near the middle of the top, of a side and inside: distances to planes.
    check_close(mn_volume_sample(volume, mn_v3(0.1, 0.55, 0.1)), 0.05, 1e-5);
    check_close(mn_volume_sample(volume, mn_v3(0.1, 0.45, 0.1)), -0.05, 1e-5);
    const double apothem = sqrt(3) / 2;
    check_close(mn_volume_sample(volume, mn_v3(0, 0, apothem + 0.03)), 0.03, 1e-5);
    check_close(mn_volume_sample(volume, mn_v3(0, 0, -apothem + 0.03)), -0.03, 1e-5);
    mn_volume_release(&volume);
    mn_geo_free(mesh);
}

static void there_and_back_keeps_the_volume(void **state)
{
    (void)state;
    const double h = 0.05, exact = 4 * pi / 3;
    mn_geo *mesh = sphere_mesh(ctx, mn_v3(0.2, 0.1, 0), 1, 100), *back;
    check_close(enclosed_volume(mesh), exact, 0.003 * exact);
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, h, 3, "surface", &volume));
    const double adaptivities[] = {0, 0.1};
    for (int i = 0; i < 2; i++) {
        check_ok(ctx, mn_vdb_to_mesh(ctx, volume, 0, adaptivities[i], &back));
        // Dual contouring of a quadric in cells of h: the surface is off by O(h^2), the volume by area times
        // that.
        // Merged faces may stray by a good part of a voxel.
        const double stray = adaptivities[i] > 0 ? h : 0.5 * h * h;
        check_close(enclosed_volume(back), exact, 4 * pi * (i == 0 ? stray : 0.5 * stray));
        for (int64_t point = 0; point < mn_geo_point_count(back); point++)
            check_close(mn_distance(mn_geo_position(back, point), mn_v3(0.2, 0.1, 0)), 1, stray);
        mn_geo_free(back);
    }
    // Half a voxel out is half a voxel larger.
    check_ok(ctx, mn_vdb_to_mesh(ctx, volume, 0.5 * h, 0, &back));
    const double grown = exact * pow(1 + 0.5 * h, 3);
    check_close(enclosed_volume(back), grown, 4 * pi * 0.5 * h * h);
    mn_geo_free(back);
    mn_volume_release(&volume);
    mn_geo_free(mesh);
}

/// OpenVDB itself takes voxels this small for singular.
static void droplets_of_micrometres(void **state)
{
    (void)state;
    const double radius = 20e-6, h = 1e-6, exact = 4 * pi / 3 * pow(radius, 3);
    mn_geo *mesh = sphere_mesh(ctx, mn_v3(0, 0, 0), radius, 60), *back;
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, h, 3, "surface", &volume));
    check_close(mn_volume_sample(volume, mn_v3(radius + h, 0, 0)), h, 0.05 * h);
    check_ok(ctx, mn_vdb_to_mesh(ctx, volume, 0, 0, &back));
    check_close(enclosed_volume(back), exact, 0.01 * exact);
    mn_geo_free(back);
    mn_geo_free(mesh);
    mn_volume_release(&volume);
}

static mn_status append_bytes(void *user, const void *bytes, size_t size)
{
    uint64_t *hash = user;
    for (size_t i = 0; i < size; i++) *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    return MN_OK;
}

static void same_bits_for_any_number_of_workers(void **state)
{
    (void)state;
    uint64_t level_set_hash = 0, mesh_hash = 0;
    for (int round = 0; round < 8; round++) {
        const int32_t workers[] = {1, 2, 3, 8};
        const mn_hooks hooks = {.max_workers = workers[round % 4]};
        mn_context *some = mn_context_create(&hooks);
        mn_geo *mesh = sphere_mesh(some, mn_v3(0.01, 0.02, 0.03), 1, 60), *back;
        mn_volume volume;
        check_ok(some, mn_vdb_from_mesh(some, mesh, 0.03, 3, "surface", &volume));
        uint64_t hash = 14695981039346656037u;
        check_ok(some, mn_vdb_write_volume(some, volume, append_bytes, &hash));
        check_ok(some, mn_vdb_to_mesh(some, volume, 0, 0.05, &back));
        if (round == 0) level_set_hash = hash, mesh_hash = mn_geo_hash(back);
        assert_true(hash == level_set_hash);
        assert_true(mn_geo_hash(back) == mesh_hash);
        mn_geo_free(back);
        mn_volume_release(&volume);
        mn_geo_free(mesh);
        mn_context_free(some);
    }
}

static void bad_meshes_are_refused(void **state)
{
    (void)state;
    mn_volume volume;
    mn_geo *mesh;
    check_ok(ctx, mn_geo_create(ctx, &mesh));
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, 3, "s", &volume), MN_ERROR_INPUT, "no polygons");
    mn_geo_free(mesh);

    mesh = sphere_mesh(ctx, mn_v3(0, 0, 0), 1, 10);
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0, 3, "s", &volume), MN_ERROR_ARGUMENT, "voxel size");
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, NAN, 3, "s", &volume), MN_ERROR_ARGUMENT, "voxel size");
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, 0.5, "s", &volume), MN_ERROR_ARGUMENT, "band");
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, 1e9, "s", &volume), MN_ERROR_ARGUMENT, "band");
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, NAN, "s", &volume), MN_ERROR_ARGUMENT, "band");
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 1e-9, 3, "s", &volume), MN_ERROR_INPUT, "or larger");
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 1e-300, 3, "s", &volume), MN_ERROR_INPUT, "or larger");
    assert_null(volume.ops);
    float *p = mn_geo_write_positions(mesh);
    p[3 * 7 + 1] = NAN;
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, 3, "s", &volume), MN_ERROR_INPUT, "point 7");
    p[3 * 7 + 1] = 1e30f;
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 0.1, 3, "s", &volume), MN_ERROR_INPUT, "voxel");
    mn_geo_free(mesh);

    // Small, but so far away that its voxels cannot be counted.
    mesh = sphere_mesh(ctx, mn_v3(1e9, 0, 0), 1000, 10);
    check_fails(ctx, mn_vdb_from_mesh(ctx, mesh, 1, 3, "s", &volume), MN_ERROR_INPUT, "from the origin");
    mn_geo_free(mesh);
}

static void the_advised_voxel_size_works(void **state)
{
    (void)state;
    mn_geo *mesh = sphere_mesh(ctx, mn_v3(0, 0, 0), 1, 10);
    mn_volume volume;
    assert_int_equal(mn_vdb_from_mesh(ctx, mesh, 1e-7, 3, "s", &volume), MN_ERROR_INPUT);
    const char *advice = strstr(mn_context_message(ctx), "; use ");
    assert_non_null(advice);
    const double size = strtod(advice + 6, NULL);
    // Not run, since it fills half the memory: a tenth of it must still be refused, so it is no idle number.
    assert_true(size > 1e-7 && size < 0.01);
    assert_int_equal(mn_vdb_from_mesh(ctx, mesh, 0.1 * size, 3, "s", &volume), MN_ERROR_INPUT);
    mn_geo_free(mesh);
}

static void bad_isosurfaces_are_refused(void **state)
{
    (void)state;
    mn_geo *mesh = sphere_mesh(ctx, mn_v3(0, 0, 0), 1, 10), *back;
    mn_volume volume, vel;
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, 0.2, 3, "surface", &volume));
    check_fails(ctx, mn_vdb_to_mesh(ctx, volume, NAN, 0, &back), MN_ERROR_ARGUMENT, "isovalue");
    check_fails(ctx, mn_vdb_to_mesh(ctx, volume, 1, 0, &back), MN_ERROR_ARGUMENT, "band");
    check_fails(ctx, mn_vdb_to_mesh(ctx, volume, 0, 1.5, &back), MN_ERROR_ARGUMENT, "adaptivity");
    check_fails(ctx, mn_vdb_to_mesh(ctx, volume, 0, NAN, &back), MN_ERROR_ARGUMENT, "adaptivity");
    check_fails(ctx, mn_vdb_to_mesh(ctx, (mn_volume){0}, 0, 0, &back), MN_ERROR_UNSUPPORTED, "VDB");
    const int32_t voxel[1][3] = {{0, 0, 0}};
    const double value[3] = {1, 2, 3};
    check_ok(ctx, mn_vdb_from_voxels(ctx, "vel", MN_VOLUME_FOG, 1, 0, 3, 1, voxel, value, &vel));
    check_fails(ctx, mn_vdb_to_mesh(ctx, vel, 0, 0, &back), MN_ERROR_INPUT, "vectors");
    assert_null(back);
    mn_volume_release(&vel);
    mn_volume_release(&volume);
    mn_geo_free(mesh);
}

static void an_empty_level_set_gives_an_empty_mesh(void **state)
{
    (void)state;
    mn_volume volume;
    mn_geo *back;
    check_ok(ctx,
             mn_vdb_from_blocks(ctx, "surface", MN_VOLUME_LEVEL_SET, 1, 3, 1, 4, 0, NULL, NULL, &volume));
    check_ok(ctx, mn_vdb_to_mesh(ctx, volume, 0, 0, &back));
    assert_int_equal(mn_geo_point_count(back), 0);
    assert_int_equal(mn_geo_primitive_count(back), 0);
    mn_geo_free(back);
    mn_volume_release(&volume);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void cancel_stops_a_conversion(void **state)
{
    (void)state;
    const mn_hooks hooks = {.cancelled = always, .max_workers = 1};
    mn_context *stopped = mn_context_create(&hooks);
    mn_geo *mesh = sphere_mesh(ctx, mn_v3(0, 0, 0), 1, 50);
    mn_volume volume;
    check_fails(stopped, mn_vdb_from_mesh(stopped, mesh, 0.02, 3, "s", &volume), MN_ERROR_CANCELLED, "");
    assert_null(volume.ops);
    mn_geo_free(mesh);
    mn_context_free(stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_distances_are_right),
        cmocka_unit_test(wide_polygons_are_cut),
        cmocka_unit_test(there_and_back_keeps_the_volume),
        cmocka_unit_test(droplets_of_micrometres),
        cmocka_unit_test(same_bits_for_any_number_of_workers),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(the_advised_voxel_size_works),
        cmocka_unit_test(bad_isosurfaces_are_refused),
        cmocka_unit_test(an_empty_level_set_gives_an_empty_mesh),
        cmocka_unit_test(cancel_stops_a_conversion),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
