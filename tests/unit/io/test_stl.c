// SPDX-License-Identifier: Apache-2.0
//
// .stl files: text and binary, corners that meet, round trips, and what cannot be.
#include "plugin/io/formats.h"

#include "support/check.h"

#include <unistd.h>

static mn_status read_text(mn_context *ctx, const char *text, mn_geo **geo)
{
    return mn_io_read_memory(ctx, MN_FORMAT_STL, text, strlen(text), "test.stl", geo);
}

#define FACET(a, b, c)                                                                                       \
    "facet normal 0 0 1\n outer loop\n vertex " a "\n vertex " b "\n vertex " c "\n endloop\nendfacet\n"

static void corners_that_meet_are_one_point(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx,
             read_text(ctx,
                       "solid square\n" FACET("0 0 0", "1 0 0", "1 1 0") FACET("-0 0 0", "1 1 0", "0 1e0 0")
                           FACET("5 5 5", "5 5 5", "6 6 6") "endsolid square\n",
                       &geo));
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 2); // the third has no area
    const int64_t points[] = {0, 1, 2, 0, 2, 3};
    assert_memory_equal(mn_geo_vertex_points(geo), points, sizeof points);
    check_close(mn_distance(mn_geo_position(geo, 3), mn_v3(0, 1, 0)), 0, 0);
    mn_geo_free(geo);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

/// A quad and a triangle, through the disk: three triangles with the same corners, facing the same way.
static void what_is_written_reads_back(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo, *back;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 5, NULL));
    const float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5f, 0.5f, 0.123456789f};
    memcpy(mn_geo_write_positions(geo), positions, sizeof positions);
    const int64_t points[] = {0, 1, 2, 3, 0, 1, 4};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 2, (const int32_t[]){4, 3}, 0, points, NULL));
    char path[] = "/tmp/meniscus_XXXXXX.stl";
    const int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    close(descriptor);
    check_ok(ctx, mn_io_write(ctx, path, geo));
    check_ok(ctx, mn_io_read(ctx, path, &back));
    assert_int_equal(mn_geo_point_count(back), 5);
    const int64_t wanted[] = {0, 1, 2, 0, 2, 3, 0, 1, 4};
    assert_memory_equal(mn_geo_vertex_points(back), wanted, sizeof wanted);
    assert_memory_equal(mn_geo_positions(back), positions, sizeof positions);
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 2, points, NULL));
    check_fails(ctx, mn_io_write(ctx, path, geo), MN_ERROR_UNSUPPORTED, "cannot hold a polyline");
    unlink(path);
    mn_geo_free(geo);
    mn_geo_free(back);
    mn_context_free(ctx);
}

static void what_cannot_be_gets_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"solid a\nvertex 1 2\n", "three numbers"},
        {"solid a\nvertex 1 2 x\n", "x"},
        {"solid a\nvertex 1 2 nan\nvertex 1 1 1\nvertex 2 2 2", "finite"},
        {"solid a\nvertex 1 2 3\nvertex 4 5 6\n", "whole number of triangles"},
        {"something else", "neither a text STL"},
    };
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_fails(ctx, read_text(ctx, cases[i].text, &geo), MN_ERROR_FORMAT, cases[i].part);
        assert_null(geo);
    }
    check_ok(ctx, read_text(ctx, "solid empty\nendsolid empty\n", &geo));
    assert_int_equal(mn_geo_point_count(geo), 0);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_that_meet_are_one_point),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_cannot_be_gets_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
