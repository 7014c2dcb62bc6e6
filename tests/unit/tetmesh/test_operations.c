// SPDX-License-Identifier: Apache-2.0
//
// Local operations: each against what it must keep (validity, volume, topology, fields, sharp edges) and what
// it must reach (the best triangulation, a higher worst quality).
#include "base/predicates.h"
#include "base/random.h"
#include "meniscus/tetmesh.h"
#include "support/failing_allocator.h"
#include "support/one_context.h"
#include "support/tet_operations.h"
#include "support/tet_shapes.h"
#include "tetmesh/edit/edit.h"
#include "tetmesh/quality.h"
#include "tetmesh/surface_model.h"

typedef struct fixture {
    mn_context *ctx;
    mn_tet_mesh *mesh;
    mn_tet_surface_model *model;
    mn_tet_edit edit;
} fixture;

static fixture make(mn_context *ctx, mn_tet_mesh *mesh)
{
    fixture f = {.ctx = ctx, .mesh = mesh};
    check_ok(ctx, mn_tet_surface_model_create(mesh, (mn_tet_surface_def){0.3, 0.1}, &f.model));
    f.edit = (mn_tet_edit){.mesh = mesh, .surface = f.model, .moved = -1};
    return f;
}

static void drop(fixture *f)
{
    mn_tet_edit_free(&f->edit);
    mn_tet_surface_model_free(f->model);
    mn_tet_mesh_free(f->mesh);
}

/// Inner vertices moved at random by a fraction of the edge, where that keeps everything positive.
static void jitter(mn_tet_mesh *mesh, double amount, uint64_t seed)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (mn_tet_vertex_on_boundary(mesh, v)) continue;
        const mn_vec3 from = mesh->position[v];
        mn_tet_mesh_move_vertex(mesh, v, mn_axpy(from, amount, mn_random_direction(seed, (uint64_t)v, 0)));
        MN_TET_STAR(mesh, v, code)
        if (mn_tet_mesh_quality_of(mesh, code / 4) < 0.02) mn_tet_mesh_move_vertex(mesh, v, from);
    }
}

static void check_sane(fixture *f)
{
    mn_tet_topology topology;
    check_ok(f->ctx, mn_tet_mesh_check(f->mesh));
    check_ok(f->ctx, mn_tet_mesh_topology(f->mesh, &topology));
    assert_int_equal(topology.euler, 1);
    assert_int_equal(topology.parts, 1);
    assert_int_equal(topology.vertices, f->mesh->vertex_count);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
}

static void test_flips_come_and_go(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_block(ctx, 4));
    jitter(f.mesh, 0.06, 1);
    const double volume = mn_tet_mesh_volume(f.mesh);
    int flips = 0;
    for (int32_t t = 0; t < f.mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) {
            if (!mn_tet_alive(f.mesh, t) || f.mesh->mate[t][k] < 0) continue;
            const int32_t mate = f.mesh->mate[t][k], a = f.mesh->tet[t][k],
                          b = f.mesh->tet[mate / 4][mate % 4];
            const int32_t count = f.mesh->tet_count;
            bool done;
            check_ok(f.ctx, mn_tet_flip23(&f.edit, t, k, 0.01, &done));
            if (!done) continue;
            assert_int_equal(f.mesh->tet_count, count + 1);
            check_ok(f.ctx, mn_tet_flip32(&f.edit, a, b, -1, &done));
            assert_true(done);
            assert_int_equal(f.mesh->tet_count, count);
            flips++;
        }
    assert_true(flips > 20);
    check_sane(&f);
    check_close(mn_tet_mesh_volume(f.mesh), volume, 1e-13);
    drop(&f);
}

