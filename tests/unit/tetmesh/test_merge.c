// SPDX-License-Identifier: Apache-2.0
//
// Merging of overlapping parts: exactly the union, everything conserved, on known shapes, in degenerate and
// in random poses (thousands of them run in tests/validation/test_tet_topology.c).
#include "base/random.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"
#include "support/tet_shapes.h"
#include "support/tet_solids.h"
#include "tetmesh/cut/cut.h"
#include "tetmesh/remesh.h"
#include "tetmesh/unite/merge.h"

static void test_random_merges(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 9; id++) {
        mn_tet_merge_report report;
        const char *fault = tet_merge_at_random(ctx, id, 0.2, &report);
        if (fault) fail_msg("merge %d: %s", (int)id, fault);
    }
}

/// Adds a copy of `from`, moved, to the arrays.
static void add_block(mn_context *ctx, const mn_tet_mesh *from, mn_vec3 by, double scale, mn_tet_mesh **mesh)
{
    const int32_t base_v = *mesh ? (*mesh)->vertex_slots : 0, base_t = *mesh ? (*mesh)->tet_slots : 0;
    mn_vec3 *x = malloc(sizeof *x * (size_t)(base_v + from->vertex_slots));
    int32_t(*tets)[4] = malloc(sizeof *tets * (size_t)(base_t + from->tet_slots));
    for (int32_t v = 0; v < base_v; v++) x[v] = (*mesh)->position[v];
    for (int32_t t = 0; t < base_t; t++) memcpy(tets[t], (*mesh)->tet[t], sizeof tets[t]);
    for (int32_t v = 0; v < from->vertex_slots; v++) x[base_v + v] = mn_axpy(by, scale, from->position[v]);
    for (int32_t t = 0; t < from->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) tets[base_t + t][k] = base_v + from->tet[t][k];
    mn_tet_mesh *both;
    check_ok(ctx, mn_tet_mesh_build(ctx, base_v + from->vertex_slots, x, base_t + from->tet_slots,
                                    (const int32_t(*)[4])tets, &both));
    free(x);
    free(tets);
    mn_tet_mesh_free(*mesh);
    *mesh = both;
}

static void add_volume_field(mn_context *ctx, mn_tet_mesh *mesh)
{
    mn_tet_field *rest;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "rest_volume", MN_TET_AMOUNT, 1, &rest));
    for (int32_t t = 0; t < mesh->tet_slots; t++) rest->data[t] = mn_tet_mesh_tet_volume(mesh, t);
}

/// Merges, and checks one part of that Euler characteristic and volume with a closed manifold boundary.
static mn_tet_merge_report merge_to_one(mn_context *ctx, mn_tet_mesh *mesh, int64_t euler, double volume,
                                        double error)
{
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    mn_tet_topology topology;
    add_volume_field(ctx, mesh);
    const double rest = tet_sum_up(mesh).rest;
    check_ok(ctx, mn_tet_mesh_merge(mesh, &def, &report));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(report.left, 0);
    assert_int_equal(topology.parts, 1);
    assert_int_equal(topology.euler, euler);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
    check_close(mn_tet_mesh_volume(mesh), volume, error);
    check_close(tet_sum_up(mesh).rest, rest, 1e-12 * rest);
    return report;
}

