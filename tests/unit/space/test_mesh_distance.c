// SPDX-License-Identifier: Apache-2.0
//
// Distances to shapes against formulas and against a slow search, signs against winding, and meshes that are
// not closed counted.
#include "support/check.h"
#include "support/failing_allocator.h"

static mn_geo *make_shape(mn_context *ctx, mn_shape_kind kind, mn_vec3 rotate)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = kind;
    def.radius = mn_v3(1.0, 0.4, 0.7);
    def.size = mn_v3(2.0, 1.0, 0.6);
    def.rotate = rotate;
    mn_geo *geo;
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    return geo;
}

// Signed distance to a box of half edges (1, 0.5, 0.3).
static double box_distance(mn_vec3 x)
{
    const mn_vec3 q = {fabs(x.x) - 1.0, fabs(x.y) - 0.5, fabs(x.z) - 0.3};
    const mn_vec3 o = mn_max3(q, mn_v3(0, 0, 0));
    return mn_norm(o) + fmin(fmax(q.x, fmax(q.y, q.z)), 0);
}

static mn_vec3 somewhere(int i)
{
    return mn_scale(4, mn_sub(mn_random_unit3(5, (uint64_t)i, 0), mn_v3(0.5, 0.5, 0.5)));
}

static void a_box_has_the_distance_of_its_formula(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_shape(ctx, MN_SHAPE_BOX, mn_v3(0, 0, 0));
    mn_mesh_distance *mesh;
    check_ok(ctx, mn_mesh_distance_create(ctx, geo, &mesh));
    const mn_mesh_facts facts = mn_mesh_distance_facts(mesh);
    assert_true(facts.closed);
    check_close(facts.volume, 2.0 * 1.0 * 0.6, 1e-6);
    check_close(facts.area, 2 * (2.0 + 1.2 + 0.6), 1e-6);
    for (int i = 0; i < 5000; i++) {
        const mn_vec3 x = somewhere(i);
        check_close(mn_mesh_signed_distance(mesh, x), box_distance(x), 1e-7); // floats
        const mn_closest_point p = mn_mesh_closest(mesh, x);
        check_close(p.distance, fabs(box_distance(x)), 1e-7);
        mn_vec3 y = {0, 0, 0};
        for (int k = 0; k < 3; k++) y = mn_axpy(y, p.weights[k], mn_geo_position(geo, p.points[k]));
        check_close(mn_distance(y, p.position), 0, 1e-12);
        check_close(mn_distance(x, p.position), p.distance, 1e-12);
    }
    // On a corner's outer side, where face normals alone would be wrong.
    assert_true(mn_mesh_signed_distance(mesh, mn_v3(1.001, 0.5001, 0.3001)) > 0);
    mn_mesh_distance_free(mesh);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

// Around a curved, concave shape the sign is that of the formula, wherever x is farther away than the facets
// err.
static void the_sign_is_right_everywhere(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        mn_geo *geo = make_shape(ctx, MN_SHAPE_TORUS, mn_v3(0, 0, 0));
        if (inside_out)
            check_ok(ctx, mn_geo_transform(geo, mn_m4_affine(mn_m3_diagonal(-1, 1, 1), mn_v3(0, 0, 0))));
        mn_mesh_distance *mesh;
        check_ok(ctx, mn_mesh_distance_create(ctx, geo, &mesh));
        assert_true(mn_mesh_distance_facts(mesh).closed);
        assert_true((mn_mesh_distance_facts(mesh).volume < 0) == (inside_out == 1));
        for (int i = 0; i < 5000; i++) {
            const mn_vec3 x = somewhere(i);
            const double exact = hypot(hypot(x.x, x.z) - 1.0, x.y) - 0.4;
            check_close(mn_mesh_signed_distance(mesh, x), exact, 0.004);
        }
        mn_mesh_distance_free(mesh);
        mn_geo_free(geo);
    }
    mn_context_free(ctx);
}

static void open_and_crowded_meshes_are_counted(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make_shape(ctx, MN_SHAPE_BOX, mn_v3(10, 20, 30));
    uint8_t keep[6] = {1, 1, 0, 1, 1, 1};
    check_ok(ctx, mn_geo_compact(geo, NULL, keep));
    mn_mesh_distance *mesh;
    check_ok(ctx, mn_mesh_distance_create(ctx, geo, &mesh));
    mn_mesh_facts facts = mn_mesh_distance_facts(mesh);
    assert_false(facts.closed);
    assert_int_equal(facts.open_edges, 4);
    mn_mesh_distance_free(mesh);
    mn_geo_free(geo);
    // Every face with points of its own: closed all the same. A box twice: every edge has four faces.
    geo = make_shape(ctx, MN_SHAPE_BOX, mn_v3(0, 0, 0));
    mn_geo *split, *copy;
    check_ok(ctx, mn_geo_create(ctx, &split));
    for (int64_t f = 0; f < 6; f++) {
        uint8_t one[6] = {0};
        one[f] = 1;
        check_ok(ctx, mn_geo_copy(geo, &copy));
        check_ok(ctx, mn_geo_compact(copy, NULL, one));
        check_ok(ctx, mn_geo_append(split, copy));
        mn_geo_free(copy);
    }
    check_ok(ctx, mn_mesh_distance_create(ctx, split, &mesh));
    assert_true(mn_mesh_distance_facts(mesh).closed);
    check_close(mn_mesh_signed_distance(mesh, mn_v3(0, 0, 0)), -0.3, 1e-7);
    mn_mesh_distance_free(mesh);
    check_ok(ctx, mn_geo_append(split, geo));
    check_ok(ctx, mn_mesh_distance_create(ctx, split, &mesh));
    facts = mn_mesh_distance_facts(mesh);
    assert_false(facts.closed);
    assert_int_equal(facts.open_edges, 0);
    assert_true(facts.crowded_edges >= 12);
    mn_mesh_distance_free(mesh);
    mn_geo_free(split);
    // Nothing at all, and a position that is not a number.
    check_ok(ctx, mn_geo_create(ctx, &split));
    check_ok(ctx, mn_mesh_distance_create(ctx, split, &mesh));
    assert_false(mn_mesh_distance_facts(mesh).closed);
    assert_true(mn_mesh_closest(mesh, mn_v3(0, 0, 0)).distance == INFINITY);
    mn_mesh_distance_free(mesh);
    mn_geo_free(split);
    mn_geo_write_positions(geo)[4] = NAN;
    check_fails(ctx, mn_mesh_distance_create(ctx, geo, &mesh), MN_ERROR_INPUT, "not a number");
    assert_null(mesh);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = -1};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        mn_geo *geo = make_shape(ctx, MN_SHAPE_BOX, mn_v3(0, 0, 0));
        mn_mesh_distance *mesh = NULL;
        memory.fail_at = memory.calls + n;
        const mn_status status = mn_mesh_distance_create(ctx, geo, &mesh);
        assert_true(status == (memory.failed ? MN_ERROR_MEMORY : MN_OK));
        mn_mesh_distance_free(mesh);
        mn_geo_free(geo);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_has_the_distance_of_its_formula),
        cmocka_unit_test(the_sign_is_right_everywhere),
        cmocka_unit_test(open_and_crowded_meshes_are_counted),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