static void test_surface_flips_on_a_flat_face(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_block(ctx, 3));
    int flips = 0, sharp = 0;
    for (int32_t t = 0; t < f.mesh->tet_slots; t++)
        for (int32_t e = 0; e < 6; e++) {
            if (!mn_tet_alive(f.mesh, t)) continue;
            const int32_t a = f.mesh->tet[t][mn_tet_edge_corners[e][0]],
                          b = f.mesh->tet[t][mn_tet_edge_corners[e][1]];
            mn_tet_ring ring;
            bool done;
            if (!mn_tet_ring_of(f.mesh, a, b, &ring) || ring.closed) continue;
            check_ok(f.ctx, mn_tet_flip22(&f.edit, a, b, 0, &done));
            flips += done;
            // An edge of the cube never goes.
            const mn_vec3 x = f.mesh->position[a], y = f.mesh->position[b];
            const int on_edge = (fabs(x.x) == 0.5 && x.x == y.x) + (fabs(x.y) == 0.5 && x.y == y.y) +
                                (fabs(x.z) == 0.5 && x.z == y.z);
            if (on_edge < 2) continue;
            sharp++;
            check_ok(f.ctx, mn_tet_remove_edge(&f.edit, a, b, -1, &done));
            assert_false(done);
        }
    assert_true(flips > 0 && sharp > 20);
    check_sane(&f);
    check_close(mn_tet_mesh_volume(f.mesh), 1, 1e-13);
    drop(&f);
}

/// All triangulations of a polygon, by recursion: the slow twin of the dynamic programming.
static double best_triangulation(const mn_tet_mesh *mesh, const mn_tet_ring *ring, int32_t i, int32_t j)
{
    if (j - i < 2) return INFINITY;
    double best = -INFINITY;
    const mn_vec3 *x = mesh->position;
    const int32_t *v = ring->vertex;
    for (int32_t k = i + 1; k < j; k++) {
        const double here = fmin(mn_tet_quality(x[ring->a], x[v[i]], x[v[k]], x[v[j]]),
                                 mn_tet_quality(x[v[i]], x[v[k]], x[v[j]], x[ring->b]));
        const double sides = fmin(best_triangulation(mesh, ring, i, k), best_triangulation(mesh, ring, k, j));
        best = fmax(best, fmin(here, sides));
    }
    return best;
}

static void test_edge_removal_is_optimal(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_ball(ctx, 5));
    jitter(f.mesh, 0.04, 2);
    const double volume = mn_tet_mesh_volume(f.mesh);
    int removed = 0;
    for (int32_t t = 0; t < f.mesh->tet_slots; t++)
        for (int32_t e = 0; e < 6; e++) {
            if (!mn_tet_alive(f.mesh, t)) continue;
            const int32_t a = f.mesh->tet[t][mn_tet_edge_corners[e][0]],
                          b = f.mesh->tet[t][mn_tet_edge_corners[e][1]];
            mn_tet_ring ring;
            bool done;
            if (!mn_tet_ring_of(f.mesh, a, b, &ring) || !ring.closed || ring.count > 7) continue;
            const double best = best_triangulation(f.mesh, &ring, 0, ring.count - 1);
            double before = INFINITY;
            for (int32_t i = 0; i < ring.tet_count; i++)
                before = fmin(before, mn_tet_mesh_quality_of(f.mesh, ring.tet[i]));
            check_ok(f.ctx, mn_tet_remove_edge(&f.edit, a, b, before, &done));
            assert_int_equal(done, best > before);
            if (done) check_close(f.edit.worst, best, 1e-13);
            removed += done;
        }
    assert_true(removed > 50);
    check_sane(&f);
    check_close(mn_tet_mesh_volume(f.mesh), volume, 1e-13);
    drop(&f);
}

/// Rings of three and four around an edge, with other tetrahedra, which overlap them, on what the removal of
/// the edge would make: it must leave the edge. Without those it takes it out.
static void test_edge_removal_makes_nothing_twice(void **state)
{
    (void)state;
    const mn_vec3 places[] = {{0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0},
                              {3, 3, 3},  {3, 3, 4}, {4, 3, 3}, {4, 4, 4}, {-1, -1, 0}};
    const int32_t four[][4] = {{0, 1, 2, 3}, {0, 1, 3, 4}, {0, 1, 4, 5},
                               {0, 1, 5, 2}, {2, 4, 6, 7}, {3, 5, 8, 9}},
                  three[][4] = {{0, 1, 2, 3}, {0, 1, 3, 10}, {0, 1, 10, 2}, {2, 3, 10, 6}};
    const struct {
        const int32_t (*tets)[4];
        int32_t ring, all;
    } cases[] = {{four, 4, 6}, {three, 3, 4}};
    for (size_t i = 0; i < 2; i++)
        for (int32_t crowded = 0; crowded < 2; crowded++) {
            const int32_t count = crowded ? cases[i].all : cases[i].ring;
            int32_t tets[6][4];
            for (int32_t t = 0; t < count; t++) {
                const int32_t *v = cases[i].tets[t];
                const bool turn = !(mn_orient3d(places[v[0]], places[v[1]], places[v[2]], places[v[3]]) > 0);
                for (int32_t k = 0; k < 4; k++) tets[t][k] = v[turn && k > 1 ? 5 - k : k];
            }
            mn_tet_mesh *mesh;
            check_ok(ctx, mn_tet_mesh_build(ctx, 11, places, count, (const int32_t(*)[4])tets, &mesh));
            fixture f = make(ctx, mesh);
            bool done;
            check_ok(ctx, mn_tet_remove_edge(&f.edit, 0, 1, 0, &done));
            assert_int_equal(done, !crowded);
            check_ok(ctx, mn_tet_mesh_check(mesh));
            drop(&f);
        }
}

