// SPDX-License-Identifier: Apache-2.0
//
// Isosurface stuffing: the angle bound on smooth, sharp, thin and random surfaces, volume and distance to the
// surface, closed manifold boundary, grading, lost features, bad definitions, no memory, same bits on any
// threads.
#include "meniscus/predicates.h"
#include "meniscus/tet_quality.h"
#include "meniscus/tet_stuffing.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"

// The bound of [labelle2007], which validation row M1 asks for (10.7 to 164.8).
static const double smallest = 10.78, largest = 164.74;

typedef struct shape {
    int kind;
    mn_mat3 turn; ///< pose, so that nothing lines up with the lattice
    mn_vec3 centre;
    double noise; ///< of a sheet: its thickness
} shape;

enum { BALL, TORUS, PLATE, CUBE, NOISE, TWO_BALLS, SHEET };

static double lattice_noise(mn_vec3 x)
{
    // A value per unit cell, constant inside: as far from a distance as a level set can be.
    const int64_t i = (int64_t)floor(x.x * 20 + 500), j = (int64_t)floor(x.y * 20 + 500),
                  k = (int64_t)floor(x.z * 20 + 500);
    return mn_random_unit(3, (uint64_t)(i + 1000 * j + 1000000 * k), 0) - 0.5;
}

static double shape_value(const shape *s, mn_vec3 x)
{
    const mn_vec3 p = mn_m3_apply(mn_m3_transpose(s->turn), mn_sub(x, s->centre));
    switch (s->kind) {
    case BALL:
        return mn_norm(p) - 0.5;
    case TORUS:
        return hypot(hypot(p.x, p.y) - 0.35, p.z) - 0.15;
    case PLATE:
    case SHEET:
    case CUBE: {
        // The plate is 0.12 thick with a round rim, the sheet as thick as it says; the cube is sharp.
        const double rim = s->kind == CUBE ? 0 : s->kind == SHEET ? 0.5 * s->noise : 0.06;
        const mn_vec3 half = s->kind == CUBE ? mn_v3(0.3, 0.3, 0.3) : mn_v3(0.39, 0.39, 0);
        const mn_vec3 q = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
        return mn_norm(mn_max3(q, mn_v3(0, 0, 0))) + fmin(fmax(q.x, fmax(q.y, q.z)), 0) - rim;
    }
    case TWO_BALLS:
        return fmin(mn_norm(mn_sub(p, mn_v3(0.24, 0, 0))), mn_norm(mn_add(p, mn_v3(0.24, 0, 0)))) - 0.2;
    default:
        return fmax(lattice_noise(x), mn_norm(p) - 0.55);
    }
}

static void level(void *user, int64_t count, const mn_vec3 *positions, double *values)
{
    for (int64_t i = 0; i < count; i++) values[i] = shape_value(user, positions[i]);
}

static mn_tet_stuffing_def def_of(shape *s, double size, double gradation)
{
    mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
    def.level = level, def.user = s;
    def.size = size, def.gradation = gradation;
    def.bounds = (mn_box){mn_sub(s->centre, mn_v3(0.7, 0.7, 0.7)), mn_add(s->centre, mn_v3(0.7, 0.7, 0.7))};
    return def;
}

static mn_tet_mesh *stuffed(mn_context *ctx, shape *s, double size, double gradation, mn_tet_stuffing *result)
{
    const mn_tet_stuffing_def def = def_of(s, size, gradation);
    mn_tet_mesh *mesh;
    check_ok(ctx, mn_tet_stuff(ctx, &def, result));
    check_ok(ctx, mn_tet_mesh_build(ctx, result->positions.count, result->positions.data, result->tets.count,
                                    (const int32_t(*)[4])result->tets.data, &mesh));
    check_ok(ctx, mn_tet_mesh_check(mesh));
    return mesh;
}

static mn_mat3 pose(uint64_t id)
{
    return mn_m3_rotation(mn_scale(360, mn_random_unit3(11, id, 0)));
}

