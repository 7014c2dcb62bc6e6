// SPDX-License-Identifier: Apache-2.0
//
// Velocities on a grid: linear ones are exact inside tetrahedra, even ones around particles, and both reach
// as far out as asked for.
#include "sources/velocity_grid.h"
#include "support/check.h"

static mn_vec3 linear(mn_vec3 x)
{
    return mn_v3(1 + 2 * x.x - x.y, 3 * x.z, x.x + x.y + x.z);
}

static void tetrahedra_are_exact(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_vec3 x[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    mn_vec3 v[4];
    mn_velocity_grid grid;
    for (int k = 0; k < 4; k++) v[k] = linear(x[k]);
    check_ok(ctx, mn_velocity_grid_open(&grid, ctx, (mn_box){{0, 0, 0}, {1, 1, 1}}, 0.1, 3, 1 << 20));
    mn_velocity_grid_add_tetrahedron(&grid, x, v);
    check_ok(ctx, mn_velocity_grid_finish(&grid, 2));
    const mn_vec3 centre = {0.25, 0.15, 0.35};
    check_close(mn_distance(mn_velocity_grid_at(&grid, centre), linear(centre)), 0, 1e-12);
    assert_true(mn_norm(mn_velocity_grid_at(&grid, mn_v3(-0.15, 0.25, 0.25))) > 0); // two voxels out
    assert_true(mn_norm(mn_velocity_grid_at(&grid, mn_v3(-0.25, 0.25, 0.25))) == 0);
    mn_velocity_grid_close(&grid);
    mn_context_free(ctx);
}

static void particles_give_what_they_have(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_velocity_grid grid;
    check_ok(ctx, mn_velocity_grid_open(&grid, ctx, (mn_box){{0, 0, 0}, {1, 1, 1}}, 0.1, 1, 1 << 20));
    for (int i = 0; i < 1000; i++)
        mn_velocity_grid_add_point(&grid,
                                   mn_v3((i / 100 + 0.5) * 0.1, (i / 10 % 10 + 0.3) * 0.1, (i % 10) * 0.1),
                                   mn_v3(1, -2, 3), 1 + i);
    check_ok(ctx, mn_velocity_grid_finish(&grid, 0));
    check_close(mn_distance(mn_velocity_grid_at(&grid, mn_v3(0.45, 0.55, 0.35)), mn_v3(1, -2, 3)), 0, 1e-12);
    mn_velocity_grid_close(&grid);
    assert_int_equal(mn_velocity_grid_open(&grid, ctx, (mn_box){{0, 0, 0}, {1, 1, 1}}, 1e-4, 1, 1 << 20),
                     MN_ERROR_ARGUMENT);
    mn_velocity_grid_close(&grid);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tetrahedra_are_exact),
        cmocka_unit_test(particles_give_what_they_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
