// SPDX-License-Identifier: Apache-2.0
#include "mesh/level_set_mesh.h"
#include "support/analytic_volume.h"
#include "support/check.h"

static mn_context *ctx;

/// A ball as triangles: closed, on the sphere to second order, no short edges, normals outward.
static void a_ball_is_closed_and_round(void **state)
{
    (void)state;
    const double radius = 1, voxel = 0.1, pi = 3.14159265358979323846;
    const mn_vec3 center = {0.03, -0.02, 0.01};
    mn_volume ball = analytic_ball(center, radius, voxel);
    ((analytic_volume *)ball.handle)->bounds = (mn_box){{-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5}};
    mn_level_set_mesh mesh = {0};
    check_ok(ctx, mn_level_set_mesh_make(ctx, ball, &mesh));
    assert_true(mesh.corners.count > 3000);
    double volume = 0;
    int64_t edges = 0;
    for (int64_t t = 0; t < mesh.corners.count; t += 3) {
        mn_vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = mn_sub(mesh.positions.data[mesh.corners.data[t + k]], center);
        volume += mn_dot(x[0], mn_cross(x[1], x[2])) / 6;
        for (int k = 0; k < 3; k++) {
            assert_true(mn_distance(x[k], x[(k + 1) % 3]) >= 0.1 * voxel);
            edges += mesh.corners.data[t + k] < mesh.corners.data[t + (k + 1) % 3] ? 1 : -1;
        }
    }
    assert_int_equal(edges, 0);             // each is passed both ways
    check_close(volume, 4 * pi / 3, 0.042); // 1 %: inscribed edges of 1.5 voxels take 3/12 (l/R)^2
    for (int64_t i = 0; i < mesh.positions.count; i++)
        check_close(mn_distance(mesh.positions.data[i], center), radius, 0.005);
    mn_level_set_mesh_free(ctx, &mesh);
    mn_volume_release(&ball);
}

static void points_follow(void **state)
{
    (void)state;
    mn_volume ball = analytic_ball(mn_v3(0.1, 0, 0), 1, 0.1);
    mn_vec3 near = {0.7, 0.7, 0.1}, far = {3, 0, 0};
    assert_true(mn_level_set_project(ball, &near));
    check_close(mn_distance(near, mn_v3(0.1, 0, 0)), 1, 1e-9);
    assert_false(mn_level_set_project(ball, &far));
    mn_volume_release(&ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_closed_and_round),
        cmocka_unit_test(points_follow),
    };
    ctx = mn_context_create(NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
