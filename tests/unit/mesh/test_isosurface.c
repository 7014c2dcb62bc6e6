// SPDX-License-Identifier: Apache-2.0
#include "support/check.h"
#include "support/mesh_checks.h"
#include "support/out_of_memory.h"

#include "base/random.h"
#include "mesh/cell_cuts.h"
#include "mesh/isosurface.h"
#include "space/blocks.h"

typedef struct field {
    mn_context *ctx;
    mn_blocks *blocks;
    mn_isosurface *iso;
    double *phi;
} field;

static void open_field(field *f, int32_t workers)
{
    mn_hooks hooks = {.max_workers = workers};
    f->ctx = mn_context_create(&hooks);
    check_ok(f->ctx, mn_blocks_create(f->ctx, &f->blocks));
    check_ok(f->ctx, mn_isosurface_create(f->ctx, &f->iso));
    f->phi = NULL;
}

static void close_field(field *f)
{
    mn_blocks_free(f->blocks);
    mn_isosurface_free(f->iso);
    assert_int_equal(mn_context_bytes(f->ctx), 0);
    mn_context_free(f->ctx);
    free(f->phi);
}

/// Blocks of a box and phi = fn at their nodes.
static void fill_box(field *f, mn_vec3 origin, double dx, mn_ivec3 low, mn_ivec3 high,
                     double (*fn)(mn_vec3, const void *), const void *user)
{
    mn_ivec3 coords[4096];
    int64_t count = 0;
    for (int32_t x = low.x; x < high.x; x++)
        for (int32_t y = low.y; y < high.y; y++)
            for (int32_t z = low.z; z < high.z; z++) coords[count++] = mn_iv3(x, y, z);
    check_ok(f->ctx, mn_blocks_build_from_coords(f->blocks, origin, dx, count, coords, 0));
    const mn_block_table table = mn_blocks_table(f->blocks);
    free(f->phi);
    f->phi = malloc(sizeof(double) * 64 * (size_t)table.count);
    for (int32_t i = 0; i < table.count * 64; i++)
        f->phi[i] = fn(mn_block_node_position(&table, i / 64, i % 64), user);
}

static void check_closed(const mn_iso_mesh *m)
{
    assert_int_equal(mesh_defects(m->triangles, m->triangle_count, m->vertex_count), 0);
    assert_true(mesh_is_vertex_manifold(m->triangles, m->triangle_count, m->vertex_count));
}

static double no_degenerate(const mn_iso_mesh *m, double dx)
{
    double least = 1e300;
    for (int32_t t = 0; t < m->triangle_count; t++)
        least = fmin(least, mn_norm(mesh_area_vector(m->positions, m->triangles[t])));
    return least / (dx * dx);
}

/// Cut edges of each configuration are joined in closed loops, at most one of them through an inner vertex.
static void test_cuts_close_inside_of_the_cell(void **state)
{
    (void)state;
    static cell_cut cuts[2][256];
    mn_cell_cuts_tetrahedra(cuts[0]);
    mn_cell_cuts_cubes(cuts[1]);
    for (int32_t method = 0; method < 2; method++)
        for (int32_t c = 0; c < 256; c++) {
            const cell_cut *cut = &cuts[method][c];
            assert_true(cut->count <= CUT_TRIANGLES_MAX);
            assert_int_equal(cut->count == 0, c == 0 || c == 255);
            int32_t used[64][64] = {{0}}, fans = 0;
            for (int32_t t = 0; t < cut->count; t++)
                for (int32_t k = 0; k < 3; k++) {
                    const cut_vertex a = cut->triangles[t][k], b = cut->triangles[t][(k + 1) % 3];
                    if (a == CUT_INNER) fans++;
                    assert_true(!used[a][b]); // no edge twice in one direction
                    used[a][b] = 1;
                    if (a == CUT_INNER) continue;
                    // It is an edge of the cell with one end inside.
                    const int32_t low = a >> 3, high = low | (a & 7);
                    assert_int_equal(low & (a & 7), 0);
                    assert_int_equal((c >> low & 1) + (c >> high & 1), 1);
                }
            assert_int_equal(fans, cut->inner ? cut->inner_count : 0);
        }
}

static double random_field(mn_vec3 x, const void *user)
{
    const uint64_t id = (uint64_t)(llround(x.x) + 100) * 1000003 + (uint64_t)(llround(x.y) + 100) * 1009 +
                        (uint64_t)(llround(x.z) + 100);
    return mn_random_unit(*(const uint64_t *)user, id, 0) - 0.5;
}
/// Only -1, 0 and 1: exact zeros everywhere.
static double ternary_field(mn_vec3 x, const void *user)
{
    return floor(6.0 * (random_field(x, user) + 0.5) / 2.0) - 1.0;
}

