// SPDX-License-Identifier: Apache-2.0
//
// Overlap volumes and conservative resampling.
#include "base/random.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"
#include "support/tet_shapes.h"
#include "support/tet_solids.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"

static const mn_vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void test_known_overlaps(void **state)
{
    (void)state;
    mn_vec3 moved[4], small[4], far[4];
    for (int k = 0; k < 4; k++) {
        moved[k] = mn_add(corner[k], mn_v3(0.25, 0.25, 0.25));
        small[k] = mn_axpy(mn_v3(0.1, 0.1, 0.1), 0.2, corner[k]);
        far[k] = mn_add(corner[k], mn_v3(1e6, 0, 0));
    }
    check_close(mn_tet_overlap(corner, corner), 1.0 / 6, 1e-15);
    check_close(mn_tet_overlap(corner, small), 0.008 / 6, 1e-16);
    check_close(mn_tet_overlap(small, corner), 0.008 / 6, 1e-16);
    // Both faces x + y + z: what is left is the corner of edge 1/4.
    check_close(mn_tet_overlap(corner, moved), 1.0 / 64 / 6, 1e-16);
    check_close(mn_tet_overlap(corner, far), 0, 0);
    // A common face only.
    const mn_vec3 below[4] = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, -1}};
    check_close(mn_tet_overlap(corner, below), 0, 1e-17);
}

/// The tetrahedra of a block cover any tetrahedron inside it exactly once.
static void test_overlaps_add_up(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 4);
    for (uint64_t id = 0; id < 60; id++) {
        mn_vec3 x[4], y[4];
        for (uint32_t k = 0; k < 4; k++) x[k] = mn_sub(mn_random_unit3(1, id, 3 * k), mn_v3(0.5, 0.5, 0.5));
        if (mn_tet_volume(x[0], x[1], x[2], x[3]) < 0) {
            const mn_vec3 swap = x[0];
            x[0] = x[1], x[1] = swap;
        }
        const double volume = mn_tet_volume(x[0], x[1], x[2], x[3]);
        double sum = 0;
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            for (int32_t k = 0; k < 4; k++) y[k] = mesh->position[mesh->tet[t][k]];
            const double part = mn_tet_overlap(x, y);
            check_close(part, mn_tet_overlap(y, x), 1e-15);
            sum += part;
        }
        check_close(sum, volume, 1e-14);
    }
    mn_tet_mesh_free(mesh);
}

static void add_physics(mn_context *ctx, mn_tet_mesh *mesh)
{
    mn_tet_field *mass, *rest, *v, *heat;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass));
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "rest_volume", MN_TET_AMOUNT, 1, &rest));
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "heat", MN_TET_VALUE, 1, &heat));
    mass = mn_tet_mesh_find_field(mesh, "mass"), rest = mn_tet_mesh_find_field(mesh, "rest_volume");
    v = mn_tet_mesh_find_field(mesh, "v"), heat = mn_tet_mesh_find_field(mesh, "heat");
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        rest->data[t] = mn_tet_mesh_tet_volume(mesh, t);
        mass->data[t] = rest->data[t] * (1000 + 500 * mn_random_unit(2, (uint64_t)t, 0));
        heat->data[t] = 300;
    }
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 u = mn_random_direction(3, (uint64_t)i, 0);
        v->data[3 * i] = 1 + u.x, v->data[3 * i + 1] = u.y, v->data[3 * i + 2] = u.z;
    }
}

static void test_conservation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        mn_tet_mesh *mesh = kind ? tet_ball(ctx, 6) : tet_block(ctx, 5), *before;
        add_physics(ctx, mesh);
        check_ok(ctx, mn_tet_mesh_copy(mesh, &before));
        mn_tet_remesh_def def = mn_tet_remesh_default_def();
        mn_tet_remesh_report remeshed;
        def.quality = 0.6, def.min_edge = 0.12, def.max_edge = 0.32;
        check_ok(ctx, mn_tet_remesh(mesh, &def, &remeshed));
        mn_tet_resample_report report;
        const mn_tet_resample_def names = {.velocity = "v", .mass = "mass"};
        check_ok(ctx, mn_tet_resample(before, mesh, &names, &report));
        assert_true(report.targets > 100 && report.pairs > report.targets);
        const tet_sums a = tet_sum_up(before), b = tet_sum_up(mesh);
        check_close(b.mass, a.mass, 1e-13 * a.mass);
        check_close(b.rest, a.rest, 1e-13 * a.rest);
        check_close(mn_norm(mn_sub(b.momentum, a.momentum)), 0, 1e-13 * a.mass);
        // A constant value stays what it was, and nothing is left empty.
        const mn_tet_field *heat = mn_tet_mesh_find_field(mesh, "heat"),
                           *mass = mn_tet_mesh_find_field(mesh, "mass");
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            if (!mn_tet_alive(mesh, t)) continue;
            check_close(heat->data[t], 300, 1e-9);
            assert_true(mass->data[t] > 0.02 * 1000 * mn_tet_mesh_tet_volume(mesh, t));
        }
        // With the surface of a block unchanged, rest volumes stay volumes.
        if (kind == 0) {
            const mn_tet_field *rest = mn_tet_mesh_find_field(mesh, "rest_volume");
            for (int32_t t = 0; t < mesh->tet_slots; t++)
                if (mn_tet_alive(mesh, t)) check_close(rest->data[t], mn_tet_mesh_tet_volume(mesh, t), 1e-12);
        }
        mn_tet_mesh_free(before);
        mn_tet_mesh_free(mesh);
    }
}

