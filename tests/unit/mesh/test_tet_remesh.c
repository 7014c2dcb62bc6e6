// SPDX-License-Identifier: Apache-2.0
//
// The remeshing driver: reaches the wanted quality, keeps surface, sharp edges and topology, obeys edge
// lengths, comes to an end, says what it could not do, gives the same bits on any threads.
#include "meniscus/tet_quality.h"
#include "meniscus/tet_remesh.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"
#include "support/tet_operations.h"
#include "support/tet_shapes.h"

static void deform(mn_tet_mesh *mesh, double shear, double twist)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        const mn_vec3 p = mesh->position[v];
        const double c = cos(twist * p.z), s = sin(twist * p.z);
        mn_tet_mesh_move_vertex(mesh, v, mn_v3(c * p.x - s * p.y + shear * p.z, s * p.x + c * p.y, p.z));
    }
}

static void check_sane(mn_context *ctx, mn_tet_mesh *mesh)
{
    mn_tet_topology topology;
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.euler, 1);
    assert_int_equal(topology.parts, 1);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
}

static void test_a_deformed_ball_is_repaired(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_ball(ctx, 8);
    deform(mesh, 0.8, 1.5);
    const double volume = mn_tet_mesh_volume(mesh);
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
    assert_true(report.bad_before > 100);
    assert_true(report.worst_before < 0.1 && report.worst_after > 0.3);
    check_sane(ctx, mesh);
    check_close(mn_tet_mesh_volume(mesh), volume, 0.01 * volume);
    // What is good already stays as it is: a second call does nothing.
    const uint32_t now = mesh->now;
    if (report.bad_after == 0) {
        check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
        assert_int_equal(mesh->now, now);
        assert_int_equal(report.passes, 1);
    }
    mn_tet_mesh_free(mesh);
}

/// A sheared block stays the block it is: its corners, edges and flat faces.
static void test_sharp_edges_stay(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 6);
    deform(mesh, 0.7, 0);
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    // Sheared by 0.7 two faces meet at 55 degrees and two at 125: both are edges.
    def.quality = 0.5, def.feature_angle = 40;
    check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
    assert_true(report.worst_after > report.worst_before);
    check_sane(ctx, mesh);
    check_close(mn_tet_mesh_volume(mesh), 1, 1e-12);
    int corners = 0;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (!mn_tet_vertex_alive(mesh, v)) continue;
        const mn_vec3 p = mesh->position[v];
        corners += fabs(fabs(p.x - 0.7 * p.z) - 0.5) < 1e-9 && fabs(fabs(p.y) - 0.5) < 1e-9 &&
                   fabs(fabs(p.z) - 0.5) < 1e-9;
    }
    assert_int_equal(corners, 8);
    mn_tet_mesh_free(mesh);
}

static void test_a_fixed_surface_is_untouched(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_ball(ctx, 7), *before;
    deform(mesh, 0.5, 1);
    check_ok(ctx, mn_tet_mesh_copy(mesh, &before));
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    def.fixed_surface = true;
    check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
    check_sane(ctx, mesh);
    for (int32_t t = 0; t < before->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) {
            if (before->mate[t][k] >= 0) continue;
            int32_t v[3];
            for (int32_t i = 0; i < 3; i++) {
                v[i] = before->tet[t][mn_tet_face_corners[k][i]];
                assert_memory_equal(&mesh->position[v[i]], &before->position[v[i]], sizeof(mn_vec3));
            }
            assert_true(mn_tet_mesh_find_face(mesh, v[0], v[1], v[2]) >= 0);
        }
    assert_int_equal(report.bad_after, report.left_on_surface + report.left_inside);
    assert_int_equal(report.bad_after == 0, report.first_left < 0);
    check_close(mn_tet_mesh_volume(mesh), mn_tet_mesh_volume(before), 1e-13);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(before);
}

static void test_edge_lengths_are_kept(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 3);
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    mn_tet_quality_report quality;
    def.max_edge = 0.2;
    check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
    check_sane(ctx, mesh);
    check_ok(ctx, mn_tet_mesh_quality(mesh, &quality));
    assert_true(quality.longest_edge <= 0.2 && report.operations[MN_TET_OP_SPLIT] > 100);
    const int32_t fine = mesh->tet_count;
    // And coarse again.
    def.max_edge = 1, def.min_edge = 0.22;
    check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
    check_sane(ctx, mesh);
    assert_true(mesh->tet_count < fine / 3);
    check_close(mn_tet_mesh_volume(mesh), 1, 1e-12);
    mn_tet_mesh_free(mesh);
}

