// SPDX-License-Identifier: Apache-2.0
//
// Quality measures: known tetrahedra, invariance, gradient by differences, reports.
#include "meniscus/tet_quality.h"
#include "support/check.h"
#include "support/tet_shapes.h"

static const double degrees = 57.29577951308232;
static const mn_vec3 regular[4] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};

static void test_known_tetrahedra(void **state)
{
    (void)state;
    double low, high, angles[6];
    const mn_vec3 *r = regular;
    check_close(mn_tet_quality(r[0], r[1], r[2], r[3]), 1, 1e-14);
    check_close(mn_tet_quality(r[1], r[0], r[2], r[3]), -1, 1e-14);
    check_close(mn_tet_aspect(r[0], r[1], r[2], r[3]), 1, 1e-14);
    mn_tet_dihedral_range(r[0], r[1], r[2], r[3], &low, &high);
    check_close(low, acos(1.0 / 3), 1e-14);
    check_close(high, acos(1.0 / 3), 1e-14);
    // The corner of a cube: three right angles, three of acos(1/sqrt 3).
    mn_tet_dihedrals(mn_v3(0, 0, 0), mn_v3(1, 0, 0), mn_v3(0, 1, 0), mn_v3(0, 0, 1), angles);
    for (int e = 0; e < 6; e++) check_close(angles[e], e < 3 ? acos(0) : acos(1 / sqrt(3)), 1e-14);
    // The lattice's own tetrahedron: two angles of 90 degrees, four of 60.
    mn_tet_dihedral_range(mn_v3(0, 0, 0), mn_v3(0, 1, 0), mn_v3(-.5, .5, .5), mn_v3(.5, .5, .5), &low, &high);
    check_close(low * degrees, 60, 1e-12);
    check_close(high * degrees, 90, 1e-12);
    assert_true(isinf(mn_tet_aspect(r[0], r[1], r[2], r[0])));
    check_close(mn_tet_quality(r[0], r[0], r[0], r[0]), 0, 0);
}

static void test_invariance(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 200; id++) {
        mn_vec3 p[4], q[4];
        const mn_mat3 turn = mn_m3_rotation(mn_scale(360, mn_random_unit3(1, id, 0)));
        for (uint32_t k = 0; k < 4; k++) {
            p[k] = mn_random_unit3(2, id, 3 * k);
            q[k] = mn_axpy(mn_v3(3, 4, 5), 7, mn_m3_apply(turn, p[k]));
        }
        const double a = mn_tet_quality(p[0], p[1], p[2], p[3]);
        check_close(mn_tet_quality(q[0], q[1], q[2], q[3]), a, 1e-12);
        check_close(mn_tet_quality(p[1], p[2], p[0], p[3]), a, 1e-13);
        check_close(mn_tet_quality(p[1], p[0], p[3], p[2]), a, 1e-13);
        assert_true(fabs(a) <= 1);
    }
}

static void test_gradient_by_differences(void **state)
{
    (void)state;
    const double h = 1e-6;
    for (uint64_t id = 0; id < 100; id++) {
        mn_vec3 p[4], gradient;
        for (uint32_t k = 0; k < 4; k++) p[k] = mn_random_unit3(3, id, 3 * k);
        const double q = mn_tet_quality_gradient(p[0], p[1], p[2], p[3], &gradient);
        check_close(q, mn_tet_quality(p[0], p[1], p[2], p[3]), 1e-14);
        const mn_vec3 axis[3] = {{h, 0, 0}, {0, h, 0}, {0, 0, h}};
        const double expected[3] = {gradient.x, gradient.y, gradient.z};
        for (int i = 0; i < 3; i++) {
            const double forward = mn_tet_quality(mn_add(p[0], axis[i]), p[1], p[2], p[3]);
            const double back = mn_tet_quality(mn_sub(p[0], axis[i]), p[1], p[2], p[3]);
            // Second differences of a function of order one: h^2 times its third derivative, and rounding /
            // h.
            check_close((forward - back) / (2 * h), expected[i], 1e-7 * (1 + mn_norm(gradient) * 100));
        }
    }
}

static void test_report_of_a_mesh(void **state)
{
    (void)state;
    mn_tet_quality_report one, two;
    int32_t workers = 2;
    mn_scheduler threads = mn_thread_scheduler(&workers);
    mn_hooks hooks = {.scheduler = &threads};
    for (int run = 0; run < 2; run++) {
        workers = run + 1;
        mn_context *ctx = mn_context_create(&hooks);
        mn_tet_mesh *mesh = tet_block(ctx, 14);
        check_ok(ctx, mn_tet_mesh_quality(mesh, run ? &two : &one));
        double *quality = malloc(sizeof(double) * (size_t)mesh->tet_slots), worst = 2;
        check_ok(ctx, mn_tet_mesh_quality_sweep(mesh, quality));
        for (int32_t t = 0; t < mesh->tet_slots; t++) worst = fmin(worst, quality[t]);
        assert_true(worst == one.worst_quality);
        free(quality);
        mn_tet_mesh_free(mesh);
        mn_context_free(ctx);
    }
    assert_memory_equal(&one, &two, sizeof one);
    assert_int_equal(one.tets, 6 * 14 * 14 * 14);
    check_close(one.volume, 1, 1e-13);
    check_close(one.smallest_dihedral, 45, 1e-10);
    check_close(one.largest_dihedral, 90, 1e-10);
    int64_t angles = 0;
    for (int i = 0; i < MN_TET_ANGLE_BINS; i++) angles += one.dihedral_histogram[i];
    assert_int_equal(angles, 6 * one.tets);
    check_close(one.longest_edge, sqrt(3) / 14, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_tetrahedra),
        cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_report_of_a_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
