// SPDX-License-Identifier: Apache-2.0
//
// Elements by what an artist writes into a group field, and moving only these.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "geo/select.h"
#include "geo/transform.h"

enum { POINTS = 7, PRIMITIVES = 3 };

/// Two triangles that share an edge, a third one apart, over points 0 to 6; 0 and 1 are in groups by points.
static mn_geo *make(mn_context *ctx)
{
    mn_geo *geo;
    mn_group *group;
    assert_int_equal(mn_geo_create(ctx, &geo), MN_OK);
    assert_int_equal(mn_geo_add_points(geo, POINTS, NULL), MN_OK);
    const int64_t corners[9] = {0, 1, 2, 1, 3, 2, 4, 5, 6};
    assert_int_equal(mn_geo_add_primitives(geo, MN_POLYGON, PRIMITIVES, NULL, 3, corners, NULL), MN_OK);
    assert_int_equal(mn_geo_add_group(geo, MN_POINT, "first", &group), MN_OK);
    memset(mn_group_write(geo, group), 1, 3);
    assert_int_equal(mn_geo_add_group(geo, MN_PRIMITIVE, "far_one", &group), MN_OK);
    mn_group_write(geo, group)[2] = 1;
    assert_int_equal(mn_geo_add_group(geo, MN_PRIMITIVE, "near_one", &group), MN_OK);
    mn_group_write(geo, group)[1] = 1;
    return geo;
}

static void check(const mn_geo *geo, const char *pattern, const char *points, const char *primitives)
{
    uint8_t p[POINTS], q[PRIMITIVES];
    assert_int_equal(mn_geo_select(geo, pattern, p, q), MN_OK);
    for (int i = 0; i < POINTS; i++) assert_int_equal(p[i], points[i] == 'x');
    for (int i = 0; i < PRIMITIVES; i++) assert_int_equal(q[i], primitives[i] == 'x');
}

static void words_choose_elements(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make(ctx);
    check(geo, "", "xxxxxxx", "xxx");
    check(geo, "  ", "xxxxxxx", "xxx");
    check(geo, "first", "xxx....", "x.."); // a triangle with all of its corners there
    check(geo, "far_one", "....xxx", "..x");
    check(geo, "*_one", ".xxxxxx", ".xx");
    check(geo, "?irst far_one", "xxx.xxx", "x.x");
    check(geo, "near_one, far_one", ".xxxxxx", ".xx");
    check(geo, "!first", "...xxxx", "..x");    // the second triangle has corners in it
    check(geo, "!near_one", "xxx.xxx", "x.x"); // corners that the first one needs stay
    check(geo, "^*", ".......", "...");
    check(geo, "first !first", ".......", "...");
    check(geo, "0", "xxx....", "x..");
    check(geo, "0-1", "xxxx...", "xx.");
    check(geo, "0-9:2", "xxx.xxx", "x.x");
    check(geo, "7-9", ".......", "..."); // there are none
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void numbers_are_points_where_there_is_nothing_else(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    uint8_t chosen[4];
    assert_int_equal(mn_geo_create(ctx, &geo), MN_OK);
    assert_int_equal(mn_geo_select(geo, "0-3", NULL, NULL), MN_OK); // not even points
    assert_int_equal(mn_geo_add_points(geo, 4, NULL), MN_OK);
    assert_int_equal(mn_geo_select(geo, "1-2", chosen, NULL), MN_OK);
    assert_true(!chosen[0] && chosen[1] && chosen[2] && !chosen[3]);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void a_name_that_is_not_there_is_said_with_those_that_are(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make(ctx), *bare;
    uint8_t p[POINTS], q[PRIMITIVES];
    static const char *const unknown[] = {"frist", "first frist", "fir", "irst", "x*",
                                          "1-",    "1:0",         "!",   "-3"};
    for (int i = 0; i < 9; i++) assert_int_equal(mn_geo_select(geo, unknown[i], p, q), MN_ERROR_INPUT);
    assert_int_equal(mn_geo_select(geo, "frist", p, q), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "'frist'; the input has first, far_one, near_one."));
    assert_int_equal(mn_geo_create(ctx, &bare), MN_OK);
    assert_int_equal(mn_geo_select(bare, "a", p, q), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "no groups"));
    char longest[600];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(mn_geo_select(geo, longest, p, q), MN_ERROR_INPUT);
    mn_geo_free(bare);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void only_a_part_is_moved(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = make(ctx);
    mn_attribute *corner, *face, *detail;
    uint8_t p[POINTS], q[PRIMITIVES];
    assert_int_equal(mn_geo_add_attribute(geo, MN_VERTEX, "N", MN_F64, 3, MN_HINT_NORMAL, &corner), MN_OK);
    assert_int_equal(mn_geo_add_attribute(geo, MN_PRIMITIVE, "d", MN_F64, 3, MN_HINT_VECTOR, &face), MN_OK);
    assert_int_equal(mn_geo_add_attribute(geo, MN_DETAIL, "at", MN_F64, 3, MN_HINT_POINT, &detail), MN_OK);
    for (int i = 0; i < 9; i++)
        assert_int_equal(mn_attribute_set(geo, corner, i, 1, (double[]){1, 0, 0}), MN_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mn_attribute_set(geo, face, i, 1, (double[]){1, 0, 0}), MN_OK);
    assert_int_equal(mn_geo_select(geo, "far_one", p, q), MN_OK);
    const mn_mat3 turn = mn_m3_rotation(mn_v3(0, 0, 90));
    assert_int_equal(mn_geo_transform_part(geo, mn_m4_affine(turn, mn_v3(5, 0, 0)), p, q), MN_OK);
    for (int i = 0; i < POINTS; i++) assert_true(mn_geo_positions(geo)[3 * i] == (i < 4 ? 0.0f : 5.0f));
    double value[3];
    for (int i = 0; i < 9; i++) {
        mn_attribute_get(corner, i, 1, value);
        assert_float_equal(value[1], i < 6 ? 0 : 1, 1e-12); // the last triangle's corners
    }
    for (int i = 0; i < 3; i++) {
        mn_attribute_get(face, i, 1, value);
        assert_float_equal(value[1], i < 2 ? 0 : 1, 1e-12);
    }
    mn_attribute_get(detail, 0, 1, value);
    assert_true(value[0] == 0);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_choose_elements),
        cmocka_unit_test(numbers_are_points_where_there_is_nothing_else),
        cmocka_unit_test(a_name_that_is_not_there_is_said_with_those_that_are),
        cmocka_unit_test(only_a_part_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
