// SPDX-License-Identifier: Apache-2.0
//
// .obj files: what the statements mean, round trips, and damage of every kind.
#include "plugin/io/formats.h"

#include "support/check.h"
#include "support/failing_allocator.h"

#include <locale.h>
#include <unistd.h>

static mn_status read_bytes(mn_context *ctx, const char *bytes, size_t size, mn_geo **geo)
{
    mn_source *source;
    *geo = NULL;
    MN_TRY(mn_source_open_memory(ctx, bytes, size, "test.obj", &source));
    const mn_status status = mn_obj_read(ctx, source, geo);
    mn_source_close(source);
    return status;
}

static mn_status read_text(mn_context *ctx, const char *text, mn_geo **geo)
{
    return read_bytes(ctx, text, strlen(text), geo);
}

static const char *const sample = "# a comment\r\n"
                                  "mtllib a.mtl\n"
                                  "v 0 0 0\nv 1 0 0 0.25 0.5 0.75\n\nv 1 1 0\n v 0 1 0 \n"
                                  "vt 0.5 0.25\nvn 0 0 1\nvn 0 1 0\n"
                                  "g front wet\nusemtl water and ice\n"
                                  "f 1/1/1 2//2 \\\n 3/1\ng\n"
                                  "l 1 -1\n"
                                  "o front\nf -4 -3 -2 -1\n"
                                  "p 1 2";

static void statements_mean_what_they_should(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, read_text(ctx, sample, &geo));
    assert_int_equal(mn_geo_point_count(geo), 4);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 2);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYLINE), 1);
    check_close(mn_distance(mn_geo_position(geo, 2), mn_v3(1, 1, 0)), 0, 0);
    const float *colour = mn_attribute_data(mn_geo_find(geo, MN_POINT, "Cd"));
    assert_true(colour[0] == 1 && colour[3] == 0.25f && colour[5] == 0.75f);
    const float *normal = mn_attribute_data(mn_geo_find(geo, MN_VERTEX, "N")),
                *uv = mn_attribute_data(mn_geo_find(geo, MN_VERTEX, "uv"));
    assert_true(normal[2] == 1 && normal[4] == 1 && normal[6] == 0 && uv[0] == 0.5f && uv[3] == 0 &&
                uv[7] == 0.25f);
    const int64_t points[] = {0, 1, 2, 0, 3, 0, 1, 2, 3};
    assert_memory_equal(mn_geo_vertex_points(geo), points, sizeof points);
    const uint8_t *front = mn_group_data(mn_geo_find_group(geo, MN_PRIMITIVE, "front"));
    const uint8_t *wet = mn_group_data(mn_geo_find_group(geo, MN_PRIMITIVE, "wet"));
    assert_true(front[0] && !front[1] && front[2] && wet[0] && !wet[1] && !wet[2]);
    assert_string_equal(mn_attribute_string(mn_geo_find(geo, MN_PRIMITIVE, "shop_materialpath"), 2, 0),
                        "water and ice");
    mn_geo_free(geo);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void damage_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"v 0 0\n", "line 1: fewer than 3"},
        {"v 0 0 zero\n", "'zero' is not a number"},
        {"\nv 1 2 3 4 5\n", "line 2: a point has 5"},
        {"v 0 0 0\nf 1 1\n", "line 2: a polygon needs 3"},
        {"v 0 0 0\nf 1 1 2\n", "point 2"},
        {"v 0 0 0\nf 1 1 -2\n", "point -2"},
        {"v 0 0 0\nf 1 1 0\n", "point 0"},
        {"v 0 0 0\nf 1/1 1 1\n", "texture coordinate 1"},
        {"v 0 0 0\nf 1 //1 1\n", "no point"},
        {"v 0 0 0\nf 1/// 1 1\n", "more than three"},
        {"cstype bezier\n", "'cstype'"},
        {"vn 1 2\n", "fewer than 3"},
        {"f 1 2 3\n", "only 0 so far"},
        {"v 1e 0 0\n", "not a number"},
    };
    mn_context *ctx = mn_context_create(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mn_geo *geo;
        const mn_status status = read_text(ctx, bad[i].text, &geo);
        assert_true(status == MN_ERROR_FORMAT || status == MN_ERROR_UNSUPPORTED);
        assert_null(geo);
        if (!strstr(mn_context_message(ctx), bad[i].part))
            fail_msg("%s: %s", bad[i].text, mn_context_message(ctx));
    }
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static mn_geo *round_trip(mn_context *ctx, const mn_geo *geo)
{
    char path[] = "/tmp/meniscus_obj_XXXXXX.obj";
    close(mkstemps(path, 4));
    mn_geo *back;
    check_ok(ctx, mn_io_write(ctx, path, geo));
    check_ok(ctx, mn_io_read(ctx, path, &back));
    unlink(path);
    return back;
}