/// Random values at every node, also at the end of the grid, and a grid with holes, still give a closed mesh
/// of proper triangles: for both methods, with exact zeros, with values that are not finite.
static void test_random_fields_are_watertight(void **state)
{
    (void)state;
    field f;
    open_field(&f, 2);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        fill_box(&f, mn_v3(0, 0, 0), 1.0, mn_iv3(-2, -1, 0), mn_iv3(2, 2, 3),
                 seed % 2 ? random_field : ternary_field, &seed);
        if (seed % 3 == 0) {
            f.phi[777] = NAN;
            f.phi[1234] = INFINITY;
            f.phi[1235] = -INFINITY;
        }
        const double level = seed % 4 == 0 ? 0.2 : 0.0;
        for (int method = 0; method < 2; method++) {
            check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, f.phi, level, (mn_iso_method)method));
            const mn_iso_mesh m = mn_isosurface_mesh(f.iso);
            assert_true(m.triangle_count > 300);
            check_closed(&m);
            // The smallest: a corner of three vertices a hundredth of an edge away, 0.5e-4, or thinner by
            // angles.
            assert_true(no_degenerate(&m, 1.0) > 1e-6);
            for (int32_t v = 0; v < m.vertex_count; v++) {
                assert_true(mn_is_finite3(m.positions[v]));
                assert_true(m.vertex_fractions[v] > 0.0 && m.vertex_fractions[v] < 1.0);
            }
        }
    }
    close_field(&f);
}

/// Blocks missing here and there.
static void test_sparse_grid_is_closed_at_its_end(void **state)
{
    (void)state;
    field f;
    open_field(&f, 1);
    mn_ivec3 coords[64];
    int64_t count = 0;
    for (int32_t i = 0; i < 64; i++)
        if (mn_random_unit(5, (uint64_t)i, 0) < 0.6) coords[count++] = mn_iv3(i / 16, i / 4 % 4, i % 4);
    check_ok(f.ctx, mn_blocks_build_from_coords(f.blocks, mn_v3(0, 0, 0), 1.0, count, coords, 0));
    f.phi = malloc(sizeof(double) * 64 * (size_t)count);
    for (int64_t i = 0; i < 64 * count; i++) f.phi[i] = mn_random_unit(6, (uint64_t)i, 0) - 0.7;
    for (int method = 0; method < 2; method++) {
        check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, f.phi, 0.0, (mn_iso_method)method));
        const mn_iso_mesh m = mn_isosurface_mesh(f.iso);
        assert_true(m.triangle_count > 500);
        check_closed(&m);
    }
    close_field(&f);
}

static double sphere_field(mn_vec3 x, const void *user)
{
    return mn_norm(x) - *(const double *)user;
}

/// Area and volume of a ball converge with the square of the spacing, both from inside; vertices lie on the
/// surface to second order; normals point outward along the gradient.
static void test_ball(void **state)
{
    (void)state;
    field f;
    open_field(&f, 2);
    const double radius = 1.0, area = 4 * M_PI, volume = 4 * M_PI / 3;
    for (int method = 0; method < 2; method++) {
        double area_error[2], volume_error[2];
        for (int level = 0; level < 2; level++) {
            const double dx = 0.1 / (1 << level);
            const int32_t n = 4 << level;
            fill_box(&f, mn_v3(0.013, 0.007, 0.021), dx, mn_iv3(-n, -n, -n), mn_iv3(n, n, n), sphere_field,
                     &radius);
            check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, f.phi, 0.0, (mn_iso_method)method));
            const mn_iso_mesh m = mn_isosurface_mesh(f.iso);
            check_closed(&m);
            assert_int_equal(m.vertex_count - m.triangle_count / 2, 2); // Euler's number of a sphere
            area_error[level] = 1.0 - mesh_area(m.positions, m.triangles, m.triangle_count) / area;
            volume_error[level] = 1.0 - mesh_volume(m.positions, m.triangles, m.triangle_count) / volume;
            for (int32_t t = 0; t < m.triangle_count; t++) {
                const mn_vec3 center = mn_scale(
                    1.0 / 3, mn_add(m.positions[m.triangles[t][0]],
                                    mn_add(m.positions[m.triangles[t][1]], m.positions[m.triangles[t][2]])));
                assert_true(mn_dot(mesh_area_vector(m.positions, m.triangles[t]), center) > 0.0);
            }
            // An edge of length l <= sqrt(3) dx crosses at most l^2 / 8 R off, and the snap adds 0.01 l.
            for (int32_t v = 0; v < m.vertex_count; v++)
                check_close(mn_norm(m.positions[v]), radius, 3 * dx * dx / 8 + 0.018 * dx);
        }
        // Linear along edges of length l, the surface lies at most l^2 / 8 R = 3 dx^2 / 8 R inside: that is
        // at most 2 and 3 times as much, over R, of area and volume; four times less on half the spacing.
        assert_true(area_error[0] > 0.0 && area_error[0] < 6 * 0.01 / 8);
        assert_true(volume_error[0] > 0.0 && volume_error[0] < 9 * 0.01 / 8);
        check_close(area_error[0] / area_error[1], 4.0, 0.6);
        check_close(volume_error[0] / volume_error[1], 4.0, 0.6);
    }
    close_field(&f);
}