static void test_multi_face_removal(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_ball(ctx, 5));
    jitter(f.mesh, 0.05, 3);
    int single = 0, many = 0;
    // Edge removals first make sandwiches to take apart again.
    for (uint32_t i = 0; i < 4000; i++) {
        bool done;
        check_ok(f.ctx, tet_operate(&f.edit, 4, i * 2654435761u, 0.02, &done));
    }
    const double volume = mn_tet_mesh_volume(f.mesh);
    for (int32_t t = 0; t < f.mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) {
            if (!mn_tet_alive(f.mesh, t)) continue;
            const int32_t before = f.mesh->tet_count;
            bool done;
            check_ok(f.ctx, mn_tet_remove_faces(&f.edit, t, k, mn_tet_mesh_quality_of(f.mesh, t), &done));
            if (!done) continue;
            // m faces between 2 m tetrahedra become m + 2 around the new edge.
            const int32_t faces = (int32_t)f.edit.old.count / 2;
            assert_int_equal(f.edit.fresh.count, faces + 2);
            assert_int_equal(f.mesh->tet_count, before - faces + 2);
            if (faces > 1)
                many++;
            else
                single++;
        }
    assert_true(single + many > 50 && many > 20);
    check_sane(&f);
    check_close(mn_tet_mesh_volume(f.mesh), volume, 1e-13);
    drop(&f);
}

static void test_splits(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_block(ctx, 2));
    check_ok(f.ctx, tet_add_fields(f.mesh));
    const double mass = tet_total_mass(f.mesh);
    int done_count[3] = {0};
    for (uint32_t i = 0; i < 300; i++) {
        bool done;
        const int operation = 6 + (int)(i % 3);
        check_ok(f.ctx, tet_operate(&f.edit, operation, i * 2654435761u, 0.05, &done));
        done_count[i % 3] += done;
        check_ok(f.ctx, mn_tet_mesh_check(f.mesh));
    }
    for (int i = 0; i < 3; i++) assert_true(done_count[i] > 10);
    check_sane(&f);
    check_close(mn_tet_mesh_volume(f.mesh), 1, 1e-13);
    check_close(tet_total_mass(f.mesh), mass, 1e-12 * mass);
    const mn_tet_field *x = mn_tet_mesh_find_field(f.mesh, "x");
    for (int32_t v = 0; v < f.mesh->vertex_slots; v++)
        check_close(x->data[3 * v + 1], f.mesh->position[v].y, 1e-14);
    drop(&f);
}

/// A vertex that is put where quality is best has the fields of that place, not of the edge that it divides.
static void test_insertion_carries_linear_fields(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_block(ctx, 3));
    check_ok(f.ctx, tet_add_fields(f.mesh));
    int inserted = 0;
    for (uint32_t i = 0; i < 100; i++) {
        bool done;
        check_ok(f.ctx, tet_operate(&f.edit, 12, i * 2654435761u, 0.05, &done));
        inserted += done;
    }
    assert_true(inserted > 10);
    check_sane(&f);
    const mn_tet_field *x = mn_tet_mesh_find_field(f.mesh, "x");
    for (int32_t v = 0; v < f.mesh->vertex_slots; v++)
        check_close(x->data[3 * v + 1], f.mesh->position[v].y, 1e-12);
    drop(&f);
}