/// A tetrahedron put onto a face, where nothing was before, takes its amounts from the one behind it, which
/// has not changed otherwise; what goes with them must not be lost.
static void test_lenders(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 4), *before;
    int32_t inner = 0, behind = -1, face = 0, tip;
    add_physics(ctx, mesh);
    while (mn_tet_vertex_on_boundary(mesh, inner)) inner++;
    check_ok(ctx, mn_tet_mesh_copy(mesh, &before));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++)
            if (mesh->mate[t][k] < 0 && mn_tet_corner_of(mesh, t, inner) < 0) behind = t, face = k;
    assert_true(behind >= 0);
    mn_vec3 middle = mn_v3(0, 0, 0);
    int32_t v[4];
    for (int32_t c = 0; c < 3; c++) {
        v[c] = mesh->tet[behind][mn_tet_face_corners[face][c]];
        middle = mn_axpy(middle, 1.0 / 3, mesh->position[v[c]]);
    }
    const mn_vec3 *x = mesh->position;
    const mn_vec3 out = mn_normalize(mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
    check_ok(ctx, mn_tet_mesh_add_vertex(mesh, mn_axpy(middle, 0.1, out), 0, NULL, NULL, &tip));
    v[3] = tip;
    check_ok(ctx, mn_tet_mesh_replace(mesh, 0, NULL, 1, (const int32_t(*)[4]) & v, NULL));
    mn_tet_mesh_move_vertex(mesh, inner, mn_axpy(mesh->position[inner], 0.02, out));
    mn_tet_resample_report report;
    const mn_tet_resample_def names = {.velocity = "v", .mass = "mass"};
    check_ok(ctx, mn_tet_resample(before, mesh, &names, &report));
    const tet_sums a = tet_sum_up(before), b = tet_sum_up(mesh);
    assert_true(mn_tet_mesh_find_field(mesh, "mass")->data[behind] <
                0.9 * mn_tet_mesh_find_field(before, "mass")->data[behind]);
    check_close(b.mass, a.mass, 1e-13 * a.mass);
    check_close(mn_norm(mn_sub(b.momentum, a.momentum)), 0, 1e-13 * a.mass);
    mn_tet_mesh_free(before);
    mn_tet_mesh_free(mesh);
}

static void test_nothing_changed_and_bad_names(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 2), *before;
    add_physics(ctx, mesh);
    check_ok(ctx, mn_tet_mesh_copy(mesh, &before));
    mn_tet_resample_report report;
    const mn_tet_resample_def good = {.velocity = "v", .mass = "mass"},
                              bad = {.velocity = "v", .mass = "weight"};
    check_ok(ctx, mn_tet_resample(before, mesh, &good, &report));
    assert_int_equal(report.targets, 0);
    mn_tet_mesh_move_vertex(mesh, 13, mn_v3(0.05, 0.02, 0.01));
    check_fails(ctx, mn_tet_resample(before, mesh, &bad, &report), MN_ERROR_ARGUMENT, "weight");
    mn_tet_mesh_free(before);
    mn_tet_mesh_free(mesh);
}

static mn_status resample_a_block(mn_context *own, failing_allocator *memory)
{
    mn_tet_mesh *mesh = tet_block(own, 2), *before;
    add_physics(own, mesh);
    check_ok(own, mn_tet_mesh_copy(mesh, &before));
    mn_tet_mesh_move_vertex(mesh, 13, mn_v3(0.05, 0.02, 0.01));
    mn_tet_resample_report report;
    const mn_tet_resample_def names = {.velocity = "v", .mass = "mass"};
    failing_begin(memory);
    const mn_status status = mn_tet_resample(before, mesh, &names, &report);
    mn_tet_mesh_free(before);
    mn_tet_mesh_free(mesh);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(resample_a_block, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_overlaps),
        cmocka_unit_test(test_overlaps_add_up),
        cmocka_unit_test(test_conservation),
        cmocka_unit_test(test_lenders),
        cmocka_unit_test(test_nothing_changed_and_bad_names),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
