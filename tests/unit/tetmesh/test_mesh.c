// SPDX-License-Identifier: Apache-2.0
//
// The mesh structure: connections, stars, exchange of tetrahedra, fields, compaction, bad input and no
// memory.
#include "base/random.h"
#include "meniscus/tetmesh.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"
#include "support/tet_shapes.h"
#include "tetmesh/cut/cut.h"

static void test_a_block_is_connected(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 5);
    check_ok(ctx, mn_tet_mesh_check(mesh));
    assert_int_equal(mesh->tet_count, 750);
    check_close(mn_tet_mesh_volume(mesh), 1, 1e-13); // rounding of up to 750 terms
    mn_tet_topology topology;
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.euler, 1);
    assert_int_equal(topology.parts, 1);
    assert_int_equal(topology.boundary_faces, 6 * 25 * 2);
    // The surface is a sphere: V - E + F = 2.
    assert_int_equal(topology.boundary_vertices - topology.boundary_edges + topology.boundary_faces, 2);
    assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices,
                     0);
    mn_tet_mesh_free(mesh);
}

/// Deleting everything one by one in random order keeps all invariants, and building it again gives it back.
static void test_remove_and_insert(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 3);
    const int32_t count = mesh->tet_count;
    int32_t kept[162][4], created;
    assert_int_equal(count, 162);
    memcpy(kept, mesh->tet, sizeof kept);
    for (int32_t i = 0; i < count; i++) {
        const int32_t t = (i * 61) % count; // 61 and 162 have no common factor
        check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &t, 0, NULL, NULL));
        check_ok(ctx, mn_tet_mesh_check(mesh));
    }
    assert_int_equal(mesh->tet_count, 0);
    for (int32_t i = 0; i < count; i++) {
        check_ok(ctx, mn_tet_mesh_replace(mesh, 0, NULL, 1, (const int32_t(*)[4])kept[(i * 37 + 5) % count],
                                          &created));
        check_ok(ctx, mn_tet_mesh_check(mesh));
    }
    mn_tet_topology topology;
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.euler, 1);
    assert_int_equal(topology.boundary_faces, 6 * 9 * 2);
    check_close(mn_tet_mesh_volume(mesh), 1, 1e-13); // rounding of up to 750 terms
    mn_tet_mesh_free(mesh);
}

static void test_pinches_are_seen(void **state)
{
    (void)state;
    mn_tet_topology topology;
    // Two tetrahedra that share a vertex, then two that share an edge.
    const mn_vec3 x[7] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    const int32_t vertex[2][4] = {{0, 1, 2, 3}, {0, 5, 4, 6}}, edge[2][4] = {{0, 1, 2, 3}, {0, 4, 5, 3}};
    mn_tet_mesh *mesh;
    check_ok(ctx, mn_tet_mesh_build(ctx, 7, x, 2, vertex, &mesh));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.face_type_vertices, 1);
    assert_int_equal(topology.parts, 2);
    mn_tet_mesh_free(mesh);
    check_ok(ctx, mn_tet_mesh_build(ctx, 7, x, 2, edge, &mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.nonmanifold_edges, 1);
    assert_int_equal(topology.face_type_vertices, 2);
    mn_tet_mesh_free(mesh);

    // A cavity inside that touches the outside in one vertex: the boundary there is two fans.
    mesh = tet_block(ctx, 4);
    int32_t corner = -1;
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mn_norm(mn_sub(mesh->position[v], mn_v3(-0.25, 0, 0))) < 1e-9) corner = v;
    assert_true(corner >= 0 && !mn_tet_vertex_on_boundary(mesh, corner));
    int32_t hole = -1;
    MN_TET_STAR(mesh, corner, code)
    {
        int32_t touching = 0;
        for (int32_t k = 0; k < 4; k++) touching += mn_tet_vertex_on_boundary(mesh, mesh->tet[code / 4][k]);
        if (touching == 1) hole = code / 4;
    }
    assert_true(hole >= 0);
    check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &hole, 0, NULL, NULL));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
    assert_int_equal(topology.edge_type_vertices, 1);
    assert_int_equal(topology.face_type_vertices, 0);
    mn_tet_mesh_free(mesh);
}