/// Blocks of the same lattice: faces on faces, edges on edges, vertices on vertices. Places move by at most
/// 1e-4 of an edge, and volume by as little.
static void test_degenerate_poses(void **state)
{
    (void)state;
    const struct {
        mn_vec3 by;
        double volume;
    } cases[] = {
        {{0.5, 0, 0}, 1.5},           {{0.25, 0.25, 0}, 2 - 0.75 * 0.75},
        {{0.5, 0.5, 0.5}, 2 - 0.125}, {{0, 0, 0.125}, 1.125},
        {{0.1, 0, 0}, 1.1},           {{0, 0, 0}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mn_tet_mesh *block = tet_block(ctx, 2), *mesh = NULL;
        add_block(ctx, block, mn_v3(0, 0, 0), 1, &mesh);
        add_block(ctx, block, cases[i].by, 1, &mesh);
        merge_to_one(ctx, mesh, 1, cases[i].volume, 1e-3);
        mn_tet_mesh_free(block);
        mn_tet_mesh_free(mesh);
    }
}

/// Blocks of the same lattice that overlap by less than a retry moves them apart: that cuts nothing, so it is
/// no merge, and the mesh is as it was.
static void test_nothing_to_cut(void **state)
{
    (void)state;
    mn_tet_mesh *block = tet_block(ctx, 4), *mesh = NULL, *before;
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    add_block(ctx, block, mn_v3(0, 0, 0), 1, &mesh);
    add_block(ctx, block, mn_v3(1 - 3e-8, 0, 0), 1, &mesh);
    check_ok(ctx, mn_tet_mesh_copy(mesh, &before));
    check_ok(ctx, mn_tet_mesh_merge(mesh, &def, &report));
    assert_true(report.retries > 0);
    assert_int_equal(report.merges, 0);
    assert_int_equal(report.left, 1);
    assert_int_equal(mesh->tet_count, before->tet_count);
    assert_memory_equal(mesh->position, before->position,
                        (size_t)mesh->vertex_slots * sizeof *mesh->position);
    mn_tet_mesh_free(before);
    mn_tet_mesh_free(block);
    mn_tet_mesh_free(mesh);
}

static void test_one_inside_another(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        mn_tet_mesh *block = tet_block(ctx, 3), *mesh = NULL;
        add_block(ctx, block, mn_v3(0.01, 0.02, 0.03), order ? 0.3 : 1, &mesh);
        add_block(ctx, block, mn_v3(0.01, 0.02, 0.03), order ? 1 : 0.3, &mesh);
        merge_to_one(ctx, mesh, 1, 1, 1e-3);
        mn_tet_mesh_free(block);
        mn_tet_mesh_free(mesh);
    }
}

/// A bar through a block, and a chain of five balls: more than one seam, more than one merge.
static void test_many(void **state)
{
    (void)state;
    mn_tet_mesh *block = tet_block(ctx, 3), *ball = tet_ball(ctx, 3), *mesh = NULL;
    add_block(ctx, ball, mn_v3(0.1, 0.02, 0.03), 1, &mesh);
    add_block(ctx, block, mn_v3(0.02, -0.03, 0.01), 1, &mesh);
    for (int32_t v = mesh->vertex_slots / 2; v < mesh->vertex_slots; v++) {
        const mn_vec3 p = mesh->position[v];
        mn_tet_mesh_move_vertex(mesh, v, mn_v3(2.5 * p.x, 0.2 * p.y, 0.3 * p.z));
    }
    const double volume = mn_tet_mesh_volume(mesh);
    mn_tet_merge_report report = merge_to_one(ctx, mesh, 1, 0.5 * volume, 0.5 * volume);
    // A retry moves the surface, whose area is below 10.
    check_close(mn_tet_mesh_volume(mesh), volume - report.overlap_volume, 1e-9 + 10 * report.moved);
    mn_tet_mesh_free(mesh);
    mesh = NULL;
    for (int32_t i = 0; i < 5; i++)
        add_block(ctx, ball, mn_v3(0.8 * i, 0.07 * (i % 2), 0.05 * (i % 3)), 1, &mesh);
    const double all = mn_tet_mesh_volume(mesh);
    report = merge_to_one(ctx, mesh, 1, 0.5 * all, 0.5 * all);
    assert_int_equal(report.merges, 4);
    check_close(mn_tet_mesh_volume(mesh), all - report.overlap_volume, 1e-9 + 20 * report.moved);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(block);
    mn_tet_mesh_free(ball);
}