/// Contracting as long as anything can be contracted leaves a cube a cube: corners and edges stay.
static void test_contraction_keeps_the_cube(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_block(ctx, 5));
    const int32_t before = f.mesh->tet_count;
    for (int round = 0; round < 3; round++)
        for (int32_t t = 0; t < f.mesh->tet_slots; t++)
            for (int32_t e = 0; e < 6; e++) {
                bool done;
                if (!mn_tet_alive(f.mesh, t)) break;
                check_ok(f.ctx, mn_tet_contract_edge(&f.edit, f.mesh->tet[t][mn_tet_edge_corners[e][0]],
                                                     f.mesh->tet[t][mn_tet_edge_corners[e][1]], 0.05, &done));
            }
    check_sane(&f);
    assert_true(f.mesh->tet_count < before / 4);
    check_close(mn_tet_mesh_volume(f.mesh), 1, 1e-12);
    drop(&f);
}

static void test_contraction_of_a_ball_keeps_its_surface(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_ball(ctx, 8));
    const double volume = mn_tet_mesh_volume(f.mesh);
    const int32_t before = f.mesh->vertex_count;
    for (uint32_t i = 0; i < 3000; i++) {
        bool done;
        check_ok(f.ctx, tet_operate(&f.edit, 9, i * 2654435761u, 0.2, &done));
    }
    check_sane(&f);
    assert_true(f.mesh->vertex_count < 0.7 * before);
    check_close(mn_tet_mesh_volume(f.mesh), volume, 0.03 * volume);
    for (int32_t v = 0; v < f.mesh->vertex_slots; v++)
        if (mn_tet_vertex_alive(f.mesh, v) && mn_tet_vertex_on_boundary(f.mesh, v))
            check_close(mn_norm(f.mesh->position[v]), 0.5, 0.01);
    drop(&f);
}

/// Twisted needles near an edge and a face: the compound contractions remove what the simple ones cannot.
static void test_compound_contractions(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_ball(ctx, 6));
    jitter(f.mesh, 0.05, 4);
    const double volume = mn_tet_mesh_volume(f.mesh);
    int faces = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t where = i * 2654435761u;
        const int32_t t = (int32_t)(where / 24 % (uint32_t)f.mesh->tet_slots);
        bool done;
        if (!mn_tet_alive(f.mesh, t)) continue;
        const double above = mn_tet_mesh_quality_of(f.mesh, t);
        check_ok(f.ctx, tet_operate(&f.edit, 10, where, above, &done));
        faces += done;
    }
    assert_true(faces > 5);
    // A vertex close above the middle of each face in turn: contracting it with the face removes the flat
    // tetrahedron.
    int tets = 0;
    for (int32_t t = 0, last = f.mesh->tet_slots; t < last; t += 7) {
        static const double close[4] = {0.02, 0.33, 0.33, 0.32};
        int32_t vertex;
        bool done;
        if (!mn_tet_alive(f.mesh, t) || mn_tet_mesh_quality_of(f.mesh, t) < 0.4) continue;
        check_ok(f.ctx, mn_tet_split_tet(&f.edit, t, close, 0, &vertex));
        assert_true(vertex >= 0);
        int32_t flat = -1;
        MN_TET_STAR(f.mesh, vertex, code)
        if (flat < 0 || mn_tet_mesh_quality_of(f.mesh, code / 4) < mn_tet_mesh_quality_of(f.mesh, flat))
            flat = code / 4;
        const double above = mn_tet_mesh_quality_of(f.mesh, flat);
        check_ok(f.ctx,
                 mn_tet_contract_tet(&f.edit, flat, mn_tet_corner_of(f.mesh, flat, vertex), above, &done));
        tets += done;
    }
    assert_true(tets > 20);
    check_sane(&f);
    check_close(mn_tet_mesh_volume(f.mesh), volume, 0.01 * volume);
    drop(&f);
}

/// Worst quality of tetrahedra with an inner vertex: those with four on the surface are not for smoothing.
static double inner_worst(const mn_tet_mesh *mesh)
{
    double worst = INFINITY;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        int32_t boundary = 0;
        for (int32_t k = 0; k < 4; k++) boundary += mn_tet_vertex_on_boundary(mesh, mesh->tet[t][k]);
        if (boundary < 4) worst = fmin(worst, mn_tet_mesh_quality_of(mesh, t));
    }
    return worst;
}

