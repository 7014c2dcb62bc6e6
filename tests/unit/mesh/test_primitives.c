// SPDX-License-Identifier: Apache-2.0
//
// Shapes are closed, face out, and enclose the volume that their formula says.
#include "mesh/shape.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/mesh_facts.h"

static const double pi = 3.14159265358979323846;

static mn_shape_def shape(mn_shape_kind kind, int32_t n0, int32_t n1, int32_t n2)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = kind;
    def.center = mn_v3(0.3, -0.2, 0.1);
    def.radius = mn_v3(1.0, 0.4, 0.7);
    def.size = mn_v3(2.0, 1.5, 0.6);
    def.rotate = mn_v3(20, 50, -70);
    def.divisions[0] = n0, def.divisions[1] = n1, def.divisions[2] = n2;
    return def;
}

static mesh_facts facts_of(const mn_shape_def *def)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = NULL;
    check_ok(ctx, mn_shape_create(ctx, def, &geo));
    const mesh_facts facts = mesh_facts_of(geo);
    assert_int_equal(facts.points, mn_geo_point_count(geo)); // none left over
    mn_geo_free(geo);
    mn_context_free(ctx);
    return facts;
}

static void closed_shapes_are_closed_and_face_out(void **state)
{
    (void)state;
    const struct {
        mn_shape_kind kind;
        int64_t euler;
    } rows[] = {{MN_SHAPE_SPHERE, 2}, {MN_SHAPE_ELLIPSOID, 2}, {MN_SHAPE_BOX, 2},
                {MN_SHAPE_TUBE, 2},   {MN_SHAPE_TORUS, 0},     {MN_SHAPE_RING, 0}};
    const int32_t divisions[][3] = {{0, 0, 0},  {1, 1, 1},  {3, 1, 1}, {7, 2, 1},
                                    {12, 5, 3}, {31, 4, 9}, {5, 9, 2}};
    for (int r = 0; r < 6; r++)
        for (int d = 0; d < 7; d++) {
            const mn_shape_def def = shape(rows[r].kind, divisions[d][0], divisions[d][1], divisions[d][2]);
            const mesh_facts f = facts_of(&def);
            assert_int_equal(f.bad_edges, 0);
            assert_int_equal(mesh_euler(&f), rows[r].euler);
            assert_true(f.volume > 0);
        }
}

// Positions are floats of size about 2: volumes of size about 4 are good to a few 1e-7.
static void flat_shapes_have_exact_volumes(void **state)
{
    (void)state;
    mn_shape_def def = shape(MN_SHAPE_BOX, 4, 3, 2);
    check_close(facts_of(&def).volume, 2.0 * 1.5 * 0.6, 3e-6);
    // A regular polygon of n corners has the area n/2 sin(2 pi / n) of its circle's r^2.
    const double polygon = 24.0 / 2 * sin(2 * pi / 24);
    def = shape(MN_SHAPE_TUBE, 24, 3, 2);
    check_close(facts_of(&def).volume, polygon * 1.0 * 0.7 * 1.5, 3e-6);
    def = shape(MN_SHAPE_RING, 24, 3, 2);
    check_close(facts_of(&def).volume, polygon * (1.0 - 0.16) * 1.5, 3e-6);
    check_close(facts_of(&def).area, 2 * polygon * (1.0 - 0.16) + 24 * 2 * sin(pi / 24) * (1.0 + 0.4) * 1.5,
                3e-6);
}

static void round_shapes_meet_their_formula_to_second_order(void **state)
{
    (void)state;
    const struct {
        mn_shape_kind kind;
        double volume;
    } rows[] = {{MN_SHAPE_SPHERE, 4 * pi / 3},
                {MN_SHAPE_ELLIPSOID, 4 * pi / 3 * 0.4 * 0.7},
                {MN_SHAPE_TORUS, 2 * pi * pi * 1.0 * 0.16}};
    for (int r = 0; r < 3; r++) {
        mn_shape_def coarse = shape(rows[r].kind, 40, 20, 1), fine = shape(rows[r].kind, 80, 40, 1);
        const double e1 = rows[r].volume - facts_of(&coarse).volume,
                     e2 = rows[r].volume - facts_of(&fine).volume;
        assert_true(e1 > 0 && e2 > 0);
        check_close(log2(e1 / e2), 2.0, 0.05);
        check_close(e2 / rows[r].volume, 0, 0.006);
    }
    // The default sphere is good to 0.15 %.
    mn_shape_def def = mn_shape_default_def();
    check_close(facts_of(&def).volume / (4 * pi / 3 * 1e-6), 1, 1.5e-3);
}

