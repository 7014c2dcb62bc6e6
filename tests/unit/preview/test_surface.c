// SPDX-License-Identifier: Apache-2.0
//
// Cutting polygons, skinning tetrahedra, smoothing normals, packing.
#include "support/check.h"

#include "base/random.h"
#include "plugin/preview/scene.h"

static double triangle_area(f3 a, f3 b, f3 c)
{
    return 0.5 * (double)f3_length(f3_cross(f3_sub(b, a), f3_sub(c, a)));
}

static double cut_area(const f3 *corners, int32_t count)
{
    int32_t triangles[64][3];
    mn_preview_triangulate(corners, count, triangles);
    double area = 0;
    for (int32_t i = 0; i < count - 2; i++)
        area += triangle_area(corners[triangles[i][0]], corners[triangles[i][1]], corners[triangles[i][2]]);
    return area;
}

/// Triangles that overlap or leave the polygon would add up to more than its area.
static void test_cut_polygons_keep_their_area(void **state)
{
    (void)state;
    const f3 square[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    const f3 arrow[4] = {{0, 0, 0}, {2, -1, 0}, {0.5f, 0, 0}, {2, 1, 0}};
    const f3 u_shape[8] = {{0, 0, 5}, {3, 0, 5}, {3, 3, 5}, {2, 3, 5},
                           {2, 1, 5}, {1, 1, 5}, {1, 3, 5}, {0, 3, 5}};
    check_close(cut_area(square, 4), 1, 1e-6);
    check_close(cut_area(arrow, 4), 0.5, 1e-6);
    check_close(cut_area(u_shape, 8), 7, 1e-5);
}

static void test_polygon_that_crosses_itself_is_cut_all_the_same(void **state)
{
    (void)state;
    const f3 bow_tie[4] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}}, point[5] = {{1, 1, 1}};
    assert_true(isfinite(cut_area(bow_tie, 4)));
    assert_true(isfinite(cut_area(point, 5)));
}

/// A cube of five tetrahedra shows its twelve outer triangles, and their area.
static void test_skin_of_a_cube(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_arena *arena;
    mn_geo *geo;
    check_ok(ctx, mn_arena_create(ctx, "test", &arena));
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 8, NULL));
    float *p = mn_geo_write_positions(geo);
    for (int i = 0; i < 8; i++)
        p[3 * i] = (float)(i & 1), p[3 * i + 1] = (float)(i >> 1 & 1), p[3 * i + 2] = (float)(i >> 2);
    const int64_t tets[20] = {0, 1, 2, 4, 3, 2, 1, 7, 5, 4, 7, 1, 6, 7, 4, 2, 1, 2, 4, 7};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 5, NULL, 4, tets, NULL));
    const int64_t(*faces)[3];
    int64_t count;
    check_ok(ctx, mn_preview_tet_skin(ctx, arena, geo, &faces, &count));
    assert_int_equal(count, 12);
    double area = 0;
    const int64_t *points = mn_geo_vertex_points(geo);
    for (int64_t i = 0; i < count; i++) {
        f3 c[3];
        for (int k = 0; k < 3; k++) {
            const mn_vec3 x = mn_geo_position(geo, points[faces[i][k]]);
            c[k] = (f3){(float)x.x, (float)x.y, (float)x.z};
        }
        area += triangle_area(c[0], c[1], c[2]);
    }
    check_close(area, 6, 1e-5);
    mn_geo_free(geo);
    mn_arena_free(arena);
    mn_context_free(ctx);
}

/// Two faces that meet at `angle` degrees share a normal along their edge, or keep their own.
static double normal_apart(double angle)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_arena *arena;
    check_ok(ctx, mn_arena_create(ctx, "test", &arena));
    const float a = (float)(angle * M_PI / 180);
    f3 points[4] = {{0, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {cosf(a), sinf(a), 0}};
    mn_preview_triangle triangles[2] = {{{0, 1, 2}}, {{1, 0, 3}}};
    mn_preview_corners corners[2];
    mn_preview_scene scene = {.ctx = ctx, .arena = arena, .points = points, .point_count = 4};
    scene.triangles = triangles, scene.corners = corners, scene.triangle_count = 2;
    check_ok(ctx, mn_preview_smooth_normals(&scene, 0, 2, 0, 4));
    const f3 n = f3_unpack_normal(corners[0].normal[0]), m = f3_unpack_normal(corners[1].normal[1]);
    mn_arena_free(arena);
    mn_context_free(ctx);
    return (double)acosf(fminf(f3_dot(n, m), 1)) * 180 / M_PI;
}

static void test_normals_smooth_over_bends_and_keep_creases(void **state)
{
    (void)state;
    check_close(normal_apart(30), 0, 0.1);
    check_close(normal_apart(90), 90, 0.1);
}

static void test_packed_normals_and_colors(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        const mn_vec3 d = mn_random_direction(3, i, 0), c = mn_random_unit3(4, i, 0);
        const f3 n = {(float)d.x, (float)d.y, (float)d.z}, rgb = {(float)c.x, (float)c.y, (float)c.z};
        const f3 m = f3_unpack_normal(f3_pack_normal(n)), back = f3_unpack_color(f3_pack_color(rgb));
        // Sixteen bits over [-1, 1] on the octahedron, at most doubled on the sphere.
        assert_true(f3_length(f3_sub(n, m)) < 4.0f / 32767);
        // Half a step of the root, times the slope of the square.
        assert_true(fabsf(rgb.x - back.x) < 1.2f / 1023 && fabsf(rgb.y - back.y) < 1.2f / 1023);
    }
    const f3 odd = f3_unpack_color(f3_pack_color((f3){-1, NAN, 7}));
    assert_true(odd.x == 0 && odd.z == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_polygons_keep_their_area),
        cmocka_unit_test(test_polygon_that_crosses_itself_is_cut_all_the_same),
        cmocka_unit_test(test_skin_of_a_cube),
        cmocka_unit_test(test_normals_smooth_over_bends_and_keep_creases),
        cmocka_unit_test(test_packed_normals_and_colors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