static void check_angles(mn_context *ctx, const mn_tet_mesh *mesh)
{
    mn_tet_quality_report report;
    check_ok(ctx, mn_tet_mesh_quality(mesh, &report));
    if (report.smallest_dihedral < smallest || report.largest_dihedral > largest)
        fail_msg("dihedral angles from %g to %g", report.smallest_dihedral, report.largest_dihedral);
    assert_int_equal(report.inverted, 0);
}

/// Volume within 1 %, boundary within a quarter of the size, one closed manifold surface of the right genus.
static void test_shapes_are_filled(void **state)
{
    (void)state;
    static const double pi = 3.141592653589793;
    // Rounded plate, by Steiner's formula for a flat square of edge b: b^2 2r + perimeter pi r^2 / 2 + ball.
    const double b = 0.78, r = 0.06, plate = b * b * 2 * r + 4 * b * pi * r * r / 2 + 4 * pi * r * r * r / 3;
    const double volume[] = {pi / 6, 2 * pi * pi * 0.35 * 0.15 * 0.15, plate, 0.216};
    const int euler[] = {1, 0, 1, 1};
    for (int kind = BALL; kind <= CUBE; kind++)
        for (uint64_t id = 0; id < 4; id++) {
            shape s = {kind, pose(id), mn_scale(0.3, mn_random_unit3(12, id, 0)), 0};
            const double size = kind == CUBE ? 0.02 : 0.03, gradation = id % 2 ? 0.5 : 0;
            mn_tet_stuffing result;
            mn_tet_mesh *mesh = stuffed(ctx, &s, size, gradation, &result);
            check_angles(ctx, mesh);
            assert_int_equal(result.uneven_cuts, 0);
            assert_int_equal(result.lost_features + result.lost_gaps, 0);
            check_close(mn_tet_mesh_volume(mesh), volume[kind], 0.01 * volume[kind]);
            for (int32_t t = 0; t < mesh->tet_slots; t++)
                for (int32_t k = 0; k < 4; k++) {
                    if (mesh->mate[t][k] >= 0) continue;
                    mn_vec3 middle = mn_v3(0, 0, 0);
                    for (int32_t i = 0; i < 3; i++) {
                        const mn_vec3 x = mesh->position[mesh->tet[t][mn_tet_face_corners[k][i]]];
                        check_close(shape_value(&s, x), 0, 1e-3 * size);
                        middle = mn_axpy(middle, 1.0 / 3, x);
                    }
                    // A sharp edge is cut off by up to half the size; smooth surfaces stay within a quarter.
                    check_close(shape_value(&s, middle), 0, kind == CUBE ? 0.5 * size : 0.25 * size);
                }
            mn_tet_topology topology;
            check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
            assert_int_equal(topology.euler, euler[kind]);
            assert_int_equal(topology.parts, 1);
            assert_int_equal(
                topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices, 0);
            mn_tet_mesh_free(mesh);
            mn_tet_stuffing_free(ctx, &result);
        }
}

/// Random values at every lattice point exercise all stencils; the bound holds for any continuous function,
/// so the crossings are wherever the linear guess puts them.
static void test_noise_keeps_the_bound(void **state)
{
    (void)state;
    int64_t tets = 0;
    for (uint64_t id = 0; id < 4; id++) {
        shape s = {NOISE, pose(id), mn_scale(0.1, mn_random_unit3(13, id, 0)), 1};
        mn_tet_stuffing result;
        const mn_tet_stuffing_def def = def_of(&s, 0.03, 0);
        check_ok(ctx, mn_tet_stuff(ctx, &def, &result));
        for (int64_t t = 0; t < result.tets.count; t++) {
            const int32_t *v = result.tets.data[t].v;
            const mn_vec3 *x = result.positions.data;
            double low, high;
            mn_tet_dihedral_range(x[v[0]], x[v[1]], x[v[2]], x[v[3]], &low, &high);
            assert_true(mn_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) > 0);
            if (low * 57.29577951308232 < smallest || high * 57.29577951308232 > largest)
                fail_msg("%g to %g degrees", low * 57.29577951308232, high * 57.29577951308232);
        }
        tets += result.tets.count;
        mn_tet_stuffing_free(ctx, &result);
    }
    assert_true(tets > 100000);
}