/// Blocks with random holes touch themselves in vertices and edges everywhere; parting cures all of it and
/// keeps what every tetrahedron holds.
static void test_touching_parts_come_apart(void **state)
{
    (void)state;
    int64_t vertices_seen = 0, edges_seen = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        mn_tet_mesh *mesh = tet_block(ctx, 4);
        mn_tet_field *mass;
        check_ok(ctx, mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass));
        const double kept = 0.2 + 0.6 * mn_random_unit(1, seed, 0);
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            mass->data[t] = 1 + t;
            if (mn_random_unit(2, seed, (uint32_t)t) > kept)
                check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &t, 0, NULL, NULL));
        }
        double before = 0, after = 0;
        for (int32_t t = 0; t < mesh->tet_slots; t++)
            if (mn_tet_alive(mesh, t)) before += mass->data[t];
        const double volume = mn_tet_mesh_volume(mesh);
        int64_t vertices, edges;
        mn_tet_topology topology;
        check_ok(ctx, mn_tet_mesh_separate(mesh, &vertices, &edges));
        check_ok(ctx, mn_tet_mesh_check(mesh));
        check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
        assert_int_equal(topology.nonmanifold_edges, 0);
        assert_int_equal(topology.face_type_vertices, 0);
        for (int32_t t = 0; t < mesh->tet_slots; t++)
            if (mn_tet_alive(mesh, t)) after += mass->data[t];
        check_close(after, before, 1e-12 * before);
        check_close(mn_tet_mesh_volume(mesh), volume, 1e-13);
        vertices_seen += vertices, edges_seen += edges;
        mn_tet_mesh_free(mesh);
    }
    assert_true(vertices_seen > 1000 && edges_seen > 20);
}

static void test_bad_input_is_named(void **state)
{
    (void)state;
    const mn_vec3 x[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}, {0, 0, 2}};
    mn_vec3 nan[6];
    memcpy(nan, x, sizeof x);
    nan[2].y = NAN;
    mn_tet_mesh *mesh;
    const int32_t good[1][4] = {{0, 1, 2, 3}}, twice[1][4] = {{0, 1, 1, 3}}, far[1][4] = {{0, 1, 2, 9}};
    const int32_t crowd[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}, {0, 1, 2, 5}};
    check_fails(ctx, mn_tet_mesh_build(ctx, 6, nan, 1, good, &mesh), MN_ERROR_INPUT, "point 2");
    check_fails(ctx, mn_tet_mesh_build(ctx, 6, x, 1, twice, &mesh), MN_ERROR_INPUT, "twice");
    check_fails(ctx, mn_tet_mesh_build(ctx, 6, x, 1, far, &mesh), MN_ERROR_INPUT, "point 9");
    check_fails(ctx, mn_tet_mesh_build(ctx, 6, x, 3, crowd, &mesh), MN_ERROR_INPUT, "0, 1 and 2 share");
    assert_null(mesh);
    const int32_t inverted[1][4] = {{0, 2, 1, 3}};
    check_ok(ctx, mn_tet_mesh_build(ctx, 6, x, 1, inverted, &mesh));
    check_fails(ctx, mn_tet_mesh_check(mesh), MN_ERROR_INPUT, "inverted");
    mn_tet_mesh_free(mesh);

    // A refused change leaves the mesh as it was.
    check_ok(ctx, mn_tet_mesh_build(ctx, 6, x, 2, crowd, &mesh));
    check_fails(ctx, mn_tet_mesh_replace(mesh, 0, NULL, 1, (const int32_t(*)[4])crowd[2], NULL),
                MN_ERROR_ARGUMENT, "three tetrahedra");
    const int32_t gone = 7;
    check_fails(ctx, mn_tet_mesh_replace(mesh, 1, &gone, 0, NULL, NULL), MN_ERROR_ARGUMENT, "not there");
    check_ok(ctx, mn_tet_mesh_check(mesh));
    assert_int_equal(mesh->tet_count, 2);
    mn_tet_mesh_free(mesh);
}