/// A bar bent until its ends overlap becomes a ring.
static void test_a_part_meets_itself(void **state)
{
    (void)state;
    // A bar of 16 x 2 x 2 cubes, out of a block.
    const int32_t n = 16;
    mn_tet_mesh *cube = tet_block(ctx, n);
    int32_t *keep = malloc(sizeof *keep * (size_t)cube->tet_slots), going = 0;
    for (int32_t t = 0; t < cube->tet_slots; t++) {
        mn_vec3 c = mn_v3(0, 0, 0);
        for (int32_t k = 0; k < 4; k++) c = mn_axpy(c, 0.25, cube->position[cube->tet[t][k]]);
        if (c.y > -0.5 + 2.0 / n || c.z > -0.5 + 2.0 / n) keep[going++] = t;
    }
    check_ok(ctx, mn_tet_mesh_replace(cube, going, keep, 0, NULL, NULL));
    free(keep);
    for (int32_t v = 0; v < cube->vertex_slots; v++)
        if (cube->star_first[v] < 0) mn_tet_mesh_remove_vertex(cube, v);
    check_ok(ctx, mn_tet_mesh_compact(cube, NULL, NULL));
    mn_tet_mesh *mesh = cube;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        const mn_vec3 p = mesh->position[v];
        const double angle = 6.6 * (p.x + 0.5), radius = 1 + 2 * (p.y + 0.5);
        mn_tet_mesh_move_vertex(mesh, v, mn_v3(radius * cos(angle), radius * sin(angle), -2 * p.z));
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++) assert_true(mn_tet_mesh_tet_volume(mesh, t) != 0);
    if (mn_tet_mesh_tet_volume(mesh, 0) < 0)
        for (int32_t v = 0; v < mesh->vertex_slots; v++) {
            const mn_vec3 p = mesh->position[v];
            mn_tet_mesh_move_vertex(mesh, v, mn_v3(p.x, p.y, -p.z));
        }
    check_ok(ctx, mn_tet_mesh_check(mesh));
    const double volume = mn_tet_mesh_volume(mesh);
    const mn_tet_merge_report report = merge_to_one(ctx, mesh, 0, 0.9 * volume, 0.1 * volume);
    assert_true(report.merges == 1 && report.overlap_volume > 0.01 * volume);
    check_close(mn_tet_mesh_volume(mesh), volume - report.overlap_volume, 1e-3 * volume);
    mn_tet_mesh_free(mesh);
}

/// Parts that only touch, as after a cut, stay apart; so do parts outside the region.
static void test_what_stays_apart(void **state)
{
    (void)state;
    mn_tet_mesh *block = tet_block(ctx, 3), *mesh = NULL;
    mn_tet_cut_def cut = mn_tet_cut_default_def();
    mn_tet_cut_report cut_report;
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    mn_tet_topology topology;
    cut.point = mn_v3(0, 0.1, 0), cut.normal = mn_v3(0.3, 1, -0.2);
    check_ok(ctx, mn_tet_mesh_cut(block, &cut, &cut_report));
    check_ok(ctx, mn_tet_mesh_merge(block, &def, &report));
    assert_int_equal(report.merges + report.left, 0);
    check_ok(ctx, mn_tet_mesh_topology(block, &topology));
    assert_int_equal(topology.parts, 2);
    mn_tet_mesh_free(block);

    block = tet_block(ctx, 2);
    add_block(ctx, block, mn_v3(0, 0, 0), 1, &mesh);
    add_block(ctx, block, mn_v3(0.83, 0.11, 0.07), 1, &mesh);
    add_block(ctx, block, mn_v3(0, 0.87, 0.05), 1, &mesh);
    def.region = (mn_box){mn_v3(0.4, -1, -1), mn_v3(0.5, 0.3, 1)};
    check_ok(ctx, mn_tet_mesh_merge(mesh, &def, &report));
    assert_int_equal(report.merges, 1);
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.parts, 2);
    def = mn_tet_merge_default_def(), def.max_merges = 0;
    check_ok(ctx, mn_tet_mesh_merge(mesh, &def, &report));
    assert_int_equal(report.merges, 0);
    def.velocity = "v", def.mass = "mass";
    check_fails(ctx, mn_tet_mesh_merge(mesh, &def, &report), MN_ERROR_ARGUMENT, "velocity");
    mn_tet_mesh_free(block);
    mn_tet_mesh_free(mesh);
}

/// The seam has small elements; the remesher takes them away again.
static void test_remeshing_afterwards(void **state)
{
    (void)state;
    const tet_pose poses[2] = {{TET_BALL, mn_m3_identity(), {0, 0, 0}},
                               {TET_BALL, mn_m3_identity(), {0.83, 0.1, 0.05}}};
    mn_tet_mesh *mesh;
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    mn_tet_remesh_def remesh = mn_tet_remesh_default_def();
    mn_tet_remesh_report done;
    mn_tet_topology topology;
    check_ok(ctx, tet_solids_mesh(ctx, 2, poses, 0.12, &mesh));
    const tet_sums sums = tet_sum_up(mesh);
    const int32_t before = mesh->tet_count;
    check_ok(ctx, mn_tet_mesh_merge(mesh, &def, &report));
    remesh.quality = 0.2, remesh.min_edge = 0.05, remesh.max_passes = 10;
    check_ok(ctx, mn_tet_remesh(mesh, &remesh, &done));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.euler, 1);
    assert_true(done.worst_after > 0.05);
    assert_true(mesh->tet_count < 1.3 * before);
    check_close(tet_sum_up(mesh).rest, sums.rest, 1e-12 * sums.rest);
    mn_tet_mesh_free(mesh);
}

