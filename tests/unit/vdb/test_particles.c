// SPDX-License-Identifier: Apache-2.0
//
// The union of spheres as a grid: distances near the surface, signs deep inside and far away, pscale.
#include "base/random.h"
#include "plugin/vdb/vdb.h"
#include "support/one_context.h"

static mn_geo *two_points(void)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 2, NULL));
    float *p = mn_geo_write_positions(geo);
    p[0] = -0.5f, p[3] = 0.5f, p[4] = 0.25f;
    return geo;
}

static void distances_to_the_union(void **state)
{
    (void)state;
    const double h = 0.1;
    mn_geo *geo = two_points();
    mn_attribute *pscale;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "pscale", MN_F32, 1, MN_HINT_NONE, &pscale));
    const double radii[2] = {0.4, 0.5};
    check_ok(ctx, mn_attribute_set(geo, pscale, 0, 2, radii));
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_particles(ctx, geo, h, 99, 2, "surface", &volume)); // radii of 0.8 and 1
    const mn_volume_info info = mn_volume_get_info(volume);
    assert_int_equal(info.kind, MN_VOLUME_LEVEL_SET);
    check_close(info.background, 3 * h, 1e-6);
    int near = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        const mn_vec3 x = mn_scale(3, mn_sub(mn_random_unit3(2, i, 0), mn_v3(0.5, 0.5, 0.5)));
        const double a = mn_distance(x, mn_geo_position(geo, 0)) - 0.8,
                     b = mn_distance(x, mn_geo_position(geo, 1)) - 1;
        const double phi = fmin(a, b), value = mn_volume_sample(volume, x);
        if (fabs(phi) > 0.5 * h) assert_true((value < 0) == (phi < 0));
        // Away from the crease, where the union is a distance: linear blends of curved distances err by h^2.
        if (phi > 0 && phi < 1.2 * h && fabs(a - b) > 4 * h) check_close(value, phi, h * h), near++;
    }
    assert_true(near > 50);
    check_close(mn_volume_sample(volume, mn_v3(0.5, 0.25, 0)), -info.background, 1e-6);
    check_close(mn_volume_sample(volume, mn_v3(5, 5, 5)), info.background, 1e-6);
    mn_volume_release(&volume);
    mn_geo_free(geo);
}

static void without_pscale_the_radius_counts(void **state)
{
    (void)state;
    mn_geo *geo = two_points();
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_particles(ctx, geo, 0.05, 0.3, 99, "surface", &volume));
    check_close(mn_volume_sample(volume, mn_v3(-0.5, 0.35, 0)), 0.05, 0.005);
    mn_volume_release(&volume);
    mn_geo_free(geo);
}

static void strange_input(void **state)
{
    (void)state;
    mn_volume volume;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo)); // no particles: everything is outside
    check_ok(ctx, mn_vdb_from_particles(ctx, geo, 0.1, 0.3, 1, "surface", &volume));
    check_close(mn_volume_sample(volume, mn_v3(0, 0, 0)), 0.3, 1e-6);
    mn_volume_release(&volume);
    mn_geo_free(geo);
    geo = two_points();
    check_fails(ctx, mn_vdb_from_particles(ctx, geo, 0, 0.3, 1, "s", &volume), MN_ERROR_ARGUMENT,
                "voxel size");
    check_fails(ctx, mn_vdb_from_particles(ctx, geo, NAN, 0.3, 1, "s", &volume), MN_ERROR_ARGUMENT,
                "voxel size");
    assert_true(mn_vdb_from_particles(ctx, geo, 0.1, NAN, 1, "s", &volume) != MN_OK);
    assert_true(mn_vdb_from_particles(ctx, geo, 0.1, -1, 1, "s", &volume) != MN_OK);
    mn_geo_write_positions(geo)[1] = NAN;
    assert_true(mn_vdb_from_particles(ctx, geo, 0.1, 0.3, 1, "s", &volume) != MN_OK);
    assert_null(volume.ops);
    mn_geo_free(geo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_to_the_union),
        cmocka_unit_test(without_pscale_the_radius_counts),
        cmocka_unit_test(strange_input),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