static void test_grading_saves_tetrahedra(void **state)
{
    (void)state;
    shape s = {BALL, pose(1), {0.1, 0.2, 0.3}, 0};
    mn_tet_stuffing uniform, graded;
    mn_tet_mesh *a = stuffed(ctx, &s, 0.025, 0, &uniform), *b = stuffed(ctx, &s, 0.025, 1, &graded);
    // At h = R/20 the layer of fine cubes at the surface holds most of the ball.
    assert_true(b->tet_count < 0.8 * a->tet_count);
    check_angles(ctx, b);
    mn_tet_quality_report report;
    check_ok(ctx, mn_tet_mesh_quality(b, &report));
    assert_true(report.longest_edge > 3 * 0.025);
    check_close(mn_tet_mesh_volume(a), mn_tet_mesh_volume(b), 1e-3);
    mn_tet_mesh_free(a);
    mn_tet_mesh_free(b);
    mn_tet_stuffing_free(ctx, &uniform);
    mn_tet_stuffing_free(ctx, &graded);
}

static void test_what_is_too_thin_is_reported(void **state)
{
    (void)state;
    for (int run = 0; run < 2; run++) {
        // A plate of a third of the size falls between the lattice points; a gap between two balls likewise.
        shape plate = {PLATE, mn_m3_identity(), {0.013, 0.017, 0.19}, 0};
        shape balls = {TWO_BALLS, mn_m3_identity(), {0, 0, 0}, 0};
        mn_tet_stuffing result;
        mn_tet_stuffing_def def = def_of(&plate, 0.36, run);
        check_ok(ctx, mn_tet_stuff(ctx, &def, &result));
        assert_true(result.lost_features > 0);
        check_close(result.first_lost.z, 0.19, 0.06);
        mn_tet_stuffing_free(ctx, &result);
        def = def_of(&balls, 0.09, run);
        check_ok(ctx, mn_tet_stuff(ctx, &def, &result));
        mn_tet_stuffing_free(ctx, &result);
    }
}

/// Sheets from a fiftieth of the size to four times it, in random poses: what is lost or torn is reported,
/// and what is whole is not.
static void test_sheets_of_any_thickness(void **state)
{
    (void)state;
    const double size = 0.1;
    int broken = 0, silent = 0, alarms = 0;
    for (uint64_t id = 0; id < 120; id++) {
        const double thick = size * pow(200, mn_random_unit(5, id, 3)) / 50;
        shape sheet = {SHEET, pose(id), mn_scale(0.1, mn_random_direction(5, id, 0)), thick};
        mn_tet_stuffing result;
        mn_tet_topology topology;
        mn_tet_mesh *mesh = stuffed(ctx, &sheet, size, id % 2 ? 0.5 : 0, &result);
        const double rim = 0.5 * thick, volume = 0.78 * 0.78 * thick + 2 * 0.78 * M_PI * rim * rim +
                                                 4.0 / 3 * M_PI * rim * rim * rim;
        check_ok(ctx, mn_tet_mesh_topology(mesh, &topology));
        const bool whole = topology.parts == 1 && topology.euler == 1 && topology.nonmanifold_edges == 0 &&
                           mn_tet_mesh_volume(mesh) > 0.75 * volume;
        broken += !whole;
        if (!whole && result.lost_features == 0)
            silent++,
                print_message("silent: %g sizes, %d parts, euler %d, volume %g of %g\n", thick / size,
                              (int)topology.parts, (int)topology.euler, mn_tet_mesh_volume(mesh), volume);
        if (thick > 2 * size) {
            assert_true(whole);
            alarms += result.lost_features + result.lost_gaps > 0;
        }
        mn_tet_mesh_free(mesh);
        mn_tet_stuffing_free(ctx, &result);
    }
    assert_true(broken > 30);
    assert_int_equal(silent, 0);
    assert_int_equal(alarms, 0);
}