/// What lives on nodes is interpolated by the two nodes and the fraction: a linear function exactly.
static void test_vertices_interpolate_nodes(void **state)
{
    (void)state;
    field f;
    open_field(&f, 1);
    const double radius = 0.7;
    fill_box(&f, mn_v3(0, 0, 0), 0.1, mn_iv3(-3, -3, -3), mn_iv3(3, 3, 3), sphere_field, &radius);
    check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, f.phi, 0.0, MN_ISO_TETRAHEDRA));
    const mn_iso_mesh m = mn_isosurface_mesh(f.iso);
    const mn_block_table table = mn_blocks_table(f.blocks);
    for (int32_t v = 0; v < m.vertex_count; v++) {
        const int32_t a = m.vertex_nodes[v][0], b = m.vertex_nodes[v][1];
        assert_true(a >= 0 && b >= 0);
        const mn_vec3 p = mn_lerp(mn_block_node_position(&table, a / 64, a % 64),
                                  mn_block_node_position(&table, b / 64, b % 64), m.vertex_fractions[v]);
        assert_true(mn_distance(p, m.positions[v]) < 1e-14);
    }
    close_field(&f);
}

static uint64_t mesh_hash(int32_t workers, int method)
{
    field f;
    open_field(&f, workers);
    const uint64_t seed = 99;
    fill_box(&f, mn_v3(0, 0, 0), 1.0, mn_iv3(-2, -2, -2), mn_iv3(2, 2, 2), random_field, &seed);
    check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, f.phi, 0.0, (mn_iso_method)method));
    const mn_iso_mesh m = mn_isosurface_mesh(f.iso);
    uint64_t h = 1;
    const uint8_t *bytes = (const uint8_t *)m.positions;
    for (size_t i = 0; i < sizeof(mn_vec3) * (size_t)m.vertex_count; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
    bytes = (const uint8_t *)m.triangles;
    for (size_t i = 0; i < 12 * (size_t)m.triangle_count; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
    close_field(&f);
    return h;
}

static void test_any_number_of_workers(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        const uint64_t one = mesh_hash(1, method);
        assert_true(one == mesh_hash(2, method));
        assert_true(one == mesh_hash(3, method));
        assert_true(one == mesh_hash(8, method));
    }
}

static void test_nothing_inside(void **state)
{
    (void)state;
    field f;
    open_field(&f, 1);
    const double radius = -1.0;
    check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, NULL, 0.0, MN_ISO_CUBES));
    assert_int_equal(mn_isosurface_mesh(f.iso).triangle_count, 0);
    fill_box(&f, mn_v3(0, 0, 0), 0.1, mn_iv3(-1, -1, -1), mn_iv3(1, 1, 1), sphere_field, &radius);
    check_ok(f.ctx, mn_isosurface_run(f.iso, f.blocks, f.phi, 0.0, MN_ISO_CUBES));
    assert_int_equal(mn_isosurface_mesh(f.iso).triangle_count, 0);
    assert_int_equal(mn_isosurface_mesh(f.iso).vertex_count, 0);
    close_field(&f);
}

static mn_status mesh_one_block(mn_context *ctx)
{
    mn_blocks *blocks = NULL;
    mn_isosurface *iso = NULL;
    const mn_ivec3 coord = {0, 0, 0};
    double phi[64 * 27];
    for (int i = 0; i < 64 * 27; i++) phi[i] = mn_random_unit(3, (uint64_t)i, 0) - 0.5;
    mn_status status = mn_blocks_create(ctx, &blocks);
    if (status == MN_OK) status = mn_isosurface_create(ctx, &iso);
    if (status == MN_OK) status = mn_blocks_build_from_coords(blocks, mn_v3(0, 0, 0), 1.0, 1, &coord, 1);
    if (status == MN_OK) status = mn_isosurface_run(iso, blocks, phi, 0.0, MN_ISO_CUBES);
    mn_blocks_free(blocks);
    mn_isosurface_free(iso);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out(mesh_one_block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_close_inside_of_the_cell),
        cmocka_unit_test(test_random_fields_are_watertight),
        cmocka_unit_test(test_sparse_grid_is_closed_at_its_end),
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_vertices_interpolate_nodes),
        cmocka_unit_test(test_any_number_of_workers),
        cmocka_unit_test(test_nothing_inside),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("mesh/isosurface", tests, NULL, NULL);
}