static void open_shapes_face_up(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_shape_kind kinds[2] = {MN_SHAPE_GRID, MN_SHAPE_RING};
    for (int k = 0; k < 2; k++) {
        mn_shape_def def = shape(kinds[k], 9, 1, 4);
        def.size.y = 0;
        def.rotate = mn_v3(0, 0, 0);
        mn_geo *geo;
        check_ok(ctx, mn_shape_create(ctx, &def, &geo));
        const int64_t *starts = mn_geo_primitive_starts(geo), *v = mn_geo_vertex_points(geo);
        for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
            const mn_vec3 a = mn_geo_position(geo, v[starts[p]]), b = mn_geo_position(geo, v[starts[p] + 1]),
                          c = mn_geo_position(geo, v[starts[p] + 2]);
            assert_true(mn_cross(mn_sub(b, a), mn_sub(c, a)).y > 0);
        }
        const mesh_facts f = mesh_facts_of(geo);
        const double area = k == 0 ? 2.0 * 0.6 : 9 / 2.0 * sin(2 * pi / 9) * (1 - 0.16);
        check_close(f.area, area, 2e-6);
        assert_int_equal(f.bad_edges, k == 0 ? 2 * (9 + 4) : 2 * 9); // the border
        mn_geo_free(geo);
    }
    mn_context_free(ctx);
}

static void shapes_stand_where_they_are_put(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_shape_def def = shape(MN_SHAPE_SPHERE, 0, 0, 0);
    mn_geo *geo;
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        check_close(mn_distance(mn_geo_position(geo, i), def.center), 1.0, 3e-7);
    mn_geo_free(geo);
    // A box turned by 90 degrees about z has its x edge along y.
    def = shape(MN_SHAPE_BOX, 1, 1, 1);
    def.rotate = mn_v3(0, 0, 90);
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    const mn_box box = mn_geo_bounds(geo);
    check_close(box.max.x - box.min.x, 1.5, 1e-6);
    check_close(box.max.y - box.min.y, 2.0, 1e-6);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void bad_shapes_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = NULL;
    mn_shape_def def = shape(MN_SHAPE_SPHERE, 0, 0, 0);
    def.radius.x = 0;
    check_fails(ctx, mn_shape_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "sphere has radius x of 0 m");
    def = shape(MN_SHAPE_BOX, 0, 0, 0);
    def.size.z = NAN;
    check_fails(ctx, mn_shape_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "size z");
    def = shape(MN_SHAPE_TORUS, 0, 0, 0);
    def.radius.y = 1;
    check_fails(ctx, mn_shape_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "must be smaller");
    def = shape(MN_SHAPE_BOX, 100000, 100000, 100000);
    check_fails(ctx, mn_shape_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "more polygons");
    def = shape((mn_shape_kind)99, 0, 0, 0);
    check_fails(ctx, mn_shape_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "no shape");
    def = shape(MN_SHAPE_RING, 0, 0, 0);
    def.center.x = INFINITY;
    check_fails(ctx, mn_shape_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "not finite");
    assert_null(geo);
    mn_context_free(ctx);
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    for (int kind = 0; kind < MN_SHAPE_KIND_COUNT; kind++)
        for (int64_t n = 1;; n++) {
            failing_allocator memory = {.fail_at = n};
            mn_hooks hooks = failing_hooks(&memory);
            mn_context *ctx = mn_context_create(&hooks);
            const mn_shape_def def = shape((mn_shape_kind)kind, 6, 3, 3);
            mn_geo *geo = NULL;
            const mn_status status = mn_shape_create(ctx, &def, &geo);
            assert_true(status == (memory.failed ? MN_ERROR_MEMORY : MN_OK));
            mn_geo_free(geo);
            mn_context_free(ctx);
            assert_int_equal(memory.held, 0);
            if (!memory.failed) break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_shapes_are_closed_and_face_out),
        cmocka_unit_test(flat_shapes_have_exact_volumes),
        cmocka_unit_test(round_shapes_meet_their_formula_to_second_order),
        cmocka_unit_test(open_shapes_face_up),
        cmocka_unit_test(shapes_stand_where_they_are_put),
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
