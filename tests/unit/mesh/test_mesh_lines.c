// SPDX-License-Identifier: Apache-2.0
#include "support/check.h"
#include "support/failing_allocator.h"

#include "mesh/mesh_lines.h"
#include "mesh/shape.h"

static mn_geo *shape_of(mn_context *ctx, mn_shape_kind kind)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = kind;
    def.radius = mn_v3(1, 1, 1);
    def.size = mn_v3(2, 2, 2);
    mn_geo *geo;
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    return geo;
}

static mn_geo *outline_of(mn_context *ctx, const mn_geo *geo, double crease)
{
    mn_geo *lines;
    check_ok(ctx, mn_mesh_outline(geo, crease, &lines));
    assert_int_equal(mn_geo_kind_count(lines, MN_POLYLINE), mn_geo_primitive_count(lines));
    return lines;
}

static double length_of(const mn_geo *lines)
{
    const int64_t *starts = mn_geo_primitive_starts(lines), *points = mn_geo_vertex_points(lines);
    double sum = 0;
    for (int64_t i = 0; i < mn_geo_primitive_count(lines); i++)
        for (int64_t v = starts[i]; v + 1 < starts[i + 1]; v++)
            sum += mn_distance(mn_geo_position(lines, points[v]), mn_geo_position(lines, points[v + 1]));
    return sum;
}

/// A box has its twelve edges, however finely its sides are cut; a flat square its four sides; a ball, which
/// has neither creases nor an end, all edges.
static void test_outlines(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const struct {
        mn_shape_kind kind;
        double length;
    } cases[] = {{MN_SHAPE_BOX, 24}, {MN_SHAPE_GRID, 8}};
    for (int i = 0; i < 2; i++) {
        mn_geo *geo = shape_of(ctx, cases[i].kind), *lines = outline_of(ctx, geo, 30);
        check_close(length_of(lines), cases[i].length, 1e-5);
        mn_geo_free(lines);
        mn_geo_free(geo);
    }
    mn_geo *ball = shape_of(ctx, MN_SHAPE_SPHERE), *lines = outline_of(ctx, ball, 60);
    // Euler: V - E + F = 2
    assert_int_equal(mn_geo_primitive_count(lines),
                     mn_geo_point_count(ball) + mn_geo_primitive_count(ball) - 2);
    mn_geo_free(lines);
    mn_geo_free(ball);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static mn_geo *tetrahedron(mn_context *ctx)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 5, NULL));
    const float x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    memcpy(mn_geo_write_positions(geo), x, sizeof x);
    const int64_t points[4] = {0, 1, 2, 3}, line[3] = {4, 0, 1};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, points, NULL));
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 3, line, NULL));
    return geo;
}

static void test_tetrahedra_and_polylines(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = tetrahedron(ctx), *lines = outline_of(ctx, geo, 30);
    assert_int_equal(mn_geo_primitive_count(lines), 6 + 2);
    check_close(length_of(lines), 3 + 3 * sqrt(2) + sqrt(75) + 1, 1e-5);
    mn_geo_free(lines);
    mn_geo_free(geo);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

/// On a ball of many facets, the height h is a circle of radius sqrt(1 - h^2), closed, at that height.
static void test_level_line(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *ball = shape_of(ctx, MN_SHAPE_SPHERE), *lines;
    const int64_t count = mn_geo_point_count(ball);
    double *height = malloc(sizeof *height * (size_t)count);
    for (int64_t i = 0; i < count; i++) height[i] = mn_geo_position(ball, i).y;
    check_ok(ctx, mn_mesh_level_line(ball, height, 0.4, &lines));
    const int64_t pieces = mn_geo_primitive_count(lines);
    assert_true(pieces > 16);
    assert_int_equal(mn_geo_point_count(lines), pieces); // every point has two pieces
    int *uses = calloc((size_t)pieces, sizeof *uses);
    for (int64_t v = 0; v < mn_geo_vertex_count(lines); v++) uses[mn_geo_vertex_points(lines)[v]]++;
    for (int64_t i = 0; i < pieces; i++) {
        const mn_vec3 x = mn_geo_position(lines, i);
        assert_int_equal(uses[i], 2);
        check_close(x.y, 0.4, 1e-6);
        // chords of the default sphere sag by 2 % of its radius
        check_close(hypot(x.x, x.z), sqrt(1 - 0.16), 0.02);
    }
    mn_geo_free(lines);
    check_ok(ctx, mn_mesh_level_line(ball, height, 7, &lines)); // nothing reaches it
    assert_int_equal(mn_geo_primitive_count(lines), 0);
    mn_geo_free(lines);
    for (int64_t i = 0; i < count; i++) height[i] = NAN;
    check_ok(ctx, mn_mesh_level_line(ball, height, 0, &lines));
    assert_int_equal(mn_geo_primitive_count(lines), 0);
    mn_geo_free(lines);
    free(uses);
    free(height);
    mn_geo_free(ball);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static mn_status draw_all(mn_context *ctx)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = MN_SHAPE_BOX;
    mn_geo *box = NULL, *outline = NULL, *line = NULL;
    double height[4096];
    mn_status status = mn_shape_create(ctx, &def, &box);
    if (status == MN_OK) status = mn_mesh_outline(box, 30, &outline);
    for (int64_t i = 0; status == MN_OK && i < mn_geo_point_count(box); i++)
        height[i] = mn_geo_position(box, i).y;
    if (status == MN_OK) status = mn_mesh_level_line(box, height, 0.1 * def.size.y, &line);
    mn_geo_free(box);
    mn_geo_free(outline);
    mn_geo_free(line);
    return status;
}

static void test_running_out_of_memory(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        const mn_status status = ctx ? draw_all(ctx) : MN_ERROR_MEMORY;
        if (ctx) mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        if (!memory.failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlines),
        cmocka_unit_test(test_tetrahedra_and_polylines),
        cmocka_unit_test(test_level_line),
        cmocka_unit_test(test_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