/// An inner vertex pulled through its star, and a surface that was folded over by a flat tetrahedron:
/// untangled.
static void test_inverted_input_is_untangled(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        mn_tet_mesh *mesh = tet_block(ctx, 4);
        for (int32_t v = 0; v < mesh->vertex_slots; v++)
            if (!mn_tet_vertex_on_boundary(mesh, v) && v % 4 == 0)
                mn_tet_mesh_move_vertex(
                    mesh, v,
                    mn_axpy(mesh->position[v], kind ? 0.6 : 0.35, mn_random_direction(1, (uint64_t)v, 0)));
        mn_tet_remesh_def def = mn_tet_remesh_default_def();
        mn_tet_remesh_report report;
        check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
        assert_true(report.worst_before < 0);
        assert_int_equal(report.inverted_after, 0);
        check_sane(ctx, mesh);
        check_close(mn_tet_mesh_volume(mesh), 1, 1e-12);
        mn_tet_mesh_free(mesh);
    }
}

static void test_bad_definitions(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 2);
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    def.quality = 2;
    check_fails(ctx, mn_tet_remesh(mesh, &def, &report), MN_ERROR_ARGUMENT, "quality");
    def = mn_tet_remesh_default_def();
    def.min_edge = 1, def.max_edge = 2;
    check_fails(ctx, mn_tet_remesh(mesh, &def, &report), MN_ERROR_ARGUMENT, "2.5 times");
    def = mn_tet_remesh_default_def();
    def.feature_angle = NAN;
    check_fails(ctx, mn_tet_remesh(mesh, &def, &report), MN_ERROR_ARGUMENT, "feature angle");
    mn_tet_mesh_free(mesh);
}

static void test_same_bits_on_any_threads(void **state)
{
    (void)state;
    mn_tet_mesh *mesh[2];
    mn_context *ctx[2];
    int32_t workers[2] = {1, 3};
    mn_scheduler threads[2] = {mn_thread_scheduler(&workers[0]), mn_thread_scheduler(&workers[1])};
    for (int i = 0; i < 2; i++) {
        mn_hooks hooks = {.scheduler = &threads[i]};
        ctx[i] = mn_context_create(&hooks);
        mesh[i] = tet_ball(ctx[i], 6);
        deform(mesh[i], 0.4, 1);
        mn_tet_remesh_def def = mn_tet_remesh_default_def();
        mn_tet_remesh_report report;
        check_ok(ctx[i], mn_tet_remesh(mesh[i], &def, &report));
    }
    assert_int_equal(mesh[0]->tet_slots, mesh[1]->tet_slots);
    assert_memory_equal(mesh[0]->tet, mesh[1]->tet, sizeof *mesh[0]->tet * (size_t)mesh[0]->tet_slots);
    for (int32_t v = 0; v < mesh[0]->vertex_slots; v++)
        assert_memory_equal(&mesh[0]->position[v], &mesh[1]->position[v], sizeof(mn_vec3));
    for (int i = 0; i < 2; i++) {
        mn_tet_mesh_free(mesh[i]);
        mn_context_free(ctx[i]);
    }
}

static mn_status remesh_a_ball(mn_context *own, failing_allocator *memory)
{
    mn_tet_mesh *mesh = tet_ball(own, 3);
    check_ok(own, tet_add_fields(mesh));
    const double mass = tet_total_mass(mesh);
    deform(mesh, 0.5, 1);
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    def.max_edge = 0.3;
    failing_begin(memory);
    const mn_status status = mn_tet_remesh(mesh, &def, &report);
    failing_end(memory);
    check_sane(own, mesh);
    check_close(tet_total_mass(mesh), mass, 1e-11 * mass);
    mn_tet_mesh_free(mesh);
    return status;
}

static void test_out_of_memory_leaves_a_valid_mesh(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(remesh_a_ball, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_deformed_ball_is_repaired),
        cmocka_unit_test(test_sharp_edges_stay),
        cmocka_unit_test(test_a_fixed_surface_is_untouched),
        cmocka_unit_test(test_edge_lengths_are_kept),
        cmocka_unit_test(test_inverted_input_is_untangled),
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_same_bits_on_any_threads),
        cmocka_unit_test(test_out_of_memory_leaves_a_valid_mesh),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