static mn_status merge_two_blocks(mn_context *own, failing_allocator *memory)
{
    mn_tet_mesh *block = tet_block(own, 1), *mesh = NULL;
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    add_block(own, block, mn_v3(0, 0, 0), 1, &mesh);
    add_block(own, block, mn_v3(0.83, 0.31, 0.27), 1, &mesh);
    add_volume_field(own, mesh);
    failing_begin(memory);
    const mn_status status = mn_tet_mesh_merge(mesh, &def, &report);
    failing_end(memory);
    check_ok(own, mn_tet_mesh_check(mesh));
    check_close(tet_sum_up(mesh).rest, 2, 1e-12);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(block);
    return status;
}

static void test_without_memory(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(merge_two_blocks, INT64_MAX);
}

// The seam of two balls is all splinters; contraction of what is short leaves a mesh that can be worked with.
static void test_seams_are_repaired(void **state)
{
    (void)state;
    mn_tet_mesh *ball = tet_ball(ctx, 4);
    for (int pose = 0; pose < 6; pose++) {
        mn_tet_mesh *mesh = NULL;
        add_block(ctx, ball, mn_v3(0, 0, 0), 1, &mesh);
        add_block(ctx, ball, mn_v3(0.95 - 0.03 * pose, 0.05 + 0.02 * pose, 0.07), 1, &mesh);
        mn_tet_merge_def merge = mn_tet_merge_default_def();
        mn_tet_merge_report merged;
        mn_tet_remesh_def def = mn_tet_remesh_default_def();
        mn_tet_remesh_report report;
        check_ok(ctx, mn_tet_mesh_merge(mesh, &merge, &merged));
        assert_int_equal((int)merged.merges, 1);
        def.quality = 0.25, def.min_edge = 0.12, def.max_edge = 0.4;
        check_ok(ctx, mn_tet_remesh(mesh, &def, &report));
        assert_true(report.worst_before < 0.05);
        assert_true(report.worst_after > 0.2);
        check_ok(ctx, mn_tet_mesh_check(mesh));
        mn_tet_mesh_free(mesh);
    }
    mn_tet_mesh_free(ball);
}

/// Ten thin plates through one place, each at its own angle: every merge cuts the splinters of those before
/// it. What has been merged is whole, the rest is left, and the mesh does not multiply.
static void test_many_in_one_place(void **state)
{
    (void)state;
    mn_tet_mesh *block = tet_block(ctx, 2), *mesh = NULL;
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    mn_tet_topology topology;
    for (uint64_t plate = 0; plate < 10; plate++) {
        const int32_t first = mesh ? mesh->vertex_slots : 0;
        const mn_mat3 turn = mn_m3_rotation(mn_scale(360, mn_random_unit3(5, 200 + plate, 0)));
        add_block(ctx, block, mn_v3(-0.5, -0.5, -0.5), 1, &mesh);
        for (int32_t v = first; v < mesh->vertex_slots; v++) {
            const mn_vec3 p = mesh->position[v];
            mn_tet_mesh_move_vertex(mesh, v, mn_m3_apply(turn, mn_v3(p.x, p.y, 0.02 * p.z)));
        }
    }
    add_volume_field(ctx, mesh);
    const double rest = tet_sum_up(mesh).rest;
    const int64_t tets = mesh->tet_count;
    check_ok(ctx, mn_tet_mesh_merge(mesh, &def, &report));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_true(report.merges > 0);
    assert_true(report.left > 0);
    assert_true(report.new_vertices <= 200 + 16 * tets);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
    check_close(tet_sum_up(mesh).rest, rest, 1e-12 * rest);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_merges),
        cmocka_unit_test(test_degenerate_poses),
        cmocka_unit_test(test_nothing_to_cut),
        cmocka_unit_test(test_one_inside_another),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_a_part_meets_itself),
        cmocka_unit_test(test_what_stays_apart),
        cmocka_unit_test(test_remeshing_afterwards),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_seams_are_repaired),
        cmocka_unit_test(test_many_in_one_place),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