static void test_fields_follow(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 2);
    mn_tet_field *mass, *strain, *velocity;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass));
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "strain", MN_TET_VALUE, 2, &strain));
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &velocity));
    check_fails(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 2, NULL), MN_ERROR_ARGUMENT,
                "another kind");
    mass = mn_tet_mesh_find_field(mesh, "mass");
    velocity = mn_tet_mesh_find_field(mesh, "v");
    strain = mn_tet_mesh_find_field(mesh, "strain");
    double total = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        total += mass->data[t] = 1 + t;
        strain->data[2 * t] = 4, strain->data[2 * t + 1] = t;
    }
    for (int32_t i = 0; i < 3 * mesh->vertex_slots; i++) velocity->data[i] = i;

    // Split tetrahedron 5 into four by its centre.
    const int32_t old = 5;
    int32_t v[4], centre, fresh[4][4], created[4];
    const double quarter[4] = {0.25, 0.25, 0.25, 0.25};
    mn_vec3 middle = {0, 0, 0};
    memcpy(v, mesh->tet[old], sizeof v);
    for (int32_t k = 0; k < 4; k++) middle = mn_axpy(middle, 0.25, mesh->position[v[k]]);
    check_ok(ctx, mn_tet_mesh_add_vertex(mesh, middle, 4, v, quarter, &centre));
    for (int32_t k = 0; k < 4; k++) {
        memcpy(fresh[k], v, sizeof v);
        fresh[k][k] = centre;
    }
    check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &old, 4, (const int32_t(*)[4])fresh, created));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    double after = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) after += mass->data[t];
    check_close(after, total, 1e-12 * total);
    check_close(mass->data[created[2]], 6.0 / 4, 1e-14);
    check_close(strain->data[2 * created[1] + 1], 5, 1e-14);
    check_close(velocity->data[3 * centre], 3 * 0.25 * (v[0] + v[1] + v[2] + v[3]), 1e-12);
    mn_tet_mesh_free(mesh);
}

static void test_compaction_keeps_everything(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = tet_block(ctx, 4), *copy;
    mn_tet_field *mass;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass));
    for (int32_t t = 0; t < mesh->tet_slots; t++) mass->data[t] = mn_tet_mesh_tet_volume(mesh, t);
    // Cut off the half x > 0.
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double x = 0;
        for (int32_t k = 0; k < 4; k++) x += mesh->position[mesh->tet[t][k]].x;
        if (x > 0) check_ok(ctx, mn_tet_mesh_replace(mesh, 1, &t, 0, NULL, NULL));
    }
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mesh->star_first[v] < 0) mn_tet_mesh_remove_vertex(mesh, v);
    check_ok(ctx, mn_tet_mesh_check(mesh));
    check_ok(ctx, mn_tet_mesh_copy(mesh, &copy));
    check_ok(ctx, mn_tet_mesh_check(copy));
    int32_t vertex_map[125];
    const int64_t id = mesh->vertex_id[120];
    check_ok(ctx, mn_tet_mesh_compact(mesh, vertex_map, NULL));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    assert_int_equal(mesh->tet_slots, 192);
    assert_int_equal(mesh->vertex_slots, 75);
    assert_int_equal(mesh->vertex_id[vertex_map[120]], id);
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        check_close(mass->data[t], mn_tet_mesh_tet_volume(mesh, t), 0);
    mn_tet_topology a, b;
    check_ok(ctx, mn_tet_mesh_topology(mesh, &a));
    check_ok(ctx, mn_tet_mesh_topology(copy, &b));
    assert_memory_equal(&a, &b, sizeof a);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(copy);
}

static mn_status run_without_memory(mn_context *ctx)
{
    const mn_vec3 x[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 0.2}};
    const int32_t one[1][4] = {{0, 1, 2, 3}},
                  four[4][4] = {{4, 1, 2, 3}, {0, 4, 2, 3}, {0, 1, 4, 3}, {0, 1, 2, 4}};
    const int32_t old = 0;
    mn_tet_mesh *mesh = NULL, *copy = NULL;
    mn_tet_topology topology;
    mn_tet_field *field;
    mn_status status;
    MN_TRY(mn_tet_mesh_build(ctx, 5, x, 1, one, &mesh));
    MN_TRY_TO(done, status, mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 80, &field));
    MN_TRY_TO(done, status, mn_tet_mesh_replace(mesh, 1, &old, 4, four, NULL));
    for (int32_t i = 0; i < 20; i++) {
        int32_t v;
        MN_TRY_TO(done, status, mn_tet_mesh_add_vertex(mesh, mn_v3(i, i, i), 0, NULL, NULL, &v));
    }
    MN_TRY_TO(done, status, mn_tet_mesh_copy(mesh, &copy));
    MN_TRY_TO(done, status, mn_tet_mesh_topology(copy, &topology));
    MN_TRY_TO(done, status, mn_tet_mesh_compact(copy, NULL, NULL));
done:
    if (mesh) assert_int_equal(mn_tet_mesh_check(mesh), MN_OK);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(copy);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out(run_without_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_is_connected),
        cmocka_unit_test(test_remove_and_insert),
        cmocka_unit_test(test_pinches_are_seen),
        cmocka_unit_test(test_touching_parts_come_apart),
        cmocka_unit_test(test_bad_input_is_named),
        cmocka_unit_test(test_fields_follow),
        cmocka_unit_test(test_compaction_keeps_everything),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
