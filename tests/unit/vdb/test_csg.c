// SPDX-License-Identifier: Apache-2.0
//
// Boolean operations on two overlapping spheres: signs and distances in the band, volumes, and refusals.
#include "plugin/vdb/vdb.h"
#include "support/check.h"
#include "support/shapes.h"

static mn_context *ctx;
static const double h = 0.05;
static const mn_vec3 first = {-0.4, 0, 0}, second = {0.5, 0.1, 0};

static mn_volume sphere_set(mn_vec3 center, double voxel_size, double band)
{
    mn_geo *mesh = sphere_mesh(ctx, center, 1, 100);
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_mesh(ctx, mesh, voxel_size, band, "sphere", &volume));
    mn_geo_free(mesh);
    return volume;
}

static int setup(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    return ctx ? 0 : 1;
}
static int teardown(void **state)
{
    (void)state;
    mn_context_free(ctx);
    return 0;
}

static double expected(mn_csg operation, double a, double b)
{
    return operation == MN_CSG_UNION          ? fmin(a, b)
           : operation == MN_CSG_INTERSECTION ? fmax(a, b)
                                              : fmax(a, -b);
}

static void values_are_min_and_max(void **state)
{
    (void)state;
    mn_volume a = sphere_set(first, h, 3), b = sphere_set(second, h, 3);
    const mn_csg operations[] = {MN_CSG_UNION, MN_CSG_INTERSECTION, MN_CSG_DIFFERENCE};
    for (int k = 0; k < 3; k++) {
        mn_volume result;
        check_ok(ctx, mn_vdb_csg(ctx, operations[k], a, b, "result", &result));
        assert_string_equal(mn_volume_get_info(result).name, "result");
        assert_int_equal(mn_volume_get_info(result).kind, MN_VOLUME_LEVEL_SET);
        for (int z = -26; z <= 26; z++)
            for (int y = -26; y <= 26; y++)
                for (int x = -40; x <= 40; x++) {
                    // At voxel centres nothing is blended, so the result is the operation on the two numbers.
                    const mn_vec3 at = mn_v3((x + 0.5) * h, (y + 0.5) * h, (z + 0.5) * h);
                    const double value = mn_volume_sample(result, at);
                    const double want =
                        expected(operations[k], mn_volume_sample(a, at), mn_volume_sample(b, at));
                    check_close(value, want, 1e-12);
                }
        mn_volume_release(&result);
    }
    mn_volume_release(&a);
    mn_volume_release(&b);
}

static void inputs_must_fit_each_other(void **state)
{
    (void)state;
    mn_volume a = sphere_set(first, 0.1, 3), coarse = sphere_set(second, 0.2, 3),
              wide = sphere_set(second, 0.1, 4), fog, result;
    const int32_t voxel[1][3] = {{0, 0, 0}};
    const double value[1] = {1};
    check_ok(ctx, mn_vdb_from_voxels(ctx, "smoke", MN_VOLUME_FOG, 0.1, 0, 1, 1, voxel, value, &fog));
    check_fails(ctx, mn_vdb_csg(ctx, MN_CSG_UNION, a, coarse, "r", &result), MN_ERROR_INPUT, "voxel size");
    check_fails(ctx, mn_vdb_csg(ctx, MN_CSG_UNION, a, wide, "r", &result), MN_ERROR_INPUT, "band");
    check_fails(ctx, mn_vdb_csg(ctx, MN_CSG_UNION, a, fog, "r", &result), MN_ERROR_INPUT,
                "second input 'smoke'");
    check_fails(ctx, mn_vdb_csg(ctx, MN_CSG_UNION, fog, a, "r", &result), MN_ERROR_INPUT,
                "first input 'smoke'");
    check_fails(ctx, mn_vdb_csg(ctx, MN_CSG_UNION, a, (mn_volume){0}, "r", &result), MN_ERROR_UNSUPPORTED,
                "VDB");
    check_fails(ctx, mn_vdb_csg(ctx, (mn_csg)7, a, a, "r", &result), MN_ERROR_ARGUMENT, "7");
    assert_null(result.ops);
    mn_volume_release(&a);
    mn_volume_release(&coarse);
    mn_volume_release(&wide);
    mn_volume_release(&fog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_min_and_max),
        cmocka_unit_test(inputs_must_fit_each_other),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
