// SPDX-License-Identifier: Apache-2.0
//
// Cracks along planes and the repair of boundaries: what must hold afterwards, on known shapes and in random
// poses (thousands of them run in tests/validation/test_tet_topology.c).
#include "base/random.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"
#include "support/tet_shapes.h"
#include "support/tet_solids.h"
#include "tetmesh/cut/cut.h"

static mn_tet_topology topology_of(mn_context *ctx, mn_tet_mesh *mesh)
{
    mn_tet_topology topology;
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    return topology;
}

/// A plane between two layers of a block, and one through the middle of elements.
static void test_a_block_falls_in_two(void **state)
{
    (void)state;
    const double heights[] = {0, 0.05, 0.13, -0.2};
    for (int i = 0; i < 4; i++) {
        mn_tet_mesh *mesh = tet_block(ctx, 4);
        mn_tet_cut_def def = mn_tet_cut_default_def();
        mn_tet_cut_report report;
        def.point = mn_v3(0, heights[i], 0);
        def.snap = 0;
        check_ok(ctx, mn_tet_mesh_cut(mesh, &def, &report));
        const mn_tet_topology topology = topology_of(ctx, mesh);
        assert_int_equal(topology.parts, 2);
        assert_int_equal(topology.euler, 2);
        assert_int_equal(
            topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices, 0);
        assert_int_equal(report.front, 0);
        check_close(mn_tet_mesh_volume(mesh), 1, 1e-13); // rounding
        // Without snapping each part ends at the plane.
        double below = 0;
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            double low = 1, high = -1;
            for (int32_t k = 0; k < 4; k++) {
                low = fmin(low, mesh->position[mesh->tet[t][k]].y - heights[i]);
                high = fmax(high, mesh->position[mesh->tet[t][k]].y - heights[i]);
            }
            assert_true(low > -1e-15 || high < 1e-15);
            if (high < 1e-15) below += mn_tet_mesh_tet_volume(mesh, t);
        }
        check_close(below, 0.5 + heights[i], 1e-13);
        mn_tet_mesh_free(mesh);
    }
}

static bool is_left(void *user, const mn_tet_mesh *mesh, int32_t t)
{
    (void)user;
    return mesh->position[mesh->tet[t][0]].x < 0.1;
}

/// A crack that is refused on its way leaves one part with the topology of a ball.
static void test_a_crack_stops(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 5);
    mn_tet_cut_def def = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    def.normal = mn_v3(0.1, 2, 0), def.may_enter = is_left;
    double nearest = INFINITY;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        mn_vec3 centre = mn_v3(0, 0, 0);
        for (int32_t k = 0; k < 4; k++) centre = mn_axpy(centre, 0.25, mesh->position[mesh->tet[t][k]]);
        const double distance = mn_distance(centre, mn_v3(-0.4, 0, 0));
        if (distance < nearest) nearest = distance, def.seed = t, def.point = centre;
    }
    check_ok(ctx, mn_tet_mesh_cut(mesh, &def, &report));
    const mn_tet_topology topology = topology_of(ctx, mesh);
    assert_true(report.front > 0 && report.split_faces > 10);
    assert_int_equal(topology.parts, 1);
    assert_int_equal(topology.euler, 1);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
    // The same plane again, without refusal, goes all the way.
    def.may_enter = NULL, def.seed = -1;
    check_ok(ctx, mn_tet_mesh_cut(mesh, &def, &report));
    assert_int_equal(topology_of(ctx, mesh).parts, 2);
    mn_tet_mesh_free(mesh);
}

/// One crack inside, away from every surface: a void without volume, closed and manifold.
static void test_a_crack_inside(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 6);
    mn_tet_cut_def def = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    def.point = mn_v3(0.03, 0.04, 0.01), def.normal = mn_v3(0.3, 1, 0.2), def.reach = 0.2;
    check_ok(ctx, mn_tet_mesh_cut(mesh, &def, &report));
    const mn_tet_topology topology = topology_of(ctx, mesh);
    assert_int_equal(topology.euler, 2); // a ball with a hollow
    assert_int_equal(topology.parts, 1);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
    check_close(mn_tet_mesh_volume(mesh), 1, 1e-13);
    mn_tet_mesh_free(mesh);
}