static void what_is_written_comes_back(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo, *back;
    check_ok(ctx, read_text(ctx, sample, &geo));
    float *positions = mn_geo_write_positions(geo);
    positions[0] = 0.1f, positions[1] = 1e-45f, positions[2] = -3.4028235e38f; // hard to print
    setlocale(LC_ALL, "de_DE.UTF-8"); // where there is one: a decimal comma
    back = round_trip(ctx, geo);
    setlocale(LC_ALL, "C");
    assert_memory_equal(mn_geo_positions(back), positions, 12 * sizeof(float));
    assert_int_equal(mn_geo_hash(back), mn_geo_hash(geo));
    mn_geo_free(geo), mn_geo_free(back);
    mn_context_free(ctx);
}

static void keep_sentence(void *user, mn_log_level level, const char *sentence)
{
    if (level == MN_LOG_WARNING) snprintf(user, 256, "%s", sentence);
}

static void what_obj_cannot_hold_is_left_out_by_name_or_refused(void **state)
{
    (void)state;
    char said[256] = "", path[] = "/tmp/meniscus_obj_XXXXXX.obj";
    mn_context *ctx = mn_context_create(&(mn_hooks){.user = said, .log = keep_sentence});
    mn_geo *geo, *back;
    mn_attribute *v;
    mn_group *group;
    const int made = mkstemps(path, 4);
    assert_true(made >= 0);
    close(made);
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 4, NULL));
    check_ok(ctx, mn_io_write(ctx, path, geo));
    assert_string_equal(said, "");
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    check_ok(ctx, mn_geo_add_group(geo, MN_POINT, "wet", &group));
    check_ok(ctx, mn_io_write(ctx, path, geo));
    assert_non_null(strstr(said, "no place for v, wet"));
    check_ok(ctx, mn_io_read(ctx, path, &back));
    assert_int_equal(mn_geo_point_count(back), 4);
    mn_geo_free(back);
    check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, (int64_t[]){0, 1, 2, 3}, NULL));
    check_fails(ctx, mn_io_write(ctx, "/tmp/meniscus_never.obj", geo), MN_ERROR_UNSUPPORTED, "tetrahedron");
    assert_int_not_equal(access("/tmp/meniscus_never.obj", F_OK), 0);
    unlink(path);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void every_truncation_and_every_failing_allocation_ends_well(void **state)
{
    (void)state;
    for (size_t size = 0; size <= strlen(sample); size++) {
        mn_context *ctx = mn_context_create(NULL);
        char *exact = malloc(size + 1);
        memcpy(exact, sample, size);
        mn_geo *geo = NULL;
        if (read_bytes(ctx, exact, size, &geo) != MN_OK) assert_true(strlen(mn_context_message(ctx)) > 0);
        mn_geo_free(geo);
        free(exact);
        assert_int_equal(mn_context_bytes(ctx), 0);
        mn_context_free(ctx);
    }
    for (int64_t n = 1;; n++) {
        failing_allocator memory = {.fail_at = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        mn_geo *geo;
        const mn_status status = read_text(ctx, sample, &geo);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        mn_geo_free(geo);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

/// Gives its bytes a few at a time, so that every line is cut somewhere.
typedef struct dripping_source {
    mn_source source;
    const char *bytes;
    size_t left, drop;
} dripping_source;

static mn_status drip(mn_source *source)
{
    dripping_source *d = (dripping_source *)source;
    const size_t some = d->left < d->drop ? d->left : d->drop;
    source->at = (const uint8_t *)d->bytes, source->end = source->at + some;
    d->bytes += some, d->left -= some;
    return MN_OK;
}

static void lines_may_be_cut_anywhere(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *whole, *geo;
    check_ok(ctx, read_text(ctx, sample, &whole));
    for (size_t drop = 1; drop < 40; drop++) {
        dripping_source d = {.source = {.ctx = ctx, .name = "test.obj", .refill = drip},
                             .bytes = sample,
                             .left = strlen(sample),
                             .drop = drop};
        check_ok(ctx, mn_obj_read(ctx, &d.source, &geo));
        assert_true(mn_geo_hash(geo) == mn_geo_hash(whole));
        mn_geo_free(geo);
    }
    mn_geo_free(whole);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_may_be_cut_anywhere),
        cmocka_unit_test(statements_mean_what_they_should),
        cmocka_unit_test(damage_is_named_with_its_line),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(what_obj_cannot_hold_is_left_out_by_name_or_refused),
        cmocka_unit_test(every_truncation_and_every_failing_allocation_ends_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