static void test_bad_definitions(void **state)
{
    (void)state;
    shape s = {BALL, mn_m3_identity(), {0, 0, 0}, 0};
    mn_tet_stuffing result;
    mn_tet_stuffing_def def = def_of(&s, -1, 0);
    check_fails(ctx, mn_tet_stuff(ctx, &def, &result), MN_ERROR_ARGUMENT, "above 0");
    def.size = 1e-9;
    check_fails(ctx, mn_tet_stuff(ctx, &def, &result), MN_ERROR_ARGUMENT, "larger size");
    def.gradation = 1;
    check_fails(ctx, mn_tet_stuff(ctx, &def, &result), MN_ERROR_ARGUMENT, "larger size");
    def.gradation = NAN;
    check_fails(ctx, mn_tet_stuff(ctx, &def, &result), MN_ERROR_ARGUMENT, "gradation");
    def = def_of(&s, 0.05, 0);
    def.max_tets = 1000;
    check_fails(ctx, mn_tet_stuff(ctx, &def, &result), MN_ERROR_ARGUMENT, "limit");
    mn_tet_stuffing_free(ctx, &result);
    def.bounds = mn_box_empty();
    check_fails(ctx, mn_tet_stuff(ctx, &def, &result), MN_ERROR_INPUT, "empty");
    // Nothing inside is an empty mesh, not an error.
    s.centre = mn_v3(50, 0, 0);
    def.bounds = (mn_box){mn_v3(0, 0, 0), mn_v3(1, 1, 1)};
    check_ok(ctx, mn_tet_stuff(ctx, &def, &result));
    assert_int_equal(result.tets.count, 0);
    mn_tet_stuffing_free(ctx, &result);
}

static void test_same_bits_on_any_threads(void **state)
{
    (void)state;
    for (int graded = 0; graded < 2; graded++) {
        mn_tet_stuffing result[2];
        mn_context *ctx[2];
        int32_t workers[2] = {1, 3};
        mn_scheduler threads[2] = {mn_thread_scheduler(&workers[0]), mn_thread_scheduler(&workers[1])};
        for (int i = 0; i < 2; i++) {
            mn_hooks hooks = {.scheduler = &threads[i]};
            ctx[i] = mn_context_create(&hooks);
            shape s = {TORUS, pose(5), {0, 0, 0}, 0};
            const mn_tet_stuffing_def def = def_of(&s, 0.04, graded);
            check_ok(ctx[i], mn_tet_stuff(ctx[i], &def, &result[i]));
        }
        assert_int_equal(result[0].tets.count, result[1].tets.count);
        assert_memory_equal(result[0].tets.data, result[1].tets.data,
                            sizeof(mn_tet_indices) * (size_t)result[0].tets.count);
        assert_memory_equal(result[0].positions.data, result[1].positions.data,
                            sizeof(mn_vec3) * (size_t)result[0].positions.count);
        for (int i = 0; i < 2; i++) {
            mn_tet_stuffing_free(ctx[i], &result[i]);
            mn_context_free(ctx[i]);
        }
    }
}

static mn_status stuff_a_ball(mn_context *own, failing_allocator *memory)
{
    shape s = {BALL, mn_m3_identity(), {0, 0, 0}, 0};
    failing_begin(memory);
    for (int graded = 0; graded < 2; graded++) {
        mn_tet_stuffing result;
        const mn_tet_stuffing_def def = def_of(&s, 0.2, graded);
        const mn_status status = mn_tet_stuff(own, &def, &result);
        mn_tet_stuffing_free(own, &result);
        if (status != MN_OK) return status;
    }
    return MN_OK;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(stuff_a_ball, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_are_filled),        cmocka_unit_test(test_noise_keeps_the_bound),
        cmocka_unit_test(test_grading_saves_tetrahedra), cmocka_unit_test(test_what_is_too_thin_is_reported),
        cmocka_unit_test(test_sheets_of_any_thickness),  cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_same_bits_on_any_threads), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