/// Taking out a tetrahedron that has one vertex on the surface leaves a hollow that touches the surface
/// there: the third kind. A slit joins them.
static void test_surfaces_that_meet_in_a_point(void **state)
{
    (void)state;
    int32_t tried = 0;
    for (int32_t t = 0; t < 384 && tried < 8; t++) {
        mn_tet_mesh *mesh = tet_block(ctx, 4);
        int32_t on_surface = 0;
        for (int32_t k = 0; k < 4; k++) on_surface += mn_tet_vertex_on_boundary(mesh, mesh->tet[t][k]);
        if (on_surface == 1) {
            mn_tet_manifold_report report;
            check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &t, 0, NULL, NULL));
            const double volume = mn_tet_mesh_volume(mesh);
            assert_int_equal(topology_of(ctx, mesh).edge_type_vertices, 1);
            check_ok(ctx, mn_tet_mesh_make_manifold(mesh, &report));
            const mn_tet_topology topology = topology_of(ctx, mesh);
            assert_int_equal(report.tunnels, 1);
            assert_int_equal(report.left, 0);
            assert_int_equal(
                topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices, 0);
            assert_int_equal(topology.euler, 1); // the hollow is open now: a dented ball
            check_close(mn_tet_mesh_volume(mesh), volume, 1e-14);
            tried++;
        }
        mn_tet_mesh_free(mesh);
    }
    assert_int_equal(tried, 8);
}

/// Tetrahedra taken out at random leave pinches of all kinds at once.
static void test_sponges_become_manifold(void **state)
{
    (void)state;
    int64_t tunnels = 0, split = 0, parted = 0;
    for (uint64_t id = 0; id < 40; id++) {
        mn_tet_mesh *mesh = tet_block(ctx, 4);
        const double part = 0.05 + 0.5 * mn_random_unit(21, id, 0);
        for (int32_t t = 0; t < mesh->tet_slots; t++)
            if (mn_random_unit(22, id, (uint32_t)t) < part)
                check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &t, 0, NULL, NULL));
        const double volume = mn_tet_mesh_volume(mesh);
        mn_tet_manifold_report report;
        check_ok(ctx, mn_tet_mesh_make_manifold(mesh, &report));
        const mn_tet_topology topology = topology_of(ctx, mesh);
        assert_int_equal(topology.nonmanifold_edges, 0);
        assert_int_equal(topology.face_type_vertices, 0);
        assert_int_equal(topology.edge_type_vertices, 0);
        assert_int_equal(report.left, 0);
        check_close(mn_tet_mesh_volume(mesh), volume, 1e-13);
        tunnels += report.tunnels, split += report.split_edges, parted += report.parted_vertices;
        mn_tet_mesh_free(mesh);
    }
    assert_true(tunnels > 20 && split > 100 && parted > 100);
}

static void test_random_cuts(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 36; id++) {
        const char *fault = tet_cut_at_random(ctx, id, 0.1);
        if (fault) fail_msg("cut %d: %s", (int)id, fault);
    }
}

static void test_bad_cuts(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 2);
    mn_tet_cut_report report;
    mn_tet_cut_def bad[5];
    for (int i = 0; i < 5; i++) bad[i] = mn_tet_cut_default_def();
    bad[0].normal = mn_v3(0, 0, 0), bad[1].point.x = NAN, bad[2].reach = 0, bad[3].snap = 0.9,
    bad[4].seed = 48;
    for (int i = 0; i < 5; i++) assert_int_equal(mn_tet_mesh_cut(mesh, &bad[i], &report), MN_ERROR_ARGUMENT);
    // A plane that misses changes nothing.
    mn_tet_cut_def def = mn_tet_cut_default_def();
    def.point = mn_v3(0, 3, 0);
    check_ok(ctx, mn_tet_mesh_cut(mesh, &def, &report));
    assert_int_equal(report.entered + report.split_faces, 0);
    assert_int_equal(mesh->tet_count, 48);
    mn_tet_mesh_free(mesh);
}

static mn_status cut_a_block(mn_context *own, failing_allocator *memory)
{
    mn_tet_mesh *mesh = tet_block(own, 2);
    mn_tet_cut_def def = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    def.point = mn_v3(0, 0.1, 0);
    failing_begin(memory);
    const mn_status status = mn_tet_mesh_cut(mesh, &def, &report);
    failing_end(memory);
    check_ok(own, mn_tet_mesh_check(mesh));
    mn_tet_mesh_free(mesh);
    return status;
}

static void test_without_memory(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(cut_a_block, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_falls_in_two),
        cmocka_unit_test(test_a_crack_stops),
        cmocka_unit_test(test_a_crack_inside),
        cmocka_unit_test(test_surfaces_that_meet_in_a_point),
        cmocka_unit_test(test_sponges_become_manifold),
        cmocka_unit_test(test_random_cuts),
        cmocka_unit_test(test_bad_cuts),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
