// SPDX-License-Identifier: Apache-2.0
#include "support/check.h"
#include "support/mesh_checks.h"

#include "base/random.h"
#include "levelset/level_set.h"
#include "mesh/isosurface.h"
#include "mesh/mesh_smooth.h"

static double ball_field(void *user, mn_vec3 x)
{
    // A ball with noise from node to node.
    const uint64_t id = (uint64_t)(llround(x.x * 20) + 1000) * 4000037 +
                        (uint64_t)(llround(x.y * 20) + 1000) * 2003 + (uint64_t)(llround(x.z * 20) + 1000);
    return mn_norm(x) - 1.0 + *(double *)user * (mn_random_unit(3, id, 0) - 0.5);
}

/// Noise goes (three quarters of what a noisy ball has more area than a ball), the volume stays.
static void test_noise_goes_and_volume_stays(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_level_set *set;
    mn_isosurface *iso;
    check_ok(ctx, mn_level_set_create(ctx, &set));
    check_ok(ctx, mn_isosurface_create(ctx, &iso));
    static mn_ivec3 coords[4096];
    int64_t count = 0;
    for (int32_t x = -7; x < 7; x++)
        for (int32_t y = -7; y < 7; y++)
            for (int32_t z = -7; z < 7; z++) coords[count++] = mn_iv3(x, y, z);
    double noise = 0.04;
    check_ok(ctx, mn_level_set_fill(set, mn_v3(0, 0, 0), 0.05, 3.0, count, coords, ball_field, &noise));
    check_ok(ctx,
             mn_isosurface_run(iso, mn_level_set_blocks(set), mn_level_set_get(set).phi, 0.0, MN_ISO_CUBES));
    const mn_iso_mesh m = mn_isosurface_mesh(iso);
    mn_vec3 *x = malloc(sizeof *x * (size_t)m.vertex_count);
    memcpy(x, m.positions, sizeof *x * (size_t)m.vertex_count);
    const double volume = mesh_volume(x, m.triangles, m.triangle_count),
                 area = mesh_area(x, m.triangles, m.triangle_count);
    const double round = cbrt(36 * M_PI * volume * volume);
    check_ok(ctx, mn_mesh_smooth(ctx, m.vertex_count, x, m.triangle_count, m.triangles, 10));
    assert_true(area > 1.05 * round);
    assert_true(mesh_area(x, m.triangles, m.triangle_count) / round - 1.0 < 0.25 * (area / round - 1.0));
    check_close(mesh_volume(x, m.triangles, m.triangle_count) / volume, 1.0, 1e-5);
    free(x);
    mn_isosurface_free(iso);
    mn_level_set_free(set);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void test_bad_input(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {7, 7, 7}};
    int32_t t[1][3] = {{0, 1, 5}};
    check_fails(ctx, mn_mesh_smooth(ctx, 3, x, 1, t, 1), MN_ERROR_INPUT, "vertex 5");
    t[0][2] = 2;
    check_ok(ctx, mn_mesh_smooth(ctx, 4, x, 1, t, 3));
    check_close(x[3].x, 7.0, 0.0); // unused ones stay
    check_ok(ctx, mn_mesh_smooth(ctx, 0, NULL, 0, NULL, 3));
    x[1].y = NAN;
    check_fails(ctx, mn_mesh_smooth(ctx, 3, x, 1, t, 1), MN_ERROR_INPUT, "Point 1");
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_goes_and_volume_stays),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests_name("mesh/mesh_smooth", tests, NULL, NULL);
}