static void test_smoothing_raises_the_worst(void **state)
{
    (void)state;
    fixture f = make(ctx, tet_ball(ctx, 6));
    jitter(f.mesh, 0.05, 5);
    check_ok(f.ctx, tet_add_fields(f.mesh));
    const double mass = tet_total_mass(f.mesh);
    const double before = inner_worst(f.mesh);
    for (int round = 0; round < 6; round++)
        for (int32_t v = 0; v < f.mesh->vertex_slots; v++) {
            double worst = INFINITY;
            bool done;
            MN_TET_STAR(f.mesh, v, code) worst = fmin(worst, mn_tet_mesh_quality_of(f.mesh, code / 4));
            check_ok(f.ctx, mn_tet_smooth_vertex(&f.edit, v, 1e-4, &done));
            double now = INFINITY;
            MN_TET_STAR(f.mesh, v, code) now = fmin(now, mn_tet_mesh_quality_of(f.mesh, code / 4));
            assert_true(done ? now > worst : now == worst);
        }
    assert_true(before < 0.05 && inner_worst(f.mesh) > 5 * before);
    check_sane(&f);
    check_close(tet_total_mass(f.mesh), mass, 1e-11 * mass);
    // Samples and normals of a sphere are fitted exactly, so sliding stays on it.
    const mn_tet_field *x = mn_tet_mesh_find_field(f.mesh, "x");
    for (int32_t v = 0; v < f.mesh->vertex_slots; v++) {
        if (mn_tet_vertex_on_boundary(f.mesh, v))
            check_close(mn_norm(f.mesh->position[v]), 0.5, 1e-6);
        else
            check_close(x->data[3 * v], f.mesh->position[v].x, 1e-9);
    }
    drop(&f);
}

/// Long random sequences of everything, with all invariants after each.
static void test_random_sequences(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        fixture f = make(ctx, seed == 1 ? tet_block(ctx, 3) : tet_ball(ctx, 4));
        check_ok(f.ctx, tet_add_fields(f.mesh));
        const double mass = tet_total_mass(f.mesh), volume = mn_tet_mesh_volume(f.mesh);
        int changes[TET_OPERATIONS] = {0};
        for (uint64_t i = 0; i < 2500; i++) {
            const int operation = (int)(mn_random_unit(seed, i, 0) * TET_OPERATIONS);
            const uint32_t where = (uint32_t)(mn_random_unit(seed, i, 1) * 4294967295.0);
            bool done;
            check_ok(f.ctx, tet_operate(&f.edit, operation, where, 0.02, &done));
            changes[operation] += done;
            if (done && i % 5 == 0) check_sane(&f);
            if (f.mesh->tet_count > 3000) break;
        }
        check_sane(&f);
        check_close(tet_total_mass(f.mesh), mass, 1e-11 * mass);
        check_close(mn_tet_mesh_volume(f.mesh), volume, seed == 1 ? 1e-11 : 0.05 * volume);
        for (int i = 0; i < TET_OPERATIONS; i++)
            // The surface of a block or ball has few places for a 2-2 flip, and nothing flat to peel.
            if (i != 3 && i != 14 && changes[i] == 0) fail_msg("%s never happened", tet_operation_names[i]);
        drop(&f);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (int64_t n = 20; n < 120; n++) {
        failing_allocator memory = {.fail_at = -1};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        fixture f = make(ctx, tet_block(ctx, 2));
        memory.calls = 0, memory.fail_at = n % 40;
        for (uint32_t i = 0; i < 200; i++) {
            bool done;
            const mn_status status =
                tet_operate(&f.edit, (int)(i % TET_OPERATIONS), (i + (uint32_t)n) * 2654435761u, 0.05, &done);
            if (status != MN_OK) {
                assert_int_equal(status, MN_ERROR_MEMORY);
                break;
            }
        }
        check_ok(ctx, mn_tet_mesh_check(f.mesh));
        drop(&f);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips_come_and_go),
        cmocka_unit_test(test_surface_flips_on_a_flat_face),
        cmocka_unit_test(test_edge_removal_is_optimal),
        cmocka_unit_test(test_edge_removal_makes_nothing_twice),
        cmocka_unit_test(test_multi_face_removal),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_insertion_carries_linear_fields),
        cmocka_unit_test(test_contraction_keeps_the_cube),
        cmocka_unit_test(test_contraction_of_a_ball_keeps_its_surface),
        cmocka_unit_test(test_compound_contractions),
        cmocka_unit_test(test_smoothing_raises_the_worst),
        cmocka_unit_test(test_random_sequences),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
