// SPDX-License-Identifier: Apache-2.0
//
// Borders as lines: films in a tetrahedron have four that meet in the middle, a double bubble has a closed
// one.
#include "support/check.h"

#include "mesh/border_lines.h"

static mn_context *ctx;

static void test_tetrahedron(void **state)
{
    (void)state;
    mn_vec3 x[5] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}, {0, 0, 0}};
    int32_t triangles[6][3], count = 0;
    for (int32_t i = 0; i < 4; i++)
        for (int32_t k = i + 1; k < 4; k++, count++)
            triangles[count][0] = 4, triangles[count][1] = i, triangles[count][2] = k;
    const mn_film_sheet sheet = {
        .count = 5, .positions = x, .triangle_count = 6, .triangles = (const int32_t(*)[3])triangles};
    mn_border_lines lines = {0};
    assert_int_equal(mn_border_lines_find(ctx, &sheet, &lines), MN_OK);
    assert_int_equal(lines.start.count, 5);
    assert_int_equal(lines.point.count, 8);
    for (int i = 0; i < 4; i++) assert_true(lines.point.data[2 * i] == 4 || lines.point.data[2 * i + 1] == 4);
    mn_border_lines_free(ctx, &lines);
}

// Three cones over one ring, which is a closed line.
static void test_ring(void **state)
{
    (void)state;
    enum { AROUND = 12 };
    mn_vec3 x[AROUND + 3] = {{0, 0, 0}};
    int32_t triangles[3 * AROUND][3];
    for (int32_t tip = 0; tip < 3; tip++)
        for (int32_t i = 0; i < AROUND; i++) {
            int32_t *t = triangles[tip * AROUND + i];
            t[0] = AROUND + tip, t[1] = i, t[2] = (i + 1) % AROUND;
        }
    const mn_film_sheet sheet = {.count = AROUND + 3,
                                 .positions = x,
                                 .triangle_count = 3 * AROUND,
                                 .triangles = (const int32_t(*)[3])triangles};
    mn_border_lines lines = {0};
    assert_int_equal(mn_border_lines_find(ctx, &sheet, &lines), MN_OK);
    assert_int_equal(lines.start.count, 2);
    assert_int_equal(lines.point.count, AROUND + 1);
    assert_int_equal(lines.point.data[0], lines.point.data[AROUND]);
    for (int i = 0; i < AROUND; i++) {
        const int32_t step = abs(lines.point.data[i + 1] - lines.point.data[i]);
        assert_true(step == 1 || step == AROUND - 1);
    }
    mn_border_lines_free(ctx, &lines);
}

int main(void)
{
    ctx = mn_context_create(NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tetrahedron), cmocka_unit_test(test_ring)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
